//! Readers, writers and scanners at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use quire_codec::block::BlockCodecId;
use quire_kv::btree::{BTree, Direction};
use quire_store::Volume;
use quire_store::pool::{PageCodec, Pool, PoolOptions};

use super::fixture::*;

const NUMBERS: u64 = 24_000;
const WRITERS: u64 = 3;
const ROUNDS: u64 = 10;

/// Numbers nobody changes.
const fn is_stable(number: u64) -> bool {
    number % 4 == 3
}

/// A value that says whose it is, and that is one byte over and over: half a change would be two.
fn value_of(number: u64, version: u64) -> Vec<u8> {
    let mut value = number.to_le_bytes().to_vec();
    let length = 10 + (number * 7 + version * 31) % 90;
    value.resize(8 + length as usize, version as u8);
    value
}

fn assert_is_whole(key: &[u8], value: &[u8]) {
    let number = u64::from_be_bytes(key.try_into().unwrap());
    let version = u64::from(*value.last().unwrap());
    assert_eq!(value, value_of(number, version));
}

struct Arena<'a> {
    volume: &'a Volume,
    pool: &'a Pool,
    tree: &'a BTree,
    lsn: AtomicU64,
    is_over: AtomicBool,
}

impl Arena<'_> {
    fn put(&self, number: u64, version: u64) {
        let guard = self.pool.begin_change();
        let lsn = self.lsn.fetch_add(1, Ordering::Relaxed);
        let value = value_of(number, version);
        self.tree.put(&key_of(number), &value, lsn, &guard).unwrap();
    }

    fn remove(&self, number: u64) {
        let guard = self.pool.begin_change();
        let lsn = self.lsn.fetch_add(1, Ordering::Relaxed);
        self.tree.remove(&key_of(number), lsn, &guard).unwrap();
    }

    /// Inserts its numbers, changes some, removes most, in waves, so that leaves come and go. What is left.
    fn write(&self, writer: u64) -> Model {
        let mut random = Random(writer);
        let mine: Vec<u64> = (0..NUMBERS).filter(|number| number % 4 == writer).collect();
        let mut model = Model::new();
        for round in 0..ROUNDS {
            for number in &mine {
                self.put(*number, round);
                model.insert(key_of(*number), value_of(*number, round));
            }
            for _ in 0..500 {
                let number = mine[random.below(mine.len())];
                self.put(number, round + 100);
                model.insert(key_of(number), value_of(number, round + 100));
            }
            let first = random.below(mine.len());
            for number in mine.iter().cycle().skip(first).take(mine.len() * 9 / 10) {
                self.remove(*number);
                model.remove(&key_of(*number));
            }
        }
        model
    }

    fn read(&self, seed: u64) {
        let mut random = Random(seed);
        while !self.is_over.load(Ordering::Relaxed) {
            let number = random.below(NUMBERS as usize) as u64;
            let key = key_of(number);
            let found = self.tree.get(&key, |value| assert_is_whole(&key, value));
            assert!(found.unwrap().is_some() || !is_stable(number), "{number}");
        }
    }

    fn scan(&self, direction: Direction) {
        let mut random = Random(NUMBERS);
        while !self.is_over.load(Ordering::Relaxed) {
            let low = random.below(NUMBERS as usize) as u64;
            let high = low + 1 + random.below(NUMBERS as usize) as u64;
            let mut found = Vec::new();
            let mut cursor = self.tree.cursor(&key_of(low), &key_of(high), direction);
            while let Some((key, value)) = cursor.next_entry().unwrap() {
                assert_is_whole(key, value);
                found.push(u64::from_be_bytes(key.try_into().unwrap()));
            }
            if direction == Direction::Backward {
                found.reverse();
            }
            assert!(
                found.is_sorted_by(|one, next| one < next),
                "each once, in order"
            );
            assert!(found.iter().all(|number| (low..high).contains(number)));
            found.retain(|number| is_stable(*number));
            let wanted = (low..high.min(NUMBERS)).filter(|number| is_stable(*number));
            assert!(
                found.into_iter().eq(wanted),
                "{low} to {high}, {direction:?}"
            );
        }
    }

    fn flush_again_and_again(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            flush(self.volume, self.pool);
            thread::yield_now();
        }
    }

    fn run(&self) -> Model {
        thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| scope.spawn(move || self.write(writer)))
                .collect();
            scope.spawn(|| self.read(1));
            scope.spawn(|| self.read(2));
            scope.spawn(|| self.scan(Direction::Forward));
            scope.spawn(|| self.scan(Direction::Backward));
            scope.spawn(|| self.flush_again_and_again());
            let mut model = Model::new();
            let mut results = Vec::new();
            for writer in writers {
                results.push(writer.join());
            }
            // The others end even when a writer has failed.
            self.is_over.store(true, Ordering::Relaxed);
            for result in results {
                model.extend(result.unwrap());
            }
            model
        })
    }
}

fn run(codec: PageCodec, budget_bytes: usize) {
    let volume = volume();
    let options = PoolOptions {
        budget_bytes,
        compression_threads: 1,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let tree = tree(&pool, codec, 4096);
    let arena = Arena {
        volume: &volume,
        pool: &pool,
        tree: &tree,
        lsn: AtomicU64::new(1),
        is_over: AtomicBool::new(false),
    };
    let stable = (0..NUMBERS).filter(|number| is_stable(*number));
    let mut model: Model = stable
        .map(|number| (key_of(number), value_of(number, 0)))
        .collect();
    for number in (0..NUMBERS).filter(|number| is_stable(*number)) {
        arena.put(number, 0);
    }
    model.extend(arena.run());
    assert_is(&tree, &model, "afterwards");
    let statistics = tree.statistics();
    assert!(
        statistics.splits > 50 && statistics.merges > 50,
        "{statistics:?}"
    );
    flush(&volume, &pool);
    assert_pages_are_of(&volume, &[&tree]);
    let reopened = super::fixture::pool(&volume, budget_bytes);
    let tree = BTree::open(&reopened, codec, tree.root()).unwrap();
    assert_is(&tree, &model, "reopened");
}

#[test]
fn threads_see_whole_changes_and_scans_miss_nothing() {
    run(PageCodec::NONE, 4 << 20);
}

#[test]
fn threads_see_the_same_when_frames_come_and_go() {
    run(PageCodec::new(BlockCodecId::Lz4, None).unwrap(), 64 << 10);
}
