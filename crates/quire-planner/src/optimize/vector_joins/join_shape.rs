//! What a join reads and gives, apart from its inputs.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array,
};
use datafusion::arrow::compute::{filter as filtered, take};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{JoinSide, JoinType, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter, build_join_schema};

pub(super) struct JoinShape {
    pub(super) kind: JoinType,
    /// Whether it is a `NOT IN`, of which NULL may be the result. Such a join has one key and no filter.
    pub(super) is_null_aware: bool,
    pub(super) schema: SchemaRef,
    pub(super) probe_keys: Vec<Arc<dyn PhysicalExpr>>,
    pub(super) filter: Option<JoinFilter>,
    /// Where each column of the result comes from.
    columns: Vec<ColumnIndex>,
}

/// Rows of one side, in the order of the result.
#[derive(Clone, Copy)]
pub(super) enum SideRows<'r> {
    All,
    Some(&'r UInt32Array),
}

impl JoinShape {
    pub(super) fn of(join: &HashJoinExec) -> Self {
        let (left, right) = (join.left().schema(), join.right().schema());
        let (_, all) = build_join_schema(&left, &right, join.join_type());
        let columns = match &join.projection {
            Some(projection) => projection
                .iter()
                .map(|column| all[*column].clone())
                .collect(),
            None => all,
        };
        Self {
            kind: *join.join_type(),
            is_null_aware: join.null_aware,
            schema: join.schema(),
            probe_keys: join.on().iter().map(|(_, key)| Arc::clone(key)).collect(),
            filter: join.filter().cloned(),
            columns,
        }
    }

    /// Rows of the result; NULL among the rows of a side stands for none.
    pub(super) fn result(
        &self,
        row_count: usize,
        build: (&RecordBatch, SideRows<'_>),
        probe: (&RecordBatch, SideRows<'_>),
    ) -> Result<RecordBatch> {
        let columns = self.columns.iter().map(|column| {
            let (batch, rows) = match column.side {
                JoinSide::Left => build,
                JoinSide::Right | JoinSide::None => probe,
            };
            rows.of(batch.column(column.index))
        });
        batch_of(&self.schema, columns.collect::<Result<_>>()?, row_count)
    }

    /// Rows of one side, each with its mark.
    pub(super) fn marked(
        &self,
        side: &RecordBatch,
        rows: SideRows<'_>,
        marks: BooleanArray,
    ) -> Result<RecordBatch> {
        let row_count = marks.len();
        let marks: ArrayRef = Arc::new(marks);
        let columns = self.columns.iter().map(|column| match column.side {
            JoinSide::None => Ok(Arc::clone(&marks)),
            JoinSide::Left | JoinSide::Right => rows.of(side.column(column.index)),
        });
        batch_of(&self.schema, columns.collect::<Result<_>>()?, row_count)
    }

    /// The rows of the build side that no row of the probe side belongs to.
    pub(super) fn result_of_build(
        &self,
        build: &RecordBatch,
        rows: &UInt32Array,
        probe_schema: &SchemaRef,
    ) -> Result<RecordBatch> {
        let nothing = RecordBatch::new_empty(Arc::clone(probe_schema));
        let none = UInt32Array::new_null(rows.len());
        let build = (build, SideRows::Some(rows));
        self.result(rows.len(), build, (&nothing, SideRows::Some(&none)))
    }

    /// The pairs that pass the filter of the join.
    pub(super) fn passing(
        &self,
        build: (&RecordBatch, UInt32Array),
        probe: (&RecordBatch, UInt32Array),
    ) -> Result<(UInt32Array, UInt32Array)> {
        let Some(filter) = self.filter.as_ref().filter(|_| !build.1.is_empty()) else {
            return Ok((build.1, probe.1));
        };
        let columns = filter.column_indices().iter().map(|column| {
            let (batch, rows) = match column.side {
                JoinSide::Left => &build,
                JoinSide::Right | JoinSide::None => &probe,
            };
            SideRows::Some(rows).of(batch.column(column.index))
        });
        let pairs = batch_of(
            filter.schema(),
            columns.collect::<Result<_>>()?,
            build.1.len(),
        )?;
        let passes = filter.expression().evaluate(&pairs)?;
        let passes = passes.into_array(pairs.num_rows())?;
        let passes = datafusion::common::cast::as_boolean_array(&passes)?;
        Ok((of_passing(&build.1, passes)?, of_passing(&probe.1, passes)?))
    }
}

fn of_passing(rows: &UInt32Array, passes: &BooleanArray) -> Result<UInt32Array> {
    let rows = filtered(rows, passes)?;
    Ok(datafusion::common::cast::as_uint32_array(&rows)?.clone())
}

impl SideRows<'_> {
    fn of(self, values: &ArrayRef) -> Result<ArrayRef> {
        Ok(match self {
            Self::All => Arc::clone(values),
            Self::Some(rows) => take(values, rows, None)?,
        })
    }
}

fn batch_of(schema: &Arc<Schema>, columns: Vec<ArrayRef>, row_count: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(row_count));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}
