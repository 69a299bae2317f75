//! Groups that are made before a join, beside those that are made behind it.

use quire::Database;

use crate::support::{Random, connected, database, explained, rows, sorted_rows};

/// Orders of customers: some customers have none, some orders have none, and names come twice.
fn sides() -> Database {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE customers AS SELECT i AS id, 'name ' || i % 300 AS name, \
           CASE WHEN i % 5 = 0 THEN NULL ELSE i % 7 END AS region, i % 11 * 1.5 AS score \
         FROM generate_series(1, 500) AS g(i)",
        "CREATE TABLE orders AS SELECT i AS id, CASE WHEN i % 17 = 0 THEN NULL ELSE i * 7919 % 600 END AS customer, \
           CAST(i % 1000 * 0.25 AS DECIMAL(10,2)) AS price, CAST(i % 10 AS INTEGER) AS pieces, \
           CASE WHEN i % 3 = 0 THEN NULL ELSE i % 100 END AS rebate, DATE '2020-01-01' + CAST(i % 3 AS INTEGER) AS day, \
           i % 8 * 0.1::double precision AS weight, 'text ' || i % 40 AS note, i * 3000000000 AS large \
         FROM generate_series(1, 20000) AS g(i)",
        "CREATE TABLE regions AS SELECT i AS region, 'region ' || i % 4 AS label FROM generate_series(0, 6) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    database
}

const KEYS: [&str; 10] = [
    "r.label",
    "c.id",
    "c.name",
    "c.region",
    "o.customer",
    "o.day",
    "o.pieces % 4",
    "o.weight",
    "o.id % 3 + c.id % 3",
    "c.score",
];

const CALLS: [&str; 16] = [
    "count(*)",
    "count(o.rebate)",
    "sum(o.price)",
    "sum(o.pieces)",
    "sum(o.large)",
    "sum(o.price * (1 - o.pieces))",
    "sum(o.pieces + 1) FILTER (WHERE o.rebate > 50)",
    "count(*) FILTER (WHERE o.rebate IS NULL)",
    "count(o.id) FILTER (WHERE o.rebate IS NULL)",
    "min(o.note)",
    "max(o.weight)",
    "max(c.name)",
    "min(c.score)",
    "sum(o.rebate + c.region)",
    "count(DISTINCT o.pieces)",
    "min(coalesce(o.rebate, -1))",
];

fn some<'a>(random: &mut Random, of: &[&'a str], at_least: usize) -> Vec<&'a str> {
    let count = at_least + random.below(3);
    let mut picked: Vec<&str> = (0..count).map(|_| random.pick(of)).collect();
    picked.sort_unstable();
    picked.dedup();
    picked
}

fn query(random: &mut Random) -> String {
    let (keys, calls) = (some(random, &KEYS, 0), some(random, &CALLS, 1));
    let kind = random.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
    let sides = random.pick(&["customers AS c|orders AS o", "orders AS o|customers AS c"]);
    let (left, right) = sides.split_once('|').unwrap_or_default();
    let residual = random.pick(&[
        "",
        "",
        " AND o.day > DATE '2020-01-01'",
        " AND o.pieces <> c.region",
    ]);
    let filter = random.pick(&[
        "",
        "",
        " WHERE o.price < 100",
        " WHERE c.region = 3",
        " WHERE o.id < 0",
    ]);
    let list = [keys.as_slice(), calls.as_slice()].concat().join(", ");
    let regions = random.pick(&[
        "JOIN regions AS r ON r.region = c.region",
        "LEFT JOIN regions AS r ON r.region = c.region",
        "LEFT JOIN regions AS r ON r.region IS NOT DISTINCT FROM c.region",
    ]);
    let having = random.pick(&["", "", " HAVING count(*) > 2"]);
    let from = format!("{left} {kind} {right} ON o.customer = c.id{residual} {regions}{filter}");
    if keys.is_empty() {
        return format!("SELECT {list} FROM {from}{having}");
    }
    format!(
        "SELECT {list} FROM {from} GROUP BY {}{having}",
        keys.join(", ")
    )
}

