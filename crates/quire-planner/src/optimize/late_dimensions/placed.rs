//! The plans with groups below the joins of dimensions.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, JoinConstraint, JoinType, NullEquality, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, Join, LogicalPlan, Projection};

use super::grouped_tree::{Dimension, GroupedTree};
use crate::optimize::eager_aggregation::{
    PartialAggregate, expression_never_fails, grouped, has_same_types, is_grouped,
    is_same_where_equal, named, named_as_before, never_fails,
};
use crate::optimize::join_order::{InputSet, estimate, joined};

/// Groups that other groups merge have to make up for what they cost: fewer rows are joined as fast.
const ROWS_MIN: f64 = 200_000.0;
/// Average rows of a group that is merged into another. With six, TPC-DS Q4 takes 0.78 of the time, and Q11 and Q74 take 1.3 and 1.4 of it: a filter of a join above does not
/// reach the rows below the groups.
const GROUP_ROWS_MIN: f64 = 8.0;

/// The keys of the groups below the joins, and those of the groups above in terms of what is above the joins.
struct PlacedKeys {
    below: Vec<Expr>,
    above: Vec<Expr>,
}

impl GroupedTree<'_> {
    /// The aggregate below the joins, which is all that there is of it. `None` if a call could fail there.
    pub(super) fn grouped_below(
        &self,
        late: &[Dimension],
        determined: &HashSet<Column>,
    ) -> Result<Option<LogicalPlan>> {
        let rest = self.without(late)?;
        let keys = self.placed_keys(late);
        let is_key = |key: &Expr| self.keys_over_inputs.contains(&key.clone().unalias());
        let is_determined = |key: &Expr| match key {
            Expr::Column(column) => determined.contains(column),
            _ => false,
        };
        let mut calls = Vec::new();
        for (place, call) in self.calls.iter().enumerate() {
            let call = call.clone().unalias();
            let Expr::AggregateFunction(function) = &call else {
                return Ok(None);
            };
            let reads_rest = call
                .column_refs()
                .iter()
                .all(|it| rest.schema().has_column(it));
            let params = &function.params;
            let is_plain = params.order_by.is_empty() && params.null_treatment.is_none();
            if !reads_rest || !is_plain || !never_fails(function, &rest)? {
                return Ok(None);
            }
            calls.push(call.alias(format!("__below_{place}")));
        }
        let is_placed =
            |key: &Expr| (is_key(key) || is_determined(key)) && expression_never_fails(key, &rest);
        if !keys.below.iter().all(is_placed) {
            return Ok(None);
        }
        let call_count = calls.len();
        let plan = self.joined_late(grouped(Arc::new(rest), keys.below, calls)?, late)?;
        let names =
            (0..call_count).map(|place| Column::new_unqualified(format!("__below_{place}")));
        let outputs = keys.above.into_iter().chain(names.map(Expr::Column));
        let before = &self.aggregate.schema;
        let outputs = outputs.zip(before.iter());
        let outputs = outputs.map(|(output, name)| named(output, Column::from(name)));
        let plan = LogicalPlan::Projection(Projection::try_new(outputs.collect(), Arc::new(plan))?);
        Ok(has_same_types(plan.schema(), before).then_some(plan))
    }

    /// A partial aggregate below the joins and one above that merges. `None` if a call cannot be split, or if it costs more.
    pub(super) fn grouped_twice(
        &self,
        late: &[Dimension],
        is_always: bool,
    ) -> Result<Option<LogicalPlan>> {
        let rest = self.without(late)?;
        let keys = self.placed_keys(late);
        let calls = self.calls.iter().enumerate();
        let partials =
            calls.map(|(place, call)| PartialAggregate::of(call.clone(), place, &rest, false));
        let Some(partials) = partials.collect::<Result<Option<Vec<_>>>>()? else {
            return Ok(None);
        };
        let types = keys.below.iter().map(|key| key.get_type(rest.schema()));
        let types = types.collect::<Result<Vec<_>>>()?;
        if is_grouped(&rest)
            || partials.is_empty()
            || !partials.iter().all(PartialAggregate::is_of_side)
            || !types.iter().all(is_same_where_equal)
            || !keys
                .below
                .iter()
                .all(|key| expression_never_fails(key, &rest))
            || !(is_always || is_reduced(&rest, &keys.below))
        {
            return Ok(None);
        }
        let calls = partials.iter().flat_map(PartialAggregate::calls).cloned();
        let first = grouped(Arc::new(rest), keys.below, calls.collect())?;
        let plan = self.joined_late(first, late)?;
        let key_names = (0..keys.above.len()).map(key_above).collect::<Vec<_>>();
        let columns = partials.iter().flat_map(PartialAggregate::merged_columns);
        let outputs = keys.above.into_iter().zip(key_names.iter().cloned());
        let outputs = outputs.map(|(key, name)| key.alias(name.name));
        let outputs = outputs.chain(columns.map(Expr::Column)).collect();
        let plan = LogicalPlan::Projection(Projection::try_new(outputs, Arc::new(plan))?);
        let by_name = |part: Expr| {
            let place = self.keys.iter().position(|key| *key == part);
            Ok(match place {
                Some(place) => Transformed::yes(Expr::Column(key_names[place].clone())),
                None => Transformed::no(part),
            })
        };
        let group_by = self.aggregate.group_expr.iter().cloned();
        let group_by = group_by.map(|key| Ok(key.transform_down(by_name)?.data));
        let merges = partials.iter().map(PartialAggregate::merge).collect();
        let merged = grouped(Arc::new(plan), group_by.collect::<Result<_>>()?, merges)?;
        named_as_before(merged, &self.aggregate.schema, &partials)
    }

    /// The tree without these inputs.
    fn without(&self, late: &[Dimension]) -> Result<LogicalPlan> {
        let kept = self.graph.current.inputs() & !late_inputs(late);
        match self.graph.current.without_others(kept) {
            Some(tree) => joined(&self.graph, &tree),
            None => datafusion::common::internal_err!("each input is a dimension of another one"),
        }
    }

    /// The dimensions joined to groups, those last that were found first: others may be joined by their columns.
    fn joined_late(&self, groups: LogicalPlan, late: &[Dimension]) -> Result<LogicalPlan> {
        late.iter().rev().try_fold(groups, |plan, dimension| {
            let input = self.graph.inputs[dimension.input].clone();
            let key = |column: &Column| Expr::Column(column.clone());
            Ok(LogicalPlan::Join(Join::try_new(
                Arc::new(plan),
                Arc::new(input),
                vec![(key(&dimension.key), key(&dimension.own_key))],
                None,
                JoinType::Inner,
                JoinConstraint::On,
                NullEquality::NullEqualsNothing,
                false,
            )?))
        })
    }

    /// A key that reads no dimension is one below; of others the columns of the rest are, and what dimensions are joined by.
    fn placed_keys(&self, late: &[Dimension]) -> PlacedKeys {
        let late_inputs = late_inputs(late);
        let mut below: Vec<Expr> = Vec::new();
        let mut add = |key: Expr| {
            if !below.contains(&key) {
                below.push(key);
            }
        };
        let mut above = Vec::new();
        for (place, key) in self.keys_over_inputs.iter().enumerate() {
            let is_late = self.inputs_read(key) & late_inputs != 0;
            if is_late {
                let columns = key.column_refs().into_iter().cloned().map(Expr::Column);
                let of_rest = columns.filter(|it| self.inputs_read(it) & late_inputs == 0);
                of_rest.for_each(&mut add);
                above.push(key.clone());
            } else if matches!(key, Expr::Column(_)) {
                add(key.clone());
                above.push(key.clone());
            } else {
                let name = Column::new_unqualified(format!("__key_{place}"));
                add(key.clone().alias(name.name.clone()));
                above.push(Expr::Column(name));
            }
        }
        let joining = late.iter().map(|it| Expr::Column(it.key.clone()));
        let of_rest = joining.filter(|it| self.inputs_read(it) & late_inputs == 0);
        of_rest.for_each(&mut add);
        PlacedKeys { below, above }
    }
}

fn late_inputs(late: &[Dimension]) -> InputSet {
    late.iter().fold(0, |all, it| all | 1 << it.input)
}

fn key_above(place: usize) -> Column {
    Column::new_unqualified(format!("__group_{place}"))
}

/// Whether there are so many rows, and so few groups of them, that the joins and the groups above them cost less.
fn is_reduced(rest: &LogicalPlan, keys: &[Expr]) -> bool {
    let input = estimate(rest);
    let keys = keys.iter().cloned().map(Expr::unalias);
    let keys: Vec<Expr> = keys.collect();
    input.rows >= ROWS_MIN && input.groups(&keys) * GROUP_ROWS_MIN <= input.rows
}
