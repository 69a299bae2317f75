//! The arguments of a function of the catalog.

use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;

pub(super) fn integer(args: &[ScalarValue], index: usize) -> Option<i64> {
    match args.get(index)?.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(value)) => value,
        _ => None,
    }
}

/// A number of an object, also as text.
pub(super) fn oid(args: &[ScalarValue], index: usize) -> Option<u32> {
    integer(args, index).and_then(|value| u32::try_from(value).ok())
}

pub(super) fn string(args: &[ScalarValue], index: usize) -> Option<String> {
    match args.get(index)?.cast_to(&DataType::Utf8) {
        Ok(ScalarValue::Utf8(value)) => value,
        _ => None,
    }
}

/// The number of elements of the list that comes first; nothing for an empty one.
pub(super) fn ends(args: &[ScalarValue]) -> Option<i64> {
    match args.first()? {
        ScalarValue::List(list) if list.is_valid(0) => {
            let count = list.value(0).len() as i64;
            (count > 0).then_some(count)
        }
        _ => None,
    }
}
