//! One row by its primary key, in a statement that is a transaction of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use quire::{Prepared, Value, ValueRef};

use crate::support::{Random, database};

#[test]
fn reading_one_row_allocates_nothing() {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, n DECIMAL(8,2), name TEXT, bits BYTEA)",
        "INSERT INTO t VALUES (1, 10, 1.25, 'one', '\\x0102'), (2, 20, NULL, NULL, NULL)",
        "CREATE TABLE pair (a INTEGER, b BIGINT, c TEXT, PRIMARY KEY (b DESC, a))",
        "INSERT INTO pair VALUES (1, 2, 'x'), (2, 2, 'y')",
    ] {
        connection.execute(sql).unwrap();
    }
    let mut row = connection
        .prepare("SELECT k + 1, n, name, bits FROM t WHERE id = $1")
        .unwrap();
    let mut pair = connection
        .prepare("SELECT c FROM pair WHERE a = $1 AND b = $2 AND c <> 'z'")
        .unwrap();
    let mut read = || {
        let mut reply = row.execute(&[Value::Integer(1)]).unwrap();
        assert!(reply.advance().unwrap());
        assert_eq!(reply.value(0), ValueRef::Integer(11));
        assert_eq!(reply.value(1), ValueRef::Decimal(125.into()));
        assert_eq!(reply.value(2), ValueRef::Text("one"));
        assert_eq!(reply.value(3), ValueRef::Bytes(&[1, 2]));
        assert_eq!(reply.value(4), ValueRef::Null);
        assert!(!reply.advance().unwrap());
        assert_eq!(reply.value(0), ValueRef::Null);
        drop(reply);
        let mut reply = pair
            .execute(&[Value::Integer(2), Value::Integer(2)])
            .unwrap();
        assert!(reply.advance().unwrap());
        assert_eq!(reply.value(0), ValueRef::Text("y"));
        drop(reply);
        let mut reply = row.execute(&[Value::Integer(3)]).unwrap();
        assert!(!reply.advance().unwrap());
        drop(reply);
        let mut reply = row.execute(&[Value::Null]).unwrap();
        assert!(!reply.advance().unwrap());
    };
    // Its plan, the memory of its rows and the pages are there after the first time.
    read();
    let counted = allocation_counter::measure(|| (0..100).for_each(|_| read()));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

fn value_of(select: &mut Prepared, id: i64) -> Option<i64> {
    let mut reply = select.execute(&[Value::Integer(id)]).unwrap();
    if reply.advance().unwrap() {
        match reply.value(0) {
            ValueRef::Integer(value) => Some(value),
            other => panic!("{other:?}"),
        }
    } else {
        None
    }
}

