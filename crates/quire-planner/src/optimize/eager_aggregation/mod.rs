//! Eager aggregation: a partial aggregate below a join, and an aggregate above the join that merges its results.
//!
//! `SELECT c.name, sum(o.price) FROM o JOIN c ON o.customer = c.id GROUP BY c.name` probes the join and the aggregate with every row of `o`. With a
//! partial aggregate of `o` by `customer` first, the join receives one row for each customer, and the total is the sum of the partial sums (Yan and
//! Larson, "Eager Aggregation and Lazy Aggregation", VLDB 1995, pushed to one input).
//!
//! ```text
//! Aggregate: keys, f(a)                Projection: names and types as before
//!   Join(A, B)                =>         Aggregate: keys, merge(partial)
//!                                          Join(Aggregate: K, partial = f(a) over A, B)
//! ```
//!
//! K are the columns of A that are read above the partial aggregate: by the join keys, the join filter and the group keys. Rows of A with equal K match
//! the same rows of B, so that a row of B meets their total instead of each of them. This holds for inner joins and for either input of left and right
//! joins. [`partial`] says which aggregates can be split, and [`worth`] when splitting is expected to cost less. K contains no floats and no intervals,
//! whose equal values are not interchangeable (0.0 and -0.0).

mod partial;
mod sum_bounds;
mod worth;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DFSchemaRef, JoinType, Result};
use datafusion::logical_expr::{Aggregate, Expr, Join, LogicalPlan, Projection};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use quire_functions::QuireOptions;

use super::group_dependencies;
use super::switches::is_on;

pub(super) use partial::{PartialAggregate, expression_never_fails, never_fails};

/// The rule.
#[derive(Debug)]
pub(super) struct EagerAggregation;

impl OptimizerRule for EagerAggregation {
    fn name(&self) -> &str {
        "eager_aggregation"
    }

    /// From the root down: a partial aggregate may be pushed below the next join.
    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else {
            return Ok(Transformed::no(plan));
        };
        let options = config.options();
        if !is_on(&options, |ours| ours.eager_aggregation) {
            return Ok(Transformed::no(plan));
        }
        let ours = options.extensions.get::<QuireOptions>();
        let is_always = ours.is_some_and(|ours| ours.eager_aggregation_always);
        Ok(match eager(aggregate, is_always)? {
            Some(replaced) => Transformed::yes(replaced),
            None => Transformed::no(plan),
        })
    }
}

/// An aggregate over a join.
struct JoinedGroups<'p> {
    aggregate: &'p Aggregate,
    /// A projection between the two.
    computed: Option<&'p Projection>,
    join: &'p Join,
}

/// Which input of the join is aggregated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JoinSide {
    Left,
    Right,
}

fn eager(aggregate: &Aggregate, is_always: bool) -> Result<Option<LogicalPlan>> {
    let Some(groups) = JoinedGroups::of(aggregate) else {
        return Ok(None);
    };
    for side in [JoinSide::Left, JoinSide::Right] {
        let Some(keys) = groups.keys_of(side) else {
            continue;
        };
        let Some(partials) = groups.partials(side)? else {
            continue;
        };
        if is_always || worth::costs_less(&groups, side, &keys) {
            return groups.rewritten(side, keys, partials);
        }
    }
    Ok(None)
}

impl<'p> JoinedGroups<'p> {
    fn of(aggregate: &'p Aggregate) -> Option<Self> {
        let has_sets = |key: &Expr| matches!(key, Expr::GroupingSet(_));
        if aggregate.aggr_expr.is_empty() || aggregate.group_expr.iter().any(has_sets) {
            return None;
        }
        let (computed, input) = match aggregate.input.as_ref() {
            LogicalPlan::Projection(projection) => (Some(projection), projection.input.as_ref()),
            input => (None, input),
        };
        let LogicalPlan::Join(join) = input else {
            return None;
        };
        let is_outer_or_inner = matches!(
            join.join_type,
            JoinType::Inner | JoinType::Left | JoinType::Right
        );
        let groups = Self {
            aggregate,
            computed,
            join,
        };
        let is_repeatable = !groups.read_above().iter().any(Expr::is_volatile);
        (is_outer_or_inner && !join.null_aware && is_repeatable).then_some(groups)
    }

