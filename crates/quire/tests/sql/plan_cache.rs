//! Plans that are kept must not show: every statement is asked several times, and between these the tables, the definitions and the settings change.
//! Expected values are counted by hand, or those of a connection that keeps no plans.

use quire::{Connection, Database};

use crate::support::{database, rows, sorted_rows, try_rows, value};

/// Tables with row groups: they are loaded in one statement.
fn tables() -> Database {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE t AS SELECT i, i % 10 AS k, i * 2 AS v FROM generate_series(1, 1000) AS g(i)",
        "CREATE TABLE u AS SELECT i AS k, 'name ' || i AS name FROM generate_series(0, 9) AS g(i)",
        "CREATE VIEW w AS SELECT k, count(*) AS n FROM t GROUP BY k",
    ] {
        rows(&mut connection, sql);
    }
    database
}

const QUERIES: [&str; 7] = [
    "SELECT count(*), sum(v), min(i), max(i) FROM t",
    "SELECT u.name, count(*), sum(t.v) FROM t JOIN u ON t.k = u.k WHERE t.i > 500 GROUP BY u.name ORDER BY u.name",
    "SELECT count(*) FROM t WHERE i > 2000",
    "SELECT k FROM t GROUP BY k HAVING count(*) > (SELECT avg(n) FROM w) ORDER BY k",
    "SELECT a.n, b.n FROM w AS a JOIN w AS b ON a.k = b.k + 1 ORDER BY a.k",
    "SELECT name FROM u WHERE k IN (SELECT k FROM t WHERE i < 4) ORDER BY name",
    "SELECT v IS NULL, count(*) FROM t GROUP BY v IS NULL ORDER BY 1",
];

/// Asks all queries twice of a connection that keeps plans, and compares with one that keeps none.
fn compare(keeping: &mut Connection, planning: &mut Connection, after: &str) {
    for sql in QUERIES {
        let expected = rows(planning, sql);
        for _ in 0..2 {
            assert_eq!(rows(keeping, sql), expected, "after {after}: {sql}");
        }
    }
}

#[test]
fn answers_follow_changes_of_rows_and_definitions() {
    let database = tables();
    let (mut keeping, mut planning) = (database.connect(), database.connect());
    rows(&mut planning, "SET quire.plan_cache = off");
    compare(&mut keeping, &mut planning, "loading");
    for change in [
        "INSERT INTO t VALUES (2001, 3, NULL)",
        "VACUUM",
        "UPDATE t SET k = 11 WHERE i % 100 = 0",
        "VACUUM t",
        "DELETE FROM t WHERE k = 5",
        "VACUUM",
        "INSERT INTO u VALUES (11, 'new')",
        "CREATE OR REPLACE VIEW w AS SELECT k, count(*) + 1 AS n FROM t WHERE i > 10 GROUP BY k",
        "ALTER TABLE t ADD COLUMN more INTEGER",
        "ALTER TABLE u RENAME TO old_u; CREATE TABLE u AS SELECT i AS k, 'other ' || i AS name FROM generate_series(3, 12) AS g(i)",
        "TRUNCATE t",
        "INSERT INTO t SELECT i, i, i FROM generate_series(1, 5000) AS g(i)",
        "ALTER TABLE u ALTER COLUMN k TYPE SMALLINT",
        "VACUUM FULL",
    ] {
        for statement in change.split("; ") {
            rows(&mut planning, statement);
        }
        compare(&mut keeping, &mut planning, change);
    }
}

