//! Joins.

use super::lookup::LookedUp;
use super::merge::Merged;
use super::relation::{all_columns, attributes};
use super::{BuildError, Builder, Built, Demand};
use crate::avm::{ColumnPlace, Program, Register, Tuple};
use crate::plan::{Expression, Join, JoinKind as Planned, Plan, ValueKind};
use crate::tuple::{HashJoin, JoinKind, JoinSides};

/// How a join is done.
pub(super) enum Way<'p> {
    /// The rows of the right side are kept, or else those of the left one.
    Hash { keeps_left: bool },
    /// The rows of a table are looked up.
    LookUp(Box<LookedUp<'p>>),
    /// Both are read in the order of their keys.
    Merge(Box<Merged<'p>>),
}

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
    pub(super) fn pair(&self, outer: &[ColumnPlace], inner: &[ColumnPlace]) -> Vec<ColumnPlace> {
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

/// The inner side of a join: its keys, and what is kept of it, by slots.
pub(super) struct InnerSide {
    pub(super) built: Built,
    pub(super) keys: Vec<Register>,
    pub(super) kept: Vec<(usize, Register)>,
}

impl Builder<'_> {
    pub(super) fn join(&mut self, join: &Join, demand: &Demand) -> Result<Built, BuildError> {
        match self.way(join)?.1 {
            Way::Hash { keeps_left } => self.hash_join(join, keeps_left, demand),
            Way::LookUp(looked_up) => self.look_up(join, &looked_up, demand),
            Way::Merge(merged) => self.merge(join, *merged, demand),
        }
    }

    /// The cheapest way to do a join, and what it costs: how many rows are read, kept, and looked for.
    pub(super) fn way<'p>(&self, join: &'p Join) -> Result<(f64, Way<'p>), BuildError> {
        let (left, right) = (self.estimate(&join.left)?, self.estimate(&join.right)?);
        let both_ns = left.cost_ns + right.cost_ns;
        let columns = (join.left.columns.len(), join.right.columns.len());
        let keeping_right = both_ns + self.hashing_ns(right.rows, left.rows, columns);
        let keeping_left = both_ns + self.hashing_ns(left.rows, right.rows, columns);
        let may_keep_left = join.kind.shows_right() && keeping_left < keeping_right;
        let mut least = if may_keep_left {
            (keeping_left, Way::Hash { keeps_left: true })
        } else {
            (keeping_right, Way::Hash { keeps_left: false })
        };
        let merging = both_ns + self.merging_ns(left.rows, right.rows);
        if let Some(merged) = self.merged(join)?.filter(|_| merging < least.0) {
            least = (merging, Way::Merge(Box::new(merged)));
        }
        for (is_swapped, outer) in [(false, left), (true, right)] {
            if let Some(looked_up) = self.looked_up(join, is_swapped)? {
                let cost_ns = outer.cost_ns + outer.rows * looked_up.cost_each_ns();
                if cost_ns < least.0 {
                    least = (cost_ns, Way::LookUp(Box::new(looked_up)));
                }
            }
        }
        Ok(least)
    }

    fn hash_join(
        &mut self,
        join: &Join,
        keeps_left: bool,
        demand: &Demand,
    ) -> Result<Built, BuildError> {
        let roles = Roles::new(join, keeps_left);
        // What goes up, and with it what a pair is tested by.
        let shown = shown_of_pair(join, demand);
        let pair_demand = shown.clone().with(&join.residual);
        let (outer_later, inner_later) = roles.demands(&pair_demand);
        let outer = self.plan(roles.outer, &outer_later.clone().with(&roles.outer_keys))?;
        let (outer, outer_keys) = self.computed(outer, &roles.outer_keys, &outer_later)?;
        let outer = self.decoded_once(outer, &roles, join, &outer_later)?;
        let InnerSide {
            built: inner,
            keys: inner_keys,
            kept,
        } = self.inner_side(&roles, &inner_later, |builder, asked| {
            builder.plan(roles.inner, asked)
        })?;
        let inner_tuple = self.tuple(kept.len())?;
        let inner_places = kept_places(inner_tuple, &kept, roles.inner.columns.len());
        let places = roles.pair(&outer.places, &inner_places);
        let condition = self.pair_condition(&places, &shown, join.residual.as_slice())?;
        let kind = self.hash_join_kind(join.kind, keeps_left)?;
        let (left_columns, left_tuples) = parts_of(&outer.places, &outer_later);
        let inner_rows = self.estimate(roles.inner)?.rows;
        let workspace = self.workspace(inner_rows, kept.len());
        let sides = JoinSides {
            kind,
            nulls_match: join.nulls_match,
            is_null_aware: join.is_null_aware,
            left_keys: outer_keys,
            right_keys: inner_keys,
            right_columns: kept.iter().map(|(_, register)| *register).collect(),
            right_tuple: inner_tuple,
            left_columns,
            left_tuples,
            condition,
        };
        let (outer, inner) = (outer.iterator, inner.iterator);
        let iterator = HashJoin::new(outer, inner, sides, workspace, &mut self.registers)?;
        let mark = match kind {
            JoinKind::Mark(word) => Some(Register::Boolean(word)),
            _ => None,
        };
        Ok(Built {
            iterator: Box::new(iterator),
            places: shown_places(join, places, mark),
        })
    }

    /// Without keys every outer row is tried with each inner one: what is asked of it is decoded before.
    fn decoded_once(
        &mut self,
        outer: Built,
        roles: &Roles<'_>,
        join: &Join,
        later: &Demand,
    ) -> Result<Built, BuildError> {
        let Some(residual) = join.residual.as_ref().filter(|_| join.keys.is_empty()) else {
            return Ok(outer);
        };
        let first_slot = if roles.is_swapped {
            join.left.columns.len()
        } else {
            0
        };
        let columns = all_columns(roles.outer)?.into_iter().enumerate();
        let asked = columns.filter(|(slot, _)| residual.reads(first_slot + slot));
        let asked: Vec<Expression> = asked.map(|(_, column)| column).collect();
        Ok(self.computed(outer, &asked, later)?.0)
    }

    /// A program that rejects pairs of which a condition is not true.
    pub(super) fn pair_condition(
        &mut self,
        places: &[ColumnPlace],
        shown: &Demand,
        conditions: &[Expression],
    ) -> Result<Option<Program>, BuildError> {
        if conditions.is_empty() {
            return Ok(None);
        }
        // A pair that is rejected must not leave registers that another place relies on.
        let mut tried = places.to_vec();
        let program = self.program(&mut tried, shown, conditions, |compiler| {
            let mut conditions = conditions.iter();
            conditions.try_for_each(|condition| compiler.filter(condition))
        })?;
        Ok(Some(program))
    }

    /// The inner side with its keys, and with what is kept of it in registers: slots and registers.
    pub(super) fn inner_side(
        &mut self,
        roles: &Roles<'_>,
        later: &Demand,
        side: impl FnOnce(&mut Self, &Demand) -> Result<Built, BuildError>,
    ) -> Result<InnerSide, BuildError> {
        let (plan, keys) = (roles.inner, &roles.inner_keys);
        let count = plan.columns.len();
        let columns = all_columns(plan)?;
        let kept: Vec<usize> = (0..count).filter(|slot| later.is_asked(*slot)).collect();
        let mut computed = keys.clone();
        computed.extend(kept.iter().filter_map(|slot| columns.get(*slot).cloned()));
        let built = side(self, &Demand::none(count).with(&computed))?;
        let (built, mut registers) = self.computed(built, &computed, &Demand::none(count))?;
        let kept_registers = registers.split_off(keys.len());
        let kept = kept.into_iter().zip(kept_registers).collect();
        Ok(InnerSide {
            built,
            keys: registers,
            kept,
        })
    }

    fn hash_join_kind(&mut self, kind: Planned, keeps_left: bool) -> Result<JoinKind, BuildError> {
        Ok(match kind {
            Planned::Inner => JoinKind::Inner,
            Planned::Left if keeps_left => JoinKind::Right,
            Planned::Right if keeps_left => JoinKind::Left,
            Planned::Left => JoinKind::Left,
            Planned::Right => JoinKind::Right,
            Planned::Full => JoinKind::Full,
            Planned::Semi => JoinKind::Semi,
            Planned::Anti => JoinKind::Anti,
            Planned::Mark => match self.pool.fresh(ValueKind::Boolean)? {
                Register::Boolean(word) => JoinKind::Mark(word),
                _ => return Err(BuildError::Unsupported("a mark in another register")),
            },
        })
    }
}

