//! What the paper claims of reads and writes, and whether it holds.

use quire_lab::{Verdict, VerdictCase};
use quire_store::pool::PoolPolicy;

use super::paper::{ASYNC_OVER_SYNC, LZ4HC_OVER_UNCOMPRESSED, LZ4HC_OVER_ZLIB};
use super::read_test::{ReadCase, ReadTest};
use super::storage::RecordStorage;
use super::write_test::{CompressionMode, WriteCase, WriteTest};

impl ReadTest {
    /// With InnoDB's pool.
    pub(crate) fn case(&self, storage: RecordStorage) -> Option<&ReadCase> {
        let mut cases = self.cases.iter();
        cases.find(|case| case.storage == storage && case.policy == storage.policy())
    }

    /// With our pool.
    pub(crate) fn tuned_case(&self, storage: RecordStorage) -> Option<&ReadCase> {
        let mut cases = self.cases.iter();
        cases.find(|case| case.storage == storage && case.policy == PoolPolicy::Tuned)
    }

    fn first_rate(&self, storage: RecordStorage) -> Option<f64> {
        Some(self.case(storage)?.runs.first()?.reads_per_second)
    }
}

impl WriteTest {
    pub(crate) fn case(&self, storage: RecordStorage, mode: CompressionMode) -> Option<&WriteCase> {
        let mut cases = self.cases.iter();
        cases.find(|case| case.storage == storage && case.mode == mode)
    }

    fn first_rate(&self, storage: RecordStorage, mode: CompressionMode) -> Option<f64> {
        Some(self.case(storage, mode)?.runs.first()?.rows_per_second)
    }
}

/// §VI-B and the abstract. The paper gives factors for one connection.
pub(crate) fn of_reads(reads: &ReadTest) -> Vec<Verdict> {
    let rate = |storage| reads.first_rate(storage);
    [
        (RecordStorage::Uncompressed, LZ4HC_OVER_UNCOMPRESSED),
        (RecordStorage::Zlib, LZ4HC_OVER_ZLIB),
    ]
    .into_iter()
    .map(|(other, papers)| {
        let claim = format!(
            "lz4hc reads faster than {} with one connection ({papers:.2} in the paper)",
            other.name()
        );
        match (rate(RecordStorage::Lz4Hc), rate(other)) {
            (Some(lz4hc), Some(other)) => {
                let factor = lz4hc / other;
                Verdict::of_one(claim, factor > 1.0, format!("{factor:.2}"))
            }
            _ => Verdict::not_measured(&claim),
        }
    })
    .collect()
}

/// §VI-C.
pub(crate) fn of_writes(writes: &WriteTest) -> Vec<Verdict> {
    use CompressionMode::{Async, Sync};
    let mut verdicts = Vec::new();
    for (storage, papers) in RecordStorage::COMPRESSED.into_iter().zip(ASYNC_OVER_SYNC) {
        let claim = format!(
            "{}: compression in the background inserts faster with one thread ({papers:.2} in the paper)",
            storage.name()
        );
        let rate = |mode| writes.first_rate(storage, mode);
        verdicts.push(match (rate(Async), rate(Sync)) {
            (Some(background), Some(foreground)) => {
                let factor = background / foreground;
                Verdict::of_one(claim, factor > 1.0, format!("{factor:.2}"))
            }
            _ => Verdict::not_measured(&claim),
        });
    }
    let first = |storage, mode| writes.first_rate(storage, mode).unwrap_or(f64::NAN);
    let uncompressed = first(RecordStorage::Uncompressed, Sync);
    let faster = RecordStorage::COMPRESSED.map(|storage| {
        let factor = first(storage, Async) / uncompressed;
        VerdictCase::new(storage.name(), factor > 1.0, factor)
    });
    verdicts.push(Verdict::of_all(
        "with compression more rows are inserted than without, because less is written",
        &faster,
    ));
    let codecs = [Sync, Async].map(|mode| {
        let factor = first(RecordStorage::Lz4Hc, mode) / first(RecordStorage::Zlib, mode);
        VerdictCase::new(mode.name(), factor > 1.0, factor)
    });
    verdicts.push(Verdict::of_all("lz4hc inserts faster than zlib", &codecs));
    verdicts
}
