//! A column of the binary format: values in the type that the table has.

use quire::arrow::array::{ArrayRef, ArrowPrimitiveType, PrimitiveBuilder, StringViewBuilder};
use quire::arrow::datatypes::DataType;
use quire::{TypedArrayBuilder, Value};

use crate::types::{Parameter, ParameterError, PgType, WireFormat, rescaled, utf8};

/// The values so far.
pub(super) struct BinaryColumn {
    /// How a value is read that is neither text nor bytes.
    wire: Parameter,
    values: TypedArrayBuilder,
}

impl BinaryColumn {
    /// `capacity`: rows to make room for.
    pub(super) fn of(data_type: &DataType, capacity: usize) -> Self {
        let values = TypedArrayBuilder::of(data_type, capacity);
        Self {
            wire: Parameter::new(PgType::of(data_type).oid(), Some(data_type)),
            values: values.unwrap_or_else(|| TypedArrayBuilder::Text(StringViewBuilder::new())),
        }
    }

    /// Appends a value, or NULL.
    pub(super) fn append(&mut self, bytes: Option<&[u8]>) -> Result<(), ParameterError> {
        match &mut self.values {
            TypedArrayBuilder::Text(builder) => builder.append_option(bytes.map(utf8).transpose()?),
            TypedArrayBuilder::Bytes(builder) => builder.append_option(bytes),
            values => {
                let (value, fitting) = self.wire.decode(WireFormat::Binary, bytes)?;
                append_decoded(values, &value, fitting.as_ref())?;
            }
        }
        Ok(())
    }

    /// The values, which it forgets.
    pub(super) fn finish(&mut self) -> ArrayRef {
        self.values.finish()
    }
}

/// Appends a decoded value; `fitting` is its type if that is not the column's.
fn append_decoded(
    values: &mut TypedArrayBuilder,
    value: &Value,
    fitting: Option<&DataType>,
) -> Result<(), ParameterError> {
    use TypedArrayBuilder as Values;
    match (values, value) {
        (Values::Boolean(builder), Value::Null) => builder.append_null(),
        (Values::Boolean(builder), Value::Boolean(value)) => builder.append_value(*value),
        (Values::Int16(builder), value) => append_integer(builder, value, "smallint")?,
        (Values::Int32(builder), value) => append_integer(builder, value, "integer")?,
        (Values::Int64(builder), value) => append_integer(builder, value, "bigint")?,
        (Values::Date(builder), value) => append_integer(builder, value, "date")?,
        (Values::Timestamp(builder), value) => append_integer(builder, value, "timestamp")?,
        (Values::Float32(builder), Value::Null) => builder.append_null(),
        (Values::Float32(builder), Value::Real(value)) => builder.append_value(*value),
        (Values::Float64(builder), Value::Null) => builder.append_null(),
        (Values::Float64(builder), Value::Double(value)) => builder.append_value(*value),
        (Values::Decimal(builder, ..), Value::Null) => builder.append_null(),
        (Values::Decimal(builder, precision, scale), Value::Decimal(units)) => {
            let units = i128::from(*units);
            let units = match fitting {
                Some(DataType::Decimal128(_, from)) => {
                    rescaled(units, *from, *precision, *scale)
                        .ok_or(ParameterError::OutOfRange("numeric"))?
                }
                _ => units,
            };
            builder.append_value(units);
        }
        // `Parameter` reads what the column's type says.
        _ => return Err(ParameterError::Binary("this column")),
    }
    Ok(())
}

fn append_integer<T>(
    builder: &mut PrimitiveBuilder<T>,
    value: &Value,
    type_name: &'static str,
) -> Result<(), ParameterError>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i64>,
{
    match value {
        Value::Null => builder.append_null(),
        Value::Integer(value) => {
            let value = T::Native::try_from(*value);
            builder.append_value(value.map_err(|_| ParameterError::OutOfRange(type_name))?);
        }
        _ => return Err(ParameterError::Binary(type_name)),
    }
    Ok(())
}
