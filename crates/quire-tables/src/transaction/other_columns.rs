//! A column table gets other columns, and what it has of the old ones stays as it is stored.
//!
//! Each segment is one column of one row group (DSM, paper 2 §6.2.3). So a column goes or comes without a look at the values of others:
//! row groups get new metadata, which names the pages that they had, or in a PAX table a block of the bytes that they had. Their numbers stay.
//! What is encoded anew are columns that follow one that goes, and rows of row groups of which some are deleted: changes are merged first.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{Field, Schema};
use quire_codec::{CodecScalar, Corrupt};
use quire_format::row_group::{ColumnChunk, RowGroup};
use quire_format::table_root::{ColumnSummary, RowGroupPointer, TableRoot};
use quire_kv::mvcc::{LockWait, TableLockMode};
use quire_kv::progress::StatementWork;
use quire_store::{PageId, PageKind};

use super::{Transaction, WriteTransaction};
use crate::append::lone_column::{LoneColumn, encode_lone_column};
use crate::catalog::TableState;
use crate::definition::{TableDefinition, TableStorage};
use crate::error::{EngineError, RowScanError, ScanError, TableAppendError, TransactionError};
use crate::page_cluster::PageCluster;
use crate::pages::{PageSource, TransactionPages};
use crate::row_group_entry::RowGroupEntry;
use crate::scalar_array::scalar_array;
use crate::scan::{ScanOptions, SharedTableScan};
use crate::table::ColumnTable;

/// Longest text that all rows of a row group can be given, in bytes: a full row group of it takes what a load closes one at.
const SAME_BYTES_MAX: usize = 1024;

/// Where the values of a column come from when a column table gets other columns.
#[derive(Debug, Clone, PartialEq)]
pub enum NewColumnOrigin {
    /// The column at this place of the definition before.
    Kept(usize),
    /// One value for all rows, of the physical type of the column; `None` is NULL. See [`NewColumnOrigin::same`].
    Same(Option<CodecScalar>),
}

impl NewColumnOrigin {
    /// One value for all rows, unless it is too long for row groups that have their number of rows already.
    pub fn same(value: Option<CodecScalar>) -> Option<Self> {
        let is_long = |value: &CodecScalar| match value {
            CodecScalar::Bytes(bytes) => bytes.len() > SAME_BYTES_MAX,
            _ => false,
        };
        let is_possible = !value.as_ref().is_some_and(is_long);
        is_possible.then_some(Self::Same(value))
    }
}

impl Transaction {
    /// Gives a column table other columns, once nobody else uses it: `origins` has one entry per column of `definition`. Stored values of
    /// columns that stay are not decoded, unless they follow from a column that goes; rows that are not in row groups, and those of row groups with
    /// deletions, are written as new row groups first. The transaction must see the newest rows.
    ///
    /// # Errors
    /// No such column table, or it cannot be locked; or the definition is not acceptable or does not fit the origins (the transaction can go
    /// on); or the volume fails, or is damaged (it can only be rolled back).
    pub fn replace_columns(
        &mut self,
        name: &str,
        definition: TableDefinition,
        origins: &[NewColumnOrigin],
    ) -> Result<(), TransactionError> {
        let not_found = || TransactionError::TableNotFound(name.to_owned());
        let found = self.snapshot().table(name)?;
        let locked = found.ok_or_else(not_found)?.id();
        self.lock_table(locked, TableLockMode::AccessExclusive, LockWait::Wait)?;
        // Others may have changed it while this waited.
        self.define(|_| Ok(()))?;
        let found = self.snapshot().table(name)?;
        let is_locked = |table: &Arc<ColumnTable>| table.id() == locked;
        let table = found.filter(is_locked).ok_or_else(not_found)?;
        check_origins(table.definition(), &definition, origins)?;
        let changed = changed_row_groups(&table)?;
        let work = self.work();
        self.define(|tables| {
            if let Some(row_groups) = &changed {
                tables.merge_changes(&table, row_groups, false, work.clone())?;
            }
            tables.replace_columns(name, definition, origins, work.as_deref())
        })
    }
}

/// Row groups of which rows are deleted, if the table has trees for changes.
pub(super) fn changed_row_groups(
    table: &ColumnTable,
) -> Result<Option<BTreeSet<usize>>, ScanError> {
    let Some(changes) = table.changes() else {
        return Ok(None);
    };
    let counts = changes.deleted_counts()?;
    let row_groups = 0..table.row_group_count();
    let is_changed = |index: &usize| counts.contains_key(&table.row_group_number(*index));
    Ok(Some(row_groups.filter(is_changed).collect()))
}

