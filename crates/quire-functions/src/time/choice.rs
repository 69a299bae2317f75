//! `greatest` and `least` of intervals, which are compared by their lengths. Of equal ones it is the first.

use std::cmp::Ordering;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, PrimitiveArray};
use datafusion::arrow::datatypes::{DataType, IntervalMonthDayNanoType};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::value::{TimeKind, of_arrow};

/// The call of one of both functions.
pub fn chosen_interval(is_greatest: bool, choices: Vec<Expr>) -> Expr {
    let (name, chosen) = if is_greatest {
        ("interval_greatest", Ordering::Greater)
    } else {
        ("interval_least", Ordering::Less)
    };
    let function = TimeChoice {
        name,
        chosen,
        signature: Signature::variadic(vec![TimeKind::Interval.data_type()], Volatility::Immutable),
    };
    ScalarUDF::from(function).call(choices)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct TimeChoice {
    name: &'static str,
    /// How another interval compares with the one that it takes the place of.
    chosen: Ordering,
    signature: Signature,
}

impl ScalarUDFImpl for TimeChoice {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(TimeKind::Interval.data_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let columns: Vec<_> = arrays
            .iter()
            .map(|array| array.as_primitive::<IntervalMonthDayNanoType>())
            .collect();
        let row_count = arrays.first().map_or(0, |array| array.len());
        let chosen = (0..row_count).map(|row| {
            let choices = columns.iter().filter(|column| column.is_valid(row));
            choices
                .map(|column| column.value(row))
                .reduce(|best, next| {
                    if of_arrow(next).compare(of_arrow(best)) == self.chosen {
                        next
                    } else {
                        best
                    }
                })
        });
        let chosen: PrimitiveArray<IntervalMonthDayNanoType> = chosen.collect();
        Ok(ColumnarValue::Array(Arc::new(chosen)))
    }
}
