//! Which layout and which codecs suit a user's data on this machine?
#![forbid(unsafe_code)]

mod advise;
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
pub use choices::{ChoiceScope, ChosenLayout, ColumnCodecs, StorageChoice, candidates};
pub use error::AdvisorError;
pub use measure::{AdvisorClock, ChoiceMeasurement, LeftOutReason, MachineClock};
pub use predict::ChoicePrediction;
pub use rank::{AdviceWeights, ChoiceRank, CriterionValues, ReadKind};
pub use sampled_table::{SampleColumn, SampleDrawing, SampleOrigin, SampledTable, WholeRowCount};
