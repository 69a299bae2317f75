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

const BIG: &str = "FROM generate_series(1, 20000) AS s(i)";

/// Definitions that are not committed are in the way.
const NEW_TABLE: &[&str] = &["BEGIN", "CREATE TABLE q1 (i INTEGER)"];

/// So are row groups that are not committed, of that table.
const LOAD: &[&str] = &[
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

fn database() -> Database {
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

/// A load of a column table that commits while an ALTER waits for it is not lost, whether the rows are written again or only checked.
#[test]
fn a_load_that_an_alteration_waits_for_is_kept() {
    for (alter, expected) in [
        ("ALTER TABLE loaded ALTER COLUMN i TYPE BIGINT", Ok("40000")),
        (
            "ALTER TABLE loaded ADD COLUMN b INTEGER DEFAULT 1",
            Ok("40000"),
        ),
        (
            "ALTER TABLE loaded ALTER COLUMN i SET NOT NULL",
            Err("23502"),
        ),
    ] {
        let database = database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        one.ok("BEGIN");
        one.ok(&format!("INSERT INTO loaded SELECT nullif(i, 7) {BIG}"));
        two.blocks(alter);
        one.ok("COMMIT");
        let answer = two.answer().map_err(|error| error[..5].to_owned());
        match expected {
            Ok(count) => {
                answer.unwrap();
                assert_eq!(two.ok("SELECT count(*) FROM loaded"), count, "{alter}");
            }
            Err(code) => assert_eq!(answer.unwrap_err(), code, "{alter}"),
        }
    }
}

/// Loads, first changes and merges of one table do not wait for those of another.
#[test]
fn loads_of_different_tables_do_not_wait_for_each_other() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    two.ok("CREATE TABLE second (i INTEGER)");
    two.ok("CREATE TABLE rows (i INTEGER PRIMARY KEY)");
    two.ok("SET lock_timeout = '10s'");
    LOAD.iter().for_each(|sql| drop(one.ok(sql)));
    for sql in [
        &format!("INSERT INTO second SELECT i {BIG}"),
        "UPDATE second SET i = 0 WHERE i > 10000",
        "VACUUM second",
        &format!("INSERT INTO rows SELECT i {BIG}"),
        "VACUUM changed",
        "VACUUM account",
        "ANALYZE account",
    ] {
        two.ok(sql);
    }
    // What others have committed is seen, beside what is not committed.
    assert_eq!(one.ok("SELECT sum(i) FROM second"), "50005000");
    assert_eq!(one.ok("SELECT count(*) FROM loaded"), "40000");
    assert_eq!(two.ok("SELECT count(*) FROM loaded"), "20000");
    one.ok(&format!("INSERT INTO second SELECT i {BIG}"));
    one.ok("COMMIT");
    assert_eq!(two.ok("SELECT count(*) FROM loaded"), "40000");
    assert_eq!(two.ok("SELECT count(*) FROM second"), "40000");
    assert_eq!(two.ok("SELECT count(*) FROM rows"), "20000");
}

#[test]
fn deadlocks_through_loads_are_found() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    two.ok("CREATE TABLE second (i INTEGER)");
    LOAD.iter().for_each(|sql| drop(one.ok(sql)));
    two.ok("BEGIN");
    two.ok(&format!("INSERT INTO second SELECT i {BIG}"));
    two.blocks(&format!("INSERT INTO loaded SELECT i {BIG}"));
    assert_eq!(
        one.error(&format!("INSERT INTO second SELECT i {BIG}")),
        "40P01"
    );
    two.answer().unwrap();
    two.ok("COMMIT");
    assert_eq!(two.ok("SELECT count(*) FROM loaded"), "40000");
}

