//! Aggregates that a subquery reads and the query around it computes.
//!
//! [`OuterAggregate`] stands for them in the plan of the subquery. Each becomes an aggregate of the innermost query whose columns it is
//! made of, which the subquery then reads like other columns. Runs when a statement has been planned, before its types are settled.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, Result, not_impl_err};
use datafusion::logical_expr::{Aggregate, Expr, Filter, LogicalPlan, Subquery, Window};
use quire_error::Error;
use quire_functions::OuterAggregate;

use super::integer_sums::narrow_sum;
use super::outer_references::{is_outer_aggregate, without_outer_references};
use super::own_names::keeping_names;

/// The plan without the function.
pub fn hoist_outer_aggregates(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut count = 0;
    let plan = plan.transform_up_with_subqueries(|node| hoist(node, &mut count))?;
    plan.data.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            if expr.exists(|part| Ok(is_outer_aggregate(part)))? {
                not_impl_err!("an aggregate of the query around it, here,")
            } else {
                Ok(TreeNodeRecursion::Continue)
            }
        })
    })?;
    Ok(plan.data)
}

/// Computes in a node's query what the subqueries of the node read of it.
fn hoist(node: LogicalPlan, count: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let is_filter = matches!(node, LogicalPlan::Filter(_));
    if !is_filter && !matches!(node, LogicalPlan::Projection(_)) {
        return Ok(Transformed::no(node));
    }
    let inputs = node.inputs();
    let [input] = inputs.as_slice() else {
        return Ok(Transformed::no(node));
    };
    let input = (*input).clone();
    let rows = below_aggregate(&input).unwrap_or(&input).schema();
    let calls = calls_of(&node, rows)?;
    if calls.is_empty() {
        return Ok(Transformed::no(node));
    }
    if is_filter && below_aggregate(&input).is_none() {
        return Err(misplaced(
            "aggregate functions are not allowed in WHERE".to_owned(),
        ));
    }
    let first = *count;
    *count += calls.len();
    let aggregates = calls.iter().enumerate().map(|(place, call)| {
        let aggregate = aggregate_of(call, rows)?;
        Ok(aggregate.alias(name_of(first + place)))
    });
    let computed = with_aggregates(input.clone(), aggregates.collect::<Result<_>>()?)?;
    let schema = Arc::clone(computed.schema());
    let node = node.map_subqueries(|subquery| match subquery {
        LogicalPlan::Subquery(subquery) => {
            let plan = Arc::unwrap_or_clone(subquery.subquery);
            let plan = reading(plan, &calls, first, &schema)?;
            check_groups(&plan, rows, &schema)?;
            Ok(Transformed::yes(LogicalPlan::Subquery(Subquery {
                outer_ref_columns: plan.all_out_ref_exprs(),
                subquery: Arc::new(plan),
                spans: subquery.spans,
            })))
        }
        other => Ok(Transformed::no(other)),
    })?;
    let node = node.data;
    let mut expressions = node.expressions();
    for expr in &mut expressions {
        check_columns(expr, rows, &schema)?;
    }
    let node = node.with_new_exprs(expressions, vec![computed])?;
    Ok(Transformed::yes(node))
}

fn name_of(place: usize) -> String {
    format!("__outer_{place}")
}

fn misplaced(message: String) -> DataFusionError {
    Error::new("42803", message).into()
}

/// What the aggregation of a query reads; nothing if the query has none.
fn below_aggregate(plan: &LogicalPlan) -> Option<&LogicalPlan> {
    match plan {
        LogicalPlan::Aggregate(aggregate) => Some(&aggregate.input),
        LogicalPlan::Filter(filter) => below_aggregate(&filter.input),
        LogicalPlan::Window(window) => below_aggregate(&window.input),
        _ => None,
    }
}

