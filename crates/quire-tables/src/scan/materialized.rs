//! Decompression from memory into memory, so that it can be compared with ours, from memory into the cache.
//!
//! Figure 6.1 of paper 2 has both: on its left side a page is decompressed into a page in RAM, and what a query needs of it is moved into the
//! cache once more; on its right side vectors "are decompressed at a small granularity (such that they fit the CPU cache) just-in-time, when
//! the query processor needs them". §6.2.8 measures the difference for a codec, and §6.3 for TPC-H: "Column 7 of Table 6.1 shows that such
//! decompression from memory into memory is significantly slower […]. The main reason for this is the high-cost of in-memory
//! materialization of decompressed data."
//!
//! Here a page is the segment of one column and one row group. All its vectors are decoded when the first of them is needed. Each reader has a
//! buffer for each column that it has opened in its row group, until it goes on to another one: up to 131,072 values, that is 1 MiB of 64-bit integers. Of the
//! stored form nothing is used any more: predicates see values rather than codes or runs. What stays in memory is the page as it is stored; where it is the
//! buffer, see [`pooled`](super::pooled).

use std::sync::atomic::{AtomicU64, Ordering};

use quire_codec::Corrupt;
use quire_format::segment::SegmentReader;

use super::SharedTableScan;
use super::decode_timer::DecodeTimer;
use super::open_row_group::OpenRowGroup;

impl OpenRowGroup {
    /// Decodes a segment as a whole, and keeps its stored form if other columns follow it.
    pub(super) fn materialize(
        &mut self,
        scan: &SharedTableScan,
        column: usize,
        mut stored: SegmentReader,
    ) -> Result<SegmentReader, Corrupt> {
        let mut timer = DecodeTimer::default();
        let timed = DecodeTimer::begin_group();
        let materialized = stored.materialized()?;
        let bytes = materialized.materialized_bytes().unwrap_or(0);
        timer.end(Some(timed), bytes);
        let counters = &scan.counters;
        let add = |counter: &AtomicU64, count: u64| {
            counter.fetch_add(count, Ordering::Relaxed);
        };
        add(&counters.decode_ns, timer.decode_ns);
        add(&counters.decoded_bytes, timer.decoded_bytes);
        add(&counters.vectors_decoded, stored.vector_count() as u64);
        if self.is_followed(column) {
            self.keep_reference(column, stored);
        }
        Ok(materialized)
    }
}
