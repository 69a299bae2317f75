//! A disk that takes no more loads lets half of the rows of a column table go, in one transaction, which is the first that the table needs
//! trees for, and then the others in steps. It takes more after a merge.

use std::sync::Arc;

use quire_store::{Disk, SimDisk};
use quire_tables::{AppendOptions, Engine, MergeOptions};

use super::fixture::{
    Row, TABLE, batch_of, change, changeable, engine_on, insert, keyed_rows, rows_of, table,
    transaction,
};

const QUOTA_BYTES: u64 = 24 << 20;

/// Rows that are much longer than what the deletion of one takes.
fn row(number: i64) -> Row {
    let mut noise = number;
    let mut words = Vec::new();
    for _ in 0..50 {
        noise = noise
            .wrapping_add(1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
        noise ^= noise >> 29;
        words.push(format!("{noise:x}"));
    }
    (number, Some(words.join(" ")))
}

fn append(engine: &Engine, first: i64, count: i64) -> Result<(), String> {
    let mut transaction = transaction(engine);
    let rows: Vec<Row> = (first..first + count).map(row).collect();
    let options = AppendOptions {
        workers: Some(1),
        row_group_rows: 500,
        ..AppendOptions::default()
    };
    let tables = transaction.tables().map_err(|error| error.to_string())?;
    let mut appender = tables.appender_with(TABLE, options).unwrap();
    let appended = appender.append(&batch_of(&rows));
    appended.map_err(|error| error.to_string())?;
    appender.finish().map_err(|error| error.to_string())?;
    transaction.commit().map_err(|error| error.to_string())
}

/// Appends until the disk takes no load of a hundred rows; the number of rows that there are then.
fn fill(engine: &Engine, first: i64) -> i64 {
    let mut end = first;
    for count in [5_000, 500, 100] {
        while append(engine, end, count).is_ok() {
            end += count;
        }
    }
    end
}

fn delete(engine: &Engine, keys: &[Vec<u8>]) {
    let mut transaction = transaction(engine);
    let table = changeable(&mut transaction);
    for key in keys {
        assert!(change(&mut transaction, &table, key, None));
    }
    transaction.commit().unwrap();
}

fn deletes_and_fills(is_deleted: impl Fn(i64, i64) -> bool) {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let engine = engine_on(&disk);
    disk.set_quota(Some(QUOTA_BYTES));
    let count = fill(&engine, 0);
    let is_deleted = |number: i64| is_deleted(number, count);
    let keyed = keyed_rows(&table(&transaction(&engine)));
    assert_eq!(keyed.len() as i64, count);
    let gone = keyed.iter().filter(|(_, row)| is_deleted(row.0));
    let gone: Vec<Vec<u8>> = gone.map(|(key, _)| key.clone()).collect();
    assert!(gone.len() as i64 >= count / 2);
    delete(&engine, &gone);
    let kept: Vec<Row> = (0..count).filter(|it| !is_deleted(*it)).map(row).collect();
    assert_eq!(rows_of(&table(&transaction(&engine))), kept);
    assert_eq!(Engine::check(engine.volume()), Vec::new());
    let rest = keyed_rows(&table(&transaction(&engine)));
    let rest: Vec<Vec<u8>> = rest.into_iter().map(|(key, _)| key).collect();
    for some in rest.chunks(1_000) {
        delete(&engine, some);
    }
    let mut merging = transaction(&engine);
    merging
        .merge_changes(TABLE, MergeOptions::default())
        .unwrap();
    merging.commit().unwrap();
    engine.clean().unwrap();
    assert_eq!(rows_of(&table(&transaction(&engine))), Vec::new());
    let more = fill(&engine, count) - count;
    assert!(more > count / 3, "{more} of {count}");
    assert!(disk.len().unwrap() <= QUOTA_BYTES);
    assert_eq!(Engine::check(engine.volume()), Vec::new());
}

#[test]
fn half_of_a_table_that_lies_together_goes_at_once() {
    deletes_and_fills(|number, count| number < count / 2);
}

#[test]
fn so_does_every_other_row() {
    deletes_and_fills(|number, _| number % 2 == 0);
}

/// What is set aside for deletions is not for rows that come.
#[test]
fn rows_that_come_are_refused() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let engine = engine_on(&disk);
    disk.set_quota(Some(QUOTA_BYTES));
    let count = fill(&engine, 0);
    let keyed = keyed_rows(&table(&transaction(&engine)));
    // It has trees from here on.
    delete(&engine, &[keyed[0].0.clone()]);
    let mut growing = transaction(&engine);
    let target = changeable(&mut growing);
    for (key, _) in &keyed[1..101] {
        assert!(change(&mut growing, &target, key, None));
    }
    for number in count..count + 400 {
        insert(&mut growing, &target, &row(number));
    }
    drop(target);
    let error = growing.commit().unwrap_err().to_string();
    assert!(error.contains("no space left"), "{error}");
    let keys: Vec<Vec<u8>> = keyed[1..].iter().map(|(key, _)| key.clone()).collect();
    delete(&engine, &keys[..keys.len() / 2]);
}
