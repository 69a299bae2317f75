//! What a transaction changed in trees of keys and values, as the log keeps it.
//!
//! The records name trees and keys, never pages: they mean the same whatever splits and merges have made of the tree, and
//! however its pages are compressed. Within one transaction a key of a tree occurs once.

use quire_codec::Corrupt;

use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;
const PUT: u8 = 1;
const REMOVE: u8 = 2;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Redo records of a transaction",
    about: "\
The records of an entry of the log, or of one part of a large transaction: a version, and then changes until the bytes
end. *bytes* is a length (varint) and then as many bytes. A tree that does not exist any more has been dropped since: its
changes are skipped.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::at(1, "1", "change", "1 put, 2 remove; this and what follows is repeated"),
        StructureField::next("varint", "tree", "number of the tree"),
        StructureField::next("bytes", "key", "the whole key"),
        StructureField::next("0 or bytes", "value", "put: the whole value"),
    ],
};

/// One change of one entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedoChange<'a> {
    /// The entry is there afterwards, with this value.
    Put {
        /// Number of the tree.
        tree: u64,
        /// The whole key.
        key: &'a [u8],
        /// The whole value.
        value: &'a [u8],
    },
    /// The entry is not there afterwards.
    Remove {
        /// Number of the tree.
        tree: u64,
        /// The whole key.
        key: &'a [u8],
    },
}

impl RedoChange<'_> {
    /// Number of the tree.
    #[must_use]
    pub const fn tree(&self) -> u64 {
        match self {
            Self::Put { tree, .. } | Self::Remove { tree, .. } => *tree,
        }
    }
}

/// Writes the records of a transaction.
///
/// ```
/// use quire_format::redo::{RedoChange, RedoWriter, redo_changes};
///
/// let mut writer = RedoWriter::default();
/// writer.push(&RedoChange::Put { tree: 7, key: b"k", value: b"v" });
/// let records = writer.finish();
/// let changes: Result<Vec<_>, _> = redo_changes(&records)?.collect();
/// assert_eq!(changes?, [RedoChange::Put { tree: 7, key: b"k", value: b"v" }]);
/// # Ok::<(), quire_codec::Corrupt>(())
/// ```
#[derive(Debug)]
pub struct RedoWriter {
    writer: WireItemWriter,
}

impl Default for RedoWriter {
    fn default() -> Self {
        let writer = WireItemWriter::new(VERSION);
        Self { writer }
    }
}

/// One that writes into the memory of a vector whose content nobody needs.
impl From<Vec<u8>> for RedoWriter {
    fn from(memory: Vec<u8>) -> Self {
        let writer = WireItemWriter::in_memory_of(memory, VERSION);
        Self { writer }
    }
}

impl RedoWriter {
    /// Adds a change.
    pub fn push(&mut self, change: &RedoChange<'_>) {
        let (kind, tree, key, value) = match *change {
            RedoChange::Put { tree, key, value } => (PUT, tree, key, Some(value)),
            RedoChange::Remove { tree, key } => (REMOVE, tree, key, None),
        };
        self.writer.byte(kind);
        self.writer.varint(tree);
        self.writer.bytes(key);
        if let Some(value) = value {
            self.writer.bytes(value);
        }
    }

    /// Bytes so far.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.writer.len()
    }

    /// The records.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.writer.finish()
    }
}

/// The changes in the records of a transaction, in order. After an error there is no more.
///
/// # Errors
/// A version that this program does not know.
pub fn redo_changes(records: &[u8]) -> Result<RedoChanges<'_>, Corrupt> {
    let reader = WireItemReader::new(records, VERSION, "redo records")?;
    Ok(RedoChanges {
        reader: Some(reader),
    })
}

/// See [`redo_changes`].
#[derive(Debug)]
pub struct RedoChanges<'a> {
    /// `None` after the end.
    reader: Option<WireItemReader<'a>>,
}

impl<'a> Iterator for RedoChanges<'a> {
    type Item = Result<RedoChange<'a>, Corrupt>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut().filter(|reader| !reader.is_at_end())?;
        let change = read_change(reader);
        if change.is_err() {
            self.reader = None;
        }
        Some(change)
    }
}

fn read_change<'a>(reader: &mut WireItemReader<'a>) -> Result<RedoChange<'a>, Corrupt> {
    let kind = reader.byte()?;
    if !matches!(kind, PUT | REMOVE) {
        return Err(reader.corrupt(format!("redo record of unknown kind {kind}")));
    }
    let tree = reader.varint()?;
    let key = reader.bytes()?;
    Ok(match kind {
        PUT => RedoChange::Put {
            tree,
            key,
            value: reader.bytes()?,
        },
        _ => RedoChange::Remove { tree, key },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn decode(records: &[u8]) -> Result<Vec<RedoChange<'_>>, Corrupt> {
        redo_changes(records)?.collect()
    }

    #[test]
    fn the_bytes_are_those_of_the_table() {
        let mut writer = RedoWriter::default();
        writer.push(&RedoChange::Put {
            tree: 300,
            key: b"ab",
            value: b"",
        });
        writer.push(&RedoChange::Remove {
            tree: 5,
            key: &[0xff; 130],
        });
        writer.push(&RedoChange::Put {
            tree: 0,
            key: b"",
            value: b"xyz",
        });
        let mut wanted = vec![1];
        wanted.extend([1, 0xac, 0x02, 2, b'a', b'b', 0]);
        wanted.extend([2, 5, 0x82, 0x01]);
        wanted.extend([0xff; 130]);
        wanted.extend([1, 0, 0, 3, b'x', b'y', b'z']);
        assert_eq!(writer.len_bytes(), wanted.len());
        assert_eq!(writer.finish(), wanted);
        let changes = decode(&wanted).unwrap();
        assert_eq!(changes.len(), 3);
        assert_eq!(changes[0].tree(), 300);
        assert_eq!(
            changes[2],
            RedoChange::Put {
                tree: 0,
                key: b"",
                value: b"xyz"
            }
        );
    }

    #[test]
    fn hostile_bytes_are_errors() {
        assert!(decode(&[]).is_err(), "no version");
        assert!(decode(&[2]).is_err(), "a later version");
        assert_eq!(decode(&[1]).unwrap(), []);
        assert!(decode(&[1, 3, 0, 0]).is_err(), "unknown kind");
        assert!(decode(&[1, 2, 0, 5, b'a']).is_err(), "key cut off");
        assert!(decode(&[1, 1, 0, 1, b'a']).is_err(), "value missing");
        let endless = [[1_u8, 1].as_slice(), &[0xff; 30]].concat();
        assert!(decode(&endless).is_err(), "number of more than 64 bits");
        let mut ended = redo_changes(&[1, 9, 9, 9]).unwrap();
        assert!(ended.next().unwrap().is_err());
        assert!(ended.next().is_none(), "nothing follows an error");
    }

    #[test]
    fn cut_records_are_prefixes_or_errors() {
        let mut writer = RedoWriter::default();
        for tree in 0..20_u64 {
            let key = vec![tree as u8; tree as usize];
            writer.push(&RedoChange::Put {
                tree: tree << (3 * tree),
                key: &key,
                value: &key,
            });
        }
        let records = writer.finish();
        let whole = decode(&records).unwrap();
        for cut in 1..records.len() {
            if let Ok(changes) = decode(&records[..cut]) {
                assert_eq!(changes, whole[..changes.len()]);
            }
        }
    }
}
