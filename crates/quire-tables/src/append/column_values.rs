//! A column of a row group as one plain array, the shape that codecs take.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use quire_codec::{BytesSlice, BytesVector, PhysicalType, RowGroupValues};

use crate::types::SqlType;

/// Values of one column; NULL slots hold anything.
pub(crate) struct ColumnValues {
    values: OwnedValues,
    /// One bit per row, least significant first, 1 = valid; `None` without NULLs.
    pub(crate) validity: Option<Vec<u64>>,
}

enum OwnedValues {
    Bool(Vec<bool>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int128(Vec<i128>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bytes(BytesVector),
}

impl ColumnValues {
    /// Joins column `index` of some batches, which are in the Arrow type of `sql_type`. `None` when its text passes
    /// 4 GiB.
    pub(crate) fn collect(
        sql_type: SqlType,
        batches: &[RecordBatch],
        index: usize,
    ) -> Option<ColumnValues> {
        let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(index)).collect();
        let values = match sql_type {
            SqlType::Boolean => {
                let values = arrays
                    .iter()
                    .flat_map(|array| array.as_boolean().values().iter());
                OwnedValues::Bool(values.collect())
            }
            SqlType::SmallInt => OwnedValues::Int16(join::<Int16Type>(&arrays)),
            SqlType::Integer => OwnedValues::Int32(join::<Int32Type>(&arrays)),
            SqlType::Date => OwnedValues::Int32(join::<Date32Type>(&arrays)),
            SqlType::BigInt => OwnedValues::Int64(join::<Int64Type>(&arrays)),
            SqlType::Timestamp | SqlType::TimestampTz => {
                OwnedValues::Int64(join::<TimestampMicrosecondType>(&arrays))
            }
            SqlType::Real => OwnedValues::Float32(join::<Float32Type>(&arrays)),
            SqlType::Double => OwnedValues::Float64(join::<Float64Type>(&arrays)),
            SqlType::Decimal { .. } => match sql_type.physical_type() {
                PhysicalType::Int64 => OwnedValues::Int64(join_narrow(&arrays)),
                _ => OwnedValues::Int128(join::<Decimal128Type>(&arrays)),
            },
            SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) => {
                OwnedValues::Bytes(join_bytes(arrays.iter().flat_map(|array| {
                    array
                        .as_string_view()
                        .iter()
                        .map(|value| value.map(str::as_bytes))
                }))?)
            }
            SqlType::Bytea => OwnedValues::Bytes(join_bytes(
                arrays
                    .iter()
                    .flat_map(|array| array.as_binary_view().iter()),
            )?),
        };
        Some(ColumnValues {
            values,
            validity: join_validity(&arrays),
        })
    }

    pub(crate) fn values(&self) -> RowGroupValues<'_> {
        match &self.values {
            OwnedValues::Bool(values) => RowGroupValues::Bool(values),
            OwnedValues::Int16(values) => RowGroupValues::Int16(values),
            OwnedValues::Int32(values) => RowGroupValues::Int32(values),
            OwnedValues::Int64(values) => RowGroupValues::Int64(values),
            OwnedValues::Int128(values) => RowGroupValues::Int128(values),
            OwnedValues::Float32(values) => RowGroupValues::Float32(values),
            OwnedValues::Float64(values) => RowGroupValues::Float64(values),
            OwnedValues::Bytes(values) => RowGroupValues::Bytes(BytesSlice {
                offsets: &values.offsets,
                data: &values.data,
            }),
        }
    }
}

fn join<T: ArrowPrimitiveType>(arrays: &[&ArrayRef]) -> Vec<T::Native> {
    let mut joined = Vec::with_capacity(arrays.iter().map(|array| array.len()).sum());
    for array in arrays {
        joined.extend_from_slice(array.as_primitive::<T>().values());
    }
    joined
}

/// Decimals that were checked to fit 64 bits; only NULL slots may not, and their values do not matter.
fn join_narrow(arrays: &[&ArrayRef]) -> Vec<i64> {
    let mut joined = Vec::with_capacity(arrays.iter().map(|array| array.len()).sum());
    for array in arrays {
        let values = array.as_primitive::<Decimal128Type>().values();
        joined.extend(values.iter().map(|&value| value as i64));
    }
    joined
}

fn join_bytes<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Option<BytesVector> {
    let mut joined = BytesVector::new();
    for value in values {
        joined.push(value.unwrap_or_default()).ok()?;
    }
    Some(joined)
}

fn join_validity(arrays: &[&ArrayRef]) -> Option<Vec<u64>> {
    if arrays.iter().all(|array| array.null_count() == 0) {
        return None;
    }
    let mut bits = BooleanBufferBuilder::new(arrays.iter().map(|array| array.len()).sum());
    for array in arrays {
        match array.nulls() {
            Some(nulls) => bits.append_buffer(nulls.inner()),
            None => bits.append_n(array.len(), true),
        }
    }
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    Some(bits.as_slice().chunks(8).map(word).collect())
}
