//! What do the users of a run share?

use super::parameters::ParameterStock;
use crate::workloads::run_clock::{WorkloadClock, day_number};
use std::sync::atomic::{AtomicI64, Ordering};

/// A run: parameters that are left, new ids and the time.
pub(super) struct CallingCircleRun {
    pub(super) stock: ParameterStock,
    pub(super) clock: WorkloadClock,
    /// Ids of new accounts and lines begin with the same number as in the original, beyond those of generated ones.
    next_account_id: AtomicI64,
    next_line_id: AtomicI64,
}

const FIRST_NEW_ID: i64 = 100_000_000;
/// Times are whole seconds, as in Oracle's DATE.
const TICK_US: i64 = 1_000_000;

impl CallingCircleRun {
    pub(super) fn new(stock: ParameterStock) -> Self {
        Self {
            stock,
            clock: WorkloadClock::new(day_number(2012, 5, 10), TICK_US),
            next_account_id: AtomicI64::new(FIRST_NEW_ID),
            next_line_id: AtomicI64::new(FIRST_NEW_ID),
        }
    }

    /// Ids of a new account and its line.
    pub(super) fn draw_ids(&self) -> [i64; 2] {
        [&self.next_account_id, &self.next_line_id].map(|next| next.fetch_add(1, Ordering::Relaxed))
    }
}
