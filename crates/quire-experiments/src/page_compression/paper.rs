//! What the paper prints and `quire_lab::page_model::paper` does not have.

/// Table IV: gigabytes after all records are inserted, uncompressed, with lz4hc, with zlib.
pub(crate) const SIZES_GB: [f64; 3] = [404.0, 224.0, 202.0];

/// §VI-B: queries per second with lz4hc, over those without compression, and over those with zlib; one connection.
pub(crate) const LZ4HC_OVER_UNCOMPRESSED: f64 = 1.20;
pub(crate) const LZ4HC_OVER_ZLIB: f64 = 1.36;

/// §VI-C: insertions per second with asynchronous compression over those without, lz4hc and zlib; one thread.
pub(crate) const ASYNC_OVER_SYNC: [f64; 2] = [1.20, 1.33];

/// Table VIII: percent of the compressions that the asynchronous threads do, lz4hc and zlib; one thread.
pub(crate) const ASYNC_PERCENT: [f64; 2] = [61.52, 63.55];

/// §VI-C: percent of the compressions that advance split saves, lz4hc and zlib.
pub(crate) const SAVED_PERCENT: [f64; 2] = [2.4, 3.8];