/// Other loads are as invisible at REPEATABLE READ once the transaction loads something itself.
#[test]
fn a_load_sees_what_its_transaction_has_seen() {
    for isolation in ["REPEATABLE READ", "SERIALIZABLE"] {
        let database = database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        two.ok("CREATE TABLE second (i INTEGER)");
        one.ok(&format!("BEGIN ISOLATION LEVEL {isolation}"));
        assert_eq!(one.ok("SELECT count(*) FROM account"), "2");
        two.ok(&format!("INSERT INTO loaded SELECT i {BIG}"));
        two.ok("UPDATE loaded SET i = 0 WHERE i <= 100");
        one.ok(&format!("INSERT INTO second SELECT i {BIG}"));
        let seen = "SELECT count(*), min(i) FROM loaded";
        assert_eq!(one.ok(seen), "20000,1", "{isolation}");
        two.ok("DELETE FROM loaded WHERE i > 15000");
        assert_eq!(one.ok(seen), "20000,1", "{isolation}");
        // Rows of its own cannot come behind row groups that it does not see.
        one.ok("SAVEPOINT s");
        assert_eq!(
            one.error(&format!("INSERT INTO loaded SELECT i {BIG}")),
            "40001"
        );
        one.ok("ROLLBACK TO s");
        assert_eq!(one.ok(seen), "20000,1", "{isolation}");
        one.ok("ROLLBACK");
        one.ok(&format!("BEGIN ISOLATION LEVEL {isolation}"));
        assert_eq!(one.ok("SELECT count(*) FROM account"), "2");
        two.ok(&format!("INSERT INTO loaded SELECT i {BIG}"));
        one.ok(&format!("INSERT INTO second SELECT i {BIG}"));
        one.ok("COMMIT");
        assert_eq!(two.ok("SELECT count(*) FROM second"), "20000");
        assert_eq!(two.ok("SELECT count(*) FROM loaded"), "50000");
    }
}

/// Each has read the table that the other loads.
#[test]
fn serializable_loads_that_have_read_each_others_tables_do_not_both_commit() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    two.ok("CREATE TABLE second (i INTEGER)");
    for (session, read, loaded) in [(&one, "second", "loaded"), (&two, "loaded", "second")] {
        session.ok("BEGIN ISOLATION LEVEL SERIALIZABLE");
        session.ok(&format!("SELECT count(*) FROM {read}"));
        session.ok(&format!("INSERT INTO {loaded} SELECT i {BIG}"));
    }
    one.ok("COMMIT");
    assert_eq!(two.error("COMMIT"), "40001");
    assert_eq!(two.ok("SELECT count(*) FROM second"), "0");
}

/// A load that was planned before a definition is committed does not go by it.
#[test]
fn a_load_of_a_table_that_was_altered_meanwhile_is_refused() {
    let file = std::env::temp_dir().join(format!("quire-waits-{}.csv", std::process::id()));
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    let path = file.display();
    one.ok(&format!("COPY (SELECT i {BIG}) TO '{path}'"));
    for load in [
        format!("INSERT INTO loaded SELECT i {BIG}"),
        format!("COPY loaded FROM '{path}'"),
    ] {
        one.ok("BEGIN");
        one.ok("ALTER TABLE loaded ADD COLUMN b INTEGER");
        two.blocks(&load);
        one.ok("COMMIT");
        assert_eq!(&two.answer().unwrap_err()[..5], "40001", "{load}");
        one.ok("ALTER TABLE loaded DROP COLUMN b");
        assert_eq!(two.ok("SELECT count(*) FROM loaded"), "20000");
    }
    std::fs::remove_file(file).unwrap();
}

/// What was planned before a definition that it waits for goes by that definition.
#[test]
fn definitions_go_by_what_they_have_waited_for() {
    const CREATED: &str = "CREATE TABLE q1 (i INTEGER PRIMARY KEY, j INTEGER, k INTEGER)";
    for (sql, expected) in [
        ("CREATE VIEW v AS SELECT j FROM q1", "42703"),
        ("CREATE SEQUENCE s OWNED BY q1.j", "42703"),
        (
            "CREATE TABLE q2 (i INTEGER PRIMARY KEY, j INTEGER REFERENCES q1 (k))",
            "42830",
        ),
        ("CREATE INDEX q1_j ON q1 (j)", "42703"),
        ("CREATE UNIQUE INDEX q1_k ON q1 (k)", "23505"),
        ("ALTER TABLE q1 ADD UNIQUE (k)", "23505"),
        ("ALTER INDEX q1_old RENAME TO q1_new", ""),
    ] {
        let database = database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        one.ok(CREATED);
        one.ok("CREATE UNIQUE INDEX q1_unique ON q1 (k)");
        one.ok("CREATE INDEX q1_old ON q1 (i, k)");
        one.ok("BEGIN");
        one.ok("DROP INDEX q1_unique");
        one.ok("ALTER TABLE q1 DROP COLUMN j");
        one.ok("ALTER TABLE q1 ADD COLUMN l INTEGER DEFAULT 5");
        one.ok("INSERT INTO q1 VALUES (1, 7), (2, 7)");
        two.blocks(sql);
        one.ok("COMMIT");
        let answer = two.answer();
        let sqlstate = answer.map_or_else(|error| error[..5].to_owned(), |_| String::new());
        assert_eq!(sqlstate, expected, "{sql}");
        assert_eq!(two.ok("SELECT * FROM q1 WHERE i = 2"), "2,7,5", "{sql}");
    }
}

