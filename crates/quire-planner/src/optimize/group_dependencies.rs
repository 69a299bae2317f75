//! A key that a join repeats determines less than DataFusion's aggregates derive from it.
//!
//! The rows of `SELECT DISTINCT o FROM u` are unique in `o`. Beside the rows of another table they are not, and `o` still determines the
//! columns of its own side only. DataFusion knows this of the join (`Dependency::Multi`), and yet derives of an aggregate above it, grouped
//! by `o` and `a`, that `o` alone determines each of its rows. Rules that believe it drop `a` from the next GROUP BY, or make a semi join
//! of a join, and rows get lost. The derivation compares the names of keys with those of the input's columns. So such an aggregate gets
//! keys of other names here, and a projection that gives them their names back: what is left is that all keys together are unique.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Dependency, Result};
use datafusion::functions_aggregate::expr_fn::first_value;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr, LogicalPlan, LogicalPlanBuilder, Projection,
};

/// Renames the keys of an aggregate of which too much would be derived. DISTINCT becomes an aggregate, of which the operators above may
/// derive something, too. DISTINCT ON becomes the aggregate that DataFusion makes of it: a sort above it would lose keys.
pub(super) fn of_keys(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Aggregate(aggregate)
            if misleads(aggregate.input.schema(), &aggregate.group_expr) =>
        {
            renamed(aggregate).map(Transformed::yes)
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let columns = columns(input.schema());
            if columns.is_empty() {
                let distinct = LogicalPlan::Distinct(Distinct::All(input));
                return Ok(Transformed::no(distinct));
            }
            let is_misleading = misleads(input.schema(), &columns);
            let aggregate = Aggregate::try_new(input, columns, Vec::new())?;
            Ok(Transformed::yes(if is_misleading {
                renamed(aggregate)?
            } else {
                LogicalPlan::Aggregate(aggregate)
            }))
        }
        LogicalPlan::Distinct(Distinct::On(distinct))
            if misleads(distinct.input.schema(), &distinct.on_expr) =>
        {
            first_rows(distinct)
        }
        other => Ok(Transformed::no(other)),
    }
}

/// The first row of each group, in the order of the keys if the statement has one.
fn first_rows(distinct: DistinctOn) -> Result<Transformed<LogicalPlan>> {
    let order = distinct.sort_expr.clone().unwrap_or_default();
    let key_count = distinct.on_expr.len();
    let place_of = |sort: &Sort| distinct.on_expr.iter().position(|key| *key == sort.expr);
    let places: Option<Vec<usize>> = order.iter().take(key_count).map(place_of).collect();
    let Some(places) = places else {
        let plan = LogicalPlan::Distinct(Distinct::On(distinct));
        return Ok(Transformed::no(plan));
    };
    let items = distinct.select_expr.into_iter();
    let items = items.map(|item| first_value(item, order.clone()));
    let aggregate = Aggregate::try_new(distinct.input, distinct.on_expr, items.collect())?;
    let groups = renamed(aggregate)?;
    let columns = groups.schema().columns();
    let sorts = places.into_iter().zip(&order).map(|(place, sort)| Sort {
        expr: Expr::Column(columns[place].clone()),
        ..sort.clone()
    });
    let sorts: Vec<Sort> = sorts.collect();
    let outputs = columns[key_count..].iter().zip(distinct.schema.columns());
    let outputs = outputs.map(|(column, name)| {
        Expr::Column(column.clone()).alias_qualified(name.relation, name.name)
    });
    let mut plan = LogicalPlanBuilder::from(groups);
    if !sorts.is_empty() {
        plan = plan.sort(sorts)?;
    }
    plan.project(outputs.collect::<Vec<_>>())?
        .build()
        .map(Transformed::yes)
}

/// Whether some of the keys, but not all, are what a row of a side of a join below was unique in.
fn misleads(input: &DFSchema, keys: &[Expr]) -> bool {
    let dependencies = input.functional_dependencies();
    let mut repeated = dependencies
        .iter()
        .filter(|dependency| dependency.mode == Dependency::Multi)
        .peekable();
    if repeated.peek().is_none() {
        return false;
    }
    let names = input.field_names();
    let keys: Vec<_> = keys
        .iter()
        .map(|key| key.schema_name().to_string())
        .collect();
    repeated.any(|dependency| {
        let mut sources = dependency.source_indices.iter();
        sources.all(|index| keys.contains(&names[*index]))
            && dependency.source_indices.len() < keys.len()
    })
}

fn columns(schema: &DFSchema) -> Vec<Expr> {
    schema.columns().into_iter().map(Expr::Column).collect()
}

fn aliased(keys: Vec<Expr>) -> Vec<Expr> {
    let keys = keys.into_iter().enumerate();
    keys.map(|(index, key)| key.alias(name_of(index))).collect()
}

fn name_of(index: usize) -> String {
    format!("__key_{index}")
}

/// The aggregate with keys of other names, and what gives them theirs back.
fn renamed(aggregate: Aggregate) -> Result<LogicalPlan> {
    let schema = Arc::clone(&aggregate.schema);
    let key_count = aggregate.group_expr.len();
    let keys = aliased(aggregate.group_expr);
    let renamed = Aggregate::try_new(aggregate.input, keys, aggregate.aggr_expr)?;
    let outputs = schema.columns().into_iter().enumerate();
    let outputs = outputs.map(|(index, column)| {
        if index < key_count {
            let key = Expr::Column(Column::new_unqualified(name_of(index)));
            key.alias_qualified(column.relation, column.name)
        } else {
            Expr::Column(column)
        }
    });
    let outputs = outputs.collect();
    Projection::try_new(outputs, Arc::new(LogicalPlan::Aggregate(renamed)))
        .map(LogicalPlan::Projection)
}