/// The calls in the subqueries of a node that are about these rows, each once.
fn calls_of(node: &LogicalPlan, rows: &DFSchema) -> Result<Vec<Expr>> {
    let mut calls = Vec::new();
    node.apply_subqueries(|subquery| {
        subquery.apply_with_subqueries(|inner| {
            inner.apply_expressions(|expr| {
                expr.apply(|part| {
                    if is_about(part, rows) && !calls.contains(part) {
                        calls.push(part.clone());
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })
    })?;
    Ok(calls)
}

/// Whether an expression is an outer aggregate of columns of these rows.
fn is_about(part: &Expr, rows: &DFSchema) -> bool {
    let mut is_about = is_outer_aggregate(part);
    let mut look = |part: &Expr| {
        if let Expr::OuterReferenceColumn(_, column) = part {
            is_about &= rows.has_column(column);
        }
    };
    let _ = part.apply(|part| {
        match part {
            Expr::ScalarSubquery(subquery) => {
                subquery
                    .subquery
                    .all_out_ref_exprs()
                    .iter()
                    .for_each(&mut look);
            }
            part => look(part),
        }
        Ok(TreeNodeRecursion::Continue)
    });
    is_about
}

/// The aggregate that a call stands for, over the rows themselves.
fn aggregate_of(call: &Expr, rows: &DFSchema) -> Result<Expr> {
    let own = without_outer_references(call.clone())?.transform_up(|part| {
        Ok(match part {
            Expr::ScalarFunction(call) => {
                match call.func.inner().downcast_ref::<OuterAggregate>() {
                    Some(outer) => Transformed::yes(outer.call(call.args)),
                    None => Transformed::no(Expr::ScalarFunction(call)),
                }
            }
            other => Transformed::no(other),
        })
    })?;
    // The subquery is told the type that the sum is going to have.
    Ok(narrow_sum(own.data, rows).data)
}

/// The query's rows with more aggregates.
fn with_aggregates(plan: LogicalPlan, aggregates: Vec<Expr>) -> Result<LogicalPlan> {
    Ok(match plan {
        LogicalPlan::Aggregate(mut aggregate) => {
            aggregate.aggr_expr.extend(aggregates);
            let Aggregate {
                input,
                group_expr,
                aggr_expr,
                ..
            } = aggregate;
            LogicalPlan::Aggregate(Aggregate::try_new(input, group_expr, aggr_expr)?)
        }
        LogicalPlan::Filter(filter) if below_aggregate(&filter.input).is_some() => {
            let input = with_aggregates(Arc::unwrap_or_clone(filter.input), aggregates)?;
            LogicalPlan::Filter(Filter::new(filter.predicate, Arc::new(input)))
        }
        LogicalPlan::Window(window) if below_aggregate(&window.input).is_some() => {
            let input = with_aggregates(Arc::unwrap_or_clone(window.input), aggregates)?;
            LogicalPlan::Window(Window::try_new(window.window_expr, Arc::new(input))?)
        }
        rows => {
            let all = Aggregate::try_new(Arc::new(rows), Vec::new(), aggregates)?;
            LogicalPlan::Aggregate(all)
        }
    })
}

/// A subquery that reads the aggregates instead of computing them.
fn reading(
    plan: LogicalPlan,
    calls: &[Expr],
    first: usize,
    schema: &DFSchema,
) -> Result<LogicalPlan> {
    let read = |part: Expr| match calls.iter().position(|call| *call == part) {
        Some(place) => {
            let column = Column::new_unqualified(name_of(first + place));
            let field = schema.field_with_unqualified_name(&column.name)?;
            let field = Arc::new(field.as_ref().clone());
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        None => Ok(Transformed::no(part)),
    };
    let plan = plan.transform_up_with_subqueries(|node| {
        keeping_names(node, &read)?.map_data(|node| {
            let node = node.map_subqueries(|subquery| match subquery {
                LogicalPlan::Subquery(subquery) => {
                    Ok(Transformed::yes(LogicalPlan::Subquery(Subquery {
                        outer_ref_columns: subquery.subquery.all_out_ref_exprs(),
                        ..subquery
                    })))
                }
                other => Ok(Transformed::no(other)),
            });
            node?.data.recompute_schema()
        })
    })?;
    Ok(plan.data)
}

/// A subquery of an aggregated query reads its groups, and no other columns.
fn check_groups(subquery: &LogicalPlan, rows: &DFSchema, groups: &DFSchema) -> Result<()> {
    for expr in subquery.all_out_ref_exprs() {
        if let Expr::OuterReferenceColumn(_, column) = &expr
            && rows.has_column(column)
            && !groups.has_column(column)
        {
            let text = format!("subquery uses ungrouped column \"{column}\" from outer query");
            return Err(misplaced(text));
        }
    }
    Ok(())
}

/// The same of the query itself.
fn check_columns(expr: &Expr, rows: &DFSchema, groups: &DFSchema) -> Result<()> {
    for column in expr.column_refs() {
        if rows.has_column(column) && !groups.has_column(column) {
            return Err(misplaced(format!(
                "column \"{column}\" must appear in the GROUP BY clause or be used in an aggregate function"
            )));
        }
    }
    Ok(())
}
