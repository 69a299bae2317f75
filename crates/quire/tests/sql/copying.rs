//! COPY, and files in place of tables.

use quire::{Connection, Outcome};

use crate::support::{Folder, database, error, rows, value};

const ALL_TYPES: &str = "CREATE TABLE t (b BOOLEAN, s SMALLINT, i INTEGER, l BIGINT, r REAL, \
    d DOUBLE PRECISION, n DECIMAL(12,3), w DECIMAL(38,4), day DATE, at TIMESTAMP, \
    tz TIMESTAMPTZ, x TEXT, v VARCHAR(9))";

fn with_all_types() -> Connection {
    let mut connection = database().connect();
    rows(&mut connection, ALL_TYPES);
    rows(
        &mut connection,
        "INSERT INTO t VALUES \
         (true, -32768, 2147483647, -9223372036854775808, 1.5, -0.1, 123456789.125, \
          1234567890123456789012345678901234.5678, '1969-12-31', '2024-02-29 23:59:59.999999', \
          '2024-02-29 23:59:59+00', 'comma, \"quote\" and\nline', 'snow ☃'), \
         (false, 0, 0, 0, 0, 0, 0, 0, '2000-01-01', '2000-01-01', '2000-01-01', '', ' '), \
         (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    );
    connection
}

#[test]
fn every_type_survives_a_round_trip() {
    for name in ["t.csv", "t.parquet"] {
        let folder = Folder::new();
        let path = folder.path(name);
        let mut connection = with_all_types();
        let before = rows(&mut connection, "SELECT * FROM t");
        rows(&mut connection, &format!("COPY t TO '{path}'"));
        rows(&mut connection, "TRUNCATE t");
        rows(&mut connection, &format!("COPY t FROM '{path}'"));
        assert_eq!(rows(&mut connection, "SELECT * FROM t"), before, "{name}");
    }
}

#[test]
fn a_file_can_stand_in_place_of_a_table() {
    let folder = Folder::new();
    let path = folder.file(
        "trips.csv",
        "id,zip,day,fare\n1,01234,2024-01-05,2.50\n2,99999,2024-02-06,13.75\n",
    );
    let mut connection = database().connect();
    let sum = format!("SELECT sum(fare) FROM '{path}' WHERE id > 1");
    assert_eq!(value(&mut connection, &sum), "13.75");
    let made = connection
        .execute(&format!("CREATE TABLE trips AS SELECT * FROM '{path}'"))
        .unwrap();
    assert!(matches!(made, Outcome::Done(done) if done.row_count == Some(2)));
    let types = rows(&mut connection, "DESCRIBE trips");
    let types: Vec<&str> = types.iter().map(|row| row[1].as_str()).collect();
    // Leading zeros are not a number's.
    assert_eq!((types[1], types[2]), ("TEXT", "DATE"));
    assert_eq!(
        rows(&mut connection, "SELECT zip FROM trips ORDER BY id"),
        [["01234"], ["99999"]]
    );
    let parquet = folder.path("trips.parquet");
    rows(
        &mut connection,
        &format!("COPY (SELECT id, fare FROM trips) TO '{parquet}' (FORMAT parquet)"),
    );
    assert_eq!(
        value(
            &mut connection,
            &format!("SELECT count(*) FROM '{parquet}'")
        ),
        "2"
    );
}

/// A reader of files gives more rows at a time than a plan's batches have, here without a column.
#[test]
fn windows_count_the_rows_of_files() {
    let folder = Folder::new();
    let lines: String = (0..20_000).map(|number| format!("{number},x\n")).collect();
    let path = folder.file("many.csv", &format!("a,b\n{lines}"));
    let mut connection = database().connect();
    let sql = format!("SELECT count(*) OVER () FROM '{path}' LIMIT 1");
    assert_eq!(value(&mut connection, &sql), "20000");
    let sql = format!("SELECT max(n) FROM (SELECT row_number() OVER () AS n FROM '{path}') AS x");
    assert_eq!(value(&mut connection, &sql), "20000");
}

#[test]
fn columns_and_options_are_heeded() {
    let folder = Folder::new();
    let path = folder.file("f.txt", "x|1\nNA|2\n");
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE t (n INTEGER, other DATE, word TEXT)",
    );
    rows(
        &mut connection,
        &format!("COPY t (word, n) FROM '{path}' (DELIMITER '|', NULL 'NA', HEADER false)"),
    );
    assert_eq!(
        rows(&mut connection, "SELECT n, other, word FROM t ORDER BY n"),
        [["1", "NULL", "x"], ["2", "NULL", "NULL"]]
    );
    let out = folder.path("out.csv");
    rows(
        &mut connection,
        &format!("COPY t (word, n) TO '{out}' CSV HEADER DELIMITER ';' NULL '-'"),
    );
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "word;n\nx;1\n-;2\n");
}

