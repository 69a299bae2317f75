//! Threads that append to lists, and crashes: what survives is a history by itself, with everything that was acknowledged as
//! durable, and each transaction whole. The next threads go on from there.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use quire_kv::mvcc::{Isolation, MvccOptions, Synchronous};
use quire_store::disk::CrashImages;
use quire_store::{PageId, SimDisk, Volume};

use super::fixture::{Entries, Random, Setup, all, cases, open, spec};
use super::history::{Record, THREADS, TREE, Workload, check, decode};

/// Crashes of one history.
const CRASHES: u64 = 4;

fn options() -> MvccOptions {
    MvccOptions {
        checkpoint_log_bytes: 30_000,
        ..MvccOptions::default()
    }
}

fn opened(disk: &Arc<SimDisk>, root: &mut Option<PageId>) -> Setup {
    open(disk.clone(), 1 << 20, options(), |volume: &Volume| {
        let root = root.get_or_insert_with(|| volume.allocate_page().unwrap());
        vec![spec(1, *root)]
    })
}

/// Runs threads on a disk, and returns what they did.
fn run(
    setup: &Setup,
    disk: &SimDisk,
    isolation: Isolation,
    seed: u64,
    clocks: &[AtomicU64; 2],
) -> Vec<Record> {
    let records = Mutex::new(Vec::new());
    let journal_len = || disk.journal_len();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let workload = Workload {
                setup,
                clock: &clocks[0],
                next: &clocks[1],
                isolation,
                journal_len: &journal_len,
            };
            let records = &records;
            scope.spawn(move || {
                let done = workload.run(seed * THREADS + thread, 40);
                records.lock().unwrap().extend(done);
            });
        }
    });
    records.into_inner().unwrap()
}

/// Which transactions a state has, each of them whole; those whose numbers are not in `records` are older than these.
fn survivors(records: &[Record], state: &Entries) -> HashSet<usize> {
    let mut writers = HashMap::new();
    for (index, record) in records.iter().enumerate() {
        for (_, number) in &record.appends {
            writers.insert(*number, index);
        }
    }
    let mut found: HashMap<usize, usize> = HashMap::new();
    for number in state.values().flat_map(|value| decode(value)) {
        *found.entry(writers[&number]).or_default() += 1;
    }
    for (&index, &count) in &found {
        assert!(records[index].is_committed, "never committed");
        assert_eq!(count, records[index].appends.len(), "half of a transaction");
    }
    found.into_keys().collect()
}

fn crash_often(isolation: Isolation, seed: u64) -> usize {
    let mut random = Random(seed);
    let (mut root, mut image, mut lost) = (None, Vec::new(), 0);
    let mut records: Vec<Record> = Vec::new();
    let clocks = [AtomicU64::new(0), AtomicU64::new(1)];
    for crash in 0..CRASHES {
        let disk = Arc::new(SimDisk::recording(image.clone()));
        let setup = opened(&disk, &mut root);
        let created_at = disk.journal_len();
        let before = records.len();
        let done = run(&setup, &disk, isolation, seed * CRASHES + crash, &clocks);
        records.extend(done);
        drop(setup);
        let journal = disk.journal();
        let mut crashes = CrashImages::new(image, &journal);
        let position = created_at + random.below(journal.len() - created_at);
        while crashes.position() < position && crashes.advance() {}
        image = crashes.image(random.next());
        let position = crashes.position();
        let disk = Arc::new(SimDisk::recording(image.clone()));
        let state = all(&opened(&disk, &mut root).mvcc.view(), TREE);
        let alive = survivors(&records, &state);
        for (index, record) in records.iter_mut().enumerate() {
            if !record.is_committed || record.appends.is_empty() {
                continue;
            }
            let is_durable =
                record.synchronous == Synchronous::Full && record.returned_at <= position;
            let is_old = index < before;
            assert!(
                alive.contains(&index) || !(is_old || is_durable),
                "seed {seed}: a durable transaction is lost"
            );
            assert!(
                !alive.contains(&index) || is_old || record.called_at <= position,
                "seed {seed}: a transaction is older than its commit"
            );
            lost += usize::from(!alive.contains(&index));
            record.is_committed = alive.contains(&index);
        }
        // Who has only read, or not survived, has seen what nobody sees again.
        let known: HashSet<u32> = state.values().flat_map(|value| decode(value)).collect();
        for record in &mut records {
            let has_seen = record.reads.iter().flat_map(|(_, list)| list);
            let saw_lost = has_seen.clone().any(|number| !known.contains(number));
            assert!(
                !(saw_lost && record.is_committed && !record.appends.is_empty()),
                "seed {seed}: what a transaction has read is lost, and it is not"
            );
            record.is_committed &= !saw_lost;
        }
        check(&records, &state, isolation);
    }
    lost
}

fn check_level(isolation: Isolation) {
    let lost: usize = (0..cases("QUIRE_MVCC_HISTORIES", 6))
        .map(|seed| crash_often(isolation, seed))
        .sum();
    assert!(lost > 10, "crashes came too late to lose anything: {lost}");
}

#[test]
fn read_committed_survives_crashes() {
    check_level(Isolation::ReadCommitted);
}

#[test]
fn repeatable_read_survives_crashes() {
    check_level(Isolation::RepeatableRead);
}

#[test]
fn serializable_survives_crashes() {
    check_level(Isolation::Serializable);
}
