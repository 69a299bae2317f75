//! Paper 3, §III and §IV-A: the order of a page's bytes, and what block codecs make of it.

mod latency;
mod ratios;
pub mod scenario;

use crate::sectors::{SectorCodec, ZLIB_NOTE};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::block::BlockCodecId;
use scenario::{Magnitude, constant_byte_block, repeated_vector_block};

const CODECS: [BlockCodecId; 3] = [BlockCodecId::Lz4, BlockCodecId::Zlib, BlockCodecId::Zstd];

/// All of them. `texts` fill the strings of figure 9; without any four are made up.
pub(crate) fn figures(lab: &Lab, texts: &[&[u8]]) -> Result<Vec<Figure>, LabError> {
    let mut figures = vec![figure_4(lab)?, figure_5(lab)?];
    figures.extend(latency::figures(lab)?);
    figures.push(ratios::figure_8(lab, Magnitude::Large)?);
    figures.push(ratios::figure_8(lab, Magnitude::Small)?);
    figures.push(ratios::figure_9(lab, texts)?);
    Ok(figures)
}

fn compressors() -> Result<Vec<SectorCodec>, LabError> {
    CODECS.into_iter().map(SectorCodec::open).collect()
}

fn ratio_axis() -> Axis {
    Axis::linear("compression ratio", "")
}

fn figure(
    lab: &Lab,
    (stem, number): (&'static str, &'static str),
    title: &str,
    (x, positions): (Axis, Positions),
    series: Vec<Series>,
) -> Figure {
    let chart = match positions {
        Positions::Numbers(_) => Chart::Lines,
        Positions::Labels(_) => Chart::Bars,
    };
    Figure {
        stem,
        title: title.to_owned(),
        paper: Paper::DualPageFormat,
        number,
        chart,
        x,
        y: ratio_axis(),
        positions,
        series,
        verdicts: Vec::new(),
        notes: vec![lab.machine().to_owned()],
    }
}

/// The ratio of each codec on random blocks, over a parameter of them: of the whole block, and of its sectors one by one.
fn block_ratios(
    parameters: &[usize],
    block: impl Fn(usize) -> Vec<u8>,
) -> Result<Vec<Series>, LabError> {
    let (mut whole, mut sectors) = (Vec::new(), Vec::new());
    for (mut codec, id) in compressors()?.into_iter().zip(CODECS) {
        let (mut of_whole, mut of_sectors) = (Vec::new(), Vec::new());
        for &parameter in parameters {
            let block = block(parameter);
            let ratio = |bytes: usize| block.len() as f64 / bytes as f64;
            of_whole.push(ratio(codec.block_bytes(&block)));
            of_sectors.push(ratio(codec.device_bytes(&block)));
        }
        let measured = SeriesOrigin::Measured;
        whole.push(Series::new(id.name(), measured, of_whole));
        let name = format!("{id}, 4 KiB");
        sectors.push(Series::new(name, measured, of_sectors));
    }
    whole.append(&mut sectors);
    Ok(whole)
}

fn numbers(parameters: &[usize]) -> Positions {
    Positions::Numbers(
        parameters
            .iter()
            .map(|&parameter| parameter as f64)
            .collect(),
    )
}

/// What figures 4 and 5 say of their blocks.
fn block_notes(block_bytes: usize, gains: &str) -> [String; 2] {
    [
        format!(
            "one block of {block_bytes} bytes, whole and as sectors of 4 KiB, the unit of the paper's drive; nothing is timed; the \
             paper prints no values, but that {gains}"
        ),
        ZLIB_NOTE.to_owned(),
    ]
}

/// Random bytes of which some, at random places, are one constant.
fn figure_4(lab: &Lab) -> Result<Figure, LabError> {
    let percents = [10, 20, 30, 40, 50, 60];
    let block_bytes = lab.size(1 << 16, 1 << 13);
    let series = block_ratios(&percents, |percent| {
        constant_byte_block(percent as u64, block_bytes, 4)
    })?;
    let x = Axis::linear("constant bytes", "%");
    let title = "Constant bytes at random places: what entropy coding gains";
    let names = ("paper-3-figure-4", "figure 4");
    let mut figure = figure(lab, names, title, (x, numbers(&percents)), series);
    let gains = "codecs with entropy coding gain more";
    figure.notes.extend(block_notes(block_bytes, gains));
    Ok(figure)
}

/// Constant vectors and random ones in turns.
fn figure_5(lab: &Lab) -> Result<Figure, LabError> {
    let lengths = [2, 4, 6, 8, 12, 16, 20, 24];
    let block_bytes = lab.size(1 << 16, 1 << 13);
    let series = block_ratios(&lengths, |vector_bytes| {
        repeated_vector_block(vector_bytes, block_bytes, 5)
    })?;
    let x = Axis::linear("length of the repeated vector", "bytes");
    let title = "Half constant, half random: what longer repetitions gain";
    let names = ("paper-3-figure-5", "figure 5");
    let mut figure = figure(lab, names, title, (x, numbers(&lengths)), series);
    let gains = "codecs without entropy coding gain more";
    figure.notes.extend(block_notes(block_bytes, gains));
    Ok(figure)
}
