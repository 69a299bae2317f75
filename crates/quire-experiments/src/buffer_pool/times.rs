//! What was measured of pools, and what follows of it.

use crate::column_tables::{DecompressionTarget, QueryRun};

/// The sides of figure 6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolSide {
    /// The left one: pages are decompressed when they come from the disk.
    Uncompressed,
    /// The right one: vectors are decompressed into the processor's cache.
    Compressed,
}

impl PoolSide {
    pub(crate) const BOTH: [Self; 2] = [Self::Uncompressed, Self::Compressed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uncompressed => "uncompressed pages",
            Self::Compressed => "compressed pages",
        }
    }

    pub(crate) fn decompression(self) -> DecompressionTarget {
        match self {
            Self::Uncompressed => DecompressionTarget::Pool,
            Self::Compressed => DecompressionTarget::Cache,
        }
    }
}

/// What all queries need together, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NeededBytes {
    /// Of their columns as they are stored.
    pub(crate) stored: f64,
    /// Of the values of these.
    pub(crate) values: f64,
}

/// What all queries took together, one after the other: the mean of the rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PoolRound {
    pub(crate) seconds: f64,
    /// Bytes from the disk.
    pub(crate) disk_bytes: f64,
    /// Stored bytes that were decompressed or tested.
    pub(crate) stored_bytes: f64,
    /// Bytes of values that were decompressed.
    pub(crate) decoded_bytes: f64,
}

/// Bytes between memory and processor, on the three ways of the left side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MemoryTraffic {
    /// Stored bytes, to the processor.
    pub(crate) stored: f64,
    /// Values that are written into memory.
    pub(crate) written: f64,
    /// Values that a query reads from memory.
    pub(crate) read: f64,
}

/// A pool of one size, with pages of either side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PoolTimes {
    /// Its size, of the values of all queried columns.
    pub(crate) percent: u32,
    pub(crate) uncompressed: PoolRound,
    pub(crate) compressed: PoolRound,
}

impl PoolTimes {
    pub(crate) fn of(&self, side: PoolSide) -> &PoolRound {
        match side {
            PoolSide::Uncompressed => &self.uncompressed,
            PoolSide::Compressed => &self.compressed,
        }
    }
}

impl PoolRound {
    /// Adds a query.
    pub(crate) fn add(&mut self, run: &QueryRun) {
        self.seconds += run.seconds;
        self.disk_bytes += run.device.read_bytes as f64;
        self.stored_bytes += run.scans.segment_bytes;
        self.decoded_bytes += run.scans.decoded_bytes;
    }

    /// The mean of so many rounds of which this is the sum.
    pub(crate) fn divided_by(&self, rounds: usize) -> Self {
        let share = |sum: f64| sum / rounds.max(1) as f64;
        Self {
            seconds: share(self.seconds),
            disk_bytes: share(self.disk_bytes),
            stored_bytes: share(self.stored_bytes),
            decoded_bytes: share(self.decoded_bytes),
        }
    }

    /// The part of what the queries need that did not come from the disk. What lies between pages that are read together counts as read.
    pub(crate) fn hit_rate(&self, needed: &NeededBytes) -> f64 {
        (1.0 - self.disk_bytes / needed.stored.max(1.0)).max(0.0)
    }

    pub(crate) fn traffic(&self, side: PoolSide, needed: &NeededBytes) -> MemoryTraffic {
        match side {
            PoolSide::Uncompressed => MemoryTraffic {
                stored: self.stored_bytes,
                written: self.decoded_bytes,
                read: needed.values,
            },
            PoolSide::Compressed => MemoryTraffic {
                stored: self.stored_bytes,
                ..MemoryTraffic::default()
            },
        }
    }
}

impl MemoryTraffic {
    pub(crate) fn sum(&self) -> f64 {
        self.stored + self.written + self.read
    }
}
