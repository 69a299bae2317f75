//! What is the same for all rows of one execution, and what a row is.

use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use quire_tables::row_table::{TupleValue, Value};

use super::EvaluationError;

/// A row: values by the slots of [`Expression::Column`](super::Expression::Column). A slot that the row does not have is NULL.
pub type Row<'a> = &'a [TupleValue<'a>];

/// What is the same for all rows of one execution: the parameters, and the time.
#[derive(Debug)]
pub struct Environment<'a> {
    parameters: &'a [Value],
    now: Cell<Option<i64>>,
}

impl<'a> Environment<'a> {
    /// An execution with these values for the parameters `$1`, `$2` and so on.
    #[must_use]
    pub fn new(parameters: &'a [Value]) -> Self {
        Self {
            parameters,
            now: Cell::new(None),
        }
    }

    /// The same at that time, in microseconds since 1970.
    #[must_use]
    pub fn at(parameters: &'a [Value], now: i64) -> Self {
        Self {
            parameters,
            now: Cell::new(Some(now)),
        }
    }

    /// The value of a parameter, numbered from 0.
    ///
    /// # Errors
    /// There is none.
    #[inline]
    pub fn parameter(&self, number: usize) -> Result<&'a Value, EvaluationError> {
        let value = self.parameters.get(number);
        value.ok_or(EvaluationError::MissingParameter { number })
    }

    /// The time at which the execution asked first, in microseconds since 1970.
    pub fn now(&self) -> i64 {
        self.now.get().unwrap_or_else(|| {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let now = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
            self.now.set(Some(now));
            now
        })
    }
}
