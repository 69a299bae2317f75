//! Leaves that are compressed with a dictionary of their tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_codec::block::BlockCodecId;
use quire_format::page_dictionary::DictionaryList;
use quire_format::row_page::PageImage;
use quire_store::disk::CrashImages;
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{
    DICTIONARY_LIST_PAGE, Disk, Durability, MemDisk, OpenMode, PageId, PageKind, Pin, SimDisk,
    Volume,
};

use crate::support::{
    Entries, Random, codec, commit, entries, flush, lz4, page_of, pool_of, put, volume,
    volume_options,
};

const TREE: u64 = 7;

/// A vocabulary that is too large to be in every page.
fn vocabulary(random: &mut Random) -> Vec<Vec<u8>> {
    let mut word = || (0..9).map(|_| b'a' + random.below(26) as u8).collect();
    (0..400).map(|_| word()).collect()
}

/// Entries of about 3 KiB of these words.
fn text(words: &[Vec<u8>], random: &mut Random, number: usize) -> Entries {
    let line = |random: &mut Random| {
        let words = (0..6).map(|_| words[random.below(words.len())].clone());
        words.collect::<Vec<_>>().join(&b' ')
    };
    let key = |row: u8| [&(number as u32).to_be_bytes()[..], &[row]].concat();
    (0..45).map(|row| (key(row), line(random))).collect()
}

fn list(pin: &Pin) -> DictionaryList {
    if pin.contains(DICTIONARY_LIST_PAGE) {
        DictionaryList::decode(&pin.read(DICTIONARY_LIST_PAGE).unwrap()).unwrap()
    } else {
        DictionaryList::default()
    }
}

/// Pages that are neither of rows nor listed, or listed and not there.
fn assert_list_is_right(pin: &Pin) {
    let listed: Vec<PageId> = list(pin).trees.into_values().flatten().collect();
    let mut found: Vec<PageId> = pin.pages();
    found.retain(|page| pin.kind(*page).unwrap() == PageKind::Dictionary);
    assert_eq!(found, {
        let mut sorted = listed;
        sorted.sort();
        sorted
    });
}

fn dictionary_of(pin: &Pin, page: PageId) -> u64 {
    PageImage::open(&pin.read(page).unwrap())
        .unwrap()
        .dictionary()
}

fn zstd(pool: &Pool) -> PageCodec {
    pool.with_dictionaries(codec(BlockCodecId::Zstd), TREE)
}

/// Adds pages of text, with a flush after every 20th.
fn add_texts(
    volume: &Volume,
    pool: &Pool,
    random: &mut Random,
    words: &[Vec<u8>],
    count: usize,
) -> BTreeMap<PageId, Entries> {
    let mut pages = BTreeMap::new();
    for number in 0..count {
        let content = text(words, random, number);
        let frame = pool.add(page_of(&content), zstd(pool)).unwrap();
        pages.insert(frame.page(), content);
        if number % 20 == 19 {
            flush(volume, pool);
        }
    }
    flush(volume, pool);
    pages
}

