//! A node of the tree of a data set: items in a leaf, children in an inner node, found through a table of offsets.
//!
//! A node is searched in its stored form. Every access checks what it reads: the checksum of the page says that the
//! bytes are those that were written, not who wrote them.

use std::cmp::Ordering;

use quire_codec::Corrupt;

use super::item::ITEM_KEY_BYTES_MAX;
use crate::document::{DiskStructure, StructureField};
use crate::volume::PageId;

/// Longest payload of a node.
pub const DATA_SET_NODE_BYTES_MAX: usize = 16 << 10;
/// Longest value of an item: four items of the longest key and value fit into a node.
pub const ITEM_VALUE_BYTES_MAX: usize = 3 << 10;

const VERSION: u8 = 1;
/// No tree is higher: a node that is not the root has two entries at least, and there are 2^40 pages.
const LEVEL_MAX: u8 = 40;
const HEAD_BYTES: usize = 6;
/// An offset, and the length of what follows the prefix.
const ENTRY_HEAD_BYTES: usize = 4;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Node of a data set (payload of page kind 13)",
    about: "\
At most 16 KiB. Keys ascend. The key of a child is not above the keys in it; the keys of the next child are all above.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::at(
            1,
            "1",
            "level",
            "0: items; else children that are one level lower; at most 40",
        ),
        StructureField::at(2, "2", "count", "entries, at least 1"),
        StructureField::at(4, "2", "prefix_bytes", "of what all keys begin with"),
        StructureField::at(
            6,
            "2 each",
            "offsets",
            "byte of the payload where each entry starts, ascending",
        ),
        StructureField::next("prefix_bytes", "prefix", "what all keys begin with"),
        StructureField::next(
            "2",
            "key_bytes",
            "of each entry: length of the rest of its key",
        ),
        StructureField::next("key_bytes", "key", "the rest of the key"),
        StructureField::next("rest", "value", "to the next entry; of a child its page, 8"),
    ],
};

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEntry {
    /// As bytes they say the order.
    pub key: Vec<u8>,
    /// Of a child its page.
    pub value: Vec<u8>,
}

impl NodeEntry {
    /// An entry that leads to a child.
    #[must_use]
    pub fn of_child(key: Vec<u8>, page: PageId) -> Self {
        let value = page.get().to_le_bytes().to_vec();
        Self { key, value }
    }

    /// What the entry takes in a node without a prefix.
    #[must_use]
    pub fn bytes(&self) -> usize {
        ENTRY_HEAD_BYTES + self.key.len() + self.value.len()
    }
}

/// The length of a node while entries are added to it in their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeSize {
    count: usize,
    prefix_bytes: usize,
    entry_bytes: usize,
}

impl NodeSize {
    /// With one entry more; `first` is the first key of the node.
    #[must_use]
    pub fn with(&self, first: &[u8], entry: &NodeEntry) -> Self {
        let shared_bytes = common_bytes(first, &entry.key);
        let prefix_bytes = if self.count == 0 {
            entry.key.len()
        } else {
            self.prefix_bytes.min(shared_bytes)
        };
        Self {
            count: self.count + 1,
            prefix_bytes,
            entry_bytes: self.entry_bytes + entry.bytes(),
        }
    }

    /// Bytes of the payload.
    #[must_use]
    pub fn bytes(&self) -> usize {
        HEAD_BYTES + self.prefix_bytes + self.entry_bytes - self.count * self.prefix_bytes
    }
}

fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The payload of a node with `entries`, which are in their order, not empty, and fit.
#[must_use]
pub fn encode_node(level: u8, entries: &[NodeEntry]) -> Vec<u8> {
    let first = entries
        .first()
        .map_or(&[][..], |first| first.key.as_slice());
    let shared = entries.iter().map(|entry| common_bytes(first, &entry.key));
    let prefix_bytes = shared.min().unwrap_or(0);
    let prefix = &first[..prefix_bytes];
    let entry_bytes: usize = entries.iter().map(NodeEntry::bytes).sum();
    let mut bytes = Vec::with_capacity(HEAD_BYTES + prefix_bytes + entry_bytes);
    bytes.push(VERSION);
    bytes.push(level);
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((prefix_bytes as u16).to_le_bytes());
    let mut offset = HEAD_BYTES + 2 * entries.len() + prefix_bytes;
    for entry in entries {
        bytes.extend((offset as u16).to_le_bytes());
        offset += 2 + entry.key.len() - prefix_bytes + entry.value.len();
    }
    bytes.extend(prefix);
    for entry in entries {
        let rest = &entry.key[prefix_bytes..];
        bytes.extend((rest.len() as u16).to_le_bytes());
        bytes.extend(rest);
        bytes.extend(&entry.value);
    }
    bytes
}

/// A stored node.
#[derive(Clone, Copy, Debug)]
pub struct DataSetNode<'a> {
    bytes: &'a [u8],
    level: u8,
    count: usize,
    prefix: &'a [u8],
}

