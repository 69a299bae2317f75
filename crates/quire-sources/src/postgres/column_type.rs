//! Which type a column of PostgreSQL has here, and how it is asked for.

use arrow::datatypes::{DataType, TimeUnit};
use postgres::types::Type;

use super::catalog::PostgresColumn;
use super::server::quoted;

/// The most digits of a decimal.
pub(super) const DIGITS_MAX: u8 = 38;
/// What a column has whose values are not known.
pub(super) const DECIMAL_DEFAULT: DataType = DataType::Decimal128(DIGITS_MAX, 10);
const SCALE_BITS: i32 = 0x7ff;

/// A column's type as far as the catalog tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PostgresColumnType {
    /// The binary form is read.
    Native(DataType),
    /// Of a `numeric` without precision the values decide.
    AnyNumeric,
    /// A text that loses nothing: `char(n)` without the blanks at its end, which mean nothing in PostgreSQL, and `name`.
    Text,
    /// Values of a type that Quire has not, as their text.
    OnlyText,
}

impl PostgresColumnType {
    pub(super) fn of(attribute: &PostgresColumn) -> Self {
        let Some(known) = Type::from_oid(attribute.type_oid) else {
            return Self::OnlyText;
        };
        Self::Native(match known {
            Type::BOOL => DataType::Boolean,
            Type::INT2 => DataType::Int16,
            Type::INT4 => DataType::Int32,
            Type::INT8 => DataType::Int64,
            Type::FLOAT4 => DataType::Float32,
            Type::FLOAT8 => DataType::Float64,
            Type::DATE => DataType::Date32,
            Type::TIMESTAMP => DataType::Timestamp(TimeUnit::Microsecond, None),
            Type::TIMESTAMPTZ => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            Type::TEXT | Type::VARCHAR => DataType::Utf8View,
            Type::BYTEA => DataType::BinaryView,
            Type::NUMERIC => return numeric(attribute.type_modifier),
            Type::BPCHAR | Type::NAME | Type::CHAR => return Self::Text,
            _ => return Self::OnlyText,
        })
    }
}

/// The modifier has the precision above 16 bits, and the scale in 11 bits with a sign (PostgreSQL's `numeric.c`).
fn numeric(modifier: i32) -> PostgresColumnType {
    let Some(packed) = modifier.checked_sub(4).filter(|&packed| packed >= 0) else {
        return PostgresColumnType::AnyNumeric;
    };
    let precision = (packed >> 16) & 0xffff;
    let scale = ((packed & SCALE_BITS) ^ 1024) - 1024;
    // Below zero the scale means zeros before the point; above the precision, zeros behind it.
    let digits = precision.max(scale).max(precision - scale);
    let Ok(digits) = u8::try_from(digits) else {
        return PostgresColumnType::OnlyText;
    };
    if digits > DIGITS_MAX {
        return PostgresColumnType::OnlyText;
    }
    PostgresColumnType::Native(DataType::Decimal128(digits, scale.max(0) as i8))
}

/// What to select: the column, or its text.
pub(super) fn expression(attribute: &PostgresColumn, data_type: &DataType) -> String {
    let column = quoted(&attribute.name);
    let is_binary = matches!(
        PostgresColumnType::of(attribute),
        PostgresColumnType::Native(_)
    );
    if is_binary || *data_type != DataType::Utf8View {
        column
    } else {
        format!("{column}::text")
    }
}

#[cfg(test)]
mod tests {
    use super::{PostgresColumnType, numeric};
    use arrow::datatypes::DataType;

    fn modifier(precision: i32, scale: i32) -> i32 {
        ((precision << 16) | (scale & 0x7ff)) + 4
    }

    #[test]
    fn modifiers_have_precision_and_scale() {
        let decimal =
            |precision, scale| PostgresColumnType::Native(DataType::Decimal128(precision, scale));
        assert_eq!(numeric(modifier(10, 2)), decimal(10, 2));
        assert_eq!(numeric(modifier(38, 38)), decimal(38, 38));
        assert_eq!(numeric(modifier(3, 5)), decimal(5, 5));
        assert_eq!(numeric(modifier(3, -2)), decimal(5, 0));
        assert_eq!(numeric(modifier(39, 2)), PostgresColumnType::OnlyText);
        assert_eq!(numeric(modifier(1000, 0)), PostgresColumnType::OnlyText);
        assert_eq!(numeric(-1), PostgresColumnType::AnyNumeric);
    }
}
