//! Where the value of a column is, told as data: for code that is made for one layout.

use quire_codec::field::FieldSteps;

use super::layout::TupleLayout;
use super::section::{ColumnLocation, Fixed, OpenCode, OtherPlace, Section, SmallTupleField};
use super::value::{TupleType, TupleValue};

/// What [`TupleLayout::field`] does for one column whose values are numbers, as data. Bits count from the lowest of the first byte of a
/// tuple, bytes from its start.
#[derive(Clone, Debug)]
pub struct ColumnAccess {
    /// What the value becomes.
    pub column_type: TupleType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Bytes that every tuple has: all bits and uncompressed values are in them, and the values of [`SuppressedPlace`] follow.
    pub head_bytes: usize,
    /// Where it is.
    pub place: ValuePlace,
}

/// Where the value of a column is.
#[derive(Clone, Debug)]
pub enum ValuePlace {
    /// So many bytes of it, little endian, at an offset; it is NULL when the bit is set. A boolean is 0 or 1.
    Fixed {
        offset: usize,
        bytes: usize,
        null_bit: Option<usize>,
    },
    /// A boolean in a bit; it is NULL when the other bit is set.
    Bit { bit: usize, null_bit: Option<usize> },
    /// Null-suppressed.
    Suppressed(SuppressedPlace),
    /// A code of so many bits: code `i + 1` stands for entry `i`, code 0 says that the value is elsewhere. A value that is NULL there must be one
    /// of a nullable column.
    Coded {
        bit: usize,
        width: u32,
        /// Integers and decimals as they are, doubles as their bits.
        entries: Vec<i64>,
        other: SuppressedPlace,
    },
}

/// Where a null-suppressed value is.
#[derive(Clone, Debug)]
pub struct SuppressedPlace {
    /// The first length byte. The last ends where the head does, or before.
    pub codes: usize,
    /// How it is found behind the head.
    pub steps: FieldSteps,
}

impl TupleLayout {
    /// Where the value of a column is. None for strings, for entries of dictionaries outside 8 bytes, for dictionaries without other values,
    /// and for columns that were added.
    #[must_use]
    pub fn access(&self, column: usize) -> Option<ColumnAccess> {
        let section = &self.first;
        let described = section.columns.get(column)?;
        if described.column_type.is_string() {
            return None;
        }
        let place = match *section.places.get(column)? {
            ColumnLocation::Fixed(fixed) => fixed_place(fixed),
            ColumnLocation::Bit { bit, null_bit } => ValuePlace::Bit { bit, null_bit },
            ColumnLocation::Small(small) => ValuePlace::Suppressed(section.suppressed(small)?),
            ColumnLocation::Open(number) => section.coded(section.open.get(number)?)?,
            ColumnLocation::Code { .. }
            | ColumnLocation::Text { .. }
            | ColumnLocation::Padded(_) => return None,
        };
        Some(ColumnAccess {
            column_type: described.column_type,
            nullable: described.nullable,
            head_bytes: section.part_4,
            place,
        })
    }
}

fn fixed_place(fixed: Fixed) -> ValuePlace {
    ValuePlace::Fixed {
        offset: fixed.offset,
        bytes: fixed.kind.bytes(),
        null_bit: fixed.null_bit,
    }
}

impl Section {
    fn suppressed(&self, small: SmallTupleField) -> Option<SuppressedPlace> {
        Some(SuppressedPlace {
            codes: self.part_2,
            steps: self.small.steps(small.field)?,
        })
    }

    fn coded(&self, open: &OpenCode) -> Option<ValuePlace> {
        let OtherPlace::Small(small) = open.other else {
            return None;
        };
        let dictionary = self.dictionaries.get(open.dictionary)?;
        let entry = |index| match dictionary.entry(index)? {
            TupleValue::Integer(value) => Some(value),
            TupleValue::Wide(value) => i64::try_from(value).ok(),
            TupleValue::Float64(value) => Some(value.to_bits() as i64),
            _ => None,
        };
        let entries = (0..dictionary.entry_count()).map(entry);
        Some(ValuePlace::Coded {
            bit: open.bit,
            width: open.width,
            entries: entries.collect::<Option<Vec<i64>>>()?,
            other: self.suppressed(small)?,
        })
    }
}
