use std::sync::Arc;

use quire_device::{NewInode, ROOT_INODE};
use quire_store::SimDisk;
use quire_store::disk::{Fault, FaultKind};

use crate::random::Random;
use crate::volumes::{check, new_file, open_on, short_records_on};

#[test]
fn a_full_disk_loses_nothing_and_removal_makes_room() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set) = short_records_on(disk.clone(), 1 << 20);
    let mut random = Random(1);
    let kept = new_file(&set, "kept");
    let content = random.bytes(200_000);
    set.write(kept, 0, &content).unwrap();
    set.sync().unwrap();
    disk.set_quota(Some(8 << 20));
    let mut count = 0;
    let refused = loop {
        let name = format!("file {count}");
        let written = set
            .create(ROOT_INODE, name.as_bytes(), &NewInode::file(0o644))
            .and_then(|file| set.write(file, 0, &random.bytes(300_000)));
        let written = written.and_then(|()| Ok(set.sync()?));
        match written {
            Ok(()) => count += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(refused.contains("no space left"), "{refused}");
    assert!(count > 5, "{count}");
    assert_eq!(set.read(kept, 0, usize::MAX).unwrap(), content);
    for number in 0..=count {
        let name = format!("file {number}");
        set.unlink(ROOT_INODE, name.as_bytes()).unwrap();
    }
    set.sync().unwrap();
    let again = new_file(&set, "again");
    set.write(again, 0, &content).unwrap();
    set.sync().unwrap();
    drop(set);
    drop(sets);
    let sets = open_on(disk, 1 << 20).unwrap();
    let set = sets.open_set("data").unwrap();
    assert_eq!(set.read(kept, 0, usize::MAX).unwrap(), content);
    assert_eq!(set.read(again, 0, usize::MAX).unwrap(), content);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn removal_makes_room_for_what_waits_in_memory() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set) = short_records_on(disk.clone(), 1 << 20);
    let mut random = Random(2);
    for number in 0..8 {
        let file = new_file(&set, &format!("file {number}"));
        set.write(file, 0, &random.bytes(500_000)).unwrap();
        set.sync().unwrap();
    }
    disk.set_quota(Some(sets.volume().stats().file_bytes));
    let waiting = new_file(&set, "waiting");
    let content = random.bytes(900_000);
    set.write(waiting, 0, &content).unwrap();
    let refused = set.sync().unwrap_err();
    assert!(refused.is_full(), "{refused}");
    for number in 0..8 {
        let name = format!("file {number}");
        set.unlink(ROOT_INODE, name.as_bytes()).unwrap();
    }
    set.sync().unwrap();
    assert_eq!(set.read(waiting, 0, usize::MAX).unwrap(), content);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_read_that_fails_is_told_and_a_later_one_succeeds() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set) = short_records_on(disk.clone(), 1 << 20);
    let file = new_file(&set, "file");
    let content = Random(1).bytes(2 << 20);
    set.write(file, 0, &content).unwrap();
    set.sync().unwrap();
    drop(set);
    drop(sets);
    let sets = open_on(disk.clone(), 1 << 20).unwrap();
    let set = sets.open_set("data").unwrap();
    disk.add_fault(Fault {
        kind: FaultKind::Read,
        nth: disk.call_count(FaultKind::Read),
        is_persistent: true,
        error: std::io::ErrorKind::Other,
        effect: 0,
    });
    let error = set.read(file, 0, usize::MAX).unwrap_err().to_string();
    assert!(error.contains("cannot read page"), "{error}");
    disk.clear_faults();
    assert_eq!(set.read(file, 0, usize::MAX).unwrap(), content);
}

#[test]
fn after_a_failed_sync_nothing_more_is_written_and_what_was_synced_is_there() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (_sets, set) = short_records_on(disk.clone(), 1 << 20);
    let file = new_file(&set, "file");
    set.write(file, 0, b"first").unwrap();
    set.sync().unwrap();
    disk.add_fault(Fault {
        kind: FaultKind::Sync,
        nth: disk.call_count(FaultKind::Sync),
        is_persistent: false,
        error: std::io::ErrorKind::Other,
        effect: 1,
    });
    set.write(file, 0, b"other").unwrap();
    assert!(set.sync().is_err());
    let error = set.sync().unwrap_err().to_string();
    assert!(error.contains("takes no more writes"), "{error}");
    // What is in memory can still be read.
    assert_eq!(set.read(file, 0, 10).unwrap(), b"other");
    let image = disk.crash_losing_all();
    let sets = open_on(Arc::new(SimDisk::new(image)), 1 << 20).unwrap();
    let set = sets.open_set("data").unwrap();
    assert_eq!(set.read(file, 0, 10).unwrap(), b"first");
    assert_eq!(check(&sets), Ok(()));
}
