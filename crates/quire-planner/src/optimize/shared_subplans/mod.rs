//! Subplans that stand in several places of a plan, and are computed once.
//!
//! The planner puts the text of a view or of a `WITH` query wherever its name stands, and people repeat subqueries. After the logical rules, which
//! have pushed down what each place needs, subplans may still be the same: they read the same columns of the same tables under the same conditions.
//! One that ends in groups or in a window has fewer rows than it reads, or has sorted them; its rows are kept in memory for all places
//! ([`exec`]). A join or a scan is left in its places, where filters of other joins reach it; and so are groups of which the places need little
//! ([`reach`]).

mod exec;
mod reach;

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use datafusion::physical_plan::ExecutionPlan;

pub(super) use exec::{SharedSubplanExec, SubplanRows};

use super::shared_rows::{SharedPlan, is_volatile};
use crate::scan::{ColumnTableProvider, RowTableProvider};

/// What the first place of a shared subplan shows below it.
pub fn shared_subplan(place: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    place.downcast_ref::<SharedSubplanExec>()?.shown_plan()
}

/// The plan with one node for all places of a subplan.
pub(super) fn shared(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !reads_a_table_twice(&plan)? {
        return Ok(plan);
    }
    let repeated = repeated_subplans(&plan)?;
    if repeated.is_empty() {
        return Ok(plan);
    }
    let nodes: Vec<(LogicalPlan, SharedPlan)> = repeated
        .into_iter()
        .map(|subplan| (subplan.clone(), SharedPlan::optimized(subplan)))
        .collect();
    let plan = plan.transform_down_with_subqueries(|node| {
        if !is_candidate(&node)? {
            return Ok(Transformed::no(node));
        }
        let known = nodes.iter().find(|(subplan, _)| *subplan == node);
        Ok(match known {
            Some((_, shared)) => {
                Transformed::new(shared.clone().node(), true, TreeNodeRecursion::Jump)
            }
            None => Transformed::no(node),
        })
    })?;
    Ok(plan.data)
}

/// Whether there can be equal subplans at all: most plans are done with after this.
fn reads_a_table_twice(plan: &LogicalPlan) -> Result<bool> {
    let mut names = Vec::new();
    let mut is_twice = false;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            is_twice |= names.contains(&scan.table_name);
            names.push(scan.table_name.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(is_twice)
}

fn is_candidate(node: &LogicalPlan) -> Result<bool> {
    let has_groups = matches!(node, LogicalPlan::Aggregate(_) | LogicalPlan::Window(_));
    Ok(has_groups && reads_tables_only(node)?)
}

/// Whether all rows are those of the snapshot's tables. Scans of table functions, of rows that are shared or of a recursion's rounds are equal to
/// DataFusion if they have the same name, whatever they read.
fn reads_tables_only(plan: &LogicalPlan) -> Result<bool> {
    let mut reads_others = false;
    plan.apply_with_subqueries(|node| {
        reads_others |= match node {
            LogicalPlan::TableScan(scan) => !is_table(scan),
            LogicalPlan::Extension(_) | LogicalPlan::RecursiveQuery(_) => true,
            _ => false,
        };
        Ok(match reads_others {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(!reads_others)
}

fn is_table(scan: &TableScan) -> bool {
    let provider = source_as_provider(&scan.source);
    provider.is_ok_and(|it| it.is::<ColumnTableProvider>() || it.is::<RowTableProvider>())
}

/// The largest subplans that have more than one place, if to compute them for all places is less work than to compute for each what it needs.
fn repeated_subplans(plan: &LogicalPlan) -> Result<Vec<LogicalPlan>> {
    let repeated = in_several_places(plan, &[])?;
    let repeated: Vec<_> = repeated.into_iter().map(|(subplan, _)| subplan).collect();
    // Those within others have one place, if all of theirs are in places of these.
    let mut shared = Vec::new();
    for (subplan, places) in in_several_places(plan, &repeated)? {
        if can_be_shared(&subplan)? && reach::computed_shares(plan, &subplan, places)? >= 1.0 {
            shared.push(subplan);
        }
    }
    Ok(shared)
}

/// The subplans with more than one place that is not within one of `outer`, and how many they have.
fn in_several_places(
    plan: &LogicalPlan,
    outer: &[LogicalPlan],
) -> Result<Vec<(LogicalPlan, usize)>> {
    let mut found: HashMap<u64, Vec<(LogicalPlan, usize)>> = HashMap::new();
    plan.apply_with_subqueries(|node| {
        if !is_candidate(node)? {
            return Ok(TreeNodeRecursion::Continue);
        }
        let mut hasher = DefaultHasher::new();
        node.hash(&mut hasher);
        let alike = found.entry(hasher.finish()).or_default();
        match alike.iter_mut().find(|(known, _)| known == node) {
            Some((_, places)) => *places += 1,
            None => alike.push((node.clone(), 1)),
        }
        Ok(if outer.contains(node) {
            TreeNodeRecursion::Jump
        } else {
            TreeNodeRecursion::Continue
        })
    })?;
    let found = found.into_values().flatten();
    Ok(found.filter(|(_, places)| *places > 1).collect())
}

/// Whether all places have the same rows, which depend on nothing outside of the subplan.
fn can_be_shared(subplan: &LogicalPlan) -> Result<bool> {
    let mut reads_outer_rows = false;
    subplan.apply_with_subqueries(|node| {
        reads_outer_rows |= !node.all_out_ref_exprs().is_empty();
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(!reads_outer_rows && !is_volatile(subplan)?)
}
