//! Evaluates volatile expressions of a select list after the sort and the limit.
//!
//! `SELECT nextval('s') FROM t ORDER BY a LIMIT 2` calls the function twice, as in PostgreSQL, not once for each row of the table. The
//! rule moves volatile expressions from the projection below the sort into one above it, and limits the rows of the sort.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{
    Expr, FetchType, Limit, LogicalPlan, LogicalPlanBuilder, Projection, SkipType, Sort,
};

/// Rewrites a limit over a sort, or over a projection of a sort.
pub(super) fn below_limit(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Limit(limit) = &plan else {
        return Ok(Transformed::no(plan));
    };
    let (SkipType::Literal(skipped), FetchType::Literal(Some(fetched))) =
        (limit.get_skip_type()?, limit.get_fetch_type()?)
    else {
        return Ok(Transformed::no(plan));
    };
    // Rows that OFFSET skips are evaluated as well, as in PostgreSQL.
    let Some(row_count) = skipped.checked_add(fetched) else {
        return Ok(Transformed::no(plan));
    };
    let late = match limit.input.as_ref() {
        LogicalPlan::Sort(sort) => above_sort(sort, row_count)?,
        LogicalPlan::Projection(outer) => match outer.input.as_ref() {
            LogicalPlan::Sort(sort) => match above_sort(sort, row_count)? {
                Some(late) => {
                    let outer = Projection::try_new(outer.expr.clone(), Arc::new(late))?;
                    Some(LogicalPlan::Projection(outer))
                }
                None => None,
            },
            _ => None,
        },
        _ => None,
    };
    Ok(match late {
        Some(late) => Transformed::yes(LogicalPlan::Limit(Limit {
            input: Arc::new(late),
            ..limit.clone()
        })),
        None => Transformed::no(plan),
    })
}

/// Replaces a sort by its first `row_count` rows, with the volatile columns evaluated above them. `None` if the sort has no volatile
/// columns, or if its order depends on one.
fn above_sort(sort: &Sort, row_count: usize) -> Result<Option<LogicalPlan>> {
    let LogicalPlan::Projection(projection) = sort.input.as_ref() else {
        return Ok(None);
    };
    let columns = projection.schema.columns();
    let is_volatile = |index: usize| projection.expr[index].is_volatile();
    let volatile: Vec<&Column> = (0..columns.len())
        .filter(|index| is_volatile(*index))
        .map(|index| &columns[index])
        .collect();
    let sorts_by_volatile = sort.expr.iter().any(|key| {
        let columns = key.expr.column_refs();
        key.expr.is_volatile() || columns.iter().any(|column| volatile.contains(column))
    });
    if volatile.is_empty() || sorts_by_volatile {
        return Ok(None);
    }
    let mut below: Vec<Expr> = Vec::new();
    let mut above: Vec<Expr> = Vec::new();
    for (index, expr) in projection.expr.iter().enumerate() {
        let column = &columns[index];
        if !is_volatile(index) {
            below.push(expr.clone());
            above.push(Expr::Column(column.clone()));
            continue;
        }
        // The columns that a volatile expression reads pass through the sort, under generated names: the projection may use their own
        // names for something else.
        let value = expr.clone().transform_up(|part| match part {
            Expr::Column(read) => {
                let name = format!("__late_{}", below.len());
                below.push(Expr::Column(read).alias(&name));
                Ok(Transformed::yes(Expr::Column(Column::new_unqualified(
                    name,
                ))))
            }
            other => Ok(Transformed::no(other)),
        });
        let value = value?.data.unalias();
        // Operators above this plan refer to the column by its old name.
        above.push(value.alias_qualified(column.relation.clone(), &column.name));
    }
    let below = Projection::try_new(below, Arc::clone(&projection.input))?;
    // The limit is below the upper projection, which evaluates whole batches.
    let late = LogicalPlanBuilder::from(LogicalPlan::Projection(below))
        .sort(sort.expr.clone())?
        .limit(0, Some(row_count))?
        .project(above)?
        .build()?;
    Ok(Some(late))
}
