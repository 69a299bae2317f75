//! The rows of one column table in another, in the bytes that they have there.
//!
//! Paper 2 (§6.1) names systems that keep data compressed where a query only copies it. Here whole row groups are copied: each segment is read and written, not decoded.
//! Decoded are row groups of which rows are deleted, those that are so small that copies of them would stay behind, rows that are in none, and row groups that refer to
//! a shared dictionary for whose fingerprint the table has another one.

use std::collections::BTreeSet;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_group::{ColumnChunk, ROW_GROUP_ROWS, RowGroup};
use quire_format::table_root::{
    ROW_GROUP_NUMBERS, RowGroupPointer, SharedDictionaryPointer, TableRoot,
};
use quire_kv::progress::StatementWork;
use quire_store::PageKind;

use super::WriteTransaction;
use super::other_columns::changed_row_groups;
use crate::append::AppendOptions;
use crate::catalog::{TableEntry, TableState};
use crate::definition::TableDefinition;
use crate::error::{EngineError, RowScanError, ScanError, TransactionError};
use crate::page_cluster::PageCluster;
use crate::row_group_entry::RowGroupEntry;
use crate::scan::{ScanOptions, SharedTableScan};
use crate::shared_dictionaries::{column_name, read_with_bytes};
use crate::table::ColumnTable;
use crate::types::SqlType;

/// Rows, and bytes of values as plain arrays, from either of which a row group is copied: half of what closes one.
const ROWS_MIN: u64 = ROW_GROUP_ROWS as u64 / 2;
const RAW_BYTES_MIN: u64 = 64 << 20;

/// Whether a table that is defined as `target` can have the rows of `source` as they are stored; `columns` has the place in `source` of each column of
/// `target`. PAX tables cut blocks of their own.
pub fn can_copy_rows(target: &TableDefinition, source: &ColumnTable, columns: &[usize]) -> bool {
    let source = source.definition();
    let mut pairs = target.columns.iter().zip(columns);
    let has_blocks = |definition: &TableDefinition| definition.options.block_bytes.is_some();
    !has_blocks(target)
        && !has_blocks(source)
        && target.storage == source.storage
        && target.columns.len() == columns.len()
        && pairs.all(|(column, &place)| {
            source.columns.get(place).is_some_and(|before| {
                holds_stored(before.sql_type, column.sql_type)
                    && before.compression == column.compression
                    && (column.nullable || !before.nullable)
            })
        })
}

/// Whether stored values of one type are values of another.
fn holds_stored(source: SqlType, target: SqlType) -> bool {
    source == target || source.is_text() && target == SqlType::Text
}

impl WriteTransaction {
    /// Appends all rows of `source`, as a snapshot sees it, to the table called `name`. See [`can_copy_rows`]. Returns the number of rows.
    ///
    /// # Errors
    /// No such table, or the definitions do not fit; or rows cannot be read or written: the transaction can only be aborted.
    pub fn copy_rows(
        &mut self,
        name: &str,
        source: &Arc<ColumnTable>,
        columns: &[usize],
        work: Option<&Arc<StatementWork>>,
    ) -> Result<u64, TransactionError> {
        self.check_appends_finished()?;
        self.lock_name(name)?;
        let entry = self.catalog.tables.get(name).cloned();
        let entry = entry.ok_or_else(|| TransactionError::TableNotFound(name.to_owned()))?;
        if !can_copy_rows(&entry.definition, source, columns) {
            return Err(TransactionError::Alteration {
                table: name.to_owned(),
                what: "it cannot have these rows as they are stored".to_owned(),
            });
        }
        let (copied, rest) = self.copy_row_groups(&entry, source, columns, work)?;
        let mut row_count = copied.row_count - entry.state(&self.source)?.row_count;
        let entry = entry.with_state(entry.root_pages.clone(), Arc::new(copied));
        self.catalog.tables.insert(name.to_owned(), Arc::new(entry));
        self.changed_tables.insert(name.to_owned());
        let options = ScanOptions {
            projection: columns.to_vec(),
            work: work.cloned(),
            ..ScanOptions::default()
        };
        let scan = SharedTableScan::start(Arc::clone(source), options, rest, true)?;
        let mut reader = scan.reader();
        let mut appender = self.appender_with(name, AppendOptions::default())?;
        while let Some(batch) = reader.next()? {
            check(work)?;
            appender.append(&batch)?;
        }
        row_count += appender.finish()?;
        Ok(row_count)
    }

