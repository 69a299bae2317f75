//! The log of row transactions when nothing fails.
#![allow(clippy::unwrap_used)]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quire_store::disk::{DiskCall, HookedDisk};
use quire_store::log::{
    LogError, LogOptions, LogSequence, RECORDS_BYTES_MAX, ReplayError, VolumeLog,
};
use quire_store::{
    BatchWriteError, CommitError, Disk, Durability, FileDisk, MemDisk, OpenMode, PageKind, SimDisk,
    Volume, VolumeOptions,
};

use Durability::{Synced, Unsynced};

fn create() -> (Arc<MemDisk>, Volume, VolumeLog) {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    (disk, volume, log)
}

/// The log as a process finds it that starts after this one was killed.
fn reopen(disk: &MemDisk) -> (Arc<MemDisk>, Volume, VolumeLog) {
    reopen_bytes(disk.to_bytes())
}

fn reopen_bytes(bytes: Vec<u8>) -> (Arc<MemDisk>, Volume, VolumeLog) {
    let disk = Arc::new(MemDisk::from_bytes(bytes));
    let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    (disk, volume, log)
}

fn replayed(log: &VolumeLog) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    log.replay(|sequence, records| {
        found.push((sequence.get(), records.to_vec()));
        Ok::<(), Infallible>(())
    })
    .unwrap();
    found
}

fn numbers(log: &VolumeLog) -> Vec<u64> {
    replayed(log)
        .into_iter()
        .map(|(sequence, _)| sequence)
        .collect()
}

#[test]
fn commits_come_back_in_order() {
    let (disk, _volume, log) = create();
    assert_eq!(log.last_sequence(), LogSequence::default());
    let mut expected = Vec::new();
    for number in 1..=50_u64 {
        let records = vec![number as u8; (number * number % 700) as usize];
        let durability = if number % 3 == 0 { Synced } else { Unsynced };
        let sequence = log.commit(&records, durability).unwrap();
        assert_eq!(sequence, LogSequence::new(number));
        expected.push((number, records));
    }
    assert_eq!(replayed(&log), expected);
    let (_, volume, log) = reopen(&disk);
    assert_eq!(log.last_sequence().get(), 50);
    assert_eq!(replayed(&log), expected);
    assert_eq!(log.commit(b"more", Synced).unwrap().get(), 51);
    assert!(volume.check().findings.is_empty());
}

#[test]
fn a_truncation_counts_with_its_batch_and_numbers_go_on() {
    let (disk, volume, log) = create();
    for _ in 0..6 {
        log.commit(b"x", Synced).unwrap();
    }
    let batch = volume.begin().unwrap();
    log.truncate(&batch, LogSequence::new(4)).unwrap();
    drop(batch);
    assert_eq!(numbers(&log), [1, 2, 3, 4, 5, 6], "the batch was dropped");
    let before = log.live_bytes();
    let batch = volume.begin().unwrap();
    log.truncate(&batch, LogSequence::new(4)).unwrap();
    batch.commit().unwrap();
    assert_eq!(numbers(&log), [5, 6]);
    assert_eq!(numbers(&reopen(&disk).2), [5, 6]);
    log.commit(b"y", Synced).unwrap();
    assert!(log.live_bytes() < before);
    // A lower one and one that is beyond the end.
    for (up_to, expected) in [(1, &[5, 6, 7][..]), (99, &[][..])] {
        let batch = volume.begin().unwrap();
        log.truncate(&batch, LogSequence::new(up_to)).unwrap();
        batch.commit().unwrap();
        assert_eq!(numbers(&log), expected);
        assert_eq!(numbers(&reopen(&disk).2), expected);
    }
    // Pages of others come before the next of the log.
    for _ in 0..3 {
        let batch = volume.begin().unwrap();
        batch.write(PageKind::Segment, b"data").unwrap();
        batch.commit().unwrap();
    }
    assert_eq!(reopen(&disk).2.last_sequence().get(), 7);
    assert_eq!(log.commit(b"z", Synced).unwrap().get(), 8);
    assert_eq!(numbers(&reopen(&disk).2), [8]);
    assert!(volume.check().findings.is_empty());
}

