//! The bytes of a segment, alone or among others.

use std::ops::Range;
use std::sync::Arc;

/// Bytes that hold a segment, shared: all of an image, or part of one that holds the segments of other columns, too.
#[derive(Debug, Clone)]
pub struct SegmentImage {
    pub(super) image: Arc<[u8]>,
    /// Where the segment is. [`SegmentReader`](super::SegmentReader) refuses a range that leaves the image.
    pub(super) range: Range<usize>,
}

impl SegmentImage {
    /// Part of an image.
    pub fn part(image: Arc<[u8]>, range: Range<usize>) -> Self {
        Self { image, range }
    }
}

impl From<Arc<[u8]>> for SegmentImage {
    fn from(image: Arc<[u8]>) -> Self {
        let range = 0..image.len();
        Self { image, range }
    }
}
