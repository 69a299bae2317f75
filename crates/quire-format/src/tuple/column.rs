//! One column of a table's tuples: its type, and how its values are stored.

use std::sync::Arc;

use quire_codec::text::StringCodes;

use super::dictionary::TupleDictionary;
use super::value::{TupleType, ValueError};

/// Most columns of a section with open dictionaries: encoders note which values have a code in one word.
pub(super) const OPEN_MAX: usize = 64;

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
    /// For [`TupleType::Text`]: the string in the codes of a table where these are fewer than its bytes, which a bit of part 1
    /// says; its length, that of what is stored, null-suppressed.
    StringCodes(Arc<StringCodes>),
    /// For [`TupleType::Text`]: the string and blanks in so many bytes of part 3, at least one. A string that has no room there, or
    /// ends with a blank, comes back too, and takes 4 bytes more.
    Padded {
        /// Width of the field.
        bytes: u8,
    },
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
    #[error("column {column} holds {column_type:?}, and only text is stored in string codes")]
    StringCodesType {
        column: usize,
        column_type: TupleType,
    },
    #[error(
        "column {column} holds {column_type:?} in {bytes} bytes; only text is padded, to 1 to 255"
    )]
    PaddedType {
        column: usize,
        column_type: TupleType,
        bytes: u8,
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
            TupleCompression::StringCodes(_) if self.column_type != TupleType::Text => {
                return Err(LayoutError::StringCodesType {
                    column,
                    column_type: self.column_type,
                });
            }
            TupleCompression::Padded { bytes }
                if self.column_type != TupleType::Text || *bytes == 0 =>
            {
                return Err(LayoutError::PaddedType {
                    column,
                    column_type: self.column_type,
                    bytes: *bytes,
                });
            }
            TupleCompression::None
            | TupleCompression::NullSuppressed
            | TupleCompression::StringCodes(_)
            | TupleCompression::Padded { .. } => return Ok(()),
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
