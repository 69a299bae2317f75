//! Does every byte of the tables mean what the others say it means? One function per invariant.

mod rows;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::RecordBatch;
use quire_codec::block::ZstdDictionary;
use quire_format::page_dictionary::decode_dictionary;
use quire_format::row_group::{ColumnChunk, RowGroup};
use quire_format::staging_mark::StagingMark;
use quire_format::volume::MAX_PAYLOAD_BYTES;
use quire_format::zone::{ZoneBounds, compare};
use quire_store::{
    CATALOG_PAGE, DICTIONARY_LIST_PAGE, LOG_ROOT_PAGE, PageId, PageKind, Pin, STAGING_PAGE, Volume,
};

use crate::append::chunk_zones;
use crate::catalog::{TableEntry, TableState};
use crate::error::{EngineError, ScanError};
use crate::scan::{KnownPages, ScanOptions, SharedTableScan};
use crate::snapshot::Snapshot;
use crate::stagings::staging_mark;
use crate::table::ColumnTable;
use quire_kv::btree::{add_stored_pages, stored_dictionaries};

pub(crate) use rows::check_rows;

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFinding {
    /// Which invariant does not hold.
    pub invariant: &'static str,
    /// The table, when it is about one.
    pub table: Option<String>,
    /// The page, when it is about one.
    pub page: Option<PageId>,
    /// What was found, where, and what was expected.
    pub what: String,
}

impl std::fmt::Display for TableFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.invariant)?;
        if let Some(table) = &self.table {
            write!(f, "table {table:?}, ")?;
        }
        if let Some(page) = self.page {
            write!(f, "page {page}, ")?;
        }
        f.write_str(&self.what)
    }
}

/// Checks all tables of a volume as they are now, one column of one row group at a time in memory, and the block that it is in.
pub(crate) fn check(volume: &Volume) -> Vec<TableFinding> {
    let mut checker = TableChecker {
        findings: Vec::new(),
        owners: HashMap::new(),
    };
    let pin = volume.pin();
    if let Some(snapshot) = checker.catalog_is_readable(&pin) {
        let mut all_read = true;
        for entry in snapshot.catalog().tables.values() {
            all_read &= checker.table(&snapshot, entry);
        }
        all_read &= checker.trees(&pin, &snapshot);
        // What unreadable metadata refers to is unknown, so nothing can be called unreferenced.
        if all_read {
            checker.live_pages_are_referenced(&pin);
        }
    }
    checker.findings
}

struct TableChecker {
    findings: Vec<TableFinding>,
    /// Every page referenced so far, and by what.
    owners: HashMap<PageId, String>,
}

/// A column of a row group, for findings to name.
struct ColumnChunkName<'a> {
    table: &'a Arc<ColumnTable>,
    row_group: usize,
    column: usize,
    /// Of a row group with a block: the block, unless it cannot be read.
    block: Option<&'a Arc<[u8]>>,
}

impl ColumnChunkName<'_> {
    fn describe(&self) -> String {
        let name = &self.table.definition().columns[self.column].name;
        format!("row group {}, column {name:?}", self.row_group)
    }
}

impl TableChecker {
    fn find(&mut self, invariant: &'static str, table: &str, page: Option<PageId>, what: String) {
        let table = (!table.is_empty()).then(|| table.to_owned());
        self.findings.push(TableFinding {
            invariant,
            table,
            page,
            what,
        });
    }

    fn catalog_is_readable(&mut self, pin: &Pin) -> Option<Snapshot> {
        if pin.contains(CATALOG_PAGE) {
            self.owners.insert(CATALOG_PAGE, "the catalog".to_owned());
        }
        match Snapshot::committed(pin.clone()) {
            Ok(snapshot) => Some(snapshot),
            Err(error) => {
                let page = Some(CATALOG_PAGE);
                self.find("catalog_is_readable", "", page, error.to_string());
                None
            }
        }
    }

