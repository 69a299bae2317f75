//! `array_length` of no elements, which is NULL; `array_remove` and `array_replace`, which change all elements that are not distinct from the one given.
//!
//! DataFusion's change the first of them, and none that is NULL.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, Scalar};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::kernels::cmp;
use datafusion::arrow::compute::kernels::zip::zip;
use datafusion::arrow::compute::{concat, filter, not, nullif};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

use super::array_results::{are_single, result_of};
use super::replaced_function::{OwnCalculation, replace};

/// Replaces DataFusion's functions of these names by those that change all elements.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for (name, inner) in [
        ("array_remove", "array_remove_all"),
        ("array_replace", "array_replace_all"),
    ] {
        let inner = state.udf(inner)?;
        state.register_udf(ScalarUDF::from(ArrayChange { name, inner }).into())?;
    }
    replace(state, "array_length", ArrayLength)
}

/// `array_length`, which an array without elements has not.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayLength;

impl OwnCalculation for ArrayLength {
    fn calculate(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let zero = ScalarValue::new_zero(args.return_field.data_type())?;
        Ok(match inner.invoke_with_args(args)? {
            ColumnarValue::Array(lengths) => {
                let is_empty = cmp::eq(&lengths, &zero.to_scalar()?)?;
                ColumnarValue::Array(nullif(&lengths, &is_empty)?)
            }
            ColumnarValue::Scalar(length) if length == zero => {
                ColumnarValue::Scalar(ScalarValue::try_new_null(&zero.data_type())?)
            }
            length => length,
        })
    }
}

/// One of them, with the types of DataFusion's.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayChange {
    name: &'static str,
    inner: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for ArrayChange {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_plain = match args.return_field.data_type() {
            DataType::List(field) => !field.data_type().is_nested(),
            _ => false,
        };
        if !is_plain {
            return self.inner.invoke_with_args(args);
        }
        let is_single = are_single(&args.args);
        let rows = if is_single { 1 } else { args.number_rows };
        let arrays = args.args.into_iter();
        let arrays = arrays.map(|argument| argument.into_array(rows));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let result: ArrayRef = Arc::new(changed(&arrays)?);
        result_of(result, is_single)
    }
}

/// The arrays of the first argument without the elements of the second, or with those of the third in their place.
fn changed(arguments: &[ArrayRef]) -> Result<ListArray> {
    let lists = arguments[0].as_list::<i32>();
    let DataType::List(field) = lists.data_type() else {
        return datafusion::common::internal_err!("an array is expected");
    };
    let mut pieces: Vec<ArrayRef> = Vec::with_capacity(lists.len());
    for row in 0..lists.len() {
        let elements = lists.value(row);
        let wanted = Scalar::new(arguments[1].slice(row, 1));
        let found = cmp::not_distinct(&elements, &wanted)?;
        pieces.push(match arguments.get(2) {
            None => filter(&elements, &not(&found)?)?,
            Some(others) => zip(&found, &Scalar::new(others.slice(row, 1)), &elements)?,
        });
    }
    let lengths = pieces.iter().map(|piece| piece.len());
    let offsets = OffsetBuffer::from_lengths(lengths);
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    let values = if pieces.is_empty() {
        lists.values().slice(0, 0)
    } else {
        concat(&pieces)?
    };
    let field = FieldRef::clone(field);
    Ok(ListArray::try_new(
        field,
        offsets,
        values,
        lists.nulls().cloned(),
    )?)
}
