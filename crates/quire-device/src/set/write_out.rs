//! The batch of a flush: records, nodes, head.

use std::collections::BTreeMap;

use quire_codec::Corrupt;
use quire_format::data_set::{CodecTotals, DataSetHead, DataSetItem, RecordPointer};
use quire_store::{Durability, PageId, PageKind, WriteBatch};

use super::encode::RecordJob;
use super::file_codec::FileChange;
use super::frozen::FrozenState;
use super::state::DataSet;
use crate::dead::bury;
use crate::error::DeviceStorageError;
use crate::tree::{TreeChange, TreeUpdate};

/// Records of the tree that are looked at in one step.
const RECORDS_AT_ONCE: usize = 1024;

/// A batch that is being made.
pub(super) struct BatchOfSet<'a> {
    pub(super) frozen: &'a FrozenState,
    pub(super) batch: &'a WriteBatch,
    pub(super) head: DataSetHead,
    pub(super) files: BTreeMap<u64, FileChange>,
    /// By key.
    pub(super) changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Pages that the tree has not any more.
    pub(super) dead: Vec<PageId>,
    /// Payloads of new pages.
    pub(super) written_bytes: u64,
}

impl DataSet {
    /// Writes and commits what is frozen. The data set has the new head then.
    pub(super) fn write_out(
        &self,
        frozen: &FrozenState,
        head_page: PageId,
        durability: Durability,
    ) -> Result<(), DeviceStorageError> {
        let properties = self.properties();
        let files = self.file_changes(frozen, &properties)?;
        let jobs = self.encode_records(frozen, &files, &properties)?;
        let _writing = self.lock_head_writing();
        let head = DataSetHead {
            // Syncs may have written some since.
            log: self.lock().head.log.clone(),
            ..frozen.head.clone()
        };
        let batch = self.context.volume.begin()?;
        if frozen.only_removes_records() {
            batch.use_reserve();
        }
        let mut making = BatchOfSet {
            frozen,
            batch: &batch,
            head,
            files,
            changes: BTreeMap::new(),
            dead: Vec::new(),
            written_bytes: 0,
        };
        making.put_dictionaries(&jobs)?;
        for job in &jobs {
            making.put_record(job)?;
        }
        making.remove_records()?;
        making.put_items()?;
        if !frozen.generation.is_erasing() {
            making.put_spaces()?;
        }
        let mut head = making.finish()?;
        // What they have is in the batch.
        for page in head.log.drain(..frozen.logged_pages.min(head.log.len())) {
            batch.free(page)?;
        }
        batch.replace(head_page, PageKind::DataSetHead, &head.encode())?;
        batch.commit_with(durability)?;
        let mut state = self.lock();
        state.head = head;
        state.is_unsynced = durability == Durability::Unsynced;
        // It has not the pages of the new head.
        let held = state.held.take();
        drop(state);
        drop(held);
        Ok(())
    }
}

impl FrozenState {
    /// Whether it makes room, once it is written.
    fn only_removes_records(&self) -> bool {
        let records = self.generation.records();
        let removes = !self.generation.cuts().is_empty() || !records.is_empty();
        removes && records.values().all(Option::is_none)
    }

    /// Where the tree has a record.
    fn pointer(&self, inode: u64, index: u64) -> Result<Option<RecordPointer>, DeviceStorageError> {
        let key = DataSetItem::Record(inode, index).key();
        let value = self.reader.get(self.head.root, &key)?;
        value
            .map(|value| self.decoded(&value, RecordPointer::decode))
            .transpose()
    }
}