    /// Checks one table; whether all its metadata could be read.
    fn table(&mut self, snapshot: &Snapshot, entry: &Arc<TableEntry>) -> bool {
        let name = &entry.definition.name;
        self.pages_are_referenced_once(name, &entry.root_pages, "the table's root");
        let Some(state) = self.table_root_is_readable(snapshot, entry) else {
            return false;
        };
        let source = Arc::clone(snapshot.source());
        let table = Arc::new(ColumnTable::of_state(
            Arc::clone(entry),
            Arc::clone(&state),
            source,
            None,
        ));
        self.shared_dictionaries_are_readable(&table, &state);
        let mut row_groups = Vec::with_capacity(state.row_groups.len());
        for (index, row_group) in state.row_groups.iter().enumerate() {
            let owner = format!("row group {index}");
            self.pages_are_referenced_once(name, &row_group.pointer.pages, &owner);
            let Some(row_group) = self.row_group_is_readable(&table, index) else {
                continue;
            };
            self.pages_are_referenced_once(name, &row_group.block, &format!("{owner}, its block"));
            let block = block_of(&table, &row_group);
            for (column, chunk) in row_group.columns.iter().enumerate() {
                let place = ColumnChunkName {
                    table: &table,
                    row_group: index,
                    column,
                    block: block.as_ref(),
                };
                self.pages_are_referenced_once(name, &chunk.pages, &place.describe());
                self.segment_matches_its_row_group(&place, &row_group, chunk);
            }
            row_groups.push(row_group);
        }
        if row_groups.len() < state.row_groups.len() {
            return false;
        }
        self.column_summaries_cover_their_row_groups(&table, &state, &row_groups);
        self.shared_dictionaries_are_used(&table, &state, &row_groups);
        true
    }

    fn table_root_is_readable(
        &mut self,
        snapshot: &Snapshot,
        entry: &TableEntry,
    ) -> Option<Arc<TableState>> {
        let state = entry.state(snapshot.source());
        let page = entry.root_pages.first().copied();
        self.readable(
            "table_root_is_readable",
            &entry.definition.name,
            page,
            state,
        )
    }

    fn row_group_is_readable(
        &mut self,
        table: &ColumnTable,
        index: usize,
    ) -> Option<Arc<RowGroup>> {
        let row_group = table.row_group(index);
        self.readable(
            "row_group_is_readable",
            &table.definition().name,
            None,
            row_group,
        )
    }

    fn readable<T>(
        &mut self,
        invariant: &'static str,
        table: &str,
        page: Option<PageId>,
        result: Result<T, EngineError>,
    ) -> Option<T> {
        result
            .map_err(|error| self.find(invariant, table, page, error.to_string()))
            .ok()
    }

    fn pages_are_referenced_once(&mut self, table: &str, pages: &[PageId], owner: &str) {
        for &page in pages {
            let owner = format!("{owner} of table {table:?}");
            if let Some(other) = self.owners.insert(page, owner.clone()) {
                let what = format!("it belongs to {owner} and to {other}");
                self.find("pages_are_referenced_once", table, Some(page), what);
            }
        }
    }

    /// The segment opens and decodes, to as many rows and NULLs as its row group says, and its zones bound
    /// its values.
    fn segment_matches_its_row_group(
        &mut self,
        place: &ColumnChunkName<'_>,
        row_group: &RowGroup,
        chunk: &ColumnChunk,
    ) {
        const INVARIANT: &str = "segment_matches_its_row_group";
        let name = &place.table.definition().name;
        let page = row_group.column_pages(place.column).first().copied();
        let batches = match decode_column(place, row_group) {
            Ok(batches) => batches,
            Err(error) => return self.find(INVARIANT, name, page, error.to_string()),
        };
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if rows as u64 != row_group.row_count {
            let what = format!(
                "{}: {rows} rows, expected {}",
                place.describe(),
                row_group.row_count
            );
            return self.find(INVARIANT, name, page, what);
        }
        let sql_type = place.table.definition().columns[place.column].sql_type;
        let Some((zone, group_zones)) = chunk_zones(sql_type, &batches) else {
            let what = format!("{}: its text passes 4 GiB", place.describe());
            return self.find(INVARIANT, name, page, what);
        };
        let pairs = chunk.group_zones.iter().zip(&group_zones);
        for (stored, actual) in pairs.chain([(&chunk.zone, &zone)]) {
            if let Some(what) = zone_error(stored, actual) {
                self.find(
                    "zones_bound_their_values",
                    name,
                    page,
                    place.describe() + ": " + &what,
                );
            }
        }
    }

