//! A row that a grouped query looks for in a subquery, and whose fields are groups.
//!
//! `(a + b, 1) IN (SELECT …)` is a subquery that compares `a + b` with a field of each member. In there, `a + b` is made of columns of the
//! query around it, of which nothing is left when that is grouped by `a + b`. Here the subquery reads the group. Only such fields do: SQL
//! knows no groups but columns in subqueries that are written out. Runs when a statement has been planned, before its types are settled.

use std::sync::Arc;

use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, BinaryExpr, Expr, LogicalPlan, Operator, Subquery};

use super::outer_references::{is_outer_aggregate, without_outer_references};
use super::own_names::keeping_names;
use super::ungrouped_columns::aggregate_below;

/// The plan whose subqueries read groups; `members` is what the members of a subquery are called as a table.
pub fn read_groups(plan: LogicalPlan, members: &str) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|node| in_subqueries_of(node, members))?;
    Ok(plan.data)
}

fn in_subqueries_of(node: LogicalPlan, members: &str) -> Result<Transformed<LogicalPlan>> {
    let aggregate = match node.inputs().as_slice() {
        [input] => aggregate_below(input),
        _ => None,
    };
    let Some(groups) = aggregate.map(groups_of).transpose()? else {
        return Ok(Transformed::no(node));
    };
    node.map_subqueries(|subquery| match subquery {
        LogicalPlan::Subquery(subquery) => {
            let plan = reading(Arc::unwrap_or_clone(subquery.subquery), &groups, members)?;
            Ok(Transformed::yes(LogicalPlan::Subquery(Subquery {
                outer_ref_columns: plan.all_out_ref_exprs(),
                subquery: Arc::new(plan),
                spans: subquery.spans,
            })))
        }
        other => Ok(Transformed::no(other)),
    })
}

/// What a query is grouped by, and the column that has its values.
struct Group {
    expr: Expr,
    field: FieldRef,
    column: Column,
}

fn groups_of(aggregate: &Aggregate) -> Result<Vec<Group>> {
    let keys = grouping_set_to_exprlist(&aggregate.group_expr)?.into_iter();
    let columns = aggregate.schema.iter();
    let groups = keys.zip(columns).map(|(key, (relation, field))| Group {
        expr: key.clone().unalias(),
        field: Arc::clone(field),
        column: Column::new(relation.cloned(), field.name()),
    });
    Ok(groups.collect())
}

/// The subquery with groups in place of the expressions that are compared with members.
fn reading(plan: LogicalPlan, groups: &[Group], members: &str) -> Result<LogicalPlan> {
    let read = |part: Expr| match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if op == Operator::Eq && is_member(&right, members) =>
        {
            let left = Box::new(as_groups(*left, groups)?);
            Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr {
                left,
                op,
                right,
            })))
        }
        other => Ok(Transformed::no(other)),
    };
    let plan = plan
        .transform_up(|node| keeping_names(node, &read)?.map_data(LogicalPlan::recompute_schema))?;
    Ok(plan.data)
}

fn is_member(expr: &Expr, members: &str) -> bool {
    let Expr::Column(column) = expr else {
        return false;
    };
    let relation = column.relation.as_ref();
    relation.is_some_and(|relation| relation.table() == members)
}

fn as_groups(expr: Expr, groups: &[Group]) -> Result<Expr> {
    let replaced = expr.transform_down(|part| {
        if is_outer_aggregate(&part) {
            // What it aggregates are the rows that are grouped.
            return Ok(Transformed::new(part, false, TreeNodeRecursion::Jump));
        }
        let own = without_outer_references(part.clone())?;
        let group = groups.iter().find(|group| group.expr == own);
        // What is the same for all rows is no column of theirs.
        Ok(match group.filter(|_| own != part) {
            Some(group) => {
                let column = group.column.clone();
                let read = Expr::OuterReferenceColumn(Arc::clone(&group.field), column);
                Transformed::new(read, true, TreeNodeRecursion::Jump)
            }
            None => Transformed::no(part),
        })
    })?;
    Ok(replaced.data)
}
