//! Answers that must not depend on how tables are stored.

use crate::tpcd::BenchmarkFailure;
use crate::tpcd::warehouse::CsvAnswer;

/// The answers of one query.
pub(crate) struct AnswerComparison {
    query: &'static str,
    first: Option<CsvAnswer>,
}

impl AnswerComparison {
    pub(crate) fn new(query: &'static str) -> Self {
        Self { query, first: None }
    }

    /// Compares an answer with the first one.
    ///
    /// # Errors
    /// When it has other rows.
    pub(crate) fn check(&mut self, answer: &CsvAnswer) -> Result<(), BenchmarkFailure> {
        match &self.first {
            None => {
                self.first = Some(answer.clone());
                Ok(())
            }
            Some(first) if first.has_rows_of(answer) => Ok(()),
            Some(_) => Err(BenchmarkFailure::Answers { query: self.query }),
        }
    }
}
