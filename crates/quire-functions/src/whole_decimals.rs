//! `ceil`, `floor` and `sign` of decimals: integers.
//!
//! DataFusion's `ceil` and `floor` keep the argument's type, which may have no digit for the result: `ceil(0.5)` has the type `DECIMAL(1, 1)`, and
//! 1 has not. Here it has one more before its point. DataFusion's `signum` makes a float of a decimal, and of what it is added to.

use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type};
use datafusion::common::{Result, plan_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::functions::math;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::array_results::map_array;

/// Registers the functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for (inner, is_upwards) in [(math::ceil(), true), (math::floor(), false)] {
        state.register_udf(ScalarUDF::from(WholeDecimal { inner, is_upwards }).into())?;
    }
    let sign = DecimalSign {
        inner: math::signum(),
        signature: Signature::user_defined(Volatility::Immutable),
    };
    state.register_udf(ScalarUDF::from(sign).into())?;
    Ok(())
}

/// The function: DataFusion's, except for decimals with a fraction.
#[derive(Debug, PartialEq, Eq, Hash)]
struct WholeDecimal {
    inner: Arc<ScalarUDF>,
    is_upwards: bool,
}

impl WholeDecimal {
    /// The next integer of values that are multiples of a `factor`th. Below a NULL may be any number.
    fn whole(&self, value: i128, factor: i128) -> i128 {
        let below = value.div_euclid(factor);
        let is_between = value.rem_euclid(factor) != 0;
        if self.is_upwards && is_between {
            below + 1
        } else {
            below
        }
    }
}

impl ScalarUDFImpl for WholeDecimal {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(match arg_types {
            [DataType::Decimal128(precision, scale)] if *scale > 0 => {
                let before_point = precision.saturating_sub(scale.unsigned_abs());
                DataType::Decimal128((before_point + 1).min(DECIMAL128_MAX_PRECISION), 0)
            }
            _ => self.inner.return_type(arg_types)?,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scale = match args.args.first().map(ColumnarValue::data_type) {
            Some(DataType::Decimal128(_, scale)) if scale > 0 => scale,
            _ => return self.inner.invoke_with_args(args),
        };
        let factor = 10_i128.pow(u32::from(scale.unsigned_abs()));
        of_each(&args, |value| self.whole(value, factor))
    }

    fn output_ordering(&self, input: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(input)
    }
}

/// `sign`: DataFusion's `signum`, except for decimals.
#[derive(Debug, PartialEq, Eq, Hash)]
struct DecimalSign {
    inner: Arc<ScalarUDF>,
    signature: Signature,
}

impl ScalarUDFImpl for DecimalSign {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        match arg_types {
            [kept @ (DataType::Decimal128(..) | DataType::Float32)] => Ok(vec![kept.clone()]),
            [other] if other.is_numeric() || other.is_null() || other.is_string() => {
                Ok(vec![DataType::Float64])
            }
            _ => plan_err!("sign takes one number"),
        }
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [DataType::Decimal128(..)] => Ok(DataType::Decimal128(1, 0)),
            _ => self.inner.return_type(arg_types),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.first().map(ColumnarValue::data_type) {
            Some(DataType::Decimal128(..)) => of_each(&args, i128::signum),
            _ => self.inner.invoke_with_args(args),
        }
    }

    fn output_ordering(&self, input: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(input)
    }
}

/// What `function` makes of the units of each decimal.
fn of_each(args: &ScalarFunctionArgs, function: impl Fn(i128) -> i128) -> Result<ColumnarValue> {
    map_array(&args.args, |values| {
        let decimals = values.as_primitive::<Decimal128Type>();
        let found = decimals.unary::<_, Decimal128Type>(function);
        Ok(Arc::new(found.with_data_type(args.return_type().clone())))
    })
}
