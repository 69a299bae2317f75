//! Figure 6.2: light-weight codecs beside general ones, on columns as TPC-H has them.

use super::{VectorComparison, columns, each_vector, patched};
use crate::stored::{StoredColumn, Vector};
use crate::super_scalar::{
    Chosen, DictionaryEncoder, Reference, Segment, SegmentError, SuperScalarDictionary,
    SuperScalarSample, choose, encode,
};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_codec::choose::{ChooseOptions, choose as choose_stored};
use quire_codec::{Corrupt, EncodeError, RowGroupValues, VECTOR_VALUES, fixed};
use std::hint::black_box;
use std::sync::Arc;

/// Bytes that a block codec compresses together.
const BLOCK_BYTES: usize = 64 << 10;
/// The column that [`figure_6_2`] returns speeds of.
const SPEED_COLUMN: &str = "l_shipdate";
const BLOCK_CODECS: [BlockCodecId; 5] = [
    BlockCodecId::Lzjb,
    BlockCodecId::Lz4,
    BlockCodecId::Lz4Hc,
    BlockCodecId::Zlib,
    BlockCodecId::Zstd,
];

/// Ratio and speeds of a codec on one column, in MB of uncompressed data per second.
#[derive(Clone, Debug, PartialEq)]
pub struct CodecSpeed {
    pub name: String,
    pub ratio: f64,
    pub compression_mb_s: f64,
    pub decompression_mb_s: f64,
}

