//! Changed rows of column tables become row groups: when there are many, or when VACUUM says so.

use std::time::Duration;

use quire::{Connection, Database, DatabaseOptions};

use super::support::{database, rows, value};

/// How often it is looked whether a merge has ended, every 20 ms.
const LOOKS: usize = 3_000;

fn stored_rows(connection: &mut Connection) -> String {
    let sql = "SELECT sum(row_count) FROM quire_storage('t') WHERE column_name = 'i'";
    value(connection, sql)
}

/// Of 50,000 rows every third is deleted.
fn changed(connection: &mut Connection) {
    let create = "CREATE TABLE t AS SELECT i FROM generate_series(1, 50000) AS g(i)";
    rows(connection, create);
    rows(connection, "DELETE FROM t WHERE i % 3 = 0");
}

#[test]
fn many_changes_are_merged_in_the_background() {
    let mut connection = database().connect();
    changed(&mut connection);
    let is_merged = |_: &usize| {
        std::thread::sleep(Duration::from_millis(20));
        stored_rows(&mut connection) == "33334"
    };
    assert!((0..LOOKS).find(is_merged).is_some(), "it was never merged");
    let answer = value(&mut connection, "SELECT count(*) FROM t");
    assert_eq!(answer, "33334");
}

#[test]
fn without_the_background_only_vacuum_merges() {
    let options = DatabaseOptions {
        merges_in_background: false,
        ..DatabaseOptions::default()
    };
    let mut connection = Database::in_memory_with(options).unwrap().connect();
    changed(&mut connection);
    rows(&mut connection, "UPDATE t SET i = -1 WHERE i = 1");
    assert_eq!(stored_rows(&mut connection), "50000");
    assert_eq!(value(&mut connection, "SELECT count(*) FROM t"), "33334");
    rows(&mut connection, "VACUUM t");
    assert_eq!(stored_rows(&mut connection), "33334");
    let extremes = "SELECT min(i) || ' ' || max(i) FROM t";
    assert_eq!(value(&mut connection, extremes), "-1 50000");
}

/// A statement of a transaction with an older snapshot cannot know where rows have gone.
#[test]
fn a_merge_ends_older_snapshots_that_change_rows() {
    let database = database();
    let (mut old, mut other) = (database.connect(), database.connect());
    changed(&mut other);
    rows(&mut old, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(value(&mut old, "SELECT count(*) FROM t"), "33334");
    rows(&mut other, "VACUUM t");
    rows(&mut other, "DELETE FROM t WHERE i < 100");
    rows(&mut other, "CHECKPOINT");
    assert_eq!(value(&mut old, "SELECT count(*) FROM t"), "33334");
    let error = super::support::error(&mut old, "DELETE FROM t WHERE i = 1");
    assert_eq!(error.sqlstate(), "40001");
}
