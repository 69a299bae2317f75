//! The order of joins must not show in an answer.

use quire::{Connection, Database};

use crate::support::{Random, database, rows, sorted_rows};

const TABLES: usize = 8;

/// Tables `t0` to `t7` of growing size, whose columns a, b, c share a small set of values, so that
/// any two can be joined and most joins have matches.
fn tables() -> Database {
    let database = database();
    let mut connection = database.connect();
    for table in 0..TABLES {
        let size = 2 + table * table;
        rows(
            &mut connection,
            &format!("CREATE TABLE t{table} (a INTEGER, b INTEGER, c BIGINT, s TEXT)"),
        );
        rows(
            &mut connection,
            &format!(
                "INSERT INTO t{table} SELECT CASE WHEN i % 7 = 3 THEN NULL ELSE i % {} END, \
                 i % 5, i % 11, 's' || (i % 4) FROM generate_series(1, {size}) AS g(i)",
                3 + table
            ),
        );
    }
    database
}

fn connect(database: &Database, join_order: &str) -> Connection {
    let mut connection = database.connect();
    rows(
        &mut connection,
        &format!("SET quire.join_order = {join_order}"),
    );
    connection
}

/// A query over three to six tables: a spanning tree of equalities, perhaps a cycle, other
/// conditions, subqueries that become semi and anti joins, and sometimes an outer join inside.
fn random_query(random: &mut Random) -> String {
    let count = 3 + random.below(4);
    let tables: Vec<usize> = (0..count).map(|_| random.below(TABLES)).collect();
    let mut from: Vec<String> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    for (alias, table) in tables.iter().enumerate() {
        if alias > 0 && random.below(6) == 0 {
            let before = random.below(alias);
            let last = from.pop().unwrap();
            from.push(format!(
                "{last} {} JOIN t{table} x{alias} ON x{}.a = x{alias}.a",
                random.pick(&["LEFT", "INNER"]),
                alias - 1
            ));
            let _ = before;
        } else {
            from.push(format!("t{table} x{alias}"));
            if alias > 0 {
                let other = random.below(alias);
                let (left, right) = (column(random), column(random));
                conditions.push(format!("x{other}.{left} = x{alias}.{right}"));
            }
        }
    }
    for _ in 0..random.below(4) {
        conditions.push(extra_condition(random, count));
    }
    let columns: Vec<String> = (0..count).map(|alias| format!("sum(x{alias}.c)")).collect();
    let filter = if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    };
    format!(
        "SELECT count(*), {} FROM {}{filter}",
        columns.join(", "),
        from.join(", ")
    )
}

fn column(random: &mut Random) -> &'static str {
    random.pick(&["a", "b", "c"])
}

fn extra_condition(random: &mut Random, count: usize) -> String {
    let (x, y) = (random.below(count), random.below(count));
    let (left, right) = (column(random), column(random));
    let (table, value) = (random.below(TABLES), random.below(6));
    match random.below(8) {
        0 => format!("x{x}.{left} = x{y}.{right}"),
        1 => format!("x{x}.{left} < x{y}.{right}"),
        2 => format!("x{x}.{left} = {value}"),
        3 => format!("x{x}.s = 's{}'", value % 4),
        4 => format!("(x{x}.{left} = {value} OR x{y}.{right} = {value})"),
        5 => format!("x{x}.{left} IN (SELECT {right} FROM t{table} WHERE b <> {value})"),
        6 => format!("EXISTS (SELECT 1 FROM t{table} e WHERE e.{right} = x{x}.{left})"),
        _ => format!(
            "NOT EXISTS (SELECT 1 FROM t{table} e WHERE e.{right} = x{x}.{left} AND e.c > {value})"
        ),
    }
}

#[test]
fn answers_do_not_depend_on_the_order_of_joins() {
    let database = tables();
    let mut written = connect(&database, "off");
    let mut chosen = connect(&database, "on");
    let mut random = Random(1);
    let mut matched = 0;
    for case in 0..150 {
        let sql = random_query(&mut random);
        let expected = sorted_rows(&mut written, &sql);
        assert_eq!(
            sorted_rows(&mut chosen, &sql),
            expected,
            "case {case}: {sql}"
        );
        matched += usize::from(expected[0][0] != "0");
    }
    assert!(
        matched > 50,
        "only {matched} queries return rows: they test nothing"
    );
}

#[test]
fn columns_keep_their_order_and_names() {
    let database = tables();
    let mut connection = connect(&database, "on");
    let sql = "SELECT * FROM t7 x, t1 y, t0 z WHERE x.b = y.b AND y.c = z.c ORDER BY 1, 2, 3, 4";
    let chosen = rows(&mut connection, sql);
    let mut connection = connect(&database, "off");
    assert_eq!(rows(&mut connection, sql), chosen);
    assert_eq!(chosen[0].len(), 12);
}

/// More tables than are tried exhaustively.
#[test]
fn wide_joins_are_ordered_too() {
    let database = tables();
    let names: Vec<String> = (0..14)
        .map(|alias| format!("t{} x{alias}", alias % 3))
        .collect();
    let joins: Vec<String> = (1..14).map(|alias| format!("x0.b = x{alias}.b")).collect();
    let sql = format!(
        "SELECT count(*), max(x13.c) FROM {} WHERE x0.b = 1 AND {}",
        names.join(", "),
        joins.join(" AND ")
    );
    let expected = rows(&mut connect(&database, "off"), &sql);
    assert_eq!(rows(&mut connect(&database, "on"), &sql), expected);
}

/// Two columns of one table that must both equal a third: the equality between them must not get
/// lost when one of the three is implied by the others.
#[test]
fn equalities_within_a_table_are_kept() {
    let database = tables();
    let sql = "SELECT count(*) FROM t5 x, t6 y, t7 z WHERE x.a = y.b AND x.b = y.b AND y.b = z.b";
    let expected = rows(&mut connect(&database, "off"), sql);
    assert_eq!(rows(&mut connect(&database, "on"), sql), expected);
    let by_hand = "SELECT count(*) FROM (SELECT * FROM t5 WHERE a = b) x JOIN t6 y ON x.b = y.b \
                   JOIN t7 z ON y.b = z.b";
    assert_eq!(rows(&mut connect(&database, "off"), by_hand), expected);
}