/// Whether rows of a table that is defined as `old` can be had as `new` says.
fn check_origins(
    old: &TableDefinition,
    new: &TableDefinition,
    origins: &[NewColumnOrigin],
) -> Result<(), TransactionError> {
    let are_alike = old.storage == TableStorage::Column
        && new.storage == TableStorage::Column
        && old.options == new.options
        && origins.len() == new.columns.len();
    let mut kept = HashSet::new();
    let mut pairs = new.columns.iter().zip(origins);
    let fits = are_alike
        && pairs.all(|(column, origin)| match origin {
            NewColumnOrigin::Kept(place) => old.columns.get(*place).is_some_and(|before| {
                kept.insert(*place)
                    && before.sql_type == column.sql_type
                    && (column.nullable || !before.nullable)
            }),
            NewColumnOrigin::Same(None) => column.nullable,
            NewColumnOrigin::Same(Some(value)) => {
                value.physical_type() == column.sql_type.physical_type()
            }
        });
    if fits {
        return Ok(());
    }
    Err(TransactionError::Alteration {
        table: old.name.clone(),
        what: "its stored columns are not those of the definition".to_owned(),
    })
}

impl WriteTransaction {
    /// The table has no changes besides its row groups. See [`Transaction::replace_columns`].
    fn replace_columns(
        &mut self,
        name: &str,
        mut definition: TableDefinition,
        origins: &[NewColumnOrigin],
        work: Option<&StatementWork>,
    ) -> Result<(), TransactionError> {
        self.check_appends_finished()?;
        self.lock_name(name)?;
        for column in &mut definition.columns {
            column.stores_null = true;
        }
        definition.validate()?;
        let entry = self.catalog.tables.get(name).cloned();
        let entry = entry.ok_or_else(|| TransactionError::TableNotFound(name.to_owned()))?;
        let state = entry.state(&self.source)?;
        let source = Arc::clone(&self.source);
        let table = ColumnTable::of_state(Arc::clone(&entry), state, source, None);
        let mut replacement = ColumnReplacement {
            pages: &self.pages,
            source: &self.source,
            table: Arc::new(table),
            definition: &definition,
            origins,
            same: BTreeMap::new(),
        };
        let state = replacement.new_state(work)?;
        let definition = self.definition_in_place_of(entry.id, &entry.definition, &definition);
        let replaced = entry.with_definition(Arc::new(definition));
        let replaced = replaced.with_state(entry.root_pages.clone(), Arc::new(state));
        self.catalog
            .tables
            .insert(name.to_owned(), Arc::new(replaced));
        self.changed_tables.insert(name.to_owned());
        self.definitions_changed = true;
        Ok(())
    }
}

/// Makes row groups with other columns of those of a table.
struct ColumnReplacement<'t> {
    pages: &'t Arc<TransactionPages>,
    source: &'t Arc<PageSource>,
    /// The table before, without changes.
    table: Arc<ColumnTable>,
    definition: &'t TableDefinition,
    origins: &'t [NewColumnOrigin],
    /// Columns of one value, as they were encoded last: by place, with the number of rows.
    same: BTreeMap<usize, (u64, LoneColumn)>,
}

/// A column of a row group, and where its bytes are.
struct ReplacedColumn {
    chunk: ColumnChunk,
    segment: ReplacedSegment,
}

enum ReplacedSegment {
    /// Those of the column that was at this place.
    Stored(usize),
    /// Not written yet.
    Encoded(Vec<u8>),
}

