//! What do the figures of the papers look like on this machine?
//!
//! Each experiment measures the codecs of `quire-codec` again as a paper did, or calculates by its model, and returns [`Figure`]s: series of
//! points, beside them what the paper prints as numbers, and [`Verdict`]s on what it claims. [`render`] writes a figure as text,
//! CSV or SVG, and a [`LabReport`] of many as one page of HTML; a [`FigurePage`] is a page of figures that are of no paper.
//! Nothing here reads or writes a file except for the name of the processor.
//!
//! ```
//! use quire_lab::{MeasureEffort, Experiment, Lab, render};
//!
//! let lab = Lab::new(MeasureEffort::Quick);
//! let figure = quire_lab::codecs::figure_6_6(&lab)?;
//! assert!(render::text(&figure).contains("exception rate"));
//! # Ok::<(), quire_lab::LabError>(())
//! ```
#![forbid(unsafe_code)]

mod claims;
mod clock;
pub mod codecs;
mod counters;
mod device;
mod dual_format;
mod evaluated_table;
mod figure;
mod iterator_models;
mod leaves;
mod length_decoding;
mod machine;
pub mod page_model;
pub mod postings;
mod random;
pub mod render;
mod report;
mod sample_text;
mod sectors;
mod stored;
pub mod streams;
pub mod super_scalar;
pub mod transforms;
mod uncompressed_tuples;
mod universal_table;
mod verdict;
mod whole_tuples;

pub use claims::{PACKED_TUPLES, judge};
pub use clock::{Lab, MeasureEffort};
pub use codecs::equation::{Bandwidths, decompression_needed, equation_6_1};
pub use evaluated_table::{
    EVALUATED_NUMBERS, EVALUATED_STRING_BYTES, EvaluatedRow, EvaluatedRows, EvaluatedWords,
    evaluated_keys, ratios_of_the_paper,
};
pub use figure::{Axis, AxisScale, Chart, Figure, Paper, Positions, Series, SeriesOrigin};
pub use report::{FigurePage, LabReport, PageTable, ReportTopic, TopicState};
pub use sample_text::made_up_text;
pub use universal_table::UniversalTable;
pub use verdict::{Verdict, VerdictCase, VerdictOutcome};

use crate::postings::codecs::GapsError;
use crate::super_scalar::SegmentError;
use quire_codec::block::CodecOpenError;
use quire_codec::transform::TransformError;
use quire_codec::{Corrupt, EncodeError};

/// A group of figures that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Paper 2: figures 6.2, 6.4, 6.5, 6.6, 6.7, equation 6.1 and access to one value.
    Codecs,
    /// Paper 3: figures 4, 5, 7, 8, 9.
    Transforms,
    /// Paper 3: figure 11.
    DualFormat,
    /// Paper 2: table 6.2 and the retrieval query of §6.4, over word positions.
    Postings,
    /// Beside paper 2: codecs and counting over lists of document numbers, which need no join.
    DocumentNumbers,
    /// Paper 1: decoding tables, §3.3.3, whole tuples, §5.3, and tuples without compression, §4.3.
    LengthDecoding,
    /// Paper 1: classic and extended iterators, §4.1.1.
    IteratorModels,
    /// Paper 4: table VII and figures 3 and 4, calculated by its model.
    PageModel,
}

impl Experiment {
    /// Measures all figures. `texts` are the user's: the strings of figure 9, for each column of one of them, or, one after the other,
    /// the words of figure 11, the documents of the inverted file, one on each line, or the pages of [`Experiment::PageModel`]. Without any,
    /// texts are made up. Those of paper 1 and [`Experiment::Codecs`] need none.
    ///
    /// # Errors
    /// When a text is of no use, or a codec fails.
    pub fn run(self, lab: &Lab, texts: &[&[u8]]) -> Result<Vec<Figure>, LabError> {
        let mut figures = self.measured(lab, texts)?;
        claims::judge(&mut figures);
        Ok(figures)
    }

    fn measured(self, lab: &Lab, texts: &[&[u8]]) -> Result<Vec<Figure>, LabError> {
        let joined = texts.concat();
        let text = (!texts.is_empty()).then_some(joined.as_slice());
        match self {
            Self::Codecs => codecs::figures(lab),
            Self::Transforms => transforms::figures(lab, texts),
            Self::DualFormat => dual_format::figures(lab, text),
            Self::Postings => postings::figures(lab, text),
            Self::DocumentNumbers => postings::document_number_figures(lab, text),
            Self::LengthDecoding => {
                let mut figures = length_decoding::figures(lab)?;
                figures.push(whole_tuples::figure(lab)?);
                figures.push(uncompressed_tuples::figure(lab)?);
                Ok(figures)
            }
            Self::IteratorModels => iterator_models::figures(lab),
            Self::PageModel => page_model::figures(lab, text),
        }
    }
}

/// Why a figure could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    #[error("the text has no words; name a file of text with one document on each line")]
    NoWords,
    #[error("{count} words are more than the {limit} of one segment; name a smaller text")]
    TooManyPostings { count: usize, limit: usize },
    #[error(
        "more than {limit} lines are more documents than a list can number; name a smaller text"
    )]
    TooManyDocuments { limit: usize },
    #[error("the text is empty; name a file of text")]
    EmptyText,
    #[error("{codec} did not give back what was encoded; report this as a defect")]
    NotRestored { codec: String },
    #[error("the codecs refuse the sample: {0}")]
    Segment(#[from] SegmentError),
    #[error("the codecs refuse the sample: {0}")]
    Encode(#[from] EncodeError),
    #[error("the codecs refuse the sample: {0}")]
    Gaps(#[from] GapsError),
    #[error("a block codec cannot be had: {0}")]
    Open(#[from] CodecOpenError),
    #[error("rows do not become pages: {0}")]
    Pages(String),
    #[error("a page cannot be transformed: {0}")]
    Transform(#[from] TransformError),
    #[error("encoded bytes cannot be decoded; report this as a defect: {0}")]
    Corrupt(#[from] Corrupt),
}
