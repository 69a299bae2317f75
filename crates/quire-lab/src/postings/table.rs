//! Table 6.2: codecs of inverted files; and the speed of the query over each.

use super::lists::{SEGMENT_VALUES, encode_sums, running_sums, settings};
use super::{CompressedLists, InvertedFile, TOP_COUNT, TopDocuments, top_documents};
use crate::codecs::{CodecSpeed, VectorComparison, each_vector};
use crate::postings::codecs::{Carryover12, GapsError, PostingsCodec, SemiStaticHuffman};
use crate::stored::{StoredColumn, Vector};
use crate::super_scalar::{Segment, SegmentError};
use crate::{
    Axis, Bandwidths, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin,
    decompression_needed, equation_6_1,
};
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

/// Ratio, bits per gap, bandwidths and values per second of each codec on the inverted file; and the speeds.
pub fn table_6_2(
    lab: &Lab,
    file: &InvertedFile,
) -> Result<(Vec<Figure>, Vec<CodecSpeed>), LabError> {
    let gaps = file.gaps();
    let speeds = vec![
        segment_speed(lab, gaps)?,
        gaps_speed(lab, &Carryover12, gaps)?,
        gaps_speed(lab, &SemiStaticHuffman, gaps)?,
        stored_speed(lab, CodecId::PforDelta, &running_sums(gaps))?,
        stored_speed(lab, CodecId::Pfor, gaps)?,
    ];
    let column = |stem, y, place: Option<usize>, value: fn(&CodecSpeed) -> f64| {
        table_column(lab, file, &speeds, (stem, y), place, value)
    };
    let figures = vec![
        column(
            "table-6.2-ratio",
            Axis::linear("compression ratio", ""),
            Some(0),
            |one| one.ratio,
        ),
        column(
            "table-6.2-bits",
            Axis::linear("size", "bits/gap"),
            None,
            |one| 32.0 / one.ratio,
        ),
        column(
            "table-6.2-compression",
            Axis::logarithmic("compression bandwidth", "MB/s"),
            Some(1),
            |one| one.compression_mb_s,
        ),
        column(
            "table-6.2-decompression",
            Axis::logarithmic("decompression bandwidth", "MB/s"),
            Some(2),
            |one| one.decompression_mb_s,
        ),
        column(
            "table-6.2-values",
            Axis::logarithmic("decompression", "million values/s"),
            None,
            |one| one.decompression_mb_s / 4.0,
        ),
    ];
    Ok((figures, speeds))
}

