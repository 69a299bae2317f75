//! A row table as one statement sees it.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::SchemaRef;
use quire_codec::CodecScalar;
use quire_kv::btree::{FEW_PAGES, LeafEstimate, untold};
use quire_kv::mvcc::{ReadView, TreeId};

use super::column_samples;
use super::parts::{RowParts, TableIndex};
use super::scan::{RowScan, RowScanOptions, ScanRowSource};
use crate::definition::TableDefinition;
use crate::error::RowScanError;
use crate::row_table::{KeyRange, RowLayout};
use crate::scalar_array::scalar_array;

/// An estimate by a few pages that is so far from the truth, as a share of it, is nothing unusual.
const ESTIMATE_ERROR: f64 = 0.1;

/// Of more ranges than that only some are looked up to say how many rows they have.
const ESTIMATED_RANGES: usize = 8;

/// A table, and the state of it that a statement reads.
pub struct RowTable {
    pub(super) parts: Arc<RowParts>,
    pub(crate) view: ReadView,
    /// Where the samples of all tables are, if there are any.
    pub(super) samples: Option<TreeId>,
}

impl std::fmt::Debug for RowTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { parts, .. } = self;
        let mut shown = f.debug_struct("RowTable");
        shown
            .field("id", &parts.id)
            .field("name", &parts.definition.name);
        shown.finish_non_exhaustive()
    }
}

impl RowTable {
    pub(crate) fn new(parts: Arc<RowParts>, view: ReadView) -> Self {
        Self {
            parts,
            view,
            samples: None,
        }
    }

    /// The same with what `ANALYZE` has found.
    pub(crate) fn with_samples(self, samples: Option<TreeId>) -> Self {
        Self { samples, ..self }
    }

    /// Id, unique for the life of the database.
    pub fn id(&self) -> u64 {
        self.parts.id
    }

    /// What was declared.
    pub fn definition(&self) -> &Arc<TableDefinition> {
        &self.parts.definition
    }

    /// Schema of the batches that are scanned: the columns that were not dropped.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.parts.schema
    }

    /// How rows become bytes.
    pub fn layout(&self) -> &Arc<RowLayout> {
        &self.parts.layout
    }

    /// The indexes besides the primary key.
    pub fn indexes(&self) -> &[TableIndex] {
        &self.parts.indexes
    }

    /// What all states of the table share.
    pub fn parts(&self) -> &Arc<RowParts> {
        &self.parts
    }

    /// A bound that a sample has of a column as an Arrow array of one element of the column's type; `None` when there is no such
    /// column or the bound is not of its type.
    pub fn scalar_array(&self, ordinal: usize, bound: &CodecScalar) -> Option<ArrayRef> {
        let column = self.parts.definition.columns.get(ordinal)?;
        let array = scalar_array(column.sql_type, [Some(bound)]);
        array.is_valid(0).then_some(array)
    }

    /// The tree of the rows, or of an index.
    ///
    /// # Errors
    /// There is no such index.
    pub fn tree(&self, index: Option<usize>) -> Result<TreeId, RowScanError> {
        let Some(index) = index else {
            return Ok(self.parts.rows);
        };
        let found = self.parts.indexes.get(index);
        found
            .map(|index| index.tree)
            .ok_or(RowScanError::Index { index })
    }

    /// The state that is read.
    pub fn view(&self) -> &ReadView {
        &self.view
    }

    /// About how many rows there are, without reading them: as many as `ANALYZE` found by many pages, unless the few that are looked at
    /// now say something else.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn row_count_estimate(&self) -> Result<u64, RowScanError> {
        let leaves = self.leaves()?;
        let estimate = leaves.entries.round() as u64;
        let found = match self.samples {
            Some(tree) if !leaves.is_exact => {
                column_samples::row_count(&self.view, tree, self.id())?
            }
            _ => None,
        };
        let agrees = |found: &u64| (*found as f64 / leaves.entries - 1.0).abs() <= ESTIMATE_ERROR;
        Ok(found.filter(agrees).unwrap_or(estimate))
    }

    /// About how many leaves its tree has, and where they are.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn leaves(&self) -> Result<LeafEstimate, RowScanError> {
        self.leaves_by(FEW_PAGES, &mut untold)
    }

    /// The same, by so many pages of each level. `told` is, of each leaf that was read, its bytes, and those of all that will be.
    pub(crate) fn leaves_by(
        &self,
        page_count_max: usize,
        told: &mut dyn FnMut(u64, u64),
    ) -> Result<LeafEstimate, RowScanError> {
        let (view, rows) = (&self.view, self.parts.rows);
        Ok(view.estimate_leaves(rows, page_count_max, told)?)
    }

    /// About how many rows a source has, without reading them. Of many ranges only some are looked up.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn estimate(&self, source: &ScanRowSource) -> Result<u64, RowScanError> {
        let (tree, ranges) = match source {
            ScanRowSource::Ranges(ranges) => (self.parts.rows, ranges),
            ScanRowSource::Index { index, ranges } => (self.tree(Some(*index))?, ranges),
            ScanRowSource::Keys(keys) => return Ok(keys.len() as u64),
        };
        let step = ranges.len().div_ceil(ESTIMATED_RANGES).max(1);
        let (mut rows, mut looked_up) = (0, 0_u64);
        for range in ranges.iter().step_by(step) {
            if !range.is_empty() {
                let high = range.high.as_deref().unwrap_or_default();
                rows += self.view.estimate_entries(tree, &range.low, high)?;
            }
            looked_up += 1;
        }
        let row_share = rows as f64 / looked_up.max(1) as f64;
        Ok((row_share * ranges.len() as f64).round() as u64)
    }

    /// Rows with keys in ranges as up to `part_count` sources of about one size, in the order of the keys. Other sources are one part.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn divided(
        &self,
        source: &ScanRowSource,
        part_count: usize,
    ) -> Result<Vec<ScanRowSource>, RowScanError> {
        let ScanRowSource::Ranges(ranges) = source else {
            return Ok(vec![source.clone()]);
        };
        let [range] = ranges.as_ref() else {
            let part_ranges = ranges.len().div_ceil(part_count.max(1)).max(1);
            let parts = ranges.chunks(part_ranges);
            return Ok(parts
                .map(|part| ScanRowSource::Ranges(part.into()))
                .collect());
        };
        if range.is_empty() {
            return Ok(vec![source.clone()]);
        }
        let high = range.high.as_deref().unwrap_or_default();
        let borders = self
            .view
            .separators(self.parts.rows, &range.low, high, part_count)?;
        let mut low = range.low.clone();
        let mut parts = Vec::with_capacity(borders.len() + 1);
        for border in borders {
            let high = Some(border.clone());
            parts.push(ScanRowSource::range(KeyRange { low, high }));
            low = border;
        }
        let high = range.high.clone();
        parts.push(ScanRowSource::range(KeyRange { low, high }));
        Ok(parts)
    }

    /// Starts a scan.
    ///
    /// # Errors
    /// Columns or an index that are not there; the tree was dropped meanwhile.
    pub fn scan(&self, options: &RowScanOptions) -> Result<RowScan, RowScanError> {
        RowScan::new(Arc::clone(&self.parts), self.view.clone(), options)
    }

    /// Shows tuple and key of the row with that key to `visit`.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn get<R>(
        &self,
        row_key: &[u8],
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, RowScanError> {
        Ok(self.view.get(self.parts.rows, row_key, visit)?)
    }
}
