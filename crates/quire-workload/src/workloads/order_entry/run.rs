//! What do the users of a run share?

use super::cardinality::OrderEntryRows;
use crate::workloads::run_clock::{WorkloadClock, day_number};
use std::sync::atomic::{AtomicI64, Ordering};

/// A run: the rows that it began with, new keys and the time.
pub(super) struct OrderEntryRun {
    pub(super) rows: OrderEntryRows,
    pub(super) clock: WorkloadClock,
    pub(super) customer_ids: NewKeys,
    pub(super) address_ids: NewKeys,
    pub(super) card_ids: NewKeys,
    pub(super) order_ids: NewKeys,
    pub(super) logon_ids: NewKeys,
}

impl OrderEntryRun {
    pub(super) fn new(rows: OrderEntryRows) -> Self {
        Self {
            rows,
            // The day after the last one of generated rows, a hundredth of a second for each reading.
            clock: WorkloadClock::new(day_number(2012, 5, 10), 10_000),
            customer_ids: NewKeys::above(rows.customers),
            address_ids: NewKeys::above(rows.addresses),
            card_ids: NewKeys::above(rows.cards),
            order_ids: NewKeys::above(rows.orders),
            logon_ids: NewKeys::above(rows.logons),
        }
    }
}

/// Keys that no row has yet.
pub(super) struct NewKeys(AtomicI64);

impl NewKeys {
    fn above(greatest: i64) -> Self {
        Self(AtomicI64::new(greatest + 1))
    }

    pub(super) fn draw(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}
