//! Aggregates without keys over other rows than those of a scan, beside those of DataFusion's operator and beside sums made by hand.

use crate::support::{connected, database, error, explained, rows};

const QUERIES: [&str; 8] = [
    "SELECT count(*), sum(a.i), avg(b.i), min(a.word), max(b.word) FROM t AS a JOIN t AS b ON a.i = b.k",
    "SELECT count(DISTINCT a.k), count(a.k) FILTER (WHERE b.i > 500), sum(a.i) FILTER (WHERE FALSE) FROM t AS a JOIN t AS b ON a.i = b.i",
    "SELECT sum(n), max(n), bool_and(n > 0) FROM (SELECT count(*) AS n FROM t GROUP BY k) AS g",
    "SELECT round(stddev(n) * 1000), median(n), count(*) FROM (SELECT count(*) AS n FROM t GROUP BY k) AS g",
    "SELECT string_agg(word, ',' ORDER BY word), array_agg(k ORDER BY k) FROM (SELECT DISTINCT word, k FROM t) AS g",
    "SELECT count(*), count(n), sum(n), min(n) FROM (SELECT i AS n FROM t ORDER BY i LIMIT 0) AS g",
    "SELECT count(*) FROM (SELECT i FROM t WHERE i < 0 UNION ALL SELECT i FROM t WHERE i > 990) AS u",
    "SELECT max(total) - min(total) FROM (SELECT k, sum(i) AS total FROM t GROUP BY k HAVING sum(i) < 0) AS g",
];

#[test]
fn totals_do_not_depend_on_the_operator() {
    let database = database();
    rows(
        &mut database.connect(),
        "CREATE TABLE t AS SELECT i, i % 37 AS k, 'w' || i % 11 AS word FROM generate_series(1, 1000) AS g(i)",
    );
    let mut others = connected(&database, &["SET quire.totals = off"]);
    let mut ours = [
        connected(&database, &[]),
        connected(&database, &["SET batch_rows = 16", "SET threads = 3"]),
    ];
    for sql in QUERIES {
        let expected = rows(&mut others, sql);
        for connection in &mut ours {
            assert_eq!(rows(connection, sql), expected, "{sql}");
        }
    }
    // Of 1 to 1,000, each k up to 36 meets the 27 or 28 numbers that leave it as a rest.
    let [connection, _] = &mut ours;
    let sum: i64 = (1..=1000).map(|i: i64| i % 37).sum();
    assert_eq!(
        rows(
            connection,
            "SELECT sum(a.i), count(*) FROM t AS a JOIN t AS b ON a.i = b.k"
        ),
        [[sum.to_string(), (1000 - 1000 / 37).to_string()]]
    );
    let plan = explained(connection, "", QUERIES[0]);
    assert!(plan.contains("total aggregate"), "{plan}");
}

#[test]
fn a_filter_guards_the_arguments_of_its_aggregate() {
    let mut connection = database().connect();
    let of_ten =
        "FROM (SELECT i, count(*) AS n FROM generate_series(0, 9) AS g(i) GROUP BY i) AS u";
    assert_eq!(
        rows(
            &mut connection,
            &format!("SELECT sum(10 / i) FILTER (WHERE i > 0 AND n = 1) {of_ten}")
        ),
        [["26"]]
    );
    let failed = error(&mut connection, &format!("SELECT sum(10 / i) {of_ten}"));
    assert_eq!(failed.sqlstate(), "22012", "{failed}");
}

