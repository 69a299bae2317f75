//! The array of `ARRAY(SELECT …)`, of which `array_agg` makes NULL where there are no rows.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, new_empty_array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::array_slices::{field_of, list_of};

/// The function that makes an empty array of NULL, and leaves others as they are.
pub const ARRAY_OF_ROWS: &str = "\u{1f}array_of_rows";

pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let signature = Signature::any(1, Volatility::Immutable);
    state.register_udf(ScalarUDF::from(ArrayOfRows { signature }).into())?;
    Ok(())
}

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayOfRows {
    signature: Signature,
}

impl ScalarUDFImpl for ArrayOfRows {
    fn name(&self) -> &str {
        ARRAY_OF_ROWS
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [list @ DataType::List(_)] => Ok(list.clone()),
            _ => plan_err!("only rows that were collected are an array"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [lists] = arrays.as_slice() else {
            return plan_err!("only rows that were collected are an array");
        };
        let lists = lists.as_list::<i32>();
        let filled = (0..lists.len()).map(|row| {
            if lists.is_valid(row) {
                lists.value(row)
            } else {
                new_empty_array(lists.values().data_type())
            }
        });
        let filled: Vec<_> = filled.collect();
        let filled = list_of(field_of(lists)?, &filled, None)?;
        Ok(ColumnarValue::Array(Arc::new(filled)))
    }
}
