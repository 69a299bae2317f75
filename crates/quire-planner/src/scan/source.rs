//! The leaf of a physical plan: a scan of a column table shared by the plan's partitions.
//!
//! All partitions of one execution draw pieces of the table from one engine scan, so that a fast
//! partition takes more of them. Dynamic filters of joins and top-k operators above are kept with
//! the static ones, shown to DataFusion by `apply_expressions` (a join only builds a filter that it
//! finds there), and read anew by the engine for every row group.

use std::any::Any;
use std::collections::HashSet;
use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::source::{DataSource, DataSourceExec, OpenArgs};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr};
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::stream::EmptyRecordBatchStream;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use quire_functions::QuireOptions;
use quire_kv::progress::StatementWork;
use quire_tables::{
    ColumnTable, Decompression, Predicate, READ_AHEAD_BYTES, ScanError, ScanOptions,
    SharedTableScan,
};

use super::map_columns::map_columns;
use super::predicate::ScanFilter;
use super::recorded_keys::BuildKeyRecord;
use super::stored_tests::StoredColumns;
use super::stream::SharedScan;
use crate::statistics::TableProfile;

/// Tables with fewer rows than this per partition are not worth another partition.
const ROWS_PER_PARTITION: u64 = 32 * 1024;

/// A scan to be.
#[derive(Clone)]
pub(super) struct ColumnScan {
    /// One state of the table; its pages stay readable while this lives.
    pub(super) table: Arc<ColumnTable>,
    /// Columns of the table, and of the keys of its rows if these are read.
    whole: SchemaRef,
    /// Columns of the output, as indices into these.
    pub(super) projection: Vec<usize>,
    schema: SchemaRef,
    filters: Vec<Arc<ScanFilter>>,
    /// What is known of the rows that pass the static filters.
    profile: Arc<TableProfile>,
    pub(super) limit: Option<usize>,
    partition_count: usize,
    prunes_zones: bool,
    accepts_dynamic: bool,
    /// Whether an aggregation above may compute on vectors.
    pub(super) aggregates_vectors: bool,
    /// Those of all its filters.
    stored_columns: Option<Arc<StoredColumns>>,
    work: Option<Arc<StatementWork>>,
    read_ahead_bytes: u64,
    decompression: Decompression,
    pub(super) metrics: ExecutionPlanMetricsSet,
}

impl fmt::Debug for ColumnScan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnScan({})", self.table.definition().name)
    }
}