/// The columns of a join, of those of a pair and the mark.
pub(super) fn shown_places(
    join: &Join,
    mut pair: Vec<ColumnPlace>,
    mark: Option<Register>,
) -> Vec<ColumnPlace> {
    if !join.kind.shows_right() {
        pair.truncate(join.left.columns.len());
    }
    pair.extend(mark.map(ColumnPlace::Register));
    pair
}

/// Where the columns of the inner side are: attributes of the tuple that was kept, those that were.
pub(super) fn kept_places(
    tuple: Tuple,
    kept: &[(usize, Register)],
    count: usize,
) -> Vec<ColumnPlace> {
    let stored = attributes(tuple, 0..kept.len());
    let mut places = vec![ColumnPlace::None; count];
    for ((slot, _), stored) in kept.iter().zip(stored) {
        if let Some(place) = places.get_mut(*slot) {
            *place = stored;
        }
    }
    places
}

/// The registers that those columns are in that are asked for, and the tuple registers that others are attributes of.
pub(super) fn parts_of(places: &[ColumnPlace], asked: &Demand) -> (Vec<Register>, Vec<Tuple>) {
    let (mut registers, mut tuples) = (Vec::new(), Vec::new());
    let places = places.iter().enumerate();
    for (_, place) in places.filter(|(slot, _)| asked.is_asked(*slot)) {
        match place {
            ColumnPlace::Register(register) => registers.push(*register),
            ColumnPlace::Attribute { attribute, .. } => tuples.push(attribute.tuple),
            ColumnPlace::None => {}
        }
    }
    tuples.sort_unstable();
    tuples.dedup();
    (registers, tuples)
}
