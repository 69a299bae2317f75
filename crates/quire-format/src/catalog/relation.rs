//! Views and sequences.

use quire_codec::Corrupt;

use super::column::TypeRecord;
use super::references::read_index;
use crate::wire::{WireItemReader, WireItemWriter};

const CYCLE: u8 = 1;
const OWNED: u8 = 2;

/// A view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewRecord {
    /// Id, unique for the life of the database, also among tables.
    pub id: u64,
    /// Name, unique as that of a table is.
    pub name: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// SQL text of the query.
    pub query: String,
    /// Ids of the tables and views that the query names, ascending.
    pub depends_on: Vec<u64>,
}

/// A sequence. How far it has come is in the tree of sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceRecord {
    /// Id, unique for the life of the database, also among tables.
    pub id: u64,
    /// Name, unique as that of a table is.
    pub name: String,
    /// SMALLINT, INTEGER or BIGINT.
    pub value_type: TypeRecord,
    /// The first value.
    pub start: i64,
    /// Distance of two values, not 0.
    pub increment: i64,
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// Number of values that a session may take at once.
    pub cache: u64,
    /// Whether it begins again after the last value.
    pub cycles: bool,
    /// The column with which it is dropped.
    pub owner: Option<SequenceOwner>,
}

/// A column that a sequence belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceOwner {
    /// Id of the table.
    pub table: u64,
    /// Index of the column.
    pub column: usize,
}

impl ViewRecord {
    pub(super) fn encode(&self, writer: &mut WireItemWriter) {
        writer.varint(self.id);
        writer.bytes(self.name.as_bytes());
        writer.varint(self.columns.len() as u64);
        for column in &self.columns {
            writer.bytes(column.as_bytes());
        }
        writer.bytes(self.query.as_bytes());
        writer.varint(self.depends_on.len() as u64);
        for &id in &self.depends_on {
            writer.varint(id);
        }
    }

    pub(super) fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let view = ViewRecord {
            id: reader.varint()?,
            name: reader.text()?,
            columns: reader.list(1, WireItemReader::text)?,
            query: reader.text()?,
            depends_on: reader.list(1, WireItemReader::varint)?,
        };
        if !view.depends_on.is_sorted_by(|left, right| left < right) {
            return Err(reader.corrupt("what a view depends on is out of order"));
        }
        Ok(view)
    }
}

impl SequenceRecord {
    pub(super) fn encode(&self, writer: &mut WireItemWriter) {
        writer.varint(self.id);
        writer.bytes(self.name.as_bytes());
        self.value_type.encode(writer);
        for value in [self.start, self.increment, self.min, self.max] {
            writer.signed(i128::from(value));
        }
        writer.varint(self.cache);
        let cycle = if self.cycles { CYCLE } else { 0 };
        writer.byte(cycle | if self.owner.is_some() { OWNED } else { 0 });
        if let Some(owner) = self.owner {
            writer.varint(owner.table);
            writer.varint(owner.column as u64);
        }
    }

    pub(super) fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let mut sequence = SequenceRecord {
            id: reader.varint()?,
            name: reader.text()?,
            value_type: TypeRecord::decode(reader)?,
            start: reader.signed_i64()?,
            increment: reader.signed_i64()?,
            min: reader.signed_i64()?,
            max: reader.signed_i64()?,
            cache: reader.varint()?,
            cycles: false,
            owner: None,
        };
        let flags = reader.byte()?;
        if flags & !(CYCLE | OWNED) != 0 {
            return Err(reader.corrupt(format!("unknown flags {flags:#04x} of a sequence")));
        }
        sequence.cycles = flags & CYCLE != 0;
        if flags & OWNED != 0 {
            sequence.owner = Some(SequenceOwner {
                table: reader.varint()?,
                column: read_index(reader)?,
            });
        }
        if sequence.increment == 0 || sequence.min > sequence.max {
            return Err(reader.corrupt(format!("sequence {:?} has no values", sequence.name)));
        }
        Ok(sequence)
    }
}
