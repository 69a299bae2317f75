//! What a volume of data sets may use, and what holds for a data set when nothing is set.

use std::num::NonZero;
use std::time::{SystemTime, UNIX_EPOCH};

use quire_codec::block::{BlockCodecId, MinimumGain};
use quire_format::data_set::{
    DataSetCodec, DataSetProperties, FileTime, SectorRounding, SynchronousWrites,
};

/// What a volume of data sets may use.
#[derive(Clone, Debug)]
pub struct DeviceOptions {
    /// A data set writes what has changed when it takes this much memory. While that is written, as much again
    /// may change; then writers wait.
    pub dirty_bytes: usize,
    /// Budget of decompressed records that have not changed, over all data sets. Compressed ones are in the cache of the volume.
    pub record_cache_bytes: usize,
    /// With `compression=auto`, a dictionary is learnt from a file of which at least so many bytes are written at once.
    pub dictionary_from_bytes: usize,
    /// Threads that compress, the one that writes included.
    pub compression_threads: NonZero<usize>,
    /// What the times of files are taken from.
    pub clock: fn() -> FileTime,
}

impl Default for DeviceOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self {
            dirty_bytes: 64 << 20,
            record_cache_bytes: 64 << 20,
            dictionary_from_bytes: 1 << 20,
            compression_threads: cores,
            clock: system_time,
        }
    }
}

/// The time of the system; before 1970 it is 1970.
fn system_time() -> FileTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default();
    FileTime {
        seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        nanoseconds: since.subsec_nanos(),
    }
}

/// What holds for a data set: what is set for it, is inherited, or is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveProperties {
    /// For records that are written from now on.
    pub compression: DataSetCodec,
    /// Of files that are made from now on.
    pub record_bytes: u32,
    /// For records that are written from now on.
    pub sectors: SectorRounding,
    /// What compression must save.
    pub gain_per_mille: u16,
    /// What a synchronous write waits for.
    pub synchronous: SynchronousWrites,
    /// Most bytes of the data set and its snapshots.
    pub quota_bytes: Option<u64>,
}

impl Default for EffectiveProperties {
    /// LZ4, records of 128 KiB, no sectors, an eighth, no quota.
    fn default() -> Self {
        Self {
            compression: DataSetCodec::of(BlockCodecId::Lz4),
            record_bytes: 128 << 10,
            sectors: SectorRounding::Tight,
            gain_per_mille: 125,
            synchronous: SynchronousWrites::Compressed,
            quota_bytes: None,
        }
    }
}

impl EffectiveProperties {
    /// What holds below, where `set` is set.
    #[must_use]
    pub(crate) fn with(&self, set: &DataSetProperties) -> Self {
        Self {
            compression: set.compression.unwrap_or(self.compression),
            record_bytes: set.record_bytes.unwrap_or(self.record_bytes),
            sectors: set.sectors.unwrap_or(self.sectors),
            gain_per_mille: set.gain_per_mille.unwrap_or(self.gain_per_mille),
            synchronous: set.synchronous.unwrap_or(self.synchronous),
            quota_bytes: set.quota_bytes,
        }
    }

    pub(crate) fn gain(&self) -> MinimumGain {
        MinimumGain::per_mille(self.gain_per_mille)
    }
}
