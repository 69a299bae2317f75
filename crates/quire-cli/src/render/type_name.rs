//! The SQL name of a column's type, as the types row of the box shows it.

use quire::arrow::datatypes::DataType;

/// The SQL spelling of the type; Arrow's own where SQL has none.
pub fn type_name(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Null => "unknown",
        DataType::Boolean => "boolean",
        DataType::Int8 => "tinyint",
        DataType::Int16 => "smallint",
        DataType::Int32 => "integer",
        DataType::Int64 => "bigint",
        DataType::UInt8 => "utinyint",
        DataType::UInt16 => "usmallint",
        DataType::UInt32 => "uinteger",
        DataType::UInt64 => "ubigint",
        DataType::Float32 => "real",
        DataType::Float64 => "double",
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            return format!("decimal({precision},{scale})");
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text",
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => "bytea",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time",
        DataType::Timestamp(_, None) => "timestamp",
        DataType::Timestamp(_, Some(_)) => "timestamptz",
        DataType::Interval(_) => "interval",
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::FixedSizeList(element, _) => {
            return format!("{}[]", type_name(element.data_type()));
        }
        DataType::Struct(_) => "record",
        DataType::Dictionary(_, value) => return type_name(value),
        other => return other.to_string().to_lowercase(),
    };
    name.to_owned()
}

/// Whether values of the type line up on the right.
pub fn is_numeric(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quire::arrow::datatypes::{DataType, Field, TimeUnit};

    use super::type_name;

    #[test]
    fn names_are_those_of_sql() {
        assert_eq!(type_name(&DataType::Int32), "integer");
        assert_eq!(type_name(&DataType::Utf8View), "text");
        assert_eq!(type_name(&DataType::Decimal128(15, 2)), "decimal(15,2)");
        let zone = Some(Arc::from("+00:00"));
        assert_eq!(
            type_name(&DataType::Timestamp(TimeUnit::Microsecond, zone)),
            "timestamptz"
        );
        let element = Arc::new(Field::new("item", DataType::Int64, true));
        assert_eq!(type_name(&DataType::List(element)), "bigint[]");
    }
}
