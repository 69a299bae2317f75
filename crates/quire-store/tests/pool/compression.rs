//! Compression before the log of a page is full: by threads or by the writers, the pages are the same.

use std::sync::Arc;
use std::time::Duration;

use quire_codec::block::BlockCodecId;
use quire_format::row_page::PageImage;
use quire_store::pool::{Pool, PoolOptions, PoolStats};
use quire_store::{MemDisk, Volume};

use crate::support::{
    Entries, Random, codec, entries, flush, page_of, put, stored_entries, volume,
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
