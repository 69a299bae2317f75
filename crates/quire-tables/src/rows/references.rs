//! Foreign keys, checked and acted upon at the end of a statement.
//!
//! A row that refers holds a shared lock on the row that it refers to, and a row that is deleted or gets another key is locked
//! exclusively. So whoever deletes waits for those who have inserted references and are not committed, and the other way
//! round; what is looked up afterwards, in the newest state, stays true.

use std::collections::HashSet;
use std::sync::Arc;

use quire_format::tuple::TupleValue;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{LockWait, RowLockMode, Transaction};

use super::error::RowWriteError;
use super::parts::RowParts;
use super::scan::{RowScanOptions, RowSource};
use super::table::RowTable;
use super::writer::{RowMemory, RowWriter};
use crate::definition::{ForeignKeyDefinition, ReferentialAction, TableDefinition};
use crate::row_table::{ColumnRange, Value};

/// Rows of a batch when rows that refer are looked for.
const BATCH_ROWS: usize = 1024;

/// What a statement has done that foreign keys care about.
#[derive(Default)]
pub struct ReferenceChecks {
    /// Keys that rows refer to: table, position of the foreign key, values.
    referring: HashSet<(u64, usize, Vec<Value>)>,
    gone: Vec<Gone>,
}

/// A row that was deleted or changed.
struct Gone {
    table: u64,
    before: Vec<Value>,
    /// Nothing when it was deleted.
    after: Option<Vec<Value>>,
}

impl ReferenceChecks {
    /// A row with these values, by ordinal, has come.
    pub fn inserted(&mut self, parts: &RowParts, values: &[TupleValue<'_>]) {
        for (position, key) in parts.definition.foreign_keys.iter().enumerate() {
            let columns = key.columns.iter();
            let columns = columns.map(|column| {
                let value = values.get(*column).copied().unwrap_or_default();
                let sql_type = parts.definition.columns[*column].sql_type;
                Value::of_tuple_value(value, sql_type).unwrap_or_default()
            });
            let referred: Vec<Value> = columns.collect();
            if !referred.iter().any(Value::is_null) {
                self.referring.insert((parts.id, position, referred));
            }
        }
    }

    /// A row has changed. `is_referenced` says whether any foreign key refers to the table.
    pub fn updated(
        &mut self,
        parts: &RowParts,
        before: Vec<Value>,
        after: &[TupleValue<'_>],
        is_referenced: bool,
    ) {
        self.inserted(parts, after);
        if is_referenced {
            let typed = after.iter().zip(&parts.definition.columns);
            let after = typed.map(|(value, column)| {
                Value::of_tuple_value(*value, column.sql_type).unwrap_or_default()
            });
            self.gone.push(Gone {
                table: parts.id,
                before,
                after: Some(after.collect()),
            });
        }
    }

    /// A row has gone.
    pub fn deleted(&mut self, parts: &RowParts, before: Vec<Value>, is_referenced: bool) {
        if is_referenced {
            self.gone.push(Gone {
                table: parts.id,
                before,
                after: None,
            });
        }
    }

    /// Whether there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.referring.is_empty() && self.gone.is_empty()
    }

    /// Does what the foreign keys demand.
    ///
    /// # Errors
    /// A foreign key is violated, or rows cannot be read, locked or written.
    pub fn finish(
        mut self,
        tables: &[Arc<RowParts>],
        rows: &mut Transaction,
    ) -> Result<(), RowWriteError> {
        while let Some(gone) = self.gone.pop() {
            let Some(referenced) = tables.iter().find(|table| table.id == gone.table) else {
                continue;
            };
            for table in tables {
                for position in 0..table.definition.foreign_keys.len() {
                    let key = &table.definition.foreign_keys[position];
                    if key.referenced_table == referenced.definition.name {
                        let context = Context {
                            table,
                            key,
                            referenced,
                            tables,
                        };
                        self.act(&context, &gone, rows)?;
                    }
                }
            }
        }
        for (table, position, values) in std::mem::take(&mut self.referring) {
            let Some(table) = tables.iter().find(|known| known.id == table) else {
                continue;
            };
            check_referenced(table, position, &values, tables, rows)?;
        }
        Ok(())
    }

    /// What one foreign key demands when a row is gone.
    fn act(
        &mut self,
        context: &Context<'_>,
        gone: &Gone,
        rows: &mut Transaction,
    ) -> Result<(), RowWriteError> {
        let Context {
            table,
            key,
            referenced,
            ..
        } = *context;
        let columns = &key.referenced_columns;
        let values: Vec<Value> = columns
            .iter()
            .map(|column| gone.before[*column].clone())
            .collect();
        let after: Option<Vec<Value>> = gone.after.as_ref().map(|after| {
            columns
                .iter()
                .map(|column| after[*column].clone())
                .collect()
        });
        if values.iter().any(Value::is_null) || after.as_ref() == Some(&values) {
            return Ok(());
        }
        let action = if after.is_some() {
            key.on_update
        } else {
            key.on_delete
        };
        if action == ReferentialAction::NoAction && exists(referenced, columns, &values, rows)? {
            return Ok(());
        }
        let referring = referring_rows(table, &key.columns, &values, rows)?;
        if referring.is_empty() {
            return Ok(());
        }
        let replacement: Vec<Value> = match action {
            ReferentialAction::NoAction | ReferentialAction::Restrict => {
                return Err(still_referenced(context, &values));
            }
            ReferentialAction::SetDefault => {
                let what = format!("foreign key {:?}: SET DEFAULT", key.name);
                return Err(RowWriteError::Reference(format!("{what} is not supported")));
            }
            ReferentialAction::Cascade => after.unwrap_or_default(),
            ReferentialAction::SetNull => vec![Value::Null; values.len()],
        };
        let deletes = action == ReferentialAction::Cascade && gone.after.is_none();
        let replacement = (!deletes).then_some(replacement.as_slice());
        self.change_referring(context, &referring, replacement, rows)
    }

    /// Gives rows that refer other values in the columns of the foreign key, or deletes them.
    fn change_referring(
        &mut self,
        context: &Context<'_>,
        referring: &[Box<[u8]>],
        replacement: Option<&[Value]>,
        rows: &mut Transaction,
    ) -> Result<(), RowWriteError> {
        let Context {
            table, key, tables, ..
        } = *context;
        let is_referenced = tables
            .iter()
            .any(|other| is_referenced(&table.definition.name, &other.definition));
        let mut made = RowMemory::default();
        let mut writer = RowWriter::new(Arc::clone(table), rows, &mut made);
        for row_key in referring {
            writer.lock(row_key, RowLockMode::Exclusive, LockWait::Wait)?;
            let Some(mut row) = writer.newest(row_key)? else {
                continue;
            };
            let Some(replacement) = replacement else {
                let before = writer.delete(row_key)?;
                self.deleted(table, before, is_referenced);
                continue;
            };
            for (column, value) in key.columns.iter().zip(replacement) {
                check_nullable(table, *column, value)?;
                row[*column] = value.clone();
            }
            let row: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
            let before = writer.update(row_key, &row)?;
            self.updated(table, before, &row, is_referenced);
        }
        Ok(())
    }
}

/// A foreign key, its table, and the table that it refers to.
#[derive(Clone, Copy)]
struct Context<'a> {
    table: &'a Arc<RowParts>,
    key: &'a ForeignKeyDefinition,
    referenced: &'a Arc<RowParts>,
    tables: &'a [Arc<RowParts>],
}