    /// What a table's root says of a column follows from its row groups.
    fn column_summaries_cover_their_row_groups(
        &mut self,
        table: &ColumnTable,
        state: &TableState,
        row_groups: &[Arc<RowGroup>],
    ) {
        for (index, summary) in state.root.columns.iter().enumerate() {
            let chunks = || row_groups.iter().map(|row_group| &row_group.columns[index]);
            let sum = |value: fn(&ColumnChunk) -> u64| chunks().map(value).sum::<u64>();
            let sums = [
                (
                    "NULLs",
                    summary.zone.null_count,
                    sum(|chunk| chunk.zone.null_count),
                ),
                ("raw bytes", summary.raw_bytes, sum(|chunk| chunk.raw_bytes)),
                (
                    "encoded bytes",
                    summary.encoded_bytes,
                    sum(|chunk| chunk.encoded_bytes),
                ),
            ];
            let mut errors: Vec<String> = sums
                .iter()
                .filter(|(_, found, expected)| found != expected)
                .map(|(what, found, expected)| {
                    format!("{found} {what}, its row groups have {expected}")
                })
                .collect();
            for (row_group, chunk) in row_groups.iter().zip(chunks()) {
                let empty = chunk.zone.null_count == row_group.row_count;
                let widened = ZoneBounds {
                    null_count: summary.zone.null_count,
                    ..chunk.zone.clone()
                };
                errors.extend(zone_error(&summary.zone, &widened).filter(|_| !empty));
            }
            let definition = table.definition();
            for error in errors {
                let what = format!("column {:?}: {error}", definition.columns[index].name);
                let invariant = "column_summaries_cover_their_row_groups";
                self.find(invariant, &definition.name, None, what);
            }
        }
    }

    /// Each shared dictionary has the bytes and the fingerprint that the root says. Whether codes are within is seen with the segments.
    fn shared_dictionaries_are_readable(&mut self, table: &ColumnTable, state: &TableState) {
        let name = &table.definition().name;
        for (column, summary) in state.root.columns.iter().enumerate() {
            for dictionary in &summary.dictionaries {
                let (fingerprint, pages) = (dictionary.fingerprint, &dictionary.pages);
                let owner = format!("column {column}, dictionary {fingerprint:016x}");
                self.pages_are_referenced_once(name, pages, &owner);
                let read = |pages: &[_]| table.source().read(pages);
                let read = table.shared_dictionary(column, fingerprint, read);
                let page = pages.first().copied();
                self.readable("shared_dictionary_is_readable", name, page, read);
            }
        }
    }

    /// As many row groups refer to a shared dictionary as the root says: their last one frees it.
    fn shared_dictionaries_are_used(
        &mut self,
        table: &ColumnTable,
        state: &TableState,
        row_groups: &[Arc<RowGroup>],
    ) {
        let name = &table.definition().name;
        for (column, summary) in state.root.columns.iter().enumerate() {
            for dictionary in &summary.dictionaries {
                let (fingerprint, expected) = (dictionary.fingerprint, dictionary.row_group_count);
                let named = row_groups
                    .iter()
                    .filter(|row_group| row_group.columns[column].dictionary == Some(fingerprint));
                let found = named.count() as u64;
                if found != expected {
                    let what = format!(
                        "column {column}, dictionary {fingerprint:016x}: {expected} row groups, {found} refer to it"
                    );
                    let page = dictionary.pages.first().copied();
                    self.find("shared_dictionaries_are_used", name, page, what);
                }
            }
        }
    }

    /// Notes the pages of trees; whether all inner pages could be read.
    fn trees(&mut self, pin: &Pin, snapshot: &Snapshot) -> bool {
        let list = stored_dictionaries(pin).map_err(EngineError::from);
        let page = Some(DICTIONARY_LIST_PAGE);
        let list = self.readable("dictionary_list_is_readable", "", page, list);
        let mut all_read = list.is_some();
        let mut dictionaries = list.unwrap_or_default().trees;
        for tree in snapshot.catalog().all_trees() {
            let mut pages = HashSet::new();
            let added = add_stored_pages(pin, tree.root, &mut pages).map_err(EngineError::from);
            let added = self.readable("tree_is_readable", "", Some(tree.root), added);
            all_read &= added.is_some();
            for page in dictionaries.remove(&tree.id).unwrap_or_default() {
                self.dictionary_is_readable(pin, tree.id, page);
                pages.insert(page);
            }
            for page in pages {
                let owner = format!("tree {}", tree.id);
                if let Some(other) = self.owners.insert(page, owner.clone()) {
                    let what = format!("it belongs to {owner} and to {other}");
                    self.find("pages_are_referenced_once", "", Some(page), what);
                }
            }
        }
        all_read
    }

