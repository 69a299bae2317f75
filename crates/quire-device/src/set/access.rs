//! A data set while an operation has it: items and records, through all layers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, MutexGuard};

use quire_codec::Corrupt;
use quire_format::data_set::{
    DataSetItem, DirectoryItem, FileTime, InodeAttributes, InodeKind, NAME_BYTES_MAX, NodeEntry,
    RecordPointer,
};
use quire_store::PageId;

use super::state::{DataSet, SetState};
use crate::context::DeviceContext;
use crate::error::{DeviceStorageError, FileError};
use crate::generation::{Generation, Layered};
use crate::tree::PageReader;

/// Items read from the tree at once.
const ITEMS_AT_ONCE: usize = 512;

/// What does not change while it is held: the tree as of one commit, and what is being written.
pub(super) struct View {
    pub(super) reader: PageReader,
    pub(super) root: Option<PageId>,
    pub(super) frozen: Option<Arc<Generation>>,
}

/// Where the bytes of a record are.
pub(super) enum RecordPlace {
    /// All are zeros.
    Hole,
    /// In memory.
    Changed(Arc<Vec<u8>>),
    /// In the tree, perhaps: ask it.
    InTree,
}

impl View {
    /// An item as what is being written and the tree have it.
    pub(super) fn item(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DeviceStorageError> {
        let frozen = self.frozen.as_deref();
        match frozen.map_or(Layered::Below, |frozen| frozen.item(key)) {
            Layered::Is(value) => Ok(Some(value.clone())),
            Layered::Gone => Ok(None),
            Layered::Below => self.reader.get(self.root, key),
        }
    }

    /// What attributes say that an item has.
    pub(super) fn attributes(
        &self,
        inode: u64,
        value: Option<Vec<u8>>,
    ) -> Result<InodeAttributes, FileError> {
        let value = value.ok_or_else(|| FileError::no_inode(inode))?;
        Ok(self.decoded(&value, InodeAttributes::decode)?)
    }

    /// Where the bytes of a record are that has not changed since.
    pub(super) fn place(&self, inode: u64, index: u64) -> RecordPlace {
        let frozen = self.frozen.as_deref();
        RecordPlace::of(frozen.map_or(Layered::Below, |frozen| frozen.record(inode, index)))
    }

    /// Where the tree has a record.
    pub(super) fn pointer(
        &self,
        inode: u64,
        index: u64,
    ) -> Result<Option<RecordPointer>, DeviceStorageError> {
        let key = DataSetItem::Record(inode, index).key();
        let value = self.reader.get(self.root, &key)?;
        value
            .map(|value| self.decoded(&value, RecordPointer::decode))
            .transpose()
    }

    /// What an item of the tree says.
    pub(super) fn decoded<T>(
        &self,
        value: &[u8],
        decode: impl FnOnce(&[u8]) -> Result<T, Corrupt>,
    ) -> Result<T, DeviceStorageError> {
        // The item is in a node below the root.
        let page = self.root.unwrap_or(quire_store::CATALOG_PAGE);
        decode(value).map_err(|corrupt| self.reader.corrupt(page, &corrupt))
    }

    /// The bytes of a record of the tree.
    pub(super) fn stored(
        &self,
        context: &DeviceContext,
        inode: u64,
        index: u64,
    ) -> Result<Option<Arc<[u8]>>, DeviceStorageError> {
        let pointer = self.pointer(inode, index)?;
        pointer
            .map(|pointer| context.record(&self.reader, &pointer))
            .transpose()
    }
}

impl RecordPlace {
    fn of(record: Layered<&Arc<Vec<u8>>>) -> Self {
        match record {
            Layered::Is(content) => Self::Changed(Arc::clone(content)),
            Layered::Gone => Self::Hole,
            Layered::Below => Self::InTree,
        }
    }
}

/// The state, locked, and the view that belongs to it.
pub(super) struct Access<'a> {
    pub(super) set: &'a DataSet,
    pub(super) state: MutexGuard<'a, SetState>,
    pub(super) view: View,
    /// Items of a change that is being made ([`Access::all_or_nothing`]).
    staged: Option<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
}