#[test]
fn groups_do_not_depend_on_where_they_are_made() {
    let database = sides();
    let mut lazy = connected(&database, &["SET quire.eager_aggregation = off"]);
    let mut eager = connected(&database, &["SET quire.eager_aggregation_always = on"]);
    let mut random = Random(23);
    let mut eager_count = 0;
    for case in 0..200 {
        let sql = query(&mut random);
        let expected = sorted_rows(&mut lazy, &sql);
        assert!(
            sorted_rows(&mut eager, &sql) == expected,
            "case {case}: {sql}"
        );
        eager_count += usize::from(explained(&mut eager, "", &sql).contains("__partial_"));
        assert!(
            !explained(&mut lazy, "", &sql).contains("__partial_"),
            "{sql}"
        );
    }
    assert!(eager_count > 40, "{eager_count} of 200");
}

#[test]
fn groups_are_made_before_joins_where_that_costs_less() {
    let database = sides();
    let mut connection = connected(&database, &["SET quire.late_dimensions = off"]);
    let many = "CREATE TABLE many AS SELECT i AS id, i * 7919 % 600 AS customer, CAST(i % 1000 * 0.25 AS DECIMAL(10,2)) AS price, \
           i % 8 * 0.1::double precision AS weight FROM generate_series(1, 2200000) AS g(i)";
    rows(&mut connection, many);
    let mut is_eager = |sql: &str| explained(&mut connection, "", sql).contains("__partial_");
    for (sql, expected) in [
        (
            "SELECT c.name, sum(o.price) FROM customers AS c JOIN many AS o ON o.customer = c.id GROUP BY c.name",
            true,
        ),
        (
            "SELECT c.id, count(o.id) FROM customers AS c LEFT JOIN many AS o ON o.customer = c.id GROUP BY c.id",
            true,
        ),
        // Few rows.
        (
            "SELECT c.name, sum(o.price) FROM customers AS c JOIN orders AS o ON o.customer = c.id GROUP BY c.name",
            false,
        ),
        // As many partial groups as rows.
        (
            "SELECT c.name, o.id, sum(o.price) FROM customers AS c JOIN many AS o ON o.customer = c.id GROUP BY c.name, o.id",
            false,
        ),
        // Most rows are dropped by the join.
        (
            "SELECT c.name, sum(o.price) FROM customers AS c JOIN many AS o ON o.customer = c.id WHERE c.region = 3 GROUP BY c.name",
            false,
        ),
        // Few groups are found fast.
        (
            "SELECT c.region, sum(o.price) FROM customers AS c JOIN many AS o ON o.customer = c.id GROUP BY c.region",
            false,
        ),
        // Sums of rounded sums would be other ones.
        (
            "SELECT c.name, sum(o.weight) FROM customers AS c JOIN many AS o ON o.customer = c.id GROUP BY c.name",
            false,
        ),
    ] {
        assert_eq!(is_eager(sql), expected, "{sql}");
    }
}