#[test]
fn leaves_name_a_dictionary_that_pays_and_are_undone_from_their_bytes() {
    let disk = Arc::new(MemDisk::new());
    let first = volume(disk.clone());
    let pool = pool_of(&first, 100);
    let mut random = Random(11);
    let words = vocabulary(&mut random);
    let mut pages = add_texts(&first, &pool, &mut random, &words, 200);
    let pin = first.pin();
    let named: Vec<u64> = pages
        .keys()
        .map(|page| dictionary_of(&pin, *page))
        .collect();
    let dictionary = list(&pin).trees[&TREE][0];
    assert!(
        named[..100].iter().all(|id| *id == 0),
        "nothing was known yet"
    );
    assert!(named[150..].iter().all(|id| *id == dictionary.get()));
    let bytes = |range: std::ops::Range<usize>| {
        let page = pages.keys().skip(range.start).take(range.len());
        let bytes = page.map(|page| pin.payload_bytes(*page).unwrap());
        bytes.sum::<u32>()
    };
    let (before, after) = (bytes(0..50), bytes(150..200));
    assert!(after < before / 4 * 3, "{after} instead of {before}");
    assert_list_is_right(&pin);

    // Words that the first does not have: another beside it, as soon as there are enough leaves.
    let other_words = vocabulary(&mut random);
    pages.extend(add_texts(&first, &pool, &mut random, &other_words, 1_000));
    let dictionaries = list(&first.pin()).trees[&TREE].clone();
    assert_eq!((dictionaries.len(), dictionaries[0]), (2, dictionary));
    let last = *pages.keys().next_back().unwrap();
    assert_eq!(dictionary_of(&first.pin(), last), dictionaries[1].get());
    drop((pin, pool));
    first.close().unwrap();

    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        let volume = Volume::open_with(disk.clone(), mode, volume_options()).unwrap();
        let pool = pool_of(&volume, 50);
        for (page, expected) in &pages {
            let frame = pool.get(*page, codec(BlockCodecId::Zstd)).unwrap();
            assert_eq!(&entries(&frame), expected);
        }
        if mode == OpenMode::ReadWrite {
            let frame = pool.add(page_of(&text(&words, &mut random, 0)), zstd(&pool));
            flush(&volume, &pool);
            let page = frame.unwrap().page();
            let newest = dictionaries[1].get();
            assert_eq!(dictionary_of(&volume.pin(), page), newest, "it is used on");
            // Others than zstd use none.
            let frame = pool.add(
                page_of(&text(&words, &mut random, 0)),
                pool.with_dictionaries(lz4(), TREE),
            );
            flush(&volume, &pool);
            assert_eq!(dictionary_of(&volume.pin(), frame.unwrap().page()), 0);
        }
    }
}

#[test]
fn what_does_not_pay_is_not_kept() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 60);
    let mut random = Random(5);
    for number in 0..300_u32 {
        let mut noise = |row: u8| {
            let value = (0..500).map(|_| random.below(256) as u8).collect();
            ([&number.to_be_bytes()[..], &[row]].concat(), value)
        };
        let content: Entries = (0..4).map(&mut noise).collect();
        pool.add(page_of(&content), zstd(&pool)).unwrap();
        if number % 20 == 0 {
            flush(&volume, &pool);
        }
    }
    flush(&volume, &pool);
    assert_eq!(list(&volume.pin()), DictionaryList::default());
    // And the same leaf again and again is no sample.
    let words = vocabulary(&mut random);
    let frame = pool
        .add(page_of(&text(&words, &mut random, 1)), zstd(&pool))
        .unwrap();
    for lsn in 0..400 {
        frame.apply(&put(b"more", &[lsn as u8; 400]), lsn).unwrap();
        flush(&volume, &pool);
    }
    assert_eq!(list(&volume.pin()), DictionaryList::default());
}

