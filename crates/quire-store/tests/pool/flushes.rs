//! What a flush writes, and what happens when it comes to nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quire_format::row_page::{PageImage, PageOp};
use quire_store::pool::{FlushError, FrameError, GetError};
use quire_store::{BatchWriteError, CommitError, Durability, MemDisk, OpenMode, SimDisk, Volume};

use crate::support::{
    Entries, codec, commit, empty_page, entries, flush, in_pools_of_twins, lz4, page_of, pool_of,
    put, stored_entries, volume, volume_options,
};

fn full_page() -> (Entries, Box<[u8]>) {
    let key = |number: u32| number.to_be_bytes().to_vec();
    let entries: Entries = (0..40)
        .map(|it| (key(it), format!("row {it} of many").into()))
        .collect();
    let bytes = page_of(&entries);
    (entries, bytes)
}

#[test]
fn operations_are_appended_to_the_image_and_splits_are_not() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 40);
    let (mut model, bytes) = full_page();
    let frame = pool.add(bytes, lz4()).unwrap();
    flush(&volume, &pool);
    let base_bytes = volume.read(frame.page()).unwrap().len();
    assert_eq!(pool.stats().flush_compressions, 1);

    frame.apply(&put(b"new", b"value"), 7).unwrap();
    model.insert(b"new".to_vec(), b"value".to_vec());
    flush(&volume, &pool);
    let stats = pool.stats();
    assert_eq!((stats.flush_compressions, stats.appended_images), (1, 1));
    let image = volume.read(frame.page()).unwrap();
    let expected_bytes = base_bytes + put(b"new", b"value").encoded_bytes();
    assert_eq!(image.len(), expected_bytes);
    assert_eq!(PageImage::open(&image).unwrap().lsn(), 7);
    assert_eq!(stored_entries(&volume.pin(), frame.page()), model);

    let emptied = frame.write(|frame| {
        frame.rewrite(|page| {
            let keys: Vec<_> = model.keys().skip(10).cloned().collect();
            for key in &keys {
                page.remove(key).unwrap();
            }
        })
    });
    emptied.unwrap().unwrap();
    flush(&volume, &pool);
    let stats = pool.stats();
    assert_eq!((stats.flush_compressions, stats.appended_images), (2, 1));
    let left: Entries = model.into_iter().take(10).collect();
    assert_eq!(stored_entries(&volume.pin(), frame.page()), left);
}

#[test]
fn pages_without_compression_have_no_log() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 40);
    let none = codec(quire_codec::block::BlockCodecId::None);
    let frame = pool.add(empty_page(), none).unwrap();
    for number in 0..3_u8 {
        frame.apply(&put(&[number], b"value"), 1).unwrap();
        flush(&volume, &pool);
        let image = volume.read(frame.page()).unwrap();
        assert_eq!(PageImage::open(&image).unwrap().log_bytes(), 0);
    }
    let stats = pool.stats();
    assert_eq!((stats.flush_compressions, stats.appended_images), (0, 0));
    assert_eq!(stored_entries(&volume.pin(), frame.page()).len(), 3);
}

#[test]
fn what_comes_after_the_instant_is_for_the_next_flush() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 40);
    let frame = pool.add(empty_page(), lz4()).unwrap();
    frame.apply(&put(b"a", b"before"), 1).unwrap();
    let (first, answer) = pool.prepare_flush(|| 42).unwrap();
    assert_eq!((answer, first.page_count()), (42, 1));
    frame.apply(&put(b"a", b"after"), 2).unwrap();
    frame.apply(&put(b"b", b"after"), 3).unwrap();
    let later = pool.add(empty_page(), lz4()).unwrap();
    commit(&volume, first);
    let before = Entries::from([(b"a".to_vec(), b"before".to_vec())]);
    assert_eq!(stored_entries(&volume.pin(), frame.page()), before);
    assert!(!volume.pin().contains(later.page()));
    flush(&volume, &pool);
    assert_eq!(stored_entries(&volume.pin(), frame.page()), entries(&frame));
    assert_eq!(entries(&frame).len(), 2);
    assert!(volume.pin().contains(later.page()));
    let (nothing, ()) = pool.prepare_flush(|| ()).unwrap();
    assert_eq!((nothing.page_count(), nothing.image_bytes()), (0, 0));
}

#[test]
fn a_flush_that_is_dropped_leaves_everything_changed() {
    let disk = Arc::new(MemDisk::new());
    let volume = volume(disk.clone());
    let pool = pool_of(&volume, 40);
    let (mut model, bytes) = full_page();
    let frame = pool.add(bytes, lz4()).unwrap();
    flush(&volume, &pool);
    frame.apply(&put(b"a", b"1"), 1).unwrap();
    let (dropped, ()) = pool.prepare_flush(|| ()).unwrap();
    frame.apply(&put(b"b", b"2"), 2).unwrap();
    drop(dropped);
    assert_eq!(pool.stats().dirty_bytes, 4096);
    frame.apply(&put(b"c", b"3"), 3).unwrap();
    flush(&volume, &pool);
    for (key, value) in [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")] {
        model.insert(key.to_vec(), value.to_vec());
    }
    assert_eq!(pool.stats().dirty_bytes, 0);
    drop((pool, volume, frame));
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    let page = volume.pin().pages()[0];
    assert_eq!(stored_entries(&volume.pin(), page), model);
}

