//! Volatile functions of a select list are asked for rows that are shown.
//!
//! `SELECT nextval('s') FROM t ORDER BY a LIMIT 2` calls the function twice, as in PostgreSQL, and not for each row of the table. So
//! the value is computed above the sort, of which no more rows come than the limit lets through.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{
    Expr, FetchType, Limit, LogicalPlan, LogicalPlanBuilder, Projection, SkipType, Sort,
};
use datafusion::optimizer::AnalyzerRule;

/// The rule.
#[derive(Debug)]
pub(super) struct LateValues;

impl AnalyzerRule for LateValues {
    fn name(&self) -> &str {
        "late_values"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(below_limit)?.data)
    }
}

fn below_limit(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Limit(limit) = &plan else {
        return Ok(Transformed::no(plan));
    };
    let (SkipType::Literal(skipped), FetchType::Literal(Some(fetched))) =
        (limit.get_skip_type()?, limit.get_fetch_type()?)
    else {
        return Ok(Transformed::no(plan));
    };
    let Some(row_count) = skipped.checked_add(fetched) else {
        return Ok(Transformed::no(plan));
    };
    let late = match limit.input.as_ref() {
        LogicalPlan::Sort(sort) => above_sort(sort, row_count)?,
        LogicalPlan::Projection(shown) => match shown.input.as_ref() {
            LogicalPlan::Sort(sort) => match above_sort(sort, row_count)? {
                Some(late) => {
                    let shown = Projection::try_new(shown.expr.clone(), Arc::new(late))?;
                    Some(LogicalPlan::Projection(shown))
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

/// The first rows of a sort, whose volatile columns are computed for them alone; nothing if there are none, or if the order
/// depends on them.
fn above_sort(sort: &Sort, row_count: usize) -> Result<Option<LogicalPlan>> {
    let LogicalPlan::Projection(below) = sort.input.as_ref() else {
        return Ok(None);
    };
    let columns = below.schema.columns();
    let is_late = |place: usize| below.expr[place].is_volatile();
    let late: Vec<&Column> = (0..columns.len())
        .filter(|place| is_late(*place))
        .map(|place| &columns[place])
        .collect();
    let sorts_by_late = sort.expr.iter().any(|key| {
        let columns = key.expr.column_refs();
        key.expr.is_volatile() || columns.iter().any(|column| late.contains(column))
    });
    if late.is_empty() || sorts_by_late {
        return Ok(None);
    }
    // What the late values are made of comes along under names of its own.
    let mut early: Vec<Expr> = Vec::new();
    let mut shown: Vec<Expr> = Vec::new();
    for (place, expr) in below.expr.iter().enumerate() {
        let column = &columns[place];
        if !is_late(place) {
            early.push(expr.clone());
            shown.push(Expr::Column(column.clone()));
            continue;
        }
        let value = expr.clone().transform_up(|part| match part {
            Expr::Column(read) => {
                let name = format!("__late_{}", early.len());
                early.push(Expr::Column(read).alias(&name));
                Ok(Transformed::yes(Expr::Column(Column::new_unqualified(
                    name,
                ))))
            }
            other => Ok(Transformed::no(other)),
        });
        let value = value?.data.unalias();
        shown.push(value.alias_qualified(column.relation.clone(), &column.name));
    }
    let early = Projection::try_new(early, Arc::clone(&below.input))?;
    let late = LogicalPlanBuilder::from(LogicalPlan::Projection(early))
        .sort(sort.expr.clone())?
        .limit(0, Some(row_count))?
        .project(shown)?
        .build()?;
    Ok(Some(late))
}
