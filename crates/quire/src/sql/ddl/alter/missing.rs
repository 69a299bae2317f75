//! One value of a query as the catalog keeps it, for rows that are older than their column.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use quire_codec::CodecScalar;
use quire_error::Error;
use quire_tables::SqlType;

use super::super::expressions::fitted;

/// The first value of an array in the Arrow type of `sql_type`; `None` for NULL.
pub(super) fn scalar_of(array: &ArrayRef, sql_type: SqlType) -> Result<Option<CodecScalar>, Error> {
    let value = ScalarValue::try_from_array(array, 0)?;
    if value.is_null() {
        return Ok(None);
    }
    let scalar = match value {
        ScalarValue::Boolean(Some(value)) => CodecScalar::Bool(value),
        ScalarValue::Int16(Some(value)) => CodecScalar::Int16(value),
        ScalarValue::Int32(Some(value)) | ScalarValue::Date32(Some(value)) => {
            CodecScalar::Int32(value)
        }
        ScalarValue::Int64(Some(value)) | ScalarValue::TimestampMicrosecond(Some(value), _) => {
            CodecScalar::Int64(value)
        }
        ScalarValue::Float32(Some(value)) => CodecScalar::Float32(value),
        ScalarValue::Float64(Some(value)) => CodecScalar::Float64(value),
        ScalarValue::Decimal128(Some(value), ..) => decimal(value, sql_type)?,
        ScalarValue::Utf8View(Some(text)) => {
            CodecScalar::Bytes(fitted(sql_type, &text)?.as_bytes().to_vec())
        }
        ScalarValue::BinaryView(Some(bytes)) => CodecScalar::Bytes(bytes),
        other => {
            let text = format!("internal error: {other:?} is no value of {sql_type}");
            return Err(Error::new("XX000", text));
        }
    };
    Ok(Some(scalar))
}

/// Decimals of up to 18 digits are kept in 64 bits.
fn decimal(value: i128, sql_type: SqlType) -> Result<CodecScalar, Error> {
    match (sql_type, i64::try_from(value)) {
        (
            SqlType::Decimal {
                precision: ..=18, ..
            },
            Ok(value),
        ) => Ok(CodecScalar::Int64(value)),
        (
            SqlType::Decimal {
                precision: 19.., ..
            },
            _,
        ) => Ok(CodecScalar::Int128(value)),
        _ => Err(Error::new(
            "22003",
            format!("numeric field overflow for {sql_type}"),
        )),
    }
}
