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

    /// What it has done besides making rows; what it has nothing to do with is not named.
    fn counters(&self) -> Vec<(String, u64)> {
        let page_ns = u64::try_from(self.own.page_time.as_nanos()).unwrap_or(u64::MAX);
        let named = [
            ("fields decoded", self.own.decoded_fields, true),
            ("of them in kept rows", self.own.temporary_fields, false),
            ("ns in pages", page_ns, false),
        ];
        let named = named
            .into_iter()
            .filter(|(_, count, is_always)| *is_always || *count > 0);
        named
            .map(|(name, count, _)| (name.to_owned(), count))
            .collect()
    }
}

impl RegisterIterator for Counted {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let of_siblings = std::mem::take(&mut registers.of_inputs);
        let (before, started) = (registers.tally, Instant::now());
        let has_row = self.inner.next(registers);
        let all = Tally {
            time: started.elapsed(),
            ..registers.tally.without(before)
        };
        self.own.add(all.without(registers.of_inputs));
        registers.of_inputs = of_siblings;
        registers.of_inputs.add(all);
        self.call_count += 1;
        self.row_count += u64::from(matches!(has_row, Ok(true)));
        has_row
    }

    fn restart(&mut self) -> bool {
        self.inner.restart()
    }

    fn explain(&self, explanation: &mut Explanation) {
        let estimate = OperatorEstimate {
            row_count: self.row_estimate,
            cost_ns: Some(self.cost_ns),
        };
        let measured = (self.call_count > 0).then(|| MeasuredOperator {
            row_count: self.row_count,
            own_time: self.own.time,
            counters: self.counters(),
        });
        let spilling = self.spilling.as_ref().map(Spilling::shown);
        explanation.counts(estimate, measured, spilling.unwrap_or_default());
        self.inner.explain(explanation);
    }
}
