//! Groups of a key in whose order a table lies, beside those that are found in hash tables and beside sums made by hand.

use quire::{Connection, Database, DatabaseOptions};

use crate::support::{connected, explained, rows, sorted_rows};

const ROWS: i64 = 49 * ZONE_ROWS;
/// Rows that have a zone.
const ZONE_ROWS: i64 = 8192;

/// Rows of four to each key: in order or jumbled within each zone, with keys that follow each other or lie far apart.
fn tables(memory_bytes: usize) -> Database {
    let options = DatabaseOptions {
        memory_bytes,
        cache_bytes: 32 << 20,
        threads: 2,
        ..DatabaseOptions::default()
    };
    let database = Database::in_memory_with(options).unwrap();
    let mut connection = database.connect();
    let jumbled = format!("(i / {ZONE_ROWS} * {ZONE_ROWS} + i * 5 % {ZONE_ROWS}) / 4");
    for (name, key) in [
        ("dense", "i / 4".to_owned()),
        ("dense_jumbled", jumbled.clone()),
        ("sparse", "i / 4 * 100000".to_owned()),
        ("sparse_jumbled", format!("{jumbled} * 100000")),
    ] {
        rows(
            &mut connection,
            &format!(
                "CREATE TABLE {name} AS SELECT CAST({key} AS BIGINT) AS k, CAST(i / 4 AS INTEGER) AS narrow, i AS v, \
                   CASE WHEN i % 3 = 0 THEN NULL ELSE CAST(i % 1000 AS INTEGER) END AS w \
                 FROM generate_series(0, {}) AS g(i)",
                ROWS - 1
            ),
        );
    }
    database
}

const TABLES: [&str; 4] = ["dense", "dense_jumbled", "sparse", "sparse_jumbled"];

fn merges(connection: &mut Connection, sql: &str) -> bool {
    explained(connection, "", sql).contains("merged aggregate")
}

#[test]
fn every_group_has_all_of_its_rows() {
    let database = tables(1 << 30);
    let mut connection = database.connect();
    for table in TABLES {
        let groups =
            format!("SELECT k, sum(v) AS s, count(*) AS c, count(w) AS w FROM {table} GROUP BY k");
        let sql = format!("SELECT count(*), sum(s), min(c), max(c), sum(w) FROM ({groups}) AS g");
        assert!(merges(&mut connection, &sql), "{table}");
        let with_value = ROWS - (ROWS + 2) / 3;
        let expected = [ROWS / 4, ROWS * (ROWS - 1) / 2, 4, 4, with_value];
        let expected = expected.map(|it| it.to_string());
        assert_eq!(rows(&mut connection, &sql), [expected], "{table}");
    }
}

#[test]
fn groups_are_those_of_other_operators() {
    let database = tables(1 << 30);
    let mut merged = database.connect();
    let mut small_batches = connected(&database, &["SET batch_rows = 64"]);
    let mut others = connected(
        &database,
        &[
            "SET quire.hashed_groups = off",
            "SET quire.vector_aggregates = off",
        ],
    );
    for table in TABLES {
        for sql in [
            format!(
                "SELECT k, sum(v), avg(v), min(w), max(v), count(w) FROM {table} GROUP BY k HAVING sum(v) % 7 = 0"
            ),
            format!(
                "SELECT narrow, min(v) AS least FROM {table} WHERE v % 3 <> 0 GROUP BY narrow ORDER BY least DESC LIMIT 20"
            ),
            format!(
                "SELECT k % 10, count(*), sum(s) FROM (SELECT k, sum(w) AS s FROM {table} GROUP BY k) AS g GROUP BY 1"
            ),
            // Each group is looked for in a table with the same keys.
            format!(
                "SELECT count(*), sum(g.s), sum(t.v) FROM (SELECT k, sum(v) AS s FROM {table} GROUP BY k) AS g JOIN {table} AS t ON t.k = g.k"
            ),
        ] {
            let expected = sorted_rows(&mut others, &sql);
            for connection in [&mut merged, &mut small_batches] {
                assert!(sorted_rows(connection, &sql) == expected, "{sql}");
            }
        }
    }
}

#[test]
fn groups_that_do_not_fit_into_memory_are_split() {
    let mut connection = tables(32 << 20).connect();
    for table in TABLES {
        let groups =
            format!("SELECT k, sum(v) AS s, max(v) AS m, min(w) AS w FROM {table} GROUP BY k");
        let sql = format!("SELECT count(*), sum(s), max(m) FROM ({groups}) AS g");
        let expected = [ROWS / 4, ROWS * (ROWS - 1) / 2, ROWS - 1].map(|it| it.to_string());
        assert_eq!(rows(&mut connection, &sql), [expected], "{table}");
    }
}

/// Rows that have changed lie anywhere, and few groups are found fast enough.
#[test]
fn only_tables_that_lie_in_order_are_merged() {
    let database = tables(1 << 30);
    let mut connection = database.connect();
    let sql = "SELECT k, sum(v) FROM dense GROUP BY k HAVING sum(v) > 10";
    assert!(merges(&mut connection, sql));
    let few = "SELECT v / 100000 AS k, sum(v) FROM dense GROUP BY 1 HAVING sum(v) > 10";
    assert!(!merges(&mut connection, few));
    rows(&mut connection, "UPDATE dense SET v = v + 1 WHERE v = 77");
    assert!(!merges(&mut connection, sql));
    rows(
        &mut connection,
        "CREATE TABLE mixed AS SELECT k, v FROM dense ORDER BY v % 1000, v",
    );
    assert!(!merges(&mut connection, &sql.replace("dense", "mixed")));
}
