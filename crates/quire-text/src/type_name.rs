//! SQL spelling of the Arrow types that stand for Quire's types, for messages.

use arrow::datatypes::{DataType, TimeUnit};

/// How SQL spells `data_type`; types that stand for none are called what Arrow calls them.
pub fn sql_name(data_type: &DataType) -> String {
    sql_type_name(data_type).unwrap_or_else(|| data_type.to_string())
}

/// How SQL spells `data_type`, if it is one of Quire's types.
pub fn sql_type_name(data_type: &DataType) -> Option<String> {
    Some(match data_type {
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int32 => "INTEGER".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::Float32 => "REAL".to_owned(),
        DataType::Float64 => "DOUBLE PRECISION".to_owned(),
        DataType::Decimal128(precision, scale) => format!("DECIMAL({precision},{scale})"),
        DataType::Date32 => "DATE".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "TIMESTAMP".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            "TIMESTAMP WITH TIME ZONE".to_owned()
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "TEXT".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "BYTEA".to_owned(),
        _ => return None,
    })
}