#[test]
fn a_full_disk_loses_the_flush_and_nothing_else() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let volume = Volume::create(disk.clone(), volume_options()).unwrap();
    let pool = pool_of(&volume, 400);
    let frames: Vec<_> = (0..50)
        .map(|_| pool.add(full_page().1, lz4()).unwrap())
        .collect();
    disk.set_quota(Some(disk.to_bytes().len() as u64));
    let (flush, ()) = pool.prepare_flush(|| ()).unwrap();
    let batch = volume.begin().unwrap();
    let result = flush.commit(batch, Durability::Synced);
    let is_full = matches!(
        result,
        Err(CommitError::Write(BatchWriteError::Full { .. }))
    );
    assert!(is_full, "{result:?}");
    assert_eq!(pool.stats().dirty_bytes, 50 * 4096);
    disk.set_quota(None);
    frames[0].apply(&put(b"new", b"value"), 1).unwrap();
    crate::support::flush(&volume, &pool);
    for frame in &frames {
        assert_eq!(stored_entries(&volume.pin(), frame.page()), entries(frame));
    }
}

#[test]
fn a_freed_page_is_gone_with_the_flush() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 40);
    let [kept, freed] = [0; 2].map(|_| pool.add(empty_page(), lz4()).unwrap());
    flush(&volume, &pool);
    let short_lived = pool.add(empty_page(), lz4()).unwrap();
    let (earlier, ()) = pool.prepare_flush(|| ()).unwrap();
    for frame in [&freed, &short_lived] {
        frame.write(|frame| frame.free()).unwrap();
        let page = frame.page();
        assert_eq!(frame.read(|_| ()), Err(FrameError::Freed { page }));
        assert_eq!(frame.write(|_| ()), Err(FrameError::Freed { page }));
    }
    // Freed after the instant: not yet.
    commit(&volume, earlier);
    assert!(volume.pin().contains(freed.page()) && volume.pin().contains(short_lived.page()));
    let unborn = pool.add(empty_page(), lz4()).unwrap();
    unborn.write(|frame| frame.free()).unwrap();
    flush(&volume, &pool);
    for frame in [&freed, &short_lived, &unborn] {
        assert!(!volume.pin().contains(frame.page()));
        assert!(matches!(
            pool.get(frame.page(), lz4()),
            Err(GetError::Read(_))
        ));
    }
    assert!(volume.pin().contains(kept.page()));
    assert_eq!(pool.stats().dirty_bytes, 0);
    assert!(volume.check().findings.is_empty());
}

#[test]
fn an_operation_the_page_refuses_changes_nothing() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 40);
    let frame = pool.add(empty_page(), lz4()).unwrap();
    flush(&volume, &pool);
    frame
        .apply(&PageOp::Remove { key: b"none" }, 1)
        .unwrap_err();
    assert_eq!(pool.stats().dirty_bytes, 0);
    frame.apply(&put(b"some", b"value"), 1).unwrap();
    frame
        .apply(&PageOp::Remove { key: b"none" }, 2)
        .unwrap_err();
    flush(&volume, &pool);
    assert_eq!(stored_entries(&volume.pin(), frame.page()), entries(&frame));
}

#[test]
fn after_a_panic_in_a_change_nothing_is_flushed() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 40);
    let frame = pool.add(empty_page(), lz4()).unwrap();
    let other = pool.add(empty_page(), lz4()).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        frame.write(|frame| {
            frame.apply(&put(b"half", b"of it"), 1).unwrap();
            panic!("a defect");
        })
    }));
    assert!(panicked.is_err());
    let page = frame.page();
    assert_eq!(frame.read(|_| ()), Err(FrameError::Interrupted { page }));
    other.apply(&put(b"key", b"value"), 2).unwrap();
    for _ in 0..2 {
        let result = pool.prepare_flush(|| ());
        assert!(matches!(result, Err(FlushError::Interrupted)));
    }
}

#[test]
fn it_is_the_same_in_pools_of_twins() {
    in_pools_of_twins(&[
        operations_are_appended_to_the_image_and_splits_are_not,
        pages_without_compression_have_no_log,
        what_comes_after_the_instant_is_for_the_next_flush,
        a_flush_that_is_dropped_leaves_everything_changed,
        a_full_disk_loses_the_flush_and_nothing_else,
        a_freed_page_is_gone_with_the_flush,
        an_operation_the_page_refuses_changes_nothing,
        after_a_panic_in_a_change_nothing_is_flushed,
    ]);
}
