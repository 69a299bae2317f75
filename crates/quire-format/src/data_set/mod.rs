//! Data sets: files whose records are pages of a volume, compressed invisibly to the programs that use them.
//!
//! A volume of data sets has their table on page 1. Each data set has a *head* and a tree of *items*; an item is a
//! key and a value, and the key says what the value is ([`DataSetItem`]). Nodes of the tree and records are pages that
//! never change: a newer node is another page. Snapshots and clones are roots of older trees.

mod dead_pages;
mod head;
mod inode;
mod item;
mod logged_writes;
mod node;
mod properties;
mod record;
mod table;
#[cfg(test)]
mod tests;

pub use dead_pages::{DEAD_PAGES_MAX, DeadPages};
pub use head::{CodecTotals, DataSetHead, DataSetTotals};
pub use inode::{DirectoryItem, FileTime, InodeAttributes, InodeKind};
pub use item::{DataSetItem, ITEM_KEY_BYTES_MAX, NAME_BYTES_MAX, ROOT_INODE};
pub use logged_writes::{LoggedWrite, LoggedWrites};
pub use node::{
    DATA_SET_NODE_BYTES_MAX, DataSetNode, ITEM_VALUE_BYTES_MAX, NodeEntry, NodeSize, encode_node,
};
pub use properties::{
    DataSetCodec, DataSetProperties, RECORD_BYTES_MAX, RECORD_BYTES_MIN, SectorRounding,
    SynchronousWrites,
};
pub use record::{FileDictionaries, FileSpace, MeasuredCodec, RecordPointer};
pub(crate) use table::DATA_SET_TABLE_VERSION;
pub use table::{DataSetDefinition, DataSetTable, SnapshotDefinition, SnapshotOrigin};

use crate::document::DiskStructure;
use crate::wire::WireItemReader;
use quire_codec::Corrupt;

pub(crate) const STRUCTURES: &[&DiskStructure] = &[
    &table::STRUCTURE,
    &properties::STRUCTURE,
    &head::STRUCTURE,
    &node::STRUCTURE,
    &item::STRUCTURE,
    &inode::STRUCTURE,
    &record::STRUCTURE,
    &record::SPACE_STRUCTURE,
    &dead_pages::STRUCTURE,
    &logged_writes::STRUCTURE,
];

/// A number to which others are added: less than 2^60.
fn read_total(reader: &mut WireItemReader<'_>) -> Result<u64, Corrupt> {
    let number = reader.varint()?;
    if number < 1 << 60 {
        Ok(number)
    } else {
        Err(reader.corrupt(format!("{number} is more than there can be")))
    }
}
