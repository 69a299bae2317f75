//! A full disk takes no more rows, loses none, and lets go of them; then it takes rows again.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod numbered;

use std::ops::Range;
use std::sync::Arc;

use numbered::Step;
use quire_kv::{mvcc::Synchronous, mvcc::TransactionOptions};
use quire_store::{Disk, MemDisk, SimDisk};
use quire_tables::{BlockCodecId, Engine};
use quire_testkit::rows::verify_engine;

/// So many rows can be deleted in one transaction from any full disk: their redo takes less than 64 KiB.
const SURELY_DELETED: u64 = 400;

/// A disk, and the rows that it must have.
struct FullDisk {
    codec: BlockCodecId,
    quota_bytes: u64,
    seed: u64,
    has_threads: bool,
    disk: Arc<SimDisk>,
    engine: Option<Engine>,
    rows: Range<u64>,
}

impl FullDisk {
    fn new(codec: BlockCodecId, quota_bytes: u64, seed: u64, has_threads: bool) -> Self {
        let mut full = Self {
            codec,
            quota_bytes,
            seed,
            has_threads,
            disk: Arc::new(SimDisk::new(Vec::new())),
            engine: None,
            rows: 0..0,
        };
        full.open();
        full.disk.set_quota(Some(quota_bytes));
        full
    }

    fn name(&self) -> String {
        let (codec, quota_bytes, seed) = (self.codec, self.quota_bytes, self.seed);
        format!("{codec}, {quota_bytes} bytes, seed {seed}, {:?}", self.rows)
    }

