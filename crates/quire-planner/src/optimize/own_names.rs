//! Takes [`OwnName`] away again: the columns of a plan keep the names that it gave them.

use std::collections::HashMap;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};

use quire_functions::OwnName;

/// The plan without the function, under the same names.
pub fn without_own_names(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|node| {
        let node = keeping_names(node, &|part| Ok(without_own_name(part)))?;
        node.map_data(|node| match node {
            LogicalPlan::Aggregate(aggregate) => grouping_calls(aggregate),
            node => node.recompute_schema(),
        })
    })?;
    Ok(plan.data)
}

fn without_own_name(expr: Expr) -> Transformed<Expr> {
    match expr {
        Expr::ScalarFunction(mut call)
            if call.func.inner().is::<OwnName>() && !call.args.is_empty() =>
        {
            Transformed::yes(call.args.swap_remove(0))
        }
        // The planner gives what it has found below a name, and then the one that is asked for.
        Expr::Alias(mut outer) => match *outer.expr {
            Expr::Alias(inner) => {
                outer.expr = inner.expr;
                Transformed::yes(Expr::Alias(outer))
            }
            named => {
                outer.expr = Box::new(named);
                Transformed::no(Expr::Alias(outer))
            }
        },
        other => Transformed::no(other),
    }
}

/// Changes the parts of a node's expressions, from the innermost on; columns keep their names.
pub(super) fn keeping_names(
    node: LogicalPlan,
    change: &dyn Fn(Expr) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    map_named(node, &|expr| expr.transform_up(change))
}

/// Changes the expressions of a node; columns keep their names.
pub(super) fn map_named(
    node: LogicalPlan,
    change: &dyn Fn(Expr) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let has_names = matches!(
        node,
        LogicalPlan::Projection(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Distinct(_)
    );
    node.map_expressions(|expr| {
        if has_names {
            keeping_name(expr, change)
        } else {
            change(expr)
        }
    })
}

type Replace = dyn Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>;

/// Replaces parts of a node's expressions, from the innermost on; its columns keep their names.
pub(super) fn map_node(plan: LogicalPlan, replace: &Replace) -> Result<Transformed<LogicalPlan>> {
    let schema = schema_below(&plan)?;
    keeping_names(plan, &|part| replace(part, &schema))?.map_data(LogicalPlan::recompute_schema)
}

/// What the expressions of a node read.
pub(super) fn schema_below(plan: &LogicalPlan) -> Result<DFSchema> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = plan {
        let table = scan.table_name.clone();
        let columns = DFSchema::try_from_qualified_schema(table, &scan.source.schema())?;
        schema.merge(&columns);
    }
    Ok(schema)
}

/// The same of one expression. Grouping sets have no name, but their members do.
fn keeping_name(
    expr: Expr,
    change: &dyn Fn(Expr) -> Result<Transformed<Expr>>,
) -> Result<Transformed<Expr>> {
    if matches!(expr, Expr::GroupingSet(_)) {
        return expr.map_children(|member| keeping_name(member, change));
    }
    let name = NamePreserver::new_for_projection().save(&expr);
    let changed = change(expr)?;
    Ok(changed.update_data(|expr| name.restore(expr)))
}

/// `grouping(x)` is given the members of the grouping sets as they are now.
fn grouping_calls(aggregate: Aggregate) -> Result<LogicalPlan> {
    let Aggregate {
        input,
        group_expr,
        aggr_expr,
        ..
    } = aggregate;
    let mut named = HashMap::new();
    for group in &group_expr {
        group.apply(|part| {
            if let Expr::Alias(alias) = part {
                named.insert(alias.expr.as_ref().clone(), part.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    let rename = |expr: Expr| {
        expr.transform_up(|part| match part {
            Expr::AggregateFunction(mut call) if call.func.name() == "grouping" => {
                for argument in &mut call.params.args {
                    if let Some(member) = named.get(argument) {
                        *argument = member.clone();
                    }
                }
                Ok(Transformed::yes(Expr::AggregateFunction(call)))
            }
            other => Ok(Transformed::no(other)),
        })
    };
    let calls = aggr_expr
        .into_iter()
        .map(|expr| Ok(rename(expr)?.data))
        .collect::<Result<_>>()?;
    let aggregate = Aggregate::try_new(input, group_expr, calls)?;
    Ok(LogicalPlan::Aggregate(aggregate))
}
