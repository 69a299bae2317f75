//! One table: its columns, keys, indexes, constraints, options and trees.

use quire_codec::Corrupt;

use super::column::ColumnRecord;
use super::references::{read_index, write_indexes};
use super::tree::{TreeRecord, read_trees, write_trees};
use crate::page_numbers::{read_pages, write_pages};
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

const UNIQUE: u8 = 1;
const CONSTRAINT: u8 = 2;
const DESCENDING: u8 = 1;

/// How the rows of a table are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum TableStorage {
    /// Column by column, in segments.
    #[default]
    Column = 1,
    /// Row by row, in a B+tree.
    Row = 2,
}

/// What becomes of a row that refers to another, when that is deleted or its key changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum ReferentialAction {
    /// The statement fails, if at its end the row still refers to nothing.
    #[default]
    NoAction = 1,
    /// The statement fails.
    Restrict = 2,
    /// The row is deleted, or its key changes too.
    Cascade = 3,
    /// Its columns become NULL.
    SetNull = 4,
    /// Its columns get their defaults.
    SetDefault = 5,
}

/// One table of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableRecord {
    /// Id, unique for the life of the database.
    pub id: u64,
    /// Name, unique among tables, indexes, views and sequences.
    pub name: String,
    /// How its rows are kept.
    pub storage: TableStorage,
    /// Pages whose payloads, joined, are the root of a column table; none of a row table.
    pub root_pages: Vec<PageId>,
    /// Columns in declared order.
    pub columns: Vec<ColumnRecord>,
    /// The primary key.
    pub primary_key: Option<KeyRecord>,
    /// Indexes in the order of their ids.
    pub indexes: Vec<IndexRecord>,
    /// CHECK constraints.
    pub checks: Vec<CheckRecord>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKeyRecord>,
    /// Numbers of options and their values, numbers ascending.
    pub options: Vec<(u8, i64)>,
    /// The trees that hold its rows.
    pub trees: Vec<TreeRecord>,
}

/// A name and columns in the order in which they are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyRecord {
    /// Name, unique as that of a table is.
    pub name: String,
    /// Columns.
    pub columns: Vec<CatalogKeyPart>,
}

/// A column of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CatalogKeyPart {
    /// Index of the column in the table.
    pub column: usize,
    /// Greatest value first.
    pub is_descending: bool,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexRecord {
    /// Id, unique for the life of the database, also among tables.
    pub id: u64,
    /// Name and columns.
    pub key: KeyRecord,
    /// No two rows have equal keys, unless one has a NULL.
    pub is_unique: bool,
    /// It is there because of a UNIQUE constraint, which has its name.
    pub is_constraint: bool,
}

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRecord {
    /// Name, unique among the constraints of the table.
    pub name: String,
    /// SQL text of the condition.
    pub condition: String,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeyRecord {
    /// Name, unique among the constraints of the table.
    pub name: String,
    /// Indexes of the columns that refer.
    pub columns: Vec<usize>,
    /// Name of the table referred to.
    pub referenced_table: String,
    /// Indexes of its columns.
    pub referenced_columns: Vec<usize>,
    /// When a row referred to is deleted.
    pub on_delete: ReferentialAction,
    /// When its key changes.
    pub on_update: ReferentialAction,
}

impl TableStorage {
    /// The storage a stored number stands for.
    pub fn from_u8(number: u8) -> Option<Self> {
        [Self::Column, Self::Row]
            .into_iter()
            .find(|storage| *storage as u8 == number)
    }
}

impl ReferentialAction {
    /// Every action, in the order of the stored number.
    pub const ALL: [Self; 5] = [
        Self::NoAction,
        Self::Restrict,
        Self::Cascade,
        Self::SetNull,
        Self::SetDefault,
    ];

    /// The action a stored number stands for.
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| *one as u8 == number)
    }

    /// As SQL spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }

    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let number = reader.byte()?;
        Self::from_u8(number)
            .ok_or_else(|| reader.corrupt(format!("unknown referential action {number}")))
    }
}

impl TableRecord {
    pub(super) fn encode(&self, writer: &mut WireItemWriter) {
        writer.varint(self.id);
        writer.bytes(self.name.as_bytes());
        write_pages(writer, &self.root_pages);
        writer.varint(self.columns.len() as u64);
        for column in &self.columns {
            column.encode(writer);
        }
        writer.byte(self.storage as u8);
        writer.varint(u64::from(self.primary_key.is_some()));
        if let Some(key) = &self.primary_key {
            key.encode(writer);
        }
        writer.varint(self.indexes.len() as u64);
        for index in &self.indexes {
            index.encode(writer);
        }
        writer.varint(self.checks.len() as u64);
        for check in &self.checks {
            writer.bytes(check.name.as_bytes());
            writer.bytes(check.condition.as_bytes());
        }
        writer.varint(self.foreign_keys.len() as u64);
        for key in &self.foreign_keys {
            key.encode(writer);
        }
        writer.varint(self.options.len() as u64);
        for (number, value) in &self.options {
            writer.byte(*number);
            writer.signed(i128::from(*value));
        }
        write_trees(writer, &self.trees);
    }