#[test]
fn a_large_transaction_counts_when_it_is_finished() {
    let (disk, volume, log) = create();
    let mut finished = log.begin_large();
    let mut given_up = log.begin_large();
    finished.append(b"1a").unwrap();
    given_up.append(b"2a").unwrap();
    log.commit(b"between", Synced).unwrap();
    finished.append(b"1b").unwrap();
    assert_eq!(numbers(&log), [1]);
    assert_eq!(finished.commit(b"1c", Synced).unwrap().get(), 2);
    let expected: Vec<(u64, Vec<u8>)> = [(1, "between"), (2, "1a"), (2, "1b"), (2, "1c")]
        .map(|(sequence, text)| (sequence, text.as_bytes().to_vec()))
        .to_vec();
    assert_eq!(replayed(&log), expected);
    let pages = volume.stats().page_count;
    let (_, after_crash, found) = reopen(&disk);
    assert_eq!(replayed(&found), expected);
    found.commit(b"later", Synced).unwrap();
    assert_eq!(after_crash.stats().page_count, pages, "one new, one freed");
    // Truncating keeps the parts of what is in progress.
    given_up.append(b"2b").unwrap();
    let batch = volume.begin().unwrap();
    log.truncate(&batch, LogSequence::new(2)).unwrap();
    batch.commit().unwrap();
    assert!(replayed(&log).is_empty());
    assert_eq!(given_up.commit(b"2c", Unsynced).unwrap().get(), 3);
    let expected = ["2a", "2b", "2c"].map(|text| (3, text.as_bytes().to_vec()));
    assert_eq!(replayed(&reopen(&disk).2), expected);
    // Root and three pages.
    assert_eq!(volume.stats().page_count, 4);
    let mut dropped = log.begin_large();
    dropped.append(&[1; 100_000]).unwrap();
    drop(dropped);
    let batch = volume.begin().unwrap();
    log.truncate(&batch, LogSequence::new(3)).unwrap();
    batch.commit().unwrap();
    assert_eq!(volume.stats().page_count, 1);
    assert!(volume.check().findings.is_empty());
}

#[test]
fn records_of_any_allowed_length_come_back() {
    let (disk, _volume, log) = create();
    let lengths = [0, 1, 3_000, 4_096, 300_000, RECORDS_BYTES_MAX];
    let records: Vec<Vec<u8>> = lengths
        .iter()
        .map(|length| (0..*length).map(|at| (at / 7 * at / 3) as u8).collect())
        .collect();
    for records in &records {
        log.commit(records, Synced).unwrap();
    }
    let found: Vec<Vec<u8>> = replayed(&reopen(&disk).2)
        .into_iter()
        .map(|(_, records)| records)
        .collect();
    assert!(found == records);
    let refused = log.commit(&vec![0; RECORDS_BYTES_MAX + 1], Synced);
    assert!(matches!(
        refused,
        Err(CommitError::Write(BatchWriteError::TooLarge { .. }))
    ));
    let refused = log.begin_large().append(&vec![0; RECORDS_BYTES_MAX + 1]);
    assert!(refused.is_err());
}

/// Every thread finds its commits in its order, each with the sequence it was told.
fn commit_from_threads(delay_us: u32) {
    const THREADS: u64 = 8;
    const COMMITS: u64 = 60;
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let options = LogOptions {
        commit_delay_us: delay_us,
    };
    let log = VolumeLog::open(&volume, options).unwrap();
    let mut told: Vec<(u64, Vec<u8>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let log = &log;
                scope.spawn(move || {
                    let commit = |number: u64| {
                        let records = format!("{thread} {number}").into_bytes();
                        let sequence = log.commit(&records, Synced).unwrap();
                        (sequence.get(), records)
                    };
                    (0..COMMITS).map(commit).collect::<Vec<_>>()
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| {
                let told = worker.join().unwrap();
                assert!(told.is_sorted(), "a thread's commits are in its order");
                told
            })
            .collect()
    });
    told.sort_unstable();
    assert!(
        told.iter()
            .map(|(sequence, _)| *sequence)
            .eq(1..=THREADS * COMMITS)
    );
    assert_eq!(replayed(&reopen(&disk).2), told);
}

