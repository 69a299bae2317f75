//! Connections: transactions, snapshots, cancellation, progress, names and errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use quire::{Connection, Database, Outcome, Position};

use crate::support::{database, error, rows, value};

fn names(connection: &mut Connection, sql: &str) -> Vec<String> {
    match connection.execute(sql).unwrap() {
        Outcome::Rows(rows) => rows
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect(),
        Outcome::Done(done) => panic!("{done:?}"),
    }
}

fn tag(connection: &mut Connection, sql: &str) -> String {
    match connection.execute(sql).unwrap() {
        Outcome::Done(done) => done.tag,
        Outcome::Rows(_) => panic!("{sql} returns rows"),
    }
}

#[test]
fn tags_are_those_of_postgresql() {
    let mut connection = database().connect();
    assert_eq!(
        tag(&mut connection, "CREATE TABLE t (a INTEGER)"),
        "CREATE TABLE"
    );
    assert_eq!(
        tag(&mut connection, "INSERT INTO t VALUES (1), (2)"),
        "INSERT 0 2"
    );
    assert_eq!(
        tag(&mut connection, "CREATE TABLE u AS SELECT * FROM t"),
        "SELECT 2"
    );
    assert_eq!(tag(&mut connection, "BEGIN"), "BEGIN");
    assert_eq!(tag(&mut connection, "COMMIT"), "COMMIT");
    assert_eq!(tag(&mut connection, "TRUNCATE t"), "TRUNCATE TABLE");
    assert_eq!(tag(&mut connection, "DROP TABLE t, u"), "DROP TABLE");
    assert_eq!(tag(&mut connection, "SET application_name = 'x'"), "SET");
    assert_eq!(tag(&mut connection, "-- nothing"), "");
}

#[test]
fn columns_are_named_as_in_postgresql() {
    let mut connection = database().connect();
    rows(&mut connection, "CREATE TABLE t (a INTEGER, \"B\" TEXT)");
    assert_eq!(
        names(
            &mut connection,
            "SELECT a, A, \"B\", count(*) OVER (), a + 1 FROM t"
        ),
        ["a", "a", "B", "count", "?column?"]
    );
    assert_eq!(
        names(&mut connection, "SELECT *, a, t.a AS x FROM t"),
        ["a", "B", "a", "x"]
    );
    assert_eq!(
        names(
            &mut connection,
            "SELECT 1, 1, 'x', CAST(a AS TEXT), a FROM t ORDER BY t.a"
        ),
        ["?column?", "?column?", "?column?", "a", "a"]
    );
    let total = "SELECT sum FROM (SELECT sum(a) FROM t) AS totals";
    assert_eq!(names(&mut connection, total), ["sum"]);
}

#[test]
fn a_transaction_is_kept_or_lost_as_a_whole() {
    let database = database();
    let (mut one, mut other) = (database.connect(), database.connect());
    rows(&mut one, "BEGIN");
    rows(&mut one, "CREATE TABLE t (a INTEGER)");
    rows(&mut one, "INSERT INTO t VALUES (1), (2)");
    assert_eq!(value(&mut one, "SELECT count(*) FROM t"), "2");
    assert_eq!(error(&mut other, "SELECT * FROM t").sqlstate(), "42P01");
    rows(&mut one, "COMMIT");
    assert_eq!(value(&mut other, "SELECT count(*) FROM t"), "2");
    rows(&mut one, "BEGIN");
    rows(&mut one, "INSERT INTO t VALUES (3)");
    rows(&mut one, "ROLLBACK");
    assert_eq!(value(&mut one, "SELECT count(*) FROM t"), "2");
}

#[test]
fn a_failed_statement_aborts_its_transaction() {
    let mut connection = database().connect();
    rows(&mut connection, "CREATE TABLE t (a INTEGER NOT NULL)");
    rows(&mut connection, "BEGIN");
    rows(&mut connection, "INSERT INTO t VALUES (1)");
    assert_eq!(
        error(&mut connection, "INSERT INTO t VALUES (NULL)").sqlstate(),
        "23502"
    );
    assert_eq!(error(&mut connection, "SELECT 1").sqlstate(), "25P02");
    assert_eq!(tag(&mut connection, "COMMIT"), "ROLLBACK");
    assert_eq!(value(&mut connection, "SELECT count(*) FROM t"), "0");
}

