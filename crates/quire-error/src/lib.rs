//! How a statement ends before its last row: its error, and what interrupts it.
//!
//! An [`Error`] has a SQLSTATE, a message, and mostly what to do next. A statement is interrupted by a caller ([`CancelHandle`]), by its
//! time limit, or by the caller of a wait; long loops and functions ask an [`interruption::Interruption`]. Errors of every layer below,
//! DataFusion's and Arrow's included, become an [`Error`] here and nowhere else.
#![forbid(unsafe_code)]

pub mod activity;
pub mod cancel;
pub mod chore;
mod error;
pub mod interruption;
pub mod progress;
pub mod time_limit;
pub mod wait;

pub use cancel::CancelHandle;
pub use error::{Error, Position, RECURSION_LIMIT, closest, in_sql};
