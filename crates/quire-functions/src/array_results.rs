//! What functions of arrays give: an array, or a single value where all arguments are single values.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::ColumnarValue;

/// Applies a function of arrays to the only argument.
pub(crate) fn map_array(
    arguments: &[ColumnarValue],
    map: impl FnOnce(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    match arguments {
        [ColumnarValue::Array(array)] => Ok(ColumnarValue::Array(map(array)?)),
        [ColumnarValue::Scalar(scalar)] => result_of(map(&scalar.to_array()?)?, true),
        _ => internal_err!("the function takes one argument"),
    }
}

/// Whether all arguments are single values, so that one row is all there is to compute.
pub(crate) fn are_single(arguments: &[ColumnarValue]) -> bool {
    let mut arguments = arguments.iter();
    arguments.all(|argument| matches!(argument, ColumnarValue::Scalar(_)))
}

/// What was computed of arrays, or of one row of single values.
pub(crate) fn result_of(array: ArrayRef, is_single: bool) -> Result<ColumnarValue> {
    Ok(if is_single {
        ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
    } else {
        ColumnarValue::Array(array)
    })
}