#[test]
fn rows_are_those_of_the_moment_of_the_statement() {
    let database = database();
    let mut connection = database.connect();
    rows(
        &mut connection,
        "CREATE TABLE t AS SELECT i FROM generate_series(1, 100000) AS g(i)",
    );
    let Outcome::Rows(mut result) = connection.execute("SELECT i FROM t").unwrap() else {
        panic!()
    };
    let first = result.next_batch().unwrap().unwrap().num_rows();
    rows(&mut database.connect(), "DROP TABLE t");
    rows(&mut database.connect(), "VACUUM");
    let mut count = first;
    while let Some(batch) = result.next_batch().unwrap() {
        count += batch.num_rows();
    }
    assert_eq!(count, 100_000);
}

#[test]
fn rows_outlive_their_connection_and_database() {
    let database = database();
    let mut connection = database.connect();
    let Outcome::Rows(mut result) = connection
        .execute("SELECT * FROM generate_series(1, 50000)")
        .unwrap()
    else {
        panic!()
    };
    drop(connection);
    drop(database);
    let mut count = 0;
    while let Some(batch) = result.next_batch().unwrap() {
        count += batch.num_rows();
    }
    assert_eq!(count, 50_000);
}

#[test]
fn a_long_statement_can_be_cancelled() {
    let mut connection = database().connect();
    let cancel = connection.cancel_handle();
    cancel.cancel();
    let finished = Arc::new(AtomicU64::new(0));
    let is_done = Arc::clone(&finished);
    let canceller = thread::spawn(move || {
        while is_done.load(Ordering::Relaxed) == 0 {
            thread::sleep(Duration::from_millis(20));
            cancel.cancel();
        }
    });
    let sql = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b WHERE a + b = 0";
    let error = error(&mut connection, sql);
    finished.store(1, Ordering::Relaxed);
    canceller.join().unwrap();
    assert_eq!(error.sqlstate(), "57014");
    assert_eq!(value(&mut connection, "SELECT 1"), "1");
}

#[test]
fn errors_have_codes_places_and_hints() {
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE customer (name TEXT, balance DECIMAL(6,2))",
    );
    let mistyped = error(&mut connection, "SELECT nam\nFROM customer");
    assert_eq!(mistyped.sqlstate(), "42703");
    assert_eq!(mistyped.position(), Some(Position { line: 1, column: 8 }));
    assert_eq!(mistyped.hint(), Some("Perhaps you meant \"name\"."));
    let table = error(&mut connection, "SELECT 1\nFROM custommer");
    assert_eq!(
        (table.sqlstate(), table.position().unwrap().line),
        ("42P01", 2)
    );
    assert_eq!(table.hint(), Some("Perhaps you meant \"customer\"."));
    for (sql, sqlstate) in [
        ("SELEC 1", "42601"),
        ("SELECT 1 +", "42601"),
        ("SELECT nofunction(1)", "42883"),
        ("SELECT sum('x'::text)", "42883"),
        ("SELECT 1 / 0", "22012"),
        ("SELECT 5 % 0", "22012"),
        ("SELECT 1.5 / 0", "22012"),
        ("SELECT 2147483647::integer + 1::integer", "22003"),
        ("SELECT 300000::smallint", "22003"),
        ("SELECT 'abc'::integer", "22P02"),
        ("SELECT '\\xz'::bytea", "22P02"),
        (
            "SELECT 99999999999999999999999999999999999999::decimal(38,0) + 1",
            "22003",
        ),
        ("INSERT INTO customer VALUES ('x', 12345.67)", "22003"),
        ("SELECT name FROM customer c, customer d", "42702"),
        ("SELECT name, count(*) FROM customer", "42803"),
        ("CREATE TABLE customer (a INTEGER)", "42P07"),
        ("CREATE TABLE t (a INTEGER, a TEXT)", "42701"),
        ("CREATE TABLE t (a JSONB)", "0A000"),
        ("SELECT * FROM other.customer", "42P01"),
        ("INSERT INTO other.customer VALUES (1)", "3F000"),
        ("SAVEPOINT s", "25P01"),
    ] {
        assert_eq!(error(&mut connection, sql).sqlstate(), sqlstate, "{sql}");
    }
}

