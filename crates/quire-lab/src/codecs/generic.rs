//! Figure 6.2: light-weight codecs beside general ones, on columns as TPC-H has them.

use super::byte_codecs::{BLOCK_BYTES, block_speed, byte_codecs};
use super::codec_speed::{CodecSpeed, PAPER_SCHEMES};
use super::column_speeds::{
    segment_speed, stored_speed, stored_string_speed, string_bytes, string_dictionary_speed,
};
use super::lineitem::{LineitemColumn, LineitemValues};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};

/// The column that [`figure_6_2`] returns speeds of.
const SPEED_COLUMN: &str = "l_shipdate";
/// The general codec that the paper compares its own with.
const LZRW1: &str = "lzrw1";

/// The codecs on one column; none where the paper leaves the column uncompressed.
struct MeasuredColumn {
    name: &'static str,
    speeds: Vec<Option<CodecSpeed>>,
}

/// Ratio, compression and decompression bandwidth of `columns`; and the speeds on `l_shipdate`, if it is among them.
///
/// # Errors
/// When a codec refuses a column, or does not give back what was encoded.
pub fn figure_6_2(
    lab: &Lab,
    columns: &[LineitemColumn],
) -> Result<(Vec<Figure>, Vec<CodecSpeed>), LabError> {
    let mut measured = Vec::new();
    for column in columns {
        measured.push(measure(lab, column)?);
    }
    type SpeedPanel = (&'static str, Axis, fn(&CodecSpeed) -> f64);
    let panels: [SpeedPanel; 3] = [
        (
            "figure-6.2-ratio",
            Axis::linear("compression ratio", ""),
            |speed| speed.ratio,
        ),
        (
            "figure-6.2-compression",
            Axis::logarithmic("compression bandwidth", "MB/s"),
            |speed| speed.compression_mb_s,
        ),
        (
            "figure-6.2-decompression",
            Axis::logarithmic("decompression bandwidth", "MB/s"),
            |speed| speed.decompression_mb_s,
        ),
    ];
    let figures = panels.into_iter();
    let figures = figures.map(|(stem, y, value)| panel(lab, stem, y, &measured, value));
    let figures = figures.collect();
    let shipdate = measured.into_iter().find(|one| one.name == SPEED_COLUMN);
    let speeds = shipdate.map_or_else(Vec::new, |one| one.speeds.into_iter().flatten().collect());
    Ok((figures, speeds))
}

fn measure(lab: &Lab, column: &LineitemColumn) -> Result<MeasuredColumn, LabError> {
    let (mut speeds, bytes) = match &column.values {
        LineitemValues::Numbers(values) => {
            let speeds = vec![
                Some(segment_speed(lab, values)?),
                Some(stored_speed(lab, values)?),
            ];
            let bytes = values.iter().flat_map(|one| one.to_le_bytes()).collect();
            (speeds, bytes)
        }
        LineitemValues::Strings(values) => {
            let values = values.as_slice();
            let speeds = vec![
                string_dictionary_speed(lab, &values)?,
                Some(stored_string_speed(lab, &values)?),
            ];
            let mut bytes = Vec::with_capacity(string_bytes(&values));
            for value in values.iter() {
                bytes.extend_from_slice(value);
                bytes.push(0);
            }
            (speeds, bytes)
        }
    };
    for mut codec in byte_codecs()? {
        speeds.push(Some(block_speed(lab, &mut *codec, &bytes, BLOCK_BYTES)?));
    }
    let name = column.name;
    Ok(MeasuredColumn { name, speeds })
}

/// One of the three.
fn panel(
    lab: &Lab,
    stem: &'static str,
    y: Axis,
    measured: &[MeasuredColumn],
    value: fn(&CodecSpeed) -> f64,
) -> Figure {
    let codecs = measured.first().map_or(0, |column| column.speeds.len());
    let series = (0..codecs).filter_map(|codec| {
        let cells = measured.iter().map(|column| column.speeds[codec].as_ref());
        let name = cells.clone().flatten().next()?.name.clone();
        Some(Series {
            name,
            origin: SeriesOrigin::Measured,
            values: cells.map(|cell| cell.map(value)).collect(),
        })
    });
    Figure {
        stem,
        title: format!("Light-weight and general codecs: {}", y.name),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.2",
        chart: Chart::Bars,
        x: Axis::linear("column of lineitem", ""),
        y,
        positions: Positions::labels(measured.iter().map(|column| column.name)),
        series: series.collect(),
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            format!(
                "columns of four-byte integers and of strings with a byte that ends each; general codecs take {} KiB at \
                 a time; the time to choose scheme and width is not counted, and a block that does not shrink is copied",
                BLOCK_BYTES >> 10
            ),
            "the paper's schemes code strings by a dictionary of all of them, and leave l_comment uncompressed".to_owned(),
            "LZO is not here, since its implementations are under the GPL; LZJB, LZ4, LZ4HC and zstd are beside"
                .to_owned(),
            "the paper prints that LZRW1 and LZOP decompress at 200 to 500 MB/s, and aims for 2,000 to 6,000".to_owned(),
            advantage(measured),
        ],
    }
}

/// The paper's claim: its schemes are an order of magnitude faster than LZRW1.
fn advantage(measured: &[MeasuredColumn]) -> String {
    let of = |column: &MeasuredColumn, name: &str| {
        let speeds = column.speeds.iter().flatten();
        speeds
            .filter(|speed| speed.name == name)
            .map(|speed| speed.decompression_mb_s)
            .next()
    };
    let gains: Vec<f64> = measured
        .iter()
        .filter_map(|column| Some(of(column, PAPER_SCHEMES)? / of(column, LZRW1)?))
        .collect();
    let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
    let most = gains.iter().copied().fold(0.0, f64::max);
    let large = gains.iter().filter(|gain| **gain >= 10.0).count();
    format!(
        "the paper's schemes decompress {least:.1} to {most:.1} times as fast as LZRW1, at least 10 times on {large} of {} \
         columns (the paper: an order of magnitude)",
        gains.len()
    )
}
