//! The columns of a table's tuples, and what `ALTER TABLE ADD COLUMN` appends.

use super::column::{LayoutError, TupleColumn};
use super::section::Section;
use super::value::TupleValue;
use crate::row_page::{RowPageShape, ShapeError};

/// Columns that were added together.
#[derive(Clone, Debug)]
pub(super) struct AddedColumns {
    pub(super) section: Section,
    /// Index of the first of them.
    pub(super) first_column: usize,
    /// The bytes of the section in tuples that are older than it.
    pub(super) missing: Vec<u8>,
}

/// Where the values of a table's tuples are. The same for all tuples of the table; nothing of it is in a tuple.
///
/// ```
/// use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue};
///
/// let column = |column_type, nullable| TupleColumn {
///     column_type,
///     nullable,
///     compression: TupleCompression::NullSuppressed,
/// };
/// let layout = TupleLayout::new(&[column(TupleType::Int32, false), column(TupleType::Text, true)])?;
/// let mut tuple = Vec::new();
/// layout.encode(&[TupleValue::Integer(7), TupleValue::Bytes(b"leaf")], &mut tuple)?;
/// // The length codes of a 7 of one byte and of a length of one byte; the 7, the length, the string.
/// assert_eq!(tuple, [0b00_001, 7, 4, b'l', b'e', b'a', b'f']);
/// assert_eq!(layout.field(&tuple, 1)?, TupleValue::Bytes(b"leaf"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TupleLayout {
    pub(super) first: Section,
    pub(super) added: Vec<AddedColumns>,
}

impl TupleLayout {
    /// A layout of `columns`, whose values are handed over in this order.
    ///
    /// # Errors
    /// Decimals of no or more than 38 digits; dictionaries of another type, or without a code for NULL.
    pub fn new(columns: &[TupleColumn]) -> Result<Self, LayoutError> {
        Ok(Self {
            first: Section::new(columns)?,
            added: Vec::new(),
        })
    }

    /// This layout with `columns` behind its own, for `ALTER TABLE ADD COLUMN`. It reads the tuples of this layout too:
    /// they have the values `missing` in the new columns.
    ///
    /// # Errors
    /// As [`Self::new`]; values that do not fit `columns`; and columns that take no bytes, which are those whose dictionary
    /// has codes of 0 bits.
    pub fn extended(
        &self,
        columns: &[TupleColumn],
        missing: &[TupleValue<'_>],
    ) -> Result<Self, LayoutError> {
        let section = Section::new(columns)?;
        if section.part_4 == 0 {
            return Err(LayoutError::NoBytes);
        }
        let first_column = self.column_count();
        let mut bytes = Vec::new();
        section.check_count(missing, first_column)?;
        section.encode(missing, first_column, &mut bytes)?;
        let mut layout = self.clone();
        layout.added.push(AddedColumns {
            section,
            first_column,
            missing: bytes,
        });
        Ok(layout)
    }

    /// Where the columns are, for images of pages of such tuples. Columns that were added are behind the rest: they are not
    /// told apart.
    ///
    /// # Errors
    /// A layout of no columns, or too many.
    pub fn page_shape(&self) -> Result<RowPageShape, ShapeError> {
        self.first.page_shape()
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        let added = self.added.last();
        added.map_or(self.first.columns.len(), |added| {
            added.first_column + added.section.columns.len()
        })
    }
}
