//! Paper 2, §6.4: an inverted file, what codecs make of its lists, and a retrieval query over them.

pub mod codecs;
mod inverted_file;
mod lists;
mod query;
mod table;

pub use inverted_file::InvertedFile;
pub use lists::CompressedLists;
pub use query::{Hit, TopDocuments, top_documents};
pub use table::{table_6_2, top_n_bandwidth};

use crate::sample_text::made_up_text;
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};

/// Documents that the query returns.
const TOP_COUNT: usize = 10;

/// All of them. The lines of `text` are the documents; without it a text is made up.
pub fn figures(lab: &Lab, text: Option<&[u8]>) -> Result<Vec<Figure>, LabError> {
    let text = match text {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => made_up_text(64, lab.size(2 << 20, 1 << 15)),
    };
    let file = InvertedFile::build(&text)?;
    let (mut figures, speeds) = table_6_2(lab, &file)?;
    figures.extend(top_n_bandwidth(lab, &file, &speeds)?);
    figures.push(top_n_result(lab, &file)?);
    Ok(figures)
}

/// The answer of the query for the most frequent word.
pub fn top_n_result(lab: &Lab, file: &InvertedFile) -> Result<Figure, LabError> {
    let word = file.most_frequent();
    let lists = CompressedLists::new(file)?;
    let hits = top_documents(&lists, file, word, TOP_COUNT)?;
    let names: Vec<String> = hits
        .iter()
        .map(|hit| format!("line {}", hit.document + 1))
        .collect();
    let counts = hits.iter().map(|hit| f64::from(hit.occurrences)).collect();
    Ok(Figure {
        stem: "top-n-result",
        title: format!("Documents with the most occurrences of \"{word}\""),
        paper: Paper::SuperScalarCompression,
        number: "§6.4",
        chart: Chart::Bars,
        x: Axis::linear("document", ""),
        y: Axis::linear("occurrences", ""),
        positions: Positions::Labels(names),
        series: vec![Series::new("occurrences", SeriesOrigin::Measured, counts)],
        notes: vec![
            lab.machine().to_owned(),
            "among equals, earlier documents come first".to_owned(),
        ],
    })
}
