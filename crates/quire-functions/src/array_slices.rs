//! Parts of arrays: `a[1:2][2:]`, a range for each dimension.
//!
//! DataFusion's slice takes a second range for one of the rows again, counts negative bounds from the end, and knows no open ones. PostgreSQL's bounds
//! are positions, those outside of the array mean its ends, and a part without elements is an empty array.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, new_empty_array};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::{Result, plan_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The function that stands for subscripts: an array, and the first and the last position of each dimension.
pub const ARRAY_SLICES: &str = "\u{1f}array_slices";

pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let signature = Signature::user_defined(Volatility::Immutable);
    state.register_udf(ScalarUDF::from(ArraySlices { signature }).into())?;
    Ok(())
}

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ArraySlices {
    signature: Signature,
}

impl ScalarUDFImpl for ArraySlices {
    fn name(&self) -> &str {
        ARRAY_SLICES
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let Some((DataType::List(field), bounds)) = arg_types.split_first() else {
            return plan_err!("only an array has subscripts");
        };
        let list = DataType::List(Arc::clone(field));
        let bounds = bounds.iter().map(|_| DataType::Int64);
        Ok(std::iter::once(list).chain(bounds).collect())
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types.first() {
            Some(list @ DataType::List(_)) => Ok(list.clone()),
            _ => plan_err!("only an array has subscripts"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let Some((lists, bounds)) = arrays.split_first() else {
            return plan_err!("only an array has subscripts");
        };
        let bounds: Vec<&Int64Array> = bounds
            .iter()
            .map(|bound| bound.as_primitive::<Int64Type>())
            .collect();
        let slices = sliced_rows(lists.as_list::<i32>(), &bounds)?;
        Ok(ColumnarValue::Array(Arc::new(slices)))
    }
}

/// First and last position of a dimension, from 1.
type Range = (i64, i64);

/// The part of each row's array; NULL where the array or a bound is.
fn sliced_rows(lists: &ListArray, bounds: &[&Int64Array]) -> Result<ListArray> {
    let is_known = |row: usize| {
        let mut bounds = bounds.iter();
        lists.is_valid(row) && bounds.all(|bound| bound.is_valid(row))
    };
    let nulls: NullBuffer = (0..lists.len()).map(is_known).collect();
    let mut pieces = Vec::with_capacity(lists.len());
    for row in 0..lists.len() {
        let ranges: Vec<Range> = bounds
            .chunks_exact(2)
            .map(|pair| (pair[0].value(row), pair[1].value(row)))
            .collect();
        let piece = if nulls.is_valid(row) {
            sliced(&lists.value(row), &ranges)?
        } else {
            None
        };
        pieces.push(piece.unwrap_or_else(|| new_empty_array(lists.values().data_type())));
    }
    list_of(field_of(lists)?, &pieces, Some(nulls))
}

/// The elements in the ranges; nothing if there are none.
fn sliced(elements: &ArrayRef, ranges: &[Range]) -> Result<Option<ArrayRef>> {
    let Some(((first, last), inner)) = ranges.split_first() else {
        return Ok(Some(Arc::clone(elements)));
    };
    let first = (*first).max(1);
    let last = (*last).min(elements.len() as i64);
    if first > last {
        return Ok(None);
    }
    let elements = elements.slice((first - 1) as usize, (last - first + 1) as usize);
    if inner.is_empty() {
        return Ok(Some(elements));
    }
    let Some(lists) = elements.as_list_opt::<i32>() else {
        // There are more ranges than dimensions.
        return Ok(None);
    };
    let pieces = (0..lists.len()).map(|row| sliced(&lists.value(row), inner));
    let pieces: Option<Vec<ArrayRef>> = pieces.collect::<Result<_>>()?;
    let Some(pieces) = pieces else {
        return Ok(None);
    };
    let list = list_of(field_of(lists)?, &pieces, None)?;
    Ok(Some(Arc::new(list)))
}

pub(super) fn field_of(lists: &ListArray) -> Result<FieldRef> {
    match lists.data_type() {
        DataType::List(field) => Ok(Arc::clone(field)),
        other => plan_err!("{other} is no array"),
    }
}

pub(super) fn list_of(
    field: FieldRef,
    pieces: &[ArrayRef],
    nulls: Option<NullBuffer>,
) -> Result<ListArray> {
    let offsets = OffsetBuffer::from_lengths(pieces.iter().map(|piece| piece.len()));
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    let values = if pieces.is_empty() {
        new_empty_array(field.data_type())
    } else {
        concat(&pieces)?
    };
    Ok(ListArray::try_new(field, offsets, values, nulls)?)
}
