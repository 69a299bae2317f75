//! One data set: files, and what has changed of them in memory.

mod access;
mod attributes;
mod content;
mod dictionaries;
mod encode;
mod erase;
mod extended;
mod file_codec;
mod flush;
mod frozen;
mod log;
mod names;
mod removals;
mod rename;
mod seek;
mod state;
mod statistics;
mod turn;
mod unlogged;
mod write_out;

pub use attributes::AttributeChange;
pub use extended::ExtendedMode;
pub use names::{DirectoryEntry, NewInode};
pub use rename::RenameMode;
pub use state::DataSet;
pub use statistics::DataSetStatistics;
pub(crate) use statistics::compression_ratio;
