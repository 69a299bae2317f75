//! Groups in a hash table, in memory and in parts, beside those of DataFusion's operators and beside counts made by hand.

use quire::{Connection, Database, DatabaseOptions};

use crate::support::{Random, database, explained, rows, sorted_rows};

/// 30,000 rows with keys of many types, few and many values, and NULLs.
fn keys() -> Database {
    let database = database();
    rows(
        &mut database.connect(),
        "CREATE TABLE t AS SELECT i, \
           CAST(CASE WHEN i % 7 = 0 THEN NULL ELSE i % 90 END AS SMALLINT) AS small, \
           CAST(i * 7919 % 20011 - 10000 AS INTEGER) AS whole, \
           CASE WHEN i % 11 = 0 THEN NULL ELSE i % 4000 * 92233720368 END AS large, \
           CAST(i % 300 * 1000000000000.25 AS DECIMAL(38,2)) AS amount, \
           i % 3 = 0 AS flag, \
           DATE '2020-01-01' + CAST(i % 400 AS INTEGER) AS day, \
           TIMESTAMP '2020-01-01 00:00:00' + (i % 250) * INTERVAL '1 minute' AS instant, \
           (i % 13) / 4.0 AS exact, \
           CASE WHEN i % 5 = 0 THEN NULL ELSE 'k' || i % 1000 END AS short, \
           CASE WHEN i % 3 = 0 THEN '' ELSE repeat('a', 20) || i % 5000 || 'z' END AS long \
         FROM generate_series(1, 30000) AS g(i)",
    );
    database
}

/// Of which distinct values are counted. Those of expressions are DataFusion's, which keeps much for each group.
const COUNTED: [&str; 8] = [
    "small", "whole", "large", "amount", "day", "exact", "short", "long",
];

fn query(random: &mut Random) -> String {
    let all = [
        "small",
        "whole",
        "large",
        "amount",
        "flag",
        "day",
        "instant",
        "exact",
        "short",
        "long",
        "whole % 5",
        "long || short",
        "CAST(small AS DOUBLE PRECISION)",
        "CAST(-0.0 AS REAL) * small",
        "ARRAY[flag, small > 40]",
        "ROW(day, short)",
        "(i % 50) * INTERVAL '1 hour'",
    ];
    let keys: Vec<&str> = (0..1 + random.below(4))
        .map(|_| random.pick(&all))
        .collect();
    let keys = keys.join(", ");
    let aggregates: Vec<&str> = (0..random.below(4))
        .map(|_| {
            random.pick(&[
                "count(*)",
                "sum(i)",
                "avg(whole)",
                "min(long)",
                "max(short)",
                "count(DISTINCT small)",
                "sum(amount) FILTER (WHERE flag)",
                "count(large) FILTER (WHERE i % 2 = 0)",
                "bool_or(flag)",
                "CAST(stddev(i) AS DECIMAL(20,6))",
                "max(instant)",
                "string_agg(short, ',' ORDER BY i DESC)",
                "array_agg(DISTINCT small ORDER BY small)",
            ])
        })
        .collect();
    let selected = aggregates
        .iter()
        .fold(keys.clone(), |all, one| format!("{all}, {one}"));
    let filter = random.pick(&["", " WHERE i < 500", " WHERE flag", " WHERE i < 0"]);
    let value = random.pick(&COUNTED);
    match random.below(12) {
        0 => format!("SELECT DISTINCT {keys} FROM t{filter}"),
        9 | 10 => format!(
            "SELECT {keys}, count(DISTINCT {value}), max(DISTINCT {value}) FROM t{filter} GROUP BY {keys}"
        ),
        11 => format!(
            "SELECT {keys}, count(DISTINCT {value}) FROM t JOIN (SELECT i AS other FROM t) AS o ON other = i / 2{filter} GROUP BY {keys}"
        ),
        2 => format!("SELECT {selected} FROM t{filter} GROUP BY CUBE ({keys})"),
        3 => format!("SELECT {selected} FROM t{filter} GROUP BY GROUPING SETS (({keys}), (), ())"),
        // Rows in the order of their keys.
        4 => format!(
            "SELECT short, small, count(*), max(r) FROM (SELECT *, row_number() OVER (PARTITION BY short, small ORDER BY i) AS r FROM t{filter}) AS w GROUP BY short, small"
        ),
        1 => format!(
            "SELECT {selected} FROM t JOIN (SELECT DISTINCT i AS other FROM t) AS o ON other = i{filter} GROUP BY {keys}"
        ),
        _ => format!("SELECT {selected} FROM t{filter} GROUP BY {keys}"),
    }
}

