//! Groups that are made before dimensions are joined, beside those that are made behind the joins.

use quire::{Connection, Database};

use crate::support::{Random, connected, database, explained, rows, sorted_rows};

/// Sales of items in stores. Some sales have no item, or one that does not exist; items have categories, some of which do not exist, and their names
/// come twice. `kinds` has each number twice, and `places` is a row table.
fn star() -> Database {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE items AS SELECT CAST(i AS INTEGER) AS item, 'item ' || i / 2 AS name, CASE WHEN i % 9 = 0 THEN NULL ELSE i % 12 END AS category, \
           CAST(i % 7 * 1.25 AS DECIMAL(6,2)) AS list_price FROM generate_series(1, 500) AS g(i)",
        "CREATE TABLE categories AS SELECT i AS category, 'category ' || i % 5 AS label FROM generate_series(0, 9) AS g(i)",
        "CREATE TABLE kinds AS SELECT i % 50 AS kind, 'kind ' || i AS label FROM generate_series(0, 99) AS g(i)",
        "CREATE TABLE places (place INTEGER PRIMARY KEY, city TEXT, code INTEGER) USING row",
        "INSERT INTO places SELECT i, 'city ' || i % 6, i % 4 FROM generate_series(1, 40) AS g(i)",
        "CREATE TABLE sales AS SELECT i AS sale, CAST(CASE WHEN i % 19 = 0 THEN NULL ELSE i * 7919 % 520 END AS INTEGER) AS item, \
           CAST(i * 31 % 45 AS INTEGER) AS place, i % 50 AS kind, CAST(i % 1000 * 0.25 AS DECIMAL(10,2)) AS price, CAST(i % 10 AS INTEGER) AS pieces, \
           CASE WHEN i % 3 = 0 THEN NULL ELSE i % 100 END AS rebate, DATE '2020-01-01' + CAST(i % 40 AS INTEGER) AS day, i % 8 * 0.125::double precision AS weight \
         FROM generate_series(1, 20000) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    database
}

const KEYS: [&str; 12] = [
    "i.item",
    "i.name",
    "i.category",
    "c.category",
    "c.label",
    "p.place",
    "p.city",
    "s.item",
    "s.day",
    "extract(month FROM s.day)",
    "s.pieces + i.category",
    "k.label",
];

const CALLS: [&str; 15] = [
    "count(*)",
    "count(s.rebate)",
    "sum(s.price)",
    "sum(s.pieces)",
    "sum(s.price * (1 - s.pieces))",
    "avg(s.pieces)",
    "round(CAST(stddev(s.pieces) AS NUMERIC), 6)",
    "avg(s.price)",
    "avg(s.price) FILTER (WHERE s.rebate > 50)",
    "min(s.day)",
    "max(s.weight)",
    "sum(s.weight)",
    "count(DISTINCT s.pieces)",
    "max(i.name)",
    "avg(s.pieces / (s.item + 1))",
];

fn some<'a>(random: &mut Random, of: &[&'a str]) -> Vec<&'a str> {
    let count = 1 + random.below(4);
    let mut picked: Vec<&str> = (0..count).map(|_| random.pick(of)).collect();
    picked.sort_unstable();
    picked.dedup();
    picked
}

fn query(random: &mut Random) -> String {
    let (keys, calls) = (some(random, &KEYS), some(random, &CALLS));
    let reads = |table: &str| {
        let mut all = keys.iter().chain(&calls);
        all.any(|part| part.contains(table))
    };
    let mut from = "sales AS s JOIN items AS i ON s.item = i.item".to_owned();
    if reads("c.") {
        from += " JOIN categories AS c ON c.category = i.category";
    }
    if reads("p.") {
        from += " JOIN places AS p ON p.place = s.place";
    }
    if reads("k.") {
        from += " JOIN kinds AS k ON k.kind = s.kind";
    }
    let filter = random.pick(&[
        "",
        "",
        " WHERE s.price < 100",
        " WHERE i.list_price > 2",
        " WHERE s.sale < 0",
        " WHERE i.list_price > s.price",
    ]);
    let having = random.pick(&["", "", " HAVING count(*) > 2"]);
    let by = match random.below(6) {
        0 => format!("ROLLUP ({})", keys.join(", ")),
        1 => format!("GROUPING SETS ({}, ())", keys.join(", ")),
        _ => keys.join(", "),
    };
    let list = [keys.as_slice(), calls.as_slice()].concat().join(", ");
    format!("SELECT {list} FROM {from}{filter} GROUP BY {by}{having}")
}

