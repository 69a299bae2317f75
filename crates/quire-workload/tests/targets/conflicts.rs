//! Sessions that change the same rows: one waits or runs again, and no change is lost.

use crate::changes::{accounts, balance_cents, cents};
use quire_workload::{SessionError, SqlValue, Target, WorkloadSession};
use std::sync::{Arc, Barrier};
use std::thread;

fn add(session: &mut dyn WorkloadSession, table: &str, id: i64) -> Result<(), SessionError> {
    let change = format!("UPDATE {table} SET balance = balance + $1 WHERE id = $2");
    assert_eq!(
        session.execute(&change, &[cents(1), SqlValue::Integer(id)])?,
        1
    );
    Ok(())
}

/// A transaction that adds to two rows, again until it is committed.
fn add_to_both(session: &mut dyn WorkloadSession, table: &str, first: i64, second: i64) {
    loop {
        let mut transaction = || {
            session.begin()?;
            add(session, table, first)?;
            add(session, table, second)?;
            session.commit()
        };
        match transaction() {
            Ok(()) => return,
            Err(SessionError::Retry(_)) => session.rollback().unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
}

pub fn no_update_is_lost(target: &dyn Target) {
    const USERS: i64 = 4;
    const ROUNDS: i64 = 5;
    let mut session = accounts(target, "contended", 2);
    thread::scope(|scope| {
        for _ in 0..USERS {
            let mut session = target.connect().unwrap();
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    // In one order, so that nobody waits for a deadlock to be found.
                    add_to_both(&mut *session, "contended", 1, 2);
                }
            });
        }
    });
    for id in [1, 2] {
        assert_eq!(
            balance_cents(&mut *session, "contended", id),
            Some(USERS * ROUNDS)
        );
    }
}

/// Each of two sessions has changed the row that the other wants to change next.
pub fn one_of_two_that_wait_for_each_other_runs_again(target: &dyn Target) {
    let mut session = accounts(target, "crossed", 2);
    let both_have_one = Arc::new(Barrier::new(2));
    let results: Vec<Result<(), SessionError>> = thread::scope(|scope| {
        let users = [(1, 2), (2, 1)].map(|(first, second)| {
            let both_have_one = Arc::clone(&both_have_one);
            let mut session = target.connect().unwrap();
            scope.spawn(move || {
                session.begin().unwrap();
                add(&mut *session, "crossed", first).unwrap();
                both_have_one.wait();
                let result = add(&mut *session, "crossed", second).and_then(|()| session.commit());
                session.rollback().unwrap();
                result
            })
        });
        users.into_iter().map(|user| user.join().unwrap()).collect()
    });
    let committed = results.iter().filter(|result| result.is_ok()).count();
    let again = results
        .iter()
        .filter(|result| matches!(result, Err(SessionError::Retry(_))))
        .count();
    assert_eq!((committed, again), (1, 1), "{results:?}");
    for id in [1, 2] {
        assert_eq!(balance_cents(&mut *session, "crossed", id), Some(1));
    }
}

pub fn it_takes_many_users(target: &dyn Target, users: u32) {
    let mut sessions: Vec<_> = (0..users).map(|_| target.connect().unwrap()).collect();
    for session in &mut sessions {
        assert_eq!(balance_cents(&mut **session, "contended", 1), Some(20));
    }
}
