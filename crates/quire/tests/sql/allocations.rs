//! Prepared statements on one row by its key, again and again: none of them needs memory that the one before has not left.

use allocation_counter::measure;
use quire::{Connection, Prepared, Value};

use crate::support::{Random, database};

const ROWS: usize = 4_000;

/// Statements of which each is counted.
const COUNTED: usize = 1_000;

fn filled(more: &str) -> (quire::Database, Connection) {
    let database = database();
    let mut connection = database.connect();
    // A commit that waits for its sync makes a page of the log, and a group that others can join.
    connection.execute("SET synchronous = 'off'").unwrap();
    let columns = "id BIGINT PRIMARY KEY, k INTEGER NOT NULL, n DECIMAL(8,2), name TEXT";
    let sql = format!("CREATE TABLE t ({columns})");
    connection.execute(&sql).unwrap();
    connection.execute(more).unwrap();
    connection.execute("BEGIN").unwrap();
    let mut insert = connection.prepare("INSERT INTO t VALUES ($1, $2, 1.5, $3)");
    let insert = insert.as_mut().unwrap();
    for id in 0..ROWS as i64 {
        let values = [Value::Integer(id * 10), Value::Integer(id), name(id)];
        insert.execute(&values).unwrap();
    }
    connection.execute("COMMIT").unwrap();
    (database, connection)
}

fn name(number: i64) -> Value {
    Value::Text(format!("name number {:06}", number % 1_000_000).into())
}

/// Allocations of each of many executions, in ascending order. What the first ones leave is there then.
fn counts(statement: &mut Prepared, mut values: impl FnMut(usize) -> Vec<Value>) -> Vec<u64> {
    let mut counts = Vec::with_capacity(COUNTED);
    for number in 0..COUNTED + 200 {
        let values = values(number);
        let mut affected = 0;
        let counted = measure(|| affected = statement.execute(&values).unwrap().rows_affected());
        assert_eq!(affected, 1);
        if number >= 200 {
            counts.push(counted.count_total);
        }
    }
    counts.sort_unstable();
    counts
}

/// Allowed is what becomes less with each statement that has gone before or is shared by hundreds: a page of the tree is split or
/// merged, what some pages take on the disk is measured, the log's buffer of a quarter of a megabyte doubles or is written, a hash table
/// of locks grows, the pool notes a page as changed. So 98 of 100 statements allocate nothing at all.
fn are_none(what: &str, counts: &[u64]) {
    let some = &counts[COUNTED * 98 / 100..];
    assert_eq!(some[0], 0, "{what}: {some:?}");
}

#[test]
fn changing_one_row_allocates_nothing() {
    for (indexed, more) in [
        ("", "SELECT 1"),
        (", with an index", "CREATE INDEX ON t (k)"),
    ] {
        let (_database, mut connection) = filled(more);
        let mut random = Random(11);
        let mut id = move || Value::Integer(random.below(ROWS) as i64 * 10);
        let mut prepared = |sql: &str| connection.prepare(sql).unwrap();
        let mut update = prepared("UPDATE t SET k = k + 1 WHERE id = $1");
        are_none(
            &format!("a number{indexed}"),
            &counts(&mut update, |_| vec![id()]),
        );
        let mut update = prepared("UPDATE t SET name = $2, n = $3 WHERE id = $1 AND k >= 0");
        let given = counts(&mut update, |number| {
            let decimal = Value::Decimal((number as i128).into());
            vec![id(), name(number as i64), decimal]
        });
        are_none(&format!("given values{indexed}"), &given);
        let mut insert = prepared("INSERT INTO t VALUES ($1, $2, NULL, $3)");
        let inserted = |number: usize| Value::Integer(number as i64 * 10 + 5);
        let given = counts(&mut insert, |number| {
            vec![inserted(number), Value::Integer(7), name(number as i64)]
        });
        are_none(&format!("insertions{indexed}"), &given);
        let mut delete = prepared("DELETE FROM t WHERE id = $1");
        let given = counts(&mut delete, |number| vec![inserted(number)]);
        are_none(&format!("deletions{indexed}"), &given);
    }
}

/// In a transaction there is more to keep: what is changed, and what is locked. It is kept in pieces that double.
#[test]
fn changing_one_row_in_a_transaction_allocates_little() {
    let (_database, mut connection) = filled("SELECT 1");
    connection.execute("BEGIN").unwrap();
    let mut random = Random(12);
    let mut update = connection
        .prepare("UPDATE t SET k = k + 1 WHERE id = $1")
        .unwrap();
    let counts = counts(&mut update, |_| {
        vec![Value::Integer(random.below(ROWS) as i64 * 10)]
    });
    are_none("in a transaction", &counts);
    connection.execute("ROLLBACK").unwrap();
}
