//! Equation 6.1 as a calculator.

use crate::super_scalar::result_bandwidth;
use crate::{Axis, Chart, Figure, Lab, Paper, Positions, Series, SeriesOrigin};

/// Bandwidths of I/O to calculate for, in MB/s; 350 is the paper's RAID.
const IO_MB_S: [f64; 9] = [
    100.0, 200.0, 350.0, 700.0, 1_500.0, 3_000.0, 7_000.0, 14_000.0, 28_000.0,
];

/// What equation 6.1 needs of a codec and a query, in MB/s of uncompressed data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidths {
    /// Compression ratio.
    pub ratio: f64,
    /// Of the query with the processor to itself.
    pub query: f64,
    /// Of decompression with the processor to itself.
    pub decompression: f64,
}

impl Bandwidths {
    /// The bandwidth of results when the device delivers `io` MB/s.
    pub fn result(&self, io: f64) -> f64 {
        result_bandwidth(io, self.ratio, self.query, self.decompression)
    }
}

/// The bandwidth of decompression at which query and decompression together are as fast as I/O without
/// compression; `None` when the query alone is not faster than `io`.
///
/// ```
/// // §6.4: a query of 580 MB/s on a RAID of 350 MB/s needs 883 MB/s.
/// let needed = quire_lab::decompression_needed(350.0, 580.0);
/// assert_eq!(needed.map(f64::round), Some(883.0));
/// ```
pub fn decompression_needed(io: f64, query: f64) -> Option<f64> {
    (query > io).then(|| query * io / (query - io))
}

/// The bandwidth of results over that of the device, for each codec and without compression.
pub fn equation_6_1(lab: &Lab, codecs: &[(&str, Bandwidths)]) -> Figure {
    let over_io = |result: &dyn Fn(f64) -> f64| IO_MB_S.iter().map(|&io| result(io)).collect();
    let mut series = Vec::new();
    if let Some((_, first)) = codecs.first() {
        let plain = over_io(&|io| io.min(first.query));
        series.push(Series::new("uncompressed", SeriesOrigin::Calculated, plain));
    }
    for (name, bandwidths) in codecs {
        let results = over_io(&|io| bandwidths.result(io));
        series.push(Series::new(*name, SeriesOrigin::Calculated, results));
    }
    Figure {
        stem: "equation-6.1",
        title: "The bandwidth of results by that of the device".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "equation 6.1",
        chart: Chart::Lines,
        x: Axis::logarithmic("bandwidth of I/O", "MB/s"),
        y: Axis::logarithmic("bandwidth of results", "MB/s"),
        positions: Positions::Numbers(IO_MB_S.to_vec()),
        series,
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            "calculated from measured speeds of one processor that the query and decompression share"
                .to_owned(),
        ],
    }
}
