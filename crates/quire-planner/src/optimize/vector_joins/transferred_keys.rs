//! Hands the keys of a join's probe side to the scans of its build side.
//!
//! A join tells the scans of its probe side which keys its build side has ([`super::pushed_filter`]). The other direction pays where the probe
//! side has few rows: of 144,000 returns TPC-DS's Q40 looks up those of 1,733 sales, and Q18 of TPC-H joins 57 orders with all customers. That the probe
//! side is small is seldom known before it has run, as it is other joins that reduce it. So it runs first, for a while ([`super::early_probe`]). If it ends
//! within that, its keys filter the build side. If it does not, the build side is read as it is, and the probe side goes on from where it stopped.
//!
//! This is predicate transfer (Yang, Zhao, Yu and Koutris, "Predicate Transfer", CIDR 2024) along the edge of a join tree that a hash join leaves out, with exact
//! keys in place of Bloom filters. It is placed where nothing is lost by it: where the build side keeps no row of the probe side away. That holds for outer joins
//! that keep the probe side, for anti and mark joins, and where the build side is a table without filters.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::catalog::memory::DataSourceExec;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr, lit};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use quire_error::interruption::Interruption;

use super::early_probe::EarlyProbe;
use super::join_index::{JoinIndex, JoinKeys};
use super::pushed_filter::known_keys;
use crate::optimize::own_rule::OwnRule;
use crate::optimize::passed_rows::{PassedRows, RowPassing};
use crate::optimize::row_sizes::RowSizes;
use crate::scan::{BuildKeyRecorder, has_static_filters, record_keys};

/// A smaller build side is read and indexed before anything else is decided.
const BUILD_ROWS_MIN: usize = 20_000;
/// How many times as many rows as the probe side the build side has for its reduction to cost less than it saves.
const TIMES_LARGER: usize = 4;

/// Passes on the rows of a build side, and has their scans drop those that no row of the probe side matches.
#[derive(Clone, Debug)]
pub(in crate::optimize) struct TransferredKeys {
    filter: Arc<DynamicFilterPhysicalExpr>,
    /// So many rows of the probe side are read before the build side.
    pub(super) early_rows_max: usize,
}

/// Before dynamic filters are pushed down.
pub(in crate::optimize) fn rule() -> OwnRule {
    OwnRule::of_operators("transferred_keys", with_transfer)
        .switched(|options| options.vector_joins && options.transferred_keys)
}

fn with_transfer(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(join) = plan.downcast_ref::<HashJoinExec>() else {
        return Ok(None);
    };
    if *join.partition_mode() != PartitionMode::CollectLeft
        || join.null_aware
        || join.null_equality() != NullEquality::NullEqualsNothing
        || !loses_nothing(join)
        || JoinKeys::of(join)?.is_none()
    {
        return Ok(None);
    }
    let schema = join.left().schema();
    let keys: Vec<Arc<dyn PhysicalExpr>> =
        join.on().iter().map(|(key, _)| Arc::clone(key)).collect();
    for key in &keys {
        if !key.is::<Column>() || key.data_type(&schema)?.is_nested() {
            return Ok(None);
        }
    }
    let build_rows = RowSizes::of(join.left().as_ref()).row_count;
    let Some(build_rows) = build_rows.filter(|rows| *rows >= BUILD_ROWS_MIN) else {
        return Ok(None);
    };
    let transferred = TransferredKeys {
        filter: Arc::new(DynamicFilterPhysicalExpr::new(keys, lit(true))),
        early_rows_max: build_rows / TIMES_LARGER,
    };
    let build = transferred.over(Arc::clone(join.left()))?;
    let children = vec![build, Arc::clone(join.right())];
    replace_children_if_necessary(Arc::clone(plan), children).map(Some)
}

/// Whether the probe side, read before the keys of the build side are known, has no more rows than it has with them. Where it is a scan it will not have
/// less rows than expected.
fn loses_nothing(join: &HashJoinExec) -> bool {
    match join.join_type() {
        JoinType::Right | JoinType::RightAnti | JoinType::RightMark => true,
        JoinType::Inner | JoinType::RightSemi => {
            is_whole_table(join.left()) && !is_scan(join.right())
        }
        JoinType::Left
        | JoinType::Full
        | JoinType::LeftSemi
        | JoinType::LeftAnti
        | JoinType::LeftMark => false,
    }
}

fn is_whole_table(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match below_passing(plan) {
        Some(below) => is_whole_table(below),
        None => is_scan(plan) && !has_static_filters(plan),
    }
}

