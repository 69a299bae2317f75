//! Errors of expressions and of the tuple engine, in the words of the general path; and its errors, handed through an expression.

use datafusion::arrow::error::ArrowError;
use quire_exec::avm::{Trap, TrapReason};
use quire_exec::plan::{EvaluationError, FunctionError};
use quire_exec::tuple::{LowerError, TupleQueryError};

use super::Error;
use super::from_planner::no_parameter;

impl From<EvaluationError> for Error {
    #[cold]
    fn from(error: EvaluationError) -> Self {
        match error {
            EvaluationError::DivisionByZero => Error::from(ArrowError::DivideByZero),
            EvaluationError::Overflow(operation) => {
                let text = format!("Overflow happened on: {operation}");
                Error::from(ArrowError::ArithmeticOverflow(text))
            }
            EvaluationError::IntegerOutOfRange(width) => {
                Error::integer_out_of_range(width.sql_name())
            }
            EvaluationError::DecimalOutOfRange => Error::decimal_out_of_range(),
            EvaluationError::MissingParameter { number } => {
                no_parameter(&format!("${}", number + 1))
            }
            EvaluationError::TooLarge => Error::value_too_large(),
            EvaluationError::NotText => Error::new("XX001", error.to_string()),
            EvaluationError::Function(function) => Error {
                sqlstate: function.sqlstate,
                message: function.message,
                detail: function.detail,
                hint: function.hint,
                position: None,
                record_line: None,
            },
        }
    }
}

impl From<Error> for EvaluationError {
    /// A function has no place in the statement's text, so no position is lost.
    #[cold]
    fn from(error: Error) -> Self {
        Self::Function(Box::new(FunctionError {
            sqlstate: error.sqlstate,
            message: error.message,
            detail: error.detail,
            hint: error.hint,
        }))
    }
}

impl From<Trap> for Error {
    fn from(trap: Trap) -> Self {
        let sqlstate = match trap.into_reason() {
            TrapReason::Evaluation(error) => return error.into(),
            TrapReason::Row(error) => return error.into(),
            TrapReason::Cancelled => return Error::cancelled(),
            reason => (sqlstate_of(&reason), reason.to_string()),
        };
        Error::new(sqlstate.0, sqlstate.1)
    }
}

fn sqlstate_of(reason: &TrapReason) -> &'static str {
    match reason {
        TrapReason::SumOutOfRange(_) => "22003",
        TrapReason::TextTooLong | TrapReason::TooLarge => "54000",
        _ => "XX000",
    }
}

impl From<TupleQueryError> for Error {
    fn from(error: TupleQueryError) -> Self {
        match error {
            TupleQueryError::Trap(trap) | TupleQueryError::Build(LowerError::Trap(trap)) => {
                trap.into()
            }
            TupleQueryError::Rows => Error::new("21000", error.to_string()),
            TupleQueryError::Build(LowerError::Count) => Error::new("2201W", error.to_string()),
            _ => Error::new("0A000", error.to_string()),
        }
    }
}
