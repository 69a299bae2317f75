//! What can be wrong with a request for advice.

use quire_decision::DecisionError;
use thiserror::Error;

/// Why there is no advice.
#[derive(Debug, Error)]
pub enum AdvisorError {
    /// Nothing to choose from.
    #[error("no choices were named; name one at least, with which the others are compared")]
    NoChoices,
    /// The table has no columns.
    #[error("a table without columns cannot be kept in any way; name one column at least")]
    NoColumns,
    /// A column of the key is not there.
    #[error("the primary key names column {column} of {columns}, counted from 0; name one of them")]
    KeyColumn {
        /// As it was named.
        column: usize,
        /// Number of columns.
        columns: usize,
    },
    /// Rows in other types than those of the columns.
    #[error(
        "piece {piece} of the sample, counted from 0, has other columns than the table; read it in their Arrow types"
    )]
    PieceColumns {
        /// Which batch.
        piece: usize,
    },
    /// The sample does not go with the number of rows.
    #[error(
        "{sampled} sampled rows of {whole}; sample some rows of a table that has any, none twice, and all if the drawing is to be whole"
    )]
    TooFewRows {
        /// Rows of the sample.
        sampled: u64,
        /// Rows of the whole.
        whole: u64,
    },
    /// A device that nobody has described.
    #[error("no device is called {name:?}; use one of {known}")]
    UnknownDevice {
        /// As it was named.
        name: String,
        /// Names, separated by commas.
        known: String,
    },
    /// Not even the choice that the others are compared with could be measured.
    #[error(
        "the table as it is, which all is compared with, cannot be written: {reason}; mend the rows of the sample, or its columns"
    )]
    Baseline {
        /// What the writer said.
        reason: String,
    },
    /// It was cancelled before anything was measured.
    #[error("the advice was cancelled before anything was measured; ask again")]
    Cancelled,
    /// Weights, or measurements, of which no order follows.
    #[error("the choices cannot be ranked: {0}")]
    Ranking(#[from] DecisionError),
}