/// Whether a plan makes all groups below a join, or partial ones; of several steps the last.
fn shape(connection: &mut Connection, sql: &str) -> &'static str {
    let plan = explained(connection, "", sql);
    match (plan.contains("__below_"), plan.contains("__partial_")) {
        (true, _) => "below",
        (false, true) => "twice",
        (false, false) => "above",
    }
}

#[test]
fn groups_do_not_depend_on_when_dimensions_are_joined() {
    let database = star();
    let off = [
        "SET quire.late_dimensions = off",
        "SET quire.eager_aggregation = off",
    ];
    let mut behind = connected(&database, &off);
    let mut before = [
        connected(&database, &[]),
        connected(
            &database,
            &["SET quire.eager_aggregation_always = on", "SET threads = 1"],
        ),
        connected(
            &database,
            &[
                "SET quire.join_order = off",
                "SET quire.eager_aggregation_always = on",
            ],
        ),
    ];
    let mut random = Random(31);
    let (mut below, mut twice) = (0, 0);
    for case in 0..200 {
        let sql = query(&mut random);
        let expected = sorted_rows(&mut behind, &sql);
        assert_eq!(shape(&mut behind, &sql), "above", "case {case}: {sql}");
        for connection in &mut before {
            assert!(
                sorted_rows(connection, &sql) == expected,
                "case {case}: {sql}"
            );
            match shape(connection, &sql) {
                "below" => below += 1,
                "twice" => twice += 1,
                _ => {}
            }
        }
    }
    assert!(below > 40 && twice > 40, "{below} below, {twice} twice");
}

#[test]
fn keys_have_to_determine_what_dimensions_are_joined_by() {
    let database = star();
    let mut connection = connected(&database, &["SET quire.eager_aggregation = off"]);
    for (sql, expected) in [
        (
            "SELECT i.item, i.name, sum(s.price) FROM sales AS s JOIN items AS i ON s.item = i.item GROUP BY i.item, i.name",
            "below",
        ),
        // What the item determines has to be joined, too.
        (
            "SELECT s.item, i.name, c.label, count(*) FROM sales AS s JOIN items AS i ON s.item = i.item JOIN categories AS c ON c.category = i.category \
             GROUP BY s.item, i.name, c.label",
            "below",
        ),
        (
            "SELECT p.place, p.city, avg(s.price) FROM sales AS s JOIN places AS p ON p.place = s.place GROUP BY p.place, p.city",
            "below",
        ),
        (
            "SELECT i.item, i.name, stddev(s.pieces), avg(s.price) FROM sales AS s JOIN items AS i ON s.item = i.item GROUP BY i.item, i.name",
            "below",
        ),
        // A filter without a column, and a computed column.
        (
            "SELECT * FROM (SELECT i.item, i.short, sum(s.price), 'a' AS kind FROM sales AS s JOIN (SELECT *, substr(name, 1, 3) AS short FROM items) AS i \
             ON s.item = i.item GROUP BY i.item, i.short) AS x WHERE kind = 'a'",
            "below",
        ),
        // Two items have one name, and there are few rows.
        (
            "SELECT i.name, sum(s.price) FROM sales AS s JOIN items AS i ON s.item = i.item GROUP BY i.name",
            "above",
        ),
        // Each kind is there twice.
        (
            "SELECT k.kind, k.label, sum(s.price) FROM sales AS s JOIN kinds AS k ON s.kind = k.kind GROUP BY k.kind, k.label",
            "above",
        ),
        // It is better to drop sales first.
        (
            "SELECT i.item, i.name, sum(s.price) FROM sales AS s JOIN items AS i ON s.item = i.item WHERE i.category = 3 GROUP BY i.item, i.name",
            "above",
        ),
        // The aggregate reads the dimension.
        (
            "SELECT i.item, i.name, sum(s.pieces * i.list_price) FROM sales AS s JOIN items AS i ON s.item = i.item GROUP BY i.item, i.name",
            "above",
        ),
        // An item that does not exist would be divided by.
        (
            "SELECT i.item, i.name, sum(s.pieces / (s.item - 510)) FROM sales AS s JOIN items AS i ON s.item = i.item GROUP BY i.item, i.name",
            "above",
        ),
    ] {
        assert_eq!(shape(&mut connection, sql), expected, "{sql}");
    }
}

