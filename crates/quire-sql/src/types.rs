//! SQL types: from their spelling to the engine's, and from Arrow's for `CREATE TABLE AS`.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType as ArrowType, Field, FieldRef, TimeUnit};
use datafusion::common::plan_datafusion_err;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast::{
    CharacterLength, DataType as Spelled, ExactNumberInfo, TimezoneInfo,
};
use quire_error::Error;
use quire_tables::SqlType;

use super::reject::not_supported;

/// Digits of a NUMERIC without precision: PostgreSQL's has no bound, a column needs one.
const DEFAULT_DECIMAL: SqlType = SqlType::Decimal {
    precision: 38,
    scale: 10,
};

/// The engine's type for a spelled one; `None` when there is none.
pub fn from_spelling(spelled: &Spelled) -> Result<Option<SqlType>, Error> {
    let sql_type = match spelled {
        Spelled::Boolean | Spelled::Bool => SqlType::Boolean,
        Spelled::SmallInt(None) | Spelled::Int2(None) | Spelled::TinyInt(None) => SqlType::SmallInt,
        Spelled::Int(None)
        | Spelled::Integer(None)
        | Spelled::Int4(None)
        | Spelled::MediumInt(None) => SqlType::Integer,
        Spelled::BigInt(None) | Spelled::Int8(None) => SqlType::BigInt,
        Spelled::Real | Spelled::Float4 => SqlType::Real,
        Spelled::Double(ExactNumberInfo::None)
        | Spelled::DoublePrecision
        | Spelled::Float8
        | Spelled::Float(ExactNumberInfo::None) => SqlType::Double,
        Spelled::Float(ExactNumberInfo::Precision(bits)) => match bits {
            1..=24 => SqlType::Real,
            25..=53 => SqlType::Double,
            _ => return Err(bad_type("precision for type float must be 1 to 53 bits")),
        },
        Spelled::Numeric(digits) | Spelled::Decimal(digits) | Spelled::Dec(digits) => {
            decimal(digits)?
        }
        Spelled::Date => SqlType::Date,
        Spelled::Timestamp(None | Some(6), zone) => match zone {
            TimezoneInfo::None | TimezoneInfo::WithoutTimeZone => SqlType::Timestamp,
            TimezoneInfo::Tz | TimezoneInfo::WithTimeZone => SqlType::TimestampTz,
        },
        Spelled::Datetime(None | Some(6)) => SqlType::Timestamp,
        Spelled::Text
        | Spelled::String(None)
        | Spelled::TinyText
        | Spelled::MediumText
        | Spelled::LongText => SqlType::Text,
        Spelled::Varchar(length)
        | Spelled::CharacterVarying(length)
        | Spelled::CharVarying(length) => match length {
            None => SqlType::Text,
            Some(length) => SqlType::VarChar(characters(length)?),
        },
        Spelled::Char(length) | Spelled::Character(length) => {
            SqlType::Char(length.as_ref().map_or(Ok(1), characters)?)
        }
        Spelled::Bytea
        | Spelled::Blob(None)
        | Spelled::TinyBlob
        | Spelled::MediumBlob
        | Spelled::LongBlob => SqlType::Bytea,
        _ => return Ok(None),
    };
    match sql_type.declaration_error() {
        Some(what) => Err(bad_type(what)),
        None => Ok(Some(sql_type)),
    }
}

fn bad_type(what: impl Into<String>) -> Error {
    Error::new("22023", what)
}

