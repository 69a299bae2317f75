//! Where a filter is evaluated must not show in an answer.

use quire::Database;

use crate::support::{Random, database, rows, sorted_rows, value};

/// 30,000 rows: several zones, NULLs, values that repeat, values in order.
fn table() -> Database {
    let database = database();
    rows(
        &mut database.connect(),
        "CREATE TABLE t AS SELECT i, \
           CASE WHEN i % 10 = 0 THEN NULL ELSE i % 100 END AS few, \
           (i * 7919) % 30011 AS spread, \
           CASE WHEN i % 13 = 0 THEN NULL ELSE 'name ' || (i % 50) END AS name, \
           'row ' || i AS label, \
           CAST(i AS DECIMAL(12,2)) / 4 AS amount, \
           DATE '2020-01-01' + CAST(i / 100 AS INTEGER) AS day, \
           CAST(i AS DOUBLE PRECISION) / 3 AS ratio, \
           i % 3 = 0 AS flag \
         FROM generate_series(1, 30000) AS g(i)",
    );
    database
}

fn comparison(random: &mut Random) -> &'static str {
    random.pick(&["=", "<>", "<", "<=", ">", ">="])
}

fn condition(random: &mut Random) -> String {
    let n = random.below(30_000);
    let operator = comparison(random);
    match random.below(16) {
        0 => format!("i {operator} {n}"),
        1 => format!("few {operator} {}", n % 110),
        2 => format!("spread BETWEEN {n} AND {}", n + 500),
        3 => format!("name {operator} 'name {}'", n % 60),
        4 => format!("name LIKE 'name {}%'", n % 6),
        5 => format!("label LIKE '%{}'", n % 1000),
        6 => format!("amount {operator} {}.25", n / 4),
        7 => format!("day {operator} DATE '2020-06-{:02}'", 1 + n % 28),
        8 => format!("ratio {operator} {n}.5"),
        9 => "flag".to_owned(),
        10 => "few IS NULL".to_owned(),
        11 => "name IS NOT NULL".to_owned(),
        12 => format!(
            "few IN ({}, {}, {})",
            n % 100,
            (n + 7) % 100,
            (n + 31) % 100
        ),
        13 => format!("name NOT IN ('name {}', 'name {}')", n % 50, (n + 1) % 50),
        14 => format!("few + 1 {operator} {}", n % 110),
        _ => format!("upper(name) = 'NAME {}'", n % 50),
    }
}

fn filter(random: &mut Random) -> String {
    let parts: Vec<String> = (0..1 + random.below(3))
        .map(|_| match random.below(4) {
            0 => format!("({} OR {})", condition(random), condition(random)),
            1 => format!("NOT ({})", condition(random)),
            _ => condition(random),
        })
        .collect();
    parts.join(" AND ")
}

#[test]
fn answers_do_not_depend_on_where_filters_are_evaluated() {
    let database = table();
    let mut within = database.connect();
    let mut above = database.connect();
    rows(&mut above, "SET quire.filter_pushdown = off");
    let mut unpruned = database.connect();
    rows(&mut unpruned, "SET quire.zone_pruning = off");
    let mut random = Random(7);
    for case in 0..150 {
        let filter = filter(&mut random);
        let sql = format!("SELECT count(*), sum(i), min(label), max(name) FROM t WHERE {filter}");
        let expected = sorted_rows(&mut above, &sql);
        assert_eq!(
            sorted_rows(&mut within, &sql),
            expected,
            "case {case}: {sql}"
        );
        assert_eq!(
            sorted_rows(&mut unpruned, &sql),
            expected,
            "case {case}: {sql}"
        );
    }
}

#[test]
fn simple_filters_count_what_arithmetic_says() {
    let database = table();
    let mut connection = database.connect();
    let mut count = |filter: &str| {
        value(
            &mut connection,
            &format!("SELECT count(*) FROM t WHERE {filter}"),
        )
    };
    assert_eq!(count("i > 29990"), "10");
    assert_eq!(count("i BETWEEN 8190 AND 8195"), "6");
    assert_eq!(count("few = 5"), "300");
    assert_eq!(count("few IS NULL"), "3000");
    assert_eq!(
        count("name = 'name 7'"),
        (1..=30_000)
            .filter(|i| i % 50 == 7 && i % 13 != 0)
            .count()
            .to_string()
    );
    assert_eq!(count("i < 0"), "0");
    assert_eq!(count("flag AND i <= 9"), "3");
}