/// Whether a foreign key of a table refers to the table called `name`.
pub(crate) fn is_referenced(name: &str, definition: &TableDefinition) -> bool {
    definition
        .foreign_keys
        .iter()
        .any(|key| key.referenced_table == name)
}

fn check_nullable(table: &RowParts, column: usize, value: &Value) -> Result<(), RowWriteError> {
    let definition = &table.definition.columns[column];
    if value.is_null() && !definition.nullable {
        return Err(RowWriteError::Null {
            table: table.definition.name.clone(),
            column: definition.name.clone(),
        });
    }
    Ok(())
}

fn still_referenced(context: &Context<'_>, values: &[Value]) -> RowWriteError {
    let Context {
        table,
        key,
        referenced,
        ..
    } = *context;
    RowWriteError::StillReferenced {
        referenced: referenced.definition.name.clone(),
        table: table.definition.name.clone(),
        constraint: key.name.clone(),
        detail: format!(
            "Key {} is still referenced from table \"{}\".",
            described(referenced, &key.referenced_columns, values),
            table.definition.name
        ),
    }
}

/// The columns of a table with these values.
fn described(table: &RowParts, columns: &[usize], values: &[Value]) -> String {
    let mut row = vec![TupleValue::Null; table.definition.columns.len()];
    for (column, value) in columns.iter().zip(values) {
        row[*column] = value.as_tuple_value();
    }
    table.described(columns, &row)
}

