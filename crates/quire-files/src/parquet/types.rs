//! Which of Quire's types a Parquet column gets.

use arrow::datatypes::{DataType, TimeUnit};
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::schema::types::Type;

/// How one column is read and what it becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnTypes {
    /// Type asked of the Parquet reader.
    pub read: DataType,
    /// Type of the batches.
    pub target: DataType,
}

/// Types for a column that the Parquet reader would give as `natural`; the error says what Quire
/// has no type for.
pub(super) fn column_types(natural: &DataType, column: &Type) -> Result<ColumnTypes, String> {
    let read = read_type(natural, column);
    let target = match &read {
        DataType::FixedSizeBinary(16) if is_uuid(column) => DataType::Utf8View,
        read => target_type(read)?,
    };
    Ok(ColumnTypes { read, target })
}

/// Texts and byte strings are read as views, whatever their offsets and dictionaries; the old
/// 96-bit timestamps as microseconds, because nanoseconds end in 2262.
fn read_type(natural: &DataType, column: &Type) -> DataType {
    match natural {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Dictionary(_, values) => read_type(values, column),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) if is_int96(column) => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        other => other.clone(),
    }
}

fn is_int96(column: &Type) -> bool {
    column.is_primitive() && column.get_physical_type() == PhysicalType::INT96
}

fn is_uuid(column: &Type) -> bool {
    column.get_basic_info().logical_type_ref() == Some(&LogicalType::Uuid)
}

/// Every value of the read type is a value of the target type, or conversion says which is not.
fn target_type(read: &DataType) -> Result<DataType, String> {
    Ok(match read {
        DataType::Boolean => DataType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => DataType::Int16,
        DataType::Int32 | DataType::UInt16 => DataType::Int32,
        DataType::Int64 | DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Float16 | DataType::Float32 => DataType::Float32,
        DataType::Float64 => DataType::Float64,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
            if *scale >= 0 && i16::from(*scale) <= i16::from(*precision) =>
        {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Decimal256(..) => {
            return Err(format!(
                "{read} has more than 38 digits; cast the column before"
            ));
        }
        DataType::Date32 | DataType::Date64 => DataType::Date32,
        DataType::Timestamp(_, zone) => DataType::Timestamp(
            TimeUnit::Microsecond,
            zone.as_ref().map(|_| "+00:00".into()),
        ),
        DataType::Time32(_) | DataType::Time64(_) | DataType::Utf8View | DataType::Null => {
            DataType::Utf8View
        }
        DataType::BinaryView | DataType::FixedSizeBinary(_) => DataType::BinaryView,
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::Struct(_)
        | DataType::Map(..)
        | DataType::Union(..) => {
            return Err("is nested (a list, struct or map); flatten it before".to_owned());
        }
        other => return Err(format!("has type {other}, for which there is no SQL type")),
    })
}
