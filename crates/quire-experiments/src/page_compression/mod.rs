//! What does compressing pages do to a database on solid-state disks?
//!
//! J. Ma et al., *Leveraging Page-Level Compression in MySQL – a Practice at Baidu*, §VI: rows of 612 bytes, most of it text, in trees with pages of 16 KiB
//! and images of 8 KiB; the disk is the paper's ([`DeviceProfile::BAIDU_MLC`]), the pool is InnoDB's ([`PoolPolicy::Twins`]). Tables IV to VIII and figures 6
//! to 9, a thousandth of the paper's data. No SQL and no log: what is measured is the tree, its pages, and the pool.
//!
//! [`DeviceProfile::BAIDU_MLC`]: quire_store::disk::DeviceProfile::BAIDU_MLC
//! [`PoolPolicy::Twins`]: quire_store::pool::PoolPolicy::Twins

mod chosen_keys;
mod paper;
mod read_test;
mod record_tree;
mod report;
mod storage;
mod verdicts;
mod write_test;

use std::sync::Arc;

use quire_kv::btree::TreeError;
use quire_lab::Figure;
use quire_store::disk::DeviceProfile;
use quire_store::pool::FlushError;
use quire_store::{BatchWriteError, CommitError, VolumeOpenError};
use quire_workload::SeededRandom;
use quire_workload::workloads::baidu::record_text;

pub use read_test::ReadTest;
pub use write_test::WriteTest;

/// The values of rows by their numbers: the same for the same number. 612 bytes with the key in the mean, for the paper's.
pub type RecordSource = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// A row of the paper (§VI-C).
const RECORD_BYTES_MEAN: usize = 612;

/// What is measured.
#[derive(Clone)]
pub struct PageCompressionSetup {
    /// Rows of the read test. The paper has 404 GB of uncompressed pages.
    pub rows: u64,
    /// Of the read test: 36 GB in the paper.
    pub read_pool_bytes: usize,
    /// Rows that each case of the write test inserts: 40 million in the paper.
    pub inserted_rows: u64,
    /// Of the write test: 8 GB in the paper.
    pub write_pool_bytes: usize,
    /// Numbers of connections, and of writing threads: 1 to 16 in the paper.
    pub connections: Vec<usize>,
    /// The modelled device; none for memory, where only counts mean something.
    pub device: Option<DeviceProfile>,
    pub records: RecordSource,
}

/// Rows of three integers and text that compresses as the paper's data does (table III): those of `baidu-read`.
#[must_use]
pub fn service_records(seed: u64) -> RecordSource {
    Arc::new(move |number| {
        let mut random = SeededRandom::of_part(seed, number);
        let mut bytes = Vec::with_capacity(RECORD_BYTES_MEAN);
        for most in [9, 1_000, 1_000_000] {
            // Bounds are small.
            let value = random.between(0, most) as u32;
            bytes.extend_from_slice(&value.to_be_bytes());
        }
        bytes.extend_from_slice(record_text(&mut random).as_bytes());
        bytes
    })
}

impl PageCompressionSetup {
    /// A thousandth of the paper's sizes.
    #[must_use]
    pub fn new(records: RecordSource) -> Self {
        Self {
            rows: 440_000,
            read_pool_bytes: 36 << 20,
            inserted_rows: 40_000,
            write_pool_bytes: 8 << 20,
            connections: vec![1, 2, 4, 8, 16],
            device: Some(DeviceProfile::BAIDU_MLC),
            records,
        }
    }
}

/// Measures. `progress` is told what was done.
///
/// # Errors
/// See [`PageCompressionError`].
pub fn figures(
    setup: &PageCompressionSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, PageCompressionError> {
    let reads = read_test::run(setup, progress)?;
    let writes = write_test::run(setup, progress)?;
    let mut figures = report::read_figures(setup, &reads);
    figures.extend(report::write_figures(setup, &writes));
    Ok(figures)
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageCompressionError {
    #[error("a volume in memory cannot be made; report this as a defect: {0}")]
    Open(#[from] VolumeOpenError),
    #[error("the codec cannot be had: {0}")]
    Codec(#[from] quire_codec::block::CodecOpenError),
    #[error("a row cannot be read or written; report this as a defect: {0}")]
    Tree(#[from] TreeError),
    #[error("pages cannot be flushed; report this as a defect: {0}")]
    Flush(#[from] FlushError),
    #[error("no batch can be begun; report this as a defect: {0}")]
    Begin(#[from] BatchWriteError),
    #[error("pages cannot be committed; take fewer rows: {0}")]
    Commit(#[from] CommitError),
    #[error("row {0} was inserted and is not found; report this as a defect")]
    Missing(u64),
    #[error("a thread of the test panicked; report this as a defect")]
    Panicked,
}

#[cfg(test)]
mod tests;