#[test]
fn groups_do_not_depend_on_the_table_they_are_found_in() {
    let database = keys();
    let mut hashed = database.connect();
    rows(&mut hashed, "SET quire.direct_groups = off");
    let mut small_batches = database.connect();
    rows(&mut small_batches, "SET batch_rows = 64");
    let mut others = database.connect();
    rows(&mut others, "SET quire.hashed_groups = off");
    let mut random = Random(5);
    for case in 0..120 {
        let sql = query(&mut random);
        let expected = sorted_rows(&mut others, &sql);
        for connection in [&mut hashed, &mut small_batches] {
            assert!(
                sorted_rows(connection, &sql) == expected,
                "case {case}: {sql}"
            );
        }
    }
}

#[test]
fn groups_of_texts_and_of_several_keys_are_found_in_a_hash_table() {
    let database = keys();
    let mut connection = database.connect();
    let mut hashed = |sql: &str| {
        let plan = explained(&mut connection, "", sql);
        plan.matches("hashed aggregate").count()
    };
    assert_eq!(hashed("SELECT long, count(*) FROM t GROUP BY long"), 2);
    assert_eq!(hashed("SELECT DISTINCT large, day FROM t"), 2);
    assert_eq!(
        hashed("SELECT short, flag, min(long) FROM t GROUP BY 1, 2"),
        2
    );
    // A literal is a text of another form.
    let kinds = "SELECT 'few' AS kind FROM t UNION ALL SELECT 'many' FROM t";
    assert_eq!(
        hashed(&format!(
            "SELECT kind, count(*) FROM ({kinds}) AS u GROUP BY kind"
        )),
        2
    );
    assert_eq!(
        hashed("SELECT long, array_agg(i ORDER BY i) FROM t GROUP BY long"),
        2
    );
    assert_eq!(
        hashed("SELECT ARRAY[day, day], i / 4.0 FROM t GROUP BY 1, 2"),
        2
    );
    assert_eq!(hashed("SELECT DISTINCT long FROM t LIMIT 3"), 2);
    let sets = "SELECT day, flag, count(*) FROM t GROUP BY CUBE (day, flag)";
    assert!(hashed(sets) > 0);
    // What has no keys.
    assert_eq!(hashed("SELECT min(long) FROM t"), 0);
}

#[test]
fn distinct_values_are_counted_by_one_operator() {
    let mut connection = keys().connect();
    let mut distinct = |sql: &str| {
        let plan = explained(&mut connection, "", sql);
        plan.matches("distinct aggregate").count()
    };
    let by_text = "SELECT long, small, count(DISTINCT day) FROM t GROUP BY long, small";
    assert_eq!(distinct(by_text), 1);
    assert_eq!(
        distinct("SELECT short, sum(DISTINCT whole), count(DISTINCT whole) FROM t GROUP BY short"),
        1
    );
    // Another aggregate needs all rows.
    assert_eq!(
        distinct("SELECT short, count(DISTINCT whole), avg(i) FROM t GROUP BY short"),
        0
    );
    assert_eq!(distinct("SELECT DISTINCT short, long FROM t"), 0);
    rows(&mut connection, "SET threads = 1");
    let one_thread = rows(&mut connection, &format!("{by_text} ORDER BY 1, 2"));
    rows(&mut connection, "SET quire.hashed_groups = off");
    assert_eq!(
        rows(&mut connection, &format!("{by_text} ORDER BY 1, 2")),
        one_thread
    );
}

/// `DISTINCT` with a limit ends as soon as there are enough groups, whichever they are.
#[test]
fn a_limit_takes_as_many_groups_as_it_says() {
    let mut connection = keys().connect();
    for (limit, expected) in [(0, 0), (1, 1), (7, 7), (3000, 3000), (50000, 20011)] {
        let sql = format!(
            "SELECT count(*), count(DISTINCT whole) FROM (SELECT DISTINCT whole FROM t LIMIT {limit}) AS q"
        );
        let expected = format!("{expected}");
        assert_eq!(rows(&mut connection, &sql), [[expected.clone(), expected]]);
    }
}

