//! How long measuring may take.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use quire_kv::mvcc::Cancel;

use super::clock::AdvisorClock;

/// Whatever writers and readers fail with.
pub(super) type Failure = Box<dyn Error + Send + Sync>;

/// Why a choice was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// The budget was used up before or during its measurement.
    Budget,
    /// Whoever asked wants no more.
    Cancelled,
    /// It cannot keep these rows, as the writer or the reader says.
    Failed(String),
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget => f.write_str("no time was left; a larger budget measures it"),
            Self::Cancelled => f.write_str("the advice was cancelled"),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl From<Failure> for LeftOutReason {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.to_string())
    }
}

/// Asked between two steps of a measurement, none of which is interrupted.
pub(crate) struct MeasureBudget<'c> {
    clock: &'c dyn AdvisorClock,
    end: Option<Duration>,
    cancel: Option<&'c Cancel>,
}

impl<'c> MeasureBudget<'c> {
    /// From now on; `cancel` ends it as well.
    pub(crate) fn new(
        clock: &'c dyn AdvisorClock,
        budget: Duration,
        cancel: Option<&'c Cancel>,
    ) -> Self {
        Self {
            clock,
            end: Some(clock.now().saturating_add(budget)),
            cancel,
        }
    }

    /// The same clock without an end, for what has to be measured.
    pub(crate) fn without_end(&self) -> Self {
        Self { end: None, ..*self }
    }

    pub(crate) fn clock(&self) -> &'c dyn AdvisorClock {
        self.clock
    }

    /// Whether the next step may begin.
    pub(crate) fn check(&self) -> Result<(), LeftOutReason> {
        if self.cancel.is_some_and(|cancel| cancel()) {
            return Err(LeftOutReason::Cancelled);
        }
        if self.end.is_some_and(|end| self.clock.now() >= end) {
            return Err(LeftOutReason::Budget);
        }
        Ok(())
    }
}
