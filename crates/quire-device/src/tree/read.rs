//! Finding items in a tree as of one commit.

use std::ops::ControlFlow;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::data_set::{DataSetNode, NodeEntry};
use quire_store::{PageId, Pin};

use crate::error::DeviceStorageError;

/// Reads the pages of one commit.
#[derive(Clone)]
pub(crate) struct PageReader {
    pub(crate) pin: Pin,
    /// Path of the file, for messages.
    pub(crate) file: Arc<str>,
}

impl PageReader {
    pub(crate) fn payload(&self, page: PageId) -> Result<Arc<[u8]>, DeviceStorageError> {
        Ok(self.pin.read(page)?)
    }

    pub(crate) fn corrupt(&self, page: PageId, corrupt: &Corrupt) -> DeviceStorageError {
        DeviceStorageError::corrupt(&self.file, page, corrupt)
    }

    /// What `decode` makes of the payload of a page.
    pub(crate) fn decoded<T>(
        &self,
        page: PageId,
        decode: impl FnOnce(&[u8]) -> Result<T, Corrupt>,
    ) -> Result<T, DeviceStorageError> {
        let payload = self.payload(page)?;
        decode(&payload).map_err(|corrupt| self.corrupt(page, &corrupt))
    }

    /// The value of a key.
    pub(crate) fn get(
        &self,
        root: Option<PageId>,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, DeviceStorageError> {
        let mut next = root.map(|root| (root, None));
        while let Some((page, level)) = next {
            let payload = self.payload(page)?;
            let found = step(&payload, level, key);
            match found.map_err(|corrupt| self.corrupt(page, &corrupt))? {
                Found::Value(value) => return Ok(value.map(<[u8]>::to_vec)),
                Found::Child(child, level) => next = Some((child, Some(level))),
            }
        }
        Ok(None)
    }

    /// Shows the items from `from` on in their order, until `visit` breaks.
    pub(crate) fn scan(
        &self,
        root: Option<PageId>,
        from: &[u8],
        visit: &mut dyn FnMut(NodeEntry) -> ControlFlow<()>,
    ) -> Result<(), DeviceStorageError> {
        match root {
            Some(root) => self.scan_node(root, None, from, visit).map(|_| ()),
            None => Ok(()),
        }
    }

    fn scan_node(
        &self,
        page: PageId,
        level: Option<u8>,
        from: &[u8],
        visit: &mut dyn FnMut(NodeEntry) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, DeviceStorageError> {
        let payload = self.payload(page)?;
        let corrupt = |corrupt: Corrupt| self.corrupt(page, &corrupt);
        let node = open_node(&payload, level).map_err(corrupt)?;
        if node.level() == 0 {
            let (start, _) = node.search(from).map_err(corrupt)?;
            for index in start..node.count() {
                if visit(node.entry(index).map_err(corrupt)?).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let start = node.child_for(from).map_err(corrupt)?;
        for index in start..node.count() {
            let child = node.child(index).map_err(corrupt)?;
            let below = Some(node.level() - 1);
            // All of a later child is behind `from`. In a damaged tree it may not be, and is shown all the same: a walk that
            // shows something in each leaf ends, as `some_items` stops where keys do not ascend.
            let from = if index == start { from } else { &[] };
            if self.scan_node(child, below, from, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// At most `limit` items whose keys begin with `prefix`, from `from` on.
    pub(crate) fn some_items(
        &self,
        root: Option<PageId>,
        prefix: &[u8],
        from: &[u8],
        limit: usize,
    ) -> Result<Vec<NodeEntry>, DeviceStorageError> {
        let mut items: Vec<NodeEntry> = Vec::new();
        let mut ascends = true;
        self.scan(root, from, &mut |entry| {
            // So a caller that goes on behind the last item comes to an end.
            ascends = match items.last() {
                Some(last) => last.key < entry.key,
                None => entry.key.as_slice() >= from,
            };
            if !ascends || items.len() == limit || !entry.key.starts_with(prefix) {
                return ControlFlow::Break(());
            }
            items.push(entry);
            ControlFlow::Continue(())
        })?;
        match root {
            Some(root) if !ascends => {
                let corrupt = Corrupt::new("the keys of the tree do not ascend", 0);
                Err(self.corrupt(root, &corrupt))
            }
            _ => Ok(items),
        }
    }
}

/// A node, which must be of that level if one is known: so no damaged tree is endless.
pub(crate) fn open_node(payload: &[u8], level: Option<u8>) -> Result<DataSetNode<'_>, Corrupt> {
    let node = DataSetNode::open(payload)?;
    match level {
        Some(level) if level != node.level() => {
            let what = format!(
                "node of level {} where level {level} is expected",
                node.level()
            );
            Err(Corrupt::new(what, 1))
        }
        _ => Ok(node),
    }
}

enum Found<'a> {
    Value(Option<&'a [u8]>),
    Child(PageId, u8),
}

fn step<'a>(payload: &'a [u8], level: Option<u8>, key: &[u8]) -> Result<Found<'a>, Corrupt> {
    let node = open_node(payload, level)?;
    if node.level() > 0 {
        let child = node.child(node.child_for(key)?)?;
        return Ok(Found::Child(child, node.level() - 1));
    }
    let (at, is_equal) = node.search(key)?;
    let value = is_equal.then(|| node.value(at)).transpose()?;
    Ok(Found::Value(value))
}