    /// The expressions above the inputs of the join, other than the aggregates. Group keys may read columns that the projection computes.
    fn read_above(&self) -> Vec<Expr> {
        let conditions = self.join.on.iter();
        let mut read: Vec<Expr> = conditions
            .flat_map(|(left, right)| [left.clone(), right.clone()])
            .collect();
        read.extend(self.join.filter.clone());
        read.extend(self.computed_keys().into_iter().map(|(_, key)| key));
        read.extend(self.aggregate.group_expr.clone());
        read
    }

    fn input(&self, side: JoinSide) -> &Arc<LogicalPlan> {
        match side {
            JoinSide::Left => &self.join.left,
            JoinSide::Right => &self.join.right,
        }
    }

    /// Whether the join supplies NULLs for the columns of this side.
    fn is_null_supplied(&self, side: JoinSide) -> bool {
        match side {
            JoinSide::Left => self.join.join_type == JoinType::Right,
            JoinSide::Right => self.join.join_type == JoinType::Left,
        }
    }

    /// The split aggregates; `None` if one of them cannot be split over this side.
    fn partials(&self, side: JoinSide) -> Result<Option<Vec<PartialAggregate>>> {
        let input = self.input(side);
        let is_null_supplied = self.is_null_supplied(side);
        let calls = self.aggregate.aggr_expr.iter().enumerate();
        let partials = calls.map(|(place, call)| {
            let call = self.over_join(call.clone())?;
            PartialAggregate::of(call, place, input, is_null_supplied)
        });
        let partials: Result<Option<Vec<_>>> = partials.collect();
        let sums_up =
            |partials: &Vec<PartialAggregate>| partials.iter().any(PartialAggregate::is_of_side);
        Ok(partials?.filter(sums_up))
    }

    /// The expression in terms of the join's columns: those of the projection are replaced by their definitions.
    fn over_join(&self, expr: Expr) -> Result<Expr> {
        let Some(projection) = self.computed else {
            return Ok(expr);
        };
        let computed = |part: Expr| {
            let place = match &part {
                Expr::Column(column) => projection.schema.maybe_index_of_column(column),
                _ => None,
            };
            Ok(match place {
                Some(place) => Transformed::yes(projection.expr[place].clone().unalias()),
                None => Transformed::no(part),
            })
        };
        Ok(expr.transform_up(computed)?.data)
    }

    /// The expressions of the projection that the group keys read.
    fn computed_keys(&self) -> Vec<(Column, Expr)> {
        let Some(projection) = self.computed else {
            return Vec::new();
        };
        let keys = self.aggregate.group_expr.iter();
        let read: HashSet<&Column> = keys.flat_map(Expr::column_refs).collect();
        let columns = projection.schema.columns().into_iter();
        let computed = columns.zip(projection.expr.iter().cloned());
        computed.filter(|(name, _)| read.contains(name)).collect()
    }

    /// The columns K of the side, in the order of its schema. `None` if there are none, as an aggregate without keys returns a row even for an empty
    /// input; if a type does not allow it; or if the side is an aggregate already.
    fn keys_of(&self, side: JoinSide) -> Option<Vec<Column>> {
        if is_grouped(self.input(side)) {
            return None;
        }
        let schema = self.input(side).schema();
        let read = self.read_above();
        let columns = read.iter().flat_map(Expr::column_refs);
        let places: BTreeSet<usize> = columns
            .filter_map(|column| schema.maybe_index_of_column(column))
            .collect();
        let mut types = places.iter().map(|place| schema.field(*place).data_type());
        let can_be_keys = !places.is_empty() && types.all(is_same_where_equal);
        let columns = places.into_iter();
        can_be_keys.then(|| {
            columns
                .map(|place| Column::from(schema.qualified_field(place)))
                .collect()
        })
    }

    fn rewritten(
        &self,
        side: JoinSide,
        keys: Vec<Column>,
        partials: Vec<PartialAggregate>,
    ) -> Result<Option<LogicalPlan>> {
        let of_side = keys.into_iter().map(Expr::Column).collect();
        let calls = partials.iter().flat_map(PartialAggregate::calls).cloned();
        let first = grouped(Arc::clone(self.input(side)), of_side, calls.collect())?;
        let join = self.join_with(side, first)?;
        let Some(joined) = self.with_computed(join, &partials)? else {
            return Ok(None);
        };
        let merges = partials.iter().map(PartialAggregate::merge).collect();
        let keys = self.aggregate.group_expr.clone();
        let merged = grouped(Arc::new(joined), keys, merges)?;
        named_as_before(merged, &self.aggregate.schema, &partials)
    }

