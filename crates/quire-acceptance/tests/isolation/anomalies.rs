//! The scenarios of the Hermitage suite.

use quire::Database;

use crate::session::{Session, Tables};

const READ_COMMITTED: &str = "READ COMMITTED";
const REPEATABLE_READ: &str = "REPEATABLE READ";
const SERIALIZABLE: &str = "SERIALIZABLE";
const ALL: [&str; 3] = [READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE];
const SNAPSHOT: [&str; 2] = [REPEATABLE_READ, SERIALIZABLE];
const SERIALIZATION_FAILURE: &str = "40001";

const READ: &str = "SELECT id, value FROM test ORDER BY id";

fn database(tables: Tables) -> Database {
    let database = Database::in_memory().unwrap();
    tables.create(&database, "test", "value", "(1, 10), (2, 20)");
    database
}

fn final_rows(database: &Database) -> String {
    Session::new(database).ok(READ)
}

/// G0, dirty write: the second writer waits for the first.
fn g0_write_cycles(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        one.ok("UPDATE test SET value = 11 WHERE id = 1");
        two.blocks("UPDATE test SET value = 12 WHERE id = 1");
        one.ok("UPDATE test SET value = 21 WHERE id = 2");
        one.ok("COMMIT");
        if level == READ_COMMITTED {
            assert_eq!(two.answer().unwrap(), "");
            two.ok("UPDATE test SET value = 22 WHERE id = 2");
            two.ok("COMMIT");
            assert_eq!(final_rows(&database), "1,12;2,22");
        } else {
            assert_eq!(&two.answer().unwrap_err()[..5], SERIALIZATION_FAILURE);
            two.ok("ROLLBACK");
            assert_eq!(final_rows(&database), "1,11;2,21");
        }
    }
}

/// G1a, aborted reads.
fn g1a_aborted_reads(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        one.ok("UPDATE test SET value = 101 WHERE id = 1");
        assert_eq!(two.ok(READ), "1,10;2,20");
        one.ok("ROLLBACK");
        assert_eq!(two.ok(READ), "1,10;2,20");
        two.ok("COMMIT");
    }
}

/// G1b, intermediate reads.
fn g1b_intermediate_reads(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        one.ok("UPDATE test SET value = 101 WHERE id = 1");
        assert_eq!(two.ok(READ), "1,10;2,20");
        one.ok("UPDATE test SET value = 11 WHERE id = 1");
        one.ok("COMMIT");
        let later = if level == READ_COMMITTED {
            "1,11;2,20"
        } else {
            "1,10;2,20"
        };
        assert_eq!(two.ok(READ), later);
        two.ok("COMMIT");
    }
}

/// G1c, circular information flow.
fn g1c_circular_information_flow(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        one.ok("UPDATE test SET value = 11 WHERE id = 1");
        two.ok("UPDATE test SET value = 22 WHERE id = 2");
        assert_eq!(one.ok("SELECT value FROM test WHERE id = 2"), "20");
        assert_eq!(two.ok("SELECT value FROM test WHERE id = 1"), "10");
        one.ok("COMMIT");
        if level == SERIALIZABLE {
            // Each has read what the other has overwritten: no order explains both.
            assert_eq!(two.error("COMMIT"), SERIALIZATION_FAILURE);
        } else {
            two.ok("COMMIT");
        }
    }
}

/// OTV, observed transaction vanishes.
fn otv_observed_transaction_vanishes(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let [one, two, three] = [(); 3].map(|()| Session::begun(&database, level));
        one.ok("UPDATE test SET value = 11 WHERE id = 1");
        one.ok("UPDATE test SET value = 19 WHERE id = 2");
        two.blocks("UPDATE test SET value = 12 WHERE id = 1");
        one.ok("COMMIT");
        if level == READ_COMMITTED {
            two.answer().unwrap();
            assert_eq!(three.ok("SELECT value FROM test WHERE id = 1"), "11");
            two.ok("UPDATE test SET value = 18 WHERE id = 2");
            assert_eq!(three.ok("SELECT value FROM test WHERE id = 2"), "19");
            two.ok("COMMIT");
            assert_eq!(three.ok("SELECT value FROM test WHERE id = 2"), "18");
            assert_eq!(three.ok("SELECT value FROM test WHERE id = 1"), "12");
        } else {
            assert_eq!(&two.answer().unwrap_err()[..5], SERIALIZATION_FAILURE);
            // A snapshot is taken by the first statement, not by BEGIN.
            assert_eq!(three.ok(READ), "1,11;2,19");
        }
    }
}

/// PMP, predicate-many-preceders: a predicate read, and a row that appears.
fn pmp_predicate_many_preceders(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        assert_eq!(one.ok("SELECT * FROM test WHERE value = 30"), "");
        two.ok("INSERT INTO test (id, value) VALUES (3, 30)");
        two.ok("COMMIT");
        let expected = if level == READ_COMMITTED { "3,30" } else { "" };
        assert_eq!(one.ok("SELECT * FROM test WHERE value % 3 = 0"), expected);
        one.ok("COMMIT");
    }
}

/// PMP for a write predicate: the deletion waits, and at READ COMMITTED looks again at the rows that it waited for.
fn pmp_for_write_predicates(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        one.ok("UPDATE test SET value = value + 10");
        two.blocks("DELETE FROM test WHERE value = 20");
        one.ok("COMMIT");
        if level == READ_COMMITTED {
            two.answer().unwrap();
            // Row 1, which has become 20, was not waited for; row 2 was, and is 30 now.
            assert_eq!(
                two.ok("SELECT id, value FROM test WHERE value = 20"),
                "1,20"
            );
            two.ok("COMMIT");
            assert_eq!(final_rows(&database), "1,20;2,30");
        } else {
            assert_eq!(&two.answer().unwrap_err()[..5], SERIALIZATION_FAILURE);
        }
    }
}

