//! Transactions that do not fit: into memory, into the pool, into one page of the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quire_kv::btree::Direction;
use quire_kv::mvcc::{MvccOptions, Synchronous, TransactionOptions, TreeId, TreeSpec};
use quire_store::MemDisk;

use super::fixture::*;

const TREE: TreeId = TreeId::new(1);
const ROWS: u32 = 20_000;

fn key(number: u32) -> Vec<u8> {
    number.wrapping_mul(0x9E37_79B1).to_be_bytes().to_vec()
}

fn options() -> MvccOptions {
    MvccOptions {
        write_set_bytes: 200_000,
        row_locks_per_tree: 500,
        ..MvccOptions::default()
    }
}

#[test]
fn a_transaction_larger_than_memory_is_like_any_other() {
    let disk = Arc::new(MemDisk::new());
    let mut specs: Vec<TreeSpec> = Vec::new();
    let setup = open(disk.clone(), 60 * PAGE_BYTES, options(), |volume| {
        specs.push(spec(1, volume.allocate_page().unwrap()));
        specs.clone()
    });
    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
    for number in 0..ROWS {
        transaction.put(TREE, &key(number), &[1; 60]).unwrap();
    }
    let savepoint = transaction.savepoint();
    for number in 0..ROWS / 2 {
        transaction.remove(TREE, &key(number)).unwrap();
    }
    let view = transaction.begin_statement();
    assert_eq!(all(&view, TREE).len() as u32, ROWS - ROWS / 2);
    assert!(transaction.rollback_to(savepoint));
    for number in 0..ROWS / 4 {
        transaction.put(TREE, &key(number), &[2; 70]).unwrap();
    }
    let last = transaction.begin_statement();
    let wanted: Entries = (0..ROWS)
        .map(|number| {
            if number < ROWS / 4 {
                (key(number), vec![2; 70])
            } else {
                (key(number), vec![1; 60])
            }
        })
        .collect();
    assert!(all(&last, TREE) == wanted);
    assert_eq!(all(&view, TREE).len() as u32, ROWS - ROWS / 2, "as it was");
    let found = transaction.get(TREE, &key(7), <[u8]>::to_vec).unwrap();
    assert_eq!(found.unwrap(), [2; 70]);
    let backward = scanned(&last, TREE, &key(1), &[], Direction::Backward);
    let above = wanted.range(key(1)..).rev();
    assert!(
        above
            .map(|(key, value)| (key.clone(), value.clone()))
            .eq(backward)
    );
    let before = setup.mvcc.view();
    transaction.commit().unwrap();
    assert!(all(&before, TREE).is_empty());
    drop((before, view, last));
    assert!(all(&setup.mvcc.view(), TREE) == wanted);
    let statistics = setup.mvcc.statistics();
    assert_eq!((statistics.versioned_keys, statistics.locks), (0, 0));
    drop(setup);
    let setup = open(disk, 60 * PAGE_BYTES, options(), |_| specs);
    assert!(all(&setup.mvcc.view(), TREE) == wanted);
    assert_eq!(setup.mvcc.check_tree(TREE).unwrap().findings, []);
}

/// Readers and small transactions beside large ones see each of these whole or not at all.
#[test]
fn large_transactions_are_seen_whole() {
    let disk = Arc::new(MemDisk::new());
    let setup = open(disk, 60 * PAGE_BYTES, options(), |volume| {
        let spec = |number| spec(number, volume.allocate_page().unwrap());
        (1..=2).map(spec).collect()
    });
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..4_u8 {
                let mut transaction = setup.mvcc.begin(TransactionOptions::default());
                for number in 0..5000 {
                    transaction.put(TREE, &key(number), &[round; 60]).unwrap();
                }
                transaction.commit().unwrap();
            }
            is_over.store(true, Ordering::SeqCst);
        });
        scope.spawn(|| {
            let mut number = 0;
            while !is_over.load(Ordering::SeqCst) {
                let mut transaction = setup.mvcc.begin(TransactionOptions {
                    synchronous: Synchronous::Off,
                    ..TransactionOptions::default()
                });
                transaction
                    .put(TreeId::new(2), &key(number), b"small")
                    .unwrap();
                transaction.commit().unwrap();
                number += 1;
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let entries = all(&setup.mvcc.view(), TREE);
                    assert!(
                        entries.is_empty() || entries.len() == 5000,
                        "{}",
                        entries.len()
                    );
                    let mut rounds = entries.values().map(|value| value[0]);
                    let first = rounds.next();
                    assert!(
                        rounds.all(|round| Some(round) == first),
                        "two rounds at a time"
                    );
                }
            });
        }
    });
    assert_eq!(setup.mvcc.statistics().versioned_keys, 0);
}