impl ColumnScan {
    pub(super) fn new(
        table: Arc<ColumnTable>,
        whole: &SchemaRef,
        projection: Vec<usize>,
        filters: Vec<Arc<ScanFilter>>,
        profile: Arc<TableProfile>,
    ) -> Result<Self> {
        let schema = Arc::new(whole.project(&projection)?);
        Ok(Self {
            whole: Arc::clone(whole),
            table,
            projection,
            schema,
            filters,
            profile,
            limit: None,
            partition_count: 1,
            prunes_zones: true,
            accepts_dynamic: true,
            aggregates_vectors: true,
            stored_columns: None,
            work: None,
            read_ahead_bytes: READ_AHEAD_BYTES,
            decompression: Decompression::default(),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    pub(super) fn with_options(mut self, options: &QuireOptions) -> Self {
        self.prunes_zones = options.zone_pruning;
        self.accepts_dynamic = options.filter_pushdown;
        self.aggregates_vectors = options.vector_aggregates;
        self.read_ahead_bytes = options.read_ahead_bytes;
        self.decompression = options.scan_decompression();
        self
    }

    /// Lets it test stored integers for filters that come from operators above.
    pub(super) fn with_stored_columns(mut self, columns: Option<Arc<StoredColumns>>) -> Self {
        self.stored_columns = columns;
        self
    }

    /// Has its work counted.
    pub(super) fn counted_by(mut self, work: Option<Arc<StatementWork>>) -> Self {
        self.work = work;
        self
    }

    /// About how many rows it will go over, if nobody leaves it before its end.
    pub(super) fn expected_rows(&self) -> Option<u64> {
        let added = self.table.delta().map(|delta| delta.row_count_estimate());
        let added = added.transpose().ok()?.unwrap_or(0);
        Some(self.table.stored_row_count() + added)
    }

    pub(super) fn with_limit(mut self, limit: Option<usize>) -> Self {
        self.limit = limit;
        self
    }

    /// Uses up to `target` partitions, fewer for a small table, one for the first rows of a table:
    /// they are soon read, and come in order.
    pub(super) fn spread_over(mut self, target: usize) -> Self {
        if self.limit.is_some() && self.filters.is_empty() {
            self.partition_count = 1;
            return self;
        }
        let rows = self.table.row_count_estimate();
        let rows = rows.unwrap_or_else(|_| self.table.stored_row_count());
        let useful = rows.div_ceil(ROWS_PER_PARTITION).max(1);
        self.partition_count = usize::try_from(useful).unwrap_or(target).min(target).max(1);
        self
    }

    /// A record for one of the keys that a join's filter compares with columns; `None` if the scan does not have the filter, or no integers
    /// are stored for the column.
    pub(super) fn record_keys(
        &self,
        expression_id: u64,
        number: usize,
        data_type: &DataType,
    ) -> Option<Arc<BuildKeyRecord>> {
        let mut filters = self.filters.iter().map(|filter| filter.expr());
        let filter = filters.find(|filter| filter.expression_id() == Some(expression_id))?;
        let columns = self.stored_columns.as_ref()?;
        columns.record(filter, number, data_type)
    }

    /// The engine's scan of one execution.
    pub(super) fn shared(&self, batch_rows: usize) -> Arc<SharedScan> {
        let received = self
            .filters
            .iter()
            .filter(|filter| is_dynamic(filter.expr()));
        let received_count = received.count();
        let scan = self.start(batch_rows);
        Arc::new(SharedScan::new(scan, &self.metrics, received_count))
    }

    fn start(&self, batch_rows: usize) -> std::result::Result<Arc<SharedTableScan>, ScanError> {
        let predicate = |filter: &Arc<ScanFilter>| Arc::clone(filter) as Arc<dyn Predicate>;
        let options = ScanOptions {
            projection: self.projection.clone(),
            predicates: self.filters.iter().map(predicate).collect(),
            batch_rows,
            limit: self.limit.map(|rows| rows as u64),
            readers: self.partition_count,
            work: self.work.clone(),
            read_ahead_bytes: self.read_ahead_bytes,
            decompression: self.decompression,
        };
        self.table.scan(options)
    }

    /// A filter over the output, as one over the table.
    fn over_table(&self, filter: &Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        map_columns(filter, |column| {
            let index = self
                .projection
                .get(column.index())
                .copied()
                .unwrap_or(column.index());
            // Zones are found by the name that the table gives the column.
            match self.table.definition().columns.get(index) {
                Some(definition) => Column::new(&definition.name, index),
                None => Column::new(column.name(), index),
            }
        })
    }

    fn output_statistics(&self) -> Statistics {
        let has_dynamic = self
            .filters
            .iter()
            .any(|f| snapshot_generation(f.expr()) != 0);
        let whole = self.profile.to_statistics(&self.whole);
        let mut statistics = whole.project(Some(&self.projection));
        if has_dynamic {
            statistics = statistics.to_inexact();
        }
        statistics.total_byte_size = self.profile.bytes_of(&self.projection);
        statistics
    }
}

/// Records for one of the keys that a join's filter compares with columns of the scans below `plan`.
pub(crate) fn record_keys(
    plan: &Arc<dyn ExecutionPlan>,
    expression_id: u64,
    number: usize,
    data_type: &DataType,
) -> Vec<Arc<BuildKeyRecord>> {
    let source = plan.downcast_ref::<DataSourceExec>();
    let scan = source.and_then(|source| source.data_source().downcast_ref::<ColumnScan>());
    let record = scan.and_then(|scan| scan.record_keys(expression_id, number, data_type));
    let below = plan.children().into_iter();
    let below = below.flat_map(|child| record_keys(child, expression_id, number, data_type));
    record.into_iter().chain(below).collect()
}

/// Whether an operator is a scan with filters of the statement itself, or one that cannot be looked into.
pub(crate) fn has_static_filters(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let source = plan.downcast_ref::<DataSourceExec>();
    let scan = source.and_then(|source| source.data_source().downcast_ref::<ColumnScan>());
    scan.is_none_or(|scan| scan.filters.iter().any(|filter| !is_dynamic(filter.expr())))
}

/// Whether a filter is one that an operator above tightens while the plan runs.
fn is_dynamic(filter: &Arc<dyn PhysicalExpr>) -> bool {
    filter.is::<DynamicFilterPhysicalExpr>() || snapshot_generation(filter) != 0
}

impl DataSource for ColumnScan {
    fn open(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let config = context.session_config().options();
        let sibling_state = self.create_sibling_state(config);
        // Without siblings to share the scan with, the first partition reads all of it.
        let args = OpenArgs::new(partition, context).with_shared_state(sibling_state);
        if partition == 0 {
            return self.open_with_args(args);
        }
        Ok(Box::pin(EmptyRecordBatchStream::new(Arc::clone(
            &self.schema,
        ))))
    }

    fn create_sibling_state(&self, config: &ConfigOptions) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(self.shared(config.execution.batch_size.get()))
    }

    fn open_with_args(&self, args: OpenArgs) -> Result<SendableRecordBatchStream> {
        let shared = args
            .sibling_state
            .and_then(|state| state.downcast::<SharedScan>().ok());
        match shared {
            Some(shared) => {
                let metrics = BaselineMetrics::new(&self.metrics, args.partition);
                shared.open(Arc::clone(&self.schema), metrics)
            }
            None => self.open(args.partition, args.context),
        }
    }

    fn fmt_as(&self, format: DisplayFormatType, f: &mut Formatter) -> fmt::Result {
        let definition = self.table.definition();
        if matches!(format, DisplayFormatType::TreeRender) {
            return writeln!(f, "table={}", definition.name);
        }
        let name = |index: &usize| self.whole.field(*index).name().as_str();
        let columns: Vec<_> = self.projection.iter().map(name).collect();
        write!(
            f,
            "table={}, columns=[{}]",
            definition.name,
            columns.join(", ")
        )?;
        if !self.filters.is_empty() {
            let filters: Vec<_> = self.filters.iter().map(|f| f.expr().to_string()).collect();
            write!(f, ", filters=[{}]", filters.join(", "))?;
        }
        self.limit
            .map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }

    fn repartitioned(
        &self,
        target_partitions: usize,
        _: usize,
        _: Option<LexOrdering>,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        let spread = self.clone().spread_over(target_partitions);
        let is_wider = spread.partition_count > self.partition_count;
        Ok(is_wider.then(|| Arc::new(spread) as Arc<dyn DataSource>))
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.partition_count)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(&self.schema))
    }

    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let mut statistics = self.output_statistics();
        if let Some(limit) = self.limit {
            statistics = statistics.with_fetch(Some(limit), 0, 1)?;
        }
        if partition.is_some() && self.partition_count > 1 {
            statistics = statistics.to_inexact();
            let share = |rows: &usize| Precision::Inexact(rows / self.partition_count);
            statistics.num_rows = statistics
                .num_rows
                .get_value()
                .map_or(Precision::Absent, share);
        }
        Ok(Arc::new(statistics))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        Some(Arc::new(self.clone().with_limit(limit)))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn metrics(&self) -> ExecutionPlanMetricsSet {
        self.metrics.clone()
    }