impl ColumnReplacement<'_> {
    /// The place that a column has now.
    fn place_of(&self, before: usize) -> Option<usize> {
        let mut origins = self.origins.iter();
        origins.position(|origin| *origin == NewColumnOrigin::Kept(before))
    }

    /// Writes metadata of all row groups, and what columns have that is not stored yet.
    fn new_state(&mut self, work: Option<&StatementWork>) -> Result<TableState, TransactionError> {
        let table = Arc::clone(&self.table);
        let old = table.state();
        let types = self.definition.columns.iter();
        let types = types.map(|column| column.sql_type.physical_type());
        let mut root = TableRoot::empty(old.root.table_id, types);
        root.next_row_group = old.root.next_row_group;
        for (summary, origin) in root.columns.iter_mut().zip(self.origins) {
            if let NewColumnOrigin::Kept(before) = origin
                && let Some(known) = old.root.columns.get(*before)
            {
                summary.clone_from(known);
            }
        }
        let mut entries = Vec::with_capacity(old.row_groups.len());
        let mut row_count = 0;
        for (index, entry) in old.row_groups.iter().enumerate() {
            if let Some(work) = work {
                let checked = work.check().map_err(RowScanError::from);
                checked.map_err(ScanError::from)?;
            }
            let row_group = self.new_row_group(index, row_count, &mut root.columns)?;
            row_count += row_group.row_count;
            let (kind, cluster) = (PageKind::RowGroup, PageCluster::RowGroups);
            let pages = self.pages.write(kind, cluster, &row_group.encode())?;
            self.pages.free(&entry.pointer.pages)?;
            let pointer = RowGroupPointer {
                pages,
                ..entry.pointer.clone()
            };
            root.row_groups.push(pointer.clone());
            entries.push(Arc::new(RowGroupEntry::loaded(
                pointer,
                Arc::new(row_group),
            )));
        }
        self.free_dictionaries()?;
        Ok(TableState::new(root, entries))
    }

    /// Frees the shared dictionaries of columns that go.
    fn free_dictionaries(&self) -> Result<(), TransactionError> {
        let columns = self.table.state().root.columns.iter().enumerate();
        let gone = columns.filter(|(column, _)| self.place_of(*column).is_none());
        for dictionary in gone.flat_map(|(_, summary)| &summary.dictionaries) {
            self.pages.free(&dictionary.pages)?;
        }
        Ok(())
    }

    /// `rows_before` are those of the row groups before it.
    fn new_row_group(
        &mut self,
        index: usize,
        rows_before: u64,
        summaries: &mut [ColumnSummary],
    ) -> Result<RowGroup, TransactionError> {
        let old = self.table.row_group(index)?;
        let mut columns = Vec::with_capacity(self.origins.len());
        for ((place, origin), summary) in self.origins.iter().enumerate().zip(summaries) {
            columns.push(match origin {
                NewColumnOrigin::Kept(before) => {
                    let column = self.kept(index, &old, *before, place)?;
                    note_kept(summary, old.columns.get(*before), &column.chunk);
                    column
                }
                NewColumnOrigin::Same(value) => {
                    let column = self.same(place, value.as_ref(), old.row_count)?;
                    note_new(summary, rows_before, old.row_count, column);
                    ReplacedColumn {
                        chunk: column.chunk.clone(),
                        segment: ReplacedSegment::Encoded(column.segment.clone()),
                    }
                }
            });
        }
        let block = if old.has_block() {
            self.write_block(&old, &columns)?
        } else {
            self.write_segments(&old, &mut columns)?;
            Vec::new()
        };
        Ok(RowGroup {
            row_count: old.row_count,
            block,
            columns: columns.into_iter().map(|column| column.chunk).collect(),
        })
    }

    /// A column that stays; encoded anew if it follows one that does not.
    fn kept(
        &self,
        index: usize,
        old: &RowGroup,
        before: usize,
        place: usize,
    ) -> Result<ReplacedColumn, TransactionError> {
        let Some(chunk) = old.columns.get(before) else {
            return Err(self.corrupt(index, "it has too few columns"));
        };
        let relation = match chunk.relation {
            None => None,
            Some(relation) => match relation.renumbered(|before| self.place_of(before)) {
                None => return self.kept_alone(index, before, place),
                moved => moved,
            },
        };
        Ok(ReplacedColumn {
            chunk: ColumnChunk {
                relation,
                ..chunk.clone()
            },
            segment: ReplacedSegment::Stored(before),
        })
    }

    fn kept_alone(
        &self,
        index: usize,
        before: usize,
        place: usize,
    ) -> Result<ReplacedColumn, TransactionError> {
        let options = ScanOptions {
            projection: vec![before],
            ..ScanOptions::default()
        };
        let table = Arc::clone(&self.table);
        let scan = SharedTableScan::start(table, options, [index], false)?;
        let mut reader = scan.reader();
        let mut batches = Vec::new();
        while let Some(batch) = reader.next()? {
            batches.push(batch);
        }
        let column = encode_lone_column(&self.definition.columns[place], batches)?;
        Ok(ReplacedColumn {
            chunk: column.chunk,
            segment: ReplacedSegment::Encoded(column.segment),
        })
    }

    /// A column of one value in a row group of so many rows.
    fn same(
        &mut self,
        place: usize,
        value: Option<&CodecScalar>,
        row_count: u64,
    ) -> Result<&LoneColumn, TransactionError> {
        let known = self.same.remove(&place);
        let column = match known.filter(|(rows, _)| *rows == row_count) {
            Some((_, column)) => column,
            None => self.encode_same(place, value, row_count)?,
        };
        let (_, column) = self.same.entry(place).or_insert((row_count, column));
        Ok(column)
    }

    fn encode_same(
        &self,
        place: usize,
        value: Option<&CodecScalar>,
        row_count: u64,
    ) -> Result<LoneColumn, TransactionError> {
        let column = &self.definition.columns[place];
        let values = std::iter::repeat_n(value, row_count as usize);
        let array = scalar_array(column.sql_type, values);
        let field = Field::new(&column.name, array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema, vec![array])
            .map_err(|error| TableAppendError::Schema(error.to_string()))?;
        Ok(encode_lone_column(column, vec![batch])?)
    }

    /// Writes what is new, and frees what is not needed any more. There is no block.
    fn write_segments(
        &self,
        old: &RowGroup,
        columns: &mut [ReplacedColumn],
    ) -> Result<(), TransactionError> {
        let mut stays = vec![false; old.columns.len()];
        for (place, column) in columns.iter_mut().enumerate() {
            match &column.segment {
                ReplacedSegment::Stored(before) => stays[*before] = true,
                ReplacedSegment::Encoded(segment) => {
                    let (kind, cluster) = (PageKind::Segment, PageCluster::Column(place));
                    column.chunk.pages = self.pages.write(kind, cluster, segment)?;
                }
            }
        }
        for (chunk, _) in old.columns.iter().zip(stays).filter(|(_, stays)| !stays) {
            self.pages.free(&chunk.pages)?;
        }
        Ok(())
    }

    /// Writes a block of the segments, most of which are copied out of the old one.
    fn write_block(
        &self,
        old: &RowGroup,
        columns: &[ReplacedColumn],
    ) -> Result<Vec<PageId>, TransactionError> {
        let image = self.source.read(&old.block)?;
        let mut block = Vec::with_capacity(image.len());
        for column in columns {
            match &column.segment {
                ReplacedSegment::Stored(before) => {
                    let range = old.column_range(*before);
                    let segment = range.and_then(|range| image.get(range));
                    let segment = segment.ok_or_else(|| EngineError::Corrupt {
                        what: format!("a block of table {:?}", self.definition.name),
                        source: Corrupt::new("it is shorter than its row group says", 0),
                    })?;
                    block.extend_from_slice(segment);
                }
                ReplacedSegment::Encoded(segment) => block.extend_from_slice(segment),
            }
        }
        let (kind, cluster) = (PageKind::Segment, PageCluster::Blocks);
        let pages = self.pages.write(kind, cluster, &block)?;
        self.pages.free(&old.block)?;
        Ok(pages)
    }

    fn corrupt(&self, index: usize, what: &str) -> TransactionError {
        TransactionError::Engine(EngineError::Corrupt {
            what: format!("row group {index} of table {:?}", self.definition.name),
            source: Corrupt::new(what.to_owned(), 0),
        })
    }
}

/// What is known of a column that stays: its values are the same, its segment may be another.
fn note_kept(summary: &mut ColumnSummary, before: Option<&ColumnChunk>, chunk: &ColumnChunk) {
    let Some(before) = before else { return };
    let changed = |sum: u64, old: u64, new: u64| sum.saturating_sub(old).saturating_add(new);
    summary.encoded_bytes = changed(
        summary.encoded_bytes,
        before.encoded_bytes,
        chunk.encoded_bytes,
    );
    summary.raw_bytes = changed(summary.raw_bytes, before.raw_bytes, chunk.raw_bytes);
}

/// What is known of a column that comes, with another row group.
fn note_new(summary: &mut ColumnSummary, rows_before: u64, rows: u64, column: &LoneColumn) {
    let chunk = &column.chunk;
    let values = rows_before - summary.zone.null_count;
    let chunk_values = rows - chunk.zone.null_count;
    summary.zone.merge(values, &chunk.zone, chunk_values);
    summary.raw_bytes = summary.raw_bytes.saturating_add(chunk.raw_bytes);
    summary.encoded_bytes = summary.encoded_bytes.saturating_add(chunk.encoded_bytes);
    summary.sketch.merge(&column.sketch);
}
