//! What scans did: one of them, and all of a table since the database was opened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quire_store::ReadAheadStatistics;

/// What a scan did so far, all readers together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanStatistics {
    /// Length of the segments read, from memory or from disk.
    pub bytes_read: u64,
    /// Vectors of up to 1,024 values decoded, all or some of their rows.
    pub vectors_decoded: u64,
    /// Vectors whose stored form answered a test: on packed bits, codes, runs or the values of another column.
    pub vectors_tested: u64,
    /// Vector groups (8,192 rows) looked into.
    pub groups_scanned: u64,
    /// Vector groups skipped because of their zones.
    pub groups_pruned: u64,
    /// Rows handed out.
    pub rows: u64,
    /// Bytes read from the disk: metadata, segments and what lies between those that were read together.
    pub disk_bytes: u64,
    /// Requests to the disk.
    pub disk_requests: u64,
    /// Time that readers waited for the disk, in ns: the sum over readers.
    pub io_wait_ns: u64,
    /// Time spent on decoding, on tests of stored values and on copying values that were decoded as a whole, in ns: the sum over readers.
    /// Vectors are sampled, one in eight.
    pub decode_ns: u64,
    /// Length of the decoded values. A text of a dictionary counts as a view of 16 bytes; where whole columns are decoded
    /// ([`crate::Decompression::IntoMemory`], [`crate::Decompression::IntoPool`]) a text counts four bytes and its own, and a value once.
    pub decoded_bytes: u64,
    /// Columns of row groups whose values were in the pool, of scans with [`crate::Decompression::IntoPool`]: each reader counts its own.
    pub pool_hits: u64,
    /// Those that were decoded into it.
    pub pool_misses: u64,
}

/// The same, while readers count.
#[derive(Default)]
pub(crate) struct ScanCounters {
    pub(crate) bytes_read: AtomicU64,
    pub(crate) vectors_decoded: AtomicU64,
    pub(crate) vectors_tested: AtomicU64,
    pub(crate) groups_scanned: AtomicU64,
    pub(crate) groups_pruned: AtomicU64,
    pub(crate) rows: AtomicU64,
    pub(crate) decode_ns: AtomicU64,
    pub(crate) decoded_bytes: AtomicU64,
    pub(crate) pool_hits: AtomicU64,
    pub(crate) pool_misses: AtomicU64,
}

impl ScanCounters {
    /// The counters, and what the disk did.
    pub(crate) fn statistics(&self, disk: ReadAheadStatistics) -> ScanStatistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ScanStatistics {
            bytes_read: count(&self.bytes_read),
            vectors_decoded: count(&self.vectors_decoded),
            vectors_tested: count(&self.vectors_tested),
            groups_scanned: count(&self.groups_scanned),
            groups_pruned: count(&self.groups_pruned),
            rows: count(&self.rows),
            disk_bytes: disk.bytes,
            disk_requests: disk.requests,
            io_wait_ns: nanoseconds(disk.wait),
            decode_ns: count(&self.decode_ns),
            decoded_bytes: count(&self.decoded_bytes),
            pool_hits: count(&self.pool_hits),
            pool_misses: count(&self.pool_misses),
        }
    }
}

/// What the scans of a table did since the database was opened. A scan counts when it has ended.
#[derive(Debug, Default)]
pub struct TableScanTotals {
    scans: AtomicU64,
    rows: AtomicU64,
    groups_scanned: AtomicU64,
    groups_pruned: AtomicU64,
    bytes_read: AtomicU64,
    disk_bytes: AtomicU64,
    disk_requests: AtomicU64,
    io_wait_ns: AtomicU64,
    decode_ns: AtomicU64,
    decoded_bytes: AtomicU64,
    vectors_decoded: AtomicU64,
    vectors_tested: AtomicU64,
    pool_hits: AtomicU64,
    pool_misses: AtomicU64,
}

impl TableScanTotals {
    /// Adds a scan that has ended.
    pub(crate) fn add(&self, one: &ScanStatistics) {
        let add = |total: &AtomicU64, value: u64| {
            // A scan of a few rows in memory leaves most of the counters alone, which other threads have in their caches.
            if value > 0 {
                total.fetch_add(value, Ordering::Relaxed);
            }
        };
        add(&self.scans, 1);
        add(&self.rows, one.rows);
        add(&self.groups_scanned, one.groups_scanned);
        add(&self.groups_pruned, one.groups_pruned);
        add(&self.bytes_read, one.bytes_read);
        add(&self.disk_bytes, one.disk_bytes);
        add(&self.disk_requests, one.disk_requests);
        add(&self.io_wait_ns, one.io_wait_ns);
        add(&self.decode_ns, one.decode_ns);
        add(&self.decoded_bytes, one.decoded_bytes);
        add(&self.vectors_decoded, one.vectors_decoded);
        add(&self.vectors_tested, one.vectors_tested);
        add(&self.pool_hits, one.pool_hits);
        add(&self.pool_misses, one.pool_misses);
    }

    /// How many scans have ended, and the sums of what they did.
    pub fn sums(&self) -> (u64, ScanStatistics) {
        let total = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let sums = ScanStatistics {
            bytes_read: total(&self.bytes_read),
            vectors_decoded: total(&self.vectors_decoded),
            vectors_tested: total(&self.vectors_tested),
            groups_scanned: total(&self.groups_scanned),
            groups_pruned: total(&self.groups_pruned),
            rows: total(&self.rows),
            disk_bytes: total(&self.disk_bytes),
            disk_requests: total(&self.disk_requests),
            io_wait_ns: total(&self.io_wait_ns),
            decode_ns: total(&self.decode_ns),
            decoded_bytes: total(&self.decoded_bytes),
            pool_hits: total(&self.pool_hits),
            pool_misses: total(&self.pool_misses),
        };
        (total(&self.scans), sums)
    }
}

/// A duration in ns, or the most that can be shown.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
