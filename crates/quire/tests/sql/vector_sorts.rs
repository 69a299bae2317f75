//! Sorts by keys packed into words, in memory and on disk, beside those of DataFusion's operator and beside orders made by hand.

use quire::{Connection, Database, DatabaseOptions};

use crate::support::{Random, connected, database, error, explained, rows, try_rows, value};

/// 20,000 rows whose keys have many types, with duplicates and NULLs.
fn table() -> Database {
    let database = database();
    rows(
        &mut database.connect(),
        "CREATE TABLE t AS SELECT i, i * 7 % 401 AS dense, \
           CAST(CASE WHEN i % 13 = 0 THEN NULL ELSE i % 90 - 40 END AS SMALLINT) AS small, \
           CAST(i * 7 % 500 * 4000000 - 1000000000 AS INTEGER) AS sparse, \
           CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 9223372036854775807 WHEN 2 THEN -9223372036854775807 - 1 ELSE i * 46116860184 END AS large, \
           DATE '2020-01-01' + CAST(i * 11 % 300 AS INTEGER) AS day, \
           TIMESTAMP '1999-12-31 23:00:00' + CAST(i * 13 % 400 AS INTEGER) * INTERVAL '1 minute' AS moment, \
           CAST(CASE WHEN i % 7 = 0 THEN NULL ELSE (i % 200 - 100) * 1.25 END AS DECIMAL(10,2)) AS amount, \
           CAST(CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN -90000000000000000000000000000000000000 WHEN 2 THEN 90000000000000000000000000000000000000 ELSE i END AS DECIMAL(38,0)) AS huge, \
           CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN 'NaN'::DOUBLE PRECISION WHEN 2 THEN '-Infinity'::DOUBLE PRECISION ELSE (i % 64 - 32) / 4.0 END AS float, \
           CAST((i % 64 - 32) / 4.0 AS REAL) AS narrow, \
           CASE WHEN i % 17 = 0 THEN NULL ELSE i % 3 = 0 END AS flag, \
           CASE WHEN i % 17 = 0 THEN NULL ELSE 'k' || i * 7 % 350 END AS short, \
           CASE WHEN i % 19 = 0 THEN NULL ELSE repeat('b', CAST(i % 4 * 5 AS INTEGER)) || i * 7 % 350 END AS long, \
           CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN 'ü' WHEN 2 THEN 'über alle Maßen ' || i % 50 ELSE 'z' END AS word \
         FROM generate_series(1, 20000) AS g(i)",
    );
    database
}

const KEYS: [&str; 15] = [
    "dense", "small", "sparse", "large", "day", "moment", "amount", "huge", "float", "narrow",
    "flag", "short", "long", "word", "i",
];

/// Up to five keys; the last one makes the order total.
fn query(random: &mut Random) -> String {
    let mut keys: Vec<String> = (0..random.below(5))
        .map(|_| {
            let key = match random.below(8) {
                0 => "amount * 2 - dense".to_owned(),
                1 => "length(long)".to_owned(),
                2 => "'#' || dense % 7".to_owned(),
                _ => random.pick(&KEYS).to_owned(),
            };
            let direction = random.pick(&["", " ASC", " DESC"]);
            let nulls = random.pick(&["", " NULLS FIRST", " NULLS LAST"]);
            format!("{key}{direction}{nulls}")
        })
        .collect();
    keys.push(random.pick(&["i", "i DESC"]).to_owned());
    let filter = random.pick(&["TRUE", "i % 3 = 1", "i < 300", "i < 0", "small IS NULL"]);
    let mut order = keys.join(", ");
    if random.below(2) == 0 {
        let (limit, offset) = (random.pick(&["1", "10", "700", "15000"]), random.below(40));
        order = format!("{order} LIMIT {limit} OFFSET {offset}");
    }
    match random.below(4) {
        0 => format!(
            "SELECT i, day, other FROM t JOIN (SELECT i + 1 AS next, long AS other FROM t) AS o ON i = next WHERE {filter} ORDER BY {order}"
        ),
        1 => format!("SELECT long, word FROM t WHERE {filter} ORDER BY {order}"),
        _ => format!("SELECT * FROM t WHERE {filter} ORDER BY {order}"),
    }
}

#[test]
fn orders_do_not_depend_on_the_operator() {
    let database = table();
    let mut others = connected(&database, &["SET quire.vector_sorts = off"]);
    let mut vectors = [
        connected(&database, &[]),
        connected(&database, &["SET batch_rows = 16"]),
        connected(&database, &["SET threads = 3"]),
        connected(&database, &["SET threads = 1"]),
    ];
    let mut random = Random(5);
    for case in 0..120 {
        let sql = query(&mut random);
        let expected = rows(&mut others, &sql);
        for connection in &mut vectors {
            assert!(rows(connection, &sql) == expected, "case {case}: {sql}");
        }
    }
}

