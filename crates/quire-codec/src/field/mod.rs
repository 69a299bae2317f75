#![doc = include_str!("README.md")]

mod decode;
mod encode;
mod layout;
mod length_code;
mod steps;
mod suppress;
mod tables;

pub use layout::{FieldLayout, order_of_fewest_bytes};
pub use steps::FieldSteps;
pub use tables::FieldSpan;

/// What a compressed field holds, and so how its value is shortened and how its length is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Integers from `i16::MIN` to `i16::MAX`: 1 or 2 bytes, the highest bit being the sign.
    Int16,
    /// Integers from `i32::MIN` to `i32::MAX`: 1 to 4 bytes, the highest bit being the sign.
    Int32,
    /// Integers from 0 to `u32::MAX`, such as lengths of strings: 1 to 4 bytes without a sign.
    UInt32,
    /// Integers of 8 bytes: 1 to 8 bytes, the highest bit being the sign.
    Int64,
    /// Integers of 16 bytes, such as decimals of more than 18 digits: 1 to 16 bytes, the highest bit being the sign.
    Int128,
    /// Days since 1970-01-01 from `i32::MIN` to `i32::MAX`, stored as the distance from a base date: 1 to 4
    /// bytes, the highest bit being the sign. Distances wrap around, so that every date has one.
    Date {
        /// The date that is stored as 0, in days since 1970-01-01.
        base_days: i32,
    },
    /// Floating point numbers of 8 bytes: 4 bytes when those hold every bit, else 8.
    Double,
}

/// A field of a tuple that is compressed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TupleField {
    pub field_type: FieldType,
    /// Whether the field may be NULL, which makes its length code one bit longer.
    pub nullable: bool,
}

/// The value of one field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FieldValue {
    #[default]
    Null,
    /// Value of an integer field of up to 8 bytes; of a date, in days since 1970-01-01.
    Integer(i64),
    /// Value of an integer field of 16 bytes.
    Wide(i128),
    Double(f64),
}

/// Why a row could not be encoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    #[error("row has {given} values, but the layout has {expected} fields; pass one per field")]
    FieldCount { given: usize, expected: usize },
    #[error(
        "layout has {field_count} fields, and none with number {field}; use the layout of the row"
    )]
    NoField { field: usize, field_count: usize },
    #[error("field {field} is NULL, but its length code has no NULL; declare it nullable")]
    NotNull { field: usize },
    #[error("field {field} holds {field_type:?}, not {value:?}; convert the value first")]
    WrongType {
        field: usize,
        field_type: FieldType,
        value: FieldValue,
    },
    #[error("field {field} holds {field_type:?}, and {value} is out of its range; use Int64")]
    OutOfRange {
        field: usize,
        field_type: FieldType,
        value: i64,
    },
    #[error(
        "length codes take {codes_expected} bytes and the row {values_expected}, but there are {codes_given} \
         and {values_given}; pass slices of `code_bytes` and `encoded_bytes`"
    )]
    WrongRoom {
        codes_given: usize,
        codes_expected: usize,
        values_given: usize,
        values_expected: usize,
    },
}