    /// The state of the table with the row groups that are copied, and the places of the others.
    fn copy_row_groups(
        &mut self,
        entry: &TableEntry,
        source: &ColumnTable,
        columns: &[usize],
        work: Option<&Arc<StatementWork>>,
    ) -> Result<(TableState, BTreeSet<usize>), TransactionError> {
        let state = entry.state(&self.source)?;
        let (mut root, mut entries) = (state.root.clone(), state.row_groups.clone());
        let changed = changed_row_groups(source)?.unwrap_or_default();
        let others = self.other_dictionaries(entry, &root, source, columns)?;
        let mut rest = BTreeSet::new();
        for index in 0..source.row_group_count() {
            let row_group = source.row_group(index)?;
            let is_kept = is_large(&row_group) && !changed.contains(&index);
            let keeps_codes = |chunks: &Vec<ColumnChunk>| {
                let mut named = chunks.iter().map(|chunk| chunk.dictionary).enumerate();
                named.all(|(column, one)| one.is_none_or(|one| !others.contains(&(column, one))))
            };
            let chunks = chunks_of(&row_group, columns).filter(|_| is_kept);
            let Some(chunks) = chunks.filter(keeps_codes) else {
                rest.insert(index);
                continue;
            };
            check(work)?;
            let copied = self.copy_row_group(source, index, columns, chunks)?;
            self.copy_dictionaries(source, columns, &copied, &mut root)?;
            note_copied(&mut root, &copied);
            let (kind, cluster) = (PageKind::RowGroup, PageCluster::RowGroups);
            let pages = self.pages.write(kind, cluster, &copied.encode())?;
            let number = root.next_row_group;
            assert!(
                number < ROW_GROUP_NUMBERS,
                "numbers of row groups are not used up"
            );
            root.next_row_group += 1;
            let pointer = RowGroupPointer {
                number,
                row_count: copied.row_count,
                pages,
            };
            root.row_groups.push(pointer.clone());
            entries.push(Arc::new(RowGroupEntry::loaded(pointer, Arc::new(copied))));
        }
        if rest.len() < source.row_group_count() {
            // Of all row groups, so of those that follow, too.
            for (column, &place) in root.columns.iter_mut().zip(columns) {
                if let Some(known) = source.state().root.columns.get(place) {
                    column.sketch.merge(&known.sketch);
                }
            }
        }
        Ok((TableState::new(root, entries), rest))
    }

    /// Dictionaries of the table, by column and fingerprint, whose bytes are not those of the source's dictionary with that fingerprint: fingerprints are short
    /// enough to be met on purpose. The same strings in other bytes count as others.
    fn other_dictionaries(
        &self,
        entry: &TableEntry,
        root: &TableRoot,
        source: &ColumnTable,
        columns: &[usize],
    ) -> Result<BTreeSet<(usize, u64)>, EngineError> {
        let mut others = BTreeSet::new();
        for (index, (summary, &place)) in root.columns.iter().zip(columns).enumerate() {
            for own in &summary.dictionaries {
                let mut named = source.shared_dictionaries(place).iter();
                let Some(copied) = named.find(|one| one.fingerprint == own.fingerprint) else {
                    continue;
                };
                let name = || column_name(&entry.definition, index);
                let (_, bytes) = read_with_bytes(own, name, |pages| self.source.read(pages))?;
                if bytes != stored_dictionary(source, place, copied)? {
                    others.insert((index, own.fingerprint));
                }
            }
        }
        Ok(others)
    }

