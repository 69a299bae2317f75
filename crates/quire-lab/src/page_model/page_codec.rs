//! How small and how fast a codec makes pages, as the model needs it.

use super::access_time::transfer_us;

/// Bytes of an uncompressed page: the paper's *PS u* (§III).
pub const UNCOMPRESSED_PAGE_BYTES: usize = 16 << 10;

/// Bytes of a compressed page: the paper's *PS c*, its target (§VI-A).
pub const COMPRESSED_PAGE_BYTES: usize = 8 << 10;

/// A codec as table III has it. Speeds count uncompressed bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageCodecSpeed {
    /// MiB/s.
    pub compression_mib_s: f64,
    /// MiB/s.
    pub decompression_mib_s: f64,
    /// The paper's *r*: bytes of compressed data over those of the data.
    pub compression_fraction: f64,
}

impl PageCodecSpeed {
    /// *T d*: microseconds to decompress a page of [`UNCOMPRESSED_PAGE_BYTES`]. `None` unless the speed is positive and finite.
    ///
    /// ```
    /// use quire_lab::page_model::paper;
    ///
    /// // 16 KiB at the 67.04 MB/s of table III.
    /// let us = paper::ZLIB.codec.page_decompression_us();
    /// assert_eq!(us.map(f64::round), Some(233.0));
    /// ```
    pub fn page_decompression_us(&self) -> Option<f64> {
        transfer_us(UNCOMPRESSED_PAGE_BYTES as f64, self.decompression_mib_s)
    }

    /// Milliseconds to compress so many bytes. `None` unless the speed and the number are positive and finite.
    ///
    /// ```
    /// use quire_lab::page_model::paper;
    ///
    /// // A megabyte at the 17.57 MB/s of table III.
    /// let ms = paper::LZ4HC.codec.compression_ms(1_048_576.0);
    /// assert_eq!(ms.map(|ms| (ms * 10.0).round()), Some(569.0));
    /// ```
    pub fn compression_ms(&self, bytes: f64) -> Option<f64> {
        Some(transfer_us(bytes, self.compression_mib_s)? / 1e3)
    }
}
