//! Sorts above joins that can give their rows in that order.

use super::builder::Builder;
use super::merge::may_be_merged;
use super::wanted_merge::{MergeKey, WantedMerge};
use crate::plan::{Expression, Join, JoinKind, Plan, PlanNode, SortNode};
use crate::tuple::{LowerError, MergeOrder};

impl Builder<'_> {
    /// How the join below a sort gives rows in its order, if that costs less than to sort them.
    pub(super) fn wanted_merge_of(
        &self,
        sort: &SortNode,
    ) -> Result<Option<WantedMerge>, LowerError> {
        let Some((join, keys)) = ordered_join(sort) else {
            return Ok(None);
        };
        let input = self.estimate(&sort.input)?;
        let sorted_ns = input.cost_ns + self.sort_ns(sort, input.rows, input.row_bytes());
        let (left, right) = (self.estimate(&join.left)?, self.estimate(&join.right)?);
        let merged_ns = left.cost_ns + right.cost_ns + self.merged_in_order(join, keys.clone())?.0;
        let cost_ns = input.cost_ns - self.way(join)?.0 + merged_ns;
        Ok((cost_ns < sorted_ns).then(|| WantedMerge::new(join, keys, cost_ns)))
    }
}

/// The join whose keys a sort is by, with nothing but columns that are passed on between them, and its keys in that order.
fn ordered_join(sort: &SortNode) -> Option<(&Join, Vec<MergeKey>)> {
    let mut slots = Vec::with_capacity(sort.keys.len());
    for key in &sort.keys {
        slots.push(slot_of(&key.expression)?);
    }
    let mut plan: &Plan = &sort.input;
    while let PlanNode::Project(input, expressions) = &plan.node {
        for slot in &mut slots {
            *slot = slot_of(expressions.get(*slot)?)?;
        }
        plan = input;
    }
    let PlanNode::Join(join) = &plan.node else {
        return None;
    };
    if !may_be_merged(join) {
        return None;
    }
    let mut keys: Vec<MergeKey> = Vec::with_capacity(join.keys.len());
    for (slot, key) in slots.into_iter().zip(&sort.keys) {
        let position = position_of(join, slot)?;
        let order = MergeOrder {
            is_descending: key.is_descending,
            nulls_first: key.nulls_first,
        };
        add_key(&mut keys, position, order);
    }
    for position in 0..join.keys.len() {
        let order = MergeOrder {
            is_descending: false,
            nulls_first: false,
        };
        add_key(&mut keys, position, order);
    }
    Some((join, keys))
}

/// A key that was there before decides nothing.
fn add_key(keys: &mut Vec<MergeKey>, position: usize, order: MergeOrder) {
    if keys.iter().all(|(known, _)| *known != position) {
        keys.push((position, order));
    }
}

/// Which key of a join a column of its rows is.
fn position_of(join: &Join, slot: usize) -> Option<usize> {
    let left_count = join.left.columns.len();
    let is_it = |side: &Expression, slot: Option<usize>| slot.is_some() && slot_of(side) == slot;
    let of_left = (slot < left_count).then_some(slot);
    // Where a right row may be missing, its key is not that of the left one.
    let of_right = slot.checked_sub(left_count);
    let of_right = of_right.filter(|_| join.kind == JoinKind::Inner);
    let mut keys = join.keys.iter();
    keys.position(|key| is_it(&key.left, of_left) || is_it(&key.right, of_right))
}

fn slot_of(expression: &Expression) -> Option<usize> {
    match expression {
        Expression::Column { slot, .. } => Some(*slot),
        _ => None,
    }
}
