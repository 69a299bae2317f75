//! Do the trees of row tables, and of changes of column tables, say the same? Reads one committed state, with everything the log has.

use quire_codec::Corrupt;
use quire_format::tuple::TupleValue;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{Mvcc, TreeId};

use super::TableFinding;
use crate::error::{EngineError, RowScanError};
use crate::row_table::Value;
use crate::rows::{RowParts, RowTable};
use crate::snapshot::Snapshot;
use crate::table::ColumnTable;

/// The findings of one state.
struct RowChecker<'a> {
    findings: Vec<TableFinding>,
    mvcc: &'a Mvcc,
}

/// What the rows of a table make others have.
struct ExpectedEntries {
    row_count: u64,
    chunk_count: u64,
    /// Of each index, the rows whose entry it does not have.
    missing: Vec<u64>,
}

/// Checks all row tables of a state, and the changes of column tables.
pub(crate) fn check_rows(snapshot: &Snapshot, mvcc: &Mvcc) -> Vec<TableFinding> {
    let mut checker = RowChecker {
        findings: Vec::new(),
        mvcc,
    };
    for tree in snapshot.catalog().live_trees() {
        checker.tree_is_sound(TreeId::new(tree.id));
    }
    // Where a page is damaged, what it should have had is missing everywhere.
    if checker.findings.is_empty() {
        match snapshot.row_tables() {
            Ok(tables) => tables.iter().for_each(|table| checker.table(table)),
            Err(error) => checker.definition_makes_a_layout(&error),
        }
        match snapshot.tables() {
            Ok(tables) => tables.iter().for_each(|table| checker.changes(table)),
            Err(error) => checker.definition_makes_a_layout(&error),
        }
    }
    checker.findings
}

impl RowChecker<'_> {
    fn find(&mut self, invariant: &'static str, table: Option<&RowParts>, what: String) {
        self.findings.push(TableFinding {
            invariant,
            table: table.map(|parts| parts.definition.name.clone()),
            page: None,
            what,
        });
    }

    fn definition_makes_a_layout(&mut self, error: &EngineError) {
        self.find("definition_makes_a_layout", None, error.to_string());
    }

    fn tree_is_sound(&mut self, tree: TreeId) {
        match self.mvcc.check_tree(tree) {
            Ok(report) => {
                let findings = report.findings.into_iter();
                self.findings.extend(findings.map(|finding| TableFinding {
                    invariant: finding.invariant,
                    table: None,
                    page: Some(finding.page),
                    what: format!("tree {tree}: {}", finding.what),
                }));
            }
            Err(error) => self.find("tree_is_sound", None, error.to_string()),
        }
    }

    fn table(&mut self, table: &RowTable) {
        let parts = table.parts();
        let expected = match rows_are_readable(table) {
            Ok(expected) => expected,
            Err(error) => return self.find("rows_are_readable", Some(parts), error.to_string()),
        };
        for (index, missing) in parts.indexes.iter().zip(&expected.missing) {
            let name = &index.definition.key.name;
            if *missing > 0 {
                let what = format!("index {name:?} has no entry for {missing} rows");
                self.find("rows_have_their_entries", Some(parts), what);
            }
            let what = format!("index {name:?}");
            let expected = expected.row_count - missing;
            self.entries_are_those_of_rows(table, index.tree, &what, expected);
        }
        if let Some(overflow) = parts.overflow {
            let what = "the tree of long values";
            self.entries_are_those_of_rows(table, overflow, what, expected.chunk_count);
        }
    }

    /// Rows of the delta are like those of a row table; a deletion is that of a row of a row group.
    fn changes(&mut self, table: &ColumnTable) {
        let Some(delta) = table.delta() else {
            return;
        };
        self.table(delta);
        if let Err(error) = deletions_are_of_rows(table) {
            let parts = Some(&**delta.parts());
            self.find("deletions_are_of_rows", parts, error.to_string());
        }
    }

    /// As every row has an entry of its own, more entries are those of rows that are not there.
    fn entries_are_those_of_rows(
        &mut self,
        table: &RowTable,
        tree: TreeId,
        what: &str,
        expected: u64,
    ) {
        match entry_count(table, tree) {
            Ok(count) if count == expected => {}
            Ok(count) => {
                let what = format!("{what} has {count} entries, rows need {expected}");
                self.find("entries_are_those_of_rows", Some(table.parts()), what);
            }
            Err(error) => {
                let what = format!("{what}: {error}");
                self.find("entries_are_readable", Some(table.parts()), what);
            }
        }
    }
}

fn entry_count(table: &RowTable, tree: TreeId) -> Result<u64, RowScanError> {
    let mut scan = table.view().scan(tree, &[], &[], Direction::Forward)?;
    let mut count = 0;
    while scan.next_entry()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Reads the deletions of all row groups; there may be no others.
fn deletions_are_of_rows(table: &ColumnTable) -> Result<(), RowScanError> {
    let Some(changes) = table.changes() else {
        return Ok(());
    };
    let mut counts = changes.deleted_counts()?;
    for index in 0..table.row_group_count() {
        let number = table.row_group_number(index);
        if counts.remove(&number).is_some() {
            changes.deleted_rows(number, table.row_group_rows(index))?;
        }
    }
    match counts.keys().next() {
        None => Ok(()),
        Some(number) => {
            let what = format!("deletions of row group number {number}, which is not there");
            Err(Corrupt::new(what, 0).into())
        }
    }
}

/// Decodes every row, its long values too, and looks up its entries.
fn rows_are_readable(table: &RowTable) -> Result<ExpectedEntries, RowScanError> {
    let (parts, view) = (table.parts(), table.view());
    let mut expected = ExpectedEntries {
        row_count: 0,
        chunk_count: 0,
        missing: vec![0; parts.indexes.len()],
    };
    let (mut entry_key, mut entry_value) = (Vec::new(), Vec::new());
    let mut scan = view.scan(parts.rows, &[], &[], Direction::Forward)?;
    while let Some((key, tuple)) = scan.next_entry()? {
        let fetch = |chunk: &[u8], target: &mut Vec<u8>| -> Result<bool, RowScanError> {
            let Some(tree) = parts.overflow else {
                return Ok(false);
            };
            let found = view.get(tree, chunk, |bytes| target.extend_from_slice(bytes))?;
            Ok(found.is_some())
        };
        let row = parts.owned_row(key, tuple, fetch)?;
        let values: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
        expected.row_count += 1;
        let layout = &parts.layout;
        layout.visit_chunk_keys(key, tuple, |_| expected.chunk_count += 1)?;
        for (index, missing) in parts.indexes.iter().zip(&mut expected.missing) {
            let layout = &index.layout;
            layout.encode_entry(&values, key, &mut entry_key, &mut entry_value)?;
            let is_equal = |value: &[u8]| value == entry_value;
            let found = view.get(index.tree, &entry_key, is_equal)?;
            *missing += u64::from(found != Some(true));
        }
    }
    Ok(expected)
}
