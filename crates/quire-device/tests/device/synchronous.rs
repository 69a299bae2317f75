use std::sync::Arc;
use std::thread;
use std::time::Duration;

use quire_device::{
    AttributeChange, DataSet, DataSetProperties, DataSetVolume, NewInode, ROOT_INODE,
    SynchronousWrites,
};
use quire_store::disk::{DiskCall, HookedDisk};
use quire_store::{MemDisk, SimDisk};

use crate::random::Random;
use crate::volumes::{check, create_on, in_memory, new_file, open_on, short_records};

const DIRTY_BYTES: usize = 4 << 20;

/// A file of noise in long records, and synchronous writes that are logged.
fn logged(content: &[u8]) -> (Arc<SimDisk>, DataSetVolume, Arc<DataSet>, u64) {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let sets = create_on(disk.clone(), DIRTY_BYTES);
    let properties = DataSetProperties {
        record_bytes: Some(128 << 10),
        synchronous: Some(SynchronousWrites::Logged),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o644))
        .unwrap();
    set.write(file, 0, content).unwrap();
    set.sync_file(file).unwrap();
    (disk, sets, set, file)
}

#[test]
fn a_logged_write_takes_its_own_bytes_and_survives_a_crash() {
    let mut content = Random(1).bytes(600_000);
    let (disk, sets, set, file) = logged(&content);
    let before = (
        sets.volume().stats().live_bytes,
        sets.volume().commit_sequence(),
    );
    for round in 0..10 {
        let offset = round * 50_000;
        set.write(file, offset as u64, &[round as u8; 300]).unwrap();
        content[offset..offset + 300].fill(round as u8);
        set.sync_file(file).unwrap();
    }
    // And a part of it again, behind the end of the file.
    set.write(file, 600_000, b"more").unwrap();
    set.write(file, 600_004, b" and more").unwrap();
    content.extend(b"more and more");
    set.sync_file(file).unwrap();
    let after = (
        sets.volume().stats().live_bytes,
        sets.volume().commit_sequence(),
    );
    assert_eq!(after.1, before.1 + 11);
    // A record has 131,072 bytes; a log page those of the write and some 80 for itself.
    assert!(after.0 < before.0 + 11 * 400, "{before:?} {after:?}");
    let image = disk.crash_losing_all();
    let opened = open_on(Arc::new(SimDisk::new(image)), DIRTY_BYTES).unwrap();
    let found = opened.open_set("data").unwrap();
    assert!(found.read(file, 0, usize::MAX).unwrap() == content);
    assert_eq!(check(&opened), Ok(()));
    // The next batch has the records, and the log pages are gone.
    for (sets, set) in [(&sets, &set), (&opened, &found)] {
        set.write_back().unwrap();
        assert!(set.read(file, 0, usize::MAX).unwrap() == content);
        assert_eq!(check(sets), Ok(()));
        let statistics = set.statistics();
        assert_eq!(
            (statistics.changed_bytes, statistics.logical_bytes()),
            (0, 600_013)
        );
        assert!(sets.volume().stats().live_bytes < before.0 + 1000);
    }
}

#[test]
fn what_the_log_has_no_words_for_is_a_batch() {
    let content = Random(2).bytes(300_000);
    let (disk, sets, set, file) = logged(&content);
    set.write(file, 10, b"logged").unwrap();
    set.sync().unwrap();
    set.write(file, 20, b"not alone").unwrap();
    let change = AttributeChange {
        size: Some(100),
        ..AttributeChange::default()
    };
    set.set_attributes(file, &change).unwrap();
    set.sync().unwrap();
    assert_eq!(set.statistics().changed_bytes, 0);
    set.write(file, 30, b"logged again").unwrap();
    set.sync().unwrap();
    set.unlink(ROOT_INODE, b"file").unwrap();
    let image = disk.crash_losing_all();
    let opened = open_on(Arc::new(SimDisk::new(image)), DIRTY_BYTES).unwrap();
    let found = opened.open_set("data").unwrap();
    let mut expected = content[..100].to_vec();
    expected[10..16].copy_from_slice(b"logged");
    expected[20..29].copy_from_slice(b"not alone");
    expected[30..42].copy_from_slice(b"logged again");
    assert_eq!(found.read(file, 0, 200).unwrap(), expected);
    set.sync().unwrap();
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_log_does_not_become_longer_than_what_may_be_in_memory() {
    let (_disk, sets, set, file) = logged(&[1; 1000]);
    let before = sets.volume().stats().page_count;
    let piece = Random(3).bytes(500_000);
    for round in 0..40 {
        set.write(file, round % 3, &piece).unwrap();
        set.sync().unwrap();
        let pages = sets.volume().stats().page_count - before;
        assert!(pages < 8 + 5, "{pages} pages in round {round}");
    }
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_sync_is_one_batch_and_a_second_one_is_none() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    set.sync().unwrap();
    let before = sets.volume().commit_sequence();
    for name in [b"a", b"b", b"c"] {
        let file = set
            .create(ROOT_INODE, name, &NewInode::file(0o644))
            .unwrap();
        set.write(file, 0, &[1; 300_000]).unwrap();
    }
    set.sync().unwrap();
    assert_eq!(sets.volume().commit_sequence(), before + 1);
    set.sync().unwrap();
    assert_eq!(sets.volume().commit_sequence(), before + 1);
}

#[test]
fn a_log_does_not_have_many_pages_either() {
    let (disk, sets, set, file) = logged(&[1; 1000]);
    let before = sets.volume().stats().page_count;
    for round in 0..2500_u64 {
        set.write(file, round % 1000, &[round as u8]).unwrap();
        set.sync().unwrap();
        let pages = sets.volume().stats().page_count - before;
        assert!(pages < 1032, "{pages} pages in round {round}");
    }
    let expected = set.read(file, 0, 1000).unwrap();
    let image = disk.crash_losing_all();
    let opened = open_on(Arc::new(SimDisk::new(image)), DIRTY_BYTES).unwrap();
    let found = opened.open_set("data").unwrap();
    assert_eq!(found.read(file, 0, 1000).unwrap(), expected);
}

#[test]
fn threads_that_sync_at_the_same_time_share_batches_and_log_pages() {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 10;
    for mode in [SynchronousWrites::Compressed, SynchronousWrites::Logged] {
        let disk = HookedDisk::new(MemDisk::new(), |call| {
            if call == DiskCall::Sync {
                thread::sleep(Duration::from_millis(30));
            }
        });
        let sets = create_on(Arc::new(disk), DIRTY_BYTES);
        let properties = DataSetProperties {
            synchronous: Some(mode),
            ..short_records()
        };
        sets.create_set("data", properties).unwrap();
        let set = sets.open_set("data").unwrap();
        let file = new_file(&set, "file");
        set.sync().unwrap();
        let before = sets.volume().commit_sequence();
        thread::scope(|scope| {
            for number in 0..THREADS {
                let set = &set;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let offset = number * 4096;
                        set.write(file, offset, &[round as u8 + 1; 4096]).unwrap();
                        set.sync_file(file).unwrap();
                    }
                });
            }
        });
        let batches = sets.volume().commit_sequence() - before;
        // Two for each round when all go in step.
        assert!(batches <= 3 * ROUNDS, "{batches} batches, {mode:?}");
        assert_eq!(check(&sets), Ok(()));
    }
}
