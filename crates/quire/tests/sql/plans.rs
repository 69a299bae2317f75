//! What plans must look like: where statistics answer, filters go, and joins begin.

use quire::Connection;
use serde_json::Value;

use crate::support::{database, error, explained, rows, value};

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
    assert!(!plan.contains("scan of"), "{plan}");
    assert!(plan.contains("20000"), "{plan}");
}

#[test]
fn filters_are_evaluated_in_the_scan() {
    let plan = plan(
        &mut shop(),
        "SELECT sale FROM sale WHERE item = 3 AND day < 10",
    );
    assert!(!plan.contains("filter ("), "{plan}");
    assert!(plan.contains("filters=["), "{plan}");
}

/// Written from the largest table on, joined from the smallest filtered one on.
#[test]
fn joins_begin_with_what_is_small() {
    let sql = "SELECT count(*) FROM sale s JOIN buyer b ON s.buyer = b.buyer \
               JOIN town t ON b.town = t.town WHERE t.name = 'town 3'";
    let mut connection = shop();
    let chosen = plan(&mut connection, sql);
    let place = |table: &str| chosen.find(&format!("scan of {table}")).unwrap();
    assert!(
        place("town") < place("sale") && place("buyer") < place("sale"),
        "{chosen}"
    );
    assert!(
        chosen.contains("DynamicFilter"),
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
    let sql = "SELECT sum(sale) FROM sale WHERE sale > 19000";
    let text = explained(&mut connection, "ANALYZE", sql);
    // What is 0 is not shown: a scan that has read ahead may have waited for nothing ("io wait us").
    for name in [
        "bytes read",
        "vectors decoded",
        "groups pruned",
        "disk bytes",
        "disk requests",
        "decode us",
    ] {
        assert!(text.contains(name), "{name} in {text}");
    }
}

/// Groups of 8,192 rows, 20,000 rows of which the zones of the last group alone have some above 19,000.
#[test]
fn scans_are_counted_by_table() {
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE t AS SELECT i FROM generate_series(1, 20000) AS g(i)",
    );
    rows(&mut connection, "CREATE TABLE unread (i INTEGER)");
    let found = rows(&mut connection, "SELECT count(*) FROM t WHERE i > 19000");
    assert_eq!(found, [["1000"]]);
    let counted = rows(
        &mut connection,
        "SELECT table_name, scans, groups_scanned, groups_pruned FROM quire_scans() ORDER BY 1",
    );
    assert_eq!(counted, [["t", "1", "1", "2"], ["unread", "0", "0", "0"]]);
    rows(&mut connection, "ALTER TABLE t RENAME TO renamed");
    let kept = rows(
        &mut connection,
        "SELECT table_name, scans FROM quire_scans() WHERE scans > 0",
    );
    assert_eq!(kept, [["renamed", "1"]]);
}

#[test]
fn how_far_a_scan_reads_ahead_is_a_setting() {
    let mut connection = database().connect();
    let shown = rows(&mut connection, "SHOW quire.read_ahead_bytes");
    assert_eq!(shown, [["33554432"]]);
    rows(&mut connection, "SET quire.read_ahead_bytes = 0");
    let shown = rows(&mut connection, "SHOW quire.read_ahead_bytes");
    assert_eq!(shown, [["0"]]);
}

