//! Locks that statements ask for, and what happens when they cannot have them.

use quire::Database;

use crate::session::{Session, Tables};

fn database(tables: Tables) -> Database {
    let database = Database::in_memory().unwrap();
    tables.create(
        &database,
        "account",
        "balance",
        "(1, 100), (2, 200), (3, 300)",
    );
    database
}

fn of_two_that_wait_for_each_other_one_fails(tables: Tables) {
    let database = database(tables);
    let (one, two) = (
        Session::begun(&database, "READ COMMITTED"),
        Session::begun(&database, "READ COMMITTED"),
    );
    one.ok("UPDATE account SET balance = 1 WHERE id = 1");
    two.ok("UPDATE account SET balance = 2 WHERE id = 2");
    one.blocks("UPDATE account SET balance = 1 WHERE id = 2");
    assert_eq!(
        two.error("UPDATE account SET balance = 2 WHERE id = 1"),
        "40P01"
    );
    two.ok("ROLLBACK");
    one.answer().unwrap();
    one.ok("COMMIT");
    assert_eq!(
        Session::new(&database).ok("SELECT sum(balance) FROM account"),
        "302"
    );
}

fn rows_selected_for_update_are_locked(tables: Tables) {
    let database = database(tables);
    let (one, two) = (
        Session::begun(&database, "READ COMMITTED"),
        Session::new(&database),
    );
    assert_eq!(
        one.ok("SELECT balance FROM account WHERE id = 1 FOR UPDATE"),
        "100"
    );
    assert_eq!(two.ok("SELECT balance FROM account WHERE id = 1"), "100");
    assert_eq!(
        two.error("SELECT balance FROM account WHERE id = 1 FOR UPDATE NOWAIT"),
        "55P03"
    );
    assert_eq!(
        two.ok("SELECT id FROM account ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"),
        "2"
    );
    two.blocks("UPDATE account SET balance = balance + 1 WHERE id = 1");
    one.ok("UPDATE account SET balance = balance * 2 WHERE id = 1");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(two.ok("SELECT balance FROM account WHERE id = 1"), "201");
}

/// At READ COMMITTED a row is looked at again after waiting for its lock.
fn a_row_that_was_waited_for_is_judged_anew(tables: Tables) {
    let database = database(tables);
    let (one, two) = (
        Session::begun(&database, "READ COMMITTED"),
        Session::new(&database),
    );
    one.ok("UPDATE account SET balance = 0 WHERE id = 1");
    one.ok("DELETE FROM account WHERE id = 2");
    two.blocks("UPDATE account SET balance = balance + 1 WHERE balance >= 100");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(
        two.ok("SELECT id, balance FROM account ORDER BY id"),
        "1,0;3,301"
    );
}

fn waiting_ends_with_the_lock_timeout(tables: Tables) {
    let database = database(tables);
    let (one, two) = (
        Session::begun(&database, "READ COMMITTED"),
        Session::new(&database),
    );
    one.ok("UPDATE account SET balance = 0 WHERE id = 1");
    two.ok("SET lock_timeout = '50ms'");
    assert_eq!(
        two.error("UPDATE account SET balance = 1 WHERE id = 1"),
        "55P03"
    );
    one.ok("ROLLBACK");
    two.ok("UPDATE account SET balance = 1 WHERE id = 1");
}

/// A row table: readers of column tables have what they need in their snapshot.
#[test]
fn a_table_in_use_is_not_dropped() {
    let database = database(Tables::Rows);
    let (one, two) = (
        Session::begun(&database, "READ COMMITTED"),
        Session::new(&database),
    );
    assert_eq!(one.ok("SELECT count(*) FROM account"), "3");
    two.blocks("DROP TABLE account");
    assert_eq!(one.ok("SELECT count(*) FROM account WHERE id > 1"), "2");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(two.error("SELECT * FROM account"), "42P01");
}

/// A view that has waited for other definitions is one of what is there then.
#[test]
fn a_view_reads_nothing_that_was_dropped_while_it_waited() {
    for (change, view, expected) in [
        ("DROP TABLE account", "SELECT id FROM account", "42P01"),
        (
            "ALTER TABLE account RENAME TO other",
            "SELECT id FROM account",
            "42P01",
        ),
        (
            "ALTER TABLE account DROP COLUMN balance",
            "SELECT balance FROM account",
            "42703",
        ),
    ] {
        for isolation in ["READ COMMITTED", "REPEATABLE READ"] {
            let database = database(Tables::Rows);
            let (one, two) = (
                Session::begun(&database, "READ COMMITTED"),
                Session::begun(&database, isolation),
            );
            assert_eq!(two.ok("SELECT 1"), "1");
            one.ok(change);
            two.blocks(&format!("CREATE VIEW seen AS {view}"));
            one.ok("COMMIT");
            let refused = two.answer().unwrap_err();
            // At REPEATABLE READ definitions are those of the snapshot, too, and others have changed them since.
            let expected = match isolation {
                "READ COMMITTED" => expected,
                _ => "40001",
            };
            assert!(
                refused.starts_with(expected),
                "{change}, {isolation}: {refused}"
            );
            two.ok("ROLLBACK");
            assert_eq!(two.error("SELECT * FROM seen"), "42P01");
        }
    }
}