/// Not only the values are the same: so are the names and the types.
#[test]
fn columns_of_groups_are_as_before() {
    let database = sides();
    let described = |setting: &str| {
        let mut connection = connected(&database, &[setting]);
        for sql in [
            "DROP TABLE IF EXISTS made",
            "CREATE TABLE made AS SELECT c.name, count(*), sum(o.price), sum(o.pieces) AS pieces, sum(o.large) AS large, min(o.note), max(o.day) AS day, \
               max(c.name) AS last, count(o.rebate) AS rebates \
             FROM customers AS c JOIN orders AS o ON o.customer = c.id GROUP BY c.name",
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
    let lazy = described("SET quire.eager_aggregation = off");
    assert_eq!(lazy.0.len(), 9);
    assert_eq!(described("SET quire.eager_aggregation_always = on"), lazy);
}

/// Other shapes of joins, by the sums that follow from how the tables were made.
#[test]
fn joins_of_any_shape_have_their_groups() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE o AS SELECT i AS id, i % 10 AS k, 1 AS one FROM generate_series(1, 1000) AS g(i)",
        "CREATE TABLE c AS SELECT i AS k, i % 2 AS odd FROM generate_series(0, 9) AS g(i)",
        "CREATE SEQUENCE s",
        "SET quire.eager_aggregation_always = on",
    ] {
        rows(&mut connection, sql);
    }
    for (sql, expected) in [
        (
            "SELECT odd, count(*) FROM o JOIN c USING (k) GROUP BY odd ORDER BY 1",
            vec!["0|500", "1|500"],
        ),
        (
            "SELECT k, max(k), count(*) FROM o JOIN c USING (k) GROUP BY k HAVING k > 7 ORDER BY 1",
            vec!["8|8|100", "9|9|100"],
        ),
        (
            "SELECT a.k, count(*) FROM o AS a JOIN o AS b ON a.k = b.k GROUP BY a.k HAVING a.k = 3",
            vec!["3|10000"],
        ),
        (
            "SELECT x.odd, sum(n) FROM (SELECT c.odd, o.k, count(*) AS n FROM o JOIN c USING (k) GROUP BY c.odd, o.k) AS x \
            JOIN c USING (odd) GROUP BY x.odd ORDER BY 1",
            vec!["0|2500", "1|2500"],
        ),
        (
            "SELECT c.odd, count(*), sum(o.one), min(d.k) FROM o JOIN c USING (k) JOIN c AS d ON d.odd = c.odd GROUP BY c.odd ORDER BY 1",
            vec!["0|2500|2500|0", "1|2500|2500|1"],
        ),
        ("SELECT count(*) FROM o, c", vec!["10000"]),
        (
            "SELECT c.k, count(*) FROM c JOIN o ON o.k = c.k WHERE o.id < 0 GROUP BY c.k",
            vec![],
        ),
        (
            "SELECT c.k, (SELECT count(*) FROM o WHERE o.k = c.k) FROM c WHERE c.k < 2 ORDER BY 1",
            vec!["0|100", "1|100"],
        ),
        // Each of the thousand rows is asked for a number.
        (
            "SELECT c.odd, max(nextval('s') * 0 + o.k) FROM o JOIN c USING (k) GROUP BY c.odd ORDER BY 1",
            vec!["0|8", "1|9"],
        ),
        ("SELECT nextval('s')", vec!["1001"]),
    ] {
        let found = rows(&mut connection, sql);
        let found: Vec<String> = found.iter().map(|row| row.join("|")).collect();
        assert_eq!(found, expected, "{sql}");
    }
}

/// Totals of values that the join drops may be too large for the type.
#[test]
fn sums_of_rows_without_a_partner_do_not_overflow() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE o (k BIGINT, v NUMERIC(38,0))",
        "INSERT INTO o VALUES (1, 5), (2, 90000000000000000000000000000000000000), (2, 90000000000000000000000000000000000000)",
        "CREATE TABLE c AS SELECT 1 AS k",
        "SET quire.eager_aggregation_always = on",
    ] {
        rows(&mut connection, sql);
    }
    let sql = "SELECT c.k, sum(o.v) FROM o JOIN c ON o.k = c.k GROUP BY c.k";
    assert_eq!(rows(&mut connection, sql), [["1", "5"]]);
}

/// An order without a customer has no pieces; dividing by them may fail only where the order is joined.
#[test]
fn what_may_fail_is_not_computed_of_rows_without_a_partner() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE c AS SELECT i AS id FROM generate_series(1, 100) AS g(i)",
        "CREATE TABLE o AS SELECT i % 100 + 1 AS customer, 1 AS pieces FROM generate_series(1, 20000) AS g(i) \
         UNION ALL SELECT 1000, 0",
        "SET quire.eager_aggregation_always = on",
    ] {
        rows(&mut connection, sql);
    }
    let sql = "SELECT c.id, sum(100 / o.pieces) FROM c JOIN o ON o.customer = c.id GROUP BY c.id";
    assert_eq!(rows(&mut connection, sql).len(), 100);
}