#[test]
fn threads_commit_in_groups() {
    commit_from_threads(0);
    commit_from_threads(200);
}

/// Whoever commits while a group is being synced shares the next sync: less than one for each commit.
#[test]
fn a_group_is_synced_once() {
    let path = std::env::temp_dir().join(format!("quire-store-{}-log", std::process::id()));
    let sync_count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&sync_count);
    // Each sync waits until the other threads have had time to come.
    let wait = move |call| {
        if call == DiskCall::Sync {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
    };
    let file = FileDisk::open_or_create(&path).unwrap();
    let disk = Arc::new(HookedDisk::new(file, wait));
    // The name is gone with the process, whatever happens.
    std::fs::remove_file(&path).unwrap();
    let volume = Volume::create(disk, VolumeOptions::default()).unwrap();
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    log.commit(b"set x", Synced).unwrap();
                }
            });
        }
    });
    let syncs = sync_count.load(Ordering::Relaxed);
    assert_eq!(log.last_sequence().get(), 200);
    assert!(syncs < 120, "{syncs} syncs for 200 commits of 8 threads");
}

#[test]
fn a_replay_stops_where_it_is_told_to() {
    let (_, _volume, log) = create();
    for number in 0..3_u8 {
        log.commit(&[number], Synced).unwrap();
    }
    let stopped = log.replay(|_, records| match records {
        [1] => Err(std::io::Error::other("no such tree")),
        _ => Ok(()),
    });
    match stopped {
        Err(ReplayError::Apply {
            sequence: 2,
            source,
        }) => {
            assert_eq!(source.to_string(), "no such tree");
        }
        other => panic!("{other:?}"),
    }
}

/// Pages that are whole, but not the log that was written.
#[test]
fn a_log_with_a_gap_is_refused() {
    let (disk, volume, log) = create();
    for _ in 0..4 {
        log.commit(b"x", Synced).unwrap();
    }
    let pin = volume.pin();
    let log_pages: Vec<_> = pin
        .pages()
        .into_iter()
        .filter(|page| pin.kind(*page).unwrap() == PageKind::Log)
        .collect();
    assert_eq!(log_pages.len(), 4);
    assert_eq!(pin.pages_from(log_pages[2]), log_pages[2..]);
    let batch = volume.begin().unwrap();
    batch.free(log_pages[1]).unwrap();
    batch.commit().unwrap();
    drop((log, volume, pin));
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    let refused = VolumeLog::open(&volume, LogOptions::default()).map(drop);
    assert!(
        matches!(&refused, Err(LogError::Corrupt { page, .. }) if *page == log_pages[2]),
        "{refused:?}"
    );
}

/// On a full disk inserts fail and leave nothing; a deletion is logged all the same, and the checkpoint after it makes
/// room for the next ones.
#[test]
fn on_a_full_disk_a_deletion_can_be_logged() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    log.commit(b"first", Synced).unwrap();
    let mut state = 1_u64;
    let mut noise = |bytes: usize| -> Vec<u8> {
        let mut byte = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        (0..bytes).map(|_| byte()).collect()
    };
    for round in 0..3 {
        let length = disk.len().unwrap();
        disk.set_quota(Some(length + 300_000));
        let mut last = log.last_sequence();
        let refused = loop {
            match log.commit(&noise(20_000), Synced) {
                Ok(sequence) => last = sequence,
                Err(error) => break error,
            }
        };
        assert!(
            matches!(refused, CommitError::Write(BatchWriteError::Full { .. })),
            "round {round}: {refused}"
        );
        assert_eq!(log.last_sequence(), last, "nothing of it was committed");
        let deletion = log.commit_making_room(b"delete", 0, Synced).unwrap();
        assert_eq!(deletion.get(), last.get() + 1);
        let batch = volume.begin().unwrap();
        log.truncate(&batch, deletion).unwrap();
        batch.commit().unwrap();
        volume.checkpoint().unwrap();
        log.commit(&noise(20_000), Synced).unwrap();
        assert!(volume.check().findings.is_empty());
    }
    let found = reopen_bytes(disk.to_bytes());
    assert_eq!(found.2.last_sequence(), log.last_sequence());
}