/// Columns come and go, and the table with them, while others read single rows of it.
#[test]
fn rows_are_read_as_the_table_is_while_it_changes() {
    let database = database();
    let mut connection = database.connect();
    connection
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT, k BIGINT NOT NULL)")
        .unwrap();
    for id in 0..50 {
        let sql = format!("INSERT INTO t VALUES ({id}, 'x', {id})");
        connection.execute(&sql).unwrap();
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..2 {
            let mut connection = database.connect();
            let is_over = &is_over;
            scope.spawn(move || {
                let mut select = connection.prepare("SELECT k FROM t WHERE id = $1").unwrap();
                let mut random = Random(reader);
                while !is_over.load(Ordering::Relaxed) {
                    let id = random.below(50) as i64;
                    let value = value_of(&mut select, id);
                    assert_eq!(value.map(|value| value % 50), Some(id));
                }
            });
        }
        for round in 0..20 {
            // Rows and their layout change in one commit.
            for sql in [
                "BEGIN",
                &format!("ALTER TABLE t ADD COLUMN extra{round} TEXT DEFAULT 'more'"),
                "UPDATE t SET k = k + 50, x = 'longer than it was'",
                "COMMIT",
                &format!("ALTER TABLE t DROP COLUMN extra{round}"),
                "VACUUM FULL t",
                "UPDATE t SET x = 'x'",
            ] {
                connection.execute(sql).unwrap();
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let mut select = connection.prepare("SELECT k FROM t WHERE id = $1").unwrap();
    assert_eq!(value_of(&mut select, 7), Some(20 * 50 + 7));
}

/// What a statement reads by itself, in a transaction, and through the general path is the same.
#[test]
fn a_transaction_sees_its_own_row() {
    let database = database();
    let (mut connection, mut other) = (database.connect(), database.connect());
    connection
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k BIGINT NOT NULL)")
        .unwrap();
    connection.execute("INSERT INTO t VALUES (1, 1)").unwrap();
    let sql = "SELECT k FROM t WHERE id = $1";
    let mut own = connection.prepare(sql).unwrap();
    let mut others = other.prepare(sql).unwrap();
    connection.execute("BEGIN").unwrap();
    connection.execute("UPDATE t SET k = 2").unwrap();
    assert_eq!(value_of(&mut own, 1), Some(2));
    assert_eq!(value_of(&mut others, 1), Some(1));
    connection.execute("COMMIT").unwrap();
    assert_eq!(value_of(&mut own, 1), Some(2));
    assert_eq!(value_of(&mut others, 1), Some(2));
    other
        .execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        .unwrap();
    assert_eq!(value_of(&mut others, 1), Some(2));
    connection.execute("DELETE FROM t").unwrap();
    assert_eq!(value_of(&mut own, 1), None);
    assert_eq!(value_of(&mut others, 1), Some(2));
    other.execute("COMMIT").unwrap();
    assert_eq!(value_of(&mut others, 1), None);
}

/// Values that are stored aside need more than one look.
#[test]
fn long_values_are_read_whole() {
    let database = database();
    let mut connection = database.connect();
    connection
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, long TEXT)")
        .unwrap();
    let mut insert = connection
        .prepare("INSERT INTO t VALUES ($1, $2, $3)")
        .unwrap();
    let long = "abcdefgh".repeat(20_000);
    let values = [
        Value::Integer(1),
        Value::Integer(5),
        Value::Text(long.as_str().into()),
    ];
    insert.execute(&values).unwrap();
    let mut select = connection
        .prepare("SELECT k, long FROM t WHERE id = $1")
        .unwrap();
    let mut reply = select.execute(&[Value::Integer(1)]).unwrap();
    assert!(reply.advance().unwrap());
    assert_eq!(reply.value(0), ValueRef::Integer(5));
    assert_eq!(reply.value(1), ValueRef::Text(&long));
    assert!(!reply.advance().unwrap());
}

/// Two transactions that add to one row: each sees what the other has committed, whether it reads the row by a snapshot or not.
#[test]
fn additions_to_one_row_are_not_lost() {
    let database = database();
    let mut connection = database.connect();
    connection
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k BIGINT NOT NULL, u INTEGER UNIQUE)")
        .unwrap();
    connection
        .execute("INSERT INTO t VALUES (1, 0, 1)")
        .unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let mut connection = database.connect();
            scope.spawn(move || {
                let mut add = connection
                    .prepare("UPDATE t SET k = k + $2 WHERE id = $1 AND k >= 0 RETURNING k")
                    .unwrap();
                for round in 0..200 {
                    let is_explicit = (round + thread) % 3 == 0;
                    if is_explicit {
                        connection.execute("BEGIN").unwrap();
                    }
                    let mut reply = add
                        .execute(&[Value::Integer(1), Value::Integer(1)])
                        .unwrap();
                    assert!(reply.advance().unwrap());
                    drop(reply);
                    if is_explicit {
                        connection.execute("COMMIT").unwrap();
                    }
                }
            });
        }
    });
    let mut select = connection.prepare("SELECT k FROM t WHERE id = $1").unwrap();
    assert_eq!(value_of(&mut select, 1), Some(800));
}

