//! How much memory there is for statements, and which of them holds how much of it.

mod pool;
mod shares;
mod spill_files;

pub(crate) use pool::StatementMemory;
pub(crate) use shares::Shares;
pub(crate) use spill_files::SpillFiles;
