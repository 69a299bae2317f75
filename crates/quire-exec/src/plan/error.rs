//! Why a row has an error instead of a value.

use super::{IntegerWidth, Operator};

/// Bytes of the longest text that an expression makes, as in PostgreSQL.
pub const VALUE_BYTES_MAX: usize = (1 << 30) - 1;

/// Why an expression has no value for a row.
///
/// It is small, since every result of every node has room for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The divisor of integers, floats or decimals is zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A result does not fit the 64 or 128 bits that values are held in.
    #[error("value out of range: {0}")]
    Overflow(Box<OverflowError>),
    /// A result is no integer of its type.
    #[error("{} out of range; cast an operand to a wider type", .0.sql_name())]
    IntegerOutOfRange(IntegerWidth),
    /// A result has more digits than a decimal can have.
    #[error("decimal out of range: the result has more than 38 digits")]
    DecimalOutOfRange,
    /// The execution was given too few values.
    #[error("there is no value for parameter ${}", .number + 1)]
    MissingParameter {
        /// Number of the parameter, from 0.
        number: usize,
    },
    /// A text would have more than [`VALUE_BYTES_MAX`] bytes.
    #[error("the value is too large")]
    TooLarge,
    /// Bytes that should be text are not UTF-8.
    #[error("a stored text is not UTF-8")]
    NotText,
    /// What a [`ScalarFunction`](super::ScalarFunction) reports.
    #[error("{0}")]
    Function(Box<FunctionError>),
}

/// The operation whose result did not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{left} {} {right}", .operator.sign())]
pub struct OverflowError {
    /// The operator.
    pub operator: Operator,
    /// Its left side, for decimals without the point.
    pub left: i128,
    /// Its right side, for decimals without the point.
    pub right: i128,
}

/// An error in the words of the room that a function comes from, handed through unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// Code of the SQL standard and PostgreSQL, five characters.
    pub sqlstate: &'static str,
    /// What went wrong.
    pub message: String,
    /// Facts that help to find the cause.
    pub detail: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
}

impl EvaluationError {
    /// A sum of finite floats that is none.
    #[cold]
    pub(crate) fn float_overflow() -> Self {
        Self::Function(Box::new(FunctionError {
            sqlstate: "22003",
            message: "value out of range: overflow".to_owned(),
            detail: None,
            hint: None,
        }))
    }

    #[cold]
    pub(crate) fn overflow(operator: Operator, left: i128, right: i128) -> Self {
        Self::Overflow(Box::new(OverflowError {
            operator,
            left,
            right,
        }))
    }
}
