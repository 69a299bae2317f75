//! Locks: who waits, who gives up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use quire_kv::mvcc::{
    Isolation, KeyWriteError, KvTransaction, LockError, LockWait, MvccOptions, RowLockMode,
    TableLockMode, TransactionOptions, TreeId,
};

use super::fixture::*;

const TREE: TreeId = TreeId::new(1);

fn begin(setup: &Setup) -> KvTransaction {
    setup.mvcc.begin(impatient(Isolation::ReadCommitted))
}

fn lock(transaction: &mut KvTransaction, key: &[u8], mode: RowLockMode) -> Result<bool, LockError> {
    let locked = transaction.lock_row(TREE, key, mode, LockWait::Wait);
    locked.map(|locked| locked.is_some())
}

#[test]
fn shared_locks_are_shared_and_others_are_not() {
    use RowLockMode::{Exclusive, Share};
    let setup = fresh(1, quiet());
    let (mut one, mut other) = (begin(&setup), begin(&setup));
    assert_eq!(lock(&mut one, b"a", Share), Ok(true));
    assert_eq!(lock(&mut other, b"a", Share), Ok(true));
    assert_eq!(lock(&mut one, b"a", Exclusive), Err(LockError::Timeout));
    let fail = one.lock_row(TREE, b"a", Exclusive, LockWait::Fail);
    assert_eq!(fail, Err(LockError::NotAvailable));
    let skip = one.lock_row(TREE, b"a", Exclusive, LockWait::Skip);
    assert_eq!(skip, Ok(None));
    other.rollback();
    assert_eq!(lock(&mut one, b"a", Exclusive), Ok(true));
    let mut other = begin(&setup);
    assert_eq!(lock(&mut other, b"a", Share), Err(LockError::Timeout));
    assert_eq!(lock(&mut other, b"b", Exclusive), Ok(true));
    drop((one, other));
    assert_eq!(setup.mvcc.statistics().locks, 0);
}

#[test]
fn going_back_gives_locks_back() {
    use RowLockMode::{Exclusive, Share};
    let setup = fresh(1, quiet());
    let (mut one, mut other) = (begin(&setup), begin(&setup));
    lock(&mut one, b"a", Share).unwrap();
    let savepoint = one.savepoint();
    lock(&mut one, b"a", Exclusive).unwrap();
    lock(&mut one, b"b", Exclusive).unwrap();
    assert_eq!(lock(&mut other, b"a", Share), Err(LockError::Timeout));
    assert!(one.rollback_to(savepoint));
    assert_eq!(lock(&mut other, b"a", Share), Ok(true), "shared again");
    assert_eq!(lock(&mut other, b"b", Exclusive), Ok(true));
    assert_eq!(lock(&mut one, b"a", Exclusive), Err(LockError::Timeout));
    assert!(one.release(savepoint));
    assert!(!one.rollback_to(savepoint));
}

#[test]
fn tables_are_locked_as_in_postgresql() {
    use TableLockMode::*;
    let modes = [
        AccessShare,
        RowShare,
        RowExclusive,
        Share,
        ShareRowExclusive,
        Exclusive,
        AccessExclusive,
    ];
    // From its documentation, table 13.2, without SHARE UPDATE EXCLUSIVE.
    let conflicts = [
        "      x", "     xx", "   xxxx", "  x xxx", "  xxxxx", " xxxxxx", "xxxxxxx",
    ];
    let setup = fresh(1, quiet());
    for (mode, row) in modes.into_iter().zip(conflicts) {
        for (other_mode, sign) in modes.into_iter().zip(row.chars()) {
            let (mut one, mut other) = (begin(&setup), begin(&setup));
            one.lock_table(5, mode, LockWait::Wait).unwrap();
            let taken = other.lock_table(5, other_mode, LockWait::Skip).unwrap();
            assert_eq!(taken, sign == ' ', "{mode:?} {other_mode:?}");
            assert!(
                other
                    .lock_table(6, AccessExclusive, LockWait::Fail)
                    .unwrap()
            );
        }
    }
}

/// Each thread locks two rows in an order of its own.
#[test]
fn a_deadlock_is_found_and_one_gives_up() {
    let setup = fresh(1, quiet());
    let (deadlocks, done) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for seed in 0..6 {
            let (setup, deadlocks, done) = (&setup, &deadlocks, &done);
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..400 {
                    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
                    let locked = (0..4).try_for_each(|_| {
                        let key = [random.below(5) as u8];
                        let mode = match random.below(3) {
                            0 => RowLockMode::Exclusive,
                            _ => RowLockMode::Share,
                        };
                        lock(&mut transaction, &key, mode).map(|_| ())
                    });
                    match locked {
                        Ok(()) => done.fetch_add(1, Ordering::Relaxed),
                        Err(LockError::Deadlock) => deadlocks.fetch_add(1, Ordering::Relaxed),
                        Err(other) => panic!("{other}"),
                    };
                }
            });
        }
    });
    // It ends at all, which is the point.
    assert_eq!(deadlocks.into_inner() + done.into_inner(), 2400);
    assert_eq!(setup.mvcc.statistics().locks, 0);
}

