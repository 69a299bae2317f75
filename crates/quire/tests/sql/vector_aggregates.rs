//! Whether aggregates are computed on stored vectors must not show in an answer.

use quire::{Connection, Database};

use crate::support::{Random, database, rows, sorted_rows, try_rows};

/// 40,000 rows, so that there are several partitions: NULLs, ends of types, text of few values.
fn table(random: &mut Random) -> Database {
    let database = database();
    let mut connection = database.connect();
    let (a, b, c) = (
        1 + random.below(50),
        1 + random.below(50),
        1 + random.below(900),
    );
    rows(
        &mut connection,
        &format!(
            "CREATE TABLE t AS SELECT i, \
               CAST(CASE WHEN i % 10 = 0 THEN NULL ELSE i * {c} % 99 - 40 END AS SMALLINT) AS small, \
               CAST(i * {c} % 100003 - 50000 AS INTEGER) AS whole, \
               CAST(CASE WHEN i % {a} = 0 THEN NULL ELSE i * 92233720368 END AS BIGINT) AS large, \
               CAST((i * {c} % 1000) / 8.0 AS DECIMAL(12,2)) AS amount, \
               CAST(CASE WHEN i % {b} = 1 THEN NULL ELSE (i % 100) / 100.0 END AS DECIMAL(5,4)) AS rate, \
               DATE '2020-01-01' + CAST(i % 40 AS INTEGER) AS day, \
               CASE WHEN i % {b} = 0 THEN NULL ELSE 'k' || (i * {a} % 9) END AS few, \
               CASE WHEN i % 2 = 0 THEN 'x' ELSE 'y' END AS two, \
               CAST(CASE WHEN i % {b} = 2 THEN NULL ELSE i / {a} * 70 END AS INTEGER) AS rising, \
               -9223372036854775807 + (40000 - i) / 3 * {c} AS falling, \
               CAST(CASE WHEN i / 10000 = 2 THEN i * 7919 % 999983 ELSE i END AS INTEGER) AS mixed \
             FROM generate_series(1, 40000) AS g(i)"
        ),
    );
    database
}

fn argument(random: &mut Random) -> String {
    let columns = ["small", "whole", "large", "amount", "rate", "i"];
    let (one, other) = (random.pick(&columns), random.pick(&columns));
    match random.below(7) {
        0 => format!("{one} + {other}"),
        1 => format!("{one} - {other}"),
        2 => format!("{one} * {other}"),
        3 => format!("{one} * (1 - {other})"),
        4 => format!("amount * (1 - rate) * ({} + rate)", random.below(3)),
        _ => one.to_owned(),
    }
}

fn query(random: &mut Random) -> String {
    let keys = [
        "few",
        "two",
        "day",
        "small",
        "few, two",
        "day, few",
        "small, two, few",
        "rate",
        "i",
        "whole",
        "large",
        "rising",
        "falling",
        "mixed",
        "upper(few)",
        "coalesce(few, 'none'), two",
        "substring(few, 2), day",
        "length(few)",
        "few = 'k3', few IS NULL",
        "CASE few WHEN 'k1' THEN 1 WHEN 'k2' THEN 7 END",
        "CASE WHEN few < 'k4' THEN two ELSE 'z' END",
        "CASE WHEN two = 'x' THEN DATE '2020-01-01' END",
    ];
    let key = random.pick(&keys);
    let mut aggregates = Vec::new();
    for _ in 0..1 + random.below(5) {
        let name = random.pick(&["count", "sum", "avg", "min", "max"]);
        aggregates.push(match random.below(8) {
            0 => "count(*)".to_owned(),
            1 => "max(day), min(day)".to_owned(),
            2 if random.below(8) == 0 => "count(DISTINCT small)".to_owned(),
            _ => format!("{name}({})", argument(random)),
        });
    }
    let aggregates = aggregates.join(", ");
    let filter = match random.below(6) {
        0 => " WHERE few = 'k3'".to_owned(),
        1 => format!(" WHERE whole > {}", random.below(60_000)),
        2 => " WHERE i < 0".to_owned(),
        3 => format!(" WHERE small IN (1, 5, {})", random.below(50)),
        _ => String::new(),
    };
    match random.below(4) {
        0 => format!("SELECT {aggregates} FROM t{filter}"),
        _ => format!("SELECT {key}, {aggregates} FROM t{filter} GROUP BY {key}"),
    }
}