#[test]
fn a_batch_and_a_commit_of_the_log_count_together() {
    let (disk, volume, log) = create();
    log.commit(b"1", Synced).unwrap();
    let mut large = log.begin_large();
    large.append(b"part").unwrap();
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Segment, b"page").unwrap();
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| log.commit(b"3", Synced).unwrap());
        // It waits for its turn, and gets its number then.
        let second = log.commit_batch(batch, b"2", Unsynced).unwrap();
        assert_eq!(second.get(), 2);
        waiting.join().unwrap()
    });
    assert_eq!(waiting.get(), 3);
    let batch = volume.begin().unwrap();
    let other = batch.write(PageKind::Segment, b"other").unwrap();
    let fourth = large.commit_batch(batch, b"end", Synced).unwrap();
    assert_eq!(fourth.get(), 4);
    let expected: Vec<(u64, Vec<u8>)> = [
        (1, &b"1"[..]),
        (2, b"2"),
        (3, b"3"),
        (4, b"part"),
        (4, b"end"),
    ]
    .map(|(sequence, records)| (sequence, records.to_vec()))
    .to_vec();
    assert_eq!(replayed(&log), expected);
    let (_, volume, log) = reopen(&disk);
    assert_eq!(replayed(&log), expected);
    assert_eq!(&*volume.read(page).unwrap(), b"page");
    assert_eq!(&*volume.read(other).unwrap(), b"other");
}

#[test]
fn a_batch_that_fails_leaves_the_log_as_it_was() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    log.commit(b"1", Synced).unwrap();
    let batch = volume.begin().unwrap();
    let too_long = vec![0; RECORDS_BYTES_MAX + 1];
    let refused = log.commit_batch(batch, &too_long, Synced);
    assert!(matches!(
        refused,
        Err(CommitError::Write(BatchWriteError::TooLarge { .. }))
    ));
    disk.set_quota(Some(disk.len().unwrap()));
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Segment, &vec![1; 3 << 20]);
    let refused = page.map(|_| log.commit_batch(batch, b"2", Synced));
    assert!(!matches!(refused, Ok(Ok(_))));
    assert_eq!(log.last_sequence().get(), 1);
    disk.set_quota(None);
    assert_eq!(log.commit(b"2", Synced).unwrap().get(), 2);
    assert_eq!(numbers(&log), [1, 2]);
    let (_, _, log) = reopen_bytes(disk.to_bytes());
    assert_eq!(numbers(&log), [1, 2]);
}

#[test]
fn commits_that_nobody_waits_for_are_written_in_front_of_others() {
    let (disk, volume, log) = create();
    let before = volume.commit_sequence();
    assert_eq!(log.commit_later(b"a").unwrap().get(), 1);
    assert_eq!(log.commit_later(b"b").unwrap().get(), 2);
    assert_eq!(log.last_sequence().get(), 2);
    assert_eq!(volume.commit_sequence(), before, "in memory only");
    assert_eq!(numbers(&reopen(&disk).2), [] as [u64; 0]);
    assert_eq!(log.commit(b"c", Synced).unwrap().get(), 3);
    let found = replayed(&reopen(&disk).2);
    let wanted = [(1, b"a".to_vec()), (2, b"b".to_vec()), (3, b"c".to_vec())];
    assert_eq!(found, wanted);

    assert_eq!(log.commit_later(b"d").unwrap().get(), 4);
    let batch = volume.begin().unwrap();
    batch.write(PageKind::Table, b"beside").unwrap();
    assert_eq!(log.commit_batch(batch, b"e", Synced).unwrap().get(), 5);
    assert_eq!(numbers(&reopen(&disk).2), [1, 2, 3, 4, 5]);

    assert_eq!(log.commit_later(b"f").unwrap().get(), 6);
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Table, b"no rows").unwrap();
    let sequence = log.commit_pages(batch, Synced).unwrap();
    assert_eq!(sequence, volume.commit_sequence());
    let (_, found, found_log) = reopen(&disk);
    assert_eq!(found.read(page).unwrap().as_ref(), b"no rows");
    assert_eq!(numbers(&found_log), [1, 2, 3, 4, 5, 6]);
    drop((found, found_log));

    log.write_later().unwrap();
    log.write_later().unwrap();
    let batch = volume.begin().unwrap();
    log.truncate(&batch, LogSequence::new(6)).unwrap();
    batch.commit().unwrap();
    assert_eq!(log.commit_later(b"g").unwrap().get(), 7);
    drop((log, volume));
    let (_, _, log) = reopen(&disk);
    assert_eq!(
        replayed(&log),
        [(7, b"g".to_vec())],
        "the last handle writes them"
    );
}