#[test]
fn transactions_see_their_own_rows() {
    let database = tables();
    let (mut one, mut other) = (database.connect(), database.connect());
    let sql = "SELECT count(*), max(i) FROM t";
    assert_eq!(rows(&mut one, sql), [["1000", "1000"]]);
    rows(&mut other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(rows(&mut other, sql), [["1000", "1000"]]);
    rows(
        &mut one,
        "INSERT INTO t SELECT i, 0, 0 FROM generate_series(1001, 3000) AS g(i)",
    );
    rows(&mut one, "VACUUM");
    for _ in 0..2 {
        assert_eq!(rows(&mut one, sql), [["3000", "3000"]]);
        assert_eq!(rows(&mut other, sql), [["1000", "1000"]]);
    }
    rows(&mut other, "COMMIT");
    assert_eq!(rows(&mut other, sql), [["3000", "3000"]]);
    rows(&mut one, "BEGIN");
    rows(&mut one, "DELETE FROM t WHERE i > 10");
    for _ in 0..2 {
        assert_eq!(rows(&mut one, sql), [["10", "10"]]);
        assert_eq!(rows(&mut other, sql), [["3000", "3000"]]);
    }
    rows(&mut one, "ROLLBACK");
    assert_eq!(rows(&mut one, sql), [["3000", "3000"]]);
}

#[test]
fn plans_from_before_a_transaction_show_its_rows() {
    let database = tables();
    let (mut one, mut other) = (database.connect(), database.connect());
    let sql = "SELECT count(*), max(i) FROM t";
    for isolation in ["READ COMMITTED", "REPEATABLE READ"] {
        assert_eq!(rows(&mut one, sql), [["1000", "1000"]]);
        rows(&mut one, &format!("BEGIN ISOLATION LEVEL {isolation}"));
        for _ in 0..2 {
            assert_eq!(rows(&mut one, sql), [["1000", "1000"]], "{isolation}");
        }
        rows(&mut one, "INSERT INTO t VALUES (5000, 1, 1)");
        for _ in 0..2 {
            assert_eq!(rows(&mut one, sql), [["1001", "5000"]], "{isolation}");
            assert_eq!(rows(&mut other, sql), [["1000", "1000"]], "{isolation}");
        }
        rows(&mut one, "ROLLBACK");
    }
}

#[test]
fn definitions_of_a_transaction_are_its_own() {
    let database = tables();
    let (mut one, mut other) = (database.connect(), database.connect());
    let sql = "SELECT sum(n) FROM w";
    assert_eq!(value(&mut one, sql), "1000");
    rows(&mut one, "BEGIN");
    rows(
        &mut one,
        "CREATE OR REPLACE VIEW w AS SELECT k, count(*) AS n FROM t WHERE i <= 20 GROUP BY k",
    );
    for _ in 0..2 {
        assert_eq!(value(&mut one, sql), "20");
    }
    assert_eq!(value(&mut other, sql), "1000");
    rows(&mut one, "CREATE VIEW v AS SELECT i FROM t");
    assert_eq!(value(&mut one, "SELECT count(*) FROM v"), "1000");
    rows(&mut one, "ROLLBACK");
    assert_eq!(value(&mut one, sql), "1000");
    let error = try_rows(&mut one, "SELECT count(*) FROM v").unwrap_err();
    assert_eq!(error.sqlstate(), "42P01");
    rows(&mut one, "CREATE TABLE r AS SELECT i, k FROM t");
    let sum = "SELECT sum(i) FROM r";
    assert_eq!(value(&mut one, sum), "500500");
    rows(&mut one, "BEGIN");
    rows(&mut one, "ALTER TABLE r RENAME COLUMN i TO j");
    rows(&mut one, "ALTER TABLE r RENAME COLUMN k TO i");
    assert_eq!(value(&mut one, sum), "4500");
    rows(&mut one, "ROLLBACK");
    assert_eq!(value(&mut one, sum), "500500");
}

#[test]
fn plans_are_those_of_the_settings() {
    let database = tables();
    let mut connection = database.connect();
    rows(
        &mut connection,
        "CREATE TABLE d AS SELECT '01/02/2020' AS text, TIMESTAMPTZ '2020-06-01 12:00:00+00' AS at FROM t WHERE i < 3",
    );
    let sql = "SELECT DISTINCT CAST(text AS DATE), CAST('03/04/2020' AS DATE), extract(hour FROM at), TIMESTAMPTZ '2020-01-01 00:00' < at FROM d";
    let mut ask = |settings: &[&str]| {
        for setting in settings {
            rows(&mut connection, setting);
        }
        let first = rows(&mut connection, sql);
        assert_eq!(rows(&mut connection, sql), first);
        first.concat()
    };
    assert_eq!(ask(&[])[..3], ["2020-01-02", "2020-03-04", "12"]);
    assert_eq!(
        ask(&["SET datestyle = 'ISO, DMY'", "SET timezone = 'Asia/Tokyo'"])[..3],
        ["2020-02-01", "2020-04-03", "21"]
    );
    assert_eq!(
        ask(&["SET datestyle = 'ISO, MDY'", "SET timezone = 'UTC'"])[..3],
        ["2020-01-02", "2020-03-04", "12"]
    );
}

#[test]
fn what_differs_from_call_to_call_is_not_kept() {
    let database = tables();
    let mut connection = database.connect();
    let clock = "SELECT max(clock_timestamp()) FROM t";
    assert_ne!(value(&mut connection, clock), value(&mut connection, clock));
    let now = "SELECT max(now()) FROM t";
    let first = value(&mut connection, now);
    std::thread::sleep(std::time::Duration::from_millis(3));
    assert_ne!(value(&mut connection, now), first);
    rows(
        &mut connection,
        "CREATE VIEW clock AS SELECT i, now() AS at FROM t",
    );
    let now = "SELECT max(at) FROM clock";
    let first = value(&mut connection, now);
    std::thread::sleep(std::time::Duration::from_millis(3));
    assert_ne!(value(&mut connection, now), first);
    for word in [
        "TIMESTAMPTZ 'now'",
        "TIMESTAMPTZ 'now UTC'",
        "CAST('mon NOW' AS TIMESTAMPTZ)",
        "CAST('no' || 'w' AS TIMESTAMPTZ)",
        "CAST(concat('n', 'ow') AS TIMESTAMPTZ)",
        "CAST((SELECT 'no' || 'w') AS TIMESTAMPTZ)",
    ] {
        let sql = format!("SELECT max({word}) FROM t");
        let first = value(&mut connection, &sql);
        std::thread::sleep(std::time::Duration::from_millis(3));
        assert_ne!(value(&mut connection, &sql), first, "{sql}");
    }
    rows(&mut connection, "CREATE SEQUENCE s");
    let next = "SELECT max(nextval('s')) FROM t WHERE i < 4";
    assert_eq!(value(&mut connection, next), "3");
    assert_eq!(value(&mut connection, next), "6");
    let random = "SELECT sum(random()) FROM t";
    assert_ne!(
        value(&mut connection, random),
        value(&mut connection, random)
    );
    let name = "SELECT DISTINCT current_setting('application_name') FROM t";
    rows(&mut connection, "SET application_name = 'one'");
    assert_eq!(value(&mut connection, name), "one");
    rows(&mut connection, "SET application_name = 'two'");
    assert_eq!(value(&mut connection, name), "two");
}

#[test]
fn names_of_columns_are_those_of_the_query() {
    let database = tables();
    let mut connection = database.connect();
    let mut names = |sql: &str| {
        let quire::Outcome::Rows(answer) = connection.execute(sql).unwrap() else {
            panic!("{sql} has no rows");
        };
        let schema = answer.schema();
        let names = schema.fields().iter().map(|field| field.name().clone());
        names.collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert_eq!(
            names("SELECT k AS a, sum(v) FROM t GROUP BY k"),
            ["a", "sum"]
        );
        assert_eq!(
            names("SELECT k AS b, sum(v) AS s FROM t GROUP BY k"),
            ["b", "s"]
        );
    }
    // More queries than are kept.
    for number in 0..400 {
        let sql = format!("SELECT count(*) FROM t WHERE i <= {number}");
        assert_eq!(sorted_rows(&mut connection, &sql), [[number.to_string()]]);
    }
    for number in (0..400).rev() {
        let sql = format!("SELECT count(*) FROM t WHERE i <= {number}");
        assert_eq!(sorted_rows(&mut connection, &sql), [[number.to_string()]]);
    }
}
