//! The values of a column so far, in a builder of its type.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewBuilder, BooleanBuilder, PrimitiveBuilder, StringViewBuilder,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimeUnit, TimestampMicrosecondType,
};

/// A builder of arrays of any type that columns of tables have.
pub enum TypedArrayBuilder {
    Boolean(BooleanBuilder),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    /// With precision and scale.
    Decimal(PrimitiveBuilder<Decimal128Type>, u8, u8),
    Date(PrimitiveBuilder<Date32Type>),
    Timestamp(PrimitiveBuilder<TimestampMicrosecondType>),
    Text(StringViewBuilder),
    Bytes(BinaryViewBuilder),
}

impl TypedArrayBuilder {
    /// No values yet, but room for as many as `capacity`; `None` if no column of a table has this type.
    pub fn of(data_type: &DataType, capacity: usize) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Boolean(BooleanBuilder::with_capacity(capacity)),
            DataType::Int16 => Self::Int16(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Int32 => Self::Int32(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Int64 => Self::Int64(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Float32 => Self::Float32(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Float64 => Self::Float64(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Decimal128(precision, scale) => {
                let builder = PrimitiveBuilder::with_capacity(capacity);
                let builder = builder.with_data_type(data_type.clone());
                let scale = u8::try_from(*scale).ok().filter(|scale| *scale <= 38)?;
                Self::Decimal(builder, *precision, scale)
            }
            DataType::Date32 => Self::Date(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let builder = PrimitiveBuilder::with_capacity(capacity);
                Self::Timestamp(builder.with_data_type(data_type.clone()))
            }
            DataType::Utf8View => Self::Text(StringViewBuilder::with_capacity(capacity)),
            DataType::BinaryView => Self::Bytes(BinaryViewBuilder::with_capacity(capacity)),
            _ => return None,
        })
    }

    /// The values as an array; the builder starts again.
    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Boolean(builder) => Arc::new(builder.finish()),
            Self::Int16(builder) => Arc::new(builder.finish()),
            Self::Int32(builder) => Arc::new(builder.finish()),
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::Float32(builder) => Arc::new(builder.finish()),
            Self::Float64(builder) => Arc::new(builder.finish()),
            Self::Decimal(builder, ..) => Arc::new(builder.finish()),
            Self::Date(builder) => Arc::new(builder.finish()),
            Self::Timestamp(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Bytes(builder) => Arc::new(builder.finish()),
        }
    }
}