    /// A projection that only picks, reorders and renames columns becomes part of the scan. One that has a column twice does not: it
    /// says that both are equal, which sorts above rely on.
    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        let picked = projection.iter().map(|item| {
            let column = item.expr.downcast_ref::<Column>()?;
            self.projection.get(column.index()).copied()
        });
        let Some(picked) = picked.collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        if picked.iter().collect::<HashSet<_>>().len() < picked.len() {
            return Ok(None);
        }
        let named = picked.iter().zip(projection.iter());
        let fields =
            named.map(|(index, item)| self.whole.field(*index).clone().with_name(&item.alias));
        let mut source = self.clone();
        source.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        source.projection = picked;
        Ok(Some(Arc::new(source)))
    }

    /// Static filters have been settled with the table's provider; what arrives here and is not
    /// dynamic is what the provider left above on purpose.
    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn DataSource>>> {
        let mut source = self.clone();
        let mut answers = Vec::with_capacity(filters.len());
        for filter in &filters {
            if !self.accepts_dynamic || !is_dynamic(filter) {
                answers.push(PushedDown::No);
                continue;
            }
            let expr = self.over_table(filter)?;
            let scan_filter = ScanFilter::new(expr, self.table.arrow_schema(), self.prunes_zones)?;
            let scan_filter = scan_filter.with_stored_columns(self.stored_columns.as_ref());
            source.filters.push(Arc::new(scan_filter));
            answers.push(PushedDown::Yes);
        }
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        if source.filters.len() == self.filters.len() {
            return Ok(answer);
        }
        Ok(answer.with_updated_node(Arc::new(source) as Arc<dyn DataSource>))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for filter in &self.filters {
            if f(filter.expr())? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}
