//! Changes of rows of column tables, and their merges into row groups.

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use quire_kv::{mvcc::LockWait, mvcc::RowLockMode};
use quire_tables::row_table::TupleValue;
use quire_tables::{Insertion, MergeOptions, ScanOptions, TableRowWriter, Transaction};

use super::rows::{Row, random_rows};
use crate::random::TestRandom;

/// Deletes and changes some rows of a table, and adds a few; `rows` are those that it has, in any order.
///
/// # Errors
/// The message of the engine.
pub(crate) fn change_rows(
    transaction: &mut Transaction,
    random: &mut TestRandom,
    name: &str,
    rows: &mut Vec<Row>,
) -> Result<(), String> {
    let mut table = transaction.snapshot().table(name).map_err(text)?;
    if table.as_ref().is_some_and(|table| table.delta().is_none()) {
        transaction.prepare_changes(name).map_err(text)?;
        table = transaction.snapshot().table(name).map_err(text)?;
    }
    let table = table.ok_or("the column table is not there")?;
    let delta = table.delta().ok_or("the table has no delta")?;
    let options = ScanOptions {
        projection: vec![0, 1, 2],
        ..ScanOptions::default()
    };
    let scan = table.scan(options).map_err(text)?;
    let mut reader = scan.reader();
    let mut writer = transaction.row_writer(delta.parts());
    let share = [2, 20, 60][random.below(3) as usize];
    rows.clear();
    while let Some(batch) = reader.next().map_err(text)? {
        let numbers = batch.column(0).as_primitive::<Int64Type>();
        let texts = batch.column(1).as_string_view();
        let keys = batch.column(2).as_binary_view();
        for row in 0..batch.num_rows() {
            let value = texts.is_valid(row).then(|| texts.value(row).to_owned());
            let before = (numbers.value(row), value);
            if !random.chance(share) {
                rows.push(before);
                continue;
            }
            let key = keys.value(row);
            let locked = writer.lock(key, RowLockMode::Exclusive, LockWait::Wait);
            if locked.map_err(text)? != Some(true) {
                return Err("a row that nobody else changes has changed".to_owned());
            }
            if random.chance(50) {
                writer.delete(key).map_err(text)?;
            } else {
                let after = (before.0, Some(format!("changed {}", random.below(1000))));
                writer.update(key, &values(&after)).map_err(text)?;
                rows.push(after);
            }
        }
    }
    add_few(&mut writer, random, rows)
}

fn add_few(
    writer: &mut TableRowWriter<'_>,
    random: &mut TestRandom,
    rows: &mut Vec<Row>,
) -> Result<(), String> {
    for row in random_rows(random).into_iter().take(20) {
        match writer.insert(&values(&row)).map_err(text)? {
            Insertion::Inserted(_) => rows.push(row),
            Insertion::Conflict(_) => return Err("a row without key is there twice".to_owned()),
        }
    }
    Ok(())
}

/// Merges the changes of a table, all or those of some row groups.
///
/// # Errors
/// The message of the engine.
pub(crate) fn merge(
    transaction: &mut Transaction,
    random: &mut TestRandom,
    name: &str,
) -> Result<(), String> {
    let options = MergeOptions {
        deleted_share: [0.0, 0.3][random.below(2) as usize],
        ..MergeOptions::default()
    };
    transaction.merge_changes(name, options).map_err(text)?;
    Ok(())
}

fn values(row: &Row) -> [TupleValue<'_>; 2] {
    let text = row.1.as_deref();
    let text = text.map_or(TupleValue::Null, |text| TupleValue::Bytes(text.as_bytes()));
    [TupleValue::Integer(row.0), text]
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
