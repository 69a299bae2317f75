//! A value that is owned, small, and ordered and hashed as SQL compares.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use arrow_array::Array;
use quire_codec::Corrupt;
use quire_format::tuple::TupleValue;

use super::arrays::ColumnArray;
use crate::types::SqlType;

/// A decimal without its point, in two halves, so that it needs no alignment of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal {
    high: i64,
    low: u64,
}

impl From<i128> for Decimal {
    fn from(value: i128) -> Self {
        Self {
            high: (value >> 64) as i64,
            low: value as u64,
        }
    }
}

impl From<Decimal> for i128 {
    fn from(value: Decimal) -> Self {
        i128::from(value.high) << 64 | i128::from(value.low)
    }
}

/// The value of one column of one row. Which type it is of, its column knows: values of one column compare as SQL
/// does (`ORDER BY` with NULL last, strings by their bytes, NaN above all numbers, -0.0 equal to 0.0); those of
/// different columns only if both have the same type, decimals also the same scale. NULL equals NULL, as in `GROUP BY`.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `BOOLEAN`
    Boolean(bool),
    /// Every integer; days of a `DATE`, microseconds of a `TIMESTAMP`.
    Integer(i64),
    /// `DECIMAL`, whatever its digits.
    Decimal(Decimal),
    /// `REAL`
    Real(f32),
    /// `DOUBLE PRECISION`
    Double(f64),
    /// `TEXT`, `VARCHAR(n)`, `CHAR(n)`
    Text(Box<str>),
    /// `BYTEA`
    Bytes(Box<[u8]>),
    /// NULL of any type.
    #[default]
    Null,
}

const _: () = assert!(size_of::<Value>() <= 24);

impl Value {
    /// The value as tuples and keys take it.
    #[inline]
    #[must_use]
    pub fn as_tuple_value(&self) -> TupleValue<'_> {
        match self {
            Self::Null => TupleValue::Null,
            Self::Boolean(value) => TupleValue::Bool(*value),
            Self::Integer(value) => TupleValue::Integer(*value),
            Self::Decimal(value) => TupleValue::Wide((*value).into()),
            Self::Real(value) => TupleValue::Float32(*value),
            Self::Double(value) => TupleValue::Float64(*value),
            Self::Text(text) => TupleValue::Bytes(text.as_bytes()),
            Self::Bytes(bytes) => TupleValue::Bytes(bytes),
        }
    }

    /// The value of a column of `sql_type` that a tuple or a key gave.
    ///
    /// # Errors
    /// Text that is not UTF-8.
    pub fn of_tuple_value(value: TupleValue<'_>, sql_type: SqlType) -> Result<Self, Corrupt> {
        Ok(match value {
            TupleValue::Null => Self::Null,
            TupleValue::Bool(value) => Self::Boolean(value),
            TupleValue::Integer(value) => Self::Integer(value),
            TupleValue::Wide(value) => Self::Decimal(value.into()),
            TupleValue::Float32(value) => Self::Real(value),
            TupleValue::Float64(value) => Self::Double(value),
            TupleValue::Bytes(bytes) if sql_type.is_text() => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.into()),
                Err(error) => {
                    return Err(Corrupt::new("text is not UTF-8", error.valid_up_to()));
                }
            },
            TupleValue::Bytes(bytes) => Self::Bytes(bytes.into()),
            TupleValue::Coded(text) => {
                return Self::of_tuple_value(TupleValue::Bytes(&text.to_vec()?), sql_type);
            }
        })
    }

    /// Row `row` of an array in the Arrow type of `sql_type`; `None` when the array is of another type or ends before.
    #[must_use]
    pub fn of_array(array: &dyn Array, row: usize, sql_type: SqlType) -> Option<Self> {
        if row >= array.len() {
            return None;
        }
        let value = ColumnArray::new(sql_type, array)?.value(row);
        Self::of_tuple_value(value, sql_type).ok()
    }

    /// Whether the value is NULL.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Boolean(_) => 0,
            Self::Integer(_) => 1,
            Self::Decimal(_) => 2,
            Self::Real(_) => 3,
            Self::Double(_) => 4,
            Self::Text(_) => 5,
            Self::Bytes(_) => 6,
            Self::Null => 7,
        }
    }
}

/// Order of floats in SQL, as in PostgreSQL: one zero, and one NaN, which equals itself and is above all numbers. A `REAL` as a
/// double has the same order.
#[inline(always)]
pub fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right)
        .unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// The same bits for floats that are equal in SQL.
fn hashed_bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        // Adding zero makes -0.0 positive.
        (value + 0.0).to_bits()
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(left), Self::Boolean(right)) => left.cmp(right),
            (Self::Integer(left), Self::Integer(right)) => left.cmp(right),
            (Self::Decimal(left), Self::Decimal(right)) => left.cmp(right),
            (Self::Real(left), Self::Real(right)) => {
                compare_floats(f64::from(*left), f64::from(*right))
            }
            (Self::Double(left), Self::Double(right)) => compare_floats(*left, *right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Bytes(left), Self::Bytes(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Self::Null => {}
            Self::Boolean(value) => value.hash(state),
            Self::Integer(value) => value.hash(state),
            Self::Decimal(value) => value.hash(state),
            Self::Real(value) => hashed_bits(f64::from(*value)).hash(state),
            Self::Double(value) => hashed_bits(*value).hash(state),
            Self::Text(text) => text.hash(state),
            Self::Bytes(bytes) => bytes.hash(state),
        }
    }
}