#[test]
fn many_commits_that_nobody_waits_for_are_written_by_and_by() {
    let (disk, _volume, log) = create();
    for number in 1..=2000_u64 {
        let sequence = log.commit_later(&[number as u8; 500]).unwrap();
        assert_eq!(sequence.get(), number);
    }
    let (_, _, found) = reopen(&disk);
    assert!((1400..2000).contains(&found.last_sequence().get()));
    let numbers = numbers(&found);
    assert_eq!(numbers, Vec::from_iter(1..=numbers.len() as u64));
}

/// Threads that wait and threads that do not: every commit has its own sequence, and comes back under it.
#[test]
fn both_kinds_of_commits_side_by_side() {
    let (disk, _volume, log) = create();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let log = &log;
            scope.spawn(move || {
                for number in 0..300_u64 {
                    let name = [thread, number].map(u64::to_le_bytes).concat();
                    let sequence = match thread {
                        0 => log.commit(&name, Unsynced).unwrap(),
                        _ => log.commit_later(&name).unwrap(),
                    };
                    assert!(sequence <= log.last_sequence());
                }
            });
        }
    });
    assert_eq!(log.last_sequence().get(), 1200);
    log.write_later().unwrap();
    let found = replayed(&reopen(&disk).2);
    assert_eq!(found.len(), 1200);
    let mut next = [0; 4];
    for (_, name) in found {
        let thread = usize::from(name[0]);
        assert_eq!(name[8..], u64::to_le_bytes(next[thread]));
        next[thread] += 1;
    }
}

/// On a full disk they stay in memory under their sequences, and get out when there is room.
#[test]
fn commits_that_nobody_waits_for_survive_a_full_disk() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    let noise = |seed: u64, bytes: usize| -> Vec<u8> {
        let mut state = seed;
        let step = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u8
        };
        (0..bytes).map(step).collect()
    };
    log.commit(b"first", Synced).unwrap();
    disk.set_quota(Some(disk.to_bytes().len() as u64));
    let mut numbered = 1;
    loop {
        // So many bytes are promised before the disk is known to be full, or as long as they find room.
        let promised: Vec<_> = (1..=3)
            .map_while(|it| log.commit_later(&noise(it, 60_000)).ok())
            .collect();
        assert!(
            promised
                .iter()
                .map(|it| it.get())
                .eq(numbered + 1..=numbered + promised.len() as u64)
        );
        numbered += promised.len() as u64;
        if log.write_later().is_err() {
            break;
        }
    }
    // What is known to find no room is not promised.
    let refused = log.commit_later(&noise(9, 60_000));
    assert!(matches!(
        refused,
        Err(CommitError::Write(BatchWriteError::Full { .. }))
    ));
    let error = log.commit(b"waits", Synced);
    assert!(matches!(
        error,
        Err(CommitError::Write(BatchWriteError::Full { .. }))
    ));
    let last = log.last_sequence().get();
    assert_eq!(last, numbered);
    disk.set_quota(None);
    assert_eq!(log.commit(b"last", Synced).unwrap().get(), last + 1);
    let volume = Volume::open(Arc::new(SimDisk::new(disk.to_bytes())), OpenMode::ReadWrite);
    let log = VolumeLog::open(&volume.unwrap(), LogOptions::default()).unwrap();
    assert_eq!(numbers(&log), Vec::from_iter(1..=last + 1));
}