    pub(super) fn decode(reader: &mut WireItemReader<'_>, version: u8) -> Result<Self, Corrupt> {
        let mut table = TableRecord {
            id: reader.varint()?,
            name: reader.text()?,
            root_pages: read_pages(reader)?,
            columns: reader.list(5, |reader| ColumnRecord::decode(reader, version))?,
            ..TableRecord::default()
        };
        if version > 1 {
            table.decode_second_part(reader)?;
        }
        Ok(table)
    }

    /// What version 1 does not have.
    fn decode_second_part(&mut self, reader: &mut WireItemReader<'_>) -> Result<(), Corrupt> {
        let storage = reader.byte()?;
        self.storage = TableStorage::from_u8(storage)
            .ok_or_else(|| reader.corrupt(format!("unknown storage {storage}")))?;
        let mut primary_keys = reader.list(2, KeyRecord::decode)?;
        self.primary_key = primary_keys.pop();
        if !primary_keys.is_empty() {
            return Err(reader.corrupt("a table has two primary keys"));
        }
        self.indexes = reader.list(4, IndexRecord::decode)?;
        self.checks = reader.list(2, CheckRecord::decode)?;
        self.foreign_keys = reader.list(6, ForeignKeyRecord::decode)?;
        self.options = reader.list(2, read_option)?;
        if !self.options.is_sorted_by(|left, right| left.0 < right.0) {
            return Err(reader.corrupt("table options are out of order"));
        }
        self.trees = read_trees(reader)?;
        Ok(())
    }
}

impl KeyRecord {
    fn encode(&self, writer: &mut WireItemWriter) {
        writer.bytes(self.name.as_bytes());
        writer.varint(self.columns.len() as u64);
        for part in &self.columns {
            writer.varint(part.column as u64);
            writer.byte(if part.is_descending { DESCENDING } else { 0 });
        }
    }

    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        Ok(KeyRecord {
            name: reader.text()?,
            columns: reader.list(2, CatalogKeyPart::decode)?,
        })
    }
}

impl CatalogKeyPart {
    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let column = read_index(reader)?;
        match reader.byte()? {
            flags @ (0 | DESCENDING) => Ok(CatalogKeyPart {
                column,
                is_descending: flags != 0,
            }),
            flags => Err(reader.corrupt(format!("unknown flags {flags:#04x} of a key's column"))),
        }
    }
}

impl IndexRecord {
    fn encode(&self, writer: &mut WireItemWriter) {
        writer.varint(self.id);
        self.key.encode(writer);
        let unique = if self.is_unique { UNIQUE } else { 0 };
        writer.byte(unique | if self.is_constraint { CONSTRAINT } else { 0 });
    }

    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let id = reader.varint()?;
        let key = KeyRecord::decode(reader)?;
        let flags = reader.byte()?;
        if flags & !(UNIQUE | CONSTRAINT) != 0 || flags == CONSTRAINT {
            return Err(reader.corrupt(format!("impossible flags {flags:#04x} of an index")));
        }
        Ok(IndexRecord {
            id,
            key,
            is_unique: flags & UNIQUE != 0,
            is_constraint: flags & CONSTRAINT != 0,
        })
    }
}

impl CheckRecord {
    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        Ok(CheckRecord {
            name: reader.text()?,
            condition: reader.text()?,
        })
    }
}

impl ForeignKeyRecord {
    fn encode(&self, writer: &mut WireItemWriter) {
        writer.bytes(self.name.as_bytes());
        write_indexes(writer, &self.columns);
        writer.bytes(self.referenced_table.as_bytes());
        write_indexes(writer, &self.referenced_columns);
        writer.byte(self.on_delete as u8);
        writer.byte(self.on_update as u8);
    }

    fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        Ok(ForeignKeyRecord {
            name: reader.text()?,
            columns: reader.list(1, read_index)?,
            referenced_table: reader.text()?,
            referenced_columns: reader.list(1, read_index)?,
            on_delete: ReferentialAction::decode(reader)?,
            on_update: ReferentialAction::decode(reader)?,
        })
    }
}

fn read_option(reader: &mut WireItemReader<'_>) -> Result<(u8, i64), Corrupt> {
    Ok((reader.byte()?, reader.signed_i64()?))
}
