//! What SQL calls the types of columns.

use arrow::datatypes::DataType;

/// The name of a type, as `description` has it.
pub fn of(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Boolean => "BOOLEAN",
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => "SMALLINT",
        DataType::Int32 | DataType::UInt16 => "INTEGER",
        DataType::Int64 | DataType::UInt32 => "BIGINT",
        DataType::UInt64 => "DECIMAL(20,0)",
        DataType::Float16 | DataType::Float32 => "REAL",
        DataType::Float64 => "DOUBLE PRECISION",
        DataType::Decimal128(..) | DataType::Decimal256(..) => {
            let (precision, scale) = decimal_digits(data_type).unwrap_or_default();
            return format!("DECIMAL({precision},{scale})");
        }
        DataType::Date32 | DataType::Date64 => "DATE",
        DataType::Timestamp(_, None) => "TIMESTAMP",
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE",
        DataType::Time32(_) | DataType::Time64(_) => "TIME",
        DataType::Interval(_) | DataType::Duration(_) => "INTERVAL",
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => "BYTEA",
        DataType::List(element) | DataType::LargeList(element) => {
            return format!("{}[]", of(element.data_type()));
        }
        DataType::Dictionary(_, values) => return of(values),
        DataType::Struct(_) => "STRUCT",
        _ => "TEXT",
    };
    name.to_owned()
}

/// Digits of a decimal altogether, and behind the point.
pub fn decimal_digits(data_type: &DataType) -> Option<(u8, i8)> {
    match data_type {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            Some((*precision, *scale))
        }
        _ => None,
    }
}
