//! Which layout and which codecs suit a user's data on this machine?
//!
//! The caller hands in some rows and facts of the whole ([`SampledTable`]). [`advise`] writes the rows by the real writers in every way that a user can
//! set, reads them by the real readers, predicts what each way costs for the whole table, and ranks the ways by the user's weights. It knows no SQL parser,
//! no planner and no files.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
//! use quire_advisor::{
//!     AdviceRequest, AdviceWeights, DemandedCodecs, MachineClock, SampleColumn, SampleDrawing, SampleOrigin, SampledTable, StorageChoice,
//!     WholeRowCount, advise_between, device_named,
//! };
//! use quire_tables::{SqlType, TableOptions};
//!
//! let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..500));
//! let states: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..500).map(|i| ["open", "closed"][i % 2])));
//! let column = |name: &str, sql_type| SampleColumn { name: name.to_owned(), sql_type, is_nullable: false };
//! let sample = SampledTable {
//!     name: "ticket".to_owned(),
//!     columns: vec![column("id", SqlType::BigInt), column("state", SqlType::Text)],
//!     pieces: vec![RecordBatch::try_from_iter([("id", ids), ("state", states)])?],
//!     whole_rows: WholeRowCount::Estimated { rows: 1_000_000, source: "the length of the file".to_owned() },
//!     primary_key: vec![0],
//!     drawing: SampleDrawing::Pieces,
//!     origin: SampleOrigin::File { path: "ticket.csv".to_owned() },
//! };
//! // `advise` takes all choices; here there are three. The first is what the others are compared with.
//! let choices = [
//!     StorageChoice::uncompressed_rows(),
//!     StorageChoice::rows(TableOptions::default()),
//!     StorageChoice::columns(DemandedCodecs::Chosen),
//! ];
//! let request = AdviceRequest {
//!     weights: AdviceWeights { size: 3.0, read: 2.0, ..AdviceWeights::default() },
//!     device: device_named("nvme")?,
//!     ..AdviceRequest::default()
//! };
//! let advice = advise_between(&sample, &choices, &request, &MachineClock::default())?;
//! let best = &advice.choices[0];
//! assert_eq!(best.rank.rank, Some(1));
//! println!("{}\n{}\n{}", best.explanation[0], best.explanation[1], best.statements.join(";\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod advise;
mod candidates;
mod choices;
mod distinct_values;
mod error;
mod explain;
mod measure;
mod predict;
mod quantity;
mod rank;
mod sampled_table;
mod statements;

pub use advise::{
    AdviceRequest, AdvisedChoice, CompressionAdvice, LeftOutChoice, advise, advise_between,
    device_named,
};
pub use candidates::{ChoiceScope, candidates};
pub use choices::{ChosenLayout, DemandedCodecs, StorageChoice};
pub use error::AdvisorError;
pub use measure::{AdvisorClock, ChoiceMeasurement, LeftOutReason, MachineClock};
pub use predict::ChoicePrediction;
pub use rank::{AdviceWeights, ChoiceRank, CriterionValues, ReadKind};
pub use sampled_table::{SampleColumn, SampleDrawing, SampleOrigin, SampledTable, WholeRowCount};
