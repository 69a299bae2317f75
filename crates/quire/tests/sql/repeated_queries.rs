//! Queries of row tables that are executed again: planned once for all values of their parameters, with the answers of a query that is planned each time.

use arrow::datatypes::DataType;
use quire::{Connection, Database, Prepared, Reply, Value};

use crate::support::{Random, database, error, rows, value};

/// Row tables of authors, books and sales; some sales have no price, and some books no author.
fn shop() -> Database {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, born DATE) USING row",
        "INSERT INTO author SELECT i, 'author ' || i, DATE '1950-01-01' + i FROM generate_series(1, 50) AS g(i)",
        "CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER, title TEXT) USING row",
        "INSERT INTO book SELECT i, NULLIF(i * 7 % 60, 3), 'title ' || i % 40 FROM generate_series(1, 200) AS g(i)",
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, book_id INTEGER, price NUMERIC(10,2), weight DOUBLE PRECISION) USING row",
        "INSERT INTO sale SELECT i, i * 13 % 210, NULLIF(i % 90, 7) * 1.25, i * 0.5 FROM generate_series(1, 3000) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    database
}

fn read(mut reply: Reply) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    while let Some(row) = reply.next_row().unwrap() {
        all.push(row.to_vec());
    }
    all
}

/// Queries that the tuple engine ran, and queries that it left.
fn engine_counts(connection: &mut Connection) -> (u64, u64) {
    let counts = rows(
        connection,
        "SELECT tuple_queries, left_to_batches FROM quire_engine()",
    );
    (counts[0][0].parse().unwrap(), counts[0][1].parse().unwrap())
}

const JOIN: &str = "SELECT a.name, count(*), sum(s.price) FROM sale AS s JOIN book AS b ON b.id = s.book_id \
                    JOIN author AS a ON a.id = b.author_id";

/// Queries with two parameters: a number and a text.
const QUERIES: [&str; 9] = [
    "SELECT a.name, b.title FROM author AS a JOIN book AS b ON a.id = b.author_id WHERE a.id = $1 AND b.title > $2 ORDER BY b.id",
    "SELECT a.name, count(*), sum(s.price) FROM sale AS s JOIN book AS b ON b.id = s.book_id JOIN author AS a ON a.id = b.author_id \
     WHERE s.id < $1 AND a.name <> $2 GROUP BY a.name ORDER BY 1",
    "SELECT b.title FROM book AS b LEFT JOIN author AS a ON a.id = b.author_id AND a.id > $1 WHERE a.id IS NULL OR a.name = $2 ORDER BY b.id LIMIT 7",
    "SELECT id FROM sale WHERE price > $1 AND book_id IN (SELECT id FROM book WHERE title = $2) ORDER BY id",
    "SELECT id FROM book WHERE NOT EXISTS (SELECT 1 FROM sale WHERE book_id = book.id AND sale.id > $1) AND title <> $2 ORDER BY id",
    "SELECT s.id + $1, s.weight * $1 FROM sale AS s JOIN book AS b ON b.id = s.book_id WHERE b.title = $2 ORDER BY s.id OFFSET 2",
    "WITH few AS (SELECT * FROM book WHERE id < $1) SELECT count(*) FROM few JOIN author ON author.id = few.author_id WHERE name LIKE $2",
    "SELECT round(s.price, $1), round(s.price / 3, 2) FROM sale AS s JOIN book AS b ON b.id = s.book_id WHERE b.title < $2 ORDER BY s.id, 1",
    "SELECT max(price) FROM sale WHERE id > (SELECT min(id) FROM book WHERE author_id = $1) AND $2 <> 'x'",
];

#[test]
fn answers_are_those_of_a_query_that_is_planned_each_time() {
    let database = shop();
    let (mut repeated, mut general) = (database.connect(), database.connect());
    rows(&mut general, "SET quire.statement_path = off");
    rows(&mut general, "SET engine = 'batch'");
    let mut random = Random(7);
    for sql in QUERIES {
        let mut statement = repeated.prepare(sql).unwrap();
        let mut expected = general.prepare(sql).unwrap();
        for data_type in [DataType::Int16, DataType::Int32, DataType::Int64] {
            let types = [Some(data_type), Some(DataType::Utf8)];
            for _ in 0..6 {
                let text = random.pick(&["title 3", "author 9", "", "%9", "now"]);
                let number = match random.below(5) {
                    0 => Value::Null,
                    _ => Value::Integer(random.below(80) as i64 - 5),
                };
                let values = [number, Value::Text(text.into())];
                let run = |statement: &mut Prepared| {
                    let reply = statement.execute_as(&values, &types).unwrap();
                    (reply.schema().cloned(), read(reply))
                };
                assert_eq!(run(&mut statement), run(&mut expected), "{sql} {values:?}");
            }
        }
    }
}

