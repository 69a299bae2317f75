//! The check that a decimal has at most 38 digits.
//!
//! Arrow reports arithmetic that leaves 128 bits, but 128 bits hold some values of 39 digits that
//! no DECIMAL has. `quire_planner::optimize::checked_operators` puts this function around arithmetic whose
//! result can have 38 digits.

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Decimal128Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use quire_error::Error;

/// 10^38
const LIMIT: u128 = 10_u128.pow(38);

/// The function; returns its argument.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct DecimalDigits {
    signature: Signature,
}

impl Default for DecimalDigits {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl DecimalDigits {
    /// Whether results of this type may have too many digits.
    pub fn is_needed_for(result: &DataType) -> bool {
        matches!(result, DataType::Decimal128(38, _))
    }
}

impl ScalarUDFImpl for DecimalDigits {
    fn name(&self) -> &str {
        "decimal_digits"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(arg_types[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let argument = args.args[0].clone();
        let fits = match &argument {
            ColumnarValue::Array(array) => all_fit(array),
            ColumnarValue::Scalar(ScalarValue::Decimal128(Some(value), _, _)) => {
                value.unsigned_abs() < LIMIT
            }
            ColumnarValue::Scalar(_) => true,
        };
        if fits {
            return Ok(argument);
        }
        Err(Error::decimal_out_of_range().into())
    }
}

fn all_fit(array: &ArrayRef) -> bool {
    let Some(decimals) = array.as_primitive_opt::<Decimal128Type>() else {
        return true;
    };
    let fits = |value: &i128| value.unsigned_abs() < LIMIT;
    // What stands in the place of NULLs does not count.
    decimals.values().iter().all(fits) || decimals.iter().flatten().all(|value| fits(&value))
}