/// Ratio, compression and decompression bandwidth; and the speeds on `l_shipdate`.
pub fn figure_6_2(lab: &Lab) -> Result<(Vec<Figure>, Vec<CodecSpeed>), LabError> {
    let columns = columns::lineitem(lab.size(1 << 17, 1 << 12));
    let mut by_column = Vec::new();
    for column in &columns {
        let bytes: Vec<u8> = column
            .values
            .iter()
            .flat_map(|one| one.to_le_bytes())
            .collect();
        let mut speeds = vec![
            segment_speed(lab, &column.values)?,
            stored_speed(lab, &column.values)?,
        ];
        for id in BLOCK_CODECS {
            speeds.push(block_speed(lab, id, &bytes)?);
        }
        by_column.push(speeds);
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let panels = [
        ("figure-6.2-ratio", Axis::linear("compression ratio", "")),
        (
            "figure-6.2-compression",
            Axis::logarithmic("compression bandwidth", "MB/s"),
        ),
        (
            "figure-6.2-decompression",
            Axis::logarithmic("decompression bandwidth", "MB/s"),
        ),
    ];
    let values: [fn(&CodecSpeed) -> f64; 3] = [
        |speed| speed.ratio,
        |speed| speed.compression_mb_s,
        |speed| speed.decompression_mb_s,
    ];
    let figures = panels
        .into_iter()
        .zip(values)
        .map(|((stem, y), value)| panel(lab, stem, y, &names, &by_column, value))
        .collect();
    let place = names.iter().position(|name| *name == SPEED_COLUMN);
    let speeds = place.map(|place| by_column.swap_remove(place));
    Ok((figures, speeds.unwrap_or_default()))
}

/// One of the three.
fn panel(
    lab: &Lab,
    stem: &'static str,
    y: Axis,
    names: &[&str],
    by_column: &[Vec<CodecSpeed>],
    value: fn(&CodecSpeed) -> f64,
) -> Figure {
    let codec_names = by_column.first().into_iter().flatten();
    let series = codec_names.enumerate().map(|(codec, speed)| {
        let values = by_column.iter().map(|speeds| value(&speeds[codec]));
        Series::new(speed.name.clone(), SeriesOrigin::Measured, values.collect())
    });
    Figure {
        stem,
        title: format!("Light-weight and general codecs: {}", y.name),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.2",
        chart: Chart::Bars,
        x: Axis::linear("column of lineitem", ""),
        y,
        positions: Positions::labels(names.iter().copied()),
        series: series.collect(),
        notes: vec![
            lab.machine().to_owned(),
            "columns of four-byte integers drawn as TPC-H describes; block codecs take 64 KiB at a time; the \
             time to choose scheme and width is not counted, and a block that does not shrink is copied"
                .to_owned(),
            "in place of the paper's LZRW1, LZOP and bzip2 there are LZJB, LZ4, LZ4HC and zstd".to_owned(),
            "the paper prints that LZRW1 and LZOP decompress at 200 to 500 MB/s, and aims for 2,000 to 6,000"
                .to_owned(),
        ],
    }
}

fn speed(name: &str, raw_bytes: usize, bytes: usize, encode_ns: f64, decode_ns: f64) -> CodecSpeed {
    let raw = raw_bytes as f64;
    CodecSpeed {
        name: name.to_owned(),
        ratio: raw / bytes.max(1) as f64,
        compression_mb_s: raw / encode_ns * 1e3,
        decompression_mb_s: raw / decode_ns * 1e3,
    }
}

/// The paper's scheme of the smallest estimate.
fn segment_speed(lab: &Lab, values: &[i32]) -> Result<CodecSpeed, LabError> {
    let [choice, ..] = choose(&SuperScalarSample::take(values));
    let encoder = match &choice.chosen {
        Chosen::Pdict { values } => Some(DictionaryEncoder::new(Arc::new(
            SuperScalarDictionary::new(values)?,
        ))),
        _ => None,
    };
    let reference = match (&choice.chosen, &encoder) {
        (Chosen::Pfor { base }, _) => Reference::Pfor { base: *base },
        (Chosen::Pdict { .. }, Some(encoder)) => Reference::Pdict {
            encoder,
            reuse: false,
        },
        (Chosen::PforDelta { base }, _) => Reference::PforDelta { base: *base },
        (Chosen::Pdict { .. }, None) => Reference::Pfor { base: 0 },
    };
    let settings = patched(reference, choice.width);
    let image = encode(values, &settings)?;
    let encode_ns = lab.nanoseconds(|| {
        black_box(encode(black_box(values), &settings)?);
        Ok::<(), SegmentError>(())
    })?;
    let mut segment = Segment::<i32>::open(&image, None)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    each_vector(&mut segment, out, |vector| comparison.take(vector))?;
    comparison.finish("the paper's segment")?;
    let decode_ns = lab.nanoseconds(|| {
        each_vector(&mut segment, out, |vector| {
            black_box(vector);
        })
    })?;
    let raw_bytes = size_of_val(values);
    Ok(speed(
        "PFOR, PFOR-DELTA or PDICT",
        raw_bytes,
        image.len(),
        encode_ns,
        decode_ns,
    ))
}

/// What Quire's chooser takes.
fn stored_speed(lab: &Lab, values: &[i32]) -> Result<CodecSpeed, LabError> {
    let codec = choose_stored(&RowGroupValues::Int32(values), &ChooseOptions::default()).codec;
    let encode_ns = lab.nanoseconds(|| {
        black_box(fixed::encode(codec, black_box(values))?);
        Ok::<(), EncodeError>(())
    })?;
    let mut column = StoredColumn::encode(codec, values)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    column.each_vector(out, |vector| comparison.take(vector))?;
    comparison.finish(codec.name())?;
    let decode_ns = lab.nanoseconds(|| {
        column.each_vector(out, |vector| {
            black_box(vector);
        })
    })?;
    let raw_bytes = size_of_val(values);
    Ok(speed(
        "Quire's choice",
        raw_bytes,
        column.bytes,
        encode_ns,
        decode_ns,
    ))
}

fn block_speed(lab: &Lab, id: BlockCodecId, bytes: &[u8]) -> Result<CodecSpeed, LabError> {
    let mut codec = open(id, &BlockOptions::default())?;
    let mut room = vec![0; 2 * BLOCK_BYTES];
    let blocks: Vec<&[u8]> = bytes.chunks(BLOCK_BYTES).collect();
    let mut stored = Vec::new();
    for block in &blocks {
        // A block that does not shrink stays as it is.
        let length = codec.compress(block, &mut room, block.len());
        stored.push(length.map_or_else(Vec::new, |length| room[..length].to_vec()));
    }
    let encode_ns = lab.nanoseconds_of(|| {
        for block in &blocks {
            black_box(codec.compress(black_box(block), &mut room, block.len()));
        }
    });
    let decode_ns = lab.nanoseconds(|| {
        for (stored, block) in stored.iter().zip(&blocks) {
            let room = &mut room[..block.len()];
            if stored.is_empty() {
                room.copy_from_slice(block)
            } else {
                codec.decompress(stored, room)?
            }
            black_box(&room);
        }
        Ok::<(), Corrupt>(())
    })?;
    let lengths = stored.iter().zip(&blocks);
    let stored_bytes: usize = lengths
        .map(|(stored, block)| match stored.len() {
            0 => block.len(),
            length => length,
        })
        .sum();
    Ok(speed(
        id.name(),
        bytes.len(),
        stored_bytes,
        encode_ns,
        decode_ns,
    ))
}
