//! Table 6.2: codecs of inverted files.

use super::lists::{SEGMENT_VALUES, encode_sums, running_sums, settings};
use super::{InvertedFile, PostingUnit};
use crate::codecs::{CodecSpeed, VectorComparison, each_vector};
use crate::postings::codecs::{Carryover12, GapsError, PostingsCodec, SemiStaticHuffman};
use crate::stored::{StoredColumn, Vector};
use crate::super_scalar::{Segment, SegmentError};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::{CodecId, Corrupt, EncodeError, ROWS_MAX, VECTOR_VALUES, fixed};
use std::hint::black_box;

/// Table 6.2 as printed: ratio, compression and decompression in MB/s, for PFOR-DELTA, carryover-12 and shuff.
const PAPER: [(&str, [[f64; 3]; 3]); 5] = [
    (
        "INEX",
        [
            [1.75, 679.0, 3053.0],
            [2.12, 49.0, 524.0],
            [2.45, 3.5, 82.0],
        ],
    ),
    (
        "TREC fbis",
        [
            [3.47, 788.0, 3911.0],
            [4.26, 98.0, 740.0],
            [5.11, 190.0, 164.0],
        ],
    ),
    (
        "TREC fr94",
        [
            [3.12, 682.0, 3196.0],
            [3.49, 84.0, 689.0],
            [4.65, 149.0, 154.0],
        ],
    ),
    (
        "TREC ft",
        [
            [3.13, 761.0, 3443.0],
            [3.47, 84.0, 704.0],
            [4.89, 178.0, 157.0],
        ],
    ),
    (
        "TREC latimes",
        [
            [2.99, 742.0, 3289.0],
            [3.30, 79.0, 683.0],
            [4.61, 164.0, 153.0],
        ],
    ),
];

