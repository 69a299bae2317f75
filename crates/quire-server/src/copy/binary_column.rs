//! A column of the binary format: values in the type that the table has.

use std::sync::Arc;

use quire::Value;
use quire::arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryViewBuilder, BooleanBuilder, Decimal128Builder,
    PrimitiveBuilder, StringViewBuilder, TimestampMicrosecondBuilder,
};
use quire::arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
};

use crate::types::{Parameter, ParameterError, PgType, WireFormat, rescaled, utf8};

/// The values so far.
pub(super) struct BinaryColumn {
    /// How a value is read that is neither text nor bytes.
    wire: Parameter,
    values: BinaryColumnValues,
}

/// Of all types that columns of tables have.
enum BinaryColumnValues {
    Boolean(BooleanBuilder),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Decimal(Decimal128Builder, u8, i8),
    Date(PrimitiveBuilder<Date32Type>),
    Timestamp(TimestampMicrosecondBuilder),
    Bytes(BinaryViewBuilder),
    Text(StringViewBuilder),
}

impl BinaryColumn {
    pub(super) fn of(data_type: &DataType) -> Self {
        use BinaryColumnValues as Values;
        let values = match data_type {
            DataType::Boolean => Values::Boolean(BooleanBuilder::new()),
            DataType::Int16 => Values::Int16(PrimitiveBuilder::new()),
            DataType::Int32 => Values::Int32(PrimitiveBuilder::new()),
            DataType::Int64 => Values::Int64(PrimitiveBuilder::new()),
            DataType::Float32 => Values::Float32(PrimitiveBuilder::new()),
            DataType::Float64 => Values::Float64(PrimitiveBuilder::new()),
            DataType::Decimal128(precision, scale) => {
                let builder = Decimal128Builder::new().with_data_type(data_type.clone());
                Values::Decimal(builder, *precision, *scale)
            }
            DataType::Date32 => Values::Date(PrimitiveBuilder::new()),
            DataType::Timestamp(..) => {
                let builder = TimestampMicrosecondBuilder::new();
                Values::Timestamp(builder.with_data_type(data_type.clone()))
            }
            DataType::BinaryView => Values::Bytes(BinaryViewBuilder::new()),
            _ => Values::Text(StringViewBuilder::new()),
        };
        Self {
            wire: Parameter::new(PgType::of(data_type).oid(), Some(data_type)),
            values,
        }
    }

    /// Appends a value, or NULL.
    pub(super) fn append(&mut self, bytes: Option<&[u8]>) -> Result<(), ParameterError> {
        use BinaryColumnValues as Values;
        match &mut self.values {
            Values::Text(builder) => builder.append_option(bytes.map(utf8).transpose()?),
            Values::Bytes(builder) => builder.append_option(bytes),
            values => {
                let (value, fitting) = self.wire.decode(WireFormat::Binary, bytes)?;
                values.append(&value, fitting.as_ref())?;
            }
        }
        Ok(())
    }

    /// The values, which it forgets.
    pub(super) fn finish(&mut self) -> ArrayRef {
        use BinaryColumnValues as Values;
        match &mut self.values {
            Values::Boolean(builder) => Arc::new(builder.finish()),
            Values::Int16(builder) => Arc::new(builder.finish()),
            Values::Int32(builder) => Arc::new(builder.finish()),
            Values::Int64(builder) => Arc::new(builder.finish()),
            Values::Float32(builder) => Arc::new(builder.finish()),
            Values::Float64(builder) => Arc::new(builder.finish()),
            Values::Decimal(builder, ..) => Arc::new(builder.finish()),
            Values::Date(builder) => Arc::new(builder.finish()),
            Values::Timestamp(builder) => Arc::new(builder.finish()),
            Values::Bytes(builder) => Arc::new(builder.finish()),
            Values::Text(builder) => Arc::new(builder.finish()),
        }
    }
}

impl BinaryColumnValues {
    /// Appends a decoded value; `fitting` is its type if that is not the column's.
    fn append(&mut self, value: &Value, fitting: Option<&DataType>) -> Result<(), ParameterError> {
        match (self, value) {
            (Self::Boolean(builder), Value::Null) => builder.append_null(),
            (Self::Boolean(builder), Value::Boolean(value)) => builder.append_value(*value),
            (Self::Int16(builder), value) => append_integer(builder, value, "smallint")?,
            (Self::Int32(builder), value) => append_integer(builder, value, "integer")?,
            (Self::Int64(builder), value) => append_integer(builder, value, "bigint")?,
            (Self::Date(builder), value) => append_integer(builder, value, "date")?,
            (Self::Timestamp(builder), value) => append_integer(builder, value, "timestamp")?,
            (Self::Float32(builder), Value::Null) => builder.append_null(),
            (Self::Float32(builder), Value::Real(value)) => builder.append_value(*value),
            (Self::Float64(builder), Value::Null) => builder.append_null(),
            (Self::Float64(builder), Value::Double(value)) => builder.append_value(*value),
            (Self::Decimal(builder, ..), Value::Null) => builder.append_null(),
            (Self::Decimal(builder, precision, scale), Value::Decimal(units)) => {
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
