//! A walk over a tree that looks at every byte.

use std::collections::BTreeSet;

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;
use quire_format::data_set::{DataSetItem, DataSetTotals, NodeEntry, RecordPointer};
use quire_store::PageId;

use super::files::FileCheck;
use crate::context::DeviceContext;
use crate::error::DeviceStorageError;
use crate::tree::{PageReader, open_node};

/// The pages of a tree and what they take.
pub(super) struct CheckedTree {
    pub(super) pages: BTreeSet<PageId>,
    pub(super) totals: DataSetTotals,
}

/// A tree that is being walked over.
pub(super) struct TreeCheck<'a> {
    context: &'a DeviceContext,
    reader: &'a PageReader,
    /// Records of other trees, which have been read.
    seen: &'a BTreeSet<PageId>,
    files: Option<&'a mut FileCheck>,
    pages: BTreeSet<PageId>,
    totals: DataSetTotals,
}

impl<'a> TreeCheck<'a> {
    pub(super) fn new(
        context: &'a DeviceContext,
        reader: &'a PageReader,
        seen: &'a BTreeSet<PageId>,
        files: Option<&'a mut FileCheck>,
    ) -> Self {
        Self {
            context,
            reader,
            seen,
            files,
            pages: BTreeSet::new(),
            totals: DataSetTotals::default(),
        }
    }

    pub(super) fn into_tree(self) -> CheckedTree {
        CheckedTree {
            pages: self.pages,
            totals: self.totals,
        }
    }

    pub(super) fn walk(&mut self, root: Option<PageId>) -> Result<(), DeviceStorageError> {
        match root {
            Some(root) => self.node(root, None, (None, None)),
            None => Ok(()),
        }
    }

    /// The keys of a node are in the range that its parent says.
    fn node(
        &mut self,
        page: PageId,
        level: Option<u8>,
        (lower, upper): (Option<&[u8]>, Option<&[u8]>),
    ) -> Result<(), DeviceStorageError> {
        let reader = self.reader;
        let corrupt = |corrupt: Corrupt| reader.corrupt(page, &corrupt);
        self.meet(page)?;
        let payload = reader.payload(page)?;
        let node = open_node(&payload, level).map_err(corrupt)?;
        node.verify().map_err(corrupt)?;
        self.totals.nodes += 1;
        self.totals.node_bytes += payload.len() as u64;
        let last = node.key(node.count() - 1).map_err(corrupt)?;
        let first = node.key(0).map_err(corrupt)?;
        let is_below = lower.is_some_and(|lower| &first[..] < lower);
        if is_below || upper.is_some_and(|upper| &last[..] >= upper) {
            return Err(corrupt(Corrupt::new(
                "keys are not in the range of the node",
                0,
            )));
        }
        for index in 0..node.count() {
            let NodeEntry { key, value } = node.entry(index).map_err(corrupt)?;
            if node.level() == 0 {
                self.item(page, &key, &value)?;
                continue;
            }
            let child = node.child(index).map_err(corrupt)?;
            let next = (index + 1 < node.count()).then(|| node.key(index + 1));
            let next = next.transpose().map_err(corrupt)?;
            let range = (Some(&key[..]), next.as_deref().or(upper));
            self.node(child, Some(node.level() - 1), range)?;
        }
        Ok(())
    }

    /// A page is in a tree once.
    fn meet(&mut self, page: PageId) -> Result<(), DeviceStorageError> {
        if self.pages.insert(page) {
            return Ok(());
        }
        let corrupt = Corrupt::new("the tree has this page twice", 0);
        Err(self.reader.corrupt(page, &corrupt))
    }

    fn item(&mut self, page: PageId, key: &[u8], value: &[u8]) -> Result<(), DeviceStorageError> {
        let reader = self.reader;
        let item = DataSetItem::decode(key).map_err(|corrupt| reader.corrupt(page, &corrupt))?;
        if let Some(files) = &mut self.files {
            let noted = files.item(item, value, reader);
            noted.map_err(|corrupt| reader.corrupt(page, &corrupt))?;
        }
        match item {
            DataSetItem::Record(..) => {
                let pointer = RecordPointer::decode(value);
                let pointer = pointer.map_err(|corrupt| reader.corrupt(page, &corrupt))?;
                self.record(&pointer)
            }
            DataSetItem::Dictionary(_, dictionary) => self.dictionary(dictionary),
            _ => Ok(()),
        }
    }

    fn dictionary(&mut self, page: PageId) -> Result<(), DeviceStorageError> {
        self.meet(page)?;
        self.context.dictionary(self.reader, page)?;
        let stored_bytes = self.reader.pin.payload_bytes(page).unwrap_or(0);
        self.totals.codecs[BlockCodecId::Zstd as usize].stored_bytes += u64::from(stored_bytes);
        Ok(())
    }

    fn record(&mut self, pointer: &RecordPointer) -> Result<(), DeviceStorageError> {
        self.meet(pointer.page)?;
        let totals = &mut self.totals.codecs[pointer.codec as usize];
        totals.records += 1;
        totals.raw_bytes += u64::from(pointer.raw_bytes);
        let stored_bytes = self.reader.pin.payload_bytes(pointer.page).unwrap_or(0);
        totals.stored_bytes += u64::from(stored_bytes);
        if !self.seen.contains(&pointer.page) {
            self.context.stored_record(self.reader, pointer)?;
        }
        Ok(())
    }
}