/// A filter that fails on some rows fails only when one of these rows passes the others.
#[test]
fn failing_filters_see_only_rows_that_passed_the_others() {
    let database = database();
    let mut connection = database.connect();
    rows(
        &mut connection,
        "CREATE TABLE d (kind INTEGER, divisor INTEGER, word TEXT)",
    );
    rows(
        &mut connection,
        "INSERT INTO d VALUES (1, 0, 'x'), (2, 5, '12'), (2, 10, '7')",
    );
    let quotient = "SELECT count(*) FROM d WHERE 100 / divisor > 5 AND kind = 2";
    assert_eq!(value(&mut connection, quotient), "2");
    let number =
        "SELECT sum(CAST(word AS INTEGER)) FROM d WHERE CAST(word AS INTEGER) > 1 AND kind = 2";
    assert_eq!(value(&mut connection, number), "19");
}

/// A join's and a top-k's filter reach the scan while it runs; the answer is that without.
#[test]
fn filters_that_arise_while_running_change_nothing() {
    let database = table();
    let mut connection = database.connect();
    rows(
        &mut connection,
        "CREATE TABLE k AS SELECT i AS spread FROM generate_series(100, 120) AS g(i)",
    );
    for sql in [
        "SELECT count(*), sum(t.i) FROM t JOIN k ON t.spread = k.spread",
        "SELECT label FROM t ORDER BY spread DESC, i LIMIT 5",
        "SELECT t.name, count(*) FROM t JOIN k ON t.spread = k.spread GROUP BY t.name ORDER BY 2 DESC, 1 LIMIT 3",
    ] {
        let with = rows(&mut connection, sql);
        rows(&mut connection, "SET quire.filter_pushdown = off");
        assert_eq!(rows(&mut connection, sql), with, "{sql}");
        rows(&mut connection, "SET quire.filter_pushdown = on");
        assert!(!with.is_empty());
    }
}

/// Texts of a dictionary: of a few rows each is looked up, of many an array of all is made.
#[test]
fn few_rows_of_a_dictionary_have_the_texts_of_all() {
    let database = database();
    let mut connection = database.connect();
    rows(
        &mut connection,
        "CREATE TABLE d AS SELECT i, CASE WHEN i % 17 = 0 THEN NULL ELSE md5(CAST(i % 3000 AS TEXT)) END AS code FROM generate_series(1, 30000) AS g(i)",
    );
    let codec = "SELECT DISTINCT codec FROM quire_storage('d') WHERE column_name = 'code'";
    assert_eq!(value(&mut connection, codec), "dictionary");
    let (one, two) = (
        "c4ca4238a0b923820dcc509a6f75849b",
        "c81e728d9d4c2f636f067f89cc14862c",
    );
    let of = |condition: &str| format!("SELECT i, code FROM d WHERE {condition}");
    let mut found = |condition: &str| sorted_rows(&mut connection, &of(condition));
    assert_eq!(found("i = 9001"), [["9001", one]]);
    assert_eq!(
        found("i IN (2, 17, 9001)"),
        [["17", "NULL"], ["2", two], ["9001", one]]
    );
    assert_eq!(found(&format!("i < 20 AND code = '{one}'")), [["1", one]]);
    assert_eq!(
        found("i BETWEEN 16 AND 18 AND code IS NULL"),
        [["17", "NULL"]]
    );
    // All of them, and then few again.
    let all = format!(
        "SELECT count(*), count(code), count(*) FILTER (WHERE code = '{one}'), count(DISTINCT code) FROM d"
    );
    assert_eq!(
        rows(&mut connection, &all),
        [["30000", "28236", "9", "3000"]]
    );
    let few = format!(
        "SELECT i, code FROM d WHERE code = '{two}' AND i > 27000 UNION ALL SELECT i, code FROM d WHERE i = 1"
    );
    assert_eq!(
        sorted_rows(&mut connection, &few),
        [["1", one], ["27002", two]]
    );
}
