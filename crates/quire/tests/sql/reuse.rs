//! A connection uses again what a statement leaves: its transaction's memory, its token, its buffers. What one statement has done must not
//! be seen in the next, however it ended. Two databases run the same statements, one on one connection with statements prepared once, the
//! other on a new connection for each transaction: they agree in every answer and every row.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quire::{Connection, Database, Error, Prepared, Value};

use crate::support::{Random, database, rows, value};

const STATEMENTS: [&str; 12] = [
    "INSERT INTO t VALUES ($1, $2, NULL)",
    "INSERT INTO t VALUES ($1, $2, 'there') ON CONFLICT (id) DO UPDATE SET k = t.k + excluded.k, name = 'again'",
    "UPDATE t SET k = k - $2 WHERE id = $1",
    "UPDATE t SET id = $2 WHERE id = $1",
    "UPDATE t SET name = 'name ' || $2 WHERE id = $1 RETURNING k",
    "DELETE FROM t WHERE id = $1 AND k < $2",
    "INSERT INTO c VALUES ($2, $1)",
    "DELETE FROM c WHERE id = $1 AND id <> $2",
    "SELECT k + $2 FROM t WHERE id = $1",
    // Beside its entry, or too long for that.
    "UPDATE t SET name = repeat('long ', CAST(100 * $2 AS INTEGER)) WHERE id = $1",
    "INSERT INTO t VALUES ($1 + 20, $2 + 100, 'first'), ($1, $2, repeat('second ', 300))",
    "INSERT INTO t (k, id) SELECT $2 + 200, $1 + 40 UNION ALL SELECT $2, $1",
];

/// What somebody else does between two transactions.
const OTHERS: [&str; 5] = [
    "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'more'",
    "ALTER TABLE t DROP COLUMN more",
    "UPDATE t SET k = k + 300 WHERE id % 5 = 0 AND k < 300",
    "DELETE FROM t WHERE id > 20 AND id NOT IN (SELECT t FROM c WHERE t IS NOT NULL)",
    "DELETE FROM c",
];

fn tables() -> Database {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL UNIQUE CHECK (k > 0), name TEXT)",
        "CREATE TABLE c (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t)",
        "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, NULL)",
    ] {
        connection.execute(sql).unwrap();
    }
    database
}

fn statements(connection: &mut Connection) -> Vec<Prepared> {
    let prepared = STATEMENTS.map(|sql| connection.prepare(sql).unwrap());
    prepared.into()
}

/// What a statement says: rows, their values, and how many it changed; or how it failed.
type Answer = Result<(Vec<Vec<Value>>, u64), String>;

fn answer(statement: &mut Prepared, values: &[Value]) -> Answer {
    let mut run = || -> Result<_, Error> {
        let mut reply = statement.execute(values)?;
        let mut rows = Vec::new();
        while let Some(row) = reply.next_row()? {
            rows.push(row.to_vec());
        }
        Ok((rows, reply.rows_affected()))
    };
    run().map_err(|error| error.sqlstate().to_owned())
}

/// Whole rows, with what is too long for its row.
fn contents(database: &Database) -> [Vec<Vec<String>>; 2] {
    let mut connection = database.connect();
    ["SELECT * FROM t ORDER BY id", "SELECT * FROM c ORDER BY id"]
        .map(|sql| rows(&mut connection, sql))
}

