//! Values of a tuple's columns, and the types that hold them.

use quire_codec::text::CodedText;

/// What a column of a tuple or of a key holds. SQL types are mapped onto these above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleType {
    /// [`TupleValue::Bool`].
    Bool,
    /// [`TupleValue::Integer`] of 2 bytes.
    Int16,
    /// [`TupleValue::Integer`] of 4 bytes.
    Int32,
    /// [`TupleValue::Integer`] of 8 bytes.
    Int64,
    /// [`TupleValue::Wide`] of at most so many decimal digits, 1 to 38: a decimal without its point. Up to 18
    /// digits are stored as an integer of 8 bytes or less.
    Int128 {
        /// Most decimal digits of a value.
        digits: u8,
    },
    /// [`TupleValue::Float32`].
    Float32,
    /// [`TupleValue::Float64`].
    Float64,
    /// [`TupleValue::Integer`] of 4 bytes: days since 1970-01-01.
    Date {
        /// The date whose compressed form is the shortest, in days since 1970-01-01.
        base_days: i32,
    },
    /// [`TupleValue::Integer`] of 8 bytes, in any unit.
    Timestamp,
    /// [`TupleValue::Bytes`] of at most `u32::MAX` bytes. That they are UTF-8 is checked above.
    Text,
    /// [`TupleValue::Bytes`] of at most `u32::MAX` bytes.
    Bytes,
}

/// The value of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TupleValue<'a> {
    #[default]
    Null,
    Bool(bool),
    /// Of every type of up to 8 bytes that is not a decimal.
    Integer(i64),
    /// Of a decimal, whatever its digits.
    Wide(i128),
    Float32(f32),
    Float64(f64),
    /// Of text, too.
    Bytes(&'a [u8]),
    /// Text that a tuple has in codes, which nobody has looked at yet. Only reading gives it, and of columns with
    /// [`TupleCompression::StringCodes`](super::TupleCompression::StringCodes) alone.
    Coded(CodedText<'a>),
}

const _: () = assert!(size_of::<TupleValue<'_>>() <= 32);

/// Why the values of a row could not be encoded. Columns are numbered from 0 as in the layout.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    #[error("{given} values, but {expected} columns; pass one value per column")]
    ColumnCount { given: usize, expected: usize },
    #[error(
        "column {column} is NULL, but its layout has no NULL; refuse the row or declare the column nullable"
    )]
    NotNull { column: usize },
    #[error("column {column} holds {column_type:?}, not {value}; convert the value first")]
    WrongType {
        column: usize,
        column_type: TupleType,
        value: String,
    },
    #[error(
        "column {column} holds {column_type:?}, and {value} is out of its range; refuse the row"
    )]
    OutOfRange {
        column: usize,
        column_type: TupleType,
        value: String,
    },
    #[error(
        "the dictionary of column {column} has no such value; add it, or encode the column without dictionary"
    )]
    NotInDictionary { column: usize },
    #[error("column {column}: {source}")]
    Field {
        column: usize,
        source: quire_codec::field::FieldError,
    },
}

/// Why a type does not hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    Type,
    Range,
}

/// 10 to the power of each number of digits that a decimal can have.
const POWERS_OF_TEN: [u128; 39] = {
    let mut powers = [1; 39];
    let mut digits = 1;
    while digits < powers.len() {
        powers[digits] = 10 * powers[digits - 1];
        digits += 1;
    }
    powers
};

#[inline]
fn range(within: bool) -> Result<(), Misfit> {
    within.then_some(()).ok_or(Misfit::Range)
}

impl TupleType {
    /// Whether the type is one at all: decimals have 1 to 38 digits.
    pub(crate) fn is_valid(self) -> bool {
        !matches!(self, Self::Int128 { digits } if !(1..=38).contains(&digits))
    }

    pub(crate) fn is_string(self) -> bool {
        matches!(self, Self::Text | Self::Bytes)
    }

    /// Whether `value`, which is not NULL, is one of this type.
    #[inline]
    pub(crate) fn hold(self, value: TupleValue<'_>) -> Result<(), Misfit> {
        match (self, value) {
            (Self::Int16, TupleValue::Integer(value)) => range(i16::try_from(value).is_ok()),
            (Self::Int32 | Self::Date { .. }, TupleValue::Integer(value)) => {
                range(i32::try_from(value).is_ok())
            }
            (Self::Int128 { digits }, TupleValue::Wide(value)) => {
                let limit = POWERS_OF_TEN.get(usize::from(digits));
                range(limit.is_some_and(|&limit| value.unsigned_abs() < limit))
            }
            (Self::Text | Self::Bytes, TupleValue::Bytes(bytes)) => {
                range(u32::try_from(bytes.len()).is_ok())
            }
            (Self::Int64 | Self::Timestamp, TupleValue::Integer(_))
            | (Self::Bool, TupleValue::Bool(_))
            | (Self::Float32, TupleValue::Float32(_))
            | (Self::Float64, TupleValue::Float64(_)) => Ok(()),
            _ => Err(Misfit::Type),
        }
    }

    /// Whether a column of this type holds `value`.
    #[inline]
    pub(crate) fn check(
        self,
        nullable: bool,
        column: usize,
        value: TupleValue<'_>,
    ) -> Result<(), ValueError> {
        if value == TupleValue::Null {
            return if nullable {
                Ok(())
            } else {
                Err(ValueError::NotNull { column })
            };
        }
        self.hold(value)
            .map_err(|misfit| self.error(misfit, column, value))
    }

    #[cold]
    fn error(self, misfit: Misfit, column: usize, value: TupleValue<'_>) -> ValueError {
        let value = match value {
            TupleValue::Bytes(bytes) => format!("a string of {} bytes", bytes.len()),
            other => format!("{other:?}"),
        };
        let column_type = self;
        match misfit {
            Misfit::Type => ValueError::WrongType {
                column,
                column_type,
                value,
            },
            Misfit::Range => ValueError::OutOfRange {
                column,
                column_type,
                value,
            },
        }
    }
}