    fn dictionary_is_readable(&mut self, pin: &Pin, tree: u64, page: PageId) {
        let payload = pin.read(page).map_err(|error| error.to_string());
        let content = payload.and_then(|payload| {
            let content = decode_dictionary(&payload).map_err(|error| error.to_string())?;
            ZstdDictionary::from_bytes(content).map_err(|error| error.to_string())
        });
        if let Err(what) = content {
            let what = format!("dictionary of tree {tree}: {what}");
            self.find("dictionary_is_readable", "", Some(page), what);
        }
    }

    /// A page belongs to a table, to the log, or to a transaction that has left the staging mark.
    fn live_pages_are_referenced(&mut self, pin: &Pin) {
        let Some(mark) = self.staging_mark_is_readable(pin) else {
            return;
        };
        let is_staged = |page: PageId| mark.is_some_and(|mark| page >= mark.first_page);
        for page in pin.pages() {
            let is_known = [LOG_ROOT_PAGE, STAGING_PAGE, DICTIONARY_LIST_PAGE].contains(&page)
                || self.owners.contains_key(&page)
                || is_staged(page);
            // What the log makes of its pages is seen when it is opened.
            if !is_known && !matches!(pin.kind(page), Ok(PageKind::Log)) {
                let what = "no table refers to it; its space is lost".to_owned();
                self.find("live_pages_are_referenced", "", Some(page), what);
            }
        }
    }

    fn staging_mark_is_readable(&mut self, pin: &Pin) -> Option<Option<StagingMark>> {
        let page = Some(STAGING_PAGE);
        let mark = staging_mark(pin);
        self.readable("staging_mark_is_readable", "", page, mark)
    }
}

/// The block of a row group, if it has one, read once for all its columns. Nothing if it cannot be read, or has more pages than its segments need: whoever
/// reads a column reports that.
fn block_of(table: &ColumnTable, row_group: &RowGroup) -> Option<Arc<[u8]>> {
    let page_count = row_group.block.len() as u64;
    let page_count_max = row_group
        .encoded_bytes()
        .div_ceil(MAX_PAYLOAD_BYTES as u64)
        .max(1);
    if !row_group.has_block() || page_count > page_count_max {
        return None;
    }
    table.source().read(&row_group.block).ok()
}

/// All rows of one column of one row group, as batches of that column alone.
fn decode_column(
    place: &ColumnChunkName<'_>,
    row_group: &RowGroup,
) -> Result<Vec<RecordBatch>, ScanError> {
    let mut options = ScanOptions {
        projection: vec![place.column],
        ..ScanOptions::default()
    };
    let known = place.block.map(|block| KnownPages {
        ids: row_group.block.clone(),
        payload: Arc::clone(block),
    });
    if known.is_some() {
        options.read_ahead_bytes = 0;
    }
    let row_groups = place.row_group..place.row_group + 1;
    let table = Arc::clone(place.table);
    let scan = SharedTableScan::start_with(table, options, row_groups, false, known)?;
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next()? {
        batches.push(batch);
    }
    Ok(batches)
}

/// How a stored zone fails to bound what an actual zone bounds, if it does.
fn zone_error(stored: &ZoneBounds, actual: &ZoneBounds) -> Option<String> {
    if stored.null_count != actual.null_count {
        return Some(format!(
            "{} NULLs, expected {}",
            stored.null_count, actual.null_count
        ));
    }
    let above = match (&stored.min, &actual.min) {
        (Some(stored), Some(actual)) => compare(stored, actual).is_none_or(|order| order.is_gt()),
        (stored, actual) => stored.is_some() && actual.is_none(),
    };
    if above {
        return Some(format!(
            "lower bound {:?}, values go down to {:?}",
            stored.min, actual.min
        ));
    }
    let below = match (&stored.max, &actual.max) {
        (Some(stored), Some(actual)) => compare(stored, actual).is_none_or(|order| order.is_lt()),
        (stored, actual) => stored.is_some() && actual.is_none(),
    };
    below.then(|| {
        format!(
            "upper bound {:?}, values go up to {:?}",
            stored.max, actual.max
        )
    })
}
