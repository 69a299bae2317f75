//! The easier query: lists of document numbers, over which there is nothing to join.
//!
//! Equal neighbours are counted and the best are kept. §6.4 does not do this; [`super::retrieval`] has its plan. This one
//! shows what the merge join costs, and what codecs make of gaps that are mostly 0.

use super::lists::running_sums;
use super::one_list;
use super::retrieval::query_mb_s;
use super::table::{TableStems, codec_table};
use super::{InvertedFile, TOP_COUNT};
use crate::{
    Axis, Bandwidths, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin,
    equation_6_1,
};

const STEMS: TableStems = [
    "document-numbers-ratio",
    "document-numbers-bits",
    "document-numbers-compression",
    "document-numbers-decompression",
    "document-numbers-values",
];

/// The codecs on all lists, and the query over the list of the most frequent word.
pub(super) fn figures(lab: &Lab, name: &str, file: &InvertedFile) -> Result<Vec<Figure>, LabError> {
    let mut figures = codec_table(lab, &[(name, file)], STEMS)?;
    figures.extend(query_figures(lab, file)?);
    figures.push(super::result_figure(lab, "document-numbers-result", file)?);
    Ok(figures)
}

/// MB/s of the query from each form of the list, and equation 6.1 over the bandwidth of the device.
fn query_figures(lab: &Lab, file: &InvertedFile) -> Result<[Figure; 2], LabError> {
    let word = file.most_frequent();
    let entries = running_sums(file.gaps_of(word));
    let mut lists = one_list::all_codecs(&entries)?;
    let query = query_mb_s(lab, file, &mut *one_list::uncompressed(&entries), None)?;
    let (mut measured, mut codecs) = (vec![query], Vec::new());
    for list in &mut lists {
        measured.push(query_mb_s(lab, file, &mut **list, None)?);
        let bandwidths = Bandwidths {
            ratio: list.ratio(),
            query,
            decompression: one_list::decoding_mb_s(lab, &mut **list)?,
        };
        codecs.push((list.name(), bandwidths));
    }
    let together = codecs.iter().map(|(_, one)| one.result(f64::INFINITY));
    let calculated = [None].into_iter().chain(together.map(Some)).collect();
    let names = codecs.iter().map(|(name, _)| *name);
    let bandwidth = Figure {
        stem: "document-numbers-bandwidth",
        title: format!("Top-{TOP_COUNT} query for \"{word}\" over document numbers"),
        paper: Paper::SuperScalarCompression,
        number: "§6.4",
        chart: Chart::Bars,
        x: Axis::linear("list", ""),
        y: Axis::logarithmic("bandwidth of the query", "MB/s"),
        positions: Positions::labels(["uncompressed"].into_iter().chain(names)),
        series: vec![
            Series::new("query", SeriesOrigin::Measured, measured),
            Series {
                name: "equation 6.1, bound by the processor".to_owned(),
                origin: SeriesOrigin::Calculated,
                values: calculated,
            },
        ],
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            format!(
                "a list of {} occurrences, counted as 4 bytes each, in memory",
                entries.len()
            ),
            "not the paper's query: the list names documents, so there is no merge join; that is the topic postings"
                .to_owned(),
        ],
    };
    let mut by_io = equation_6_1(lab, &codecs);
    by_io.stem = "document-numbers-equation-6.1";
    by_io.notes.push(format!(
        "the query counts document numbers of one list, uncompressed at {query:.0} MB/s"
    ));
    Ok([bandwidth, by_io])
}
