//! The leaf of a physical plan: a scan of a row table, each partition with a range of keys of its own.

use std::any::Any;
use std::collections::HashSet;
use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::source::DataSource;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use quire_kv::{btree::Direction, progress::StatementWork};
use quire_tables::row_table::KeyRange;
use quire_tables::{RowScanError, RowScanOptions, RowTable, ScanRowSource};

use super::access::RowAccess;
use super::stream::RowStream;

/// Tables with fewer rows than this per partition are not worth another partition.
const ROWS_PER_PARTITION: u64 = 32 * 1024;

/// A scan to be.
#[derive(Clone)]
pub(crate) struct RowScanSource {
    table: Arc<RowTable>,
    /// Columns of the output; the table's number of columns stands for the key of the row.
    projection: Vec<usize>,
    schema: SchemaRef,
    access: RowAccess,
    /// One for each partition.
    parts: Vec<ScanRowSource>,
    limit: Option<usize>,
    work: Option<Arc<StatementWork>>,
    metrics: ExecutionPlanMetricsSet,
}

impl fmt::Debug for RowScanSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "RowScanSource({})", self.table.definition().name)
    }
}

impl RowScanSource {
    pub(super) fn new(
        table: Arc<RowTable>,
        whole: &SchemaRef,
        projection: Vec<usize>,
        access: RowAccess,
    ) -> Result<Self> {
        Ok(Self {
            schema: Arc::new(whole.project(&projection)?),
            table,
            projection,
            parts: vec![access.source.clone()],
            access,
            limit: None,
            work: None,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// Has its work counted.
    pub(super) fn counted_by(mut self, work: Option<Arc<StatementWork>>) -> Self {
        self.work = work;
        self
    }

    /// About how many rows it will read, if nobody leaves it before its end.
    pub(crate) fn expected_rows(&self) -> u64 {
        self.access.rows
    }

    pub(super) fn with_limit(mut self, limit: Option<usize>) -> Self {
        self.limit = limit;
        self
    }

    /// Uses up to `target` partitions, fewer for few rows.
    pub(super) fn spread_over(mut self, target: usize) -> std::result::Result<Self, RowScanError> {
        let useful = usize::try_from(self.access.rows.div_ceil(ROWS_PER_PARTITION));
        let count = useful.unwrap_or(target).min(target).max(1);
        if count > 1 && self.limit.is_none() {
            self.parts = self.table.divided(&self.access.source, count)?;
        }
        Ok(self)
    }

    fn options(&self, partition: usize, batch_rows: usize) -> (RowScanOptions, Vec<usize>) {
        let key = self.table.arrow_schema().fields().len();
        let columns: Vec<usize> = self
            .projection
            .iter()
            .copied()
            .filter(|at| *at != key)
            .collect();
        let mut next = 0;
        let order = self.projection.iter().map(|at| {
            if *at == key {
                columns.len()
            } else {
                next += 1;
                next - 1
            }
        });
        let order = order.collect();
        let options = RowScanOptions {
            with_row_key: columns.len() < self.projection.len(),
            projection: columns,
            source: self.parts[partition].clone(),
            direction: Direction::Forward,
            batch_rows: self
                .limit
                .map_or(batch_rows, |limit| limit.clamp(1, batch_rows)),
        };
        (options, order)
    }

    /// The order in which rows of the table come: that of the key or the index.
    fn ordering(&self) -> Option<LexOrdering> {
        let definition = self.table.definition();
        let parts = match &self.access.source {
            ScanRowSource::Ranges(_) => &definition.primary_key.as_ref()?.columns,
            ScanRowSource::Index { index, .. } => &definition.indexes.get(*index)?.key.columns,
            ScanRowSource::Keys(_) => return None,
        };
        let live = self.table.layout().live_ordinals();
        let sort = |part: &quire_tables::CatalogKeyPart| {
            let position = live.binary_search(&part.column).ok()?;
            let output = self.projection.iter().position(|at| *at == position)?;
            let column = Column::new(self.schema.field(output).name(), output);
            let options = SortOptions {
                descending: part.is_descending,
                nulls_first: part.is_descending,
            };
            Some(PhysicalSortExpr::new(Arc::new(column), options))
        };
        LexOrdering::new(parts.iter().map_while(sort))
    }
}

/// The number of ranges of a key, if there are several.
fn write_count(f: &mut Formatter<'_>, range_count: usize) -> fmt::Result {
    match range_count {
        1 => Ok(()),
        count => write!(f, " ({count} ranges)"),
    }
}

impl DataSource for RowScanSource {
    fn open(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let batch_rows = context
            .session_config()
            .options()
            .execution
            .batch_size
            .get();
        let (options, order) = self.options(partition, batch_rows);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let schema = Arc::clone(&self.schema);
        let stream = RowStream::open(&self.table, &options, order, schema, metrics)?;
        Ok(stream.with_limit(self.limit).into_stream(self.work.clone()))
    }

    fn create_sibling_state(&self, _: &ConfigOptions) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    fn fmt_as(&self, format: DisplayFormatType, f: &mut Formatter) -> fmt::Result {
        let definition = self.table.definition();
        if matches!(format, DisplayFormatType::TreeRender) {
            return writeln!(f, "table={}", definition.name);
        }
        let names: Vec<_> = self
            .schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        write!(
            f,
            "table={}, columns=[{}]",
            definition.name,
            names.join(", ")
        )?;
        match &self.access.source {
            ScanRowSource::Ranges(ranges) if **ranges == [KeyRange::all()] => {
                write!(f, ", all rows")?
            }
            ScanRowSource::Ranges(ranges) => {
                write!(f, ", primary key")?;
                write_count(f, ranges.len())?;
            }
            ScanRowSource::Index { index, ranges } => {
                write!(f, ", index={}", definition.indexes[*index].key.name)?;
                write_count(f, ranges.len())?;
            }
            ScanRowSource::Keys(keys) => write!(f, ", keys={}", keys.len())?,
        }
        self.limit
            .map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.parts.len())
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        let schema = Arc::clone(&self.schema);
        match self.ordering() {
            Some(ordering) => EquivalenceProperties::new_with_orderings(schema, [ordering]),
            None => EquivalenceProperties::new(schema),
        }
    }

    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        let parts = if partition.is_some() {
            self.parts.len()
        } else {
            1
        };
        let rows = usize::try_from(self.access.rows).unwrap_or(usize::MAX) / parts;
        let rows = self.limit.map_or(rows, |limit| rows.min(limit));
        statistics.num_rows = Precision::Inexact(rows);
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
        let outputs = projection.iter().map(|item| {
            let column = item.expr.downcast_ref::<Column>()?;
            Some(column.index())
        });
        let Some(outputs) = outputs.collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        if outputs.iter().collect::<HashSet<_>>().len() < outputs.len() {
            return Ok(None);
        }
        let named = outputs.iter().zip(projection.iter());
        let fields =
            named.map(|(index, item)| self.schema.field(*index).clone().with_name(&item.alias));
        let mut source = self.clone();
        source.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        source.projection = outputs
            .iter()
            .map(|index| self.projection[*index])
            .collect();
        Ok(Some(Arc::new(source)))
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn DataSource>>> {
        Ok(FilterPushdownPropagation::with_parent_pushdown_result(
            vec![PushedDown::No; filters.len()],
        ))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}
