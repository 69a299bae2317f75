use std::sync::Arc;

use quire_device::{AttributeChange, DataSetProperties, FileError, NewInode, ROOT_INODE};
use quire_store::MemDisk;

use crate::random::Random;
use crate::volumes::{check, create_on, device_options};

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
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o644))
        .unwrap();
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
    let sets = create_on(Arc::new(MemDisk::new()), dirty_bytes);
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o644))
        .unwrap();
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
    let sets = create_on(Arc::new(MemDisk::new()), 256 << 10);
    let quota_bytes = 1 << 20;
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        quota_bytes: Some(quota_bytes),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let mut random = Random(2);
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o644))
        .unwrap();
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
    let other = set
        .create(ROOT_INODE, b"other", &NewInode::file(0o644))
        .unwrap();
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
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o644))
        .unwrap();
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
    let sets = create_on(Arc::new(MemDisk::new()), 16 << 20);
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o644))
        .unwrap();
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