/// 20,000 rows are 20 vectors of two columns. One group of 8,192 rows has the row that is asked for, one vector of it has the row.
#[test]
fn scans_decode_vectors_or_whole_segments() {
    let mut connection = database().connect();
    let create =
        "CREATE TABLE t AS SELECT i, i * 7919 % 10007 AS j FROM generate_series(1, 20000) AS g(i)";
    rows(&mut connection, create);
    assert_eq!(value(&mut connection, "SHOW quire.decompression"), "cache");
    let refused = error(&mut connection, "SET quire.decompression = 'disk'");
    assert_eq!(refused.sqlstate(), "22023");
    assert!(refused.message().contains("quire.decompression"));
    let hint = refused.hint().unwrap_or_default();
    for word in ["cache", "memory", "pool"] {
        assert!(hint.contains(word), "{hint}");
    }
    let decoded = "SELECT vectors_decoded FROM quire_scans()";
    let mut decoded_by = |how: &str| {
        rows(
            &mut connection,
            &format!("SET quire.decompression = '{how}'"),
        );
        let before: u64 = value(&mut connection, decoded).parse().unwrap();
        let found = rows(&mut connection, "SELECT j FROM t WHERE i = 17000");
        assert_eq!(found, [[(17_000 * 7_919 % 10_007).to_string()]]);
        value(&mut connection, decoded).parse::<u64>().unwrap() - before
    };
    assert_eq!(decoded_by("memory"), 40);
    assert!(decoded_by("cache") < 20);
    // What is in the pool is not decoded again.
    assert_eq!(decoded_by("pool"), 40);
    assert_eq!(decoded_by("pool"), 0);
    let counted = rows(
        &mut connection,
        "SELECT pool_hits, pool_misses FROM quire_scans()",
    );
    assert_eq!(counted, [["2", "2"]]);
    let plan = rows(
        &mut connection,
        "EXPLAIN ANALYZE SELECT j FROM t WHERE i = 17000",
    );
    let plan = plan.concat().join(" ");
    assert!(plan.contains("2 pool hits"), "{plan}");
    assert!(!plan.contains("pool misses"), "{plan}");
}

/// Rows of row groups, deleted and changed ones, in all three ways; and after the rows were written again, and others under the same name.
#[test]
fn statements_see_the_same_rows_however_scans_decode() {
    let mut connection = database().connect();
    let create = "CREATE TABLE t AS SELECT i, CASE WHEN i % 7 > 0 THEN 'name ' || (i % 1000)::TEXT END AS name FROM generate_series(1, 30000) AS g(i)";
    let query = "SELECT count(*), count(name), sum(i), min(name) FROM t WHERE i % 3 = 0";
    let steps = [
        create,
        "DELETE FROM t WHERE i BETWEEN 1000 AND 2000",
        "UPDATE t SET i = -i WHERE i % 100 = 3",
        "VACUUM",
        "DROP TABLE t",
        "CREATE TABLE t AS SELECT i * 3 AS i, 'x' AS name FROM generate_series(1, 20000) AS g(i)",
    ];
    for step in steps {
        rows(&mut connection, step);
        if step.starts_with("DROP") {
            continue;
        }
        let mut found = Vec::new();
        for how in ["cache", "memory", "pool", "pool"] {
            let set = format!("SET quire.decompression = '{how}'");
            rows(&mut connection, &set);
            found.push(rows(&mut connection, query));
        }
        found.dedup();
        assert_eq!(found.len(), 1, "{step}: {found:?}");
    }
}

