//! Why a run ends without a result.

use super::options::RunOptionsError;
use crate::{SessionError, TargetError};

/// Why a run ends without a result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Options(#[from] RunOptionsError),
    #[error("user {user} does not get a session: {error}")]
    Connect { user: u32, error: TargetError },
    #[error("{0}")]
    Target(#[from] TargetError),
    #[error("transaction {kind} of user {user} failed, and the run was stopped: {error}")]
    Failed {
        kind: String,
        user: u32,
        error: SessionError,
    },
    #[error(
        "after a retry of transaction {kind}, user {user} cannot roll back, and the run was stopped: {error}"
    )]
    Rollback {
        kind: String,
        user: u32,
        error: SessionError,
    },
    #[error(
        "user {user} got a transaction of kind {kind}, the workload has {count} kinds; report this as a defect of the workload"
    )]
    Kind {
        user: u32,
        kind: usize,
        count: usize,
    },
    #[error("user {user} panicked, and the run was stopped; report this as a defect")]
    Panicked { user: u32 },
    #[error("no thread for user {user}: {error}; run fewer users")]
    Thread { user: u32, error: std::io::Error },
    #[error("all users ran out of transactions during the warm-up; shorten it")]
    EndedInWarmUp,
    #[error("cancelled during the warm-up: nothing was measured")]
    CancelledInWarmUp,
    #[error("there is no histogram of latencies: {0}; report this as a defect")]
    Histogram(#[from] hdrhistogram::CreationError),
}
