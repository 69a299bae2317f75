//! Nodes whose keys are compared: joins, groups, sorts, and what leaves out duplicates.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Join, JoinConstraint, LogicalPlan, Projection, RecursiveQuery,
};

use super::expressions::{self, FloatKeyRewriter, as_key, needs_key, with_keys};
use crate::optimize::own_names::{keeping_names, schema_below};

/// Puts keys into a node.
pub(in crate::optimize) fn key_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = schema_below(&plan)?;
    let plan = keeping_names(plan, &|part| expressions::compare_by_keys(part, &schema))?;
    plan.transform_data(|plan| key_own_values(plan, &schema))?
        .map_data(|plan| plan.recompute_schema())
}

/// The same of what the node itself compares.
fn key_own_values(plan: LogicalPlan, schema: &DFSchema) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Join(join) => Ok(key_join(join)),
        LogicalPlan::Aggregate(aggregate) => key_groups(aggregate),
        LogicalPlan::Sort(mut sort) => {
            let mut keys = FloatKeyRewriter {
                schema,
                has_changed: false,
            };
            keys.replace_sorted(&mut sort.expr);
            let is_changed = keys.has_changed;
            Ok(changed_if(is_changed, LogicalPlan::Sort(sort)))
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let keyed = with_keys(&input)?;
            let is_changed = keyed.is_some();
            let distinct = Distinct::All(keyed.map_or(input, Arc::new));
            Ok(changed_if(is_changed, LogicalPlan::Distinct(distinct)))
        }
        LogicalPlan::Distinct(Distinct::On(mut distinct)) => {
            let mut keys = FloatKeyRewriter {
                schema,
                has_changed: false,
            };
            distinct.on_expr.iter_mut().for_each(|on| keys.replace(on));
            keys.replace_sorted(distinct.sort_expr.as_deref_mut().unwrap_or_default());
            let is_changed = keys.has_changed;
            let distinct = LogicalPlan::Distinct(Distinct::On(distinct));
            Ok(changed_if(is_changed, distinct))
        }
        LogicalPlan::RecursiveQuery(query) if query.is_distinct => key_recursion(query),
        other => Ok(Transformed::no(other)),
    }
}

fn changed_if(is_changed: bool, plan: LogicalPlan) -> Transformed<LogicalPlan> {
    if is_changed {
        Transformed::yes(plan)
    } else {
        Transformed::no(plan)
    }
}

fn key_join(mut join: Join) -> Transformed<LogicalPlan> {
    let mut is_changed = false;
    for (left, right) in &mut join.on {
        for (side, schema) in [(left, join.left.schema()), (right, join.right.schema())] {
            let mut keys = FloatKeyRewriter {
                schema,
                has_changed: false,
            };
            keys.replace(side);
            is_changed |= keys.has_changed;
        }
    }
    if is_changed {
        // The keys of USING are columns. What it says of names, the plan above has in it already.
        join.join_constraint = JoinConstraint::On;
    }
    changed_if(is_changed, LogicalPlan::Join(join))
}

/// Groups show the key of their floats. Grouping sets name their columns several times, so there the rows below have the keys.
fn key_groups(mut aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let schema = Arc::clone(aggregate.input.schema());
    let has_sets = matches!(aggregate.group_expr.as_slice(), [Expr::GroupingSet(_)]);
    if has_sets {
        let groups = grouping_set_to_exprlist(&aggregate.group_expr)?;
        let groups: Vec<&Column> = groups
            .iter()
            .filter_map(|group| group.try_as_col())
            .collect();
        let Some(input) = with_keys_of(&aggregate.input, &groups)? else {
            return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
        };
        aggregate.input = Arc::new(input);
        return Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)));
    }
    let mut is_changed = false;
    for group in &mut aggregate.group_expr {
        is_changed |= needs_key(group, &schema);
        *group = as_key(std::mem::take(group), &schema);
    }
    Ok(changed_if(is_changed, LogicalPlan::Aggregate(aggregate)))
}

/// The rows of a plan with keys in some columns; nothing if none of them is a float.
fn with_keys_of(input: &Arc<LogicalPlan>, columns: &[&Column]) -> Result<Option<LogicalPlan>> {
    let schema = input.schema();
    let needs = |column: &Column| {
        columns.contains(&column) && needs_key(&Expr::Column(column.clone()), schema)
    };
    let all = schema.columns();
    if !all.iter().any(needs) {
        return Ok(None);
    }
    let outputs = all.into_iter().map(|column| {
        if needs(&column) {
            as_key(Expr::Column(column), schema)
        } else {
            Expr::Column(column)
        }
    });
    let projection = Projection::try_new(outputs.collect(), Arc::clone(input))?;
    Ok(Some(LogicalPlan::Projection(projection)))
}

fn key_recursion(mut query: RecursiveQuery) -> Result<Transformed<LogicalPlan>> {
    let terms = [&mut query.static_term, &mut query.recursive_term];
    let mut is_changed = false;
    for term in terms {
        if let Some(keyed) = with_keys(term)? {
            *term = Arc::new(keyed);
            is_changed = true;
        }
    }
    Ok(changed_if(is_changed, LogicalPlan::RecursiveQuery(query)))
}
