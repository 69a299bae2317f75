//! Compression before the log of a page is full: by threads or by the writers, the pages are the same.

use std::sync::Arc;
use std::time::Duration;

use quire_codec::block::BlockCodecId;
use quire_format::row_page::PageImage;
use quire_store::pool::{PageFrame, Pool, PoolOptions, PoolStats};
use quire_store::{MemDisk, Volume};

use crate::support::{
    Entries, PAGE_BYTES, Random, codec, entries, flush, page_of, pool_of, put, stored_entries,
    volume,
};

const PAGES: usize = 20;

/// Updates pages at random, several times as much as their logs hold, with a flush now and then.
fn work(volume: &Volume, threads: usize, id: BlockCodecId) -> (Vec<Entries>, PoolStats) {
    let options = PoolOptions {
        compression_threads: threads,
        ..PoolOptions::default()
    };
    let pool = Pool::new(volume, options);
    let key = |number: usize| format!("key {number:03}").into_bytes();
    let start: Entries = (0..30)
        .map(|number| (key(number), vec![b'x'; 40]))
        .collect();
    let add = |_| pool.add(page_of(&start), codec(id)).unwrap();
    let frames: Vec<_> = (0..PAGES).map(add).collect();
    flush(volume, &pool);
    let mut random = Random(11);
    for step in 0..2_000 {
        let value = vec![b'a' + random.below(26) as u8; 20 + random.below(30)];
        let op_key = key(random.below(30));
        let frame = &frames[random.below(PAGES)];
        frame.apply(&put(&op_key, &value), step).unwrap();
        if random.below(500) == 0 {
            flush(volume, &pool);
        }
    }
    while threads > 0 && pool.stats().background_compressions == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    flush(volume, &pool);
    let pages = frames.iter().map(|frame| entries(frame)).collect();
    for frame in &frames {
        assert_eq!(stored_entries(&volume.pin(), frame.page()), entries(frame));
        let image = volume.read(frame.page()).unwrap();
        let image = PageImage::open(&image).unwrap();
        assert_eq!(image.lsn(), frame.read(|page| page.lsn()).unwrap());
    }
    (pages, pool.stats())
}

#[test]
fn threads_and_writers_make_the_same_pages() {
    for id in [
        BlockCodecId::Lz4,
        BlockCodecId::Lz4Hc,
        BlockCodecId::Zlib,
        BlockCodecId::Zstd,
    ] {
        let volumes = [0; 3].map(|_| volume(Arc::new(MemDisk::new())));
        let (pages, alone) = work(&volumes[0], 0, id);
        assert_eq!(alone.background_compressions, 0);
        assert!(alone.foreground_compressions >= PAGES as u64, "{alone:?}");
        for (volume, threads) in volumes[1..].iter().zip([1, 3]) {
            let (same_pages, helped) = work(volume, threads, id);
            assert_eq!(same_pages, pages, "{id} with {threads} threads");
            assert!(helped.background_compressions > 0);
        }
    }
}

#[test]
fn pages_that_are_not_compressed_are_not_compressed() {
    let volume = volume(Arc::new(MemDisk::new()));
    let (_, stats) = work(&volume, 0, BlockCodecId::None);
    let compressions = stats.foreground_compressions + stats.background_compressions;
    assert_eq!(compressions + stats.flush_compressions, 0);
}

/// What a writer has compressed is written by the flush as it is.
#[test]
fn a_flush_does_not_compress_what_has_been() {
    let volume = volume(Arc::new(MemDisk::new()));
    let (_, stats) = work(&volume, 0, BlockCodecId::Lz4);
    assert_eq!(
        stats.flush_compressions, PAGES as u64,
        "those of the new pages"
    );
    assert!(stats.appended_images >= PAGES as u64);
}

/// A value that is put and differs in a few bytes takes only these in the log, so the page is not compressed for it.
#[test]
fn a_value_that_differs_little_takes_little_of_the_log() {
    let volume = volume(Arc::new(MemDisk::new()));
    let options = PoolOptions {
        compression_threads: 0,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let value = |number: u64| [&[b'v'; 90][..], &number.to_le_bytes(), &[b'w'; 90]].concat();
    let start = Entries::from([(b"k".to_vec(), value(0))]);
    let frame = pool.add(page_of(&start), codec(BlockCodecId::Lz4)).unwrap();
    flush(&volume, &pool);
    for number in 1..=20 {
        frame.apply(&put(b"k", &value(number)), number).unwrap();
    }
    flush(&volume, &pool);
    let stats = pool.stats();
    assert_eq!(
        (stats.foreground_compressions, stats.appended_images),
        (0, 1)
    );
    let image = volume.read(frame.page()).unwrap();
    let log_bytes = PageImage::open(&image).unwrap().log_bytes();
    assert!(log_bytes <= 20 * 16, "{log_bytes}");
    let expected = Entries::from([(b"k".to_vec(), value(20))]);
    assert_eq!(stored_entries(&volume.pin(), frame.page()), expected);
}

/// Insertions of `op_bytes` in the log each into a page of the tree, until the page is compressed. Returns how many that took.
fn insertions_until_compressed(pool: &Pool, volume: &Volume, tree: u64, op_bytes: usize) -> usize {
    let codec = pool.with_dictionaries(codec(BlockCodecId::Lz4), tree);
    let frame = pool.add(page_of(&Entries::new()), codec).unwrap();
    flush(volume, pool);
    let before = pool.stats().foreground_compressions;
    let mut count = 0;
    while pool.stats().foreground_compressions == before {
        count += 1;
        insert(&frame, count, op_bytes);
    }
    count
}

/// Inserts an entry whose operation has that many bytes.
fn insert(frame: &Arc<PageFrame>, number: usize, op_bytes: usize) {
    let key = format!("key {number:04}").into_bytes();
    let value = vec![b'v'; op_bytes];
    let mut ops = (0..op_bytes).map(|bytes| put(&key, &value[..bytes]));
    let op = ops.find(|op| op.encoded_bytes() == op_bytes).unwrap();
    frame.apply(&op, number as u64).unwrap();
}

/// The smallest number of insertions after which the log, an eighth of a page, has less left than `wanted` bytes.
fn insertions_that_leave_less(op_bytes: usize, wanted: usize) -> usize {
    let log_bytes_max = PAGE_BYTES / 8;
    let leaves_less = |count: &usize| log_bytes_max - count * op_bytes < wanted;
    (1..).find(leaves_less).unwrap()
}

/// Paper 4, §V-D: the largest record of all decides, not that of the page.
#[test]
fn a_page_is_compressed_when_the_largest_operation_of_its_tree_would_not_fit() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 100);
    let until = |tree, op_bytes| insertions_until_compressed(&pool, &volume, tree, op_bytes);
    assert_eq!(until(1, 30), insertions_that_leave_less(30, 30));
    // Two of 120 bytes, and the tree knows them.
    until(1, 120);
    assert_eq!(until(1, 30), insertions_that_leave_less(30, 120));
    assert_eq!(
        until(2, 30),
        insertions_that_leave_less(30, 30),
        "another tree"
    );
    // More than half of a log is not kept free for every page.
    until(1, 400);
    assert_eq!(
        until(1, 30),
        insertions_that_leave_less(30, PAGE_BYTES / 16)
    );
    pool.forget_tree(
        pool.with_dictionaries(codec(BlockCodecId::Lz4), 1),
        &pool.begin_change(),
    );
    assert_eq!(until(1, 30), insertions_that_leave_less(30, 30));
    assert_eq!(pool.stats().flush_compressions, 7, "of new pages");
}