#[test]
fn values_are_rounded_and_cut_as_in_postgresql() {
    let mut connection = database().connect();
    // PostgreSQL 15: numeric rounds half away from zero, double precision half to even.
    for (expression, expected) in [
        ("CAST(2.5 AS INTEGER)", "3"),
        ("CAST(-2.5 AS INTEGER)", "-3"),
        ("CAST(2.5::double precision AS INTEGER)", "2"),
        ("CAST(3.5::double precision AS INTEGER)", "4"),
        ("'abcdef'::varchar(3)", "abc"),
        ("octet_length('\\x0001ff'::bytea)", "3"),
        ("mod(-7, 3)", "-1"),
        ("7 / 2", "3"),
        ("1e3::double precision = 1000", "true"),
        (
            "sum(x) FROM (VALUES (9223372036854775807), (1)) AS v(x)",
            "9223372036854775808",
        ),
    ] {
        assert_eq!(
            value(&mut connection, &format!("SELECT {expression}")),
            expected,
            "{expression}"
        );
    }
}

#[test]
fn exists_may_stand_in_a_select_list() {
    let mut connection = database().connect();
    rows(&mut connection, "CREATE TABLE t (a INTEGER)");
    rows(&mut connection, "INSERT INTO t VALUES (1), (2)");
    let sql = "SELECT a, EXISTS (SELECT 1 FROM t u WHERE u.a = t.a + 1) FROM t ORDER BY a";
    assert_eq!(rows(&mut connection, sql), [["1", "true"], ["2", "false"]]);
}

#[test]
fn tables_are_described() {
    let mut connection = database().connect();
    let sql = "CREATE TABLE \"Odd name\" (\n    a INTEGER COMPRESSION pfor NOT NULL,\n    \"B\" DECIMAL(10,2)\n);";
    rows(&mut connection, sql);
    assert_eq!(
        connection.create_statement("Odd name").unwrap().as_deref(),
        Some(sql)
    );
    assert_eq!(connection.create_statement("odd name").unwrap(), None);
    rows(
        &mut connection,
        "INSERT INTO \"Odd name\" VALUES (1, 2), (3, 4)",
    );
    let summaries = connection.tables().unwrap();
    assert_eq!(summaries[0].row_count, 2);
    let trees = "SELECT string_agg(reference, ' ') FROM quire_storage('Odd name')";
    assert_eq!(value(&mut connection, trees), "delta overflow deletions");
    rows(&mut connection, "VACUUM");
    let summaries = connection.tables().unwrap();
    assert_eq!(
        (summaries[0].name.as_str(), summaries[0].row_count),
        ("Odd name", 2)
    );
    assert!(summaries[0].bytes > 0);
    assert_eq!(
        value(
            &mut connection,
            "SELECT count(*) FROM quire_storage('Odd name')"
        ),
        "2"
    );
    assert_eq!(
        error(&mut connection, "SELECT * FROM quire_storage('none')").sqlstate(),
        "42P01"
    );
}

#[test]
fn a_read_only_database_takes_no_changes() {
    let path = std::env::temp_dir().join(format!("quire-read-only-{}.quire", std::process::id()));
    let database = Database::open(&path).unwrap();
    rows(&mut database.connect(), "CREATE TABLE t AS SELECT 1 AS a");
    drop(database);
    let options = quire::DatabaseOptions {
        read_only: true,
        ..Default::default()
    };
    let database = Database::open_with(&path, options).unwrap();
    let mut connection = database.connect();
    assert_eq!(value(&mut connection, "SELECT a FROM t"), "1");
    assert_eq!(
        error(&mut connection, "INSERT INTO t VALUES (2)").sqlstate(),
        "25006"
    );
    assert_eq!(error(&mut connection, "DROP TABLE t").sqlstate(), "25006");
    drop((connection, database));
    assert!(Database::check(&path).unwrap().findings.is_empty());
    std::fs::remove_file(&path).unwrap();
}