/// What the operators counted is what the data has: town 3 has 50 of the 1,000 buyers.
#[test]
fn both_executors_are_explained_by_one_tree() {
    let mut connection = shop();
    let sql =
        "SELECT count(*) FROM sale JOIN buyer ON sale.buyer = buyer.buyer WHERE buyer.town = 3";
    let joined = value(&mut connection, sql);
    let json = value(
        &mut connection,
        &format!("EXPLAIN (ANALYZE, FORMAT JSON) {sql}"),
    );
    let plan = serde_json::from_str::<Value>(&json).unwrap();
    let operators = operators_of(&plan[0]["Plan"]);
    let of = |kind: &str| -> Vec<&Value> {
        let found = operators.iter().copied();
        let found = found.filter(|it| it["Node Type"].as_str().unwrap().contains(kind));
        found.collect()
    };
    let join = of("hash join")[0];
    assert_eq!(join["Actual Rows"].as_u64().unwrap().to_string(), joined);
    assert_eq!(of("scan of buyer")[0]["Actual Rows"], 50);
    assert_eq!(of("scan of buyer")[0]["Vectors Tested"], 1);
    let sale = of("scan of sale")[0];
    assert_eq!(sale["Filters Received"], 1, "{sale}");
    assert!(sale["Bytes Read"].as_u64().unwrap() > 0, "{sale}");
    assert!(sale["Plan Rows"].as_f64().unwrap() > 0.0, "{sale}");
    assert!(plan[0]["Execution Time"].as_f64().unwrap() > 0.0);
    // Not run, nothing is counted.
    let json = value(&mut connection, &format!("EXPLAIN (FORMAT JSON) {sql}"));
    let plan = serde_json::from_str::<Value>(&json).unwrap();
    for operator in operators_of(&plan[0]["Plan"]) {
        assert!(operator.get("Actual Rows").is_none(), "{operator}");
    }
    for sql in [
        "CREATE TABLE r (id INTEGER PRIMARY KEY, n INTEGER) USING row",
        "INSERT INTO r VALUES (1, 5), (2, 6), (3, 7)",
        "SET engine = 'tuple'",
    ] {
        rows(&mut connection, sql);
    }
    let json = value(
        &mut connection,
        "EXPLAIN (ANALYZE, FORMAT JSON) SELECT id FROM r WHERE n > 5",
    );
    let plan = serde_json::from_str::<Value>(&json).unwrap();
    assert_eq!(plan[0]["Plan"]["Actual Rows"], 2, "{json}");
    let operators = operators_of(&plan[0]["Plan"]);
    let scan = operators.last().unwrap();
    assert!(
        scan["Node Type"]
            .as_str()
            .unwrap()
            .starts_with("scan of r "),
        "{json}"
    );
    // It tests the condition itself, on one field of each row.
    assert_eq!(scan["Actual Rows"], 2, "{json}");
    assert_eq!(scan["Fields Decoded"], 3, "{json}");
    let refused = error(&mut connection, "EXPLAIN (FORMAT XML) SELECT 1");
    assert_eq!(refused.sqlstate(), "0A000");
}

/// An operator and all below it.
fn operators_of(operator: &Value) -> Vec<&Value> {
    let inputs = operator["Plans"].as_array().into_iter().flatten();
    let below = inputs.flat_map(operators_of);
    std::iter::once(operator).chain(below).collect()
}

/// No line is longer than a screen, but for words that are.
#[test]
fn plans_fit_a_screen() {
    let mut connection = shop();
    let sql = "SELECT s.sale, s.buyer, s.item, s.day, b.town, t.name, row_number() OVER (PARTITION BY s.item ORDER BY s.day, s.sale) \
               FROM sale s JOIN buyer b ON s.buyer = b.buyer JOIN town t ON b.town = t.town \
               WHERE s.item IN (1, 2, 3, 5, 8, 13, 21, 34) AND t.name <> 'town 3' AND s.day > 7 ORDER BY s.sale, t.name";
    let plan = plan(&mut connection, sql);
    for line in plan.lines() {
        let has_long_word = line.split_whitespace().any(|word| word.len() > 60);
        assert!(line.chars().count() <= 100 || has_long_word, "{plan}");
    }
}

/// The operators of a subplan that is computed once are shown below its first place, with what they did.
#[test]
fn shared_subplans_are_shown_once() {
    let mut connection = shop();
    let sql = "WITH g AS (SELECT buyer, sum(sale) AS total FROM sale GROUP BY buyer) \
               SELECT count(*) FROM g AS one JOIN g AS other ON one.total = other.total AND one.buyer <> other.buyer";
    let lines = rows(&mut connection, &format!("EXPLAIN ANALYZE {sql}")).concat();
    let text = lines.join("\n");
    assert_eq!(text.matches("shared subplan").count(), 2, "{text}");
    assert_eq!(text.matches("scan of sale").count(), 1, "{text}");
    let scan = lines.iter().find(|line| line.contains("scan of sale"));
    assert!(scan.unwrap().contains("20000 rows"), "{text}");
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
