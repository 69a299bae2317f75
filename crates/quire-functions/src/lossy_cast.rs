//! Hides casts that lose something from the planner's arithmetic of intervals.
//!
//! To estimate a filter, DataFusion narrows the bounds of a column by going back through casts: a timestamp as a date, and back, is
//! midnight, before the least timestamp there is. Then more than all rows would pass, which it takes for an internal error.
//! Functions it does not look into.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};

const NAME: &str = "lossy_cast";

/// The function; returns its argument, a cast.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct LossyCast {
    signature: Signature,
}

impl LossyCast {
    /// The call of a compared expression, if it is a cast that loses something.
    pub fn hide(expr: &mut Expr, schema: &DFSchema) -> bool {
        let Expr::Cast(Cast { expr: inner, field }) = &*expr else {
            return false;
        };
        let from = inner.get_type(schema);
        if !from.is_ok_and(|from| loses(&from, field.data_type())) {
            return false;
        }
        let function = Self {
            signature: Signature::any(1, Volatility::Immutable),
        };
        *expr = ScalarUDF::from(function).call(vec![std::mem::take(expr)]);
        true
    }

    /// The argument of a call of this function.
    pub fn argument_of(expr: &Expr) -> Option<&Expr> {
        match expr {
            Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == NAME => {
                args.first()
            }
            _ => None,
        }
    }
}

/// Whether a cast and the cast back may be another value.
fn loses(from: &DataType, to: &DataType) -> bool {
    use DataType::{Date32, Decimal128, Timestamp};
    match (from, to) {
        (Timestamp(..), Date32) => true,
        (Timestamp(from, _), Timestamp(to, _)) => from > to,
        (Decimal128(_, from), Decimal128(_, to)) => from > to,
        _ => false,
    }
}

impl ScalarUDFImpl for LossyCast {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(arg_types[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.into_iter().next() {
            Some(argument) => Ok(argument),
            None => internal_err!("{NAME} takes one argument"),
        }
    }
}
