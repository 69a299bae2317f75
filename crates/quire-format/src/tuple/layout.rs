//! The columns of a table's tuples, and what `ALTER TABLE ADD COLUMN` appends.

use std::sync::Arc;

use super::dictionary::TupleDictionary;
use super::section::{OPEN_MAX, Section};
use super::value::{TupleType, TupleValue, ValueError};
use crate::row_page::{PageShape, ShapeError};

/// How the values of a column are stored.
#[derive(Clone, Debug)]
pub enum TupleCompression {
    /// As they are: in part 3, strings in part 5 with a length of 4 bytes.
    None,
    /// Only the bytes that matter, in part 4; a boolean as a bit in part 1. Of a string the length is shortened.
    /// Numbers of [`TupleType::Float32`] are stored as they are.
    NullSuppressed,
    /// As codes of fixed width in part 1: the dictionary has all values that may occur.
    Dictionary(Arc<TupleDictionary>),
    /// Frequent values as codes of fixed width in part 1, others null-suppressed in part 4: code 0 says that the value, or NULL, is
    /// there, and entry `i` has code `i + 1`. For types that null suppression shortens.
    OpenDictionary(Arc<TupleDictionary>),
}

/// A column of a tuple.
#[derive(Clone, Debug)]
pub struct TupleColumn {
    pub column_type: TupleType,
    /// Whether the column may be NULL: one bit where it is stored as it is or is a boolean, one bit of its length code
    /// where it is null-suppressed, a code where it has a dictionary, nothing where that is open.
    pub nullable: bool,
    pub compression: TupleCompression,
}

/// Why there is no such layout.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    #[error("column {column} is a decimal of {digits} digits; use 1 to 38")]
    Digits { column: usize, digits: u8 },
    #[error(
        "column {column} holds {column_type:?}, its dictionary {dictionary_type:?}; make one for the column"
    )]
    DictionaryType {
        column: usize,
        column_type: TupleType,
        dictionary_type: TupleType,
    },
    #[error(
        "the dictionary of column {column} has no code left for NULL or other values; use more bits"
    )]
    NoCodeForNull { column: usize },
    #[error(
        "values of {column_type:?} that column {column} has no code for have no other place; give it all values"
    )]
    NoOtherPlace {
        column: usize,
        column_type: TupleType,
    },
    #[error(
        "{dictionaries} columns have open dictionaries, {OPEN_MAX} may; use null suppression for the others"
    )]
    TooManyOpen { dictionaries: usize },
    #[error(
        "the added columns take no bytes, so that tuples with and without them look alike; add a nullable one"
    )]
    NoBytes,
    #[error("a value for rows that are older than the column does not fit: {0}")]
    Missing(#[from] ValueError),
}

impl TupleColumn {
    pub(super) fn check(&self, column: usize) -> Result<(), LayoutError> {
        if let (false, TupleType::Int128 { digits }) =
            (self.column_type.is_valid(), self.column_type)
        {
            return Err(LayoutError::Digits { column, digits });
        }
        let (dictionary, needs_zero) = match &self.compression {
            TupleCompression::Dictionary(dictionary) => (dictionary, self.nullable),
            TupleCompression::OpenDictionary(dictionary) => (dictionary, true),
            TupleCompression::None | TupleCompression::NullSuppressed => return Ok(()),
        };
        if dictionary.column_type() != self.column_type {
            return Err(LayoutError::DictionaryType {
                column,
                column_type: self.column_type,
                dictionary_type: dictionary.column_type(),
            });
        }
        if dictionary.has_room(dictionary.entry_count() + usize::from(needs_zero)) {
            Ok(())
        } else {
            Err(LayoutError::NoCodeForNull { column })
        }
    }
}

/// Columns that were added together.
#[derive(Clone, Debug)]
pub(super) struct Added {
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
    pub(super) added: Vec<Added>,
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
        layout.added.push(Added {
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
    pub fn page_shape(&self) -> Result<PageShape, ShapeError> {
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
