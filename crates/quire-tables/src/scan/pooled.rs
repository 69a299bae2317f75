//! Decompression into the pool: columns decoded as a whole, in the cache of the volume.
//!
//! The left side of figure 6.1 of paper 2, as Sybase IQ does it (§6.1): "the buffer manager of Sybase IQ caches decompressed pages […].
//! Page-wise decompression fully hides compression on disk from the query execution engine, at the expense of additional traffic between RAM and
//! CPU cache". Its buffer manager "can cache less data (causing more I/O)". Ours, on the right side, keeps pages as they are stored.
//!
//! A page is the segment of one column and one row group here, also where the segments of a row group are in one block. When a reader opens
//! a column, it looks for its values in the cache; if they are not there, it reads the stored form, decodes all of it and leaves the buffer in
//! the cache, which counts the bytes that it takes and lets others go by the same rule as stored pages. Stored pages are not kept then, neither
//! those of the column nor of those that it follows. Of a block the columns that were needed are kept; for another one
//! the block is read again. Pages of a shared dictionary are kept as they are stored: many row groups refer to it.
//!
//! A buffer belongs to the images of all pages from which it was decoded, and to a place in them (`quire_store`'s `Pin::keep_derived`), so readers of
//! any snapshot find it as long as the pages have not been written again. The pages of a shared dictionary need not be among them, because the segment names
//! the fingerprint of the one that it refers to. Pages that a transaction has written and not committed are
//! not pooled: their readers decode them into memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use quire_format::segment::SegmentReader;

use super::SharedTableScan;
use super::decode_turns::PoolLookup;
use super::open_row_group::{OpenRowGroup, corrupt};
use super::pooled_column::PooledColumn;
use crate::error::ScanError;

impl OpenRowGroup {
    /// Opens a column as its values in the cache, which are decoded if they are not there.
    pub(super) fn open_pooled(
        &mut self,
        scan: &SharedTableScan,
        column: usize,
    ) -> Result<SegmentReader, ScanError> {
        let row_group = Arc::clone(&self.row_group);
        let pooled = PooledColumn::of(scan.table.source(), &row_group, column);
        let Some(pooled) = pooled else {
            return self.open_decoded(scan, column);
        };
        let place = (self.index, column);
        let _turn = match scan.decode_turns.find(place, || pooled.find()) {
            PoolLookup::Found(values) => {
                scan.counters.pool_hits.fetch_add(1, Ordering::Relaxed);
                scan.pages.note_open(self.index, column);
                return Ok(values.reader());
            }
            PoolLookup::Missing(turn) => turn,
        };
        scan.counters.pool_misses.fetch_add(1, Ordering::Relaxed);
        let decoded = self.open_decoded(scan, column)?;
        if let Some(values) = decoded.values_in_memory() {
            pooled.keep(values);
        }
        Ok(decoded)
    }

    /// Opens a column, and decodes it as a whole.
    pub(super) fn open_decoded(
        &mut self,
        scan: &SharedTableScan,
        column: usize,
    ) -> Result<SegmentReader, ScanError> {
        let stored = self.open_stored(scan, column)?;
        let decoded = self.materialize(scan, column, stored);
        decoded.map_err(|source| corrupt(scan, self.index, column, source))
    }
}
