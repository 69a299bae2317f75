use std::sync::Arc;

use quire_device::{AttributeChange, DataSet, DataSetVolume, NewInode, ROOT_INODE, RenameMode};
use quire_store::SimDisk;
use quire_store::disk::{CrashImages, Fault, FaultKind};

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

/// A full volume with `count` files, and more in memory than the reserve has room for.
fn full_with_waiting(disk: &Arc<SimDisk>, count: u32) -> (DataSetVolume, Arc<DataSet>, Random) {
    let (sets, set) = short_records_on(disk.clone(), 64 << 20);
    let mut random = Random(3);
    for number in 0..count {
        let file = new_file(&set, &format!("file {number}"));
        set.write(file, 0, &random.bytes(500_000)).unwrap();
    }
    set.sync().unwrap();
    disk.set_quota(Some(sets.volume().stats().file_bytes));
    let waiting = new_file(&set, "waiting");
    set.write(waiting, 0, &random.bytes(6_000_000)).unwrap();
    let refused = set.sync().unwrap_err();
    assert!(refused.is_full(), "{refused}");
    (sets, set, random)
}

#[test]
fn removals_make_room_before_what_waits_in_memory_fits() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set, _) = full_with_waiting(&disk, 20);
    let before = sets.volume().stats().live_bytes;
    let content = set.read(set.lookup(ROOT_INODE, b"waiting").unwrap(), 0, usize::MAX);
    let content = content.unwrap();
    // Less than what waits: it still cannot be written.
    for number in 0..4 {
        set.unlink(ROOT_INODE, format!("file {number}").as_bytes())
            .unwrap();
    }
    let refused = set.sync().unwrap_err();
    assert!(refused.is_full(), "{refused}");
    let freed = before - sets.volume().stats().live_bytes;
    assert!((1_900_000..2_100_000).contains(&freed), "{freed}");
    // A crash now has the removals, and not what waits.
    let crashed = open_on(Arc::new(SimDisk::new(disk.crash_losing_all())), 64 << 20).unwrap();
    assert_eq!(check(&crashed), Ok(()));
    let found = crashed.open_set("data").unwrap();
    let names = found.read_directory(ROOT_INODE, None, 100).unwrap();
    assert_eq!(names.len(), 16);
    assert_eq!(found.attributes(ROOT_INODE).unwrap().size, 16);
    // In steps, as `rm` with a sync now and then, until there is room.
    for number in 4..16 {
        set.unlink(ROOT_INODE, format!("file {number}").as_bytes())
            .unwrap();
        let _ = set.sync();
    }
    set.sync().unwrap();
    drop(found);
    let crashed = open_on(Arc::new(SimDisk::new(disk.crash_losing_all())), 64 << 20).unwrap();
    assert_eq!(check(&crashed), Ok(()));
    let found = crashed.open_set("data").unwrap();
    let waiting = found.lookup(ROOT_INODE, b"waiting").unwrap();
    assert!(found.read(waiting, 0, usize::MAX).unwrap() == content);
}

#[test]
fn truncation_and_holes_make_room_too() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set, _) = full_with_waiting(&disk, 6);
    let before = sets.volume().stats().live_bytes;
    let inode = |number: u32| set.lookup(ROOT_INODE, format!("file {number}").as_bytes());
    let empty = AttributeChange {
        size: Some(0),
        ..AttributeChange::default()
    };
    set.set_attributes(inode(0).unwrap(), &empty).unwrap();
    set.punch_hole(inode(1).unwrap(), 0, 409_600).unwrap();
    assert!(set.sync().unwrap_err().is_full());
    let freed = before - sets.volume().stats().live_bytes;
    assert!((850_000..930_000).contains(&freed), "{freed}");
    let crashed = open_on(Arc::new(SimDisk::new(disk.crash_losing_all())), 64 << 20).unwrap();
    assert_eq!(check(&crashed), Ok(()));
    let found = crashed.open_set("data").unwrap();
    assert_eq!(found.attributes(inode(0).unwrap()).unwrap().size, 0);
    let punched = found.read(inode(1).unwrap(), 0, usize::MAX).unwrap();
    assert!(punched == set.read(inode(1).unwrap(), 0, usize::MAX).unwrap());
}

/// A file whose name has been taken by one that is not written yet, and writes that only the log has, are not lost when other files are
/// removed on a full disk, wherever a crash comes.
#[test]
fn a_replaced_file_stays_until_the_new_one_is_written() {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let (sets, set) = short_records_on(disk.clone(), 64 << 20);
    sets.set_property("data", "sync=logged").unwrap();
    let mut random = Random(4);
    for number in 0..4 {
        let file = new_file(&set, &format!("file {number}"));
        set.write(file, 0, &random.bytes(60_000)).unwrap();
    }
    let old = random.bytes(5000);
    let target = new_file(&set, "target");
    set.write(target, 0, &old).unwrap();
    let logged = new_file(&set, "logged");
    set.sync().unwrap();
    set.write(logged, 0, b"only in the log").unwrap();
    set.sync().unwrap();
    let begun = disk.journal_len();
    disk.set_quota(Some(sets.volume().stats().file_bytes));
    let new = random.bytes(3_000_000);
    let other = new_file(&set, "other");
    set.write(other, 0, &new).unwrap();
    set.rename(
        (ROOT_INODE, b"other"),
        (ROOT_INODE, b"target"),
        RenameMode::Replace,
    )
    .unwrap();
    for number in 0..4 {
        set.unlink(ROOT_INODE, format!("file {number}").as_bytes())
            .unwrap();
    }
    assert!(set.sync().unwrap_err().is_full());
    disk.set_quota(None);
    set.sync().unwrap();
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let (mut only_removed, mut whole) = (0, 0);
    while crashes.advance() {
        if crashes.position() < begun {
            continue;
        }
        let image = crashes.image(random.next_u64());
        let sets = open_on(Arc::new(SimDisk::new(image)), 64 << 20).unwrap();
        assert_eq!(check(&sets), Ok(()));
        let set = sets.open_set("data").unwrap();
        let read = |name: &[u8]| {
            let file = set.lookup(ROOT_INODE, name).unwrap();
            set.read(file, 0, usize::MAX).unwrap()
        };
        assert_eq!(read(b"logged"), b"only in the log");
        let found = read(b"target");
        assert!(found == old || found == new);
        let names = set.read_directory(ROOT_INODE, None, 100).unwrap().len();
        let is_whole = found == new;
        assert!(names == 2 || names == 6 && !is_whole, "{names} names");
        only_removed += u32::from(names == 2 && !is_whole);
        whole += u32::from(is_whole);
    }
    assert!(only_removed > 0 && whole > 0, "{only_removed} {whole}");
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
