//! What views and statements see, case by case.

use quire_kv::btree::{Direction, TreeError};
use quire_kv::mvcc::{
    Isolation, KeyWriteError, LockError, LockWait, RowLockMode, TransactionOptions, TreeId,
};

use super::fixture::*;

const TREE: TreeId = TreeId::new(1);

fn put(setup: &Setup, key: &[u8], value: &[u8]) {
    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
    transaction.put(TREE, key, value).unwrap();
    transaction.commit().unwrap();
}

#[test]
fn a_statement_does_not_see_its_own_changes() {
    let setup = fresh(1, quiet());
    (0..500_u32).for_each(|number| put(&setup, &number.to_be_bytes(), b"1"));
    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
    for round in 0..3_u8 {
        let view = transaction.begin_statement();
        let mut scan = view.scan(TREE, &[], &[], Direction::Forward).unwrap();
        let mut count = 0_u32;
        while let Some((key, value)) = scan.next_entry().unwrap() {
            let value = [value, &[round]].concat();
            // The Halloween problem: a row that is moved ahead of the scan.
            let moved = [&[0xFF], key, &[round]].concat();
            let key = key.to_vec();
            transaction.put(TREE, &key, &value).unwrap();
            transaction.put(TREE, &moved, &value).unwrap();
            count += 1;
        }
        assert_eq!(count, 500 << round);
    }
    transaction.commit().unwrap();
    assert_eq!(all(&setup.mvcc.view(), TREE).len(), 4000);
}

#[test]
fn values_nobody_can_see_are_not_kept() {
    let setup = fresh(1, quiet());
    put(&setup, b"a", b"0");
    let old = setup.mvcc.view();
    put(&setup, b"a", b"1");
    let middle = setup.mvcc.view();
    for number in 2..200_u8 {
        put(&setup, b"a", &[number]);
        put(&setup, &[number, 0], b"new");
    }
    assert_eq!(setup.mvcc.statistics().versioned_keys, 199);
    assert_eq!(
        middle.get(TREE, b"a", <[u8]>::to_vec).unwrap().unwrap(),
        b"1"
    );
    drop(middle);
    assert_eq!(
        all(&old, TREE),
        Entries::from([(b"a".to_vec(), b"0".to_vec())])
    );
    assert_eq!(
        setup.mvcc.statistics().oldest_snapshot,
        Some(old.sequence().get())
    );
    drop(old);
    assert_eq!(setup.mvcc.statistics().versioned_keys, 0);
    assert_eq!(setup.mvcc.statistics().oldest_snapshot, None);
}

#[test]
fn a_changed_row_is_read_again_or_a_conflict() {
    for isolation in [
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ] {
        let setup = fresh(1, quiet());
        put(&setup, b"a", b"1");
        let mut transaction = setup.mvcc.begin(patient(isolation));
        let view = transaction.begin_statement();
        put(&setup, b"a", b"2");
        assert_eq!(view.get(TREE, b"a", <[u8]>::to_vec).unwrap().unwrap(), b"1");
        let locked = transaction.lock_row(TREE, b"a", RowLockMode::Exclusive, LockWait::Wait);
        if isolation == Isolation::ReadCommitted {
            assert!(locked.unwrap().unwrap().is_changed_since_snapshot);
            let latest = transaction.get_latest(TREE, b"a", <[u8]>::to_vec);
            assert_eq!(latest.unwrap().unwrap(), b"2");
        } else {
            assert_eq!(locked, Err(LockError::Conflict));
            let put = transaction.put(TREE, b"a", b"3");
            assert!(matches!(put, Err(KeyWriteError::Lock(LockError::Conflict))));
        }
    }
}

#[test]
fn what_a_page_cannot_hold_is_refused_before_the_commit() {
    let setup = fresh(1, quiet());
    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
    let long = vec![0; PAGE_BYTES];
    let put = transaction.put(TREE, b"a", &long);
    assert!(matches!(
        put,
        Err(KeyWriteError::Tree(TreeError::EntryTooLong { .. }))
    ));
    let put = transaction.put(TREE, &long, b"");
    assert!(matches!(
        put,
        Err(KeyWriteError::Tree(TreeError::KeyTooLong { .. }))
    ));
    let put = transaction.put(TreeId::new(2), b"a", b"");
    let unknown = LockError::UnknownTree {
        tree: TreeId::new(2),
    };
    assert!(matches!(put, Err(KeyWriteError::Lock(error)) if error == unknown));
    transaction.put(TREE, b"a", b"1").unwrap();
    transaction.commit().unwrap();
    assert_eq!(all(&setup.mvcc.view(), TREE).len(), 1);
}

#[test]
fn a_removed_tree_stays_readable_and_then_its_pages_are_free() {
    let setup = fresh(2, quiet());
    (0..300_u32).for_each(|number| put(&setup, &number.to_be_bytes(), &[7; 100]));
    setup.mvcc.checkpoint().unwrap();
    let pages = |setup: &Setup| {
        let pages = setup.volume.pin().pages();
        pages.iter().filter(|page| page.get() >= 16).count()
    };
    assert!(pages(&setup) > 10);
    let view = setup.mvcc.view();
    assert!(setup.mvcc.remove_tree(TREE));
    assert!(!setup.mvcc.remove_tree(TREE));
    setup.mvcc.checkpoint().unwrap();
    assert_eq!(all(&view, TREE).len(), 300);
    assert!(setup.mvcc.get(TREE, b"", |_| ()).is_err());
    drop(view);
    setup.mvcc.checkpoint().unwrap();
    assert_eq!(pages(&setup), 2, "root and leaf of the other tree");
}