/// A row that comes later may have a key that another has.
#[test]
fn a_key_is_unique_only_as_long_as_it_is() {
    let database = star();
    let mut connection = database.connect();
    let sql = "SELECT i.item, i.name, count(*) FROM sales AS s JOIN items AS i ON s.item = i.item GROUP BY i.item, i.name";
    let count_of_7 = |connection: &mut Connection, sql: &str| -> u64 {
        let rows = rows(connection, sql).into_iter();
        let of_7 = rows.filter(|row| row[0] == "7");
        of_7.map(|row| row[2].parse::<u64>().unwrap()).sum()
    };
    let once = count_of_7(&mut connection, sql);
    assert!(once > 10);
    assert_eq!(shape(&mut connection, sql), "below");
    rows(
        &mut connection,
        "INSERT INTO items VALUES (501, 'item 250', 1, 1.00)",
    );
    assert_eq!(shape(&mut connection, sql), "below");
    assert_eq!(count_of_7(&mut connection, sql), once);
    for again in [
        "INSERT INTO items VALUES (7, 'item 3', 1, 1.00)",
        "UPDATE items SET item = 7 WHERE item = 8",
    ] {
        rows(&mut connection, again);
        assert_eq!(shape(&mut connection, sql), "above", "{again}");
    }
    assert_eq!(count_of_7(&mut connection, sql), 3 * once);
    // In row groups it is not proved either.
    rows(
        &mut connection,
        "CREATE TABLE copied AS SELECT * FROM items",
    );
    let of_copy = sql.replace("items", "copied");
    assert_eq!(shape(&mut connection, &of_copy), "above");
    assert_eq!(count_of_7(&mut connection, &of_copy), 3 * once);
    let mended = "CREATE TABLE mended AS SELECT DISTINCT ON (item) * FROM copied";
    rows(&mut connection, mended);
    let of_mended = sql.replace("items", "mended");
    assert_eq!(shape(&mut connection, &of_mended), "below");
    assert_eq!(count_of_7(&mut connection, &of_mended), once);
}

/// Names and types are those of the groups behind the joins.
#[test]
fn columns_of_early_groups_are_as_before() {
    let database = star();
    let described = |setting: &str| {
        let mut connection = connected(&database, &[setting]);
        for sql in [
            "DROP TABLE IF EXISTS made",
            "CREATE TABLE made AS SELECT i.item, name, extract(month FROM day) AS month, count(*), sum(price), avg(price), avg(pieces) AS pieces, \
               sum(price * (1 - pieces)) AS rest, min(day) AS day \
             FROM sales JOIN items AS i USING (item) GROUP BY i.item, name, extract(month FROM day)",
        ] {
            rows(&mut connection, sql);
        }
        let columns = "SELECT column_name, data_type, numeric_precision, numeric_scale FROM information_schema.columns \
             WHERE table_name = 'made' ORDER BY ordinal_position";
        (
            rows(&mut connection, columns),
            sorted_rows(&mut connection, "SELECT * FROM made"),
        )
    };
    let behind = described("SET quire.late_dimensions = off");
    assert_eq!(behind.0.len(), 9);
    assert_eq!(described("SET quire.late_dimensions = on"), behind);
}

/// Values whose sum has more digits than its type are summed behind the join, which drops them.
#[test]
fn sums_are_early_only_where_they_cannot_overflow() {
    let database = star();
    let mut connection = connected(&database, &["SET quire.eager_aggregation_always = on"]);
    for sql in [
        "CREATE TABLE large (item INTEGER, v NUMERIC(38,0), w NUMERIC(18,0))",
        "INSERT INTO large VALUES (1, 5, 5), (1000, 90000000000000000000000000000000000000, 900000000000000000), \
           (1000, 90000000000000000000000000000000000000, 900000000000000000)",
        "VACUUM large",
    ] {
        rows(&mut connection, sql);
    }
    let of = |value: &str| {
        format!(
            "SELECT i.item, i.name, sum({value}) FROM large AS l JOIN items AS i ON l.item = i.item GROUP BY i.item, i.name"
        )
    };
    for (value, expected_shape, expected) in [
        ("v", "above", "5"),
        ("v * 1", "above", "5"),
        ("w", "below", "5"),
        ("w * w", "below", "25"),
        ("w * CAST(w AS NUMERIC(30,0))", "below", "25"),
        ("w / 2", "below", "2.5000"),
        ("w * w / 1.25", "above", "20.0000"),
        ("w * w * w", "above", "125"),
    ] {
        let sql = of(value);
        assert_eq!(shape(&mut connection, &sql), expected_shape, "{value}");
        assert_eq!(
            rows(&mut connection, &sql),
            [["1", "item 0", expected]],
            "{value}"
        );
    }
}

