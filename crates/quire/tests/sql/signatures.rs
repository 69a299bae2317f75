//! What is known of statements before they run, and of transactions between them.

use quire::arrow::datatypes::DataType;
use quire::{Connection, Outcome, TransactionStatus, Value};

use crate::support::database;

/// A row table, a column table and a view.
fn connection() -> Connection {
    let mut connection = database().connect();
    for sql in [
        "CREATE TABLE r (id INTEGER PRIMARY KEY, name TEXT, price DECIMAL(10,2))",
        "CREATE TABLE c (day DATE, amount BIGINT) USING column",
        "INSERT INTO r VALUES (1, 'Ada', 1.5), (2, 'Bob', NULL)",
        "CREATE VIEW v AS SELECT name, count(*) AS n FROM r GROUP BY name",
    ] {
        connection.execute(sql).unwrap();
    }
    connection
}

fn described(connection: &mut Connection, sql: &str) -> Option<Vec<(String, DataType)>> {
    let mut prepared = connection.prepare(sql).unwrap();
    let types: Vec<_> = prepared.parameter_types().to_vec();
    let types: Vec<_> = types
        .into_iter()
        .map(|one| one.or(Some(DataType::Utf8)))
        .collect();
    let schema = prepared.describe(&types).unwrap()?;
    let column = |field: &std::sync::Arc<quire::arrow::datatypes::Field>| {
        (field.name().clone(), field.data_type().clone())
    };
    Some(schema.fields().iter().map(column).collect())
}

#[test]
fn descriptions_are_those_of_the_rows_that_come() {
    let mut connection = connection();
    for sql in [
        "SELECT name, price FROM r WHERE id = 1",
        "SELECT a.name, sum(b.price) AS total FROM r a JOIN r b ON a.id < b.id GROUP BY a.name",
        "SELECT * FROM v",
        "WITH x AS (SELECT 1 AS one) SELECT one, one + 1 AS two FROM x",
        "VALUES (1, 'x')",
        "SELECT id FROM r FOR UPDATE",
        "SHOW application_name",
        "SHOW TABLES",
        "EXPLAIN SELECT 1",
        "INSERT INTO r VALUES (7, 'x', 1) RETURNING id, name",
        "UPDATE r SET price = 2 WHERE id = 7 RETURNING price * 2 AS twice",
        "UPDATE r SET price = amount FROM c WHERE id = amount RETURNING id, day",
        "DELETE FROM r WHERE id = 7 RETURNING *",
        "DELETE FROM c WHERE amount = 7 RETURNING day",
        "INSERT INTO c VALUES (DATE '2024-01-01', 1) RETURNING amount",
    ] {
        let before = described(&mut connection, sql);
        let Outcome::Rows(rows) = connection.execute(sql).unwrap() else {
            panic!("{sql} gives no rows")
        };
        let schema = rows.schema();
        let came = schema.fields().iter();
        let came = came.map(|field| (field.name().clone(), field.data_type().clone()));
        assert_eq!(before, Some(came.collect()), "{sql}");
    }
    for sql in [
        "INSERT INTO r VALUES (8, 'x', 1)",
        "CREATE TABLE other (a INTEGER)",
        "BEGIN",
        "SET application_name = 'x'",
        "",
    ] {
        assert_eq!(described(&mut connection, sql), None, "{sql}");
    }
    let count = connection
        .prepare("SELECT count(*) FROM r")
        .unwrap()
        .execute(&[]);
    assert_eq!(
        count.unwrap().next_row().unwrap().unwrap(),
        [Value::Integer(2)]
    );
}

#[test]
fn queries_are_told_from_what_changes_something() {
    let mut connection = connection();
    for (sql, expected) in [
        ("SELECT 1", true),
        ("SELECT * FROM r WHERE id = $1", true),
        ("SHOW ALL", true),
        ("SELECT * FROM r FOR UPDATE", false),
        ("INSERT INTO r VALUES (9, 'x', 1) RETURNING id", false),
        ("WITH x AS (SELECT 1) DELETE FROM r RETURNING id", false),
        ("BEGIN", false),
    ] {
        assert_eq!(
            connection.prepare(sql).unwrap().is_query(),
            expected,
            "{sql}"
        );
    }
    assert_eq!(
        connection.prepare("SELEC 1").unwrap_err().sqlstate(),
        "42601"
    );
}

