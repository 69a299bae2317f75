//! A column table as one snapshot sees it.

use std::ops::RangeInclusive;
use std::sync::{Arc, Weak};

use arrow_array::ArrayRef;
use arrow_schema::SchemaRef;
use quire_codec::{CodecScalar, Corrupt, PhysicalType};
use quire_format::row_group::RowGroup;
use quire_format::segment::SharedDictionary;
use quire_format::table_root::SharedDictionaryPointer;
use quire_store::PageId;

use crate::catalog::{TableEntry, TableState};
use crate::definition::{TableDefinition, TreeRecord};
use crate::delta::ColumnChanges;
use crate::error::{EngineError, ScanError};
use crate::pages::PageSource;
use crate::rows::RowTable;
use crate::scalar_array::scalar_array;
use crate::scan_statistics::TableScanTotals;
use crate::shared_dictionaries::{OpenDictionaries, column_name, read_dictionary};

/// One state of a table. It stays readable for as long as it lives.
pub struct ColumnTable {
    entry: Arc<TableEntry>,
    state: Arc<TableState>,
    source: Arc<PageSource>,
    /// Nothing if no row has come, changed or gone since the last merge, or if only the row groups are of interest.
    changes: Option<ColumnChanges>,
    dictionaries: OpenDictionaries,
}

/// What is known of a column of all row groups, deleted rows included.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStatistics {
    /// Lower bound of the values; `None` when there are none or it is unknown (NaN).
    pub min: Option<CodecScalar>,
    /// Upper bound of the values; `None` when there are none or it is unknown (NaN, some long text).
    pub max: Option<CodecScalar>,
    /// Whether a row holds `min`.
    pub min_exact: bool,
    /// Whether a row holds `max`.
    pub max_exact: bool,
    /// Exact number of NULLs.
    pub null_count: u64,
    /// Number of distinct values: exact up to 512, within some 3 % above.
    pub distinct_estimate: u64,
    /// What the values take as plain arrays.
    pub raw_bytes: u64,
    /// Length of all segments of the column, and of its shared dictionaries.
    pub encoded_bytes: u64,
}

/// Which state of a table one is. It keeps nothing of that alive.
#[derive(Debug, Clone)]
pub struct ColumnTableVersion(Weak<TableState>);

impl ColumnTableVersion {
    /// Whether a table is in this state, and has the rows that it had.
    pub fn is_of(&self, table: &ColumnTable) -> bool {
        table.changes.is_none() && std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&table.state))
    }
}

impl ColumnTable {
    pub(crate) fn new(
        entry: &Arc<TableEntry>,
        source: &Arc<PageSource>,
        changes: Option<ColumnChanges>,
    ) -> Result<Self, EngineError> {
        let state = entry.state(source)?;
        Ok(ColumnTable::of_state(
            Arc::clone(entry),
            state,
            Arc::clone(source),
            changes,
        ))
    }

    pub(crate) fn of_state(
        entry: Arc<TableEntry>,
        state: Arc<TableState>,
        source: Arc<PageSource>,
        changes: Option<ColumnChanges>,
    ) -> Self {
        ColumnTable {
            entry,
            state,
            source,
            changes,
            dictionaries: OpenDictionaries::default(),
        }
    }

    /// Id, unique for the life of the database.
    pub fn id(&self) -> u64 {
        self.entry.id
    }

    /// The state of the table, to be recognised later; `None` if rows have come, changed or gone since the last merge.
    pub fn version(&self) -> Option<ColumnTableVersion> {
        let version = ColumnTableVersion(Arc::downgrade(&self.state));
        self.changes.is_none().then_some(version)
    }

    /// What was declared.
    pub fn definition(&self) -> &Arc<TableDefinition> {
        &self.entry.definition
    }