/// P4, lost update.
fn p4_lost_update(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        one.ok("SELECT * FROM test WHERE id = 1");
        two.ok("SELECT * FROM test WHERE id = 1");
        one.ok("UPDATE test SET value = 11 WHERE id = 1");
        two.blocks("UPDATE test SET value = 12 WHERE id = 1");
        one.ok("COMMIT");
        if level == READ_COMMITTED {
            // Not prevented: this is what READ COMMITTED permits.
            two.answer().unwrap();
            two.ok("COMMIT");
            assert_eq!(final_rows(&database), "1,12;2,20");
        } else {
            assert_eq!(&two.answer().unwrap_err()[..5], SERIALIZATION_FAILURE);
        }
    }
}

/// G-single, read skew.
fn g_single_read_skew(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        assert_eq!(one.ok("SELECT value FROM test WHERE id = 1"), "10");
        two.ok("SELECT * FROM test");
        two.ok("UPDATE test SET value = 12 WHERE id = 1");
        two.ok("UPDATE test SET value = 18 WHERE id = 2");
        two.ok("COMMIT");
        let expected = if level == READ_COMMITTED { "18" } else { "20" };
        assert_eq!(one.ok("SELECT value FROM test WHERE id = 2"), expected);
        one.ok("COMMIT");
    }
}

/// G-single with a predicate that many rows could meet.
fn g_single_predicate_dependencies(tables: Tables) {
    for level in ALL {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        assert_eq!(
            one.ok("SELECT * FROM test WHERE value % 5 = 0 ORDER BY id"),
            "1,10;2,20"
        );
        two.ok("UPDATE test SET value = 12 WHERE value = 10");
        two.ok("COMMIT");
        let expected = if level == READ_COMMITTED { "1,12" } else { "" };
        assert_eq!(one.ok("SELECT * FROM test WHERE value % 3 = 0"), expected);
        one.ok("COMMIT");
    }
}

/// G-single with a deletion by a predicate that another transaction has made true.
fn g_single_write_predicate(tables: Tables) {
    for level in SNAPSHOT {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        assert_eq!(one.ok("SELECT value FROM test WHERE id = 1"), "10");
        two.ok("SELECT * FROM test");
        two.ok("UPDATE test SET value = 12 WHERE id = 1");
        two.ok("UPDATE test SET value = 18 WHERE id = 2");
        two.ok("COMMIT");
        assert_eq!(
            one.error("DELETE FROM test WHERE value = 20"),
            SERIALIZATION_FAILURE
        );
        one.ok("ROLLBACK");
        assert_eq!(final_rows(&database), "1,12;2,18");
    }
}

/// G2-item, write skew on rows.
fn g2_item_write_skew(tables: Tables) {
    for level in SNAPSHOT {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        one.ok("SELECT * FROM test WHERE id IN (1, 2)");
        two.ok("SELECT * FROM test WHERE id IN (1, 2)");
        one.ok("UPDATE test SET value = 11 WHERE id = 1");
        two.ok("UPDATE test SET value = 21 WHERE id = 2");
        one.ok("COMMIT");
        if level == SERIALIZABLE {
            assert_eq!(two.error("COMMIT"), SERIALIZATION_FAILURE);
            assert_eq!(final_rows(&database), "1,11;2,20");
        } else {
            two.ok("COMMIT");
            assert_eq!(final_rows(&database), "1,11;2,21");
        }
    }
}

/// G2, write skew on predicates.
fn g2_anti_dependency_cycles(tables: Tables) {
    for level in SNAPSHOT {
        let database = database(tables);
        let (one, two) = (
            Session::begun(&database, level),
            Session::begun(&database, level),
        );
        assert_eq!(one.ok("SELECT * FROM test WHERE value % 3 = 0"), "");
        assert_eq!(two.ok("SELECT * FROM test WHERE value % 3 = 0"), "");
        one.ok("INSERT INTO test (id, value) VALUES (3, 30)");
        two.ok("INSERT INTO test (id, value) VALUES (4, 42)");
        one.ok("COMMIT");
        if level == SERIALIZABLE {
            assert_eq!(two.error("COMMIT"), SERIALIZATION_FAILURE);
            assert_eq!(final_rows(&database), "1,10;2,20;3,30");
        } else {
            two.ok("COMMIT");
            assert_eq!(final_rows(&database), "1,10;2,20;3,30;4,42");
        }
    }
}

/// G2 with two edges, Fekete's: a reader that sees a state between the two writers.
fn g2_two_edges(tables: Tables) {
    for level in SNAPSHOT {
        let database = database(tables);
        let one = Session::begun(&database, level);
        assert_eq!(one.ok(READ), "1,10;2,20");
        let two = Session::begun(&database, level);
        two.ok("UPDATE test SET value = value + 5 WHERE id = 2");
        two.ok("COMMIT");
        let three = Session::begun(&database, level);
        assert_eq!(three.ok(READ), "1,10;2,25");
        three.ok("COMMIT");
        one.ok("UPDATE test SET value = 0 WHERE id = 1");
        if level == SERIALIZABLE {
            assert_eq!(one.error("COMMIT"), SERIALIZATION_FAILURE);
        } else {
            one.ok("COMMIT");
        }
    }
}

scenarios! {
    g0_write_cycles
    g1a_aborted_reads
    g1b_intermediate_reads
    g1c_circular_information_flow
    otv_observed_transaction_vanishes
    pmp_predicate_many_preceders
    pmp_for_write_predicates
    p4_lost_update
    g_single_read_skew
    g_single_predicate_dependencies
    g_single_write_predicate
    g2_item_write_skew
    g2_anti_dependency_cycles
    g2_two_edges
}