impl BatchOfSet<'_> {
    fn put_record(&mut self, job: &RecordJob<'_>) -> Result<(), DeviceStorageError> {
        let key = DataSetItem::Record(job.inode, job.index).key();
        let old = self.frozen.pointer(job.inode, job.index)?;
        if let Some(old) = old {
            self.retire(job.inode, &old)?;
        }
        let Some(encoded) = &job.encoded else {
            if old.is_some() {
                self.changes.insert(key, None);
            }
            return Ok(());
        };
        let page = self
            .batch
            .write(PageKind::DataSetRecord, &encoded.payload)?;
        let pointer = RecordPointer {
            page,
            codec: encoded.codec,
            raw_bytes: job.raw_bytes() as u32,
            stored_bytes: encoded.stored_bytes,
            dictionary: encoded.dictionary,
        };
        self.changes.insert(key, Some(pointer.encode()));
        let (raw_bytes, stored_bytes) = (job.raw_bytes() as u64, encoded.payload.len() as u64);
        self.written_bytes += stored_bytes;
        let CodecTotals {
            records,
            raw_bytes: raw,
            stored_bytes: stored,
        } = &mut self.head.totals.codecs[encoded.codec as usize];
        *records += 1;
        *raw += raw_bytes;
        *stored += stored_bytes;
        if let Some(file) = self.files.get_mut(&job.inode) {
            file.space.record_count += 1;
            file.space.written += 1;
            file.space.raw_bytes += raw_bytes;
            file.space.stored_bytes += stored_bytes;
        }
        Ok(())
    }

    /// Removes records that have become holes, and those that are cut off.
    fn remove_records(&mut self) -> Result<(), DeviceStorageError> {
        let frozen = self.frozen;
        let generation = &frozen.generation;
        for ((inode, index), content) in generation.records() {
            if content.is_none()
                && let Some(old) = frozen.pointer(*inode, *index)?
            {
                self.retire(*inode, &old)?;
                let key = DataSetItem::Record(*inode, *index).key();
                self.changes.insert(key, None);
            }
        }
        for (inode, from) in generation.cuts() {
            self.cut_records(*inode, *from)?;
        }
        Ok(())
    }

    fn cut_records(&mut self, inode: u64, from: u64) -> Result<(), DeviceStorageError> {
        let frozen = self.frozen;
        let mut key = DataSetItem::Record(inode, from).key();
        let prefix = key[..key.len() - 8].to_vec();
        loop {
            let root = frozen.head.root;
            let found = frozen
                .reader
                .some_items(root, &prefix, &key, RECORDS_AT_ONCE)?;
            let is_end = found.len() < RECORDS_AT_ONCE;
            for entry in found {
                key = [&entry.key[..], &[0]].concat();
                let item = frozen.decoded(&entry.key, |key| match DataSetItem::decode(key)? {
                    DataSetItem::Record(inode, index) => Ok((inode, index)),
                    _ => Err(Corrupt::new("record expected", 8)),
                })?;
                // Others have been seen to already.
                if !frozen.generation.records().contains_key(&item) {
                    let old = frozen.decoded(&entry.value, RecordPointer::decode)?;
                    self.retire(inode, &old)?;
                    self.changes.insert(entry.key, None);
                }
            }
            if is_end {
                return Ok(());
            }
        }
    }

    /// The tree has a record less.
    fn retire(&mut self, inode: u64, old: &RecordPointer) -> Result<(), DeviceStorageError> {
        let frozen = self.frozen;
        let stored_bytes = u64::from(frozen.reader.pin.payload_bytes(old.page).unwrap_or(0));
        let raw_bytes = u64::from(old.raw_bytes);
        let CodecTotals {
            records,
            raw_bytes: raw,
            stored_bytes: stored,
        } = &mut self.head.totals.codecs[old.codec as usize];
        let mut numbers = vec![(records, 1), (raw, raw_bytes), (stored, stored_bytes)];
        let is_kept = !frozen.generation.is_erasing();
        if let Some(file) = self.files.get_mut(&inode).filter(|_| is_kept) {
            numbers.push((&mut file.space.record_count, 1));
            numbers.push((&mut file.space.raw_bytes, raw_bytes));
            numbers.push((&mut file.space.stored_bytes, stored_bytes));
        }
        for (number, less) in numbers {
            let left = number.checked_sub(less);
            *number = left.ok_or_else(|| {
                let what = format!("file {inode} takes less than one of its records");
                frozen.corrupt(&Corrupt::new(what, 0))
            })?;
        }
        self.dead.push(old.page);
        Ok(())
    }

    fn put_items(&mut self) -> Result<(), DeviceStorageError> {
        let is_erasing = self.frozen.generation.is_erasing();
        for (key, value) in self.frozen.generation.items() {
            // No operation on files changes items of dictionaries, but erasing takes all items that there are.
            if is_erasing {
                self.remove_dictionary(key)?;
            }
            self.changes.insert(key.clone(), value.clone());
        }
        Ok(())
    }

    /// Stores what files take, unless they are removed.
    fn put_spaces(&mut self) -> Result<(), DeviceStorageError> {
        let mut emptied = Vec::new();
        for (inode, file) in &self.files {
            let key = DataSetItem::Space(*inode).key();
            let is_removed = self.frozen.generation.items().contains_key(&key);
            let has_records = file.space.record_count > 0 && !is_removed;
            if !has_records && file.space.dictionaries.count > 0 {
                emptied.push(*inode);
            }
            let value = has_records.then(|| file.space.encode());
            self.changes.insert(key, value);
        }
        for inode in emptied {
            self.remove_dictionaries(inode)?;
        }
        Ok(())
    }

    /// Writes the tree, and frees what it has not any more.
    fn finish(mut self) -> Result<DataSetHead, DeviceStorageError> {
        let frozen = self.frozen;
        let changes = std::mem::take(&mut self.changes).into_iter();
        let changes: Vec<TreeChange> = changes
            .map(|(key, value)| TreeChange { key, value })
            .collect();
        let mut update = TreeUpdate::new(&frozen.reader, self.batch);
        self.head.root = update.apply(self.head.root, &changes)?;
        let totals = &mut self.head.totals;
        totals.nodes = (totals.nodes + update.new.count).saturating_sub(update.dead.len() as u64);
        totals.node_bytes =
            (totals.node_bytes + update.new.bytes).saturating_sub(update.dead_bytes);
        self.written_bytes += update.new.bytes;
        self.dead.append(&mut update.dead);
        let lists = &mut self.head.dead;
        let freed_bytes = bury(
            &frozen.reader,
            self.batch,
            frozen.boundaries,
            &self.dead,
            lists,
        )?;
        let used_bytes = self.head.used_bytes.saturating_add(self.written_bytes);
        self.head.used_bytes = used_bytes.saturating_sub(freed_bytes);
        Ok(self.head)
    }
}
