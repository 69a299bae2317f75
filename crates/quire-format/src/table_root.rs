//! The root of a table: where its row groups are, and what is known of each column as a whole.
//!
//! The layout is in `STRUCTURE` below.
//! Version 3 is version 2 where columns have shared dictionaries ([`quire_codec::text::SharedDictionary`]); a program writes the version that the
//! table needs.
//! Integers and lists are those of the `wire` module, zones those of [`crate::zone`], sketches those of
//! [`crate::distinct_sketch`]. A root is never changed in place: an append writes a new one.

use std::collections::HashSet;

use quire_codec::{Corrupt, PhysicalType};

use crate::distinct_sketch::DistinctSketch;
use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::{read_pages, write_pages};
use crate::row_group::{ROW_GROUP_ROWS, RowGroup, read_physical_type};
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};
use crate::zone::ZoneBounds;

/// Layout version of a table without shared dictionaries.
pub const TABLE_ROOT_VERSION: u8 = 2;
/// Layout version of a table with shared dictionaries.
pub const SHARED_TABLE_ROOT_VERSION: u8 = 3;
/// Oldest layout version it reads. Version 1 has no numbers of row groups: they are their places.
pub const TABLE_ROOT_VERSION_MIN: u8 = 1;

/// Numbers of row groups are less than this: the position of a row is such a number and 17 bits for the row.
pub const ROW_GROUP_NUMBERS: u64 = 1 << 46;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Table root (page kind 2)",
    about: "Row groups of a table and what is known of its columns as a whole. Never changed in place: \
            an append writes a new one. Version 2 has no `dictionaries`, and is that of tables without them. Version 1, which is read too, has neither `next_row_group` nor `number`: row groups are \
            numbered by their places there, from 0.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(
            0,
            "1",
            "version",
            "2, or 3 if a column has shared dictionaries",
        ),
        StructureField::next("varint", "table_id", "as in the catalog"),
        StructureField::next(
            "varint",
            "next_row_group",
            "numbers of row groups are never used again; at most 2^46",
        ),
        StructureField::next("list", "columns", "in declared order; for each:"),
        StructureField::next("1", "physical_type", "type of the encoded values"),
        StructureField::next("varint", "raw_bytes", "sum over the row groups"),
        StructureField::next("varint", "encoded_bytes", "sum over the row groups"),
        StructureField::next(
            "zone",
            "zone",
            "bounds and NULLs of all rows, without reference",
        ),
        StructureField::next("sketch", "sketch", "distinct values"),
        StructureField::next(
            "list",
            "dictionaries",
            "version 3: shared dictionaries of a column of strings, with different fingerprints; for each:",
        ),
        StructureField::next("8", "fingerprint", "what segments name it by"),
        StructureField::next(
            "varint",
            "row_group_count",
            "row groups whose segments refer to it, at least 1",
        ),
        StructureField::next("varint", "stored_bytes", "its length"),
        StructureField::next(
            "list of varint",
            "pages",
            "of kind 4; their payloads, joined, are the dictionary",
        ),
        StructureField::next(
            "list",
            "row_groups",
            "in the order of their rows; for each:",
        ),
        StructureField::next("varint", "number", "less than `next_row_group`, unique"),
        StructureField::next("varint", "row_count", "1 to 131,072"),
        StructureField::next(
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
    /// Number of the next row group; numbers are never used again.
    pub next_row_group: u64,
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
    pub zone: ZoneBounds,
    /// Estimates the number of distinct values.
    pub sketch: DistinctSketch,
    /// Dictionaries to which segments of row groups refer, of one row group at least. Those that none refers to are removed, and their pages freed.
    pub dictionaries: Vec<SharedDictionaryPointer>,
}

/// Where a shared dictionary of a column is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedDictionaryPointer {
    /// What segments name it by.
    pub fingerprint: u64,
    /// Row groups whose segments refer to it.
    pub row_group_count: u64,
    /// Its length.
    pub stored_bytes: u64,
    /// Pages whose payloads, joined, are the dictionary.
    pub pages: Vec<PageId>,
}

