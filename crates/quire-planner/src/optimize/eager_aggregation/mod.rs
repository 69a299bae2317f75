//! Eager aggregation: rows are grouped before a join, and the groups once more behind it.
//!
//! `SELECT c.name, sum(o.price) FROM o JOIN c ON o.customer = c.id GROUP BY c.name` looks up and groups every row of `o`. With a partial
//! aggregate over `o` by `customer` first, only a row for each customer is joined, and the total is the sum of the partial sums (Yan and Larson,
//! "Eager Aggregation and Lazy Aggregation", VLDB 1995, the transformation of §4.1 for one side).
//!
//! ```text
//! Aggregate: keys, f(a)                Projection: names and types as before
//!   Join(A, B)                =>         Aggregate: keys, merge(partial)
//!                                          Join(Aggregate: K, partial = f(a) over A, B)
//! ```
//!
//! K are the columns of A that anything above the partial aggregate reads: keys of the join, its filter, keys of the groups. Rows of A that
//! agree in K have the same partners, so that each partner meets their total where it met each of them. This holds for inner joins and for both
//! sides of left and right ones, where rows of A without a partner are kept or A's columns become NULL; [`partial`] says what an aggregate
//! must fulfil, and [`worth`] when this is expected to cost less. K has no floats and no intervals: of those, equal values are not the same.

mod partial;
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
use partial::PartialAggregate;

/// The rule.
#[derive(Debug)]
pub(super) struct EagerAggregation;

impl OptimizerRule for EagerAggregation {
    fn name(&self) -> &str {
        "eager_aggregation"
    }

    /// From the root: what is left below a join may go below the next one.
    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let options = config.options();
        let ours = options.extensions.get::<QuireOptions>();
        let is_on = ours.is_none_or(|ours| ours.eager_aggregation);
        let is_always = ours.is_some_and(|ours| ours.eager_aggregation_always);
        let LogicalPlan::Aggregate(aggregate) = &plan else {
            return Ok(Transformed::no(plan));
        };
        if !is_on {
            return Ok(Transformed::no(plan));
        }
        Ok(match eager(aggregate, is_always)? {
            Some(replaced) => Transformed::yes(replaced),
            None => Transformed::no(plan),
        })
    }
}

/// An aggregate over a join.
struct JoinedGroups<'p> {
    aggregate: &'p Aggregate,
    /// What computes columns between the two.
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
        let Some(partials) = groups.partials(side)? else {
            continue;
        };
        let Some(keys) = groups.keys_of(side) else {
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

    /// What is evaluated above the inputs of the join, but for the aggregates. Keys of groups may read columns that the projection computes.
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

    /// Whether rows of the other side without a partner have NULL for all columns of this one.
    fn is_null_supplied(&self, side: JoinSide) -> bool {
        match side {
            JoinSide::Left => self.join.join_type == JoinType::Right,
            JoinSide::Right => self.join.join_type == JoinType::Left,
        }
    }

    /// What the aggregates become; `None` if one of them cannot be computed of groups of this side.
    fn partials(&self, side: JoinSide) -> Result<Option<Vec<PartialAggregate>>> {
        let schema = self.input(side).schema();
        let is_null_supplied = self.is_null_supplied(side);
        let calls = self.aggregate.aggr_expr.iter().enumerate();
        let partials = calls.map(|(place, call)| {
            let call = self.over_join(call.clone())?;
            PartialAggregate::of(call, place, schema, is_null_supplied)
        });
        let partials: Result<Option<Vec<_>>> = partials.collect();
        let sums_up =
            |partials: &Vec<PartialAggregate>| partials.iter().any(PartialAggregate::is_of_side);
        Ok(partials?.filter(sums_up))
    }

    /// The expression, with what the projection computes in the place of its columns.
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

    /// What the projection computes and the keys of the groups read.
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

    /// The columns of the side that are read above the partial aggregate, in the order of the side's schema. `None` if there are none, as an
    /// aggregate without keys returns a row even of no rows; if their groups could not stand for their rows; or if the rows are groups already.
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
        let calls = partials.iter().filter_map(PartialAggregate::call);
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

    /// The keys that the projection computes, beside the columns that the merging aggregates read. `None` if one of these is hidden by a key of its
    /// name.
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

/// Whether each row is one of a group. To group once more would only do the same again.
fn is_grouped(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(_) | LogicalPlan::Distinct(_) => true,
        LogicalPlan::Projection(projection) => is_grouped(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_grouped(&alias.input),
        LogicalPlan::Filter(filter) => is_grouped(&filter.input),
        _ => false,
    }
}

/// An aggregate of which no more is derived than holds.
fn grouped(input: Arc<LogicalPlan>, keys: Vec<Expr>, calls: Vec<Expr>) -> Result<LogicalPlan> {
    let aggregate = Aggregate::try_new(input, keys, calls)?;
    let sound = group_dependencies::of_keys(LogicalPlan::Aggregate(aggregate))?;
    Ok(sound.data)
}

/// The merged groups under the names of the aggregate that they stand for; `None` if a type is another one.
fn named_as_before(
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

/// The expression as a column of that name.
fn named(expr: Expr, name: Column) -> Expr {
    match &expr {
        Expr::Column(column) if *column == name => expr,
        _ => expr.alias_qualified(name.relation, name.name),
    }
}

fn is_same_where_equal(data_type: &DataType) -> bool {
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

fn has_same_types(schema: &DFSchema, before: &DFSchema) -> bool {
    let types = schema.fields().iter().zip(before.fields());
    types
        .into_iter()
        .all(|(now, then)| now.data_type() == then.data_type())
}
