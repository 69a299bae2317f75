//! What running programs has cost.

use std::time::Duration;

/// What was done, by an iterator alone or with its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Fields of tuples that programs have decoded. Machine code does not count.
    pub(crate) decoded_fields: u64,
    /// Those of them that were not of a table, but of rows that iterators keep.
    pub(crate) temporary_fields: u64,
    /// Finding pages of tables and copying their rows.
    pub(crate) page_time: Duration,
    /// All, pages included.
    pub(crate) time: Duration,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.decoded_fields += other.decoded_fields;
        self.temporary_fields += other.temporary_fields;
        self.page_time += other.page_time;
        self.time += other.time;
    }

    pub(crate) fn without(self, other: Tally) -> Tally {
        Tally {
            decoded_fields: self.decoded_fields.saturating_sub(other.decoded_fields),
            temporary_fields: self.temporary_fields.saturating_sub(other.temporary_fields),
            page_time: self.page_time.saturating_sub(other.page_time),
            time: self.time.saturating_sub(other.time),
        }
    }
}
