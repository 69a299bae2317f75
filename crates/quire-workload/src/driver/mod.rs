//! What happens when many users run a workload on a target?
//!
//! [`WorkloadDriver::run`] gives each of 1 to 500 users a thread and a [`WorkloadSession`](crate::Session), and measures what they do in two ways:
//!
//! * **Closed loop**, without a rate: a user begins a transaction when the one before it has ended and its think time is over. The latency is the
//!   service time. A target that stalls delays the next start, too, so waiting is not seen: this measures how much a target can do.
//! * **With a rate**: transactions are meant to begin at moments that do not depend on the target, by one schedule for all users, with
//!   exponentially distributed (Poisson) or equal distances. The latency is measured from the intended start, so a stall is part of the latency
//!   of all transactions that were meant to begin during it. G. Tene calls the mistake of measuring from the actual start *coordinated omission*.
//!
//! A transaction counts if it ends behind the warm-up. Those that run at the deadline end and count as late: left out, a stall at the end would
//! be hidden.

mod error;
mod options;
mod recorder;
mod result;
mod run;
mod run_state;
mod schedule;
mod supervisor;
mod user_thread;

pub use error::RunError;
pub use options::{Arrivals, RunOptions, RunOptionsError, USERS};
pub use result::{KindResult, WorkloadResult};
pub use run::WorkloadDriver;
pub use supervisor::RunProgress;
