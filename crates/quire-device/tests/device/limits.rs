use std::sync::Arc;

use quire_device::{
    AttributeChange, DataSetProperties, ExtendedMode, FileError, FileTime, NewInode, ROOT_INODE,
};
use quire_store::MemDisk;

use crate::random::Random;
use crate::volumes::{check, create_on, device_options, new_file, short_records_on};

#[test]
fn memory_is_bounded_while_much_is_written_and_read() {
    let dirty_bytes = 256 << 10;
    let sets = create_on(Arc::new(MemDisk::new()), dirty_bytes);
    let properties = DataSetProperties {
        record_bytes: Some(16 << 10),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let file = new_file(&set, "file");
    let mut random = Random(1);
    let mut expected = vec![0; 8 << 20];
    for _ in 0..300 {
        let length = random.below(60_000) as usize;
        let offset = random.below((expected.len() - length) as u64) as usize;
        let content = random.content(length);
        set.write(file, offset as u64, &content).unwrap();
        expected[offset..offset + length].copy_from_slice(&content);
        // A piece of a write and the records at its ends may come on top.
        let changed = set.statistics().changed_bytes as usize;
        assert!(changed <= 2 * dirty_bytes, "{changed}");
    }
    let size = set.attributes(file).unwrap().size as usize;
    assert!(set.read(file, 0, usize::MAX).unwrap() == expected[..size]);
    assert!(sets.cached_bytes() <= device_options(0).record_cache_bytes);
    set.sync().unwrap();
    assert_eq!(set.statistics().changed_bytes, 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_file_of_many_records_is_removed_in_steps() {
    let dirty_bytes = 4 << 20;
    let (sets, set) = short_records_on(Arc::new(MemDisk::new()), dirty_bytes);
    let file = new_file(&set, "file");
    for index in 0..20_000_u64 {
        set.write(file, index * 4096 + index % 4000, b"x").unwrap();
    }
    set.sync().unwrap();
    assert_eq!(set.space(file).unwrap().record_count, 20_000);
    let before = sets.volume().commit_sequence();
    set.unlink(ROOT_INODE, b"file").unwrap();
    assert!(sets.volume().commit_sequence() >= before + 2);
    set.sync().unwrap();
    assert_eq!(set.statistics().logical_bytes(), 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_quota_is_kept_and_removal_makes_room() {
    let (sets, set) = short_records_on(Arc::new(MemDisk::new()), 256 << 10);
    let quota_bytes = 1 << 20;
    let change = |properties: &mut DataSetProperties| properties.quota_bytes = Some(quota_bytes);
    sets.set_properties("data", change).unwrap();
    let mut random = Random(2);
    let file = new_file(&set, "file");
    let mut written = 0;
    let refused = loop {
        let piece = random.bytes(10_000);
        match set.write(file, written, &piece) {
            Ok(()) => written += piece.len() as u64,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(refused, FileError::QuotaExceeded { .. }),
        "{refused}"
    );
    assert!(written > 800_000, "{written}");
    set.sync().unwrap();
    assert!(set.statistics().used_bytes <= quota_bytes);
    // A snapshot keeps what is removed, so that makes no room.
    sets.snapshot("data@one").unwrap();
    set.unlink(ROOT_INODE, b"file").unwrap();
    let other = new_file(&set, "other");
    let refused = set.write(other, 0, &random.bytes(400_000));
    assert!(matches!(refused, Err(FileError::QuotaExceeded { .. })));
    sets.destroy_snapshot("data@one").unwrap();
    set.write(other, 0, &random.bytes(400_000)).unwrap();
    set.sync().unwrap();
    // What compresses well may be longer than the quota.
    for part in 0..40 {
        set.write(other, 400_000 + part * 100_000, &[7; 100_000])
            .unwrap();
    }
    set.sync().unwrap();
    assert!(set.statistics().used_bytes <= quota_bytes);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_file_may_be_far_longer_than_what_it_takes() {
    let sets = crate::volumes::in_memory();
    let set = sets.open_set("data").unwrap();
    let file = new_file(&set, "file");
    let far = 1 << 50;
    set.write(file, far, b"far away").unwrap();
    set.sync().unwrap();
    assert_eq!(set.read(file, far - 2, 100).unwrap(), b"\0\0far away");
    assert_eq!(set.space(file).unwrap().record_count, 1);
    set.punch_hole(file, 10, far).unwrap();
    assert_eq!(set.read(file, far, 100).unwrap(), b"\0\0\0\0\0\0\0\0"[..8]);
    let resized = |size| {
        let change = AttributeChange {
            size: Some(size),
            ..AttributeChange::default()
        };
        set.set_attributes(file, &change)
    };
    assert!(matches!(resized(1 << 63), Err(FileError::TooLarge { .. })));
    assert!(matches!(
        set.write(file, u64::MAX, b"x"),
        Err(FileError::TooLarge { .. })
    ));
    assert_eq!(resized(5).unwrap().size, 5);
    set.sync().unwrap();
    assert_eq!(set.space(file).unwrap().record_count, 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn data_and_holes_are_found() {
    let (_sets, set) = short_records_on(Arc::new(MemDisk::new()), 16 << 20);
    let file = new_file(&set, "file");
    // Records 0 to 1,499, then 2,000, then zeros up to record 3,000.
    set.write(file, 0, &[1; 1500 * 4096]).unwrap();
    set.write(file, 2000 * 4096, b"x").unwrap();
    let change = AttributeChange {
        size: Some(3000 * 4096 + 5),
        ..AttributeChange::default()
    };
    set.set_attributes(file, &change).unwrap();
    for _ in 0..2 {
        let data = |offset| set.next_data(file, offset).unwrap();
        let hole = |offset| set.next_hole(file, offset).unwrap();
        assert_eq!((data(0), hole(0)), (Some(0), Some(1500 * 4096)));
        assert_eq!(
            (data(77), hole(1499 * 4096 + 1)),
            (Some(77), Some(1500 * 4096))
        );
        assert_eq!(
            (data(1500 * 4096), hole(1500 * 4096)),
            (Some(2000 * 4096), Some(1500 * 4096))
        );
        assert_eq!(
            (data(2000 * 4096 + 9), hole(2000 * 4096)),
            (Some(2000 * 4096 + 9), Some(2001 * 4096))
        );
        assert_eq!(
            (data(2001 * 4096), hole(3000 * 4096)),
            (None, Some(3000 * 4096))
        );
        assert_eq!((data(1 << 40), hole(3000 * 4096 + 5)), (None, None));
        set.sync().unwrap();
    }
    set.write(file, 3000 * 4096, b"end").unwrap();
    assert_eq!(
        set.next_hole(file, 3000 * 4096).unwrap(),
        Some(3000 * 4096 + 5)
    );
}

#[test]
fn names_count_towards_the_quota() {
    let (sets, set) = short_records_on(Arc::new(MemDisk::new()), 64 << 10);
    let quota_bytes = 1 << 20;
    let change = |properties: &mut DataSetProperties| properties.quota_bytes = Some(quota_bytes);
    sets.set_properties("data", change).unwrap();
    let new = NewInode::file(0o644);
    // Nothing that nodes could leave out as what all keys begin with.
    let name = |number| {
        let noise = Random(number).bytes(100);
        noise
            .iter()
            .flat_map(|byte| format!("{byte:02x}").into_bytes())
            .collect::<Vec<u8>>()
    };
    let refused = (0..20_000).find_map(|number| set.create(ROOT_INODE, &name(number), &new).err());
    let refused = refused.expect("20,000 names of 200 bytes take more than 1 MiB");
    assert!(
        matches!(refused, FileError::QuotaExceeded { .. }),
        "{refused}"
    );
    let first = set.lookup(ROOT_INODE, &name(0)).unwrap();
    let refused = set.set_extended(first, b"user.long", &[1; 3000], ExtendedMode::Any);
    assert!(matches!(refused, Err(FileError::QuotaExceeded { .. })));
    let refused = set.link(first, ROOT_INODE, &[b'x'; 255]);
    assert!(matches!(refused, Err(FileError::QuotaExceeded { .. })));
    for number in 0..100 {
        set.unlink(ROOT_INODE, &name(number)).unwrap();
    }
    set.sync().unwrap();
    set.create(ROOT_INODE, &name(0), &new).unwrap();
    assert_eq!(check(&sets), Ok(()));
}

/// Before, the parts of all records in front of the hole's end were counted one by one: 2^49 of them.
#[test]
fn a_hole_in_a_far_longer_file_is_punched_at_once() {
    let (sets, set) = short_records_on(Arc::new(MemDisk::new()), 1 << 20);
    let file = new_file(&set, "file");
    let change = AttributeChange {
        size: Some(i64::MAX as u64),
        ..AttributeChange::default()
    };
    set.set_attributes(file, &change).unwrap();
    let end = 1_u64 << 61;
    set.write(file, 0, &[1; 100]).unwrap();
    set.write(file, end - 10, &[2; 20]).unwrap();
    set.write(file, (i64::MAX as u64) - 5, &[3; 5]).unwrap();
    set.sync().unwrap();
    set.punch_hole(file, 50, end - 53).unwrap();
    assert_eq!(set.read(file, 48, 4).unwrap(), [1, 1, 0, 0]);
    assert_eq!(set.read(file, end - 5, 7).unwrap(), [0, 0, 2, 2, 2, 2, 2]);
    let last = set.read(file, (i64::MAX as u64) - 7, 100).unwrap();
    assert_eq!(last, [0, 0, 3, 3, 3, 3, 3]);
    set.sync().unwrap();
    assert_eq!(set.space(file).unwrap().record_count, 4);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn what_cannot_be_stored_is_refused_and_changes_nothing() {
    let (sets, set) = short_records_on(Arc::new(MemDisk::new()), 1 << 20);
    let file = new_file(&set, "file");
    let before = set.attributes(file).unwrap();
    let wrong = Some(FileTime {
        seconds: 1,
        nanoseconds: 1_000_000_000,
    });
    for change in [
        AttributeChange {
            modified: wrong,
            size: Some(7),
            ..AttributeChange::default()
        },
        AttributeChange {
            accessed: wrong,
            mode: Some(0),
            ..AttributeChange::default()
        },
    ] {
        let refused = set.set_attributes(file, &change);
        assert!(matches!(refused, Err(FileError::Invalid { .. })));
        assert_eq!(set.attributes(file).unwrap(), before);
    }
    let long = [b'n'; 256];
    let is_long = |error: FileError| matches!(error, FileError::NameTooLong { bytes: 256 });
    assert!(is_long(set.lookup(ROOT_INODE, &long).unwrap_err()));
    assert!(is_long(set.unlink(ROOT_INODE, &long).unwrap_err()));
    assert!(is_long(
        set.remove_directory(ROOT_INODE, &long).unwrap_err()
    ));
    let renamed = set.rename(
        (ROOT_INODE, &long),
        (ROOT_INODE, b"short"),
        quire_device::RenameMode::Replace,
    );
    assert!(is_long(renamed.unwrap_err()));
    assert_eq!(check(&sets), Ok(()));
}
