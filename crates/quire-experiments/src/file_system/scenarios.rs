//! The workloads, and their shares of reads.

use quire_workload::Workload;
use quire_workload::workloads::calling_circle::CallingCircle;
use quire_workload::workloads::order_entry::OrderEntry;
use quire_workload::workloads::stress_test::StressTest;

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
            Self::OrderEntry => Box::new(OrderEntry::new(scale, seed)),
            Self::CallingCircle => Box::new(CallingCircle::new(scale, seed)),
            Self::StressTest => Box::new(StressTest::new(seed)),
        }
    }
}