fn is_scan(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match below_passing(plan) {
        Some(below) => is_scan(below),
        None => plan.is::<DataSourceExec>(),
    }
}

/// What is below an operator that passes on all rows.
fn below_passing(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let passes = plan.is::<CoalescePartitionsExec>()
        || plan.is::<CooperativeExec>()
        || plan.is::<ProjectionExec>();
    match plan.children().as_slice() {
        [below] if passes => Some(below),
        _ => None,
    }
}

/// The filters of all scans of a plan.
fn filters_below(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn PhysicalExpr>> {
    let mut filters = Vec::new();
    if plan.is::<DataSourceExec>() {
        // It does not fail, since looking does not.
        let _ = plan.apply_expressions(&mut |filter| {
            filters.push(Arc::clone(filter));
            Ok(TreeNodeRecursion::Continue)
        });
    }
    filters.extend(plan.children().into_iter().flat_map(filters_below));
    filters
}

impl TransferredKeys {
    /// What the build side of a join has for it, if a scan there takes the filter, and if it still loses nothing: a scan that filters of other joins reduce
    /// keeps rows of the probe side away.
    pub(super) fn of(join: &HashJoinExec) -> Option<Self> {
        let transferred = Self::below(join.left())?;
        let filters = filters_below(join.left());
        let own = transferred.filter.expression_id();
        let is_own = |filter: &Arc<dyn PhysicalExpr>| filter.expression_id() == own;
        let filters_probe = matches!(join.join_type(), JoinType::Inner | JoinType::RightSemi);
        let is_reduced = filters_probe && !filters.iter().all(is_own);
        (own.is_some() && filters.iter().any(is_own) && !is_reduced).then_some(transferred)
    }

    /// Between it and the join may be operators with one input, as those that record keys are.
    fn below(build: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        match build.downcast_ref::<PassedRows<Self>>() {
            Some(passed) => Some(passed.purpose.clone()),
            None => match build.children().as_slice() {
                [input] => Self::below(input),
                _ => None,
            },
        }
    }

    /// Makes the keys of the probe side known to the scans of the build side, if all of them are.
    pub(super) fn publish(
        &self,
        join: &HashJoinExec,
        keys: JoinKeys,
        probe: &EarlyProbe,
        context: &TaskContext,
    ) -> Result<()> {
        let known = match probe.is_whole() {
            true => self.known(join, keys, probe, context)?,
            false => lit(true),
        };
        self.filter.update(known)?;
        self.filter.mark_complete();
        Ok(())
    }

    fn known(
        &self,
        join: &HashJoinExec,
        keys: JoinKeys,
        probe: &EarlyProbe,
        context: &TaskContext,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let of_probe: Vec<_> = join.on().iter().map(|(_, key)| Arc::clone(key)).collect();
        let (values, row_count) = probe.values(&of_probe)?;
        if row_count == 0 {
            return Ok(lit(false));
        }
        if !probe.reserve(keys.index_bytes_max(row_count)) {
            return Ok(lit(true));
        }
        let id = self.filter.expression_id();
        for (number, values) in values.iter().enumerate() {
            let data_type = values.data_type();
            if !BuildKeyRecorder::records(data_type) {
                continue;
            }
            let records = id.map(|id| record_keys(join.left(), id, number, data_type));
            for record in records.into_iter().flatten() {
                if let Some(mut recorder) = BuildKeyRecorder::new(&record, context.memory_pool()) {
                    recorder.add(values.as_ref())?;
                    recorder.finish();
                }
            }
        }
        let interruption = Interruption::of(context.session_config().options());
        let index = JoinIndex::new(keys, &values, row_count, &interruption)?;
        let of_build: Vec<_> = join.on().iter().map(|(key, _)| Arc::clone(key)).collect();
        let schema = join.left().schema();
        known_keys(&of_build, &schema, &Arc::new(index), &values, context)
    }
}

impl RowPassing for TransferredKeys {
    const NAME: &'static str = "TransferredKeys";
    const KEEPS_ORDER: bool = true;
    const WANTS_PARTITIONS: bool = false;
    const PASSES_FILTERS: bool = true;

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let properties = Arc::clone(input.properties());
        Ok(Arc::new(PassedRows::new(input, self.clone(), properties)))
    }

    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let rows = self.early_rows_max;
        write!(f, "{}: of up to {rows} rows of the probe side", Self::NAME)
    }

    fn dynamic_filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        Some(Arc::clone(&self.filter) as _)
    }
}