/// The row that is referred to must be there; it is locked, so that it stays.
fn check_referenced(
    table: &Arc<RowParts>,
    position: usize,
    values: &[Value],
    tables: &[Arc<RowParts>],
    rows: &mut Transaction,
) -> Result<(), RowWriteError> {
    let key = &table.definition.foreign_keys[position];
    let found = tables
        .iter()
        .find(|known| known.definition.name == key.referenced_table);
    let Some(referenced) = found else {
        let what = format!(
            "table {:?} of foreign key {:?} is gone",
            key.referenced_table, key.name
        );
        return Err(RowWriteError::Reference(what));
    };
    let columns = &key.referenced_columns;
    for row_key in referring_rows(referenced, columns, values, rows)? {
        rows.lock_row(
            referenced.rows,
            &row_key,
            RowLockMode::Share,
            LockWait::Wait,
        )?;
        // Whoever had it may have deleted it or changed its key.
        if exists(referenced, columns, values, rows)? {
            return Ok(());
        }
    }
    Err(RowWriteError::NoReferenced {
        table: table.definition.name.clone(),
        constraint: key.name.clone(),
        detail: format!(
            "Key {} is not present in table \"{}\".",
            described(table, &key.columns, values),
            referenced.definition.name
        ),
    })
}

fn exists(
    table: &Arc<RowParts>,
    columns: &[usize],
    values: &[Value],
    rows: &mut Transaction,
) -> Result<bool, RowWriteError> {
    Ok(!referring_rows(table, columns, values, rows)?.is_empty())
}

/// Keys of the rows that have these values in these columns, in the newest state.
fn referring_rows(
    table: &Arc<RowParts>,
    columns: &[usize],
    values: &[Value],
    rows: &mut Transaction,
) -> Result<Vec<Box<[u8]>>, RowWriteError> {
    let table = RowTable::new(Arc::clone(table), rows.latest_view());
    table.keys_of_rows_with(columns, values, BATCH_ROWS)
}

impl RowTable {
    /// Keys of the rows that have these values, none of which is NULL, in the columns with these ordinals: by the primary key or an
    /// index that begins with the columns, else by looking at all rows.
    pub(crate) fn keys_of_rows_with(
        &self,
        columns: &[usize],
        values: &[Value],
        batch_rows: usize,
    ) -> Result<Vec<Box<[u8]>>, RowWriteError> {
        let live = self.parts.layout.live_ordinals();
        let positions = columns
            .iter()
            .filter_map(|column| live.binary_search(column).ok());
        let mut scan = self.scan(&RowScanOptions {
            projection: positions.collect(),
            with_row_key: true,
            source: self.source_of(columns, values)?,
            direction: Direction::Forward,
            batch_rows,
        })?;
        let mut found = Vec::new();
        while let Some(batch) = scan.next_batch()? {
            let (keys, arrays) = match batch.columns().split_last() {
                Some((keys, arrays)) => (keys, arrays),
                None => return Ok(found),
            };
            let keys = arrow_array::cast::AsArray::as_binary_view(keys);
            for row in 0..batch.num_rows() {
                let mut pairs = arrays.iter().zip(columns).zip(values);
                let is_equal = pairs.all(|((array, column), value)| {
                    let sql_type = self.parts.definition.columns[*column].sql_type;
                    Value::of_array(array, row, sql_type).as_ref() == Some(value)
                });
                if is_equal {
                    found.push(keys.value(row).into());
                }
            }
        }
        Ok(found)
    }

    /// Where rows with these values are, perhaps among others.
    fn source_of(&self, columns: &[usize], values: &[Value]) -> Result<RowSource, RowWriteError> {
        let layout = &self.parts.layout;
        if let Some(equal) = in_order(layout.key_ordinals(), columns, values) {
            return Ok(RowSource::Range(
                layout.key_range(&equal, ColumnRange::All)?,
            ));
        }
        for (index, known) in self.parts.indexes.iter().enumerate() {
            if let Some(equal) = in_order(known.layout.ordinals(), columns, values) {
                let range = known.layout.range(&equal, ColumnRange::All)?;
                return Ok(RowSource::Index { index, range });
            }
        }
        Ok(RowSource::Range(crate::row_table::KeyRange::all()))
    }
}

/// The values in the order of a key, if the key begins with these columns in any order.
fn in_order<'v>(
    key: &[usize],
    columns: &[usize],
    values: &'v [Value],
) -> Option<Vec<TupleValue<'v>>> {
    let first = key.get(..columns.len())?;
    let value = |ordinal: &usize| {
        let position = columns.iter().position(|column| column == ordinal)?;
        Some(values.get(position)?.as_tuple_value())
    };
    first.iter().map(value).collect()
}
