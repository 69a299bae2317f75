//! What running programs has cost.

use std::time::Duration;

/// What was done, by an iterator alone or with its inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Fields of tuples that programs have decoded. Machine code does not count.
    pub(crate) decoded_fields: u64,
    pub(crate) time: Duration,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.decoded_fields += other.decoded_fields;
        self.time += other.time;
    }

    pub(crate) fn without(self, other: Tally) -> Tally {
        Tally {
            decoded_fields: self.decoded_fields.saturating_sub(other.decoded_fields),
            time: self.time.saturating_sub(other.time),
        }
    }
}