/// Within a transaction, changing a row that is not there keeps nobody from inserting it.
#[test]
fn a_row_that_is_not_there_is_not_locked() {
    let database = database();
    let (mut connection, mut other) = (database.connect(), database.connect());
    connection
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k BIGINT NOT NULL)")
        .unwrap();
    connection.execute("BEGIN").unwrap();
    let mut update = connection
        .prepare("UPDATE t SET k = k + 1 WHERE id = $1")
        .unwrap();
    let reply = update.execute(&[Value::Integer(1)]).unwrap();
    assert_eq!(reply.rows_affected(), 0);
    other.execute("SET lock_timeout = '50ms'").unwrap();
    other.execute("INSERT INTO t VALUES (1, 1)").unwrap();
    // It is committed, and the transaction sees what is.
    let reply = update.execute(&[Value::Integer(1)]).unwrap();
    assert_eq!(reply.rows_affected(), 1);
    drop(reply);
    let error = other.execute("DELETE FROM t WHERE id = 1").unwrap_err();
    assert_eq!(error.sqlstate(), "55P03");
    connection.execute("COMMIT").unwrap();
    let mut delete = other
        .prepare("DELETE FROM t WHERE id = $1 AND k = 2")
        .unwrap();
    assert_eq!(
        delete
            .execute(&[Value::Integer(1)])
            .unwrap()
            .rows_affected(),
        1
    );
    assert_eq!(
        delete
            .execute(&[Value::Integer(1)])
            .unwrap()
            .rows_affected(),
        0
    );
}

/// A statement that only inserts has no snapshot of its own. What others have committed meanwhile, rows and definitions, counts for it all
/// the same, and what it does belongs to its transaction like anything else.
#[test]
fn insertions_in_a_transaction_find_what_others_have_committed() {
    let database = database();
    let (mut connection, mut other) = (database.connect(), database.connect());
    for sql in [
        "CREATE TABLE p (id INTEGER PRIMARY KEY)",
        "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p)",
        "INSERT INTO p VALUES (1)",
        "SET lock_timeout = '60s'",
    ] {
        other.execute(sql).unwrap();
    }
    let mut insertion = connection
        .prepare("INSERT INTO c VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .unwrap();
    let mut insert = |id, p| {
        let inserted = insertion.execute(&[Value::Integer(id), Value::Integer(p)]);
        inserted.unwrap().rows_affected()
    };
    let mut count = connection
        .prepare("SELECT count(*) FROM c WHERE id > $1")
        .unwrap();
    connection.execute("BEGIN").unwrap();
    assert_eq!(value_of(&mut count, 0), Some(0));
    // Once a row of p is referred to, nobody alters p before the end of the transaction.
    for sql in [
        "INSERT INTO p VALUES (2)",
        "ALTER TABLE p ADD COLUMN name TEXT DEFAULT 'unknown'",
        "INSERT INTO p VALUES (3, 'three')",
        "INSERT INTO c VALUES (4, 3)",
    ] {
        other.execute(sql).unwrap();
    }
    assert_eq!(insert(1, 1), 1);
    assert_eq!((insert(2, 2), insert(3, 3), insert(4, 1)), (1, 1, 0));
    assert_eq!(value_of(&mut count, 0), Some(4));
    connection.execute("SAVEPOINT s").unwrap();
    assert_eq!((insert(5, 1), insert(5, 1)), (1, 0));
    connection.execute("ROLLBACK TO s").unwrap();
    assert_eq!(insert(6, 1), 1);
    assert_eq!(value_of(&mut count, 0), Some(5));
    connection.execute("COMMIT").unwrap();
    assert_eq!(value_of(&mut count, 4), Some(1));
    let mut unknown = connection.prepare("INSERT INTO c VALUES ($1, 9)").unwrap();
    let failed = unknown.execute(&[Value::Integer(7)]).unwrap_err();
    assert_eq!(failed.sqlstate(), "23503");
}
