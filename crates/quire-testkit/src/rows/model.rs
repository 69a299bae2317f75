//! What the database holds, and what a change of one row makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quire_tables::ReferentialAction;
use quire_tables::row_table::Value;

use super::schema::{AddedColumnState, INDEXES, REFERRING, Row, Variant};
use crate::engine::Tables;

/// The rows of a table, each with how often it is there, and the names of its indexes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ModelTableState {
    /// Rows and how many are equal.
    pub rows: BTreeMap<Arc<Row>, usize>,
    /// Names of the indexes.
    pub indexes: BTreeSet<String>,
    /// Columns behind those that it was made with.
    pub added: Vec<AddedColumnState>,
}

/// What a database holds.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelState {
    /// Row tables.
    pub tables: BTreeMap<String, ModelTableState>,
    /// Column tables.
    pub loads: Tables,
    /// The greatest value that a sequence had given before. Nobody sees it in the database.
    pub given: i64,
}

impl PartialEq for ModelState {
    fn eq(&self, other: &Self) -> bool {
        self.tables == other.tables && self.loads == other.loads
    }
}

/// A change of one row.
#[derive(Clone, Debug)]
pub(super) enum RowChange {
    Insert(Row),
    Update(Row, Row),
    Delete(Row),
}

impl ModelTableState {
    pub(super) fn add(&mut self, row: Row) {
        *self.rows.entry(Arc::new(row)).or_default() += 1;
    }

    fn remove(&mut self, row: &Row) {
        if let Some(count) = self.rows.get_mut(row) {
            *count -= 1;
            if *count == 0 {
                self.rows.remove(row);
            }
        }
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows.values().sum()
    }

    /// Every row becomes another.
    pub(super) fn change_all(&mut self, change: impl Fn(&mut Row)) {
        for (row, count) in std::mem::take(&mut self.rows) {
            let mut row = Row::clone(&row);
            change(&mut row);
            *self.rows.entry(Arc::new(row)).or_default() += count;
        }
    }
}

/// Columns of the primary key.
fn key_columns(table: &str) -> &'static [usize] {
    match table {
        "parent" => &[0],
        "child" => &[0, 1],
        _ => &[],
    }
}

impl ModelState {
    /// Does a change as a statement must; false when the statement must fail, and the state is of no use any more.
    pub(super) fn apply(&mut self, table: &str, change: &RowChange, variant: &Variant) -> bool {
        match change {
            RowChange::Insert(row) => self.insert(table, row) && self.refers_well(table, row),
            RowChange::Update(before, after) => {
                self.take(table, before);
                self.insert(table, after)
                    && self.refers_well(table, after)
                    && (table != "parent"
                        || before[0] == after[0]
                        || self.parent_gone(&before[0], Some(&after[0]), variant.on_update))
            }
            RowChange::Delete(row) => {
                self.take(table, row);
                table != "parent" || self.parent_gone(&row[0], None, variant.on_delete)
            }
        }
    }

    fn take(&mut self, table: &str, row: &Row) {
        if let Some(state) = self.tables.get_mut(table) {
            state.remove(row);
        }
    }

    fn insert(&mut self, table: &str, row: &Row) -> bool {
        let is_taken = self.is_taken(table, row);
        let Some(state) = self.tables.get_mut(table) else {
            return false;
        };
        state.add(row.clone());
        !is_taken
    }

    /// Whether a row can come.
    pub(super) fn accepts(&self, table: &str, row: &Row) -> bool {
        !self.is_taken(table, row) && self.refers_well(table, row)
    }

    /// Whether another row has a key that only one may have.
    fn is_taken(&self, table: &str, row: &Row) -> bool {
        let Some(state) = self.tables.get(table) else {
            return false;
        };
        let key = key_columns(table);
        let has_key = |other: &Row| !key.is_empty() && key.iter().all(|at| other[*at] == row[*at]);
        let mut is_taken = state.rows.keys().any(|other| has_key(other));
        for (of, name, column, is_unique, _) in INDEXES {
            if of == table && is_unique && state.indexes.contains(name) && !row[column].is_null() {
                let mut others = state.rows.keys();
                is_taken |= others.any(|other| other[column] == row[column]);
            }
        }
        is_taken
    }

    fn refers_well(&self, table: &str, row: &Row) -> bool {
        table != "child" || row[REFERRING].is_null() || self.has_parent(&row[REFERRING])
    }

    /// Whether a row refers to another.
    pub(super) fn has_references(&self) -> bool {
        let children = self.tables.get("child");
        let mut rows = children.into_iter().flat_map(|state| state.rows.keys());
        rows.any(|row| !row[REFERRING].is_null())
    }

    fn has_parent(&self, id: &Value) -> bool {
        let parents = self.tables.get("parent");
        parents.is_some_and(|parents| parents.rows.keys().any(|row| row[0] == *id))
    }

    /// What becomes of the rows that referred to a row whose key is gone.
    fn parent_gone(
        &mut self,
        id: &Value,
        new_id: Option<&Value>,
        action: ReferentialAction,
    ) -> bool {
        let Some(children) = self.tables.get_mut("child") else {
            return true;
        };
        let rows = children.rows.keys();
        let referring: Vec<Arc<Row>> = rows.filter(|row| row[REFERRING] == *id).cloned().collect();
        if action == ReferentialAction::NoAction {
            return referring.is_empty();
        }
        for row in referring {
            children.remove(&row);
            let replacement = match action {
                ReferentialAction::SetNull => Some(Value::Null),
                _ => new_id.cloned(),
            };
            if let Some(replacement) = replacement {
                let mut row = Row::clone(&row);
                row[REFERRING] = replacement;
                children.add(row);
            }
        }
        true
    }

    /// Whether a unique index on a column can be made.
    pub(super) fn is_unique(&self, table: &str, column: usize) -> bool {
        let mut seen = BTreeSet::new();
        let rows = self.tables.get(table).map(|state| &state.rows);
        let mut rows = rows.into_iter().flatten();
        rows.all(|(row, count)| row[column].is_null() || (*count == 1 && seen.insert(&row[column])))
    }

    /// A few words for messages.
    pub(super) fn describe(&self) -> String {
        let table = |(name, state): (&String, &ModelTableState)| {
            let indexes: Vec<&str> = state.indexes.iter().map(String::as_str).collect();
            format!("{name}: {} rows, {}", state.row_count(), indexes.join(" "))
        };
        let loads = self.loads.values().map(Vec::len).sum::<usize>();
        let tables: Vec<String> = self.tables.iter().map(table).collect();
        format!("[{}; {loads} rows loaded]", tables.join("; "))
    }
}