    /// Writes the shared dictionaries that a copied row group refers to, unless the table has them.
    fn copy_dictionaries(
        &self,
        source: &ColumnTable,
        columns: &[usize],
        copied: &RowGroup,
        root: &mut TableRoot,
    ) -> Result<(), TransactionError> {
        for (index, (chunk, &place)) in copied.columns.iter().zip(columns).enumerate() {
            let known = &mut root.columns[index];
            let missing = chunk
                .dictionary
                .filter(|one| known.dictionary(*one).is_none());
            let Some(fingerprint) = missing else {
                continue;
            };
            let pointer = source.dictionary_pointer(place, fingerprint)?;
            let stored = stored_dictionary(source, place, pointer)?;
            let (kind, cluster) = (PageKind::Segment, PageCluster::Column(index));
            known.dictionaries.push(SharedDictionaryPointer {
                row_group_count: 0,
                pages: self.pages.write(kind, cluster, &stored)?,
                ..pointer.clone()
            });
        }
        root.note_references(copied);
        Ok(())
    }

    /// Writes the segments of a row group.
    fn copy_row_group(
        &mut self,
        source: &ColumnTable,
        index: usize,
        columns: &[usize],
        mut chunks: Vec<ColumnChunk>,
    ) -> Result<RowGroup, TransactionError> {
        let row_group = source.row_group(index)?;
        for (place, (chunk, &column)) in chunks.iter_mut().zip(columns).enumerate() {
            let segment = source.source().read(row_group.column_pages(column))?;
            if segment.len() as u64 != chunk.encoded_bytes {
                return Err(TransactionError::Engine(EngineError::Corrupt {
                    what: format!(
                        "column {column} of row group {index} of table {:?}",
                        source.definition().name
                    ),
                    source: Corrupt::new(
                        "its segment has another length than its row group says",
                        0,
                    ),
                }));
            }
            let cluster = PageCluster::Column(place);
            chunk.pages = self.pages.write(PageKind::Segment, cluster, &segment)?;
        }
        Ok(RowGroup {
            row_count: row_group.row_count,
            block: Vec::new(),
            columns: chunks,
        })
    }
}

/// The bytes of a dictionary of the source.
fn stored_dictionary(
    source: &ColumnTable,
    column: usize,
    pointer: &SharedDictionaryPointer,
) -> Result<Arc<[u8]>, EngineError> {
    let name = || column_name(source.definition(), column);
    let (_, bytes) = read_with_bytes(pointer, name, |pages| source.source().read(pages))?;
    Ok(bytes)
}

fn check(work: Option<&Arc<StatementWork>>) -> Result<(), ScanError> {
    match work {
        Some(work) => Ok(work.check().map_err(RowScanError::from)?),
        None => Ok(()),
    }
}

fn is_large(row_group: &RowGroup) -> bool {
    let raw_bytes = row_group.columns.iter().map(|column| column.raw_bytes);
    let raw_bytes = raw_bytes.fold(0, u64::saturating_add);
    !row_group.has_block() && (row_group.row_count >= ROWS_MIN || raw_bytes >= RAW_BYTES_MIN)
}

/// The columns of a row group, still with their pages; `None` if one follows a column that is not among them.
fn chunks_of(row_group: &RowGroup, columns: &[usize]) -> Option<Vec<ColumnChunk>> {
    let place_of = |column: usize| columns.iter().position(|one| *one == column);
    let chunk = |&column: &usize| {
        let chunk = row_group.columns.get(column)?;
        let relation = match chunk.relation {
            Some(relation) => Some(relation.renumbered(place_of)?),
            None => None,
        };
        Some(ColumnChunk {
            relation,
            ..chunk.clone()
        })
    };
    columns.iter().map(chunk).collect()
}

/// What is known of the columns, with another row group; but for distinct values.
fn note_copied(root: &mut TableRoot, row_group: &RowGroup) {
    let row_count = root.row_count();
    for (column, chunk) in root.columns.iter_mut().zip(&row_group.columns) {
        let values = row_count - column.zone.null_count;
        let chunk_values = row_group.row_count - chunk.zone.null_count;
        column.zone.merge(values, &chunk.zone, chunk_values);
        column.raw_bytes = column.raw_bytes.saturating_add(chunk.raw_bytes);
        column.encoded_bytes = column.encoded_bytes.saturating_add(chunk.encoded_bytes);
    }
}
