//! Names for physical plans in which no two columns of one operator are called the same.
//!
//! DataFusion's physical filter pushdown finds a column of a child by its bare name. When both
//! sides of a join have a column `c`, the filter that a join above makes for one of them can reach
//! the scan of the other, and rows are lost. So before physical planning the columns of a plan with
//! such collisions are renamed from `c` to `x.c`, table by table, and back at the top.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::{
    Distinct, Expr, Join, LogicalPlan, LogicalPlanBuilder, SubqueryAlias,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};

use super::before_physical_planning;
use super::key_columns::with_key_columns;
use super::shared_planner::SharedRowsPlanner;
use super::shared_subplans;
use super::switches::is_on;

/// DataFusion's planner, given plans with unique names, without tests of truth, and with columns for keys that it would not recognise.
#[derive(Debug)]
pub struct UniqueNamesPlanner;

#[async_trait]
impl QueryPlanner for UniqueNamesPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        state: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = if is_on(state.config_options(), |ours| ours.shared_subplans) {
            shared_subplans::shared(plan.clone())?
        } else {
            plan.clone()
        };
        let plan = before_physical_planning::spelled_out(with_unique_names(plan)?)?;
        let plan = with_key_columns(plan)?;
        let shared = Arc::new(SharedRowsPlanner::default());
        DefaultPhysicalPlanner::with_extension_planners(vec![shared])
            .create_physical_plan(&plan, state)
            .await
    }
}

/// The same plan with the same output; inside, names are unique wherever they were not.
fn with_unique_names(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Explain(mut explain) => {
            explain.plan = Arc::new(with_unique_names(explain.plan.as_ref().clone())?);
            return Ok(LogicalPlan::Explain(explain));
        }
        LogicalPlan::Analyze(mut analyze) => {
            analyze.input = Arc::new(with_unique_names(analyze.input.as_ref().clone())?);
            return Ok(LogicalPlan::Analyze(analyze));
        }
        _ => {}
    }
    let with_subqueries = plan.transform_down(|node| node.map_subqueries(in_subquery))?;
    with_unique_columns(with_subqueries.data)
}

/// [`with_unique_names`] for a plan whose subqueries already have them.
fn with_unique_columns(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !has_collisions(&plan)? {
        return Ok(plan);
    }
    let renamed = renamed(&plan)?;
    restored(renamed, plan.schema())
}

/// A [`LogicalPlan::Subquery`] stays one.
fn in_subquery(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Subquery(mut subquery) => {
            let plan = with_unique_names(subquery.subquery.as_ref().clone())?;
            subquery.subquery = Arc::new(plan);
            Ok(Transformed::yes(LogicalPlan::Subquery(subquery)))
        }
        plan => with_unique_names(plan).map(Transformed::yes),
    }
}

fn has_collisions(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(has_duplicate_names(node)))
}

/// Whether two columns of the result have the same name, ignoring qualifiers.
fn has_duplicate_names(plan: &LogicalPlan) -> bool {
    let mut names = HashSet::new();
    let mut fields = plan.schema().fields().iter();
    !fields.all(|field| names.insert(field.name()))
}

/// The items of a select list, each named `relation.name` after `schema`. The projection of an eliminated join has such items: columns of two tables
/// with the same name.
fn with_flat_names(items: Vec<Expr>, schema: &DFSchema) -> Vec<Expr> {
    let names = schema.columns().into_iter();
    let items = items.into_iter().zip(names);
    let items = items.map(|(item, known)| {
        let name = known.flat_name();
        item.unalias().alias_qualified(known.relation, name)
    });
    items.collect()
}

/// Gives the columns of `plan`, one by one, the names that `schema` has.
fn restored(plan: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    let restored = columns
        .into_iter()
        .zip(schema.columns())
        .map(|(column, wanted)| Expr::Column(column).alias_qualified(wanted.relation, wanted.name));
    LogicalPlanBuilder::from(plan)
        .project(restored.collect::<Vec<_>>())?
        .build()
}

/// Rewrites `plan` bottom-up; column i of the result is column i of `plan` under another name.
fn renamed(plan: &LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::TableScan(_) => qualified(plan.clone(), plan.schema()),
        LogicalPlan::Extension(shared) if shared.node.inputs().is_empty() => {
            qualified(plan.clone(), plan.schema())
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let input = renamed(&alias.input)?;
            let alias = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
            qualified(LogicalPlan::SubqueryAlias(alias), plan.schema())
        }
        LogicalPlan::Join(join) => renamed_join(join),
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Aggregate(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Distinct(Distinct::All(_)) => {
            let inputs = plan
                .inputs()
                .into_iter()
                .map(renamed)
                .collect::<Result<Vec<_>>>()?;
            let names = name_map(&plan.inputs(), &inputs);
            let expressions = plan
                .expressions()
                .into_iter()
                .map(|expr| substituted(expr, &names));
            let mut expressions = expressions.collect::<Result<_>>()?;
            if let LogicalPlan::Projection(_) = plan
                && has_duplicate_names(plan)
            {
                expressions = with_flat_names(expressions, plan.schema());
            }
            plan.with_new_exprs(expressions, inputs)
        }
        // Every other node receives its inputs under their old names.
        other => {
            let inputs = other.inputs().into_iter().cloned().map(with_unique_columns);
            let inputs = inputs.collect::<Result<Vec<_>>>()?;
            if inputs.is_empty() {
                return Ok(other.clone());
            }
            other.with_new_exprs(other.expressions(), inputs)
        }
    }
}

/// A projection that names each column `relation.name` after `schema`.
fn qualified(plan: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    let columns = plan.schema().columns().into_iter().map(Expr::Column);
    let renamed = with_flat_names(columns.collect(), schema);
    LogicalPlanBuilder::from(plan).project(renamed)?.build()
}

fn renamed_join(join: &Join) -> Result<LogicalPlan> {
    let (left, right) = (renamed(&join.left)?, renamed(&join.right)?);
    let left_names = name_map(&[&join.left], std::slice::from_ref(&left));
    let right_names = name_map(&[&join.right], std::slice::from_ref(&right));
    let on = join.on.iter().map(|(l, r)| {
        Ok((
            substituted(l.clone(), &left_names)?,
            substituted(r.clone(), &right_names)?,
        ))
    });
    let on = on.collect::<Result<Vec<_>>>()?;
    let mut names = left_names;
    names.extend(right_names);
    let filter = join
        .filter
        .clone()
        .map(|filter| substituted(filter, &names))
        .transpose()?;
    Ok(LogicalPlan::Join(Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?))
}

/// The new column for each old one, by position.
fn name_map(old: &[&LogicalPlan], new: &[LogicalPlan]) -> HashMap<Column, Column> {
    let pairs = old.iter().zip(new);
    pairs
        .flat_map(|(old, new)| {
            old.schema()
                .columns()
                .into_iter()
                .zip(new.schema().columns())
        })
        .collect()
}

fn substituted(expr: Expr, names: &HashMap<Column, Column>) -> Result<Expr> {
    let substituted = expr.transform_up(|node| {
        Ok(match &node {
            Expr::Column(column) => match names.get(column) {
                Some(new) => Transformed::yes(Expr::Column(new.clone())),
                None => Transformed::no(node),
            },
            _ => Transformed::no(node),
        })
    })?;
    Ok(substituted.data)
}