    /// The join with another input in the place of the side.
    fn join_with(&self, side: JoinSide, grouped: LogicalPlan) -> Result<LogicalPlan> {
        let other = |side| Arc::clone(self.input(side));
        let (left, right) = match side {
            JoinSide::Left => (Arc::new(grouped), other(JoinSide::Right)),
            JoinSide::Right => (other(JoinSide::Left), Arc::new(grouped)),
        };
        let join = self.join;
        Join::try_new(
            left,
            right,
            join.on.clone(),
            join.filter.clone(),
            join.join_type,
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )
        .map(LogicalPlan::Join)
    }

    /// The projection for the merging aggregate: the expressions that the group keys read, and the columns that the aggregates read. `None` if two of
    /// these have one name.
    fn with_computed(
        &self,
        join: LogicalPlan,
        partials: &[PartialAggregate],
    ) -> Result<Option<LogicalPlan>> {
        if self.computed.is_none() {
            return Ok(Some(join));
        }
        let mut outputs: Vec<(Column, Expr)> = self.computed_keys();
        for column in partials.iter().flat_map(PartialAggregate::merged_columns) {
            let itself = Expr::Column(column.clone());
            match outputs.iter().find(|(name, _)| *name == column) {
                Some((_, known)) if known.clone().unalias() == itself => {}
                Some(_) => return Ok(None),
                None => outputs.push((column, itself)),
            }
        }
        let outputs = outputs.into_iter();
        let outputs = outputs.map(|(name, expr)| named(expr.unalias(), name));
        let projection = Projection::try_new(outputs.collect(), Arc::new(join))?;
        Ok(Some(LogicalPlan::Projection(projection)))
    }
}

/// Whether the rows are the groups of an aggregate. Another partial aggregate would hardly reduce them, and the rule would apply to its own result.
pub(super) fn is_grouped(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(_) | LogicalPlan::Distinct(_) => true,
        LogicalPlan::Projection(projection) => is_grouped(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_grouped(&alias.input),
        LogicalPlan::Filter(filter) => is_grouped(&filter.input),
        _ => false,
    }
}

/// An aggregate whose functional dependencies hold (see [`group_dependencies`]).
pub(super) fn grouped(
    input: Arc<LogicalPlan>,
    keys: Vec<Expr>,
    calls: Vec<Expr>,
) -> Result<LogicalPlan> {
    let aggregate = Aggregate::try_new(input, keys, calls)?;
    let sound = group_dependencies::of_keys(LogicalPlan::Aggregate(aggregate))?;
    Ok(sound.data)
}

/// The result of the merging aggregate under the column names of the original one; `None` if a type differs.
pub(super) fn named_as_before(
    merged: LogicalPlan,
    before: &DFSchemaRef,
    partials: &[PartialAggregate],
) -> Result<Option<LogicalPlan>> {
    let columns = merged.schema().columns();
    let key_count = columns.len() - partials.len();
    let outputs = columns.into_iter().enumerate().map(|(place, column)| {
        let result = match place.checked_sub(key_count) {
            Some(number) => partials[number].result(column)?,
            None => Expr::Column(column),
        };
        Ok(named(result, Column::from(before.qualified_field(place))))
    });
    let outputs = outputs.collect::<Result<Vec<Expr>>>()?;
    let plan = LogicalPlan::Projection(Projection::try_new(outputs, Arc::new(merged))?);
    Ok(has_same_types(plan.schema(), before).then_some(plan))
}

/// The expression under that column name.
pub(super) fn named(expr: Expr, name: Column) -> Expr {
    match &expr {
        Expr::Column(column) if *column == name => expr,
        _ => expr.alias_qualified(name.relation, name.name),
    }
}

pub(super) fn is_same_where_equal(data_type: &DataType) -> bool {
    data_type.is_integer()
        || data_type.is_decimal()
        || data_type.is_string()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Date32
                | DataType::Timestamp(..)
                | DataType::Time64(_)
                | DataType::Binary
                | DataType::BinaryView
        )
}

pub(super) fn has_same_types(schema: &DFSchema, before: &DFSchema) -> bool {
    let mut types = schema.fields().iter().zip(before.fields());
    types.all(|(now, then)| now.data_type() == then.data_type())
}