    fn open(&mut self) {
        let disk: Arc<dyn Disk> = self.disk.clone();
        let opened = numbered::open_stored_as(self.codec, disk, self.seed, self.has_threads);
        self.engine = Some(opened);
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn row_count(&self) -> u64 {
        self.rows.end - self.rows.start
    }

    fn insert(&mut self, count: u64) -> Result<(), String> {
        let end = self.rows.end + count;
        let step = Step {
            inserted: self.rows.end..end,
            ..Step::default()
        };
        numbered::commit(self.engine(), &step, Synchronous::Full)?;
        self.rows.end = end;
        Ok(())
    }

    /// Inserts until the disk is full; says how many rows.
    fn fill(&mut self) -> u64 {
        let before = self.rows.end;
        // At first in larger steps.
        for count in [self.quota_bytes / 50_000 + 8, 8, 1] {
            loop {
                assert!(self.rows.end < self.quota_bytes, "it never became full");
                if let Err(error) = self.insert(count) {
                    assert!(error.contains("no space left"), "{}: {error}", self.name());
                    assert!(error.contains("delete rows"), "{error}");
                    break;
                }
            }
        }
        self.rows.end - before
    }

    fn delete(&mut self, count: u64) {
        let start = self.rows.start + count;
        let step = Step {
            deleted: self.rows.start..start,
            ..Step::default()
        };
        let deleted = numbered::commit(self.engine(), &step, Synchronous::Full);
        if let Err(error) = deleted {
            // The log of so many rows fits into what is set aside for it.
            let is_small = count <= SURELY_DELETED;
            assert!(
                !is_small && error.contains("smaller steps"),
                "{}, {count}: {error}",
                self.name()
            );
            self.delete(count / 2);
            return self.delete(count - count / 2);
        }
        self.rows.start = start;
    }

    fn has_its_rows(&self, engine: &Engine) {
        let rows = numbered::numbers(engine);
        assert!(rows.into_iter().eq(self.rows.clone()), "{}", self.name());
        verify_engine(engine).unwrap();
    }

    /// The rows are there, and after a crash at this moment too.
    fn verify(&self) {
        self.has_its_rows(self.engine());
        let crashed = Arc::new(SimDisk::new(self.disk.crash(self.seed)));
        crashed.set_quota(Some(self.quota_bytes));
        let after = numbered::open(crashed, self.seed + 1, false);
        self.has_its_rows(&after);
    }

    /// The process ends, in one way or another; or it does not.
    fn begin_session(&mut self, session: u64) {
        self.seed += 100;
        match session % 3 {
            0 => self.engine = None,
            // The process ends and can do nothing about it.
            1 => {
                let crashed = self.disk.crash(self.seed);
                self.disk = Arc::new(SimDisk::new(crashed));
                self.disk.set_quota(Some(self.quota_bytes));
            }
            _ => return,
        }
        self.open();
    }

    fn end(mut self) {
        assert!(self.disk.len().unwrap() <= self.quota_bytes);
        let image = Arc::new(MemDisk::from_bytes(self.disk.crash(0)));
        drop(self.engine.take());
        self.has_its_rows(&numbered::open(image, 1, false));
        self.disk.set_quota(None);
        self.open();
        self.has_its_rows(self.engine());
    }
}

/// Removes all rows at once.
fn truncate(engine: &Engine) -> Result<(), String> {
    let mut transaction = engine.transaction(TransactionOptions::default());
    let truncated = transaction.truncate_table(numbered::TABLE);
    truncated.map_err(|error| error.to_string())?;
    transaction.commit().map_err(|error| error.to_string())
}

/// Drops the row table, and makes it anew.
fn drop_and_create(engine: &Engine, codec: BlockCodecId) -> Result<(), String> {
    let mut transaction = engine.transaction(TransactionOptions::default());
    let dropped = transaction.drop_table(numbered::TABLE);
    dropped.map_err(|error| error.to_string())?;
    transaction.commit().map_err(|error| error.to_string())?;
    let mut transaction = engine.transaction(TransactionOptions::default());
    let created = transaction.define(|tables| tables.create_table(numbered::definition(codec)));
    created.map_err(|error| error.to_string())?;
    transaction.commit().map_err(|error| error.to_string())
}

fn fill_delete_and_fill(mut full: FullDisk) {
    for round in 0..3 {
        full.fill();
        full.verify();
        full.begin_session(round + full.seed);
        let before = full.row_count();
        // Each lets go of a little more than the last: its log takes what that has left.
        for parts in [before, before / 8, 64, 64, 32, 16, 8, 4] {
            full.delete(before.div_ceil(parts));
        }
        full.verify();
        full.begin_session(round + full.seed / 3);
        let deleted = before - full.row_count();
        let inserted = full.fill();
        assert!(
            inserted > deleted / 2,
            "{}, {inserted} of {deleted}",
            full.name()
        );
        full.verify();
        full.begin_session(round);
        for _ in 0..20 {
            full.delete(before / 40);
        }
    }
    full.fill();
    let before = full.row_count();
    full.delete(before);
    full.verify();
    let inserted = full.fill();
    assert!(inserted > before / 2, "{}: {inserted}", full.name());
    full.end();
}

const CODECS: [BlockCodecId; 3] = [BlockCodecId::None, BlockCodecId::Lz4, BlockCodecId::Zstd];

fn sweep(quotas_bytes: &[u64], first_seed: u64, has_threads: bool) {
    let seed = std::env::var("QUIRE_SEED").map_or(0, |it| it.parse().unwrap());
    for (seed, quota_bytes) in (seed + first_seed..).zip(quotas_bytes) {
        let codec = CODECS[(seed % 3) as usize];
        fill_delete_and_fill(FullDisk::new(codec, *quota_bytes, seed, has_threads));
    }
}

#[test]
fn a_small_full_disk_lets_rows_go_and_takes_rows_again() {
    sweep(&[600_000, 1_200_000, 900_000], 0, false);
}

#[test]
fn so_does_a_larger_one() {
    sweep(&[2_500_000], 2, false);
}

#[test]
fn so_does_one_with_threads() {
    sweep(&[700_000], 7, true);
}

#[test]
fn a_table_goes_from_a_full_disk_at_once() {
    for (seed, quota_bytes) in (0..).zip([600_000, 1_300_000]) {
        truncate_and_drop(quota_bytes, seed);
    }
}

#[test]
#[ignore = "minutes: for make nightly"]
fn so_do_many() {
    let quotas: Vec<u64> = (600_000..2_000_000).step_by(100_000 - 512).collect();
    sweep(&quotas, 0, false);
    sweep(&quotas, 1, false);
    sweep(&[2_000_000, 3_100_000, 4_000_000, 5_500_000], 2, false);
    sweep(&[8_000_000, 16_000_000], 1, false);
    sweep(&[700_000, 1_500_000, 4_000_000], 7, true);
    for (seed, quota_bytes) in (2..).zip([2_700_000, 6_000_000]) {
        truncate_and_drop(quota_bytes, seed);
    }
}

fn truncate_and_drop(quota_bytes: u64, seed: u64) {
    let mut full = FullDisk::new(CODECS[seed as usize % 3], quota_bytes, seed, false);
    full.fill();
    let before = full.row_count();
    for drops in [false, true] {
        full.begin_session(seed + u64::from(drops));
        let emptied = if drops {
            drop_and_create(full.engine(), full.codec)
        } else {
            truncate(full.engine())
        };
        emptied.unwrap_or_else(|error| panic!("{}, {drops}: {error}", full.name()));
        full.rows.start = full.rows.end;
        full.verify();
        full.begin_session(seed + 1);
        let inserted = full.fill();
        assert!(
            inserted > before * 3 / 4,
            "{}: {inserted}, {before}",
            full.name()
        );
        full.verify();
    }
    full.end();
}