#[test]
fn parameters_of_any_query_have_types() {
    let mut connection = connection();
    let decimal = DataType::Decimal128(10, 2);
    for (sql, expected) in [
        (
            "SELECT $1::int, CAST($2 AS DATE)",
            vec![Some(DataType::Int32), Some(DataType::Date32)],
        ),
        (
            "SELECT * FROM r a, r b WHERE a.id = b.id AND b.price > $1",
            vec![Some(decimal)],
        ),
        (
            "SELECT count(*) FROM c WHERE amount < $1 GROUP BY day",
            vec![Some(DataType::Int64)],
        ),
        (
            "INSERT INTO c VALUES ($1, $2)",
            vec![Some(DataType::Date32), Some(DataType::Int64)],
        ),
        ("SELECT $1", vec![None]),
    ] {
        let prepared = connection.prepare(sql).unwrap();
        assert_eq!(prepared.parameter_types(), expected, "{sql}");
    }
}

#[test]
fn callers_may_say_the_types_of_parameters() {
    let mut connection = connection();
    let mut select = connection
        .prepare("SELECT count(*) FROM r WHERE id < $1")
        .unwrap();
    let large = [Value::Integer(5_000_000_000)];
    assert!(select.execute(&large).is_err());
    let mut count = select.execute_as(&large, &[Some(DataType::Int64)]).unwrap();
    assert_eq!(count.next_row().unwrap().unwrap(), [Value::Integer(2)]);
}

#[test]
fn rows_say_their_command() {
    let mut connection = connection();
    for (sql, expected) in [
        ("SELECT 1", "SELECT"),
        ("SELECT name FROM r WHERE id = 1", "SELECT"),
        ("INSERT INTO r VALUES (5, 'x', 1) RETURNING id", "INSERT 0"),
        ("UPDATE r SET name = 'y' RETURNING id", "UPDATE"),
        (
            "UPDATE r SET name = 'y' WHERE id = 5 RETURNING id",
            "UPDATE",
        ),
        ("DELETE FROM r WHERE id = 5 RETURNING id", "DELETE"),
        ("SHOW threads", "SHOW"),
        ("EXPLAIN SELECT 1", "EXPLAIN"),
    ] {
        let reply = connection.prepare(sql).unwrap().execute(&[]).unwrap();
        assert_eq!(reply.command(), expected, "{sql}");
        let Outcome::Rows(rows) = reply.into_outcome().unwrap() else {
            panic!("{sql} gives no rows")
        };
        assert_eq!(rows.command(), expected, "{sql}");
    }
}

#[test]
fn a_transaction_says_where_it_is() {
    let mut connection = connection();
    assert_eq!(connection.transaction_status(), TransactionStatus::Idle);
    connection.fail_transaction();
    assert_eq!(connection.transaction_status(), TransactionStatus::Idle);
    connection.execute("BEGIN").unwrap();
    assert_eq!(connection.transaction_status(), TransactionStatus::Open);
    connection.fail_transaction();
    assert_eq!(connection.transaction_status(), TransactionStatus::Failed);
    assert_eq!(
        connection.execute("SELECT 1").unwrap_err().sqlstate(),
        "25P02"
    );
    connection.execute("ROLLBACK").unwrap();
    assert_eq!(connection.transaction_status(), TransactionStatus::Idle);
}

#[test]
fn settings_are_set_without_a_statement() {
    let mut connection = connection();
    connection.set_setting("Application_Name", "it's").unwrap();
    assert_eq!(connection.setting("application_name").unwrap(), "it's");
    assert_eq!(
        connection
            .set_setting("nonsense", "1")
            .unwrap_err()
            .sqlstate(),
        "42704"
    );
    assert_eq!(
        connection.setting("nonsense").unwrap_err().sqlstate(),
        "42704"
    );
}
