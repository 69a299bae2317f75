//! Paper 2, §6.4: an inverted file, what codecs make of its lists, and a retrieval query over them.

pub mod codecs;
mod collections;
mod document_numbers;
mod inverted_file;
mod lists;
mod one_list;
mod query;
mod retrieval;
mod table;

pub use inverted_file::{InvertedFile, PostingUnit};
pub use lists::CompressedLists;
pub use query::{Hit, top_documents};

use crate::sample_text::made_up_text;
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use table::{NamedFile, TABLE_6_2, codec_table};

/// Documents that the query returns.
const TOP_COUNT: usize = 10;
/// The series of a text of the user's.
const THIS_TEXT: &str = "this text";

/// Table 6.2 and the query over word positions: over the lines of `text` as documents, and over collections that are drawn
/// like the paper's.
pub(crate) fn figures(lab: &Lab, text: Option<&[u8]>) -> Result<Vec<Figure>, LabError> {
    let mut files = Vec::new();
    if let Some(text) = text {
        let text = String::from_utf8_lossy(text);
        let file = InvertedFile::build(&text, PostingUnit::WordPositions)?;
        files.push((THIS_TEXT, file));
    }
    files.extend(retrieval::drawn_files(lab)?);
    let named: Vec<NamedFile<'_>> = files.iter().map(|(name, file)| (*name, file)).collect();
    let mut figures = codec_table(lab, &named, TABLE_6_2)?;
    for figure in &mut figures {
        figure.notes.push(drawn_note(lab));
    }
    figures.extend(retrieval::figures(lab, &named)?);
    if let Some((_, file)) = named.first() {
        figures.push(result_figure(lab, "retrieval-result", file)?);
    }
    Ok(figures)
}

/// Codecs and counting over lists of document numbers. The lines of `text` are the documents; without it a text is made up.
pub(crate) fn document_number_figures(
    lab: &Lab,
    text: Option<&[u8]>,
) -> Result<Vec<Figure>, LabError> {
    let unit = PostingUnit::DocumentNumbers;
    let (name, file) = match text {
        Some(text) => {
            let text = String::from_utf8_lossy(text);
            (THIS_TEXT, InvertedFile::build(&text, unit)?)
        }
        None => {
            let text = made_up_text(64, lab.size(2 << 20, 1 << 15));
            ("a made-up text", InvertedFile::build(&text, unit)?)
        }
    };
    document_numbers::figures(lab, name, &file)
}

fn drawn_note(lab: &Lab) -> String {
    format!(
        "the collections named \"like …\" are drawn: one document for every {} of the paper's, words with Zipf's \
         frequencies, a quarter of them repeated from their document; the paper's own are not free",
        collections::documents_per_drawn(lab)
    )
}

/// The answer of the query for the most frequent word.
fn result_figure(lab: &Lab, stem: &'static str, file: &InvertedFile) -> Result<Figure, LabError> {
    let word = file.most_frequent();
    let lists = CompressedLists::new(file)?;
    let hits = top_documents(&lists, file, word, TOP_COUNT)?;
    let names: Vec<String> = hits
        .iter()
        .map(|hit| format!("line {}", hit.document + 1))
        .collect();
    let counts = hits.iter().map(|hit| f64::from(hit.occurrences)).collect();
    Ok(Figure {
        stem,
        title: format!("Documents with the most occurrences of \"{word}\""),
        paper: Paper::SuperScalarCompression,
        number: "§6.4",
        chart: Chart::Bars,
        x: Axis::linear("document", ""),
        y: Axis::linear("occurrences", ""),
        positions: Positions::Labels(names),
        series: vec![Series::new("occurrences", SeriesOrigin::Measured, counts)],
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            "among equals, earlier documents come first".to_owned(),
        ],
    })
}