/// The same of a view of a view, which goes with a table that waits to be dropped.
#[test]
fn a_view_of_a_view_that_goes_with_its_table_is_refused() {
    let database = database(Tables::Rows);
    let (one, two, three) = (
        Session::begun(&database, "READ COMMITTED"),
        Session::new(&database),
        Session::new(&database),
    );
    three.ok("CREATE VIEW seen AS SELECT id FROM account");
    one.ok("UPDATE account SET balance = 0 WHERE id = 1");
    two.blocks("DROP TABLE account CASCADE");
    three.blocks("CREATE VIEW seen_twice AS SELECT id FROM seen");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert!(three.answer().unwrap_err().starts_with("42P01"));
    assert_eq!(three.error("SELECT * FROM seen_twice"), "42P01");
}

/// Rows are written again beside those who read them; their place is taken when nobody does.
#[test]
fn a_table_in_use_is_rewritten_but_not_replaced() {
    for statement in [
        "VACUUM FULL account",
        "ALTER TABLE account SET (compression = none)",
    ] {
        let database = database(Tables::Rows);
        let (one, two) = (
            Session::begun(&database, "READ COMMITTED"),
            Session::new(&database),
        );
        assert_eq!(one.ok("SELECT count(*) FROM account"), "3");
        two.ok("SET lock_timeout = '50ms'");
        assert_eq!(two.error(statement), "55P03");
        two.ok("UPDATE account SET balance = 7 WHERE id = 1");
        two.ok("SET lock_timeout = 0");
        two.blocks(statement);
        assert_eq!(one.ok("SELECT balance FROM account WHERE id = 1"), "7");
        one.ok("COMMIT");
        two.answer().unwrap();
        assert_eq!(one.ok("SELECT balance FROM account WHERE id = 1"), "7");
    }
}

/// Two insertions of one key: the second waits, and then fails or not, as the first ends.
#[test]
fn a_key_is_inserted_once() {
    let database = database(Tables::Rows);
    for (end, expected) in [("COMMIT", Err("23505")), ("ROLLBACK", Ok(String::new()))] {
        let (one, two) = (
            Session::begun(&database, "READ COMMITTED"),
            Session::new(&database),
        );
        one.ok("INSERT INTO account VALUES (9, 1)");
        two.blocks("INSERT INTO account VALUES (9, 2)");
        one.ok(end);
        match expected {
            Ok(answer) => assert_eq!(two.answer().unwrap(), answer),
            Err(sqlstate) => assert_eq!(&two.answer().unwrap_err()[..5], sqlstate),
        }
        two.ok("DELETE FROM account WHERE id = 9");
    }
}

fn savepoints_take_back_what_came_after_them(tables: Tables) {
    let database = database(tables);
    let one = Session::begun(&database, "READ COMMITTED");
    one.ok("UPDATE account SET balance = 1 WHERE id = 1");
    one.ok("SAVEPOINT first");
    one.ok("UPDATE account SET balance = 2 WHERE id = 2");
    one.ok("SAVEPOINT second");
    one.ok("DELETE FROM account");
    assert_eq!(
        one.error("SELECT 1 / 0 FROM account RIGHT JOIN (SELECT 1) AS x(y) ON true"),
        "22012"
    );
    assert_eq!(one.error("SELECT 1"), "25P02");
    one.ok("ROLLBACK TO SAVEPOINT second");
    assert_eq!(
        one.ok("SELECT id, balance FROM account ORDER BY id"),
        "1,1;2,2;3,300"
    );
    one.ok("ROLLBACK TO first");
    assert_eq!(
        one.ok("SELECT id, balance FROM account ORDER BY id"),
        "1,1;2,200;3,300"
    );
    assert_eq!(one.error("RELEASE SAVEPOINT second"), "3B001");
    one.ok("ROLLBACK TO first");
    one.ok("RELEASE SAVEPOINT first");
    one.ok("COMMIT");
    assert_eq!(
        Session::new(&database).ok("SELECT id, balance FROM account ORDER BY id"),
        "1,1;2,200;3,300"
    );
}

scenarios! {
    of_two_that_wait_for_each_other_one_fails
    rows_selected_for_update_are_locked
    a_row_that_was_waited_for_is_judged_anew
    waiting_ends_with_the_lock_timeout
    savepoints_take_back_what_came_after_them
}
