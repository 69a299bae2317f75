//! Which data sets and snapshots there are.

use std::collections::BTreeSet;

use quire_codec::Corrupt;

use super::head::DataSetTotals;
use super::inode::FileTime;
use super::properties::DataSetProperties;
use super::read_total;
use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::{
    read_optional_page, read_page, read_pages, write_optional_page, write_pages,
};
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

/// Different from the versions of catalogs, which are on the same page of other volumes.
pub(crate) const DATA_SET_TABLE_VERSION: u8 = 0xD1;
const VERSION: u8 = DATA_SET_TABLE_VERSION;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Table of data sets (page 1 of a volume of data sets, kind 11)",
    about: "\
Which data sets there are, in the order of their names. A data set that is *dying* is being removed, step by step; so is a snapshot. Replaced when a \
data set or snapshot comes, goes or is given other properties.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "0xD1"),
        StructureField::next("varint", "next_id", "ids are never used again"),
        StructureField::next("list", "sets", "for each:"),
        StructureField::next("text", "name", "unique; parts between slashes"),
        StructureField::next("varint", "id", "unique"),
        StructureField::next("1", "is_dying", "0 or 1"),
        StructureField::next("varint", "head", "page of its head"),
        StructureField::next("properties", "properties", "that are set for it"),
        StructureField::next(
            "varint",
            "origin",
            "0, or the id of the data set of which it is a clone, and then the first page (varint) behind the snapshot",
        ),
        StructureField::next("list", "snapshots", "the oldest first; for each:"),
        StructureField::next("text", "name", "unique in the data set"),
        StructureField::next(
            "varint",
            "boundary",
            "pages of the data set below it are older than the snapshot; ascending",
        ),
        StructureField::next("1", "is_dying", "0 or 1"),
        StructureField::next("varint", "root", "of its tree, 0: no item"),
        StructureField::next("time", "taken", "when it was taken"),
        StructureField::next("totals", "totals", "of the tree"),
        StructureField::next(
            "list of varint",
            "dead",
            "lists of dead pages: what the snapshot before has and this one has not",
        ),
    ],
};

/// The snapshot that a clone was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotOrigin {
    /// Id of its data set.
    pub set: u64,
    /// Its boundary, which names it.
    pub boundary: u64,
}

/// A data set as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotDefinition {
    /// What is behind the `@`.
    pub name: String,
    /// Pages of the data set with lower numbers were there when it was taken; others were not.
    pub boundary: u64,
    /// It is being removed: pages of it are gone.
    pub is_dying: bool,
    /// Of its tree.
    pub root: Option<PageId>,
    /// When it was taken.
    pub taken: FileTime,
    /// Of its tree.
    pub totals: DataSetTotals,
    /// Lists of dead pages.
    pub dead: Vec<PageId>,
}

/// A data set: what only administration changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSetDefinition {
    /// Parts between slashes.
    pub name: String,
    /// Unique for ever.
    pub id: u64,
    /// It is being removed: files of it are gone.
    pub is_dying: bool,
    /// Page of its head.
    pub head: PageId,
    /// What is set for it.
    pub properties: DataSetProperties,
    /// If it is a clone.
    pub origin: Option<SnapshotOrigin>,
    /// The oldest first.
    pub snapshots: Vec<SnapshotDefinition>,
}

/// All data sets of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSetTable {
    /// The next one's.
    pub next_id: u64,
    /// In the order of their names.
    pub sets: Vec<DataSetDefinition>,
}

impl DataSetTable {
    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        writer.varint(self.next_id);
        writer.varint(self.sets.len() as u64);
        for set in &self.sets {
            set.write(&mut writer);
        }
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is no table.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "table of data sets")?;
        let next_id = read_total(&mut reader)?;
        let sets = reader.list(7, DataSetDefinition::read)?;
        let is_sorted = sets.is_sorted_by(|a, b| a.name < b.name);
        let ids: BTreeSet<u64> = sets.iter().map(|set| set.id).collect();
        let heads: BTreeSet<PageId> = sets.iter().map(|set| set.head).collect();
        if !is_sorted
            || ids.len() < sets.len()
            || heads.len() < sets.len()
            || ids.iter().any(|id| !(1..next_id).contains(id))
        {
            return Err(reader.corrupt("names, ids or heads of data sets"));
        }
        let table = Self { next_id, sets };
        for set in &table.sets {
            let origin = set.origin;
            if origin.is_some_and(|origin| table.snapshot(origin).is_none()) {
                return Err(reader.corrupt(format!("{} is a clone of nothing", set.name)));
            }
        }
        reader.finish()?;
        Ok(table)
    }

    /// The snapshot that a clone was made of.
    #[must_use]
    pub fn snapshot(&self, origin: SnapshotOrigin) -> Option<&SnapshotDefinition> {
        let set = self.sets.iter().find(|set| set.id == origin.set)?;
        let mut snapshots = set.snapshots.iter();
        snapshots.find(|snapshot| snapshot.boundary == origin.boundary)
    }
}

impl DataSetDefinition {
    fn write(&self, writer: &mut WireItemWriter) {
        writer.bytes(self.name.as_bytes());
        writer.varint(self.id);
        writer.bool(self.is_dying);
        writer.varint(self.head.get());
        self.properties.write(writer);
        match self.origin {
            None => writer.varint(0),
            Some(origin) => {
                writer.varint(origin.set);
                writer.varint(origin.boundary);
            }
        }
        writer.varint(self.snapshots.len() as u64);
        for snapshot in &self.snapshots {
            snapshot.write(writer);
        }
    }

    fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let set = Self {
            name: reader.text()?,
            id: reader.varint()?,
            is_dying: reader.bool()?,
            head: read_page(reader)?,
            properties: DataSetProperties::read(reader)?,
            origin: match reader.varint()? {
                0 => None,
                set => Some(SnapshotOrigin {
                    set,
                    boundary: reader.varint()?,
                }),
            },
            snapshots: reader.list(30, SnapshotDefinition::read)?,
        };
        let names: BTreeSet<&str> = set.snapshots.iter().map(|one| one.name.as_str()).collect();
        let boundaries = set.snapshots.iter().map(|one| one.boundary);
        if names.len() < set.snapshots.len() || !boundaries.is_sorted_by(|a, b| a < b) {
            return Err(reader.corrupt(format!("snapshots of {}", set.name)));
        }
        Ok(set)
    }
}

impl SnapshotDefinition {
    fn write(&self, writer: &mut WireItemWriter) {
        writer.bytes(self.name.as_bytes());
        writer.varint(self.boundary);
        writer.bool(self.is_dying);
        write_optional_page(writer, self.root);
        self.taken.write(writer);
        self.totals.write(writer);
        write_pages(writer, &self.dead);
    }

    fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            name: reader.text()?,
            boundary: reader.varint()?,
            is_dying: reader.bool()?,
            root: read_optional_page(reader)?,
            taken: FileTime::read(reader)?,
            totals: DataSetTotals::read(reader)?,
            dead: read_pages(reader)?,
        })
    }
}
