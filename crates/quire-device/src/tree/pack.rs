//! Putting entries into nodes.

use quire_format::data_set::{DATA_SET_NODE_BYTES_MAX, NodeEntry, NodeSize, encode_node};

use super::nodes::NewNodes;
use crate::error::DeviceStorageError;

/// So many bytes of entries are kept back at most: nodes are written while entries come.
const KEPT_BYTES_MAX: usize = 16 * DATA_SET_NODE_BYTES_MAX;
/// Entries that take less are put together with those of a neighbour.
const SMALL_BYTES: usize = DATA_SET_NODE_BYTES_MAX / 4;

/// Collects the entries of neighbouring nodes of one level, in their order, and writes them as new nodes.
pub(super) struct NodePacker {
    level: u8,
    entries: Vec<NodeEntry>,
    entry_bytes: usize,
    written: Vec<NodeEntry>,
}

impl NodePacker {
    pub(super) fn new(level: u8) -> Self {
        Self {
            level,
            entries: Vec::new(),
            entry_bytes: 0,
            written: Vec::new(),
        }
    }

    pub(super) fn push(
        &mut self,
        entry: NodeEntry,
        new: &mut NewNodes<'_>,
    ) -> Result<(), DeviceStorageError> {
        self.entry_bytes += entry.bytes();
        self.entries.push(entry);
        if self.entry_bytes > KEPT_BYTES_MAX {
            self.write_some(KEPT_BYTES_MAX / 2, new)?;
        }
        Ok(())
    }

    /// Whether the entries would make a node that is better put together with its neighbour.
    pub(super) fn is_small(&self) -> bool {
        self.written.is_empty() && !self.entries.is_empty() && self.entry_bytes < SMALL_BYTES
    }

    /// The only entry, if there is one and no node has been written.
    pub(super) fn only_entry(&self) -> Option<&NodeEntry> {
        match &self.entries[..] {
            [one] if self.written.is_empty() => Some(one),
            _ => None,
        }
    }

    /// The entries, of which no node has been written.
    pub(super) fn into_entries(self) -> Vec<NodeEntry> {
        self.entries
    }

    /// Writes what is left, and returns the entries that lead to the nodes.
    pub(super) fn finish(
        mut self,
        new: &mut NewNodes<'_>,
    ) -> Result<Vec<NodeEntry>, DeviceStorageError> {
        self.write_some(0, new)?;
        Ok(self.written)
    }

    /// Writes nodes until no more than `kept_bytes` are left.
    fn write_some(
        &mut self,
        kept_bytes: usize,
        new: &mut NewNodes<'_>,
    ) -> Result<(), DeviceStorageError> {
        let mut start = 0;
        while self.entry_bytes > kept_bytes {
            let rest = &self.entries[start..];
            let count = node_count(rest);
            let taken = &rest[..count];
            let page = new.write(&encode_node(self.level, taken))?;
            let bytes: usize = taken.iter().map(NodeEntry::bytes).sum();
            if let Some(first) = taken.first() {
                let entry = NodeEntry::of_child(first.key.clone(), page);
                self.written.push(entry);
            }
            self.entry_bytes -= bytes;
            start += count;
        }
        self.entries.drain(..start);
        Ok(())
    }
}

/// How many of the entries, of which there is one at least, become the next node: as many as fit, or half of them when the rest fits into
/// another one.
fn node_count(entries: &[NodeEntry]) -> usize {
    let fitting = fitting(entries);
    let rest = &entries[fitting..];
    if rest.is_empty() || self::fitting(rest) < rest.len() {
        return fitting;
    }
    let half: usize = entries.iter().map(NodeEntry::bytes).sum::<usize>() / 2;
    let mut bytes = 0;
    let before_half = entries.iter().take_while(|entry| {
        bytes += entry.bytes();
        bytes <= half
    });
    before_half.count().clamp(1, fitting)
}

/// How many entries fit into a node: four at least, if there are as many.
fn fitting(entries: &[NodeEntry]) -> usize {
    let mut size = NodeSize::default();
    for (index, entry) in entries.iter().enumerate() {
        size = size.with(&entries[0].key, entry);
        if size.bytes() > DATA_SET_NODE_BYTES_MAX {
            return index.max(1);
        }
    }
    entries.len()
}
