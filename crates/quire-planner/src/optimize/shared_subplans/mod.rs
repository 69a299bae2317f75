//! Subplans that stand in several places of a plan, and are computed once.
//!
//! The planner puts the text of a view or of a `WITH` query wherever its name stands, and people repeat subqueries. After the logical rules, which
//! have pushed down what each place needs, subplans may still be the same: they read the same columns of the same tables under the same conditions.
//! One that ends in groups or in a window has fewer rows than it reads, or has sorted them; its rows are kept in memory for all places
//! ([`exec`]). A join or a scan is left in its places, where filters of other joins reach it; and so are groups of which the places need little
//! ([`reach`]).
//!
//! The tuple engine shares the same subplans ([`shared_for_tuples`]). It has no filters from other joins, so that each place computes the whole, and
//! shares joins, too, where it finds that to keep their rows costs less.

mod exec;
mod reach;

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use datafusion::physical_plan::ExecutionPlan;

pub(super) use exec::{SharedSubplanExec, SubplanRows};

use super::shared_rows::{SharedPlan, is_volatile};
use super::switches::is_on;
use crate::scan::{ColumnTableProvider, RowTableProvider};

/// What the first place of a shared subplan shows below it.
pub fn shared_subplan(place: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    place.downcast_ref::<SharedSubplanExec>()?.shown_plan()
}

/// Who runs the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SubplanReader {
    Batches,
    Tuples,
}

/// The plan with one node for all places of a subplan, for batches.
pub(super) fn shared(plan: LogicalPlan) -> Result<LogicalPlan> {
    shared_for(plan, SubplanReader::Batches)
}

/// The same for the tuple engine; [`shared_place`] knows the nodes. The plan itself where the session shares nothing.
pub fn shared_for_tuples(plan: LogicalPlan, options: &ConfigOptions) -> Result<LogicalPlan> {
    if is_on(options, |ours| ours.shared_subplans) {
        shared_for(plan, SubplanReader::Tuples)
    } else {
        Ok(plan)
    }
}

/// Of a place of a shared subplan, what is the same for all of its places and for those of no other, and the subplan.
pub fn shared_place(node: &LogicalPlan) -> Option<(usize, &LogicalPlan)> {
    let LogicalPlan::Extension(extension) = node else {
        return None;
    };
    let shared = extension.node.as_any().downcast_ref::<SharedPlan>()?;
    // Others call volatile functions, and are not optimized.
    let is_subplan = shared.is_optimized;
    is_subplan.then(|| (shared.address(), shared.plan.as_ref()))
}

fn shared_for(plan: LogicalPlan, reader: SubplanReader) -> Result<LogicalPlan> {
    if !reads_a_table_twice(&plan)? {
        return Ok(plan);
    }
    let repeated = repeated_subplans(&plan, reader)?;
    if repeated.is_empty() {
        return Ok(plan);
    }
    let nodes: Vec<(LogicalPlan, SharedPlan)> = repeated
        .into_iter()
        .map(|subplan| (subplan.clone(), SharedPlan::optimized(subplan)))
        .collect();
    let plan = plan.transform_down_with_subqueries(|node| {
        if !is_candidate(&node, reader)? {
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

fn is_candidate(node: &LogicalPlan, reader: SubplanReader) -> Result<bool> {
    let may_be_shared = match node {
        LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) => true,
        LogicalPlan::Join(_) => reader == SubplanReader::Tuples,
        _ => false,
    };
    Ok(may_be_shared && reads_tables_only(node)?)
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
    let Ok(provider) = source_as_provider(&scan.source) else {
        return false;
    };
    // A scan of some rows has the name of the whole table.
    let of_rows = provider.downcast_ref::<RowTableProvider>();
    provider.is::<ColumnTableProvider>() || of_rows.is_some_and(|rows| !rows.is_of_some_rows())
}

/// The largest subplans that have more than one place, if to compute them for all places is less work than to compute for each what it needs.
fn repeated_subplans(plan: &LogicalPlan, reader: SubplanReader) -> Result<Vec<LogicalPlan>> {
    let repeated = in_several_places(plan, &[], reader)?;
    let repeated: Vec<_> = repeated.into_iter().map(|(subplan, _)| subplan).collect();
    // Those within others have one place, if all of theirs are in places of these.
    let mut shared = Vec::new();
    for (subplan, places) in in_several_places(plan, &repeated, reader)? {
        let computed_shares = match reader {
            SubplanReader::Batches => reach::computed_shares(plan, &subplan, places)?,
            SubplanReader::Tuples => places as f64,
        };
        if computed_shares >= 1.0 && can_be_shared(&subplan)? {
            shared.push(subplan);
        }
    }
    Ok(shared)
}

/// The subplans with more than one place that is not within one of `outer`, and how many they have.
fn in_several_places(
    plan: &LogicalPlan,
    outer: &[LogicalPlan],
    reader: SubplanReader,
) -> Result<Vec<(LogicalPlan, usize)>> {
    let mut found: HashMap<u64, Vec<(LogicalPlan, usize)>> = HashMap::new();
    plan.apply_with_subqueries(|node| {
        if !is_candidate(node, reader)? {
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
