//! How much memory there is for statements, and which of them holds how much of it.

mod environment;
mod pool;
mod shares;
mod spill_files;

pub(crate) use environment::{environment_of, with_many_sorts};
pub(crate) use pool::StatementMemory;
pub(crate) use shares::Shares;
