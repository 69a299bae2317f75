//! Crashes while flushes are written: what is there afterwards is one flush.

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::disk::CrashImages;
use quire_store::pool::Pool;
use quire_store::{OpenMode, PageId, SimDisk, Volume};

use crate::support::{
    Entries, Random, commit, empty_page, entries, in_pools_of_twins, lz4, pool_of, put,
    stored_entries, volume_options,
};

type State = BTreeMap<PageId, Entries>;

/// Pages change, come and go; flushes and cleanings in between. What every commit of a flush left.
fn work(volume: &Volume, random: &mut Random) -> BTreeMap<u64, State> {
    let pool = pool_of(volume, 12);
    let mut now = State::new();
    let mut states = BTreeMap::from([(volume.commit_sequence(), now.clone())]);
    for lsn in 0..150 {
        change(&pool, &mut now, random, lsn);
        if random.below(12) == 0 {
            let (flush, expected) = pool.prepare_flush(|| now.clone()).unwrap();
            for _ in 0..random.below(4) {
                change(&pool, &mut now, random, lsn);
            }
            if random.below(5) == 0 {
                continue; // The flush is dropped.
            }
            states.insert(commit(volume, flush), expected);
        }
        if random.below(40) == 0 {
            volume.clean().unwrap();
        }
    }
    states
}

fn change(pool: &Pool, state: &mut State, random: &mut Random, lsn: u64) {
    let pages: Vec<_> = state.keys().copied().collect();
    if pages.len() < 6 || random.below(12) == 0 {
        let frame = pool.add(empty_page(), lz4()).unwrap();
        state.insert(frame.page(), Entries::new());
        return;
    }
    let page = pages[random.below(pages.len())];
    let frame = pool.get(page, lz4()).unwrap();
    if pages.len() > 12 && random.below(8) == 0 {
        frame.write(|frame| frame.free()).unwrap();
        state.remove(&page);
        return;
    }
    let key = [random.below(12) as u8];
    let value = vec![random.below(256) as u8; random.below(60)];
    frame.apply(&put(&key, &value), lsn).unwrap();
    state.get_mut(&page).unwrap().insert(key.to_vec(), value);
}

fn verify(image: Vec<u8>, states: &BTreeMap<u64, State>) {
    let options = volume_options();
    let disk = Arc::new(SimDisk::new(image));
    let volume = Volume::open_with(disk, OpenMode::ReadWrite, options).unwrap();
    // A cleaning is a commit that changes nothing.
    let newest = states.range(..=volume.commit_sequence()).next_back();
    let (_, expected) = newest.unwrap();
    let pin = volume.pin();
    let found: State = pin
        .pages()
        .into_iter()
        .map(|page| (page, stored_entries(&pin, page)))
        .collect();
    assert_eq!(&found, expected);
    let pool = pool_of(&volume, 12);
    for (page, model) in expected {
        assert_eq!(&entries(&pool.get(*page, lz4()).unwrap()), model);
    }
    let fresh = pool.add(empty_page(), lz4()).unwrap();
    assert!(expected.keys().all(|page| *page < fresh.page()));
}

#[test]
fn what_survives_a_crash_is_one_flush() {
    let mut survived = 0;
    for seed in 0..6 {
        let mut random = Random(seed);
        let empty = Arc::new(SimDisk::new(Vec::new()));
        Volume::create(empty.clone(), volume_options())
            .unwrap()
            .close()
            .unwrap();
        let start = empty.to_bytes();
        let disk = Arc::new(SimDisk::recording(start.clone()));
        let volume =
            Volume::open_with(disk.clone(), OpenMode::ReadWrite, volume_options()).unwrap();
        let states = work(&volume, &mut random);
        survived += states.len();
        let journal = disk.journal();
        let mut crashes = CrashImages::new(start, &journal);
        while crashes.advance() {
            if random.below(3) == 0 {
                verify(
                    crashes.image(seed * 1_000 + crashes.position() as u64),
                    &states,
                );
            }
        }
    }
    assert!(survived > 30, "{survived} flushes");
}

#[test]
fn it_is_the_same_in_pools_of_twins() {
    in_pools_of_twins(&[what_survives_a_crash_is_one_flush]);
}
