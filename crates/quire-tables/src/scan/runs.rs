//! Predicates that are evaluated once per run of equal integers.

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use quire_codec::{Corrupt, RowMask, mark_rows};
use quire_format::segment::IntegerRuns;

use super::SharedTableScan;
use super::column::ColumnReader;
use super::integers::GROUP_VECTORS;
use super::open_row_group::{OpenRowGroup, corrupt};
use super::selection::{Selection, true_rows};
use crate::error::ScanError;

/// The runs of the vectors of a group that have selected rows.
struct GroupRuns {
    /// Which vectors, and how many runs each has.
    vectors: Vec<(usize, usize)>,
    runs: IntegerRuns,
}

impl OpenRowGroup {
    /// The selected rows for which a predicate on one column is true. `None` if the predicate is to be evaluated on the rows: there are fewer of
    /// them than runs, or NULLs, or it fails for the value of a run, whose rows need not be selected.
    pub(super) fn refine_by_runs(
        &mut self,
        scan: &SharedTableScan,
        index: usize,
        column: usize,
        group: usize,
        selection: &Selection,
    ) -> Result<Option<Selection>, ScanError> {
        let row_group = self.index;
        let corrupt = |source| corrupt(scan, row_group, column, source);
        let reader = self.column(scan, column)?;
        let Some(group) = GroupRuns::read(reader, group, selection).map_err(corrupt)? else {
            return Ok(None);
        };
        let array = reader.integer_array(&group.runs.values).map_err(corrupt)?;
        let Some(kept) = evaluated(scan, index, array) else {
            return Ok(None);
        };
        let masks = group.masks(&kept);
        let kept = selection.refine_by_masks(|vector| Ok(masks[vector]));
        kept.map(Some).map_err(corrupt)
    }
}

/// The predicate's values for those of one column, if it has any.
fn evaluated(scan: &SharedTableScan, index: usize, array: ArrayRef) -> Option<BooleanArray> {
    let rows = array.len();
    let schema = &scan.predicate_schemas[index];
    let batch = RecordBatch::try_new(schema.clone(), vec![array]).ok()?;
    let kept = scan.options.predicates[index].evaluate(&batch).ok()?;
    (kept.len() == rows).then_some(kept)
}

impl GroupRuns {
    fn read(
        reader: &mut ColumnReader,
        group: usize,
        selection: &Selection,
    ) -> Result<Option<Self>, Corrupt> {
        // The value of a run of NULLs is none of the column's.
        if reader.segment().null_count() > 0 {
            return Ok(None);
        }
        let mut runs = IntegerRuns::default();
        let mut vectors = Vec::with_capacity(GROUP_VECTORS);
        for vector in selection.vector_numbers() {
            let before = runs.values.len();
            if !reader.append_runs(group, vector, &mut runs)? || runs.values.len() > selection.len()
            {
                return Ok(None);
            }
            vectors.push((vector, runs.values.len() - before));
        }
        Ok(Some(GroupRuns { vectors, runs }))
    }

    /// The rows of the runs that are kept, vector by vector.
    fn masks(&self, kept: &BooleanArray) -> [RowMask; GROUP_VECTORS] {
        let kept = true_rows(kept);
        let mut masks = [RowMask::default(); GROUP_VECTORS];
        let mut runs = self.runs.lengths.iter().zip(&kept);
        for &(vector, count) in &self.vectors {
            let mut row = 0;
            for (&length, is_kept) in runs.by_ref().take(count) {
                let length = usize::from(length);
                if is_kept {
                    mark_rows(&mut masks[vector], row, length);
                }
                row += length;
            }
        }
        masks
    }
}
