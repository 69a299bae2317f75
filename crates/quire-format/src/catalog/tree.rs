//! Where the trees of row tables, and of what belongs to other tables, begin.

use quire_codec::Corrupt;

use crate::page_numbers::read_page;
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

const ROWS: u8 = 1;
const OVERFLOW: u8 = 2;
const INDEX: u8 = 3;
const DELTA: u8 = 4;
const DELETIONS: u8 = 5;
const SEQUENCES: u8 = 6;
const SAMPLES: u8 = 7;

/// What is in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeRole {
    /// The rows of a row table, by primary key or hidden row id.
    Rows,
    /// What is too long for the rows' tree.
    Overflow,
    /// The index of that id.
    Index(u64),
    /// Rows of a column table that are not in its segments yet.
    Delta,
    /// Rows of a column table's segments that are deleted.
    Deletions,
    /// The values that sequences have come to; it belongs to no table.
    Sequences,
    /// What `ANALYZE` has found, of all tables; it belongs to no table.
    Samples,
}

/// A tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeRecord {
    /// What is in it.
    pub role: TreeRole,
    /// Id, unique for the life of the database; the log names trees by it.
    pub id: u64,
    /// Its root page, which it keeps for its life. A page that is not there is a tree without entries.
    pub root: PageId,
}

impl TreeRecord {
    fn encode(&self, writer: &mut WireItemWriter) {
        writer.byte(match self.role {
            TreeRole::Rows => ROWS,
            TreeRole::Overflow => OVERFLOW,
            TreeRole::Index(_) => INDEX,
            TreeRole::Delta => DELTA,
            TreeRole::Deletions => DELETIONS,
            TreeRole::Sequences => SEQUENCES,
            TreeRole::Samples => SAMPLES,
        });
        if let TreeRole::Index(id) = self.role {
            writer.varint(id);
        }
        writer.varint(self.id);
        writer.varint(self.root.get());
    }

    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let role = match reader.byte()? {
            ROWS => TreeRole::Rows,
            OVERFLOW => TreeRole::Overflow,
            INDEX => TreeRole::Index(reader.varint()?),
            DELTA => TreeRole::Delta,
            DELETIONS => TreeRole::Deletions,
            SEQUENCES => TreeRole::Sequences,
            SAMPLES => TreeRole::Samples,
            other => return Err(reader.corrupt(format!("unknown role {other} of a tree"))),
        };
        Ok(TreeRecord {
            role,
            id: reader.varint()?,
            root: read_page(reader)?,
        })
    }
}

pub(super) fn write_trees(writer: &mut WireItemWriter, trees: &[TreeRecord]) {
    writer.varint(trees.len() as u64);
    for tree in trees {
        tree.encode(writer);
    }
}

pub(super) fn read_trees(reader: &mut WireItemReader<'_>) -> Result<Vec<TreeRecord>, Corrupt> {
    reader.list(3, TreeRecord::decode)
}