#[test]
fn a_thread_trains_and_a_failed_flush_is_made_up_for() {
    let volume = volume(Arc::new(MemDisk::new()));
    let options = PoolOptions {
        compression_threads: 1,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let mut random = Random(3);
    let words = vocabulary(&mut random);
    let mut pages = BTreeMap::new();
    for number in 0..200 {
        let content = text(&words, &mut random, number);
        let frame = pool.add(page_of(&content), zstd(&pool)).unwrap();
        pages.insert(frame.page(), content);
        let (flush, ()) = pool.prepare_flush(|| ()).unwrap();
        if number % 3 == 0 {
            commit(&volume, flush);
        }
        assert_list_is_right(&volume.pin());
    }
    // The thread may take its time; leaves written again use what it has found.
    let mut is_there = false;
    for lsn in 0..2_000 {
        let page = *pages.keys().nth(random.below(200)).unwrap();
        let frame = pool.get(page, zstd(&pool)).unwrap();
        let touch = frame.write(|frame| frame.rewrite(|page| page.set_lsn(lsn)).map(|_| ()));
        touch.unwrap().unwrap();
        flush(&volume, &pool);
        is_there = !list(&volume.pin()).trees.is_empty();
        if is_there {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(is_there);
    assert_list_is_right(&volume.pin());
    drop(pool);
    let pool = pool_of(&volume, 50);
    for (page, expected) in &pages {
        let frame = pool.get(*page, codec(BlockCodecId::Zstd)).unwrap();
        assert_eq!(&entries(&frame), expected);
    }
}

/// Pages come; dictionaries with them; all go. What every commit of a flush left.
fn come_and_go(volume: &Volume) -> BTreeMap<u64, BTreeMap<PageId, Entries>> {
    let pool = pool_of(volume, 60);
    let mut random = Random(9);
    let words = vocabulary(&mut random);
    let mut now = BTreeMap::new();
    let mut states = BTreeMap::from([(volume.commit_sequence(), now.clone())]);
    for number in 0..160 {
        let content = text(&words, &mut random, number);
        let frame = pool.add(page_of(&content), zstd(&pool)).unwrap();
        now.insert(frame.page(), content);
        if number % 13 == 12 {
            let (flush, expected) = pool.prepare_flush(|| now.clone()).unwrap();
            // One in four is dropped.
            if number % 4 > 0 {
                states.insert(commit(volume, flush), expected);
            }
        }
    }
    states.insert(flush(volume, &pool), now.clone());
    assert!(!list(&volume.pin()).trees.is_empty());
    let codec = zstd(&pool);
    {
        let guard = pool.begin_change();
        for page in now.keys() {
            let frame = pool.get(*page, codec).unwrap();
            frame.write(|frame| frame.free()).unwrap();
        }
        pool.forget_tree(codec, &guard);
    }
    let (dropped, ()) = pool.prepare_flush(|| ()).unwrap();
    drop(dropped);
    states.insert(flush(volume, &pool), BTreeMap::new());
    assert_eq!(list(&volume.pin()), DictionaryList::default());
    assert_list_is_right(&volume.pin());
    // Whoever comes late with that tree gets none.
    assert_eq!(zstd(&pool), self::codec(BlockCodecId::Zstd));
    states
}

#[test]
fn a_crash_leaves_dictionaries_with_the_pages_that_name_them() {
    let empty = Arc::new(SimDisk::new(Vec::new()));
    let made = Volume::create(empty.clone(), volume_options()).unwrap();
    made.close().unwrap();
    let start = empty.to_bytes();
    let disk = Arc::new(SimDisk::recording(start.clone()));
    let volume = Volume::open_with(disk.clone(), OpenMode::ReadWrite, volume_options()).unwrap();
    let states = come_and_go(&volume);
    let journal = disk.journal();
    let mut crashes = CrashImages::new(start, &journal);
    let mut with_dictionary = 0;
    while crashes.advance() {
        let image = crashes.image(crashes.position() as u64);
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(image));
        let volume = Volume::open_with(disk, OpenMode::ReadWrite, volume_options()).unwrap();
        let newest = states.range(..=volume.commit_sequence()).next_back();
        let (_, expected) = newest.unwrap();
        let pin = volume.pin();
        assert_list_is_right(&pin);
        let mut found = pin.pages();
        found.retain(|page| pin.kind(*page).unwrap() == PageKind::Row);
        assert!(found.iter().eq(expected.keys()));
        with_dictionary += usize::from(!list(&pin).trees.is_empty());
        let pool = pool_of(&volume, 30);
        for (page, model) in expected {
            let frame = pool.get(*page, codec(BlockCodecId::Zstd)).unwrap();
            assert_eq!(&entries(&frame), model);
        }
    }
    assert!(with_dictionary > 3, "{with_dictionary}");
}

#[test]
fn a_damaged_list_stops_nothing_but_dictionaries() {
    let volume = volume(Arc::new(MemDisk::new()));
    let batch = volume.begin().unwrap();
    let kind = PageKind::DictionaryList;
    batch
        .replace(DICTIONARY_LIST_PAGE, kind, b"no list")
        .unwrap();
    batch.commit_with(Durability::Synced).unwrap();
    let pool = pool_of(&volume, 60);
    let mut random = Random(1);
    let words = vocabulary(&mut random);
    let pages = add_texts(&volume, &pool, &mut random, &words, 200);
    let pin = volume.pin();
    assert!(pages.keys().all(|page| dictionary_of(&pin, *page) == 0));
    assert_eq!(&*pin.read(DICTIONARY_LIST_PAGE).unwrap(), b"no list");
}
