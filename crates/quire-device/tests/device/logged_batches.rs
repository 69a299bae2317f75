//! Syncs that write log pages while a batch is compressed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use quire_device::{
    AttributeChange, DataSet, DataSetCodec, DataSetProperties, DataSetVolume, SynchronousWrites,
};
use quire_store::disk::CrashImages;
use quire_store::{Disk, MemDisk, SimDisk};

use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, new_file, open_on};

const DIRTY_BYTES: usize = 64 << 20;
/// Of the file that is compared.
const FILE_BYTES: usize = 3000;

/// A data set that compresses slowly, and logs.
fn slow(disk: Arc<dyn Disk>) -> (DataSetVolume, Arc<DataSet>) {
    let sets = create_on(disk, DIRTY_BYTES);
    let properties = DataSetProperties {
        record_bytes: Some(64 << 10),
        compression: DataSetCodec::from_name("zstd-19"),
        synchronous: Some(SynchronousWrites::Logged),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    (sets, set)
}

#[test]
fn a_sync_does_not_wait_until_another_batch_is_compressed() {
    let (sets, set) = slow(Arc::new(MemDisk::new()));
    let (large, small) = (new_file(&set, "large"), new_file(&set, "small"));
    set.sync().unwrap();
    let mut random = Random(1);
    for piece in 0..24 {
        // Below what a log page may have, so that all of it is logged.
        let text: Vec<u8> = (0..500_000)
            .map(|_| b'a' + random.below(16) as u8)
            .collect();
        set.write(large, piece * 500_000, &text).unwrap();
        set.sync().unwrap();
    }
    let is_done = AtomicBool::new(false);
    let mut syncs = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            set.write_back().unwrap();
            is_done.store(true, Ordering::SeqCst);
        });
        while !is_done.load(Ordering::SeqCst) && syncs < 1000 {
            set.write(small, 0, &[syncs as u8]).unwrap();
            set.sync().unwrap();
            syncs += 1;
        }
    });
    assert!(syncs > 50, "{syncs} syncs during a batch");
    assert_eq!(check(&sets), Ok(()));
}

/// One change of the file, in memory and in the data set.
fn change(random: &mut Random, set: &DataSet, file: u64, content: &mut Vec<u8>) {
    if random.chance(8) {
        let size = random.below(content.len() as u64 + 1);
        let shorter = AttributeChange {
            size: Some(size),
            ..AttributeChange::default()
        };
        set.set_attributes(file, &shorter).unwrap();
        content.truncate(size as usize);
        return;
    }
    let offset = random.below((FILE_BYTES - 400) as u64) as usize;
    let length = 1 + random.below(400) as usize;
    let bytes = random.bytes(length);
    set.write(file, offset as u64, &bytes).unwrap();
    content.resize(content.len().max(offset + bytes.len()), 0);
    content[offset..offset + bytes.len()].copy_from_slice(&bytes);
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let (_sets, set) = slow(disk.clone());
    let (file, filler) = (new_file(&set, "file"), new_file(&set, "filler"));
    set.sync().unwrap();
    let begun = disk.journal_len();
    // What the file was after each change; and how many changes were synced after how many operations of the disk.
    let mut contents = vec![Vec::new()];
    let mut synced = vec![(begun, 0)];
    let is_done = AtomicBool::new(false);
    let batches = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::SeqCst) {
                set.write_back().unwrap();
                batches.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut content = Vec::new();
        // At least so many, and until some have been in a batch of the other thread.
        for changes in 0..3000 {
            if changes >= 150 && batches.load(Ordering::SeqCst) > 1 {
                break;
            }
            if random.chance(10) {
                let text = vec![random.below(250) as u8; 300_000];
                set.write(filler, random.below(1_000_000), &text).unwrap();
            }
            change(&mut random, &set, file, &mut content);
            contents.push(content.clone());
            if random.chance(60) {
                set.sync().unwrap();
                synced.push((disk.journal_len(), contents.len() - 1));
            }
        }
        is_done.store(true, Ordering::SeqCst);
    });
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    while crashes.advance() {
        let position = crashes.position();
        if position < begun {
            continue;
        }
        let image = crashes.image(random.next_u64());
        let sets = open_on(Arc::new(MemDisk::from_bytes(image)), DIRTY_BYTES).unwrap();
        let set = sets.open_set("data").unwrap();
        let found = set.read(file, 0, usize::MAX).unwrap();
        let past = synced.partition_point(|(journal, _)| *journal <= position);
        let newest = synced[past - 1].1;
        assert!(
            contents[newest..].contains(&found),
            "QUIRE_SEED={seed}: after operation {position}: not what it was after {newest} changes or more"
        );
        if random.chance(10) {
            assert_eq!(check(&sets), Ok(()), "QUIRE_SEED={seed}: {position}");
            set.sync().unwrap();
            assert_eq!(check(&sets), Ok(()), "QUIRE_SEED={seed}: {position}");
        }
    }
    assert!(batches.load(Ordering::SeqCst) > 1);
}

/// A crash after each operation of the disk leaves the file as it was after some change, and after the newest one that was synced by then.
#[test]
fn what_is_logged_while_a_batch_is_compressed_survives_a_crash() {
    for seed in seeds(4) {
        run(seed);
    }
}
