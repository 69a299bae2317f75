//! The workloads, and their shares of reads.

use quire_workload::Workload;
use quire_workload::workloads::calling_circle::CallingCircle;
use quire_workload::workloads::order_entry::{OrderEntry, OrderEntryRows};
use quire_workload::workloads::stress_test::StressTest;

/// Rows of Order Entry below scale 1: there are fewer warehouses, too, so that stocks are as much of the data as at scale 1.
fn order_entry_rows(scale: f64) -> OrderEntryRows {
    let rows = OrderEntryRows::of_scale(scale);
    let warehouses = (rows.warehouses as f64 * scale).round() as i64;
    OrderEntryRows {
        warehouses: warehouses.clamp(10, rows.warehouses),
        ..rows
    }
}

/// A workload of paper 5 (table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionScenario {
    OrderEntry,
    CallingCircle,
    StressTest,
}

impl TransactionScenario {
    /// In the order of the paper's tables.
    pub const ALL: [Self; 3] = [Self::OrderEntry, Self::CallingCircle, Self::StressTest];

    /// As figures name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OrderEntry => "Order Entry",
            Self::CallingCircle => "Calling Circle",
            Self::StressTest => "Stress Test",
        }
    }

    /// Its place in [`Self::ALL`].
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Reads and writes of 100 accesses, as the paper says (table 1).
    pub(crate) fn paper_shares(self) -> &'static str {
        match self {
            Self::OrderEntry => "60/40",
            Self::CallingCircle => "70/30",
            Self::StressTest => "50/50",
        }
    }

    /// The workload at a scale.
    pub(crate) fn workload(self, scale: f64, seed: u64) -> Box<dyn Workload> {
        match self {
            Self::OrderEntry => Box::new(OrderEntry::with_rows(order_entry_rows(scale), seed)),
            Self::CallingCircle => Box::new(CallingCircle::new(scale, seed)),
            Self::StressTest => Box::new(StressTest::new(seed)),
        }
    }
}
