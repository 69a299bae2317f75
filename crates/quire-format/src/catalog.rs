//! The catalog page: which tables there are, and where each one's root is.
//!
//! The layout is in `STRUCTURE` below.
//! Integers and lists are those of the `wire` module. A type id is never reused for another type; what
//! the ids mean is the engine's business (its `SqlType`), so is the meaning of the two parameters.

use quire_codec::{CodecId, Corrupt};

use crate::document::{Field, Structure};
use crate::volume::PageId;
use crate::wire::{Reader, Writer};

/// Layout version this program writes, and the only one it reads.
pub const CATALOG_VERSION: u8 = 1;

const NULLABLE: u8 = 1;
const HAS_CODEC: u8 = 2;

pub(crate) const STRUCTURE: Structure = Structure {
    name: "Catalog (page 1, kind 1)",
    about: "Which tables there are. A *list* is a count (varint) and then the items; *text* is a length (varint) \
            and then UTF-8. The page is replaced by every commit that changes a table.",
    fixed_bytes: None,
    fields: &[
        Field::at(0, "1", "version", "1"),
        Field::next(
            "varint",
            "schema_version",
            "grows with every change of a definition",
        ),
        Field::next("varint", "next_table_id", "ids are never reused"),
        Field::next("list", "tables", "in the order of their ids; for each:"),
        Field::next("varint", "id", "less than `next_table_id`"),
        Field::next("text", "name", "unique"),
        Field::next(
            "list of varint",
            "root_pages",
            "their payloads, joined, are the table root",
        ),
        Field::next("list", "columns", "in declared order; for each:"),
        Field::next("text", "name", "unique in the table"),
        Field::next(
            "1",
            "type",
            "BOOLEAN 1, SMALLINT 2, INTEGER 3, BIGINT 4, REAL 5, DOUBLE 6, DECIMAL 7, \
            DATE 8, TIMESTAMP 9, TIMESTAMP WITH TIME ZONE 10, TEXT 11, VARCHAR 12, CHAR 13, BYTEA 14",
        ),
        Field::next(
            "varint",
            "first",
            "precision or length, 0 when the type has none",
        ),
        Field::next("varint", "second", "scale, 0 when the type has none"),
        Field::next("1", "flags", "bit 0: nullable; bit 1: a codec follows"),
        Field::next("0 or 1", "codec", "the codec the definition demands"),
    ],
};

/// All tables of a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogRecord {
    /// Grows with every change of a definition.
    pub schema_version: u64,
    /// Id of the next table to be created; ids are never reused.
    pub next_table_id: u64,
    /// Tables in the order of their ids, names unique.
    pub tables: Vec<TableRecord>,
}

/// One table of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRecord {
    /// Id, unique for the life of the database.
    pub id: u64,
    /// Name, unique among the tables.
    pub name: String,
    /// Pages whose payloads, joined, are the table's root.
    pub root_pages: Vec<PageId>,
    /// Columns in declared order.
    pub columns: Vec<ColumnRecord>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRecord {
    /// Column name.
    pub name: String,
    /// Declared type.
    pub column_type: TypeRecord,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// Codec demanded by the definition.
    pub compression: Option<CodecId>,
}

/// A column type as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeRecord {
    /// Which type.
    pub id: u8,
    /// Precision or length, 0 when the type has none.
    pub first: u32,
    /// Scale, 0 when the type has none.
    pub second: u32,
}

impl CatalogRecord {
    /// The catalog page's payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new(CATALOG_VERSION);
        writer.varint(self.schema_version);
        writer.varint(self.next_table_id);
        writer.varint(self.tables.len() as u64);
        for table in &self.tables {
            writer.varint(table.id);
            writer.bytes(table.name.as_bytes());
            write_pages(&mut writer, &table.root_pages);
            writer.varint(table.columns.len() as u64);
            for column in &table.columns {
                column.encode(&mut writer);
            }
        }
        writer.finish()
    }

    /// Reads a catalog page's payload.
    ///
    /// # Errors
    /// Any payload that [`CatalogRecord::encode`] cannot have written.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = Reader::new(payload, CATALOG_VERSION, "catalog")?;
        let schema_version = reader.varint()?;
        let next_table_id = reader.varint()?;
        let count = reader.count(4)?;
        let mut tables: Vec<TableRecord> = Vec::with_capacity(count);
        let mut names = std::collections::HashSet::with_capacity(count);
        for _ in 0..count {
            let table = TableRecord::decode(&mut reader)?;
            let ascending = tables.last().is_none_or(|last| last.id < table.id);
            if !ascending || table.id >= next_table_id {
                return Err(reader.corrupt(format!("table id {} is out of order", table.id)));
            }
            if !names.insert(table.name.clone()) {
                return Err(reader.corrupt(format!("two tables are called {:?}", table.name)));
            }
            tables.push(table);
        }
        reader.finish()?;
        Ok(CatalogRecord {
            schema_version,
            next_table_id,
            tables,
        })
    }
}

impl TableRecord {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let id = reader.varint()?;
        let name = reader.text()?;
        let root_pages = read_pages(reader)?;
        let count = reader.count(5)?;
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            columns.push(ColumnRecord::decode(reader)?);
        }
        Ok(TableRecord {
            id,
            name,
            root_pages,
            columns,
        })
    }
}

impl ColumnRecord {
    fn encode(&self, writer: &mut Writer) {
        writer.bytes(self.name.as_bytes());
        writer.byte(self.column_type.id);
        writer.varint(u64::from(self.column_type.first));
        writer.varint(u64::from(self.column_type.second));
        let nullable = if self.nullable { NULLABLE } else { 0 };
        match self.compression {
            Some(codec) => {
                writer.byte(nullable | HAS_CODEC);
                writer.byte(codec as u8);
            }
            None => writer.byte(nullable),
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let name = reader.text()?;
        let id = reader.byte()?;
        let column_type = TypeRecord {
            id,
            first: reader.varint_u32()?,
            second: reader.varint_u32()?,
        };
        let flags = reader.byte()?;
        if flags & !(NULLABLE | HAS_CODEC) != 0 {
            return Err(reader.corrupt(format!("unknown column flags {flags:#04x}")));
        }
        let compression = if flags & HAS_CODEC != 0 {
            Some(read_codec(reader)?)
        } else {
            None
        };
        Ok(ColumnRecord {
            name,
            column_type,
            nullable: flags & NULLABLE != 0,
            compression,
        })
    }
}

pub(crate) fn read_codec(reader: &mut Reader<'_>) -> Result<CodecId, Corrupt> {
    let id = reader.byte()?;
    CodecId::from_u8(id).ok_or_else(|| reader.corrupt(format!("unknown codec id {id}")))
}

pub(crate) fn write_pages(writer: &mut Writer, pages: &[PageId]) {
    writer.varint(pages.len() as u64);
    for &page in pages {
        writer.varint(page.get());
    }
}

pub(crate) fn read_pages(reader: &mut Reader<'_>) -> Result<Vec<PageId>, Corrupt> {
    let count = reader.count(1)?;
    let mut pages = Vec::with_capacity(count);
    for _ in 0..count {
        let page = reader.varint()?;
        let id = PageId::new(page);
        pages.push(id.ok_or_else(|| reader.corrupt(format!("there cannot be a page {page}")))?);
    }
    Ok(pages)
}
