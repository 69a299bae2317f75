//! The log of row transactions: pages of redo records, and the page that says where they begin.
//!
//! A log page is an ordinary page of the volume. A batch that commits transactions holds one (several when there is
//! much to log), so a record of redo has the volume's checksums, its chain and its recovery, and needs none of its
//! own. Page names ascend, so the order of the pages is the order of the commits.

mod page;
mod root;

pub use page::{LogContent, LogEntries, LogEntry, LogPage, RECORDS_BYTES_MAX, push_entry};
pub use root::LogRoot;

use crate::document::DiskStructure;

/// The structures of this module, for the format document.
pub(crate) const STRUCTURES: &[&DiskStructure] = &[&page::STRUCTURE, &root::STRUCTURE];

#[cfg(test)]
mod tests;
