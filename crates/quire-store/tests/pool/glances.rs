//! A look at one key of a page says what its frame would have said, whether there is one or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use quire_codec::block::BlockCodecId;
use quire_format::row_page::{PageOp, RowPage, StoredPageRows};
use quire_store::MemDisk;
use quire_store::PageId;
use quire_store::pool::{Glance, PageCodec, PageFrame, Pool};

use crate::support::{Entries, Random, codec, flush, lz4, page_of, pool_of, put, volume};

type Value = Option<Vec<u8>>;

fn in_image(rows: &StoredPageRows<'_>, key: &[u8]) -> Value {
    assert!(rows.level() == 0 && rows.covers(key));
    rows.value(key).unwrap().map(|value| value.into_owned())
}

fn in_frame(frame: &PageFrame, key: &[u8]) -> Value {
    let value = |page: RowPage<'_>| page.get(key).unwrap().map(|entry| entry.value.to_vec());
    frame.read(value).unwrap()
}

/// The value, and whether no frame was needed.
fn glance(pool: &Pool, page: PageId, codec: PageCodec, key: &[u8]) -> (Value, bool) {
    let seen = pool.glance(page, codec, |rows| in_image(rows, key));
    match seen.unwrap() {
        Glance::Seen(value) => (value, true),
        Glance::Frame(frame) => (in_frame(&frame, key), false),
    }
}

fn key(number: usize) -> Vec<u8> {
    match number % 7 {
        0 => format!("a longer key {number:04}").into_bytes(),
        _ => format!("key {number:04}").into_bytes(),
    }
}

fn change(pool: &Pool, page: PageId, codec: PageCodec, random: &mut Random, model: &mut Entries) {
    let frame = pool.get(page, codec).unwrap();
    let key = key(random.below(30));
    let value = vec![random.below(256) as u8; random.below(60)];
    match (random.below(3), model.get(&key)) {
        (0, Some(_)) => {
            frame.apply(&PageOp::Remove { key: &key }, 1).unwrap();
            model.remove(&key);
        }
        (1, Some(old)) => {
            let op = PageOp::update(&key, old, &value);
            frame.apply(&op, 1).unwrap();
            model.insert(key, value);
        }
        _ => {
            frame.apply(&put(&key, &value), 1).unwrap();
            model.insert(key, value);
        }
    }
}

#[test]
fn a_glance_says_what_was_done_to_the_page() {
    for id in [BlockCodecId::None, BlockCodecId::Lz4, BlockCodecId::Zstd] {
        let volume = volume(Arc::new(MemDisk::new()));
        let pool = pool_of(&volume, 16);
        let codec = codec(id);
        let mut models = vec![Entries::new(); 80];
        let add = |model: &Entries| pool.add(page_of(model), codec).unwrap().page();
        let pages: Vec<PageId> = models.iter().map(add).collect();
        let mut random = Random(id as u64);
        let (mut seen_count, mut frame_count) = (0, 0);
        for step in 0..12_000 {
            let at = random.below(pages.len());
            if step % 3 == 0 {
                change(&pool, pages[at], codec, &mut random, &mut models[at]);
            }
            if step % 200 == 0 {
                flush(&volume, &pool);
            }
            let key = key(random.below(30));
            let (value, was_seen) = glance(&pool, pages[at], codec, &key);
            assert_eq!(value.as_ref(), models[at].get(&key), "{id}");
            seen_count += usize::from(was_seen);
            frame_count += usize::from(!was_seen);
        }
        assert!(
            seen_count > 100 && frame_count > 100,
            "{seen_count}, {frame_count}"
        );
    }
}

#[test]
fn what_is_looked_at_twice_gets_a_frame() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 32);
    let entries = Entries::from([(b"k".to_vec(), b"v".to_vec())]);
    let add = |_| pool.add(page_of(&entries), lz4()).unwrap().page();
    let pages: Vec<PageId> = (0..100).map(add).collect();
    flush(&volume, &pool);
    let look = |page| {
        let (value, was_seen) = glance(&pool, page, lz4(), b"k");
        assert_eq!(value.as_deref(), Some(b"v".as_slice()));
        was_seen
    };
    let first: Vec<PageId> = pages.iter().copied().filter(|page| look(*page)).collect();
    assert!(first.len() > 60, "{} pages have no frame", first.len());
    let last = first[first.len() - 1];
    assert!(!look(last) && !look(last), "it has been asked for");
    let evictions = pool.stats().evictions;
    assert!(look(first[0]), "that was too long ago");
    assert_eq!(pool.stats().evictions, evictions);
}

/// Each page counts up. Whoever has been told a number never sees a smaller one, whether the frame is evicted, flushed or loaded
/// meanwhile.
#[test]
fn a_glance_is_never_older_than_its_call() {
    const PAGES: usize = 48;
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 16);
    let start = Entries::from([(b"n".to_vec(), 0_u64.to_le_bytes().to_vec())]);
    let add = |_| pool.add(page_of(&start), lz4()).unwrap().page();
    let pages: Vec<PageId> = (0..PAGES).map(add).collect();
    flush(&volume, &pool);
    let told: Vec<AtomicU64> = pages.iter().map(|_| AtomicU64::new(0)).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (pool, volume, pages, told, is_over) = (&pool, &volume, &pages, &told, &is_over);
        for seed in 0..3 {
            scope.spawn(move || {
                let mut random = Random(seed);
                let mut seen_count = 0;
                while !is_over.load(Ordering::Relaxed) || seen_count == 0 {
                    let at = random.below(PAGES);
                    let least = told[at].load(Ordering::Acquire);
                    let (value, was_seen) = glance(pool, pages[at], lz4(), b"n");
                    let number = u64::from_le_bytes(value.unwrap().try_into().unwrap());
                    assert!(number >= least, "{number} after {least}");
                    seen_count += usize::from(was_seen);
                }
            });
        }
        let mut random = Random(9);
        for number in 1..6_000_u64 {
            let at = random.below(PAGES);
            let frame = pool.get(pages[at], lz4()).unwrap();
            let value = number.to_le_bytes();
            frame.apply(&put(b"n", &value), number).unwrap();
            drop(frame);
            told[at].store(number, Ordering::Release);
            if number % 20 == 0 {
                flush(volume, pool);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
