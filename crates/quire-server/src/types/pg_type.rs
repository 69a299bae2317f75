//! Types of PostgreSQL, and which one an Arrow type is.

use std::sync::Arc;

use quire::arrow::datatypes::{DataType, Field, TimeUnit};

/// A type as clients know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PgType {
    Boolean,
    SmallInt,
    Integer,
    BigInt,
    /// The number of something in the catalog.
    Oid,
    Real,
    Double,
    /// With the digits and scale of the column.
    Numeric {
        precision: u8,
        scale: i8,
    },
    Text,
    /// Text too.
    Json,
    Bytea,
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Interval,
    Array(Box<PgType>),
}

impl PgType {
    /// The type that clients see of a column.
    pub(crate) fn of_field(field: &Field) -> Self {
        match field.extension_type_name() {
            Some("arrow.json") => Self::Json,
            _ => Self::of(field.data_type()),
        }
    }

    /// The type that clients see. What has none of its own is shown as text.
    pub(crate) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Int8 | DataType::UInt8 | DataType::Int16 => Self::SmallInt,
            DataType::UInt16 | DataType::Int32 => Self::Integer,
            DataType::UInt32 => Self::Oid,
            DataType::Int64 => Self::BigInt,
            DataType::UInt64 => Self::Numeric {
                precision: 20,
                scale: 0,
            },
            DataType::Float16 | DataType::Float32 => Self::Real,
            DataType::Float64 => Self::Double,
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale) => Self::Numeric {
                precision: *precision,
                scale: *scale,
            },
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Bytea,
            DataType::Date32 => Self::Date,
            DataType::Date64 | DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Timestamp(_, Some(_)) => Self::TimestampTz,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Interval(_) | DataType::Duration(_) => Self::Interval,
            DataType::List(element) | DataType::LargeList(element) => {
                match Self::of(element.data_type()) {
                    // PostgreSQL has one type for all dimensions.
                    array @ Self::Array(_) => array,
                    element => Self::Array(Box::new(element)),
                }
            }
            _ => Self::Text,
        }
    }

    /// The type with this number; `None` when it is none that statements take.
    pub(crate) fn of_oid(oid: u32) -> Option<Self> {
        Some(match oid {
            16 => Self::Boolean,
            17 => Self::Bytea,
            20 => Self::BigInt,
            21 => Self::SmallInt,
            23 => Self::Integer,
            // char, name, text, bpchar, varchar, json
            18 | 19 | 25 | 1042 | 1043 | 114 => Self::Text,
            // oid, regproc, regclass, regtype
            26 | 24 | 2205 | 2206 => Self::Oid,
            700 => Self::Real,
            701 => Self::Double,
            1082 => Self::Date,
            1083 => Self::Time,
            1114 => Self::Timestamp,
            1184 => Self::TimestampTz,
            1186 => Self::Interval,
            1700 => Self::Numeric {
                precision: 38,
                scale: 10,
            },
            oid => Self::Array(Box::new(Self::of_oid(element_oid(oid)?)?)),
        })
    }

    pub(crate) fn oid(&self) -> u32 {
        match self {
            Self::Boolean => 16,
            Self::SmallInt => 21,
            Self::Integer => 23,
            Self::BigInt => 20,
            Self::Oid => 26,
            Self::Real => 700,
            Self::Double => 701,
            Self::Numeric { .. } => 1700,
            Self::Text => 25,
            Self::Json => 114,
            Self::Bytea => 17,
            Self::Date => 1082,
            Self::Time => 1083,
            Self::Timestamp => 1114,
            Self::TimestampTz => 1184,
            Self::Interval => 1186,
            Self::Array(element) => match **element {
                Self::Boolean => 1000,
                Self::SmallInt => 1005,
                Self::Integer => 1007,
                Self::BigInt => 1016,
                Self::Oid => 1028,
                Self::Real => 1021,
                Self::Double => 1022,
                Self::Numeric { .. } => 1231,
                Self::Bytea => 1001,
                Self::Date => 1182,
                Self::Time => 1183,
                Self::Timestamp => 1115,
                Self::TimestampTz => 1185,
                Self::Interval => 1187,
                Self::Json => 199,
                Self::Text | Self::Array(_) => 1009,
            },
        }
    }

    /// The bytes of a value in binary; -1 where they differ.
    pub(crate) fn size_bytes(&self) -> i16 {
        match self {
            Self::Boolean => 1,
            Self::SmallInt => 2,
            Self::Integer | Self::Oid | Self::Real | Self::Date => 4,
            Self::BigInt | Self::Double | Self::Time | Self::Timestamp | Self::TimestampTz => 8,
            Self::Interval => 16,
            Self::Numeric { .. } | Self::Text | Self::Json | Self::Bytea | Self::Array(_) => -1,
        }
    }

    /// Digits and scale of a decimal; -1 for other types.
    pub(crate) fn modifier(&self) -> i32 {
        match self {
            Self::Numeric { precision, scale } => {
                ((i32::from(*precision) << 16) | i32::from((*scale).max(0))) + 4
            }
            _ => -1,
        }
    }

    /// The type that a parameter of this type has in a statement.
    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::SmallInt => DataType::Int16,
            Self::Integer => DataType::Int32,
            // There are no parameters of unsigned types.
            Self::BigInt | Self::Oid => DataType::Int64,
            Self::Real => DataType::Float32,
            Self::Double => DataType::Float64,
            Self::Numeric { precision, scale } => DataType::Decimal128(*precision, *scale),
            Self::Bytea => DataType::Binary,
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            Self::Text | Self::Json | Self::Time | Self::Interval => DataType::Utf8,
            Self::Array(element) => {
                DataType::List(Arc::new(Field::new_list_field(element.data_type(), true)))
            }
        }
    }

    /// Types whose values can take one another's place.
    pub(super) fn family(&self) -> u8 {
        match self {
            Self::Boolean => 0,
            Self::SmallInt | Self::Integer | Self::BigInt | Self::Oid => 1,
            Self::Real | Self::Double => 2,
            Self::Numeric { .. } => 3,
            Self::Text | Self::Json => 4,
            Self::Bytea => 5,
            Self::Date => 6,
            Self::Time => 7,
            Self::Timestamp => 8,
            Self::TimestampTz => 9,
            Self::Interval => 10,
            Self::Array(_) => 11,
        }
    }

    pub(super) fn sql_name(&self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::SmallInt => "smallint",
            Self::Integer => "integer",
            Self::BigInt => "bigint",
            Self::Oid => "oid",
            Self::Real => "real",
            Self::Double => "double precision",
            Self::Numeric { .. } => "numeric",
            Self::Text => "text",
            Self::Json => "json",
            Self::Bytea => "bytea",
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::TimestampTz => "timestamp with time zone",
            Self::Interval => "interval",
            Self::Array(_) => "array",
        }
    }
}

/// The number of the type of the elements of an array type with this number.
fn element_oid(array_oid: u32) -> Option<u32> {
    Some(match array_oid {
        1000 => 16,
        1001 => 17,
        1002 => 18,
        1003 => 19,
        1005 => 21,
        1007 => 23,
        1009 => 25,
        1014 => 1042,
        1015 => 1043,
        1016 => 20,
        1021 => 700,
        1022 => 701,
        1028 => 26,
        1115 => 1114,
        1182 => 1082,
        1183 => 1083,
        1185 => 1184,
        1187 => 1186,
        1231 => 1700,
        199 => 114,
        _ => return None,
    })
}