impl<'a> DataSetNode<'a> {
    /// Looks at the head of a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is no node.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let head: &[u8; HEAD_BYTES] = bytes
            .first_chunk()
            .ok_or_else(|| Corrupt::new("node of a data set is cut off", 0))?;
        let [version, level, count @ .., _, _] = *head;
        if version != VERSION {
            let what = format!("node of a data set has version {version}");
            return Err(Corrupt::new(what, 0));
        }
        let count = usize::from(u16::from_le_bytes(count));
        let prefix_bytes = usize::from(u16::from_le_bytes([head[4], head[5]]));
        let start = HEAD_BYTES + 2 * count;
        let prefix = bytes.get(start..start + prefix_bytes);
        match prefix {
            Some(prefix)
                if count > 0
                    && level <= LEVEL_MAX
                    && prefix_bytes <= ITEM_KEY_BYTES_MAX
                    && bytes.len() <= DATA_SET_NODE_BYTES_MAX =>
            {
                Ok(Self {
                    bytes,
                    level,
                    count,
                    prefix,
                })
            }
            _ => Err(Corrupt::new("head of a node of a data set", 1)),
        }
    }

    /// 0 for a leaf.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Entries, at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The key of an entry behind the prefix, and its value.
    fn parts(&self, index: usize) -> Result<(&'a [u8], &'a [u8]), Corrupt> {
        let start = self.offset(index)?;
        let end = if index + 1 == self.count {
            self.bytes.len()
        } else {
            self.offset(index + 1)?
        };
        let wrong = || Corrupt::new(format!("entry {index} of a node of a data set"), start);
        let entry = self.bytes.get(start..end).ok_or_else(wrong)?;
        let (length, rest) = entry.split_first_chunk::<2>().ok_or_else(wrong)?;
        let key_bytes = usize::from(u16::from_le_bytes(*length));
        rest.split_at_checked(key_bytes).ok_or_else(wrong)
    }

    fn offset(&self, index: usize) -> Result<usize, Corrupt> {
        let at = HEAD_BYTES + 2 * index;
        let found = self.bytes.get(at..).and_then(<[u8]>::first_chunk::<2>);
        let offset = found.filter(|_| index < self.count);
        let offset = offset.ok_or_else(|| Corrupt::new("entry that the node has not", at))?;
        Ok(usize::from(u16::from_le_bytes(*offset)))
    }

    /// The whole key of an entry.
    ///
    /// # Errors
    /// [`Corrupt`] when the node is damaged.
    pub fn key(&self, index: usize) -> Result<Vec<u8>, Corrupt> {
        Ok([self.prefix, self.parts(index)?.0].concat())
    }

    /// The value of an entry.
    ///
    /// # Errors
    /// [`Corrupt`] when the node is damaged.
    pub fn value(&self, index: usize) -> Result<&'a [u8], Corrupt> {
        Ok(self.parts(index)?.1)
    }

    /// An entry as a value of its own.
    ///
    /// # Errors
    /// [`Corrupt`] when the node is damaged.
    pub fn entry(&self, index: usize) -> Result<NodeEntry, Corrupt> {
        let (rest, value) = self.parts(index)?;
        Ok(NodeEntry {
            key: [self.prefix, rest].concat(),
            value: value.to_vec(),
        })
    }

    /// The page of a child.
    ///
    /// # Errors
    /// [`Corrupt`] when the node is damaged.
    pub fn child(&self, index: usize) -> Result<PageId, Corrupt> {
        let value = self.value(index)?;
        let number = value.try_into().ok().map(u64::from_le_bytes);
        number
            .and_then(PageId::new)
            .ok_or_else(|| Corrupt::new(format!("page of child {index}"), self.bytes.len()))
    }

    /// How the key of an entry compares with `key`.
    fn compare(&self, index: usize, key: &[u8]) -> Result<Ordering, Corrupt> {
        let rest = self.parts(index)?.0;
        Ok(match key.split_at_checked(self.prefix.len()) {
            Some((start, end)) => self.prefix.cmp(start).then_with(|| rest.cmp(end)),
            None => self.prefix.iter().chain(rest).cmp(key),
        })
    }

    /// The first entry whose key is not below `key`, and whether it is equal.
    ///
    /// # Errors
    /// [`Corrupt`] when the node is damaged.
    pub fn search(&self, key: &[u8]) -> Result<(usize, bool), Corrupt> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.compare(middle, key)? {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }

    /// The child that has `key`, if any has.
    ///
    /// # Errors
    /// [`Corrupt`] when the node is damaged.
    pub fn child_for(&self, key: &[u8]) -> Result<usize, Corrupt> {
        let (at, is_equal) = self.search(key)?;
        Ok(if is_equal { at } else { at.saturating_sub(1) })
    }

    /// Looks at every entry: offsets, lengths, order, children.
    ///
    /// # Errors
    /// [`Corrupt`] for the first rule that does not hold.
    pub fn verify(&self) -> Result<(), Corrupt> {
        let entries = HEAD_BYTES + 2 * self.count + self.prefix.len();
        if self.offset(0)? != entries {
            return Err(Corrupt::new(
                "the first entry of a node is elsewhere",
                HEAD_BYTES,
            ));
        }
        let mut before: Option<Vec<u8>> = None;
        for index in 0..self.count {
            let key = self.key(index)?;
            let at = self.offset(index)?;
            if before.as_ref().is_some_and(|before| *before >= key) {
                return Err(Corrupt::new("keys of a node do not ascend", at));
            }
            if key.len() > ITEM_KEY_BYTES_MAX || self.value(index)?.len() > ITEM_VALUE_BYTES_MAX {
                return Err(Corrupt::new("key or value is too long", at));
            }
            if self.level > 0 {
                self.child(index)?;
            }
            before = Some(key);
        }
        Ok(())
    }
}