/// One column of the table, with the paper's at `place`.
fn table_column(
    lab: &Lab,
    file: &InvertedFile,
    speeds: &[CodecSpeed],
    (stem, y): (&'static str, Axis),
    place: Option<usize>,
    value: fn(&CodecSpeed) -> f64,
) -> Figure {
    let measured = speeds.iter().map(value).collect();
    let mut series = vec![Series::new("this text", SeriesOrigin::Measured, measured)];
    for (collection, codecs) in PAPER {
        let Some(place) = place else { continue };
        let mut values: Vec<_> = codecs.iter().map(|columns| Some(columns[place])).collect();
        values.resize(speeds.len(), None);
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
        positions: Positions::labels(speeds.iter().map(|speed| speed.name.as_str())),
        series,
        notes: vec![
            lab.machine().to_owned(),
            format!(
                "{} gaps of {} words in {} documents, counted as 4 bytes each; one gap for each occurrence",
                file.gaps().len(),
                file.words().count(),
                file.document_count()
            ),
            comparison(speeds),
            format!(
                "lists lie in the order of their lengths; segments of PFOR-DELTA have {SEGMENT_VALUES} gaps, \
                 their opening is not timed"
            ),
            "PFOR-DELTA and Quire's codecs decode into one vector in cache, the others 131,072 gaps at a time; \
             PFOR-DELTA gives the running sums, the others and quire pfor the gaps alone"
                .to_owned(),
        ],
    }
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

/// The bandwidth of the query over the list of the most frequent word, uncompressed and from each codec, beside
/// what equation 6.1 makes of the speeds; and that equation over the bandwidth of the device.
pub fn top_n_bandwidth(
    lab: &Lab,
    file: &InvertedFile,
    speeds: &[CodecSpeed],
) -> Result<[Figure; 2], LabError> {
    let measured = query_bandwidths(lab, file, speeds.len() + 1)?;
    let query = measured[0].unwrap_or_default();
    let bandwidth = bandwidth_figure(lab, file, speeds, measured);
    let codecs = speeds.iter().map(|speed| {
        let bandwidths = Bandwidths {
            ratio: speed.ratio,
            query,
            decompression: speed.decompression_mb_s,
        };
        (speed.name.as_str(), bandwidths)
    });
    let mut by_io = equation_6_1(lab, &codecs.collect::<Vec<_>>());
    by_io.stem = "equation-6.1-postings";
    by_io.notes.push(format!(
        "the query is the top-{TOP_COUNT} query, uncompressed {query:.0} MB/s; ratios and speeds are those of \
         table 6.2"
    ));
    Ok([bandwidth, by_io])
}

/// MB/s of the query over the list as it is and from each codec that has it, in the order of the table; `count` in all.
fn query_bandwidths(
    lab: &Lab,
    file: &InvertedFile,
    count: usize,
) -> Result<Vec<Option<f64>>, LabError> {
    let word = file.most_frequent();
    let gaps = file.gaps_of(word);
    let bytes = size_of_val(gaps) as f64;
    let mb_s = |ns: f64| bytes / ns * 1e3;
    let documents = running_sums(gaps);
    let query = mb_s(lab.nanoseconds_of(|| {
        let mut top = TopDocuments::new(TOP_COUNT, file.document_offsets());
        top.take(black_box(&documents));
        black_box(top.finish());
    }));
    let lists = CompressedLists::new(file)?;
    let pfor_delta = mb_s(lab.nanoseconds(|| {
        black_box(top_documents(&lists, file, word, TOP_COUNT)?);
        Ok::<(), Corrupt>(())
    })?);
    let carryover = mb_s(gaps_query_ns(lab, &Carryover12, file, gaps)?);
    let huffman = mb_s(gaps_query_ns(lab, &SemiStaticHuffman, file, gaps)?);
    let mut measured = vec![
        Some(query),
        Some(pfor_delta),
        Some(carryover),
        Some(huffman),
    ];
    measured.resize(count, None);
    Ok(measured)
}

fn bandwidth_figure(
    lab: &Lab,
    file: &InvertedFile,
    speeds: &[CodecSpeed],
    measured: Vec<Option<f64>>,
) -> Figure {
    let word = file.most_frequent();
    let query = measured[0].unwrap_or_default();
    let together =
        |speed: &CodecSpeed| query * speed.decompression_mb_s / (query + speed.decompression_mb_s);
    let mut calculated = vec![None];
    calculated.extend(speeds.iter().map(|speed| Some(together(speed))));
    let mut paper = vec![Some(580.0), Some(504.0)];
    paper.resize(speeds.len() + 1, None);
    let names = speeds.iter().map(|speed| speed.name.as_str());
    Figure {
        stem: "top-n-bandwidth",
        title: format!("Top-{TOP_COUNT} query for \"{word}\""),
        paper: Paper::SuperScalarCompression,
        number: "§6.4",
        chart: Chart::Bars,
        x: Axis::linear("list", ""),
        y: Axis::logarithmic("bandwidth of the query", "MB/s"),
        positions: Positions::labels(["uncompressed"].into_iter().chain(names)),
        series: vec![
            Series {
                name: "query".to_owned(),
                origin: SeriesOrigin::Measured,
                values: measured,
            },
            Series {
                name: "equation 6.1, bound by the processor".to_owned(),
                origin: SeriesOrigin::Calculated,
                values: calculated,
            },
            Series::paper("TREC fbis", paper),
        ],
        notes: vec![
            lab.machine().to_owned(),
            format!(
                "a list of {} occurrences, counted as 4 bytes each",
                file.gaps_of(word).len()
            ),
            needed(query),
        ],
    }
}

/// The calculation of §6.4 for this machine's query.
fn needed(query: f64) -> String {
    match decompression_needed(350.0, query) {
        Some(needed) => format!(
            "on the paper's device of 350 MB/s this query gains from codecs that decompress faster than \
             {needed:.0} MB/s (the paper, with a query of 580 MB/s: 883)"
        ),
        None => "the query alone is slower than the paper's device of 350 MB/s".to_owned(),
    }
}

/// Nanoseconds of the query over the list of one word, decoded as a whole.
fn gaps_query_ns(
    lab: &Lab,
    codec: &dyn PostingsCodec,
    file: &InvertedFile,
    gaps: &[u32],
) -> Result<f64, LabError> {
    let mut payload = Vec::new();
    codec.encode(gaps, &mut payload)?;
    let mut documents = vec![0; gaps.len()];
    let ns = lab.nanoseconds(|| {
        codec.decode(black_box(&payload), &mut documents)?;
        let mut document = 0u32;
        for gap in &mut documents {
            document = document.wrapping_add(*gap);
            *gap = document;
        }
        let mut top = TopDocuments::new(TOP_COUNT, file.document_offsets());
        top.take(&documents);
        black_box(top.finish());
        Ok::<(), Corrupt>(())
    })?;
    Ok(ns)
}
