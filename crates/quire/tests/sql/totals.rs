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