    /// Schema of the batches that are appended and scanned.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.entry.schema
    }

    /// Exact number of rows. Changes since the last merge are counted one by one.
    ///
    /// # Errors
    /// Pages with changes cannot be read or are damaged.
    pub fn row_count(&self) -> Result<u64, ScanError> {
        let Some(changes) = &self.changes else {
            return Ok(self.state.row_count);
        };
        let deleted: u64 = changes.deleted_counts()?.values().sum();
        let stored = self.state.row_count.saturating_sub(deleted);
        Ok(stored + changes.delta_row_count()?)
    }

    /// Number of rows of all row groups, deleted ones included.
    pub fn stored_row_count(&self) -> u64 {
        self.state.row_count
    }

    /// About how many rows there are.
    ///
    /// # Errors
    /// Pages with changes cannot be read or are damaged.
    pub fn row_count_estimate(&self) -> Result<u64, ScanError> {
        let Some(changes) = &self.changes else {
            return Ok(self.state.row_count);
        };
        let (added, deleted) = changes.estimate()?;
        Ok(self.state.row_count.saturating_sub(deleted) + added)
    }

    /// Whether rows have come, changed or gone without being in row groups: then counts, bounds and zones of row groups are not
    /// those of the rows.
    ///
    /// # Errors
    /// Pages with changes cannot be read or are damaged.
    pub fn is_changed(&self) -> Result<bool, ScanError> {
        match &self.changes {
            None => Ok(false),
            Some(changes) => Ok(!changes.is_empty()?),
        }
    }

    /// The table of the rows that are in no row group. Nothing if the table has no trees for changes yet: see
    /// [`Transaction::prepare_changes`](crate::Transaction::prepare_changes).
    pub fn delta(&self) -> Option<&Arc<RowTable>> {
        self.changes.as_ref().map(ColumnChanges::delta)
    }

    /// Keys of rows, as a scan has shown them, and where these rows are by now: those that others have changed are in the delta,
    /// and what is gone is left out.
    ///
    /// # Errors
    /// Pages with changes cannot be read or are damaged.
    pub fn moved_rows(&self, keys: &[Box<[u8]>]) -> Result<Arc<[Box<[u8]>]>, ScanError> {
        match &self.changes {
            None => Ok(Arc::default()),
            Some(changes) => Ok(changes.moved(keys)?),
        }
    }

    pub(crate) fn changes(&self) -> Option<&ColumnChanges> {
        self.changes.as_ref()
    }

    /// Number of the row group at a place.
    pub(crate) fn row_group_number(&self, index: usize) -> u64 {
        let entry = self.state.row_groups.get(index);
        entry.map_or(0, |entry| entry.pointer.number)
    }

    /// Number of row groups.
    pub fn row_group_count(&self) -> usize {
        self.state.row_groups.len()
    }

    /// Number of rows of a row group, without reading it; 0 when there is no such row group.
    pub fn row_group_rows(&self, index: usize) -> u64 {
        self.state
            .row_groups
            .get(index)
            .map_or(0, |entry| entry.pointer.row_count)
    }

    /// Metadata of a row group, read when first asked for and shared by all states of the table.
    ///
    /// # Errors
    /// There is no such row group, or it cannot be read or understood.
    pub fn row_group(&self, index: usize) -> Result<Arc<RowGroup>, EngineError> {
        self.row_group_by(index, |pages| self.source.read(pages))
    }

    /// The same, read as the caller does.
    pub(crate) fn row_group_by(
        &self,
        index: usize,
        read: impl FnOnce(&[PageId]) -> Result<Arc<[u8]>, EngineError>,
    ) -> Result<Arc<RowGroup>, EngineError> {
        let entry = self
            .state
            .row_groups
            .get(index)
            .ok_or_else(|| EngineError::NoRowGroup {
                table: self.entry.definition.name.clone(),
                index,
                count: self.row_group_count(),
            })?;
        entry.row_group(&self.entry.definition, index, read)
    }

    /// The pages of a row group's metadata, unless that is in memory.
    pub(crate) fn unread_metadata(&self, index: usize) -> &[PageId] {
        let entry = self.state.row_groups.get(index);
        let entry = entry.filter(|entry| !entry.is_loaded());
        entry.map_or(&[], |entry| &entry.pointer.pages)
    }

    /// The pages of a row group's metadata.
    pub(crate) fn metadata_pages(&self, index: usize) -> &[PageId] {
        let entry = self.state.row_groups.get(index);
        entry.map_or(&[], |entry| &entry.pointer.pages)
    }

    /// What its scans did since the database was opened.
    pub fn scan_totals(&self) -> &TableScanTotals {
        &self.entry.scans
    }

    /// The smallest and the largest stored value of a column of 16, 32 or 64-bit integers: dates in days, timestamps in microseconds, decimals
    /// without their point. Deleted rows are included, changes are not. `None` for other columns, and if no row has a value.
    pub fn integer_bounds(&self, column: usize) -> Option<RangeInclusive<i64>> {
        let sql_type = self.entry.definition.columns.get(column)?.sql_type;
        if !matches!(
            sql_type.physical_type(),
            PhysicalType::Int16 | PhysicalType::Int32 | PhysicalType::Int64
        ) {
            return None;
        }
        let zone = &self.state.root.columns.get(column)?.zone;
        let bound = |bound: &Option<CodecScalar>| bound.as_ref()?.as_integer()?.try_into().ok();
        Some(bound(&zone.min)?..=bound(&zone.max)?)
    }

    /// How many stored values of a column are NULL, deleted rows included, changes not; `None` when there is no such column.
    pub fn stored_null_count(&self, column: usize) -> Option<u64> {
        let summary = self.state.root.columns.get(column)?;
        Some(summary.zone.null_count)
    }

    /// Statistics of a column of all row groups, deleted rows included; `None` when there is no such column.
    pub fn statistics(&self, column: usize) -> Option<ColumnStatistics> {
        let summary = self.state.root.columns.get(column)?;
        // A sketch cannot know better than the number of values there are.
        let value_count = self.state.row_count.saturating_sub(summary.zone.null_count);
        Some(ColumnStatistics {
            min: summary.zone.min.clone(),
            max: summary.zone.max.clone(),
            min_exact: summary.zone.min_exact,
            max_exact: summary.zone.max_exact,
            null_count: summary.zone.null_count,
            distinct_estimate: summary.sketch.estimate().min(value_count),
            raw_bytes: summary.raw_bytes,
            encoded_bytes: summary.encoded_bytes.saturating_add(
                summary
                    .dictionaries
                    .iter()
                    .fold(0, |sum, one| one.stored_bytes.saturating_add(sum)),
            ),
        })
    }

    /// The dictionaries that segments of a column refer to instead of having their own; none if there is no such column.
    pub fn shared_dictionaries(&self, column: usize) -> &[SharedDictionaryPointer] {
        let summary = self.state.root.columns.get(column);
        summary.map_or(&[], |summary| &summary.dictionaries)
    }

    /// The shared dictionary that a segment of a column names.
    pub(crate) fn dictionary_pointer(
        &self,
        column: usize,
        fingerprint: u64,
    ) -> Result<&SharedDictionaryPointer, EngineError> {
        let dictionaries = self.shared_dictionaries(column).iter();
        let mut named = dictionaries.filter(|one| one.fingerprint == fingerprint);
        named.next().ok_or_else(|| EngineError::Corrupt {
            what: self.column_name(column),
            source: Corrupt::new(
                format!(
                    "no dictionary has fingerprint {fingerprint:016x}, which a row group names"
                ),
                0,
            ),
        })
    }

    /// The same, read once as the caller does.
    pub(crate) fn shared_dictionary(
        &self,
        column: usize,
        fingerprint: u64,
        read: impl FnOnce(&[PageId]) -> Result<Arc<[u8]>, EngineError>,
    ) -> Result<SharedDictionary, EngineError> {
        let pointer = self.dictionary_pointer(column, fingerprint)?;
        self.dictionaries.get(column, fingerprint, || {
            read_dictionary(pointer, || self.column_name(column), read)
        })
    }

    fn column_name(&self, column: usize) -> String {
        column_name(&self.entry.definition, column)
    }

    /// A value of a column's statistics or zones as an Arrow array of one element of the column's type;
    /// `None` when there is no such column or the value is not of its type.
    pub fn scalar_array(&self, column: usize, value: &CodecScalar) -> Option<ArrayRef> {
        let column = self.entry.definition.columns.get(column)?;
        let array = scalar_array(column.sql_type, [Some(value)]);
        array.is_valid(0).then_some(array)
    }

    pub(crate) fn trees(&self) -> &[TreeRecord] {
        &self.entry.trees
    }

    pub(crate) fn state(&self) -> &Arc<TableState> {
        &self.state
    }

    pub(crate) fn source(&self) -> &Arc<PageSource> {
        &self.source
    }
}