#[test]
fn two_that_want_what_the_other_has_deadlock() {
    let setup = fresh(1, quiet());
    let barrier = std::sync::Barrier::new(2);
    let run = |first: &[u8], second: &[u8]| {
        let mut transaction = setup.mvcc.begin(TransactionOptions::default());
        lock(&mut transaction, first, RowLockMode::Exclusive).unwrap();
        barrier.wait();
        lock(&mut transaction, second, RowLockMode::Exclusive)
    };
    let results = std::thread::scope(|scope| {
        let one = scope.spawn(|| run(b"a", b"b"));
        let other = scope.spawn(|| run(b"b", b"a"));
        [one.join().unwrap(), other.join().unwrap()]
    });
    let victims = results.iter().filter(|result| result.is_err()).count();
    assert_eq!(victims, 1, "{results:?}");
    assert!(results.contains(&Err(LockError::Deadlock)));
}

#[test]
fn waiting_can_be_cancelled() {
    let setup = fresh(1, quiet());
    let mut one = begin(&setup);
    one.put(TREE, b"a", b"1").unwrap();
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_cancelled);
    let mut other = setup.mvcc.begin(TransactionOptions {
        cancel: Some(Arc::new(move || asked.load(Ordering::Relaxed))),
        ..TransactionOptions::default()
    });
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.put(TREE, b"a", b"2"));
        std::thread::sleep(Duration::from_millis(50));
        is_cancelled.store(true, Ordering::Relaxed);
        let result = waiting.join().unwrap();
        let expected = matches!(result, Err(KeyWriteError::Lock(LockError::Cancelled)));
        assert!(expected, "{result:?}");
    });
    one.commit().unwrap();
    is_cancelled.store(false, Ordering::Relaxed);
    other.put(TREE, b"a", b"2").unwrap();
}

#[test]
fn very_many_row_locks_become_one() {
    let options = MvccOptions {
        row_locks_per_tree: 100,
        ..quiet()
    };
    let setup = fresh(2, options);
    let mut many = begin(&setup);
    let mut one = begin(&setup);
    one.put(TREE, b"mine", b"1").unwrap();
    let lock_many = |many: &mut KvTransaction, count: u32| {
        for number in 0..count {
            many.put(TREE, &number.to_be_bytes(), b"1").unwrap();
        }
    };
    lock_many(&mut many, 150);
    assert_eq!(
        setup.mvcc.statistics().locks,
        151,
        "somebody else has a row"
    );
    one.put(TREE, b"another", b"1").unwrap();
    one.commit().unwrap();
    let savepoint = many.savepoint();
    lock_many(&mut many, 1000);
    assert_eq!(setup.mvcc.statistics().locks, 1, "the tree");
    assert!(many.rollback_to(savepoint));
    let mut other = begin(&setup);
    let put = other.put(TREE, b"x", b"1");
    assert!(matches!(put, Err(KeyWriteError::Lock(LockError::Timeout))));
    let skipped = other.lock_row(TREE, b"x", RowLockMode::Share, LockWait::Skip);
    assert_eq!(skipped, Ok(None));
    other.put(TreeId::new(2), b"x", b"1").unwrap();
    many.commit().unwrap();
    other.put(TREE, b"x", b"1").unwrap();
    other.commit().unwrap();
    assert_eq!(setup.mvcc.statistics().locks, 0);
    assert_eq!(all(&setup.mvcc.view(), TREE).len(), 153);
}

/// Whoever waits gets the lock when the other has ended, and no two have it at a time.
#[test]
fn a_counter_loses_no_step() {
    let options = MvccOptions {
        row_locks_per_tree: 3,
        ..MvccOptions::default()
    };
    let setup = fresh(1, options);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let setup = &setup;
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..300 {
                    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
                    // In one order, so that there is no deadlock.
                    let mut keys: Vec<_> = (0..5).map(|_| random.below(20) as u8).collect();
                    keys.sort_unstable();
                    for key in keys {
                        let _statement = transaction.begin_statement();
                        let locked = lock(&mut transaction, &[key], RowLockMode::Exclusive);
                        match locked {
                            Ok(_) => {}
                            // Two that want the whole tree.
                            Err(LockError::Deadlock) => continue,
                            Err(other) => panic!("{other}"),
                        }
                        let count = |value: &[u8]| u64::from_le_bytes(value.try_into().unwrap());
                        let before = transaction.get_latest(TREE, &[key], count).unwrap();
                        let after = before.unwrap_or(0) + 1;
                        transaction.put(TREE, &[key], &after.to_le_bytes()).unwrap();
                        let total = transaction.put(TREE, b"total", &[]);
                        assert!(
                            total.is_ok()
                                || matches!(total, Err(KeyWriteError::Lock(LockError::Deadlock)))
                        );
                    }
                    transaction.commit().unwrap();
                }
            });
        }
    });
    let entries = all(&setup.mvcc.view(), TREE);
    let counts = entries.iter().filter(|(key, _)| key.len() == 1);
    let total: u64 = counts
        .map(|(_, value)| u64::from_le_bytes(value.as_slice().try_into().unwrap()))
        .sum();
    assert!(total > 0 && total <= 4 * 300 * 5);
    assert_eq!(setup.mvcc.statistics().locks, 0);
    assert_eq!(setup.mvcc.statistics().versioned_keys, 0);
}
