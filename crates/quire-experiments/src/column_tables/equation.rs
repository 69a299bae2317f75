//! Equation 6.1 for a query that was measured in memory.
//!
//! All of its bandwidths count the same bytes: those that the query reads from a device if nothing is compressed. A column that two scans of a query read comes from
//! the device once, and both times are in the times of query and decompression; so the bytes cancel in every time that is calculated.

use quire_lab::super_scalar::result_bandwidth;

use crate::column_tables::{CodecPair, ColumnCodecs, QueryRun};

/// What a query takes when all of its pages are in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TimeInMemory {
    pub(crate) seconds: f64,
    /// Of these, decoding: also of uncompressed tables, whose values are copied.
    pub(crate) decode_seconds: f64,
    /// Length of the values that were decoded, by each scan that did.
    pub(crate) decoded_bytes: f64,
}

impl TimeInMemory {
    pub(crate) fn of(run: &QueryRun) -> Self {
        Self {
            seconds: run.seconds,
            decode_seconds: run.scans.decode_seconds,
            decoded_bytes: run.scans.decoded_bytes,
        }
    }

    /// The same on a processor that is so many times slower.
    pub(crate) fn slowed(&self, slowness: f64) -> Self {
        Self {
            seconds: self.seconds * slowness,
            decode_seconds: self.decode_seconds * slowness,
            decoded_bytes: self.decoded_bytes,
        }
    }

    /// Decoded bytes a second.
    pub(crate) fn decompression_bandwidth(&self) -> f64 {
        self.decoded_bytes / self.decode_seconds.max(NO_SECONDS)
    }
}

/// What takes no time that could be measured takes so long.
const NO_SECONDS: f64 = 1e-9;

/// The terms of equation 6.1 besides the bandwidth of the device: bytes and bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EquationTerms {
    /// Bytes of the device, without compression: what all bandwidths count.
    pub(crate) plain_bytes: f64,
    /// r: uncompressed bytes for each compressed one.
    pub(crate) ratio: f64,
    /// Q: of the query alone. It is not the same for both: over compressed tables Quire tests and groups by codes.
    pub(crate) query: CodecPair<f64>,
    /// C: of decoding.
    pub(crate) decompression: CodecPair<f64>,
}

impl EquationTerms {
    /// The terms of a query, of its times in memory and the bytes that it reads from a device.
    pub(crate) fn new(times: &CodecPair<TimeInMemory>, disk_bytes: &CodecPair<f64>) -> Self {
        let plain_bytes = disk_bytes.plain;
        let query = |time: &TimeInMemory| {
            plain_bytes / (time.seconds - time.decode_seconds).max(NO_SECONDS)
        };
        let decompression = |time: &TimeInMemory| plain_bytes / time.decode_seconds.max(NO_SECONDS);
        Self {
            plain_bytes,
            ratio: plain_bytes / disk_bytes.compressed.max(1.0),
            query: CodecPair {
                compressed: query(&times.compressed),
                plain: query(&times.plain),
            },
            decompression: CodecPair {
                compressed: decompression(&times.compressed),
                plain: decompression(&times.plain),
            },
        }
    }

    /// R: the bandwidth of results from a device of `io` bytes a second.
    pub(crate) fn result(&self, codecs: ColumnCodecs, io: f64) -> f64 {
        let ratio = match codecs {
            ColumnCodecs::Auto => self.ratio,
            ColumnCodecs::Plain => 1.0,
        };
        result_bandwidth(
            io,
            ratio,
            *self.query.get(codecs),
            *self.decompression.get(codecs),
        )
    }

    /// The same as seconds of the query.
    pub(crate) fn seconds(&self, codecs: ColumnCodecs, io: f64) -> f64 {
        self.plain_bytes / self.result(codecs, io).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: f64, decode_seconds: f64) -> TimeInMemory {
        TimeInMemory {
            seconds,
            decode_seconds,
            ..TimeInMemory::default()
        }
    }

    /// 1 GB, compressed to a fourth. The query alone takes 2 s, decoding 0.5 s.
    fn terms() -> EquationTerms {
        let times = CodecPair {
            compressed: time(2.5, 0.5),
            plain: time(2.25, 0.25),
        };
        let disk_bytes = CodecPair {
            compressed: 0.25e9,
            plain: 1e9,
        };
        EquationTerms::new(&times, &disk_bytes)
    }

    #[test]
    fn the_terms_are_those_of_the_paper() {
        let terms = terms();
        assert_eq!((terms.ratio, terms.query.plain), (4.0, 0.5e9));
        assert_eq!(terms.query.compressed, 0.5e9);
        assert_eq!(terms.decompression.compressed, 2e9);
    }

    #[test]
    fn the_slower_of_device_and_processor_decides() {
        let terms = terms();
        let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
        // 50 MB/s deliver 200 MB/s of results, 5 s for all.
        assert!(close(terms.result(ColumnCodecs::Auto, 50e6), 200e6));
        assert!(close(terms.seconds(ColumnCodecs::Plain, 50e6), 20.0));
        // A fast device: query and decoding one after the other.
        assert!(close(terms.seconds(ColumnCodecs::Auto, 3e9), 2.5));
        assert!(close(terms.seconds(ColumnCodecs::Plain, 3e9), 2.25));
    }
}