/// Files of the columns: ratio, bits per gap, compression, decompression, values per second.
pub(super) type TableStems = [&'static str; 5];

pub(super) const TABLE_6_2: TableStems = [
    "table-6.2-ratio",
    "table-6.2-bits",
    "table-6.2-compression",
    "table-6.2-decompression",
    "table-6.2-values",
];

/// An inverted file and what its series is called.
pub(super) type NamedFile<'a> = (&'a str, &'a InvertedFile);

/// Ratio, bits per gap, bandwidths and values per second of each codec on the inverted files.
pub(super) fn codec_table(
    lab: &Lab,
    files: &[NamedFile<'_>],
    stems: TableStems,
) -> Result<Vec<Figure>, LabError> {
    let mut speeds = Vec::new();
    for (name, file) in files {
        speeds.push((*name, codec_speeds(lab, file)?));
    }
    type PostingTableColumn = (Axis, Option<usize>, fn(&CodecSpeed) -> f64);
    let columns: [PostingTableColumn; 5] = [
        (Axis::linear("compression ratio", ""), Some(0), |one| {
            one.ratio
        }),
        (Axis::linear("size", "bits/gap"), None, |one| {
            32.0 / one.ratio
        }),
        (
            Axis::logarithmic("compression bandwidth", "MB/s"),
            Some(1),
            |one| one.compression_mb_s,
        ),
        (
            Axis::logarithmic("decompression bandwidth", "MB/s"),
            Some(2),
            |one| one.decompression_mb_s,
        ),
        (
            Axis::logarithmic("decompression", "million values/s"),
            None,
            |one| one.decompression_mb_s / 4.0,
        ),
    ];
    let notes = notes(lab, files, &speeds);
    let figures = stems.into_iter().zip(columns);
    Ok(figures
        .map(|(stem, (y, place, value))| {
            let mut figure = table_column(&speeds, (stem, y), place, value);
            figure.notes.clone_from(&notes);
            figure
        })
        .collect())
}

/// The paper's codecs and Quire's on all gaps of a file.
pub(super) fn codec_speeds(lab: &Lab, file: &InvertedFile) -> Result<Vec<CodecSpeed>, LabError> {
    let gaps = file.gaps();
    Ok(vec![
        segment_speed(lab, gaps)?,
        gaps_speed(lab, &Carryover12, gaps)?,
        gaps_speed(lab, &SemiStaticHuffman, gaps)?,
        stored_speed(lab, CodecId::PforDelta, &running_sums(gaps))?,
        stored_speed(lab, CodecId::Pfor, gaps)?,
    ])
}

/// One column of the table, with the paper's at `place`.
fn table_column(
    speeds: &[(&str, Vec<CodecSpeed>)],
    (stem, y): (&'static str, Axis),
    place: Option<usize>,
    value: fn(&CodecSpeed) -> f64,
) -> Figure {
    let codecs = speeds.first().map_or(&[][..], |(_, codecs)| &codecs[..]);
    let measured = speeds.iter().map(|(name, codecs)| {
        let values = codecs.iter().map(value).collect();
        Series::new(*name, SeriesOrigin::Measured, values)
    });
    let mut series: Vec<Series> = measured.collect();
    for (collection, columns) in PAPER {
        let Some(place) = place else { continue };
        let mut values: Vec<_> = columns.iter().map(|columns| Some(columns[place])).collect();
        values.resize(codecs.len(), None);
        series.push(Series::paper(collection, values));
    }
    Figure {
        stem,
        title: format!("Inverted files: {}", y.name),
        paper: Paper::SuperScalarCompression,
        number: "table 6.2",
        chart: Chart::Bars,
        x: Axis::linear("codec", ""),
        y,
        positions: Positions::labels(codecs.iter().map(|speed| speed.name.as_str())),
        series,
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// How all columns were measured.
fn notes(lab: &Lab, files: &[NamedFile<'_>], speeds: &[(&str, Vec<CodecSpeed>)]) -> Vec<String> {
    let mut notes = vec![lab.machine().to_owned()];
    for ((name, file), (_, codecs)) in files.iter().zip(speeds) {
        notes.push(format!(
            "{name}: {} gaps of {} words in {} documents, counted as 4 bytes each; {}",
            file.gaps().len(),
            file.words().count(),
            file.document_starts().len(),
            comparison(codecs)
        ));
    }
    let unit = files.first().map(|(_, file)| file.unit());
    notes.push(match unit {
        Some(PostingUnit::DocumentNumbers) => {
            "a list has the number of the document for each occurrence of the word".to_owned()
        }
        _ => "a list has the position in the collection of each occurrence of the word".to_owned(),
    });
    notes.push(format!(
        "lists lie in the order of their lengths; segments of PFOR-DELTA have {SEGMENT_VALUES} gaps, their opening is \
         not timed"
    ));
    notes.push(
        "PFOR-DELTA and Quire's codecs decode into one vector in cache, the others 131,072 gaps at a time; PFOR-DELTA \
         gives the running sums, the others and quire pfor the gaps alone"
            .to_owned(),
    );
    notes
}

/// The paper's conclusion in our figures.
fn comparison(speeds: &[CodecSpeed]) -> String {
    match speeds {
        [pfor_delta, carryover, ..] => format!(
            "PFOR-DELTA decompresses {:.1} times as fast as carryover-12 and reaches {:.0} % of its ratio; the \
             paper: 6.5 times and 85 %",
            pfor_delta.decompression_mb_s / carryover.decompression_mb_s,
            100.0 * pfor_delta.ratio / carryover.ratio
        ),
        _ => String::new(),
    }
}

fn speed(name: &str, values: &[u32], bytes: usize, encode_ns: f64, decode_ns: f64) -> CodecSpeed {
    let raw = size_of_val(values) as f64;
    CodecSpeed {
        name: name.to_owned(),
        ratio: raw / bytes.max(1) as f64,
        compression_mb_s: raw / encode_ns * 1e3,
        decompression_mb_s: raw / decode_ns * 1e3,
    }
}

fn segment_speed(lab: &Lab, gaps: &[u32]) -> Result<CodecSpeed, LabError> {
    let sums = running_sums(gaps);
    let settings = settings(&sums);
    let images = encode_sums(&sums, &settings)?;
    let encode_ns = lab.nanoseconds(|| {
        black_box(encode_sums(black_box(&sums), &settings)?);
        Ok::<(), SegmentError>(())
    })?;
    let opened = images.iter().map(|image| Segment::<u32>::open(image, None));
    let mut segments = opened.collect::<Result<Vec<_>, _>>()?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(&sums);
    for segment in &mut segments {
        each_vector(segment, out, |vector| comparison.take(vector))?;
    }
    comparison.finish("PFOR-DELTA")?;
    let decode_ns = lab.nanoseconds(|| {
        for segment in &mut segments {
            each_vector(segment, out, |vector| {
                black_box(vector);
            })?;
        }
        Ok::<(), Corrupt>(())
    })?;
    let bytes = images.iter().map(Vec::len).sum();
    Ok(speed("PFOR-DELTA", gaps, bytes, encode_ns, decode_ns))
}

fn gaps_speed(lab: &Lab, codec: &dyn PostingsCodec, gaps: &[u32]) -> Result<CodecSpeed, LabError> {
    let stretches: Vec<&[u32]> = gaps.chunks(ROWS_MAX).collect();
    let encode_all = || -> Result<Vec<Vec<u8>>, GapsError> {
        let encoded = black_box(&stretches).iter().map(|gaps| {
            let mut payload = Vec::new();
            codec.encode(gaps, &mut payload)?;
            Ok(payload)
        });
        encoded.collect()
    };
    let payloads = encode_all()?;
    let encode_ns = lab.nanoseconds(|| {
        black_box(encode_all()?);
        Ok::<(), GapsError>(())
    })?;
    let mut out = vec![0u32; ROWS_MAX.min(gaps.len())];
    for (payload, stretch) in payloads.iter().zip(&stretches) {
        codec.decode(payload, &mut out[..stretch.len()])?;
        if out[..stretch.len()] != **stretch {
            let codec = codec.name().to_owned();
            return Err(LabError::NotRestored { codec });
        }
    }
    let decode_ns = lab.nanoseconds(|| {
        for (payload, stretch) in payloads.iter().zip(&stretches) {
            codec.decode(payload, &mut out[..stretch.len()])?;
            black_box(&out);
        }
        Ok::<(), Corrupt>(())
    })?;
    let bytes = payloads.iter().map(Vec::len).sum();
    Ok(speed(codec.name(), gaps, bytes, encode_ns, decode_ns))
}

fn stored_speed(lab: &Lab, codec: CodecId, values: &[u32]) -> Result<CodecSpeed, LabError> {
    let signed: Vec<i32> = values.iter().map(|&value| value as i32).collect();
    let encode_ns = lab.nanoseconds(|| {
        for rows in black_box(&signed).chunks(ROWS_MAX) {
            black_box(fixed::encode(codec, rows)?);
        }
        Ok::<(), EncodeError>(())
    })?;
    let mut column = StoredColumn::encode(codec, &signed)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(&signed);
    column.each_vector(out, |vector| comparison.take(vector))?;
    comparison.finish(codec.name())?;
    let decode_ns = lab.nanoseconds(|| {
        column.each_vector(out, |vector| {
            black_box(vector);
        })
    })?;
    let name = format!("quire {}", codec.name());
    Ok(speed(&name, values, column.bytes, encode_ns, decode_ns))
}
