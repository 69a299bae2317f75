//! What read-ahead tells whoever uses it.

use std::sync::Arc;
use std::time::Duration;

/// What [`ReadAhead::request`](super::ReadAhead::request) accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedBytes {
    /// Bytes of the images that will be read because of this call.
    pub bytes: u64,
    /// Pages that have been seen to, from the first on: they are read ahead, are in memory already, or do not exist. The page
    /// after them exceeds what may be read ahead now; it and all behind it should be named again later.
    pub pages: usize,
}

/// Where a payload came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadAheadSource {
    /// The warm cache.
    Cache,
    /// It was read ahead, or was being read.
    ReadAhead,
    /// The reader has read it from the disk.
    Disk,
}

/// A page that a reader gets.
#[derive(Clone, Debug)]
pub struct ReadAheadPage {
    /// The payload, as [`Pin::read`](crate::Pin::read) returns it.
    pub payload: Arc<[u8]>,
    /// Where it came from.
    pub source: ReadAheadSource,
    /// How long the reader waited for the disk.
    pub wait: Duration,
}

/// What read-ahead has done for one scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAheadStatistics {
    /// Requests to the disk, for pages that were asked for ahead and for those that readers read by themselves. Those that were
    /// cancelled before they began do not count.
    pub requests: u64,
    /// Bytes that these read, those between pages that were read together included.
    pub bytes: u64,
    /// Time for which readers waited for the disk, summed over all of them.
    pub wait: Duration,
    /// Pages that a reader got from read-ahead.
    pub pages_read_ahead: u64,
    /// Pages that a reader read from the disk: they were not asked for ahead, had not been begun, or had failed.
    pub pages_read_by_readers: u64,
    /// Pages that were in the cache when they were read.
    pub pages_from_cache: u64,
    /// Pages that were asked for ahead and could not be read.
    pub pages_failed: u64,
    /// The most bytes of images that were queued, being read or held at the same time.
    pub held_bytes_peak: u64,
}
