//! Which types can be cast to which: those of PostgreSQL's `pg_cast`, and every type to text and from text.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;

use super::kinds::{Kind, type_name};
use super::refusal;

/// Refuses a cast that PostgreSQL does not have.
pub(super) fn check(from: Kind, from_type: &DataType, to_type: &DataType) -> Result<()> {
    if exists(from, from_type, Kind::of(to_type), to_type) {
        Ok(())
    } else {
        Err(refusal(
            "42846",
            format!(
                "cannot cast type {} to {}",
                type_name(from_type),
                type_name(to_type)
            ),
            "Say what it is to mean, with a condition or a function.",
        ))
    }
}

fn exists(from: Kind, from_type: &DataType, to: Kind, to_type: &DataType) -> bool {
    match (from, to) {
        (Kind::Unknown | Kind::Text | Kind::Other, _) | (_, Kind::Text | Kind::Other) => true,
        // A number that is written out has 64 bits here, and 32 there.
        (Kind::Integer, Kind::Boolean) => !matches!(from_type, DataType::Int16),
        (Kind::Boolean, Kind::Integer) => matches!(to_type, DataType::Int32),
        (Kind::Integer | Kind::Number, Kind::Integer | Kind::Number)
        | (Kind::Timestamp, Kind::Date | Kind::Time)
        | (Kind::Date, Kind::Timestamp)
        | (Kind::Time, Kind::Interval)
        | (Kind::Interval, Kind::Time) => true,
        (from, to) => from == to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::TimeUnit;

    #[test]
    fn casts_exist_as_in_postgresql() {
        let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
        let is_there =
            |from: &DataType, to: &DataType| exists(Kind::of(from), from, Kind::of(to), to);
        assert!(is_there(&DataType::Boolean, &DataType::Int32));
        assert!(is_there(&DataType::Float64, &DataType::Int16));
        assert!(is_there(&timestamp, &DataType::Date32));
        assert!(is_there(&DataType::Date32, &DataType::Utf8));
        assert!(!is_there(&DataType::Boolean, &DataType::Int64));
        assert!(!is_there(&DataType::Date32, &DataType::Int32));
        assert!(!is_there(&DataType::Int32, &DataType::Date32));
        assert!(!is_there(&DataType::Float64, &DataType::Boolean));
        assert!(!is_there(&timestamp, &DataType::Int64));
    }
}
