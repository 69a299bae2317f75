//! The two sides of a join, and the columns of their pairs.

use super::demand::Demand;
use crate::avm::{ColumnBinding, Register, Tuple};
use crate::plan::{Expression, Join, Plan};

/// A join whose sides have changed places, or not: the *outer* side looks, row by row, for rows of the *inner* one.
pub(super) struct Roles<'p> {
    pub(super) outer: &'p Plan,
    pub(super) inner: &'p Plan,
    /// What must be equal, over the columns of each.
    pub(super) outer_keys: Vec<Expression>,
    pub(super) inner_keys: Vec<Expression>,
    /// Whether the inner side is the left one of the plan.
    pub(super) is_swapped: bool,
}

impl<'p> Roles<'p> {
    pub(super) fn new(join: &'p Join, is_swapped: bool) -> Self {
        let left_keys = join.keys.iter().map(|key| key.left.clone()).collect();
        let right_keys = join.keys.iter().map(|key| key.right.clone()).collect();
        if is_swapped {
            Self {
                outer: &join.right,
                inner: &join.left,
                outer_keys: right_keys,
                inner_keys: left_keys,
                is_swapped,
            }
        } else {
            Self {
                outer: &join.left,
                inner: &join.right,
                outer_keys: left_keys,
                inner_keys: right_keys,
                is_swapped,
            }
        }
    }

    /// What is asked of the columns of each side, of what is asked of those of a pair.
    pub(super) fn demands(&self, of_pair: &Demand) -> (Demand, Demand) {
        let (outer_count, inner_count) = (self.outer.columns.len(), self.inner.columns.len());
        if self.is_swapped {
            (
                of_pair.part(inner_count, outer_count),
                of_pair.part(0, inner_count),
            )
        } else {
            (
                of_pair.part(0, outer_count),
                of_pair.part(outer_count, inner_count),
            )
        }
    }

    /// The columns of a pair: those of the left side of the plan come first.
    pub(super) fn pair(
        &self,
        outer: &[ColumnBinding],
        inner: &[ColumnBinding],
    ) -> Vec<ColumnBinding> {
        if self.is_swapped {
            [inner, outer].concat()
        } else {
            [outer, inner].concat()
        }
    }
}

/// What is asked of the columns of a pair by those above.
pub(super) fn shown_of_pair(join: &Join, demand: &Demand) -> Demand {
    let (left_count, right_count) = (join.left.columns.len(), join.right.columns.len());
    if join.kind.shows_right() {
        demand.part(0, left_count + right_count)
    } else {
        demand.part(0, left_count).part(0, left_count + right_count)
    }
}

/// The columns of a join, of those of a pair and the mark.
pub(super) fn shown_places(
    join: &Join,
    mut pair: Vec<ColumnBinding>,
    mark: Option<Register>,
) -> Vec<ColumnBinding> {
    if !join.kind.shows_right() {
        pair.truncate(join.left.columns.len());
    }
    pair.extend(mark.map(ColumnBinding::Register));
    pair
}

/// The registers that those columns are in that are asked for, and the tuple registers that others are attributes of.
pub(super) fn parts_of(places: &[ColumnBinding], asked: &Demand) -> (Vec<Register>, Vec<Tuple>) {
    let (mut registers, mut tuples) = (Vec::new(), Vec::new());
    let places = places.iter().enumerate();
    for (_, place) in places.filter(|(slot, _)| asked.is_asked(*slot)) {
        match place {
            ColumnBinding::Register(register) => registers.push(*register),
            ColumnBinding::Attribute { attribute, .. } => tuples.push(attribute.tuple),
            ColumnBinding::None => {}
        }
    }
    tuples.sort_unstable();
    tuples.dedup();
    (registers, tuples)
}