/// NULL is not unique: all of its rows are one group.
#[test]
fn a_key_that_is_null_determines_nothing() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE d AS SELECT i AS id, 'a' AS name FROM generate_series(1, 2) AS g(i)",
        "CREATE TABLE f AS SELECT CASE WHEN i = 51 THEN 7 END AS u, 1 + i % 2 AS d, 1 AS x FROM generate_series(1, 51) AS g(i)",
        "CREATE TABLE rf (k BIGINT PRIMARY KEY, u BIGINT UNIQUE, d BIGINT, x INTEGER) USING row",
        "INSERT INTO rf SELECT i, CASE WHEN i = 51 THEN 7 END, 1 + i % 2, 1 FROM generate_series(1, 51) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    for table in ["f", "rf"] {
        for engine in ["auto", "tuple", "batch"] {
            rows(&mut connection, &format!("SET engine = '{engine}'"));
            let sql = format!(
                "SELECT f.u, d.name, count(*), sum(f.x) FROM {table} AS f JOIN d ON f.d = d.id GROUP BY f.u, d.name ORDER BY 1"
            );
            let expected = [["7", "a", "1", "1"], ["NULL", "a", "50", "50"]];
            assert_eq!(rows(&mut connection, &sql), expected, "{table}, {engine}");
        }
    }
}

/// Means of 64-bit integers, whose sums are decimals.
#[test]
fn means_of_large_integers_are_merged() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE d AS SELECT i AS id, 'n' || i % 10 AS name FROM generate_series(1, 1000) AS g(i)",
        "CREATE TABLE f AS SELECT 1 + i % 1000 AS d, i AS v FROM generate_series(1, 400000) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    let sql = "SELECT d.name, avg(f.v) FROM f JOIN d ON f.d = d.id GROUP BY d.name ORDER BY 1";
    assert_eq!(shape(&mut connection, sql), "twice");
    let merged = rows(&mut connection, sql);
    assert_eq!(merged.len(), 10);
    // Names of 0 have the numbers 10, 20, … 1,000, so that the values are 9, 19, … 399,999.
    assert_eq!(merged[0], ["n0", "200004.0"]);
    rows(&mut connection, "SET quire.late_dimensions = off");
    assert_eq!(rows(&mut connection, sql), merged);
}

/// A key is computed only of rows that the joins leave, if it may fail.
#[test]
fn keys_that_may_fail_are_computed_behind_the_joins() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE f (k BIGINT PRIMARY KEY, d BIGINT, x BIGINT) USING row",
        "INSERT INTO f SELECT i, 1 + i % 2, 1 FROM generate_series(1, 50) AS g(i)",
        // There is no 99.
        "INSERT INTO f VALUES (80, 99, 0)",
        "CREATE TABLE d AS SELECT i AS id, 'a' AS name FROM generate_series(1, 2) AS g(i)",
        "SET engine = 'batch'",
    ] {
        rows(&mut connection, sql);
    }
    for always in ["off", "on"] {
        rows(
            &mut connection,
            &format!("SET quire.eager_aggregation_always = {always}"),
        );
        let sql = "SELECT f.d, 10 / f.x, d.name, count(*) FROM f JOIN d ON f.d = d.id GROUP BY f.d, 10 / f.x, d.name ORDER BY 1";
        let expected = [["1", "10", "a", "25"], ["2", "10", "a", "25"]];
        assert_eq!(rows(&mut connection, sql), expected);
        let sql = "SELECT 10 / f.x, d.name, count(*) FROM f JOIN d ON f.d = d.id GROUP BY 10 / f.x, d.name";
        assert_eq!(rows(&mut connection, sql), [["10", "a", "50"]]);
    }
}
