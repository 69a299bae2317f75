//! Whether window functions are computed along sorted rows must not show in an answer.

use quire::{Connection, Database};

use crate::support::{Random, database, rows, try_rows};

/// 30,000 rows, so that partitions are larger and smaller than a batch. Sums of `huge` may have too many digits, at some row or in the end.
fn table(random: &mut Random) -> Database {
    let database = database();
    let mut connection = database.connect();
    let (a, b) = (2 + random.below(50), 2 + random.below(900));
    rows(
        &mut connection,
        &format!(
            "CREATE TABLE t AS SELECT i, \
               CAST(CASE WHEN i % 10 = 0 THEN NULL ELSE i * {b} % 99 - 40 END AS SMALLINT) AS small, \
               CAST(CASE WHEN i % {a} = 0 THEN NULL ELSE i * {b} % 100003 - 50000 END AS INTEGER) AS whole, \
               i * 307445734561 AS large, \
               CAST(CASE WHEN i % {a} = 1 THEN NULL ELSE (i * {b} % 1000) / 8.0 - 60 END AS DECIMAL(12,2)) AS amount, \
               CAST(CASE WHEN i % 300 = {a} THEN 90000000000000000000000000000000000000 WHEN i % 300 = {a} + 1 THEN -90000000000000000000000000000000000000 ELSE i END AS DECIMAL(38,0)) AS huge, \
               CAST(CASE WHEN i % 7 = 0 THEN NULL ELSE (i % 64) / 4.0 END AS DOUBLE PRECISION) AS float, \
               CAST((i % 64) / 4.0 AS REAL) AS narrow, \
               DATE '2020-01-01' + CAST(i * {b} % 40 AS INTEGER) AS day, \
               TIMESTAMP '2020-01-01 00:00:00' + CAST(i * {b} % 400 AS INTEGER) * INTERVAL '1 minute' AS time, \
               CASE WHEN i % 30 = 0 THEN NULL ELSE 'a town of many letters ' || (i * {a} % 9) END AS town, \
               CAST(i * {b} % 20011 AS INTEGER) AS many \
             FROM generate_series(1, 30000) AS g(i)"
        ),
    );
    database
}

fn call(random: &mut Random) -> String {
    let columns = [
        "small", "whole", "large", "amount", "huge", "float", "narrow", "day", "time", "town", "i",
    ];
    let summed = [
        "small", "whole", "large", "amount", "huge", "float", "narrow", "i",
    ];
    match random.below(13) {
        0 => "row_number()".to_owned(),
        1 => "rank()".to_owned(),
        2 => "dense_rank()".to_owned(),
        3 => format!("count({})", random.pick(&columns)),
        4 => format!("min({})", random.pick(&columns)),
        5 => format!("max({})", random.pick(&columns)),
        6 => format!("avg({})", random.pick(&summed)),
        7 => "count(*)".to_owned(),
        8 => {
            let functions = ["lag", "lead", "first_value", "last_value"];
            format!("{}({})", random.pick(&functions), random.pick(&columns))
        }
        9 => format!(
            "nth_value({}, {})",
            random.pick(&columns),
            1 + random.below(4)
        ),
        10 => {
            let functions = ["ntile(3)", "percent_rank()", "cume_dist()"];
            random.pick(&functions).to_owned()
        }
        11 => format!("count({}) FILTER (WHERE small > 0)", random.pick(&columns)),
        _ => format!("sum({})", random.pick(&summed)),
    }
}

/// Functions whose results depend on the order of all rows.
const OF_PLACES: [&str; 6] = [
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
    "ntile",
];

/// A query whose windows have the same keys, and different frames. A frame of rows has an order without peers.
fn query(random: &mut Random) -> String {
    let partitions = [
        "",
        "PARTITION BY town",
        "PARTITION BY town, small",
        "PARTITION BY many",
        "PARTITION BY i",
        "PARTITION BY float",
    ];
    let partition = random.pick(&partitions);
    let orders = [
        "",
        "ORDER BY day",
        "ORDER BY whole DESC, town",
        "ORDER BY i",
        "ORDER BY day, i",
    ];
    let order = random.pick(&orders);
    let frames = [
        "",
        "RANGE UNBOUNDED PRECEDING",
        "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        "ROWS UNBOUNDED PRECEDING",
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
        "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    ];
    let mut calls = Vec::new();
    for _ in 0..1 + random.below(4) {
        let function = match call(random) {
            rank if order.is_empty() && rank == "row_number()" => "rank()".to_owned(),
            rank if !order.ends_with('i') && rank == "row_number()" => "dense_rank()".to_owned(),
            // Among rows whose order is open, any may be the next, or the first.
            other
                if !order.ends_with('i')
                    && OF_PLACES.iter().any(|name| other.starts_with(name)) =>
            {
                "cume_dist()".to_owned()
            }
            function => function,
        };
        let frame = match random.pick(&frames) {
            rows if rows.starts_with("ROWS") && !order.ends_with('i') => "",
            frame => frame,
        };
        calls.push(format!("{function} OVER ({partition} {order} {frame})"));
    }
    let calls = calls.join(", ");
    let filter = match random.below(5) {
        0 => " WHERE i < 0".to_owned(),
        1 => format!(" WHERE i < {}", random.below(3000)),
        _ => String::new(),
    };
    format!("SELECT i, {calls} FROM t{filter} ORDER BY i")
}

fn answer(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<String>>, String> {
    try_rows(connection, sql).map_err(|error| error.to_string())
}

#[test]
fn answers_do_not_depend_on_how_windows_are_computed() {
    for seed in 0..3 {
        let mut random = Random(seed);
        let database = table(&mut random);
        let mut along_rows = database.connect();
        let mut by_partition = database.connect();
        rows(&mut by_partition, "SET quire.sorted_windows = off");
        let mut small_batches = database.connect();
        rows(&mut small_batches, "SET batch_rows = 100");
        for case in 0..25 {
            let sql = query(&mut random);
            let expected = answer(&mut by_partition, &sql);
            for connection in [&mut along_rows, &mut small_batches] {
                let found = answer(connection, &sql);
                assert!(found == expected, "seed {seed}, case {case}: {sql}");
            }
        }
    }
}

#[test]
fn windows_are_computed_along_sorted_rows() {
    let database = table(&mut Random(1));
    let mut connection = database.connect();
    let mut along_rows = |sql: &str| {
        let plan = rows(&mut connection, &format!("EXPLAIN SELECT {sql} FROM t"));
        plan.concat().concat().matches("sorted windows").count()
    };
    assert_eq!(
        along_rows("rank() OVER (ORDER BY day), sum(whole) OVER ()"),
        2
    );
    assert_eq!(along_rows("avg(amount) OVER (PARTITION BY town)"), 1);
    assert_eq!(along_rows("lag(i) OVER (ORDER BY i)"), 1);
    // Those of whole partitions.
    assert_eq!(along_rows("max(town) OVER (ORDER BY i)"), 1);
    let filtered = "count(*) FILTER (WHERE small > 0) OVER (ORDER BY i)";
    assert_eq!(along_rows(filtered), 1);
    let moving = "sum(i) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)";
    assert_eq!(along_rows(moving), 1);
}