fn decimal(digits: &ExactNumberInfo) -> Result<SqlType, Error> {
    let (precision, scale) = match *digits {
        ExactNumberInfo::None => return Ok(DEFAULT_DECIMAL),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    match (u8::try_from(precision), u8::try_from(scale)) {
        (Ok(precision @ 1..=38), Ok(scale)) if scale <= precision => {
            Ok(SqlType::Decimal { precision, scale })
        }
        _ => Err(bad_type(format!(
            "NUMERIC({precision},{scale}): the precision must be 1 to 38 and the scale 0 to the precision"
        ))),
    }
}

fn characters(length: &CharacterLength) -> Result<u32, Error> {
    match length {
        CharacterLength::IntegerLength { length, .. } => u32::try_from(*length)
            .map_err(|_| bad_type(format!("length {length} of a text type is too large"))),
        CharacterLength::Max => Err(not_supported("the length MAX of a text type")),
    }
}

/// The type of a column made from a query's column of this Arrow type.
pub fn from_arrow(column: &str, arrow: &ArrowType) -> Result<SqlType, Error> {
    let sql_type = match arrow {
        ArrowType::Boolean => SqlType::Boolean,
        ArrowType::Int8 | ArrowType::Int16 | ArrowType::UInt8 => SqlType::SmallInt,
        ArrowType::Int32 | ArrowType::UInt16 => SqlType::Integer,
        ArrowType::Int64 | ArrowType::UInt32 => SqlType::BigInt,
        ArrowType::UInt64 => SqlType::Decimal {
            precision: 20,
            scale: 0,
        },
        ArrowType::Float16 | ArrowType::Float32 => SqlType::Real,
        ArrowType::Float64 => SqlType::Double,
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale)
            if *scale >= 0 && scale.cast_unsigned() <= *precision =>
        {
            SqlType::Decimal {
                precision: *precision,
                scale: scale.cast_unsigned(),
            }
        }
        ArrowType::Date32 => SqlType::Date,
        ArrowType::Date64 | ArrowType::Timestamp(_, None) => SqlType::Timestamp,
        ArrowType::Timestamp(_, Some(_)) => SqlType::TimestampTz,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View | ArrowType::Null => {
            SqlType::Text
        }
        ArrowType::Binary
        | ArrowType::LargeBinary
        | ArrowType::BinaryView
        | ArrowType::FixedSizeBinary(_) => SqlType::Bytea,
        ArrowType::Dictionary(_, values) => return from_arrow(column, values),
        other => {
            return Err(not_supported(format!(
                "a table column of type {other} (column \"{column}\")"
            ))
            .with_hint("Cast it to a type that tables have, such as TEXT."));
        }
    };
    Ok(sql_type)
}

/// Makes the planner read type names as tables do: microsecond timestamps, PostgreSQL's floats.
#[derive(Debug)]
pub struct SpelledTypes;

impl TypePlanner for SpelledTypes {
    fn plan_type_field(&self, spelled: &Spelled) -> datafusion::common::Result<Option<FieldRef>> {
        if let Spelled::Timestamp(Some(0 | 3), zone) = spelled {
            let zone = matches!(zone, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone);
            let arrow = ArrowType::Timestamp(TimeUnit::Microsecond, zone.then(|| "+00:00".into()));
            return Ok(Some(Arc::new(Field::new("", arrow, true))));
        }
        let sql_type =
            from_spelling(spelled).map_err(|error| plan_datafusion_err!("{}", error.message()))?;
        Ok(sql_type.map(|sql_type| Arc::new(Field::new("", sql_type.arrow_type(), true))))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn decimals_are_bounded() {
        let of = |precision, scale| decimal(&ExactNumberInfo::PrecisionAndScale(precision, scale));
        assert_eq!(
            of(15, 2).unwrap(),
            SqlType::Decimal {
                precision: 15,
                scale: 2
            }
        );
        for (precision, scale) in [(39, 0), (0, 0), (5, 6), (5, -1), (u64::MAX, 0)] {
            assert_eq!(of(precision, scale).unwrap_err().sqlstate(), "22023");
        }
    }

    #[test]
    fn a_query_column_without_a_table_type_is_named() {
        let list = ArrowType::new_list(ArrowType::Int32, true);
        let error = from_arrow("tags", &list).unwrap_err();
        assert_eq!(error.sqlstate(), "0A000");
        assert!(error.message().contains("\"tags\""));
        assert_eq!(
            from_arrow("n", &ArrowType::UInt32).unwrap(),
            SqlType::BigInt
        );
    }
}
