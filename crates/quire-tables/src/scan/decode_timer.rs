//! How long decoding takes, at a cost that does not show.
//!
//! A vector of 1,024 packed integers is decoded in some hundred nanoseconds; two readings of the clock take some forty. So of the calls that handle
//! one vector the first is measured, which may set up a dictionary, and of the others one in eight, which stands for eight.

use std::time::Instant;

use crate::scan_statistics::nanoseconds;

/// Calls that one that is measured stands for.
const SAMPLED_CALLS: u64 = 8;

/// The time that one column of a row group took to decode.
#[derive(Default)]
pub(super) struct DecodeTimer {
    calls: u64,
    pub(super) decode_ns: u64,
    pub(super) decoded_bytes: u64,
}

/// A call that is measured.
pub(super) struct TimedDecode {
    start: Instant,
    weight: u64,
}

impl DecodeTimer {
    /// Begins a call that handles one vector; `None` if it is not measured.
    pub(super) fn begin_vector(&mut self) -> Option<TimedDecode> {
        let call = self.calls;
        self.calls += 1;
        let weight = match call {
            0 => 1,
            call if call % SAMPLED_CALLS == SAMPLED_CALLS / 2 => SAMPLED_CALLS,
            _ => return None,
        };
        let start = Instant::now();
        Some(TimedDecode { start, weight })
    }

    /// Begins a call that handles a vector group: it is measured.
    pub(super) fn begin_group() -> TimedDecode {
        TimedDecode {
            start: Instant::now(),
            weight: 1,
        }
    }

    /// Ends a call that made values of that length.
    pub(super) fn end(&mut self, timed: Option<TimedDecode>, decoded_bytes: usize) {
        self.decoded_bytes += decoded_bytes as u64;
        if let Some(timed) = timed {
            let elapsed_ns = nanoseconds(timed.start.elapsed());
            self.decode_ns += elapsed_ns.saturating_mul(timed.weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_calls_stand_for_all() {
        let mut timer = DecodeTimer::default();
        let weights = (0..8_001).filter_map(|_| timer.begin_vector());
        let sum: u64 = weights.map(|timed| timed.weight).sum();
        assert_eq!(sum, 8_001);
    }

    #[test]
    fn a_few_calls_are_not_taken_for_many() {
        for calls in 1..=8 {
            let mut timer = DecodeTimer::default();
            let weights = (0..calls).filter_map(|_| timer.begin_vector());
            let sum: u64 = weights.map(|timed| timed.weight).sum();
            assert!(sum <= 9, "{calls} calls count as {sum}");
        }
    }
}
