//! Scalars of zones and dictionaries as Arrow arrays of a column's type.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BinaryViewArray, BooleanArray, PrimitiveArray, StringViewArray};
use quire_codec::CodecScalar;

use crate::types::SqlType;

/// One element per scalar; NULL for `None` and for scalars that are no value of the type.
pub(crate) fn scalar_array<'a>(
    sql_type: SqlType,
    scalars: impl IntoIterator<Item = Option<&'a CodecScalar>>,
) -> ArrayRef {
    let scalars = scalars.into_iter();
    match sql_type {
        SqlType::Boolean => {
            let value = |scalar: &CodecScalar| match scalar {
                CodecScalar::Bool(value) => Some(*value),
                _ => None,
            };
            Arc::new(
                scalars
                    .map(|scalar| scalar.and_then(value))
                    .collect::<BooleanArray>(),
            )
        }
        SqlType::SmallInt => primitive::<Int16Type>(sql_type, scalars, |scalar| match *scalar {
            CodecScalar::Int16(value) => Some(value),
            _ => None,
        }),
        SqlType::Integer => primitive::<Int32Type>(sql_type, scalars, int32),
        SqlType::Date => primitive::<Date32Type>(sql_type, scalars, int32),
        SqlType::BigInt => primitive::<Int64Type>(sql_type, scalars, int64),
        SqlType::Timestamp | SqlType::TimestampTz => {
            primitive::<TimestampMicrosecondType>(sql_type, scalars, int64)
        }
        SqlType::Real => primitive::<Float32Type>(sql_type, scalars, |scalar| match *scalar {
            CodecScalar::Float32(value) => Some(value),
            _ => None,
        }),
        SqlType::Double => primitive::<Float64Type>(sql_type, scalars, |scalar| match *scalar {
            CodecScalar::Float64(value) => Some(value),
            _ => None,
        }),
        SqlType::Decimal { .. } => {
            primitive::<Decimal128Type>(sql_type, scalars, |scalar| match *scalar {
                CodecScalar::Int64(value) => Some(i128::from(value)),
                CodecScalar::Int128(value) => Some(value),
                _ => None,
            })
        }
        SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) => {
            let text = |scalar| std::str::from_utf8(bytes(scalar)?).ok();
            Arc::new(
                scalars
                    .map(|scalar| scalar.and_then(text))
                    .collect::<StringViewArray>(),
            )
        }
        SqlType::Bytea => Arc::new(
            scalars
                .map(|scalar| scalar.and_then(bytes))
                .collect::<BinaryViewArray>(),
        ),
    }
}

fn primitive<'a, T: ArrowPrimitiveType>(
    sql_type: SqlType,
    scalars: impl Iterator<Item = Option<&'a CodecScalar>>,
    value: impl Fn(&CodecScalar) -> Option<T::Native>,
) -> ArrayRef {
    let array: PrimitiveArray<T> = scalars.map(|scalar| scalar.and_then(&value)).collect();
    Arc::new(array.with_data_type(sql_type.arrow_type()))
}

fn int32(scalar: &CodecScalar) -> Option<i32> {
    match *scalar {
        CodecScalar::Int32(value) => Some(value),
        _ => None,
    }
}

fn int64(scalar: &CodecScalar) -> Option<i64> {
    match *scalar {
        CodecScalar::Int64(value) => Some(value),
        _ => None,
    }
}

fn bytes(scalar: &CodecScalar) -> Option<&[u8]> {
    match scalar {
        CodecScalar::Bytes(value) => Some(value),
        _ => None,
    }
}
