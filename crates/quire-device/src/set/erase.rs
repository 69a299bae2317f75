//! Removing what cannot be reached any more: orphans, and at last all of a data set.

use quire_format::data_set::{DataSetItem, NodeEntry};
use quire_store::Durability;

use super::access::{Access, View};
use super::state::DataSet;
use crate::error::{DeviceStorageError, FileError};
use crate::generation::Generation;

/// Records, or items, that are removed in one step.
const STEP_ITEMS: usize = 8192;

impl DataSet {
    /// Removes an inode without a name: its records in steps, so that memory is bounded, and what is left with the last of
    /// them. Its orphan item goes last, so that a crash in between is made up for when the data set is opened again.
    pub(super) fn reap(&self, inode: u64) -> Result<(), FileError> {
        let mut before = None;
        loop {
            let mut access = self.removal_access()?;
            let indices = access.record_indices(inode, 0, u64::MAX, STEP_ITEMS + 1)?;
            let first = indices.first().copied();
            if first.is_some() && first == before {
                return Err(access.not_removed().into());
            }
            before = first;
            if indices.len() <= STEP_ITEMS {
                return access.forget(inode);
            }
            // What waits to be written need not be, and on a full disk it could not.
            access.state.current.clear_records(inode);
            for index in indices.into_iter().take(STEP_ITEMS) {
                access.state.current.set_record(inode, index, None);
            }
            drop(access);
            self.flush(Durability::Unsynced)?;
        }
    }

    /// Removes what a crash has left without a name.
    pub(crate) fn reap_orphans(&self) -> Result<(), FileError> {
        let prefix = DataSetItem::Orphan(0).key();
        let prefix = &prefix[..prefix.len() - 8];
        loop {
            let access = self.read_access();
            let found = access.items(prefix, None, STEP_ITEMS)?;
            let mut orphans = Vec::with_capacity(found.len());
            for NodeEntry { key, .. } in &found {
                let item = access.view.decoded(key, |key| {
                    // The kind is that of the prefix.
                    DataSetItem::decode(key).map(|item| match item {
                        DataSetItem::Orphan(inode) => inode,
                        _ => 0,
                    })
                })?;
                orphans.push(item);
            }
            drop(access);
            if orphans.is_empty() {
                return Ok(());
            }
            for inode in orphans {
                self.reap(inode)?;
            }
        }
    }

    /// Removes all items of a data set in steps. It must not be used any more.
    pub(crate) fn erase(&self) -> Result<(), DeviceStorageError> {
        let mut before = None;
        loop {
            let mut access = self.read_access();
            // What is in memory is of no use to anybody.
            access.state.current = Generation::erasing();
            let View { reader, root, .. } = &access.view;
            let items = reader.some_items(*root, &[], &[], STEP_ITEMS)?;
            let first = items.first().map(|first| first.key.clone());
            if first == before {
                let is_end = first.is_none();
                return if is_end {
                    Ok(())
                } else {
                    Err(access.not_removed())
                };
            }
            before = first;
            for NodeEntry { key, .. } in items {
                let record = access
                    .view
                    .decoded(&key, |key| match DataSetItem::decode(key)? {
                        DataSetItem::Record(inode, index) => Ok(Some((inode, index))),
                        _ => Ok(None),
                    })?;
                match record {
                    Some((inode, index)) => access.state.current.set_record(inode, index, None),
                    None => access.state.current.set_item(key, None),
                }
            }
            drop(access);
            self.flush(Durability::Unsynced)?;
        }
    }
}

impl Access<'_> {
    /// Removes the items of an inode and its records.
    fn forget(&mut self, inode: u64) -> Result<(), FileError> {
        let prefix = DataSetItem::Extended(inode, &[]).key();
        // Nothing is removed before all is read.
        let extended = self.items(&prefix, None, usize::MAX)?;
        self.state.current.cut(inode, 0);
        for kind in [DataSetItem::Attributes(inode), DataSetItem::Space(inode)] {
            self.set_item(kind, None);
        }
        for entry in extended {
            self.state.current.set_item(entry.key, None);
        }
        self.set_item(DataSetItem::Orphan(inode), None);
        Ok(())
    }
}
