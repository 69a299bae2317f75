//! Which types can be cast to which: those of PostgreSQL's `pg_cast`, and every type to text and from text.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;

use super::kinds::{StrictTypeKind, type_name};
use super::refusal;

/// Refuses a cast that PostgreSQL does not have.
pub(super) fn check(from: StrictTypeKind, from_type: &DataType, to_type: &DataType) -> Result<()> {
    if exists(from, from_type, StrictTypeKind::of(to_type), to_type) {
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

fn exists(
    from: StrictTypeKind,
    from_type: &DataType,
    to: StrictTypeKind,
    to_type: &DataType,
) -> bool {
    match (from, to) {
        (StrictTypeKind::Unknown | StrictTypeKind::Text | StrictTypeKind::Other, _)
        | (_, StrictTypeKind::Text | StrictTypeKind::Other) => true,
        // A number that is written out has 64 bits here, and 32 there.
        (StrictTypeKind::Integer, StrictTypeKind::Boolean) => !matches!(from_type, DataType::Int16),
        (StrictTypeKind::Boolean, StrictTypeKind::Integer) => matches!(to_type, DataType::Int32),
        (
            StrictTypeKind::Integer | StrictTypeKind::Number,
            StrictTypeKind::Integer | StrictTypeKind::Number,
        )
        | (StrictTypeKind::Timestamp, StrictTypeKind::Date | StrictTypeKind::Time)
        | (StrictTypeKind::Date, StrictTypeKind::Timestamp)
        | (StrictTypeKind::Time, StrictTypeKind::Interval)
        | (StrictTypeKind::Interval, StrictTypeKind::Time) => true,
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
        let is_there = |from: &DataType, to: &DataType| {
            exists(StrictTypeKind::of(from), from, StrictTypeKind::of(to), to)
        };
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
