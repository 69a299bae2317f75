//! Foreign keys while others give their tables other trees: a statement looks for references in the newest state, not in that of its
//! beginning. What is expected is what PostgreSQL 15 does; it never waits less than here.

use quire::Database;

use crate::session::Session;

/// A row that `c` refers to, or may refer to, and sessions at either end of the key.
fn tables(action: &str, children: &str) -> (Database, Session, Session) {
    let database = Database::in_memory().unwrap();
    let (one, two) = (Session::new(&database), Session::new(&database));
    one.ok("CREATE TABLE p (id INTEGER PRIMARY KEY, v INTEGER)");
    one.ok(&format!(
        "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p {action}, v INTEGER)"
    ));
    one.ok("CREATE INDEX c_p ON c (p)");
    one.ok("INSERT INTO p VALUES (1, 1), (2, 2)");
    if !children.is_empty() {
        one.ok(&format!("INSERT INTO c VALUES {children}"));
    }
    (database, one, two)
}

const ORPHANS: &str = "SELECT count(*) FROM c WHERE p NOT IN (SELECT id FROM p)";
const FILL: &str = "INSERT INTO c SELECT i, 1, i FROM generate_series(1, 20000) AS s(i)";

/// The load gives the child other trees, and its rows lock the parent's row, for which the deletion waits.
#[test]
fn a_row_that_a_load_refers_to_is_not_deleted() {
    for (action, answer, left) in [
        ("", Err("23503"), "20000"),
        ("ON DELETE RESTRICT", Err("23503"), "20000"),
        ("ON DELETE CASCADE", Ok(()), "0"),
        ("ON DELETE SET NULL", Ok(()), "20000"),
    ] {
        let (_database, one, two) = tables(action, "");
        one.ok("BEGIN");
        one.ok(FILL);
        two.blocks("DELETE FROM p WHERE id = 1");
        one.ok("COMMIT");
        let deleted = two.answer().map(drop);
        let deleted = deleted.map_err(|error| error[..5].to_owned());
        assert_eq!(deleted, answer.map_err(str::to_owned), "{action}");
        assert_eq!(one.ok(ORPHANS), "0", "{action}");
        assert_eq!(one.ok("SELECT count(*) FROM c"), left, "{action}");
        assert_eq!(
            one.ok("SELECT count(*) FROM c WHERE v > 0"),
            left,
            "{action}"
        );
    }
}

/// Rows that a load of the parent brings can be referred to as soon as it is committed.
#[test]
fn a_reference_to_a_row_that_is_being_loaded_waits_for_the_load() {
    let (_database, one, two) = tables("", "");
    one.ok("DELETE FROM p");
    one.ok("BEGIN");
    one.ok("INSERT INTO p SELECT i, i FROM generate_series(1, 20000) AS s(i)");
    two.blocks("INSERT INTO c VALUES (1, 20000, 1)");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(one.error("DELETE FROM p WHERE id = 20000"), "23503");
}

/// A lock of a row is one of an entry of a tree, so the tree has to stay while the lock counts.
#[test]
fn a_referenced_row_stays_where_it_is_locked() {
    let (_database, one, two) = tables("", "");
    one.ok("BEGIN");
    one.ok("INSERT INTO c VALUES (1, 1, 1)");
    two.blocks("ALTER TABLE p ALTER COLUMN v TYPE BIGINT");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(two.error("DELETE FROM p WHERE id = 1"), "23503");

    one.ok("BEGIN");
    one.ok("ALTER TABLE p ALTER COLUMN v TYPE INTEGER");
    two.blocks("INSERT INTO c VALUES (2, 2, 2)");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(one.error("DELETE FROM p WHERE id = 2"), "23503");
    one.ok("VACUUM FULL p");
    assert_eq!(one.error("DELETE FROM p WHERE id = 2"), "23503");
    assert_eq!(one.ok(ORPHANS), "0");
}

/// What a statement has to change it changes in the trees that count then.
#[test]
fn rows_that_refer_are_changed_where_they_are_by_then() {
    for change in [
        "ALTER TABLE c ALTER COLUMN v TYPE BIGINT",
        "CREATE INDEX c_p_again ON c (p, v)",
        "TRUNCATE c",
    ] {
        for action in ["ON DELETE CASCADE", "ON DELETE SET NULL"] {
            let (_database, one, two) = tables(action, "(1, 1, 1), (2, 2, 2)");
            one.ok("BEGIN");
            one.ok(change);
            two.blocks("DELETE FROM p WHERE id = 1");
            one.ok("COMMIT");
            two.answer().unwrap();
            assert_eq!(one.ok(ORPHANS), "0", "{change}, {action}");
            let by_index = "SELECT count(*) FROM c WHERE p = 1";
            assert_eq!(one.ok(by_index), "0", "{change}, {action}");
        }
    }
}

/// Rows that are no longer there by the end of a wait are not in the way.
#[test]
fn a_truncation_that_is_waited_for_counts() {
    let (_database, one, two) = tables("", "(1, 1, 1)");
    one.ok("BEGIN");
    one.ok("TRUNCATE c");
    two.blocks("DELETE FROM p WHERE id = 1");
    one.ok("COMMIT");
    two.answer().unwrap();
    assert_eq!(one.ok("SELECT count(*) FROM p"), "1");

    let (_database, one, two) = tables("", "(1, 1, 1)");
    one.ok("BEGIN");
    one.ok("ALTER TABLE c DROP CONSTRAINT c_p_fkey");
    two.blocks("DELETE FROM p WHERE id = 1");
    one.ok("ROLLBACK");
    assert_eq!(two.answer().unwrap_err()[..5], *"23503");
}

/// A transaction that has loaded the child itself sees its rows, before and after a savepoint.
#[test]
fn a_load_of_the_same_transaction_is_looked_at() {
    let (_database, one, two) = tables("", "");
    two.ok("CREATE TABLE other (i INTEGER)");
    one.ok("BEGIN");
    one.ok("SAVEPOINT s");
    one.ok(FILL);
    assert_eq!(one.error("DELETE FROM p WHERE id = 1"), "23503");
    one.ok("ROLLBACK TO s");
    one.ok("DELETE FROM p WHERE id = 1");
    // Another loads meanwhile what has nothing to do with it.
    two.ok("INSERT INTO other SELECT i FROM generate_series(1, 20000) AS s(i)");
    assert_eq!(one.error("INSERT INTO c VALUES (1, 1, 1)"), "23503");
    one.ok("ROLLBACK");
    assert_eq!(one.ok("SELECT count(*) FROM p"), "2");
}
