//! Where the segments of a row group are: in pages of their own, or one after the other in a block.

use std::ops::Range;

use super::{BLOCK_ROW_GROUP_VERSION, ROW_GROUP_VERSION, RowGroup, SHARED_ROW_GROUP_VERSION};
use crate::volume::{MAX_PAYLOAD_BYTES, PageId};

/// The version of a payload, if it is one that a row group can have; otherwise the one that readers are told to expect.
pub(super) fn version_of(payload: &[u8]) -> u8 {
    match payload.first() {
        Some(&version @ (BLOCK_ROW_GROUP_VERSION | SHARED_ROW_GROUP_VERSION)) => version,
        _ => ROW_GROUP_VERSION,
    }
}

impl RowGroup {
    /// Whether the segments of all columns are in one block (PAX).
    pub fn has_block(&self) -> bool {
        !self.block.is_empty()
    }

    pub(super) fn version(&self) -> u8 {
        let shares = self
            .columns
            .iter()
            .any(|column| column.dictionary.is_some());
        if self.has_block() {
            BLOCK_ROW_GROUP_VERSION
        } else if shares {
            SHARED_ROW_GROUP_VERSION
        } else {
            ROW_GROUP_VERSION
        }
    }

    /// Length of the segments of all columns; of a row group with a block, the length of the block.
    pub fn encoded_bytes(&self) -> u64 {
        self.bytes_before(self.columns.len())
    }

    /// The pages to read for a column: their payloads, joined, contain its segment. Empty if there is no such column.
    pub fn column_pages(&self, column: usize) -> &[PageId] {
        match self.columns.get(column) {
            Some(_) if self.has_block() => &self.block,
            Some(chunk) => &chunk.pages,
            None => &[],
        }
    }

    /// Where the segment of a column is in the joined payloads of [`RowGroup::column_pages`], in bytes. `None` if there is no such
    /// column, or its bytes cannot be in memory.
    pub fn column_range(&self, column: usize) -> Option<Range<usize>> {
        let chunk = self.columns.get(column)?;
        let start = match self.has_block() {
            true => usize::try_from(self.bytes_before(column)).ok()?,
            false => 0,
        };
        let length = usize::try_from(chunk.encoded_bytes).ok()?;
        Some(start..start.checked_add(length)?)
    }

    /// Length of the joined payloads of [`RowGroup::column_pages`], in bytes; 0 if there is no such column.
    pub fn column_image_bytes(&self, column: usize) -> u64 {
        match self.columns.get(column) {
            Some(_) if self.has_block() => self.encoded_bytes(),
            Some(chunk) => chunk.encoded_bytes,
            None => 0,
        }
    }

    /// Every page with segments, once.
    pub fn segment_pages(&self) -> impl Iterator<Item = &PageId> {
        let of_columns = self.columns.iter().flat_map(|column| &column.pages);
        self.block.iter().chain(of_columns)
    }

    /// Lengths of the segments before that of `column`. Decoding has checked that the sum of all is a number.
    fn bytes_before(&self, column: usize) -> u64 {
        let before = self.columns.iter().take(column);
        before.fold(0, |sum, chunk| sum.saturating_add(chunk.encoded_bytes))
    }

    /// What a block promises: pages that can hold the segments.
    pub(super) fn check_block(&self) -> Result<(), String> {
        let pages = self.block.len();
        if pages == 0 {
            return Err("row group without pages".to_owned());
        }
        let room = (pages as u64).saturating_mul(MAX_PAYLOAD_BYTES as u64);
        let bytes = self.encoded_bytes();
        if bytes > room {
            return Err(format!("segments of {bytes} bytes in {pages} pages"));
        }
        Ok(())
    }
}
