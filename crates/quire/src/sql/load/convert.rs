//! A file's values as those of a table's column.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::compute::kernels::cmp::distinct;
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::arrow::util::display::array_value_to_string;
use quire_text::type_name::sql_name;

use quire_error::Error;

/// `array` in the type of `field`. A fraction is no integer and a moment no date: what would be cut
/// off is an error. To DECIMAL and REAL numbers are rounded, as in an assignment.
pub(super) fn convert(array: &ArrayRef, field: &Field) -> Result<ArrayRef, Error> {
    let data_type = field.data_type();
    if array.data_type() == data_type {
        return Ok(Arc::clone(array));
    }
    let options = CastOptions {
        safe: false,
        ..Default::default()
    };
    let converted = cast_with_options(array, data_type, &options)?;
    if cuts_off(array.data_type(), data_type) {
        let back = cast_with_options(&converted, array.data_type(), &options)?;
        let differs = distinct(array, &back)?;
        if let Some(row) = differs.values().set_indices().next() {
            return Err(cut_off(array, row, field));
        }
    }
    Ok(converted)
}

/// Whether a cast between the types drops digits without saying so.
fn cuts_off(from: &DataType, to: &DataType) -> bool {
    let has_fraction = from.is_floating() || from.is_decimal();
    has_fraction && to.is_integer() || from.is_temporal() && to.is_temporal()
}

fn cut_off(array: &dyn Array, row: usize, field: &Field) -> Error {
    let value = array_value_to_string(array, row).unwrap_or_default();
    let sql_type = sql_name(field.data_type());
    let name = field.name();
    let text = format!("value {value} of column \"{name}\" is no {sql_type} without losing digits");
    Error::new("22003", text).with_hint(
        "Give the column a type that holds it, or CREATE TABLE … AS SELECT with a CAST of your choice.",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use datafusion::arrow::array::{AsArray, Float64Array, Int64Array, TimestampNanosecondArray};
    use datafusion::arrow::datatypes::{Int32Type, TimeUnit, TimestampMicrosecondType};

    use super::*;

    fn converted(array: impl Array + 'static, to: DataType) -> Result<ArrayRef, Error> {
        convert(&(Arc::new(array) as ArrayRef), &Field::new("n", to, true))
    }

    #[test]
    fn whole_values_are_converted() {
        let array = converted(Float64Array::from(vec![Some(-3.0), None]), DataType::Int32).unwrap();
        let array = array.as_primitive::<Int32Type>();
        assert_eq!((array.value(0), array.is_null(1)), (-3, true));
        let moments = TimestampNanosecondArray::from(vec![-7_000]);
        let unit = DataType::Timestamp(TimeUnit::Microsecond, None);
        let array = converted(moments, unit).unwrap();
        assert_eq!(
            array.as_primitive::<TimestampMicrosecondType>().value(0),
            -7
        );
    }

    #[test]
    fn what_would_be_cut_off_is_named() {
        let error = converted(Float64Array::from(vec![1.0, 1.5]), DataType::Int32).unwrap_err();
        assert_eq!(error.sqlstate(), "22003");
        assert!(
            error.message().contains("value 1.5 of column \"n\""),
            "{error}"
        );
        let moments = TimestampNanosecondArray::from(vec![7_001]);
        let unit = DataType::Timestamp(TimeUnit::Microsecond, None);
        assert!(converted(moments, unit).is_err());
        assert!(converted(Int64Array::from(vec![1 << 40]), DataType::Int32).is_err());
    }
}
