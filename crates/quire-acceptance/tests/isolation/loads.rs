//! Loads, definitions and changes of the same tables at the same time: who waits for whom, and what each then goes by.

use std::time::Duration;

use crate::session::Session;
use crate::waits::{BIG, LOAD, database};

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
        // It has the lock by now, and is refused as before: not at its end only.
        assert_eq!(
            one.error(&format!("INSERT INTO loaded SELECT i {BIG}")),
            "40001"
        );
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

/// TRUNCATE leaves a table that takes the same rows.
#[test]
fn a_load_behind_truncate_goes_on() {
    let file = std::env::temp_dir().join(format!("quire-truncate-{}.csv", std::process::id()));
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    let path = file.display();
    one.ok(&format!("COPY (SELECT i {BIG}) TO '{path}'"));
    for (load, count) in [
        (format!("INSERT INTO loaded SELECT i {BIG}"), "20000"),
        (format!("COPY loaded FROM '{path}'"), "20000"),
        (
            "INSERT INTO loaded SELECT i FROM generate_series(1, 3) AS s(i)".to_owned(),
            "3",
        ),
        ("INSERT INTO loaded VALUES (1), (2)".to_owned(), "2"),
    ] {
        one.ok("BEGIN");
        one.ok("TRUNCATE loaded");
        two.blocks(&load);
        one.ok("COMMIT");
        two.answer().unwrap();
        assert_eq!(two.ok("SELECT count(*) FROM loaded"), count, "{load}");
    }
    std::fs::remove_file(file).unwrap();
}

/// A transaction that loads at these levels sees the definitions of its beginning, and cannot change what has others now. It is told so.
#[test]
fn a_transaction_that_loads_does_not_change_what_was_defined_meanwhile() {
    for isolation in ["REPEATABLE READ", "SERIALIZABLE"] {
        for (defined, change) in [
            (
                "CREATE INDEX balances ON account (balance)",
                "UPDATE account SET balance = 3 WHERE id = 1",
            ),
            (
                "CREATE INDEX balances ON account (balance)",
                "INSERT INTO account VALUES (3, 3)",
            ),
            (
                "VACUUM changed",
                "UPDATE changed SET balance = 3 WHERE id = 1",
            ),
            ("VACUUM changed", "INSERT INTO changed VALUES (3, 3)"),
            ("VACUUM changed", "DELETE FROM changed"),
        ] {
            let database = database();
            let (one, two) = (Session::new(&database), Session::new(&database));
            one.ok(&format!("BEGIN ISOLATION LEVEL {isolation}"));
            assert_eq!(one.ok("SELECT count(*) FROM changed"), "2");
            two.ok(defined);
            one.ok(&format!("INSERT INTO loaded SELECT i {BIG}"));
            one.ok("SAVEPOINT s");
            assert_eq!(
                one.error(change),
                "40001",
                "{isolation}: {defined}, {change}"
            );
            one.ok("ROLLBACK TO s");
            // At SERIALIZABLE it has read what is other now.
            if isolation == "REPEATABLE READ" {
                one.ok("COMMIT");
                assert_eq!(two.ok("SELECT count(*) FROM loaded"), "40000");
            }
            two.ok(change);
        }
    }
}

/// Rows that are inserted into a table that has come in the place of another wait for who has waited for both.
#[test]
fn an_alteration_locks_the_table_that_it_finds_behind_what_it_has_waited_for() {
    let database = database();
    let (one, two) = (Session::new(&database), Session::new(&database));
    let three = Session::new(&database);
    one.ok("BEGIN");
    one.ok("DROP TABLE changed");
    one.ok("CREATE TABLE changed (id INT, balance INT) USING column");
    one.ok("INSERT INTO changed SELECT i, i FROM generate_series(1, 1000000) AS s(i)");
    one.ok("INSERT INTO changed VALUES (0, 0)");
    two.blocks("ALTER TABLE changed ALTER COLUMN balance TYPE BIGINT");
    one.ok("COMMIT");
    std::thread::sleep(Duration::from_millis(50));
    three.ok("INSERT INTO changed VALUES (7, 7)");
    two.answer().unwrap();
    assert_eq!(three.ok("SELECT count(*) FROM changed"), "1000002");
}