fn answer(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<String>>, String> {
    match try_rows(connection, sql) {
        Ok(mut rows) => {
            rows.sort();
            Ok(rows)
        }
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn answers_do_not_depend_on_what_aggregates_are_computed_on() {
    for seed in 0..4 {
        let mut random = Random(seed);
        let database = table(&mut random);
        let mut vectors = database.connect();
        let mut direct = database.connect();
        rows(&mut direct, "SET quire.vector_aggregates = off");
        let mut batches = database.connect();
        rows(&mut batches, "SET quire.vector_aggregates = off");
        rows(&mut batches, "SET quire.direct_groups = off");
        for change in 0..3 {
            for case in 0..40 {
                let sql = query(&mut random);
                let expected = answer(&mut batches, &sql);
                for (name, connection) in [("vectors", &mut vectors), ("direct", &mut direct)] {
                    let found = answer(connection, &sql);
                    assert_eq!(
                        found, expected,
                        "seed {seed}, change {change}, case {case}, {name}: {sql}"
                    );
                }
            }
            let factor = 3 + random.below(20);
            rows(
                &mut vectors,
                &format!("DELETE FROM t WHERE i % {factor} = {change}"),
            );
            let update = format!(
                "UPDATE t SET whole = whole + 7, few = 'new {change}' WHERE i % 11 = {change}"
            );
            rows(&mut vectors, &update);
        }
    }
}

#[test]
fn groups_of_close_integers_are_found_in_an_array() {
    let database = table(&mut Random(1));
    let mut connection = database.connect();
    let mut direct = |sql: &str| {
        let plan = rows(&mut connection, &format!("EXPLAIN {sql}"));
        plan.concat().concat().matches("direct aggregate").count()
    };
    // The partial aggregation is one of vectors; two keys, a text and floats stay in a hash table.
    assert_eq!(
        direct("SELECT whole % 7, i, sum(small) FROM t GROUP BY 1, 2"),
        0
    );
    assert_eq!(direct("SELECT few, count(*) FROM t GROUP BY few"), 0);
    assert_eq!(direct("SELECT i, sum(small) FROM t GROUP BY i"), 1);
    assert_eq!(direct("SELECT i, stddev(small) FROM t GROUP BY i"), 2);
    assert_eq!(direct("SELECT i, array_agg(small) FROM t GROUP BY i"), 0);
    assert_eq!(
        direct("SELECT a.day, sum(b.i) FROM t a JOIN t b ON a.i = b.i GROUP BY a.day"),
        2
    );
    // Far more possible keys than rows.
    assert_eq!(direct("SELECT large, sum(small) FROM t GROUP BY large"), 0);
}

#[test]
fn aggregates_of_integers_are_computed_on_vectors() {
    let database = table(&mut Random(1));
    let mut connection = database.connect();
    let mut is_taken = |sql: &str| {
        let plan = rows(&mut connection, &format!("EXPLAIN {sql}"))
            .concat()
            .concat();
        plan.contains("vector aggregate")
    };
    assert!(is_taken(
        "SELECT few, two, sum(amount * (1 - rate)), avg(small) FROM t GROUP BY few, two"
    ));
    assert!(is_taken(
        "SELECT day, count(*), count(large), min(whole), max(day) FROM t GROUP BY day"
    ));
    assert!(is_taken("SELECT sum(whole + 1) FROM t WHERE few = 'k1'"));
    assert!(is_taken("SELECT whole, count(*) FROM t GROUP BY whole"));
    assert!(is_taken("SELECT rising, sum(i) FROM t GROUP BY rising"));
    // Keys computed from one text, whose values are few; not from two texts, and not what is another at each call.
    assert!(is_taken(
        "SELECT upper(few), two = 'x', count(*) FROM t GROUP BY 1, 2"
    ));
    assert!(!is_taken("SELECT few || two, count(*) FROM t GROUP BY 1"));
    assert!(!is_taken(
        "SELECT few || random(), count(*) FROM t GROUP BY 1"
    ));
    // Sums that may not fit, two keys of many values, distinct values, some of the rows.
    assert!(!is_taken("SELECT sum(large * large) FROM t"));
    assert!(!is_taken(
        "SELECT whole, mixed, count(*) FROM t GROUP BY whole, mixed"
    ));
    assert!(!is_taken(
        "SELECT count(DISTINCT small), count(DISTINCT day) FROM t"
    ));
    assert!(!is_taken(
        "SELECT sum(small) FILTER (WHERE few = 'k1') FROM t"
    ));
    let counted = sorted_rows(&mut connection, "SELECT two, count(*) FROM t GROUP BY two");
    assert_eq!(counted, [["x", "20000"], ["y", "20000"]]);
}
