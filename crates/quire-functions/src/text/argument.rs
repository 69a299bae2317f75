//! The arguments of a call.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::ColumnarValue;

/// All arguments of a call.
pub(super) struct TextArguments(Vec<Argument>);

/// One of them; a value that is the same for all rows is there once.
struct Argument {
    values: ArgumentValues,
    is_fixed: bool,
}

enum ArgumentValues {
    Texts(StringViewArray),
    Numbers(Int64Array),
}

impl TextArguments {
    pub(super) fn new(given: &[ColumnarValue]) -> Result<Self> {
        let arguments = given.iter().map(Argument::new);
        Ok(Self(arguments.collect::<Result<_>>()?))
    }

    /// Whether the result is the same for all rows.
    pub(super) fn are_all_fixed(&self) -> bool {
        self.0.iter().all(|argument| argument.is_fixed)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// A text; nothing where it is NULL, or there is no such argument.
    pub(super) fn text(&self, index: usize, row: usize) -> Option<&str> {
        let argument = self.0.get(index)?;
        let row = argument.row(row);
        match &argument.values {
            ArgumentValues::Texts(texts) if texts.is_valid(row) => Some(texts.value(row)),
            _ => None,
        }
    }

    /// A number; nothing where it is NULL, or there is no such argument.
    pub(super) fn number(&self, index: usize, row: usize) -> Option<i64> {
        let argument = self.0.get(index)?;
        let row = argument.row(row);
        match &argument.values {
            ArgumentValues::Numbers(numbers) if numbers.is_valid(row) => Some(numbers.value(row)),
            _ => None,
        }
    }
}

impl Argument {
    fn new(given: &ColumnarValue) -> Result<Self> {
        let (array, is_fixed) = match given {
            ColumnarValue::Array(array) => (ArrayRef::clone(array), false),
            ColumnarValue::Scalar(scalar) => (scalar.to_array()?, true),
        };
        let values = match array.data_type() {
            DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                let texts = cast(&array, &DataType::Utf8View)?;
                ArgumentValues::Texts(texts.as_string_view().clone())
            }
            data_type if data_type.is_integer() => {
                let numbers = cast(&array, &DataType::Int64)?;
                ArgumentValues::Numbers(numbers.as_primitive::<Int64Type>().clone())
            }
            other => return exec_err!("a text or an integer is expected, not a {other}"),
        };
        Ok(Self { values, is_fixed })
    }

    fn row(&self, row: usize) -> usize {
        if self.is_fixed { 0 } else { row }
    }
}