/// A file without a header may be empty; of another one the header is missing.
#[test]
fn an_empty_file_without_a_header_has_no_rows() {
    let folder = Folder::new();
    let path = folder.path("empty.csv");
    std::fs::write(&path, "").unwrap();
    let mut connection = database().connect();
    for statement in [
        "CREATE TABLE keyed (id INTEGER PRIMARY KEY)".to_owned(),
        "CREATE TABLE columns (id INTEGER)".to_owned(),
        format!("COPY keyed FROM '{path}' (FORMAT csv, HEADER false)"),
        format!("COPY columns FROM '{path}' (FORMAT csv, HEADER false)"),
    ] {
        rows(&mut connection, &statement);
    }
    assert_eq!(rows(&mut connection, "SELECT count(*) FROM keyed"), [["0"]]);
    let refused = error(
        &mut connection,
        &format!("COPY keyed FROM '{path}' (FORMAT csv)"),
    );
    assert!(
        refused.message().contains("is empty"),
        "{}",
        refused.message()
    );
}

#[test]
fn a_bad_file_loads_nothing_and_says_why() {
    let folder = Folder::new();
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE t (a INTEGER, b VARCHAR(3) NOT NULL)",
    );
    for (text, sqlstate) in [
        ("a,b\n1,x\nnumber,y\n", "22P02"),
        ("a,b\n1,x\n2\n", "22P04"),
        ("a,b\n1,x\n99999999999,y\n", "22003"),
        ("a,b\n1,x\n2,\"unclosed\n", "22P04"),
        ("a,b\n1,x\n2,\n", "23502"),
        ("a,b\n1,x\n2,long\n", "22001"),
    ] {
        let path = folder.file("bad.csv", text);
        let error = error(&mut connection, &format!("COPY t FROM '{path}'"));
        assert_eq!(error.sqlstate(), sqlstate, "{text:?}: {error}");
        assert_eq!(
            value(&mut connection, "SELECT count(*) FROM t"),
            "0",
            "{text:?}"
        );
    }
    let missing = error(&mut connection, "COPY t FROM '/nowhere/at/all.csv'");
    assert_eq!(missing.sqlstate(), "58P01");
    let no_table = error(&mut connection, "COPY absent FROM 'f.csv'");
    assert!(
        no_table
            .hint()
            .unwrap()
            .contains("CREATE TABLE absent AS SELECT * FROM 'f.csv'")
    );
}

#[test]
fn bad_records_can_be_left_out() {
    let folder = Folder::new();
    let path = folder.file("f.csv", "a,b\n1,x\nnumber,y\n3,z\n");
    let mut connection = database().connect();
    rows(&mut connection, "CREATE TABLE t (a INTEGER, b TEXT)");
    let outcome = connection
        .execute(&format!("COPY t FROM '{path}' (ON_ERROR ignore)"))
        .unwrap();
    let Outcome::Done(done) = outcome else {
        panic!("rows")
    };
    assert_eq!(done.tag, "COPY 2");
    assert!(
        done.notices.iter().any(|notice| notice.contains("number")),
        "{:?}",
        done.notices
    );
}

#[test]
fn an_export_that_fails_leaves_no_file() {
    let folder = Folder::new();
    let path = folder.path("out.csv");
    let mut connection = database().connect();
    let sql = format!("COPY (SELECT 1 / (3 - value) FROM generate_series(1, 5)) TO '{path}'");
    assert_eq!(error(&mut connection, &sql).sqlstate(), "22012");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}
