//! What one connection keeps between statements: its settings, and its transaction.

mod context;
mod listed;
mod transaction;

pub(crate) use context::Session;
pub(crate) use transaction::{
    LentTransaction, SessionTransaction, TableWriteGuard, TransactionModes, aborted,
};
