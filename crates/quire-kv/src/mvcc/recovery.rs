//! Redoing what the log has and the pages have not.

use std::sync::atomic::Ordering;

use quire_format::redo::{RedoChange, redo_changes};
use quire_format::row_page::PageOp;
use quire_store::log::LogSequence;

use super::TreeId;
use super::error::{RedoError, TreesOpenError};
use super::manager::SharedManager;

impl SharedManager {
    /// Redoes the commits of the log in their order. Changed pages are flushed on the way when they become many. A crash
    /// on the way is as one before: the pages have all of some commits, maybe a part of the next, and nothing of
    /// those after it, and redoing a part again changes nothing.
    pub(super) fn replay(&self) -> Result<(), TreesOpenError> {
        let mut may_flush = !self.volume.is_read_only();
        let redo = |sequence: LogSequence, records: &[u8]| {
            if may_flush && self.pool.needs_flush() {
                let before = LogSequence::new(sequence.get().saturating_sub(1));
                match self.flush(|| before) {
                    // A full disk can be opened; the pool exceeds its budget.
                    Err(error) if error.is_full() => may_flush = false,
                    flushed => flushed.map_err(Box::new)?,
                }
            }
            self.redo(sequence, records)
        };
        Ok(self.log.replay(redo)?)
    }

    fn redo(&self, sequence: LogSequence, records: &[u8]) -> Result<(), RedoError> {
        let guard = self.pool.begin_change();
        for change in redo_changes(records)? {
            let change = change?;
            let number = change.tree();
            let Some(tree) = self.trees.get(TreeId::new(number)) else {
                self.unknown_tree_max.fetch_max(number, Ordering::Relaxed);
                continue;
            };
            tree.btree.redo(&page_op(&change), sequence.get(), &guard)?;
        }
        Ok(())
    }
}

fn page_op<'a>(change: &RedoChange<'a>) -> PageOp<'a> {
    match *change {
        RedoChange::Put { key, value, .. } => PageOp::Put {
            key,
            value,
            overflow: false,
        },
        RedoChange::Remove { key, .. } => PageOp::Remove { key },
    }
}
