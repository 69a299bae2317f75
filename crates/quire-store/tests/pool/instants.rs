//! A flush is of one instant: what threads change together while it goes on is in it entirely or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use quire_store::pool::{PageFrame, Pool};
use quire_store::{MemDisk, PageId, Pin};

use crate::support::{
    Entries, Random, commit, in_pools_of_twins, lz4, page_of, pool_of, put, stored_entries, volume,
};

const ACCOUNTS: usize = 24;
const START: u64 = 1_000;

fn balance(entries: &Entries) -> u64 {
    u64::from_be_bytes(
        entries[b"balance".as_slice()]
            .as_slice()
            .try_into()
            .unwrap(),
    )
}

/// Adds to the balance of one page; wraps below zero.
fn add(frame: &Arc<PageFrame>, amount: u64, lsn: u64) {
    let change = |frame: &mut quire_store::pool::FrameMut<'_>| {
        let page = frame.page().unwrap();
        let old = page.get(b"balance").unwrap().unwrap().value;
        let old = u64::from_be_bytes(old.try_into().unwrap());
        let new = old.wrapping_add(amount).to_be_bytes();
        frame.apply(&put(b"balance", &new), lsn).unwrap();
    };
    frame.write(change).unwrap();
}

fn transfer(pool: &Pool, pages: &[PageId], random: &mut Random, clock: &AtomicU64) {
    let from = pool.get(pages[random.below(ACCOUNTS)], lz4()).unwrap();
    let to = pool.get(pages[random.below(ACCOUNTS)], lz4()).unwrap();
    let amount = random.below(100) as u64;
    let _together = pool.begin_change();
    let lsn = clock.fetch_add(1, Ordering::Relaxed) + 1;
    add(&from, amount.wrapping_neg(), lsn);
    add(&to, amount, lsn);
    // The change is done: what a flush is told at its instant.
    clock.fetch_add(1 << 32, Ordering::Relaxed);
}

fn total(pin: &Pin, pages: &[PageId]) -> u64 {
    let balances = pages
        .iter()
        .map(|page| balance(&stored_entries(pin, *page)));
    balances.fold(0, u64::wrapping_add)
}

#[test]
fn transfers_are_flushed_whole() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 20);
    let start = Entries::from([(b"balance".to_vec(), START.to_be_bytes().to_vec())]);
    let add_page = |_| pool.add(page_of(&start), lz4()).unwrap().page();
    let pages: Vec<_> = (0..ACCOUNTS).map(add_page).collect();
    crate::support::flush(&volume, &pool);
    let (is_over, clock) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut flushed_pages = 0;
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let (pool, pages, is_over, clock) = (&pool, &pages, &is_over, &clock);
            scope.spawn(move || {
                let mut random = Random(seed);
                while !is_over.load(Ordering::Relaxed) {
                    transfer(pool, pages, &mut random, clock);
                }
            });
        }
        while flushed_pages < 1_500 {
            let (flush, clock) = pool
                .prepare_flush(|| clock.load(Ordering::Relaxed))
                .unwrap();
            assert_eq!(
                clock >> 32,
                clock & 0xffff_ffff,
                "nobody is in the middle of a change"
            );
            flushed_pages += flush.page_count();
            commit(&volume, flush);
            assert_eq!(total(&volume.pin(), &pages), START * ACCOUNTS as u64);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn it_is_the_same_in_pools_of_twins() {
    in_pools_of_twins(&[transfers_are_flushed_whole]);
}
