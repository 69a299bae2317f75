//! Kinds of types: what PostgreSQL converts into one another without being asked is one kind, or a pair that [`StrictTypeKind::fits`] knows.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable};

/// A kind of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StrictTypeKind {
    /// A text in quotes, NULL, a parameter: it becomes what stands beside it.
    Unknown,
    Boolean,
    Integer,
    /// Decimals and floats.
    Number,
    Text,
    Bytes,
    Date,
    Timestamp,
    Time,
    Interval,
    Array,
    /// Of no concern to PostgreSQL's rules.
    Other,
}

impl StrictTypeKind {
    pub(super) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Null => Self::Unknown,
            DataType::Boolean => Self::Boolean,
            integer if integer.is_integer() => Self::Integer,
            number if number.is_numeric() => Self::Number,
            text if text.is_string() => Self::Text,
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Bytes,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Timestamp(..) => Self::Timestamp,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Interval(_) | DataType::Duration(_) => Self::Interval,
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => Self::Array,
            _ => Self::Other,
        }
    }

    /// The kind of an expression whose types are as they were written.
    pub(super) fn of_expression(expr: &Expr, schema: &DFSchema) -> Result<Self> {
        Ok(match expr {
            Expr::Literal(value, _) if value.data_type().is_string() => Self::Unknown,
            Expr::Placeholder(_) => Self::Unknown,
            Expr::Alias(alias) => Self::of_expression(&alias.expr, schema)?,
            other => Self::of(&other.get_type(schema)?),
        })
    }

    pub(super) fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Number)
    }

    /// Whether values of this kind are taken where `wanted` is expected.
    pub(super) fn fits(self, wanted: Self) -> bool {
        self == wanted
            || matches!(
                (self, wanted),
                (Self::Unknown | Self::Other, _)
                    | (_, Self::Unknown | Self::Other)
                    | (Self::Integer, Self::Number)
                    | (Self::Date, Self::Timestamp)
                    | (Self::Time, Self::Interval)
            )
    }

    /// Whether two values can be compared, or be alternatives of one expression.
    pub(super) fn agrees(self, other: Self) -> bool {
        self.fits(other) || other.fits(self)
    }
}

/// What a type is called in SQL.
pub(super) fn sql_name(expr: &Expr, schema: &DFSchema) -> String {
    match (
        StrictTypeKind::of_expression(expr, schema),
        expr.get_type(schema),
    ) {
        (Ok(StrictTypeKind::Unknown), _) | (_, Err(_)) => "unknown".to_owned(),
        (_, Ok(data_type)) => type_name(&data_type),
    }
}

pub(super) fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("{}[]", type_name(item.data_type()))
        }
        other => quire_error::in_sql(&other.to_string()).to_lowercase(),
    }
}