/// A minimum that is handed to the scan as a filter must not drop the rows of the others.
#[test]
fn extremes_of_several_values_do_not_lose_rows() {
    let database = database();
    let mut connection = connected(&database, &["SET threads = 1"]);
    // The least `a` comes first, the least `b` last; `c` is NULL at first.
    rows(
        &mut connection,
        "CREATE TABLE falling AS SELECT i AS a, 1000000 - i AS b, CASE WHEN i > 350000 THEN 1000000 - i END AS c \
           FROM generate_series(1, 600000) AS g(i)",
    );
    for (sql, expected) in [
        ("SELECT min(a), min(b + 0) FROM falling", ["1", "400000"]),
        ("SELECT min(a), min(c) FROM falling", ["1", "400000"]),
        ("SELECT min(a), max(a) FROM falling", ["1", "600000"]),
        (
            "SELECT min(a), max(b) FROM falling WHERE b < 500000",
            ["500001", "499999"],
        ),
        (
            "SELECT max(a), min(b) FROM falling AS f JOIN (VALUES (7), (9)) AS v(x) ON f.a % 10 = v.x",
            ["599999", "400001"],
        ),
        (
            "SELECT min(b), max(b + 0) FROM falling",
            ["400000", "999999"],
        ),
        (
            "SELECT min(b), max(b) FROM (SELECT b FROM falling UNION ALL SELECT b FROM falling) AS u",
            ["400000", "999999"],
        ),
        (
            "SELECT min(a) FILTER (WHERE a > 5), min(c) FROM falling",
            ["6", "400000"],
        ),
    ] {
        for threads in [1, 2] {
            rows(&mut connection, &format!("SET threads = {threads}"));
            assert_eq!(rows(&mut connection, sql), [expected], "{sql}");
        }
    }
}

/// One extreme alone, of values that rise and of values that fall.
#[test]
fn the_extreme_of_one_column_is_the_last_row_or_the_first() {
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE runs AS SELECT i AS rising, 1000000 - i AS falling, i / 8.0::DOUBLE PRECISION AS float, 'n' || 1000000 - i AS word \
           FROM generate_series(1, 600000) AS g(i)",
    );
    let sources = [
        "runs",
        "runs JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v(x) ON rising % 10 = x",
        "(SELECT * FROM runs UNION ALL SELECT * FROM runs) AS u",
    ];
    for source in sources {
        for (extreme, expected) in [
            ("min(rising)", "1"),
            ("max(rising)", "600000"),
            ("min(falling)", "400000"),
            ("max(falling)", "999999"),
            ("max(float)", "75000.0"),
            ("min(float)", "0.125"),
            ("min(word)", "n400000"),
            ("max(word)", "n999999"),
        ] {
            let sql = format!("SELECT {extreme} FROM {source}");
            assert_eq!(rows(&mut connection, &sql), [[expected]], "{sql}");
        }
    }
}

/// The term of a recursion runs several times. Each time its minimum begins anew.
#[test]
fn a_minimum_within_a_recursion_begins_anew() {
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE n AS SELECT i FROM generate_series(1, 1000) AS g(i)",
    );
    let sql = "WITH RECURSIVE r(k, least) AS (SELECT 1, 0 UNION ALL \
                 SELECT k + 1, m.least FROM r, (SELECT min(i) AS least FROM n) AS m WHERE k < 4) \
               SELECT k, least FROM r ORDER BY k";
    let expected = [["1", "0"], ["2", "1"], ["3", "1"], ["4", "1"]];
    assert_eq!(rows(&mut connection, sql), expected);
}

/// What a filter leaves out is not computed, with groups as without.
#[test]
fn a_filter_guards_the_arguments_of_its_groups() {
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE t AS SELECT i AS a FROM generate_series(1, 9) AS g(i)",
    );
    let sql = "SELECT a % 2 AS k, sum(10 / (a - 5)) FILTER (WHERE a <> 5), count(*) FROM t GROUP BY 1 ORDER BY 1";
    // 10 / -3, -1, 1, 3 and 10 / -4, -2, 2, 4.
    assert_eq!(
        rows(&mut connection, sql),
        [["0", "0", "4"], ["1", "0", "5"]]
    );
    let failed = error(
        &mut connection,
        "SELECT a % 2, sum(10 / (a - 5)) FROM t GROUP BY 1",
    );
    assert_eq!(failed.sqlstate(), "22012", "{failed}");
}
