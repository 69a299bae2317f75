//! The bytes of a column of a row group: pages of its own, or part of the block of the row group.

use std::cell::OnceCell;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_group::RowGroup;
use quire_format::segment::SegmentImage;
use quire_format::volume::MAX_PAYLOAD_BYTES;

use super::read_ahead::ScanPages;
use crate::error::EngineError;

/// The block of an open row group, once a column of it has been read.
#[derive(Default)]
pub(super) struct OpenBlock(OnceCell<Arc<[u8]>>);

impl OpenBlock {
    /// The segment of a column, and how many bytes had to be read. A block is read for the first column that is asked for, and all
    /// columns share its bytes.
    ///
    /// # Errors
    /// A page cannot be read. Within: the pages do not have the length that the row group says.
    pub(super) fn column_image(
        &self,
        pages: &ScanPages,
        row_group: &RowGroup,
        column: usize,
    ) -> Result<(Result<SegmentImage, Corrupt>, u64), EngineError> {
        let (page_count, expected) = (
            row_group.column_pages(column).len(),
            row_group.column_image_bytes(column),
        );
        // Pages are full but for the last. More of them would be joined in memory before their length is compared.
        if page_count as u64 > expected.div_ceil(MAX_PAYLOAD_BYTES as u64).max(1) {
            let what = format!("{expected} bytes in {page_count} pages");
            return Ok((Err(Corrupt::new(what, 0)), 0));
        }
        let known = self.0.get().filter(|_| row_group.has_block());
        let (image, bytes_read) = match known {
            Some(block) => (Arc::clone(block), 0),
            None => {
                let image = pages.read_segment(row_group.column_pages(column))?;
                let bytes = image.len() as u64;
                (image, bytes)
            }
        };
        if row_group.has_block() {
            let _ = self.0.set(Arc::clone(&image));
        }
        let found = image.len() as u64;
        let range = row_group.column_range(column);
        let segment = match range.filter(|_| found == expected) {
            Some(range) => Ok(SegmentImage::part(image, range)),
            None => {
                let whole = if row_group.has_block() {
                    "block"
                } else {
                    "segment"
                };
                let what = format!("{whole} of {found} bytes, expected {expected}");
                Err(Corrupt::new(what, 0))
            }
        };
        Ok((segment, bytes_read))
    }
}