/// 120,000 rows in 60,000 groups whose keys have more than 200 bytes each.
fn many_groups(memory_bytes: usize) -> Connection {
    let options = DatabaseOptions {
        memory_bytes,
        cache_bytes: 32 << 20,
        threads: 2,
        ..DatabaseOptions::default()
    };
    let mut connection = Database::in_memory_with(options).unwrap().connect();
    rows(
        &mut connection,
        "CREATE TABLE t AS SELECT i, i % 60000 AS k, repeat('text ', 40) || i % 60000 AS body FROM generate_series(0, 119999) AS g(i)",
    );
    connection
}

#[test]
fn groups_that_do_not_fit_into_memory_are_split() {
    let mut connection = many_groups(32 << 20);
    let groups = "SELECT body, count(*) AS c, sum(i) AS s, min(k) AS k FROM t GROUP BY body";
    // Rows k and k + 60,000 make group k.
    let sql = format!(
        "SELECT count(*), sum(c), sum(s), sum(k), count(*) FILTER (WHERE s = 2 * k + 60000 AND c = 2) FROM ({groups}) AS g"
    );
    let (keys, rows_sum) = (60_000_i64, 120_000_i64 * 119_999 / 2);
    let expected = [keys, 2 * keys, rows_sum, keys * (keys - 1) / 2, keys].map(|it| it.to_string());
    assert_eq!(rows(&mut connection, &sql), [expected]);
    let explained = explained(&mut connection, "ANALYZE", &sql);
    assert!(explained.contains("hashed aggregate"), "{explained}");
    assert!(explained.contains("spilled bytes"), "{explained}");
}

/// Every row has a value of its own, in one of 100 groups, and comes twice.
#[test]
fn distinct_values_that_do_not_fit_into_memory_are_split() {
    let mut connection = many_groups(32 << 20);
    let groups = "SELECT k % 100 AS g, count(DISTINCT body) AS c, min(DISTINCT body) AS least FROM t GROUP BY k % 100";
    let sql = format!("SELECT count(*), sum(c), min(c), max(c), min(least) FROM ({groups}) AS g");
    let least = format!("{}0", "text ".repeat(40));
    let expected = ["100", "60000", "600", "600", &least].map(str::to_owned);
    assert_eq!(rows(&mut connection, &sql), [expected]);
    let explained = explained(&mut connection, "ANALYZE", &sql);
    assert!(explained.contains("distinct aggregate"), "{explained}");
    assert!(explained.contains("spilled bytes"), "{explained}");
}

#[test]
fn groups_in_parts_are_those_in_memory() {
    let [mut little, mut plenty] = [32 << 20, 1 << 30].map(many_groups);
    for sql in [
        "SELECT body, k, count(*), max(i) FROM t GROUP BY body, k",
        "SELECT count(*), max(body) FROM (SELECT DISTINCT body, i % 2 AS two FROM t) AS d",
        "SELECT body, count(DISTINCT i % 7), avg(i) FROM t GROUP BY body",
        "SELECT body, count(DISTINCT i), min(DISTINCT i) FROM t GROUP BY body",
        "SELECT i % 3, sum(DISTINCT k), count(DISTINCT k) FROM t GROUP BY 1",
        "SELECT k % 10, min(body), max(body) FROM t GROUP BY 1",
        // Each set of the first reads the groups of the one before it; the states of the second have no bound.
        "SELECT body, k, i % 2, count(*), sum(i) FROM t GROUP BY ROLLUP (k, body, i % 2)",
        "SELECT k, i % 2, array_agg(i ORDER BY i) FROM t GROUP BY GROUPING SETS ((k), (k, i % 2))",
        "SELECT body, count(*), max(r) FROM (SELECT body, row_number() OVER (PARTITION BY body ORDER BY i) AS r FROM t) AS w GROUP BY body",
    ] {
        let expected = sorted_rows(&mut plenty, sql);
        assert!(sorted_rows(&mut little, sql) == expected, "{sql}");
    }
}
