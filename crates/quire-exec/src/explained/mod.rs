//! What `EXPLAIN` shows of a query: a tree of operators, which both executors describe themselves by.

mod text;

use std::time::Duration;

/// An operator, what is expected of it, what it did, and its inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExplainedOperator {
    /// Its kind, and the table that it reads: `hash join`, `scan of part by part_pkey`.
    pub heading: String,
    /// What it does in particular, a line each: keys, conditions, programs.
    pub details: Vec<String>,
    pub estimate: Option<OperatorEstimate>,
    /// Nothing of an operator that has not run.
    pub measured: Option<MeasuredOperator>,
    /// What else there is to say of the expectation and the run, such as how it spills.
    pub remarks: Vec<String>,
    pub inputs: Vec<ExplainedOperator>,
}

/// What is expected of an operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatorEstimate {
    pub row_count: f64,
    /// What making its rows costs in nanoseconds, inputs included.
    pub cost_ns: Option<f64>,
}

/// What an operator did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredOperator {
    pub row_count: u64,
    /// The processor time of the operator without its inputs, all threads together.
    pub own_time: Duration,
    /// What it counted, by names such as `bytes read`.
    pub counters: Vec<(String, u64)>,
}

impl ExplainedOperator {
    /// An operator of which only the kind is known so far.
    #[must_use]
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            ..Self::default()
        }
    }
}