#[test]
fn an_input_in_the_order_of_the_first_keys_is_not_read_to_its_end() {
    let database = table();
    let mut others = connected(&database, &["SET quire.vector_sorts = off"]);
    let mut connection = connected(&database, &["SET batch_rows = 64"]);
    for order in [
        "dense, n DESC LIMIT 7",
        "dense, long, i LIMIT 300",
        "dense, short DESC NULLS LAST, n LIMIT 10 OFFSET 90",
    ] {
        let windows = "SELECT i, dense, long, short, row_number() OVER (PARTITION BY dense ORDER BY i) AS n FROM t";
        let sql = format!("SELECT * FROM ({windows}) AS w ORDER BY {order}");
        assert!(
            rows(&mut connection, &sql) == rows(&mut others, &sql),
            "{sql}"
        );
    }
}

#[test]
fn rows_come_in_the_order_of_their_keys() {
    let mut connection = table().connect();
    // An order that needs no sort to be known: small ascending with NULLs first, then i descending.
    let found = rows(
        &mut connection,
        "SELECT small, i FROM t ORDER BY small NULLS FIRST, i DESC",
    );
    let small = |i: i64| (i % 13 > 0).then_some(i % 90 - 40);
    let mut expected: Vec<_> = (1..=20_000).map(|i| (small(i), i)).collect();
    expected.sort_by_key(|(small, i)| (*small, -i));
    let text = |value: Option<i64>| value.map_or("NULL".to_owned(), |it| it.to_string());
    let expected: Vec<Vec<String>> = expected
        .into_iter()
        .map(|(small, i)| vec![text(small), i.to_string()])
        .collect();
    assert!(found == expected);
}

#[test]
fn sorts_of_all_types_of_keys_are_packed() {
    let mut connection = table().connect();
    let mut packed = |sql: &str| {
        let plan = explained(&mut connection, "", sql);
        plan.matches("vector sort").count()
    };
    for key in KEYS {
        assert_eq!(
            packed(&format!("SELECT * FROM t ORDER BY {key}")),
            1,
            "{key}"
        );
    }
    assert_eq!(packed("SELECT * FROM t ORDER BY long LIMIT 3"), 1);
    // A list has no code.
    assert_eq!(packed("SELECT i FROM t ORDER BY [i, dense]"), 0);
}

/// 60,000 rows of more than 200 bytes.
fn wide(memory_bytes: usize) -> Connection {
    let options = DatabaseOptions {
        memory_bytes,
        cache_bytes: 32 << 20,
        threads: 2,
        ..DatabaseOptions::default()
    };
    let mut connection = Database::in_memory_with(options).unwrap().connect();
    rows(
        &mut connection,
        "CREATE TABLE t AS SELECT i, i * 7919 % 60000 AS k, \
           CASE WHEN i % 10 = 0 THEN NULL ELSE repeat('text ', CAST(i % 40 AS INTEGER)) || i % 600 END AS body, \
           repeat('body ', 40) || i AS rest \
         FROM generate_series(0, 59999) AS g(i)",
    );
    connection
}

#[test]
fn rows_that_do_not_fit_into_memory_are_sorted_on_disk() {
    let [mut little, mut plenty] = [32 << 20, 1 << 30].map(wide);
    for order in [
        "k",
        "body, k DESC",
        "body DESC NULLS LAST, rest",
        "rest, k LIMIT 59000",
        "k LIMIT 40000 OFFSET 5000",
    ] {
        let sql = format!("SELECT * FROM t ORDER BY {order}");
        let expected = rows(&mut plenty, &sql);
        assert!(rows(&mut little, &sql) == expected, "{order}");
    }
    // k takes each value below 60,000 once, as 7919 and 60,000 have no common divisor.
    let keys = rows(&mut little, "SELECT k, rest FROM t ORDER BY k");
    let keys: Vec<String> = keys.into_iter().map(|mut row| row.swap_remove(0)).collect();
    assert!(keys == (0..60_000).map(|k| k.to_string()).collect::<Vec<_>>());
    let plan = explained(&mut little, "ANALYZE", "SELECT * FROM t ORDER BY k");
    assert!(plan.contains("vector sort"), "{plan}");
    assert!(plan.contains("spilled bytes"), "{plan}");
}

#[test]
fn errors_below_a_sort_are_its_own() {
    let database = table();
    let mut connection = database.connect();
    let failed = error(
        &mut connection,
        "SELECT i, 10 / (i - 15000) AS q FROM t ORDER BY q",
    );
    assert_eq!(failed.sqlstate(), "22012", "{failed}");
    let failed = error(&mut connection, "SELECT i FROM t ORDER BY 10 / (i - 15000)");
    assert_eq!(failed.sqlstate(), "22012", "{failed}");
    // What is not read to its end leaves nothing behind.
    let statement = "SELECT * FROM t ORDER BY long, i";
    let first = try_rows(
        &mut connection,
        &format!("SELECT i FROM ({statement}) AS s LIMIT 1"),
    );
    assert_eq!(first.unwrap().len(), 1);
    assert_eq!(value(&mut connection, "SELECT count(*) FROM t"), "20000");
}