impl DataSet {
    /// To look at files.
    pub(super) fn read_access(&self) -> Access<'_> {
        Access::new(self, self.lock())
    }

    /// An item as it is now, for looking at it alone: the tree is read without the lock.
    pub(super) fn glance(
        &self,
        item: DataSetItem<'_>,
    ) -> Result<(Option<Vec<u8>>, View), DeviceStorageError> {
        let key = item.key();
        let Access { view, state, .. } = self.read_access();
        let value = match state.current.item(&key) {
            Layered::Is(value) => Some(value.clone()),
            Layered::Gone => None,
            Layered::Below => {
                drop(state);
                view.item(&key)?
            }
        };
        Ok((value, view))
    }

    /// To change files, after memory has been made free if too much of it is in use.
    pub(super) fn write_access(&self) -> Result<Access<'_>, FileError> {
        self.relieve()?;
        self.removal_access()
    }

    /// To add items whose names and values have so many bytes: as [`DataSet::write_access`], if the quota permits.
    pub(super) fn growing_access(&self, bytes: usize) -> Result<Access<'_>, FileError> {
        let mut access = self.access_with_room(bytes as u64)?;
        access.state.unlogged.note_other();
        Ok(access)
    }

    /// To remove something: goes on when the disk is full.
    pub(super) fn removal_access(&self) -> Result<Access<'_>, FileError> {
        let mut access = self.loggable_access()?;
        access.state.unlogged.note_other();
        Ok(access)
    }

    /// For writes, which can be logged and which the caller notes itself.
    pub(super) fn loggable_access(&self) -> Result<Access<'_>, FileError> {
        if self.is_read_only() {
            let name = self.name.clone();
            return Err(FileError::ReadOnly { name });
        }
        Ok(self.read_access())
    }
}

impl SetState {
    /// The tree and what is being written.
    pub(super) fn view(&self, context: &DeviceContext) -> View {
        let reader = match &self.held {
            Some(pin) => context.reader_of(pin.clone()),
            None => context.reader(),
        };
        View {
            reader,
            root: self.head.root,
            frozen: self.frozen.clone(),
        }
    }
}

impl<'a> Access<'a> {
    pub(super) fn new(set: &'a DataSet, state: MutexGuard<'a, SetState>) -> Self {
        let view = state.view(&set.context);
        let staged = None;
        Self {
            set,
            state,
            view,
            staged,
        }
    }

    pub(super) fn now(&self) -> FileTime {
        (self.set.context.options.clock)()
    }

    /// The layers over the tree, the newest first.
    fn layers(&self) -> impl Iterator<Item = &Generation> {
        let frozen = self.view.frozen.as_deref();
        std::iter::once(&self.state.current).chain(frozen)
    }

    pub(super) fn item(
        &self,
        item: DataSetItem<'_>,
    ) -> Result<Option<Vec<u8>>, DeviceStorageError> {
        let key = item.key();
        if let Some(value) = self.staged.as_ref().and_then(|staged| staged.get(&key)) {
            return Ok(value.clone());
        }
        match self.state.current.item(&key) {
            Layered::Is(value) => Ok(Some(value.clone())),
            Layered::Gone => Ok(None),
            Layered::Below => self.view.item(&key),
        }
    }

    pub(super) fn set_item(&mut self, item: DataSetItem<'_>, value: Option<Vec<u8>>) {
        match &mut self.staged {
            Some(staged) => {
                staged.insert(item.key(), value);
            }
            None => self.state.current.set_item(item.key(), value),
        }
    }

