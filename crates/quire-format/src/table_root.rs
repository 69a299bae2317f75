//! The root of a table: where its row groups are, and what is known of each column as a whole.
//!
//! The layout is in `STRUCTURE` below.
//! Integers and lists are those of the `wire` module, zones those of [`crate::zone`], sketches those of
//! [`crate::distinct_sketch`]. A root is never changed in place: an append writes a new one.

use quire_codec::{Corrupt, PhysicalType};

use crate::catalog::{read_pages, write_pages};
use crate::distinct_sketch::DistinctSketch;
use crate::document::{Field, Structure};
use crate::row_group::{ROW_GROUP_ROWS, read_physical_type};
use crate::volume::PageId;
use crate::wire::{Reader, Writer};
use crate::zone::Zone;

/// Layout version this program writes, and the only one it reads.
pub const TABLE_ROOT_VERSION: u8 = 1;

pub(crate) const STRUCTURE: Structure = Structure {
    name: "Table root (page kind 2)",
    about: "Row groups of a table and what is known of its columns as a whole. Never changed in place: \
            an append writes a new one.",
    fixed_bytes: None,
    fields: &[
        Field::at(0, "1", "version", "1"),
        Field::next("varint", "table_id", "as in the catalog"),
        Field::next("list", "columns", "in declared order; for each:"),
        Field::next("1", "physical_type", "type of the encoded values"),
        Field::next("varint", "raw_bytes", "sum over the row groups"),
        Field::next("varint", "encoded_bytes", "sum over the row groups"),
        Field::next(
            "zone",
            "zone",
            "bounds and NULLs of all rows, without reference",
        ),
        Field::next("sketch", "sketch", "distinct values"),
        Field::next(
            "list",
            "row_groups",
            "in the order of their rows; for each:",
        ),
        Field::next("varint", "row_count", "1 to 131,072"),
        Field::next(
            "list of varint",
            "pages",
            "their payloads, joined, are the row group",
        ),
    ],
};

/// A table's row groups and column summaries.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRoot {
    /// The table's id in the catalog.
    pub table_id: u64,
    /// One per column, in declared order.
    pub columns: Vec<ColumnSummary>,
    /// Row groups in the order of their rows.
    pub row_groups: Vec<RowGroupPointer>,
}

/// What is known of a column of the whole table.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSummary {
    /// Type of the encoded values.
    pub physical_type: PhysicalType,
    /// Sum over the row groups of what the values take as plain arrays.
    pub raw_bytes: u64,
    /// Sum over the row groups of the segments' lengths.
    pub encoded_bytes: u64,
    /// Bounds and NULLs of all rows.
    pub zone: Zone,
    /// Estimates the number of distinct values.
    pub sketch: DistinctSketch,
}

/// Where a row group is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowGroupPointer {
    /// Number of rows, as in the row group itself.
    pub row_count: u64,
    /// Pages whose payloads, joined, are the row group's metadata.
    pub pages: Vec<PageId>,
}

impl TableRoot {
    /// The root of a table without rows.
    pub fn empty(table_id: u64, physical_types: impl IntoIterator<Item = PhysicalType>) -> Self {
        let summary = |physical_type| ColumnSummary {
            physical_type,
            raw_bytes: 0,
            encoded_bytes: 0,
            zone: Zone::default(),
            sketch: DistinctSketch::default(),
        };
        let columns = physical_types.into_iter().map(summary).collect();
        TableRoot {
            table_id,
            columns,
            row_groups: Vec::new(),
        }
    }

    /// Number of rows of the table.
    pub fn row_count(&self) -> u64 {
        self.row_groups
            .iter()
            .map(|row_group| row_group.row_count)
            .sum()
    }

    /// The root's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new(TABLE_ROOT_VERSION);
        writer.varint(self.table_id);
        writer.varint(self.columns.len() as u64);
        for column in &self.columns {
            writer.byte(column.physical_type as u8);
            writer.varint(column.raw_bytes);
            writer.varint(column.encoded_bytes);
            column.zone.encode(None, &mut writer);
            column.sketch.encode(&mut writer);
        }
        writer.varint(self.row_groups.len() as u64);
        for row_group in &self.row_groups {
            writer.varint(row_group.row_count);
            write_pages(&mut writer, &row_group.pages);
        }
        writer.finish()
    }

    /// Reads a root's bytes.
    ///
    /// # Errors
    /// Any bytes that [`TableRoot::encode`] cannot have written.
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = Reader::new(bytes, TABLE_ROOT_VERSION, "table root")?;
        let table_id = reader.varint()?;
        let count = reader.count(6)?;
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            columns.push(ColumnSummary::decode(&mut reader)?);
        }
        let count = reader.count(2)?;
        let mut row_groups = Vec::with_capacity(count);
        for _ in 0..count {
            let row_count = reader.varint()?;
            if row_count == 0 || row_count > ROW_GROUP_ROWS as u64 {
                return Err(reader.corrupt(format!("row group of {row_count} rows")));
            }
            row_groups.push(RowGroupPointer {
                row_count,
                pages: read_pages(&mut reader)?,
            });
        }
        reader.finish()?;
        let root = TableRoot {
            table_id,
            columns,
            row_groups,
        };
        let row_count = root.row_count();
        match root
            .columns
            .iter()
            .find(|column| column.zone.null_count > row_count)
        {
            Some(_) => Err(Corrupt::new("a column has more NULLs than rows", 0)),
            None => Ok(root),
        }
    }
}

impl ColumnSummary {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let physical_type = read_physical_type(reader)?;
        Ok(ColumnSummary {
            physical_type,
            raw_bytes: reader.varint()?,
            encoded_bytes: reader.varint()?,
            zone: Zone::decode(physical_type, u64::MAX, None, reader)?,
            sketch: DistinctSketch::decode(reader)?,
        })
    }
}
