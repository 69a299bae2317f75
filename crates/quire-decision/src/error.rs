//! Why there is no ranking, and the limits beyond which one would mean nothing.

use crate::consistency::RANDOM_INDEX;

/// The largest number of rows of a [`PairwiseMatrix`](crate::PairwiseMatrix): Saaty's random indexes end there.
pub const MATRIX_ROWS_MAX: usize = RANDOM_INDEX.len();

/// The largest ratio of two things that are compared. No measurement is so exact that a larger one means anything.
pub const RATIO_MAX: f64 = 1e12;

/// How far the product of two opposite comparisons may be from 1: 1/7 may be written as 0.143.
pub(crate) const RECIPROCAL_TOLERANCE: f64 = 0.005;

/// How far the sum of weights that are taken as they are may be from 1: three times 0.333, as in paper 5, is 0.999.
pub(crate) const WEIGHT_SUM_TOLERANCE: f64 = 0.01;

/// Why a matrix or a hierarchy has no priorities. Rows, columns and places count from 1, as people count.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// A matrix without rows.
    #[error("the matrix has no rows; give one row for each thing that is compared")]
    NoRows,
    /// A row is longer or shorter than the matrix is high.
    #[error(
        "row {row} has {columns} comparisons, but the matrix has {rows} rows; give each row {rows}"
    )]
    NotSquare {
        /// The row.
        row: usize,
        /// Its comparisons.
        columns: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// Saaty gives no random index for so many rows.
    #[error(
        "a matrix of {rows} rows is larger than {MATRIX_ROWS_MAX}, the largest with a random index; leave some out, or give measured \
         values in place of judgements"
    )]
    TooManyRows {
        /// Rows of the matrix.
        rows: usize,
    },
    /// A comparison is not finite, not positive, or too extreme.
    #[error("row {row}, column {column} is {value}; give a ratio from {:e} to {RATIO_MAX:e}, of judgements one from 1/9 to 9", 1.0 / RATIO_MAX)]
    NoRatio {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The comparison.
        value: f64,
    },
    /// Something is compared with itself, and is not equal.
    #[error("row {row}, column {row} is {value}; give 1, as it compares a thing with itself")]
    DiagonalNotOne {
        /// The row, and the column.
        row: usize,
        /// The comparison.
        value: f64,
    },
    /// Two comparisons of the same pair contradict each other.
    #[error(
        "row {row}, column {column} is {value}, but the opposite comparison is {opposite}; give 1/{value} there, with three digits at least"
    )]
    NotReciprocal {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The comparison.
        value: f64,
        /// The comparison in the same column's row and the same row's column.
        opposite: f64,
    },
    /// The judgements contradict each other so strongly that the power iteration finds no eigenvector in its number of steps.
    #[error(
        "the priorities do not converge in {steps} steps, because the comparisons contradict each other; where a exceeds b, and b exceeds c, \
         let a exceed c"
    )]
    NotConverged {
        /// Steps that were taken.
        steps: usize,
    },
    /// A hierarchy without alternatives.
    #[error("there are no alternatives; name one at least")]
    NoAlternatives,
    /// A hierarchy without benefits.
    #[error("there are no benefits; give one criterion at least by which more is better")]
    NoBenefits,
    /// The number of values, or the size of a matrix, is not that of what is compared.
    #[error("{of}: {given} are given for {needed}; give one for each")]
    WrongCount {
        /// The criterion, or the weights of a group.
        of: String,
        /// Values, weights, or rows of the matrix.
        given: usize,
        /// Alternatives, or criteria of the group.
        needed: usize,
    },
    /// A value or a weight is infinite or not a number.
    #[error("{of}: value {place} is {value}; leave out what was not measured")]
    NotFinite {
        /// The criterion, or the weights of a group.
        of: String,
        /// Which value.
        place: usize,
        /// The value.
        value: f64,
    },
    /// A measured value is 0 or negative, so it has no ratio to others.
    #[error(
        "{of}: value {place} is {value}, and a ratio needs positive values; measure on a scale that begins at 0, or give percentages of change"
    )]
    NotPositive {
        /// The criterion, or the values of a matrix.
        of: String,
        /// Which value.
        place: usize,
        /// The value.
        value: f64,
    },
    /// A percentage of change is -100 or less, so that 100 + it has no ratio to others.
    #[error(
        "{of}: value {place} is {value} %, and 100 % + it is not positive; give measured values in place of percentages"
    )]
    PercentageTooLow {
        /// The criterion.
        of: String,
        /// Which value.
        place: usize,
        /// The value, in per cent.
        value: f64,
    },
    /// The largest value is more than [`RATIO_MAX`] times the smallest.
    #[error(
        "{of}: {largest:e} is more than {RATIO_MAX:e} times {smallest:e}; give a difference below the accuracy of the measurement as 0 % of change"
    )]
    TooFarApart {
        /// The criterion, or the values of a matrix.
        of: String,
        /// The smallest value.
        smallest: f64,
        /// The largest value.
        largest: f64,
    },
    /// A weight is negative.
    #[error("{of}: weight {place} is {value}; give a weight of 0 or more")]
    NegativeWeight {
        /// The weights of a group.
        of: String,
        /// Which weight.
        place: usize,
        /// The weight.
        value: f64,
    },
    /// All weights are 0.
    #[error("{of} are all 0; give one criterion a weight above 0")]
    NoWeight {
        /// The weights of a group.
        of: String,
    },
    /// Weights that are to be taken as they are do not sum to 1.
    #[error(
        "{of} sum to {sum}, not to 1 within {WEIGHT_SUM_TOLERANCE}; divide them by their sum, or give them as ratios"
    )]
    WeightSum {
        /// The weights of a group.
        of: String,
        /// Their sum.
        sum: f64,
    },
}
