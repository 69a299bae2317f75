//! Transactions are whole, and seen when they are committed.

use crate::changes::{accounts, balance_cents, cents};
use quire_workload::{SqlValue, Target};

const ADD: &str = "SET balance = balance + $1 WHERE id = $2";

pub fn what_is_rolled_back_is_gone(target: &dyn Target) {
    let mut session = accounts(target, "rolled_back", 2);
    session.begin().unwrap();
    session
        .execute(
            &format!("UPDATE rolled_back {ADD}"),
            &[cents(500), SqlValue::Integer(1)],
        )
        .unwrap();
    session
        .execute(
            "DELETE FROM rolled_back WHERE id = $1",
            &[SqlValue::Integer(2)],
        )
        .unwrap();
    assert_eq!(balance_cents(&mut *session, "rolled_back", 1), Some(500));
    session.rollback().unwrap();
    assert_eq!(balance_cents(&mut *session, "rolled_back", 1), Some(0));
    assert_eq!(balance_cents(&mut *session, "rolled_back", 2), Some(0));
    // Without a transaction there is nothing to roll back.
    session.rollback().unwrap();
    session
        .execute(
            &format!("UPDATE rolled_back {ADD}"),
            &[cents(7), SqlValue::Integer(1)],
        )
        .unwrap();
    session.rollback().unwrap();
    assert_eq!(balance_cents(&mut *session, "rolled_back", 1), Some(7));
}

pub fn what_is_committed_is_seen_by_others(target: &dyn Target) {
    let mut one = accounts(target, "committed", 1);
    let mut other = target.connect().unwrap();
    one.begin().unwrap();
    one.execute(
        &format!("UPDATE committed {ADD}"),
        &[cents(500), SqlValue::Integer(1)],
    )
    .unwrap();
    assert_eq!(balance_cents(&mut *other, "committed", 1), Some(0));
    one.commit().unwrap();
    assert_eq!(balance_cents(&mut *other, "committed", 1), Some(500));
    other.begin().unwrap();
    assert_eq!(balance_cents(&mut *other, "committed", 1), Some(500));
    other.commit().unwrap();
}

pub fn a_session_that_is_closed_rolls_back(target: &dyn Target) {
    let mut one = accounts(target, "closed", 1);
    one.begin().unwrap();
    one.execute(
        &format!("UPDATE closed {ADD}"),
        &[cents(500), SqlValue::Integer(1)],
    )
    .unwrap();
    drop(one);
    let mut other = target.connect().unwrap();
    // Waits until the server has noticed.
    other
        .execute(
            &format!("UPDATE closed {ADD}"),
            &[cents(1), SqlValue::Integer(1)],
        )
        .unwrap();
    assert_eq!(balance_cents(&mut *other, "closed", 1), Some(1));
}