/// The definition that loses a foreign key or a default is the newest one.
#[test]
fn what_goes_with_a_dropped_table_or_sequence_leaves_other_alterations() {
    for drop in ["DROP TABLE parent CASCADE", "DROP SEQUENCE numbers CASCADE"] {
        let database = database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        one.ok("CREATE TABLE parent (i INTEGER PRIMARY KEY)");
        one.ok("CREATE SEQUENCE numbers");
        one.ok(
            "CREATE TABLE child (i INTEGER REFERENCES parent, j INTEGER, k INTEGER DEFAULT nextval('numbers'))",
        );
        one.ok("BEGIN");
        one.ok("ALTER TABLE child ALTER COLUMN j SET DEFAULT 5");
        two.blocks(drop);
        one.ok("COMMIT");
        two.answer().unwrap();
        one.ok("INSERT INTO child (k) VALUES (1)");
        assert_eq!(one.ok("SELECT j FROM child"), "5", "{drop}");
    }
}

/// Whoever comes first: rows of a load that is committed are where the definition leaves them, and no load goes by what is not any more.
#[test]
fn loads_and_definitions_of_one_table_exclude_each_other() {
    for (definition, name, count, behind) in [
        ("TRUNCATE loaded", "loaded", "0", Ok("20000")),
        (
            "ALTER TABLE loaded RENAME TO renamed",
            "renamed",
            "40000",
            Err("20000"),
        ),
        (
            "ALTER TABLE loaded RENAME COLUMN i TO j",
            "loaded",
            "40000",
            Err("20000"),
        ),
        (
            "ALTER TABLE loaded ALTER COLUMN i TYPE SMALLINT",
            "loaded",
            "40000",
            Err("20000"),
        ),
        (
            "ALTER TABLE loaded ALTER COLUMN i SET NOT NULL",
            "loaded",
            "40000",
            Err("20000"),
        ),
        (
            "ALTER TABLE loaded ALTER COLUMN i SET DEFAULT 1",
            "loaded",
            "40000",
            Err("20000"),
        ),
        (
            "ALTER TABLE loaded ADD COLUMN j INTEGER",
            "loaded",
            "40000",
            Err("20000"),
        ),
    ] {
        let database = database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        LOAD.iter().for_each(|sql| drop(one.ok(sql)));
        two.blocks(definition);
        one.ok("COMMIT");
        two.answer().unwrap();
        let counted = format!("SELECT count(*) FROM {name}");
        assert_eq!(one.ok(&counted), count, "{definition}");

        let database = self::database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        two.ok("BEGIN");
        two.ok(definition);
        one.blocks(LOAD[1]);
        two.ok("COMMIT");
        let answer = one.answer().map_err(|error| error[..5].to_owned());
        match behind {
            Ok(count) => {
                answer.unwrap();
                assert_eq!(one.ok(&counted), count, "{definition}");
            }
            Err(count) => {
                assert_eq!(answer, Err("40001".to_owned()), "{definition}");
                assert_eq!(one.ok(&counted), count, "{definition}");
            }
        }
    }
}

/// The same of many rows for an empty table with a key.
#[test]
fn fills_and_definitions_of_one_table_exclude_each_other() {
    const FILL: &str = "INSERT INTO filled (i) SELECT i FROM generate_series(1, 20000) AS s(i)";
    for definition in [
        "TRUNCATE filled",
        "ALTER TABLE filled ALTER COLUMN j TYPE BIGINT",
        "ALTER TABLE filled ADD COLUMN k INTEGER DEFAULT 7",
        "ALTER TABLE filled ADD CHECK (i > 0)",
        "CREATE INDEX filled_j ON filled (j)",
    ] {
        let database = database();
        let (one, two) = (Session::new(&database), Session::new(&database));
        one.ok("CREATE TABLE filled (i INTEGER PRIMARY KEY, j INTEGER)");
        one.ok("BEGIN");
        one.ok(FILL);
        two.blocks(definition);
        one.ok("COMMIT");
        two.answer().unwrap();
        let count = if definition.starts_with("TRUNCATE") {
            "0"
        } else {
            "20000"
        };
        assert_eq!(one.ok("SELECT count(*) FROM filled"), count, "{definition}");
        one.ok("TRUNCATE filled");
        two.ok("BEGIN");
        two.ok(&definition
            .replace("filled_j", "filled_i")
            .replace("COLUMN k", "COLUMN l"));
        one.blocks(FILL);
        two.ok("COMMIT");
        let count = match one.answer() {
            Ok(_) => "20000",
            Err(error) => {
                assert_eq!(&error[..5], "40001", "{definition}");
                "0"
            }
        };
        assert_eq!(one.ok("SELECT count(*) FROM filled"), count, "{definition}");
    }
}