/// Where a row group is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowGroupPointer {
    /// What deletions name the row group by; it stays the same whatever becomes of others.
    pub number: u64,
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
            zone: ZoneBounds::default(),
            sketch: DistinctSketch::default(),
            dictionaries: Vec::new(),
        };
        let columns = physical_types.into_iter().map(summary).collect();
        TableRoot {
            table_id,
            next_row_group: 0,
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

    /// The pages of all shared dictionaries.
    pub fn dictionary_pages(&self) -> impl Iterator<Item = &PageId> {
        let dictionaries = self.columns.iter().flat_map(|column| &column.dictionaries);
        dictionaries.flat_map(|dictionary| &dictionary.pages)
    }

    /// A row group comes: the dictionaries that its segments refer to are in use.
    pub fn note_references(&mut self, row_group: &RowGroup) {
        self.count_references(row_group, |count| count.saturating_add(1));
    }

    /// A row group goes. Dictionaries that no other uses stay until [`TableRoot::remove_unused_dictionaries`].
    pub fn forget_references(&mut self, row_group: &RowGroup) {
        self.count_references(row_group, |count| count.saturating_sub(1));
    }

    fn count_references(&mut self, row_group: &RowGroup, change: impl Fn(u64) -> u64) {
        for (column, chunk) in self.columns.iter_mut().zip(&row_group.columns) {
            let is_named =
                |one: &&mut SharedDictionaryPointer| Some(one.fingerprint) == chunk.dictionary;
            if let Some(found) = column.dictionaries.iter_mut().find(is_named) {
                found.row_group_count = change(found.row_group_count);
            }
        }
    }

    /// Removes the dictionaries that no row group uses, and returns their pages, which nothing refers to any more.
    pub fn remove_unused_dictionaries(&mut self) -> Vec<PageId> {
        let mut unused = Vec::new();
        for column in &mut self.columns {
            let gone = column
                .dictionaries
                .extract_if(.., |one| one.row_group_count == 0);
            unused.extend(gone.flat_map(|one| one.pages));
        }
        unused
    }

    /// The root's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let shares = |column: &ColumnSummary| !column.dictionaries.is_empty();
        let version = match self.columns.iter().any(shares) {
            true => SHARED_TABLE_ROOT_VERSION,
            false => TABLE_ROOT_VERSION,
        };
        let mut writer = WireItemWriter::new(version);
        writer.varint(self.table_id);
        writer.varint(self.next_row_group);
        writer.varint(self.columns.len() as u64);
        for column in &self.columns {
            writer.byte(column.physical_type as u8);
            writer.varint(column.raw_bytes);
            writer.varint(column.encoded_bytes);
            column.zone.encode(None, &mut writer);
            column.sketch.encode(&mut writer);
            if version == SHARED_TABLE_ROOT_VERSION {
                column.encode_dictionaries(&mut writer);
            }
        }
        writer.varint(self.row_groups.len() as u64);
        for row_group in &self.row_groups {
            writer.varint(row_group.number);
            writer.varint(row_group.row_count);
            write_pages(&mut writer, &row_group.pages);
        }
        writer.finish()
    }

    /// Reads a root's bytes.
    ///
    /// # Errors
    /// Any bytes that [`TableRoot::encode`], of this version or an older one, cannot have written.
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let version = match bytes.first() {
            Some(&version @ (TABLE_ROOT_VERSION_MIN | SHARED_TABLE_ROOT_VERSION)) => version,
            _ => TABLE_ROOT_VERSION,
        };
        let mut reader = WireItemReader::new(bytes, version, "table root")?;
        let table_id = reader.varint()?;
        let next_row_group = match version {
            TABLE_ROOT_VERSION_MIN => None,
            _ => Some(reader.varint()?),
        };
        let count = reader.count(6)?;
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            columns.push(ColumnSummary::decode(version, &mut reader)?);
        }
        let count = reader.count(2)?;
        let mut row_groups = Vec::with_capacity(count);
        for place in 0..count {
            let place = next_row_group.is_none().then_some(place as u64);
            row_groups.push(RowGroupPointer::decode(&mut reader, place)?);
        }
        reader.finish()?;
        let root = TableRoot {
            table_id,
            next_row_group: next_row_group.unwrap_or(count as u64),
            columns,
            row_groups,
        };
        match root.error().or_else(|| root.dictionary_error(version)) {
            Some(what) => Err(Corrupt::new(what, 0)),
            None => Ok(root),
        }
    }

    /// What is wrong with the shared dictionaries of a root of that version.
    fn dictionary_error(&self, version: u8) -> Option<&'static str> {
        let row_groups = self.row_groups.len() as u64;
        let mut count = 0;
        for column in &self.columns {
            let mut fingerprints = HashSet::new();
            count += column.dictionaries.len();
            for dictionary in &column.dictionaries {
                if column.physical_type != PhysicalType::Bytes {
                    return Some("a column without strings has a dictionary");
                }
                if !(1..=row_groups).contains(&dictionary.row_group_count) {
                    return Some("a dictionary is of no row group, or of more than there are");
                }
                if !fingerprints.insert(dictionary.fingerprint) {
                    return Some("a column has a dictionary twice");
                }
            }
        }
        let has_too_few = version == SHARED_TABLE_ROOT_VERSION && count == 0;
        has_too_few.then_some("no column has a dictionary")
    }

    /// What parts of the root say against each other.
    fn error(&self) -> Option<&'static str> {
        let row_count = self.row_count();
        let mut columns = self.columns.iter();
        if columns.any(|column| column.zone.null_count > row_count) {
            return Some("a column has more NULLs than rows");
        }
        if self.next_row_group > ROW_GROUP_NUMBERS {
            return Some("the number of the next row group is impossible");
        }
        let mut numbers = HashSet::with_capacity(self.row_groups.len());
        let mut row_groups = self.row_groups.iter();
        let is_possible = |one: &RowGroupPointer| one.number < self.next_row_group;
        if !row_groups.all(|one| is_possible(one) && numbers.insert(one.number)) {
            return Some("the number of a row group is impossible, or is there twice");
        }
        None
    }
}