#[test]
fn the_second_execution_plans_for_all_that_follow() {
    let database = shop();
    let mut connection = database.connect();
    let sql = format!("{JOIN} WHERE a.id = $1 GROUP BY a.name");
    let mut statement = connection.prepare(&sql).unwrap();
    let before = engine_counts(&mut connection);
    // Author 3 has no book.
    for id in [1, 2, 4, 5, 6] {
        let found = read(statement.execute(&[Value::Integer(id)]).unwrap());
        assert_eq!(
            found[0][0],
            Value::Text(format!("author {id}").as_str().into())
        );
    }
    let after = engine_counts(&mut connection);
    assert_eq!((after.0 - before.0, after.1), (5, before.1));
}

/// More rows than are taken at once come while they are read, and an error of a later row is not lost.
#[test]
fn many_rows_come_while_they_are_read() {
    let database = shop();
    let mut connection = database.connect();
    let sql = "SELECT s.id, b.title FROM sale AS s JOIN book AS b ON b.id = s.book_id WHERE s.id > $1 ORDER BY s.id";
    let mut statement = connection.prepare(sql).unwrap();
    let counted = |least: i64| {
        let sql = format!(
            "SELECT count(*) FROM sale JOIN book ON book.id = book_id WHERE sale.id > {least}"
        );
        value(&mut database.connect(), &sql)
    };
    for least in [0, 0, 0, 2500, 0] {
        let found = read(statement.execute(&[Value::Integer(least)]).unwrap());
        assert_eq!(found.len().to_string(), counted(least));
        assert!(found.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }
    let sql = "SELECT 100 / (s.id - 2000) FROM sale AS s JOIN book AS b ON b.id = s.book_id WHERE s.id > $1 ORDER BY s.id";
    let mut failing = connection.prepare(sql).unwrap();
    for _ in 0..3 {
        let ended = failing
            .execute(&[Value::Integer(100)])
            .and_then(|mut reply| {
                while reply.advance()? {}
                Ok(())
            });
        assert_eq!(ended.unwrap_err().sqlstate(), "22012");
    }
}

#[test]
fn other_tables_and_rows_are_planned_for_again() {
    let database = shop();
    let (mut connection, mut other) = (database.connect(), database.connect());
    rows(
        &mut other,
        "CREATE VIEW cheap AS SELECT * FROM sale WHERE price < 5",
    );
    let sql = "SELECT count(*) FROM cheap JOIN book ON book.id = cheap.book_id WHERE book.id <> $1";
    let mut statement = connection.prepare(sql).unwrap();
    let mut count = move || {
        let found = read(statement.execute(&[Value::Integer(0)]).unwrap());
        match found[0][0] {
            Value::Integer(count) => count,
            ref other => panic!("{other:?}"),
        }
    };
    let first = count();
    assert_eq!([count(), count()], [first, first]);
    for sql in [
        "DROP VIEW cheap",
        "CREATE VIEW cheap AS SELECT * FROM sale WHERE price < 5 AND id > 1500",
    ] {
        rows(&mut other, sql);
    }
    let fewer = count();
    assert!(fewer < first && fewer > 0, "{fewer} of {first}");
    assert_eq!([count(), count()], [fewer, fewer]);
    rows(
        &mut other,
        "INSERT INTO book SELECT i, 1, 'new' FROM generate_series(1000, 3000) AS g(i)",
    );
    rows(
        &mut other,
        "INSERT INTO sale SELECT i, i - 2000, 1, 1 FROM generate_series(4000, 5000) AS g(i)",
    );
    assert_eq!(count() - fewer, 1001);
    rows(&mut other, "ALTER TABLE book RENAME TO volume");
    let failed = connection
        .prepare(sql)
        .and_then(|mut it| it.execute(&[Value::Integer(0)]).map(|_| ()));
    assert_eq!(failed.unwrap_err().sqlstate(), "42P01");
}

/// A query that was cancelled while it was planned for all executions is not cancelled for ever.
#[test]
fn a_cancelled_execution_cancels_no_other() {
    let database = shop();
    let mut connection = database.connect();
    let sql = "SELECT b.id, length(repeat(b.title, 30000 + a.id % 2)) FROM author AS a JOIN book AS b ON a.id = b.author_id WHERE b.id <= $1";
    let mut statement = connection.prepare(sql).unwrap();
    let handle = connection.cancel_handle();
    let mut read_all = || read(statement.execute(&[Value::Integer(100)]).unwrap());
    let expected = read_all();
    assert_eq!(read_all(), expected);
    handle.cancel();
    assert_eq!(read_all(), expected);
    // One that has read some of its rows, or none, ends here.
    assert_eq!(read_all(), expected);
}

/// What the optimizer leaves out is looked at, too.
#[test]
fn a_table_without_rows_in_the_plan_is_still_read() {
    let database = shop();
    let (mut connection, mut other) = (database.connect(), database.connect());
    let sql = "SELECT b.*, a.name FROM author AS a JOIN book AS b ON a.id = b.author_id LIMIT 0";
    let mut statement = connection.prepare(sql).unwrap();
    let mut width = || {
        statement
            .execute(&[])
            .map(|reply| reply.schema().unwrap().fields().len())
    };
    for _ in 0..3 {
        assert_eq!(width().unwrap(), 4);
    }
    rows(&mut other, "ALTER TABLE book ADD COLUMN pages INTEGER");
    assert_eq!(
        [width().unwrap(), width().unwrap(), width().unwrap()],
        [5, 5, 5]
    );
    rows(&mut other, "DROP TABLE book");
    assert_eq!(width().unwrap_err().sqlstate(), "42P01");
}

/// Each execution has the types that the statement had at first, and the order.
#[test]
fn types_and_orders_do_not_follow_from_the_number_of_executions() {
    let database = shop();
    let (mut repeated, mut general) = (database.connect(), database.connect());
    rows(&mut general, "SET quire.statement_path = off");
    for sql in [
        "SELECT sum(s.id * $1) FROM sale AS s JOIN book AS b ON b.id = s.book_id",
        "SELECT sum(CASE WHEN s.weight > 5 THEN $1 ELSE 0 END) FROM sale AS s JOIN book AS b ON b.id = s.book_id",
        "SELECT b.id, b.title FROM sale AS s JOIN book AS b ON b.id = s.book_id WHERE s.id < 50 ORDER BY $1",
        "SELECT max(b.id), $1 FROM sale AS s JOIN book AS b ON b.id = s.book_id",
        "SELECT round(s.price, $1::integer) FROM sale AS s JOIN book AS b ON b.id = s.book_id WHERE s.id = 26",
        "SELECT round(s.price, CAST($1 + 0 AS INTEGER)) FROM sale AS s JOIN book AS b ON b.id = s.book_id WHERE s.id = 26",
    ] {
        let (mut one, mut other) = (
            repeated.prepare(sql).unwrap(),
            general.prepare(sql).unwrap(),
        );
        for value in [2, 2, 2, 1, 2] {
            let values = [Value::Integer(value)];
            let types = [Some(DataType::Int64)];
            let run = |statement: &mut Prepared| {
                let reply = statement.execute_as(&values, &types).unwrap();
                (reply.schema().cloned(), read(reply))
            };
            assert_eq!(run(&mut one), run(&mut other), "{sql} {value}");
        }
    }
}

#[test]
fn a_view_of_the_transaction_is_the_one_that_is_read() {
    let database = shop();
    let mut connection = database.connect();
    rows(
        &mut connection,
        "CREATE VIEW cheap AS SELECT * FROM sale WHERE price < 5",
    );
    let sql = "SELECT count(*) FROM cheap JOIN book ON book.id = cheap.book_id";
    for _ in 0..3 {
        assert_ne!(value(&mut connection, sql), "0");
    }
    rows(&mut connection, "BEGIN");
    rows(
        &mut connection,
        "CREATE OR REPLACE VIEW cheap AS SELECT * FROM sale WHERE price < -5",
    );
    assert_eq!(value(&mut connection, sql), "0");
    rows(&mut connection, "DROP VIEW cheap");
    assert_eq!(error(&mut connection, sql).sqlstate(), "42P01");
    rows(&mut connection, "ROLLBACK");
}

/// What a transaction has changed, and defined, is what its own executions see.
#[test]
fn a_transaction_sees_its_own_state() {
    let database = shop();
    let (mut connection, mut other) = (database.connect(), database.connect());
    let sql = format!("SELECT count(*) FROM ({JOIN} GROUP BY a.name) AS found");
    let mut statement = connection.prepare(&sql).unwrap();
    let mut count = move || read(statement.execute(&[]).unwrap())[0][0].clone();
    let all = count();
    assert_eq!([count(), count()], [all.clone(), all.clone()]);
    rows(&mut connection, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(count(), all);
    rows(&mut other, "DELETE FROM author WHERE id > 10");
    assert_eq!(count(), all);
    rows(&mut connection, "COMMIT");
    let few = count();
    assert_ne!(few, all);
    rows(&mut connection, "BEGIN");
    rows(&mut connection, "ALTER TABLE author RENAME TO writer");
    rows(
        &mut connection,
        "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT) USING row",
    );
    assert_eq!(count(), Value::Integer(0));
    rows(&mut connection, "ROLLBACK");
    assert_eq!(count(), few);
    rows(&mut connection, "BEGIN");
    assert_eq!(error(&mut connection, "SELECT nothing").sqlstate(), "42703");
    assert_eq!(error(&mut connection, &sql).sqlstate(), "25P02");
    rows(&mut connection, "ROLLBACK");
    assert_eq!(count(), few);
}