    /// Makes all changes of items that `change` makes, or, when it fails, none: an item that cannot be read in the middle of a change
    /// must not leave half of it to the next batch.
    pub(super) fn all_or_nothing<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        self.staged = Some(BTreeMap::new());
        let changed = change(self);
        let staged = self.staged.take().unwrap_or_default();
        if changed.is_ok() {
            for (key, value) in staged {
                self.state.current.set_item(key, value);
            }
        }
        changed
    }

    /// The attributes of an inode that exists.
    pub(super) fn inode(&self, inode: u64) -> Result<InodeAttributes, FileError> {
        let value = self.item(DataSetItem::Attributes(inode))?;
        self.view.attributes(inode, value)
    }

    pub(super) fn set_inode(&mut self, inode: u64, attributes: &InodeAttributes) {
        self.set_item(DataSetItem::Attributes(inode), Some(attributes.encode()));
    }

    /// The attributes of a directory.
    pub(super) fn directory(&self, inode: u64) -> Result<InodeAttributes, FileError> {
        let attributes = self.inode(inode)?;
        if attributes.kind == InodeKind::Directory {
            Ok(attributes)
        } else {
            Err(FileError::NotDirectory { inode })
        }
    }

    /// The attributes of a file with content.
    pub(super) fn file(&self, inode: u64) -> Result<InodeAttributes, FileError> {
        with_content(inode, self.inode(inode)?)
    }

    /// The attributes of a file that may be written.
    pub(super) fn regular(&self, inode: u64) -> Result<InodeAttributes, FileError> {
        let attributes = self.file(inode)?;
        if attributes.kind == InodeKind::Link {
            return Err(FileError::Invalid {
                what: "the target of a symbolic link does not change; remove the link and make another",
            });
        }
        Ok(attributes)
    }

    /// What a directory says of a name.
    pub(super) fn entry(
        &self,
        directory: u64,
        name: &[u8],
    ) -> Result<Option<DirectoryItem>, FileError> {
        check_name_bytes(name)?;
        let value = self.item(DataSetItem::Entry(directory, name))?;
        let decoded = value.map(|value| self.view.decoded(&value, DirectoryItem::decode));
        Ok(decoded.transpose()?)
    }

    /// Where the bytes of a record are.
    pub(super) fn place(&self, inode: u64, index: u64) -> RecordPlace {
        match self.state.current.record(inode, index) {
            Layered::Below => self.view.place(inode, index),
            record => RecordPlace::of(record),
        }
    }

    /// Items that were to be removed are still there: the tree is damaged, and removing them again would not end.
    pub(super) fn not_removed(&self) -> DeviceStorageError {
        let page = self.view.root.unwrap_or(quire_store::CATALOG_PAGE);
        let corrupt = Corrupt::new("items cannot be found where they are", 0);
        self.view.reader.corrupt(page, &corrupt)
    }

    /// The next number of an inode has been given out already: the head does not belong to the tree.
    pub(super) fn number_is_taken(&self, inode: u64) -> DeviceStorageError {
        let what = format!("inode {inode} is there, and is to be the next one");
        let page = self.set.head_page.unwrap_or(quire_store::CATALOG_PAGE);
        self.view.reader.corrupt(page, &Corrupt::new(what, 0))
    }

    /// A copy of the bytes of a record; none of a hole.
    pub(super) fn content(&self, inode: u64, index: u64) -> Result<Option<Vec<u8>>, FileError> {
        Ok(match self.place(inode, index) {
            RecordPlace::Hole => None,
            RecordPlace::Changed(content) => Some(content.to_vec()),
            RecordPlace::InTree => {
                let stored = self.view.stored(&self.set.context, inode, index)?;
                stored.map(|content| content.to_vec())
            }
        })
    }

    /// Changes a record, which need not exist. `is_replaced`: nothing of what it had is left.
    pub(super) fn change_record(
        &mut self,
        inode: u64,
        index: u64,
        is_replaced: bool,
        change: impl Fn(&mut Vec<u8>),
    ) -> Result<(), FileError> {
        if self.state.current.change_record(inode, index, &change) {
            return Ok(());
        }
        let mut content = if is_replaced {
            Vec::new()
        } else {
            self.content(inode, index)?.unwrap_or_default()
        };
        change(&mut content);
        self.state.current.set_record(inode, index, Some(content));
        Ok(())
    }

    /// At most `limit` items whose keys begin with `prefix`, behind the key `after` if there is one.
    pub(super) fn items(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<NodeEntry>, DeviceStorageError> {
        let mut found = Vec::new();
        let mut from = after.map_or(prefix.to_vec(), |after| [after, &[0]].concat());
        loop {
            let View { reader, root, .. } = &self.view;
            let stored = reader.some_items(*root, prefix, &from, ITEMS_AT_ONCE)?;
            let last = stored.last().filter(|_| stored.len() == ITEMS_AT_ONCE);
            let last = last.map(|entry| entry.key.clone());
            let stored = stored.into_iter().map(|entry| (entry.key, entry.value));
            let mut merged: BTreeMap<Vec<u8>, Vec<u8>> = stored.collect();
            let mut layers: Vec<&Generation> = self.layers().collect();
            layers.reverse();
            for layer in layers {
                let changed = layer.items().range(from.clone()..);
                let is_here = |key: &Vec<u8>| {
                    key.starts_with(prefix) && last.as_ref().is_none_or(|last| key <= last)
                };
                for (key, value) in changed.take_while(|(key, _)| is_here(key)) {
                    match value {
                        Some(value) => merged.insert(key.clone(), value.clone()),
                        None => merged.remove(key),
                    };
                }
            }
            let merged = merged.into_iter();
            found.extend(merged.map(|(key, value)| NodeEntry { key, value }));
            found.truncate(limit);
            match last {
                Some(last) if found.len() < limit => from = [&last[..], &[0]].concat(),
                _ => return Ok(found),
            }
        }
    }

    /// The indices of the first `limit` records of a file that exist, from `from` on and below `end`.
    pub(super) fn record_indices(
        &self,
        inode: u64,
        from: u64,
        end: u64,
        limit: usize,
    ) -> Result<Vec<u64>, DeviceStorageError> {
        let prefix = DataSetItem::Record(inode, 0).key();
        let prefix = &prefix[..prefix.len() - 8];
        let mut found = Vec::new();
        let mut next = from;
        while next < end && found.len() < limit {
            let View { reader, root, .. } = &self.view;
            let key = DataSetItem::Record(inode, next).key();
            let stored = reader.some_items(*root, prefix, &key, ITEMS_AT_ONCE)?;
            let is_end = stored.len() < ITEMS_AT_ONCE;
            let mut indices = BTreeSet::new();
            for entry in &stored {
                let item = self.view.decoded(&entry.key, |key| {
                    let item = DataSetItem::decode(key)?;
                    let DataSetItem::Record(_, index) = item else {
                        return Err(Corrupt::new("record expected", 8));
                    };
                    Ok(index)
                })?;
                indices.insert(item);
            }
            let behind = indices.last().map_or(end, |last| last.saturating_add(1));
            let until = if is_end { end } else { behind.min(end) };
            for layer in self.layers() {
                let changed = layer.records().range((inode, next)..(inode, until));
                indices.extend(changed.map(|((_, index), _)| *index));
            }
            let is_there = |index: &u64| {
                *index < until && !matches!(self.place(inode, *index), RecordPlace::Hole)
            };
            found.extend(indices.into_iter().filter(is_there));
            next = until;
        }
        found.truncate(limit);
        Ok(found)
    }
}

/// Attributes of an inode that has content; errors for others.
pub(super) fn with_content(
    inode: u64,
    attributes: InodeAttributes,
) -> Result<InodeAttributes, FileError> {
    match attributes.kind {
        InodeKind::File | InodeKind::Link => Ok(attributes),
        InodeKind::Directory => Err(FileError::IsDirectory { inode }),
        _ => Err(FileError::Invalid {
            what: "pipes, sockets and devices have no content; use them through the system",
        }),
    }
}

/// Refuses a name of a file that is too long.
pub(super) fn check_name_bytes(name: &[u8]) -> Result<(), FileError> {
    let bytes = name.len();
    if bytes > NAME_BYTES_MAX {
        return Err(FileError::NameTooLong { bytes });
    }
    Ok(())
}
