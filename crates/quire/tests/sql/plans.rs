//! What plans must look like: where statistics answer, filters go, and joins begin.

use quire::Connection;

use crate::support::{database, rows, value};

fn plan(connection: &mut Connection, sql: &str) -> String {
    let lines = rows(connection, &format!("EXPLAIN {sql}"));
    lines
        .iter()
        .map(|line| line.join("\n"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn shop() -> Connection {
    let mut connection = database().connect();
    for sql in [
        "CREATE TABLE sale AS SELECT i AS sale, i % 1000 AS buyer, i % 50 AS item, i % 365 AS day FROM generate_series(1, 20000) AS g(i)",
        "CREATE TABLE buyer AS SELECT i AS buyer, i % 20 AS town FROM generate_series(0, 999) AS g(i)",
        "CREATE TABLE town AS SELECT i AS town, 'town ' || i AS name FROM generate_series(0, 19) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    connection
}

#[test]
fn counts_and_extremes_come_from_metadata() {
    let plan = plan(
        &mut shop(),
        "SELECT count(*), min(sale), max(sale) FROM sale",
    );
    assert!(!plan.contains("DataSourceExec"), "{plan}");
    assert!(plan.contains("20000"), "{plan}");
}

#[test]
fn filters_are_evaluated_in_the_scan() {
    let plan = plan(
        &mut shop(),
        "SELECT sale FROM sale WHERE item = 3 AND day < 10",
    );
    assert!(!plan.contains("FilterExec"), "{plan}");
    assert!(plan.contains("filters=["), "{plan}");
}

/// Written from the largest table on, joined from the smallest filtered one on.
#[test]
fn joins_begin_with_what_is_small() {
    let sql = "SELECT count(*) FROM sale s JOIN buyer b ON s.buyer = b.buyer \
               JOIN town t ON b.town = t.town WHERE t.name = 'town 3'";
    let mut connection = shop();
    let chosen = plan(&mut connection, sql);
    let logical = &chosen[..chosen.find("physical_plan").unwrap()];
    let place = |table: &str| logical.find(&format!("TableScan: {table}")).unwrap();
    assert!(
        place("town") < place("sale") && place("buyer") < place("sale"),
        "{chosen}"
    );
    let physical = &chosen[chosen.find("physical_plan").unwrap()..];
    assert!(
        physical.contains("DynamicFilter"),
        "the join's filter reaches a scan: {chosen}"
    );
}

#[test]
fn the_first_rows_come_in_the_order_of_the_table() {
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE t AS SELECT i FROM generate_series(1, 200000) AS g(i)",
    );
    let first = rows(&mut connection, "SELECT * FROM t LIMIT 3");
    assert_eq!(first, [["1"], ["2"], ["3"]]);
}

#[test]
fn explain_analyze_tells_what_a_scan_did() {
    let mut connection = shop();
    let lines = rows(
        &mut connection,
        "EXPLAIN ANALYZE SELECT sum(sale) FROM sale WHERE sale > 19000",
    );
    let text = lines
        .iter()
        .map(|line| line.join(" "))
        .collect::<Vec<_>>()
        .join("\n");
    for name in ["bytes_read", "vectors_decoded", "groups_pruned"] {
        assert!(text.contains(name), "{name} in {text}");
    }
}

#[test]
fn the_tuple_engine_counts_what_it_leaves() {
    let mut connection = database().connect();
    for sql in [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER) USING row",
        "INSERT INTO t VALUES (1, 5), (2, 6)",
        "CREATE TABLE c (n INTEGER) USING column",
        "SET quire.statement_path = off",
        "SET engine = 'tuple'",
    ] {
        rows(&mut connection, sql);
    }
    assert_eq!(value(&mut connection, "SELECT id FROM t WHERE n > 5"), "2");
    // A window function, and a table of columns.
    let windows = rows(&mut connection, "SELECT sum(n) OVER () FROM t");
    assert_eq!(windows, [["11"], ["11"]]);
    assert!(rows(&mut connection, "SELECT n FROM c").is_empty());
    let counted = "SELECT tuple_queries || ' ' || left_to_batches FROM quire_engine()";
    assert_eq!(value(&mut connection, counted), "3 2");
}

#[test]
fn rows_stay_in_the_order_of_the_statement() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE t (k INTEGER, v INTEGER)",
        "CREATE SEQUENCE s",
        "INSERT INTO t SELECT i, i * 7919 % 10007 FROM generate_series(1, 30000) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    for query in [
        "SELECT v FROM t ORDER BY -v LIMIT 25000",
        "SELECT v FROM t ORDER BY -v OFFSET 5000",
        "SELECT v, random() FROM t ORDER BY -v OFFSET 5000",
        "SELECT v, random() FROM t ORDER BY v DESC, k LIMIT 25000",
        "SELECT v, nextval('s') FROM t ORDER BY v DESC, k LIMIT 25000",
        "SELECT v, k + random() FROM t ORDER BY -v LIMIT 25000",
        "SELECT v, random() FROM t WHERE k > (SELECT 0) ORDER BY -v LIMIT 25000",
        "SELECT v, random() FROM t WHERE k > (SELECT min(k) - 1 FROM t) ORDER BY -v OFFSET 5000",
        "SELECT * FROM (SELECT v FROM t ORDER BY -v OFFSET 5000) x ORDER BY v DESC",
    ] {
        let found = rows(&mut connection, query);
        let values: Vec<i64> = found.iter().map(|row| row[0].parse().unwrap()).collect();
        assert_eq!(values.len(), 25_000, "{query}");
        assert!(values.is_sorted_by(|one, next| one >= next), "{query}");
    }
}