impl RowGroupPointer {
    /// `number` is given where the layout does not have it.
    fn decode(reader: &mut WireItemReader<'_>, number: Option<u64>) -> Result<Self, Corrupt> {
        let number = match number {
            Some(number) => number,
            None => reader.varint()?,
        };
        let row_count = reader.varint()?;
        if row_count == 0 || row_count > ROW_GROUP_ROWS as u64 {
            return Err(reader.corrupt(format!("row group of {row_count} rows")));
        }
        Ok(RowGroupPointer {
            number,
            row_count,
            pages: read_pages(reader)?,
        })
    }
}

impl ColumnSummary {
    /// The shared dictionary with this fingerprint.
    pub fn dictionary(&self, fingerprint: u64) -> Option<&SharedDictionaryPointer> {
        let mut dictionaries = self.dictionaries.iter();
        dictionaries.find(|one| one.fingerprint == fingerprint)
    }

    fn encode_dictionaries(&self, writer: &mut WireItemWriter) {
        writer.varint(self.dictionaries.len() as u64);
        for dictionary in &self.dictionaries {
            writer.raw(&dictionary.fingerprint.to_le_bytes());
            writer.varint(dictionary.row_group_count);
            writer.varint(dictionary.stored_bytes);
            write_pages(writer, &dictionary.pages);
        }
    }

    fn decode(version: u8, reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let physical_type = read_physical_type(reader)?;
        Ok(ColumnSummary {
            physical_type,
            raw_bytes: reader.varint()?,
            encoded_bytes: reader.varint()?,
            zone: ZoneBounds::decode(physical_type, u64::MAX, None, reader)?,
            sketch: DistinctSketch::decode(reader)?,
            dictionaries: match version {
                SHARED_TABLE_ROOT_VERSION => {
                    reader.list(DICTIONARY_BYTES_MIN, SharedDictionaryPointer::decode)?
                }
                _ => Vec::new(),
            },
        })
    }
}

/// Bytes that a root has of a dictionary at least.
const DICTIONARY_BYTES_MIN: usize = 11;

impl SharedDictionaryPointer {
    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        Ok(SharedDictionaryPointer {
            fingerprint: u64::from_le_bytes(reader.array()?),
            row_group_count: reader.varint()?,
            stored_bytes: reader.varint()?,
            pages: read_pages(reader)?,
        })
    }
}
