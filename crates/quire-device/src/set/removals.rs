//! On a full disk: what a layer removes, committed alone, so that there is room for what it adds.
//!
//! A batch has all that has changed, so what waits in memory on a full disk would keep removals from being written, and they alone make room.
//! Committing them first puts them before older changes. So a crash then leaves a state that never was, as on file systems that write
//! data later than names: what has been removed is gone, and what was not synced may be missing. To lose nothing else,
//!
//! - a file is removed if all names that the tree has of it were removed. A name that belongs to another file now has been replaced, by
//!   rename(2) mostly: the old file stays until the new one is written;
//! - a file that stays loses records if nothing of it waits to be written, and there is no log, which would be replayed upon the shorter file;
//! - directories that were removed stay, empty, until the next batch. They take little.
//!
//! The layer keeps what it has. Removing something again changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quire_format::data_set::{DataSetItem, DirectoryItem, InodeAttributes, InodeKind};
use quire_store::{Durability, PageId};

use super::frozen::FrozenState;
use super::state::DataSet;
use crate::error::DeviceStorageError;
use crate::generation::Generation;

impl DataSet {
    /// Commits what `frozen` removes, and nothing else. False if there is nothing that would make room.
    pub(super) fn write_removals(
        &self,
        frozen: &FrozenState,
        head_page: PageId,
    ) -> Result<bool, DeviceStorageError> {
        let generation = Removals::of(frozen)?;
        if generation.is_empty() {
            return Ok(false);
        }
        let removing = FrozenState {
            generation: Arc::new(generation),
            head: frozen.head.clone(),
            boundaries: frozen.boundaries,
            reader: frozen.reader.clone(),
            // The writes that were logged are not in this batch.
            logged_pages: 0,
        };
        // What is freed can be used when this is durable.
        self.write_out(&removing, head_page, Durability::Synced)?;
        Ok(true)
    }
}

/// Collects what can be removed.
struct Removals<'a> {
    frozen: &'a FrozenState,
    /// Of each inode, the names that the tree has and the layer has removed.
    names: BTreeMap<u64, Vec<RemovedName<'a>>>,
    /// Of each directory, how many names less it has.
    fewer: BTreeMap<u64, u64>,
    removals: Generation,
}

struct RemovedName<'a> {
    key: &'a [u8],
    directory: u64,
}

impl<'a> Removals<'a> {
    fn of(frozen: &'a FrozenState) -> Result<Generation, DeviceStorageError> {
        let mut found = Self {
            frozen,
            names: BTreeMap::new(),
            fewer: BTreeMap::new(),
            removals: Generation::default(),
        };
        let generation = &frozen.generation;
        // Erasing removes everything anyway.
        if generation.is_erasing() {
            return Ok(found.removals);
        }
        found.find_names()?;
        let holes = generation.records().iter();
        let holes = holes.filter(|(_, content)| content.is_none());
        let inodes = holes.map(|((inode, _), _)| *inode);
        let inodes: BTreeSet<u64> = inodes.chain(generation.cuts().keys().copied()).collect();
        for inode in inodes {
            found.add_inode(inode)?;
        }
        found.add_directories()?;
        Ok(found.removals)
    }

    fn find_names(&mut self) -> Result<(), DeviceStorageError> {
        let frozen = self.frozen;
        for (key, value) in frozen.generation.items() {
            let directory = frozen.decoded(key, |key| {
                DataSetItem::decode(key).map(|item| match item {
                    DataSetItem::Entry(directory, _) => Some(directory),
                    _ => None,
                })
            })?;
            if value.is_none()
                && let Some(directory) = directory
                && let Some(stored) = frozen.reader.get(frozen.head.root, key)?
            {
                let DirectoryItem { inode, .. } = frozen.decoded(&stored, DirectoryItem::decode)?;
                let names = self.names.entry(inode).or_default();
                names.push(RemovedName { key, directory });
            }
        }
        Ok(())
    }

    /// What the tree says of an inode.
    fn stored(&self, inode: u64) -> Result<Option<InodeAttributes>, DeviceStorageError> {
        let key = DataSetItem::Attributes(inode).key();
        let value = self.frozen.reader.get(self.frozen.head.root, &key)?;
        value
            .map(|value| self.frozen.decoded(&value, InodeAttributes::decode))
            .transpose()
    }

