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
use datafusion::logical_expr::{Aggregate, Distinct, Expr, LogicalPlan, Projection};

/// Renames the keys of an aggregate of which too much would be derived. DISTINCT becomes an aggregate, of which the operators above may
/// derive something, too. The rows of DISTINCT ON are values of another function, of whose keys nothing is derived.
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
        other => Ok(Transformed::no(other)),
    }
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