/// What a view reads is not dropped while the view is made, nor a sequence's owner.
#[test]
fn a_table_is_not_dropped_below_what_is_being_made_of_it() {
    for (made, expected) in [
        ("CREATE VIEW v AS SELECT balance FROM account", "2BP01"),
        ("CREATE SEQUENCE s OWNED BY account.balance", ""),
        (
            "CREATE TABLE q1 (i INTEGER PRIMARY KEY REFERENCES account)",
            "2BP01",
        ),
    ] {
        let database = database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        one.ok("BEGIN");
        one.ok(made);
        two.blocks("DROP TABLE account");
        one.ok("COMMIT");
        let answer = two.answer();
        let sqlstate = answer.map_or_else(|error| error[..5].to_owned(), |_| String::new());
        assert_eq!(sqlstate, expected, "{made}");
        if made.contains("SEQUENCE") {
            assert_eq!(one.error("SELECT nextval('s')"), "42P01");
        }
    }
}

/// An alteration that writes or checks all rows must know those that were committed since its transaction began.
#[test]
fn an_alteration_does_not_go_by_an_older_snapshot() {
    for (storage, alter) in [
        ("row", "ALTER TABLE kept ALTER COLUMN i TYPE BIGINT"),
        ("row", "ALTER TABLE kept ADD CHECK (t < 20)"),
        ("row", "ALTER TABLE kept ALTER COLUMN t SET NOT NULL"),
        ("column", "ALTER TABLE kept ALTER COLUMN i TYPE BIGINT"),
        ("column", "ALTER TABLE kept ALTER COLUMN t SET NOT NULL"),
    ] {
        for isolation in ["REPEATABLE READ", "SERIALIZABLE"] {
            let database = database();
            let (one, two) = (Session::new(&database), Session::new(&database));
            one.ok(&format!(
                "CREATE TABLE kept (i INTEGER, t INTEGER) USING {storage}"
            ));
            one.ok("INSERT INTO kept VALUES (1, 1)");
            one.ok("UPDATE kept SET t = 2");
            one.ok(&format!("BEGIN ISOLATION LEVEL {isolation}"));
            one.ok("SELECT count(*) FROM account");
            two.ok("INSERT INTO kept VALUES (2, NULL), (3, 30)");
            let refused = one.error(alter);
            assert_eq!(&refused[..5], "40001", "{alter}, {isolation}, {storage}");
            one.ok("ROLLBACK");
            assert_eq!(two.ok("SELECT count(*) FROM kept"), "3");
        }
    }
}

/// A table that refers to the one to be emptied, and that is made while TRUNCATE waits, is seen.
#[test]
fn truncate_sees_who_refers_to_the_table_by_then() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    one.ok("CREATE TABLE referred (i INTEGER PRIMARY KEY)");
    one.ok("INSERT INTO referred VALUES (1)");
    one.ok("BEGIN");
    one.ok("CREATE TABLE referring (i INTEGER REFERENCES referred)");
    one.ok("INSERT INTO referring VALUES (1)");
    two.blocks("TRUNCATE referred");
    one.ok("COMMIT");
    assert_eq!(&two.answer().unwrap_err()[..5], "0A000");
    assert_eq!(two.ok("SELECT count(*) FROM referred"), "1");
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