    /// What the layer says of an inode; `None` also if it says nothing.
    fn changed(&self, inode: u64) -> Result<Option<InodeAttributes>, DeviceStorageError> {
        let key = DataSetItem::Attributes(inode).key();
        let value = self.frozen.generation.items().get(&key);
        value
            .and_then(Option::as_ref)
            .map(|value| self.frozen.decoded(value, InodeAttributes::decode))
            .transpose()
    }

    /// Adds what is removed of an inode, if it may go before everything else.
    fn add_inode(&mut self, inode: u64) -> Result<(), DeviceStorageError> {
        let Some(stored) = self.stored(inode)? else {
            return Ok(());
        };
        let mut records = self.frozen.generation.records_of(inode);
        if stored.kind == InodeKind::Directory
            || records.any(|(_, content)| content.is_some())
            || !self.frees_records(inode)?
        {
            return Ok(());
        }
        match self.changed(inode)? {
            Some(changed) if changed.links > 0 => {
                if self.frozen.head.log.is_empty() {
                    let attributes = InodeAttributes {
                        size: changed.size,
                        modified: changed.modified,
                        changed: changed.changed,
                        ..stored
                    };
                    self.set_attributes(inode, &attributes);
                    self.add_records(inode);
                }
            }
            _ => self.add_nameless(inode, &stored),
        }
        Ok(())
    }

    /// Adds an inode that has no name any more, unless a name of it was replaced.
    fn add_nameless(&mut self, inode: u64, stored: &InodeAttributes) {
        let names = self.names.remove(&inode).unwrap_or_default();
        if names.len() != stored.links as usize {
            return;
        }
        for name in names {
            self.removals.set_item(name.key.to_vec(), None);
            *self.fewer.entry(name.directory).or_default() += 1;
        }
        let items = self.frozen.generation.items();
        let own = items.range(DataSetItem::Attributes(inode).key()..);
        let prefix = inode.to_be_bytes();
        let own = own.take_while(|(key, _)| key.starts_with(&prefix));
        let orphan = items.get_key_value(&DataSetItem::Orphan(inode).key());
        for (key, value) in own.chain(orphan) {
            self.removals.set_item(key.clone(), value.clone());
        }
        self.add_records(inode);
    }

    fn add_records(&mut self, inode: u64) {
        let generation = &self.frozen.generation;
        if let Some(from) = generation.cuts().get(&inode) {
            self.removals.cut(inode, *from);
        }
        for (index, _) in generation.records_of(inode) {
            self.removals.set_record(inode, index, None);
        }
    }

    /// Whether the tree has a record that is removed.
    fn frees_records(&self, inode: u64) -> Result<bool, DeviceStorageError> {
        let FrozenState {
            generation,
            reader,
            head,
            ..
        } = self.frozen;
        if let Some(from) = generation.cuts().get(&inode) {
            let key = DataSetItem::Record(inode, *from).key();
            let found = reader.some_items(head.root, &key[..key.len() - 8], &key, 1)?;
            if !found.is_empty() {
                return Ok(true);
            }
        }
        for (index, _) in generation.records_of(inode) {
            let key = DataSetItem::Record(inode, index).key();
            if reader.get(head.root, &key)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The directories as the tree has them, without the names.
    fn add_directories(&mut self) -> Result<(), DeviceStorageError> {
        for (directory, fewer) in std::mem::take(&mut self.fewer) {
            let Some(mut attributes) = self.stored(directory)? else {
                continue;
            };
            attributes.size = attributes.size.saturating_sub(fewer);
            if let Some(changed) = self.changed(directory)? {
                attributes.modified = changed.modified;
                attributes.changed = changed.changed;
            }
            self.set_attributes(directory, &attributes);
        }
        Ok(())
    }

    fn set_attributes(&mut self, inode: u64, attributes: &InodeAttributes) {
        let key = DataSetItem::Attributes(inode).key();
        self.removals.set_item(key, Some(attributes.encode()));
    }
}
