//! Every wait ends by every means: its time, the time of its statement, a cancellation from outside, and who is waited for. How
//! long the end of a wait takes is printed, and must only be shorter than what a busy machine may need.

use std::time::{Duration, Instant};

use quire::Database;

use crate::session::{Session, Tables};

/// On an idle machine it is below 100 ms.
const LATENCY_MAX: Duration = Duration::from_secs(10);

/// A statement that waits, and what another connection has done before it.
struct Wait {
    holder: &'static [&'static str],
    waiter: &'static [&'static str],
}

pub(crate) const BIG: &str = "FROM generate_series(1, 20000) AS s(i)";

/// Definitions that are not committed are in the way.
const NEW_TABLE: &[&str] = &["BEGIN", "CREATE TABLE q1 (i INTEGER)"];

/// So are row groups that are not committed, of that table.
pub(crate) const LOAD: &[&str] = &[
    "BEGIN",
    "INSERT INTO loaded SELECT i FROM generate_series(1, 20000) AS s(i)",
];

const WAITS: &[Wait] = &[
    Wait {
        holder: LOAD,
        waiter: &["INSERT INTO loaded SELECT i FROM generate_series(1, 20000) AS s(i)"],
    },
    Wait {
        holder: LOAD,
        waiter: &["BEGIN", "UPDATE loaded SET i = 1"],
    },
    Wait {
        holder: LOAD,
        waiter: &["CREATE TABLE q2 (i INTEGER)"],
    },
    Wait {
        holder: LOAD,
        waiter: &["TRUNCATE loaded"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["CREATE TABLE q2 (i INTEGER)"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["CREATE INDEX balances ON account (balance)"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["VACUUM changed"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["VACUUM FULL account"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["ANALYZE account"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["ALTER TABLE account SET (compression = none)"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["TRUNCATE account"],
    },
    Wait {
        holder: NEW_TABLE,
        waiter: &["INSERT INTO loaded SELECT i FROM generate_series(1, 20000) AS s(i)"],
    },
    // The first change of a column table.
    Wait {
        holder: NEW_TABLE,
        waiter: &["BEGIN", "UPDATE loaded SET i = 1"],
    },
    Wait {
        holder: &["BEGIN", "UPDATE account SET balance = 1 WHERE id = 1"],
        waiter: &["UPDATE account SET balance = 2 WHERE id = 1"],
    },
    Wait {
        holder: &["BEGIN", "UPDATE account SET balance = 1 WHERE id = 1"],
        waiter: &[
            "BEGIN",
            "SELECT balance FROM account WHERE id = 1 FOR UPDATE",
        ],
    },
    Wait {
        holder: &["BEGIN", "SELECT count(*) FROM account"],
        waiter: &["DROP TABLE account"],
    },
    Wait {
        holder: &["BEGIN", "TRUNCATE account"],
        waiter: &["BEGIN", "SELECT balance FROM account WHERE id = 1"],
    },
    Wait {
        holder: &["BEGIN", "TRUNCATE account"],
        waiter: &["BEGIN", "SELECT sum(balance) OVER () FROM account"],
    },
    Wait {
        holder: &["BEGIN", "UPDATE changed SET balance = 7 WHERE id = 1"],
        waiter: &["VACUUM changed"],
    },
];

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Means {
    LockTimeout,
    StatementTimeout,
    Handle,
    Function,
    Commit,
}

const TIMEOUT: Duration = Duration::from_millis(300);

pub(crate) fn database() -> Database {
    let database = Database::in_memory().unwrap();
    Tables::Rows.create(&database, "account", "balance", "(1, 100), (2, 200)");
    Tables::Delta.create(&database, "changed", "balance", "(1, 100), (2, 200)");
    let session = Session::new(&database);
    session.ok(&format!("CREATE TABLE loaded AS SELECT i {BIG}"));
    database
}

/// Ends one wait by one means, and tells how long that took.
fn end(wait: &Wait, means: Means) -> Duration {
    let database = database();
    let (holder, waiter) = (Session::new(&database), Session::new(&database));
    wait.holder.iter().for_each(|sql| drop(holder.ok(sql)));
    let timeout = TIMEOUT.as_millis();
    match means {
        Means::LockTimeout => drop(waiter.ok(&format!("SET lock_timeout = '{timeout}ms'"))),
        Means::StatementTimeout => {
            drop(waiter.ok(&format!("SET statement_timeout = '{timeout}ms'")));
        }
        _ => {}
    }
    let (last, before) = wait.waiter.split_last().unwrap();
    before.iter().for_each(|sql| drop(waiter.ok(sql)));
    let began = Instant::now();
    let (expected, start) = match means {
        Means::LockTimeout | Means::StatementTimeout => {
            waiter.send(last);
            let sqlstate = match means {
                Means::LockTimeout => "55P03",
                _ => "57014",
            };
            (Some(sqlstate), began + TIMEOUT)
        }
        Means::Handle => {
            waiter.blocks(last);
            let start = Instant::now();
            waiter.cancel.cancel();
            (Some("57014"), start)
        }
        Means::Function => {
            waiter.blocks(last);
            let start = Instant::now();
            let call = format!("SELECT pg_cancel_backend({})", waiter.number);
            assert_eq!(Session::new(&database).ok(&call), "true");
            (Some("57014"), start)
        }
        Means::Commit => {
            waiter.blocks(last);
            let start = Instant::now();
            holder.ok("COMMIT");
            (None, start)
        }
    };
    let answer = waiter.answer();
    let latency = start.elapsed();
    match expected {
        None => drop(answer.unwrap()),
        Some(sqlstate) => assert_eq!(&answer.unwrap_err()[..5], sqlstate, "{last}"),
    }
    latency
}

fn every_wait_ends_by(means: Means) {
    for wait in WAITS {
        let latency = end(wait, means);
        let last = wait.waiter.last().unwrap();
        println!("{means:?}: {} us: {last}", latency.as_micros());
        assert!(latency < LATENCY_MAX, "{last}: {latency:?}");
    }
}

#[test]
fn every_wait_ends_with_the_lock_timeout() {
    every_wait_ends_by(Means::LockTimeout);
}

#[test]
fn every_wait_ends_with_the_statement_timeout() {
    every_wait_ends_by(Means::StatementTimeout);
}

#[test]
fn every_wait_ends_when_a_handle_cancels_it() {
    every_wait_ends_by(Means::Handle);
}

#[test]
fn every_wait_ends_when_another_connection_cancels_it() {
    every_wait_ends_by(Means::Function);
}

#[test]
fn every_wait_ends_when_who_is_waited_for_commits() {
    every_wait_ends_by(Means::Commit);
}

/// A circle through the right to change definitions and a row.
#[test]
fn deadlocks_through_definitions_are_found() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    NEW_TABLE.iter().for_each(|sql| drop(one.ok(sql)));
    two.ok("BEGIN");
    two.ok("UPDATE account SET balance = 1 WHERE id = 1");
    two.blocks("CREATE TABLE q2 (i INTEGER)");
    assert_eq!(
        one.error("UPDATE account SET balance = 2 WHERE id = 1"),
        "40P01"
    );
    // The victim has given its locks back.
    two.answer().unwrap();
    two.ok("COMMIT");
}

/// The same through the first change of a column table, which makes its trees in a transaction of its own.
#[test]
fn deadlocks_through_first_changes_of_column_tables_are_found() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    NEW_TABLE.iter().for_each(|sql| drop(one.ok(sql)));
    two.ok("BEGIN");
    two.ok("UPDATE account SET balance = 1 WHERE id = 1");
    two.blocks("UPDATE loaded SET i = 1 WHERE i = 2");
    assert_eq!(
        one.error("UPDATE account SET balance = 2 WHERE id = 1"),
        "40P01"
    );
    two.answer().unwrap();
    two.ok("COMMIT");
}

/// PostgreSQL gives the locks of a failed transaction back at once.
fn a_failed_transaction_gives_its_locks_back(tables: Tables) {
    let database = Database::in_memory().unwrap();
    tables.create(&database, "account", "balance", "(1, 100), (2, 200)");
    let (one, two) = (Session::new(&database), Session::new(&database));
    one.ok("BEGIN");
    one.ok("UPDATE account SET balance = 1 WHERE id = 1");
    assert_eq!(one.error("SELECT * FROM nope"), "42P01");
    two.ok("UPDATE account SET balance = 2 WHERE id = 1");
    assert_eq!(one.error("SELECT 1"), "25P02");
    one.ok("ROLLBACK");
    assert_eq!(two.ok("SELECT balance FROM account WHERE id = 1"), "2");
}

/// Those that were taken before the newest savepoint stay, as in PostgreSQL.
fn a_failure_after_a_savepoint_gives_back_what_came_after_it(tables: Tables) {
    let database = Database::in_memory().unwrap();
    tables.create(&database, "account", "balance", "(1, 100), (2, 200)");
    let (one, two) = (Session::new(&database), Session::new(&database));
    one.ok("BEGIN");
    one.ok("UPDATE account SET balance = 1 WHERE id = 1");
    one.ok("SAVEPOINT s");
    one.ok("UPDATE account SET balance = 1 WHERE id = 2");
    assert_eq!(one.error("SELECT 1 / 0"), "22012");
    two.ok("UPDATE account SET balance = 2 WHERE id = 2");
    two.blocks("UPDATE account SET balance = 2 WHERE id = 1");
    one.ok("ROLLBACK TO s");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(
        two.ok("SELECT id, balance FROM account ORDER BY id"),
        "1,2;2,2"
    );
}

/// Also those of a definition.
#[test]
fn a_failed_transaction_lets_others_define() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    NEW_TABLE.iter().for_each(|sql| drop(one.ok(sql)));
    assert_eq!(one.error("SELECT * FROM nope"), "42P01");
    two.ok("CREATE TABLE q1 (i INTEGER)");
    one.ok("ROLLBACK");
}

#[test]
fn a_statement_has_its_time_without_waiting() {
    let database = database();
    let session = Session::new(&database);
    session.ok("SET statement_timeout = '400ms'");
    assert_eq!(session.ok("SHOW statement_timeout"), "400ms");
    // It gives its threads back between any two batches; one of two large tables joined without keys does only after each pair of batches.
    let slow = "SELECT count(*) FROM generate_series(1, 1000000000000) AS a(i) WHERE i < 0";
    let error = session.run(slow).unwrap_err();
    assert_eq!(
        error,
        "57014 ERROR: canceling statement due to statement timeout"
    );
    session.ok("SET statement_timeout = 0");
    assert_eq!(session.ok("SELECT 1"), "1");
}

#[test]
fn waits_are_shown() {
    let database = database();
    let (one, two, three) = (
        Session::new(&database),
        Session::new(&database),
        Session::new(&database),
    );
    one.ok("BEGIN");
    one.ok("UPDATE account SET balance = 1 WHERE id = 1");
    two.blocks("UPDATE account SET balance = 2 WHERE id = 1");
    let waits =
        "SELECT session, object, mode, held_by[1], statement, since <= now() FROM quire_waits()";
    assert_eq!(
        three.ok(waits),
        format!(
            "{},row of table account,ExclusiveLock,{},UPDATE account SET balance = 2 WHERE id = 1,true",
            two.number, one.number
        )
    );
    let blocking = format!(
        "SELECT pg_blocking_pids({}) = ARRAY[{}]",
        two.number, one.number
    );
    assert_eq!(three.ok(&blocking), "true");
    let activity = format!(
        "SELECT state, wait_event_type, query FROM pg_stat_activity WHERE pid IN ({}, {}) ORDER BY pid",
        one.number, two.number
    );
    assert_eq!(
        three.ok(&activity),
        "idle in transaction,Client,UPDATE account SET balance = 1 WHERE id = 1;\
         active,Lock,UPDATE account SET balance = 2 WHERE id = 1"
    );
    let locks = format!(
        "SELECT count(*) > 0 FROM pg_locks JOIN pg_class ON pg_class.oid = relation \
         WHERE relname = 'account' AND pid = {} AND granted AND mode = 'RowExclusiveLock'",
        one.number
    );
    assert_eq!(three.ok(&locks), "true");
    let waiting = "SELECT locktype, mode FROM pg_locks WHERE NOT granted";
    assert_eq!(three.ok(waiting), "tuple,ExclusiveLock");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(three.ok("SELECT count(*) FROM quire_waits()"), "0");
    assert_eq!(
        three.ok("SELECT state FROM pg_stat_activity WHERE pid = pg_backend_pid()"),
        "active"
    );
}

#[test]
fn a_connection_of_a_program_is_not_ended_from_outside() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    let end = format!("SELECT pg_terminate_backend({})", one.number);
    assert_eq!(two.error(&end), "0A000");
    assert_eq!(two.ok("SELECT pg_terminate_backend(4194303)"), "false");
    assert_eq!(two.ok("SELECT pg_cancel_backend(4194303)"), "false");
    assert_eq!(one.ok("SELECT 1"), "1");
}

scenarios! {
    a_failed_transaction_gives_its_locks_back
    a_failure_after_a_savepoint_gives_back_what_came_after_it
}
