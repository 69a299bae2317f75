//! What an iterator was expected to do, and what it did: `EXPLAIN ANALYZE`.

use std::time::Instant;

use super::lower::Spilling;
use super::{Explanation, RegisterIterator};
use crate::avm::{RegisterSet, Tally, Trap};
use crate::explained::{MeasuredOperator, OperatorEstimate};

/// An iterator whose rows are counted, and the time and the fields that it, and not its inputs, needs for them.
pub(super) struct Counted {
    inner: Box<dyn RegisterIterator>,
    /// How many rows were expected, and what making them was to cost, in nanoseconds, inputs included.
    row_estimate: f64,
    cost_ns: f64,
    spilling: Option<Spilling>,
    row_count: u64,
    call_count: u64,
    own: Tally,
}

impl Counted {
    pub(super) fn new(
        inner: Box<dyn RegisterIterator>,
        (row_estimate, cost_ns): (f64, f64),
        spilling: Option<Spilling>,
    ) -> Self {
        Self {
            inner,
            row_estimate,
            cost_ns,
            spilling,
            row_count: 0,
            call_count: 0,
            own: Tally::default(),
        }
    }
}

impl RegisterIterator for Counted {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let of_siblings = std::mem::take(&mut registers.of_inputs);
        let (fields_before, started) = (registers.decoded_fields, Instant::now());
        let has_row = self.inner.next(registers);
        let all = Tally {
            decoded_fields: registers.decoded_fields - fields_before,
            time: started.elapsed(),
        };
        self.own.add(all.without(registers.of_inputs));
        registers.of_inputs = of_siblings;
        registers.of_inputs.add(all);
        self.call_count += 1;
        self.row_count += u64::from(matches!(has_row, Ok(true)));
        has_row
    }

    fn explain(&self, explanation: &mut Explanation) {
        let estimate = OperatorEstimate {
            row_count: self.row_estimate,
            cost_ns: Some(self.cost_ns),
        };
        let measured = (self.call_count > 0).then(|| MeasuredOperator {
            row_count: self.row_count,
            own_time: self.own.time,
            counters: vec![("fields decoded".to_owned(), self.own.decoded_fields)],
        });
        let spilling = self.spilling.as_ref().map(Spilling::shown);
        explanation.counts(estimate, measured, spilling.unwrap_or_default());
        self.inner.explain(explanation);
    }
}