#[test]
fn statements_on_one_connection_answer_as_on_new_ones() {
    for seed in 0..4 {
        let mut random = Random(seed);
        let (used, new) = (tables(), tables());
        let mut kept = used.connect();
        let mut kept_statements = statements(&mut kept);
        let (mut failures, mut successes) = (0, [0; STATEMENTS.len()]);
        for round in 0..150 {
            let context = format!("seed {seed}, round {round}");
            let mut fresh = new.connect();
            let isolation = ["read committed", "repeatable read", "serializable"][random.below(3)];
            let set = format!("SET default_transaction_isolation = '{isolation}'");
            let mut fresh_statements = statements(&mut fresh);
            let is_block = random.below(3) == 0;
            let both = |kept: &mut Connection, fresh: &mut Connection, sql: &str| {
                let run = |connection: &mut Connection| {
                    let outcome = connection.execute(sql).map(drop);
                    outcome.map_err(|error| error.sqlstate().to_owned())
                };
                assert_eq!(run(kept), run(fresh), "{context}: {sql}");
            };
            if random.below(4) == 0 {
                let sql = OTHERS[random.below(OTHERS.len())];
                both(&mut used.connect(), &mut new.connect(), sql);
            }
            both(&mut kept, &mut fresh, &set);
            if is_block {
                both(&mut kept, &mut fresh, "BEGIN");
            }
            for _ in 0..1 + random.below(4) {
                if is_block && random.below(3) == 0 {
                    let words = ["SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"][random.below(3)];
                    both(&mut kept, &mut fresh, words);
                }
                let number = random.below(STATEMENTS.len());
                let values = [1 + random.below(12), 1 + random.below(25)];
                let values = values.map(|value| Value::Integer(value as i64));
                let expected = answer(&mut fresh_statements[number], &values);
                let found = answer(&mut kept_statements[number], &values);
                let sql = STATEMENTS[number];
                assert_eq!(found, expected, "{context}: {sql} {values:?}");
                failures += usize::from(found.is_err());
                successes[number] += usize::from(found.is_ok());
            }
            if is_block {
                let end = ["COMMIT", "ROLLBACK"][random.below(2)];
                both(&mut kept, &mut fresh, end);
            }
            assert_eq!(contents(&used), contents(&new), "{context}");
        }
        assert!(failures > 50, "{failures} failures");
        assert!(!successes.contains(&0), "{successes:?}");
    }
}

/// The row is locked by somebody else: the statement gives up, or is told to. The next ones wait for nothing, and keep nothing.
#[test]
fn statements_after_one_that_waited_in_vain_are_as_good_as_any() {
    let database = tables();
    let (mut connection, mut other) = (database.connect(), database.connect());
    let mut prepared = statements(&mut connection);
    let cancel = connection.cancel_handle();
    let mut run = |number: usize, id: i64, k: i64| {
        answer(
            &mut prepared[number],
            &[Value::Integer(id), Value::Integer(k)],
        )
    };
    let changed = Ok((Vec::new(), 1));
    for round in 0..4 {
        assert_eq!(run(2, 1, 1), changed);
        other.execute("BEGIN").unwrap();
        other
            .execute("UPDATE t SET name = 'locked' WHERE id = 1")
            .unwrap();
        connection.execute("SET lock_timeout = '1ms'").unwrap();
        assert_eq!(run(2, 1, 1), Err("55P03".to_owned()));
        assert_eq!(run(0, 1, 1), Err("55P03".to_owned()));
        assert_eq!(run(2, 2, 1), changed);
        connection.execute("SET lock_timeout = 0").unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    cancel.cancel();
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            assert_eq!(run(5, 1, 1_000), Err("57014".to_owned()));
            is_over.store(true, Ordering::SeqCst);
        });
        // The cancellation was of that statement, and its transaction has locked nothing.
        assert_eq!(run(2, 3, 1), changed);
        let sql = "SELECT name FROM t WHERE id = 3 FOR UPDATE NOWAIT";
        assert_eq!(rows(&mut other, sql), [["NULL"]]);
        other.execute("ROLLBACK").unwrap();
        assert_eq!(run(2, 1, 1), changed);
        let sum = value(&mut other, "SELECT sum(k) FROM t");
        assert_eq!(sum, (60 - 4 * (round + 1)).to_string());
    }
}

/// A table is changed and dropped while the connection has memory of statements on it.
#[test]
fn what_is_kept_keeps_no_table() {
    let database = database();
    let (mut connection, mut other) = (database.connect(), database.connect());
    for round in 0..5 {
        other
            .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER)")
            .unwrap();
        let mut insert = connection.prepare("INSERT INTO t VALUES ($1, $2)").unwrap();
        let mut update = connection
            .prepare("UPDATE t SET k = k + $2 WHERE id = $1")
            .unwrap();
        for id in 0..10 {
            let values = [Value::Integer(id), Value::Integer(id)];
            assert_eq!(answer(&mut insert, &values), Ok((Vec::new(), 1)));
            if id == 5 {
                let sql = "ALTER TABLE t ALTER COLUMN k SET DEFAULT 7";
                other.execute(sql).unwrap();
            }
            assert_eq!(answer(&mut update, &values), Ok((Vec::new(), 1)));
        }
        let sum = value(&mut connection, "SELECT sum(k) FROM t");
        assert_eq!(sum, "90", "round {round}");
        other.execute("DROP TABLE t").unwrap();
        let values = [Value::Integer(1), Value::Integer(1)];
        assert_eq!(answer(&mut update, &values), Err("42P01".to_owned()));
    }
}
