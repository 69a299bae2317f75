//! Changing a tree: its nodes on the way to what changes are written anew, the others stay.

use quire_format::data_set::{DataSetNode, NodeEntry};
use quire_store::{PageId, WriteBatch};

use super::nodes::NewNodes;
use super::pack::NodePacker;
use super::read::{PageReader, open_node};
use crate::error::DeviceStorageError;

/// What becomes of a key: a value, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeChange {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Option<Vec<u8>>,
}

/// Changes of one tree in one batch.
pub(crate) struct TreeUpdate<'a> {
    /// Reads the tree as it was.
    reader: &'a PageReader,
    /// Nodes that the tree has not any more.
    pub(crate) dead: Vec<PageId>,
    pub(crate) dead_bytes: u64,
    pub(crate) new: NewNodes<'a>,
}

impl<'a> TreeUpdate<'a> {
    pub(crate) fn new(reader: &'a PageReader, batch: &'a WriteBatch) -> Self {
        Self {
            reader,
            dead: Vec::new(),
            dead_bytes: 0,
            new: NewNodes::new(batch),
        }
    }

    /// The root of the tree with `changes`, which are in the order of their keys, each once.
    pub(crate) fn apply(
        &mut self,
        root: Option<PageId>,
        changes: &[TreeChange],
    ) -> Result<Option<PageId>, DeviceStorageError> {
        if changes.is_empty() {
            return Ok(root);
        }
        let mut level = match root {
            None => 0,
            Some(page) => self
                .reader
                .decoded(page, |payload| Ok(open_node(payload, None)?.level()))?,
        };
        let mut packer = NodePacker::new(level);
        match root {
            Some(page) => self.rewrite(page, level, changes, &mut packer)?,
            None => self.push_values(changes, &mut packer)?,
        }
        loop {
            if let Some(one) = packer.only_entry().filter(|_| level > 0) {
                return Ok(child_of(one));
            }
            let nodes = packer.finish(&mut self.new)?;
            if let [] | [_] = &nodes[..] {
                return Ok(nodes.first().and_then(child_of));
            }
            level += 1;
            packer = NodePacker::new(level);
            for node in nodes {
                packer.push(node, &mut self.new)?;
            }
        }
    }

    /// Hands what the node has with `changes` to `out`. The node is dead then.
    fn rewrite(
        &mut self,
        page: PageId,
        level: u8,
        changes: &[TreeChange],
        out: &mut NodePacker,
    ) -> Result<(), DeviceStorageError> {
        let payload = self.reader.payload(page)?;
        self.dead.push(page);
        self.dead_bytes += payload.len() as u64;
        let node = open_node(&payload, Some(level));
        let node = node.map_err(|corrupt| self.reader.corrupt(page, &corrupt))?;
        if level == 0 {
            self.merge(page, &node, changes, out)
        } else {
            self.rewrite_children(page, &node, changes, out)
        }
    }

    fn merge(
        &mut self,
        page: PageId,
        node: &DataSetNode<'_>,
        changes: &[TreeChange],
        out: &mut NodePacker,
    ) -> Result<(), DeviceStorageError> {
        let reader = self.reader;
        let entry = |index| {
            let entry = node.entry(index);
            entry.map_err(|corrupt| reader.corrupt(page, &corrupt))
        };
        let mut rest = changes;
        for index in 0..node.count() {
            let old = entry(index)?;
            let before = rest.partition_point(|change| change.key < old.key);
            let (now, later) = rest.split_at(before);
            self.push_values(now, out)?;
            rest = later;
            match rest.split_first() {
                Some((change, later)) if change.key == old.key => {
                    self.push_values(std::slice::from_ref(change), out)?;
                    rest = later;
                }
                _ => out.push(old, &mut self.new)?,
            }
        }
        self.push_values(rest, out)
    }

    fn push_values(
        &mut self,
        changes: &[TreeChange],
        out: &mut NodePacker,
    ) -> Result<(), DeviceStorageError> {
        for TreeChange { key, value } in changes {
            if let Some(value) = value.clone() {
                let key = key.clone();
                out.push(NodeEntry { key, value }, &mut self.new)?;
            }
        }
        Ok(())
    }

    /// Children without changes stay as they are, unless a small neighbour is put together with them.
    fn rewrite_children(
        &mut self,
        page: PageId,
        node: &DataSetNode<'_>,
        changes: &[TreeChange],
        out: &mut NodePacker,
    ) -> Result<(), DeviceStorageError> {
        let reader = self.reader;
        let below = node.level() - 1;
        let mut rest = changes;
        // The child before the run, which is not written anew; and the run of children that are.
        let mut held: Option<NodeEntry> = None;
        let mut run: Option<NodePacker> = None;
        for index in 0..node.count() {
            let (child, entry, next) =
                neighbours(node, index).map_err(|corrupt| reader.corrupt(page, &corrupt))?;
            let end = next.map_or(rest.len(), |next| {
                rest.partition_point(|change| change.key < next)
            });
            let (mine, later) = rest.split_at(end);
            rest = later;
            if !mine.is_empty() || run.as_ref().is_some_and(NodePacker::is_small) {
                let packer = run.get_or_insert_with(|| NodePacker::new(below));
                self.rewrite(child, below, mine, packer)?;
                continue;
            }
            if let Some(before) = held.replace(entry) {
                out.push(before, &mut self.new)?;
            }
            if let Some(packer) = run.take() {
                // The child that was put into `held` comes behind the run.
                for written in packer.finish(&mut self.new)? {
                    out.push(written, &mut self.new)?;
                }
            }
        }
        self.end_run(held, run, below, out)
    }

    /// The last run of a node: when it is small, the child before is put together with it.
    fn end_run(
        &mut self,
        held: Option<NodeEntry>,
        run: Option<NodePacker>,
        below: u8,
        out: &mut NodePacker,
    ) -> Result<(), DeviceStorageError> {
        let Some(packer) = run else {
            return held.map_or(Ok(()), |held| out.push(held, &mut self.new));
        };
        let before = held
            .as_ref()
            .filter(|_| packer.is_small())
            .and_then(child_of);
        let packer = if let Some(before) = before {
            let mut joined = NodePacker::new(below);
            self.rewrite(before, below, &[], &mut joined)?;
            for entry in packer.into_entries() {
                joined.push(entry, &mut self.new)?;
            }
            joined
        } else {
            if let Some(held) = held {
                out.push(held, &mut self.new)?;
            }
            packer
        };
        for written in packer.finish(&mut self.new)? {
            out.push(written, &mut self.new)?;
        }
        Ok(())
    }
}

/// A child, its entry, and the key of the next one.
fn neighbours(
    node: &DataSetNode<'_>,
    index: usize,
) -> Result<(PageId, NodeEntry, Option<Vec<u8>>), quire_codec::Corrupt> {
    let has_next = index + 1 < node.count();
    let next = has_next.then(|| node.key(index + 1)).transpose()?;
    Ok((node.child(index)?, node.entry(index)?, next))
}

fn child_of(entry: &NodeEntry) -> Option<PageId> {
    let number = entry.value.as_slice().try_into().ok()?;
    PageId::new(u64::from_le_bytes(number))
}
