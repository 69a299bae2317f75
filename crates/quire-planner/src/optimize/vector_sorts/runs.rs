//! Rows that are sorted in memory.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat, take};
use datafusion::common::{Result, internal_err};

use super::job::SortJob;
use super::keys::SortKeyBounds;
use super::sort_keys::SortKeys;

/// Rows in any order, and their keys.
pub(super) struct KeyedRows {
    columns: Vec<ArrayRef>,
    row_count: usize,
    keys: Vec<ArrayRef>,
    bounds: Vec<SortKeyBounds>,
}

impl KeyedRows {
    /// At least one batch.
    pub(super) fn of_batches(job: &SortJob, batches: Vec<RecordBatch>) -> Result<Self> {
        Self::new(job, &concatenated(job, batches)?)
    }

    pub(super) fn new(job: &SortJob, rows: &RecordBatch) -> Result<Self> {
        let keys = job.keys(rows)?;
        Ok(Self {
            columns: rows.columns().to_vec(),
            row_count: rows.num_rows(),
            bounds: keys.iter().map(SortKeyBounds::of).collect::<Result<_>>()?,
            keys,
        })
    }

    pub(super) fn bounds(&self) -> &[SortKeyBounds] {
        &self.bounds
    }

    /// What keys take that are no columns of the rows.
    pub(super) fn computed_bytes(&self) -> usize {
        let is_column = |key: &&ArrayRef| self.columns.iter().any(|it| Arc::ptr_eq(it, key));
        let computed = self.keys.iter().filter(|key| !is_column(key));
        computed.map(|key| key.get_array_memory_size()).sum()
    }

    /// The rows in their order, no more of them than are wanted. `bounds` are at least those of the rows; rows of other runs compare with them if these have the same.
    pub(super) fn sorted(self, job: &SortJob, bounds: &[SortKeyBounds]) -> Result<SortedRows> {
        if u32::try_from(self.row_count).is_err() {
            return internal_err!("a run has {} rows", self.row_count);
        }
        let keys = SortKeys::new(job, &self.keys, bounds, self.row_count)?;
        drop(self.keys);
        let mut order = keys.order();
        order.truncate(job.limit.unwrap_or(usize::MAX));
        let order = UInt32Array::from(order);
        let keys = keys.of_rows(&order)?;
        // A column goes as soon as it is there in order.
        let columns = self
            .columns
            .into_iter()
            .map(|column| take(&column, &order, None));
        let columns = columns.collect::<Result<Vec<ArrayRef>, _>>()?;
        Ok(SortedRows {
            rows: RecordBatch::try_new(Arc::clone(&job.schema), columns)?,
            keys,
        })
    }
}

/// Batches as one. Each column is dropped as soon as it has been copied, so that not all are there twice.
fn concatenated(job: &SortJob, batches: Vec<RecordBatch>) -> Result<RecordBatch> {
    let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::new(); job.schema.fields().len()];
    for batch in batches {
        let (_, arrays, _) = batch.into_parts();
        for (column, array) in columns.iter_mut().zip(arrays) {
            column.push(array);
        }
    }
    let columns = columns.into_iter().map(|arrays| {
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        concat(&arrays)
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>, _>>()?;
    Ok(RecordBatch::try_new(Arc::clone(&job.schema), columns)?)
}

/// Rows in order, and their keys.
pub(super) struct SortedRows {
    pub(super) rows: RecordBatch,
    pub(super) keys: SortKeys,
}

impl SortedRows {
    /// Of rows that are in order, as those that are read from disk.
    pub(super) fn of_ordered(
        job: &SortJob,
        rows: RecordBatch,
        bounds: &[SortKeyBounds],
    ) -> Result<Self> {
        let keys = SortKeys::new(job, &job.keys(&rows)?, bounds, rows.num_rows())?;
        Ok(Self { rows, keys })
    }
}
