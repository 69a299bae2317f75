//! Which columns files can have.

use arrow::datatypes::{DataType, Schema, TimeUnit};
use quire_text::type_name::sql_name;

use super::error::CopyError;

/// Refuses a column that a file of the format cannot have.
pub(crate) fn check_writable(schema: &Schema, format: &'static str) -> Result<(), CopyError> {
    let fields = schema.fields().iter();
    match { fields }.find(|field| !is_writable(field.data_type())) {
        Some(field) => Err(unwritable(field.name(), field.data_type(), format)),
        None => Ok(()),
    }
}

/// The error of a column of such a type.
pub(crate) fn unwritable(name: &str, data_type: &DataType, format: &'static str) -> CopyError {
    CopyError::Unwritable {
        column: name.to_owned(),
        sql_type: sql_name(data_type),
        format,
    }
}

fn is_writable(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Boolean
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Float32
            | DataType::Float64
            | DataType::Decimal128(..)
            | DataType::Date32
            | DataType::Timestamp(TimeUnit::Microsecond, _)
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
    )
}
