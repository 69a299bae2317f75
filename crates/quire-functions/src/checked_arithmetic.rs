//! Integer `+`, `-`, `*` and float `/` that report what DataFusion's operators let pass.
//!
//! DataFusion's operators wrap around on overflow and divide floats by zero to infinity.
//! `quire_planner::optimize::checked_operators` puts these functions in their place after types are
//! settled: both arguments have the result's type.

use std::fmt::Write;
use std::hash::{Hash, Hasher};

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute::kernels::numeric;
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use quire_error::Error;

/// Which operator a function stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckedOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// One of the four functions.
#[derive(Debug)]
pub struct CheckedArithmetic {
    operator: CheckedOperator,
    signature: Signature,
}

impl CheckedArithmetic {
    pub fn new(operator: CheckedOperator) -> Self {
        Self {
            operator,
            signature: Signature::any(2, Volatility::Immutable),
        }
    }

    /// The function for `operator` on two values of `data_type`, if the plain operator needs one.
    pub fn needed_for(operator: Operator, data_type: &DataType) -> Option<CheckedOperator> {
        match operator {
            Operator::Plus if data_type.is_integer() => Some(CheckedOperator::Add),
            Operator::Minus if data_type.is_integer() => Some(CheckedOperator::Subtract),
            Operator::Multiply if data_type.is_integer() => Some(CheckedOperator::Multiply),
            Operator::Divide if data_type.is_floating() => Some(CheckedOperator::Divide),
            _ => None,
        }
    }
}

impl PartialEq for CheckedArithmetic {
    fn eq(&self, other: &Self) -> bool {
        self.operator == other.operator
    }
}

impl Eq for CheckedArithmetic {}

impl Hash for CheckedArithmetic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.operator.hash(state);
    }
}

impl ScalarUDFImpl for CheckedArithmetic {
    fn name(&self) -> &str {
        match self.operator {
            CheckedOperator::Add => "checked_add",
            CheckedOperator::Subtract => "checked_subtract",
            CheckedOperator::Multiply => "checked_multiply",
            CheckedOperator::Divide => "checked_divide",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(arg_types[0].clone())
    }

    /// As DataFusion writes it. Its own way makes a text for every operand on the way up, which takes seconds for a sum of 400.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let mut name = String::new();
        push_call(self, args, &mut name);
        Ok(name)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = args.args.as_slice() else {
            return internal_err!("{} takes two arguments", self.name());
        };
        let kernel = match self.operator {
            CheckedOperator::Add => numeric::add,
            CheckedOperator::Subtract => numeric::sub,
            CheckedOperator::Multiply => numeric::mul,
            CheckedOperator::Divide => {
                refuse_zero(left, right)?;
                numeric::div
            }
        };
        let result = args.return_field.data_type();
        datafusion::physical_expr_common::datum::apply(left, right, kernel)
            .map_err(|error| overflow(error, result))
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        let &[left, right] = inputs else {
            return internal_err!("{} takes two arguments", self.name());
        };
        match self.operator {
            CheckedOperator::Add => left.add(right),
            CheckedOperator::Subtract => left.sub(right),
            CheckedOperator::Multiply => left.mul(right),
            CheckedOperator::Divide => left.div(right),
        }
    }
}

fn push_call(function: &CheckedArithmetic, args: &[Expr], name: &mut String) {
    name.push_str(function.name());
    for (at, arg) in args.iter().enumerate() {
        name.push(if at == 0 { '(' } else { ',' });
        match arg {
            Expr::ScalarFunction(call) => {
                match call.func.inner().downcast_ref::<CheckedArithmetic>() {
                    Some(inner) => push_call(inner, &call.args, name),
                    None => push_expression(arg, name),
                }
            }
            _ => push_expression(arg, name),
        }
    }
    name.push(')');
}

fn push_expression(expression: &Expr, name: &mut String) {
    // Writing to memory does not fail.
    let _ = write!(name, "{}", expression.schema_name());
}

/// NULL divided by zero is NULL, as every operator of a NULL.
fn refuse_zero(dividend: &ColumnarValue, divisor: &ColumnarValue) -> Result<()> {
    if zeros(divisor.to_array(1)?.as_ref()).next().is_none() {
        return Ok(());
    }
    let arrays = ColumnarValue::values_to_arrays(&[dividend.clone(), divisor.clone()])?;
    if zeros(arrays[1].as_ref()).all(|row| arrays[0].is_null(row)) {
        return Ok(());
    }
    Err(DataFusionError::ArrowError(
        Box::new(ArrowError::DivideByZero),
        None,
    ))
}

/// Indexes of the rows of a float array that hold zero.
fn zeros(array: &dyn Array) -> Box<dyn Iterator<Item = usize> + '_> {
    match array.data_type() {
        DataType::Float64 => rows_of(array.as_primitive::<Float64Type>().iter(), 0.0),
        DataType::Float32 => rows_of(array.as_primitive::<Float32Type>().iter(), 0.0),
        _ => Box::new(std::iter::empty()),
    }
}

fn rows_of<'a, T: PartialEq + Copy + 'a>(
    values: impl Iterator<Item = Option<T>> + 'a,
    wanted: T,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let rows = values.enumerate();
    Box::new(rows.filter_map(move |(row, value)| (value == Some(wanted)).then_some(row)))
}

fn integer_name(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Int8 | DataType::Int16 => "smallint",
        DataType::Int32 => "integer",
        DataType::Int64 => "bigint",
        _ => "value",
    }
}

fn overflow(error: DataFusionError, result: &DataType) -> DataFusionError {
    match &error {
        DataFusionError::ArrowError(inner, _)
            if matches!(inner.as_ref(), ArrowError::ArithmeticOverflow(_)) =>
        {
            Error::integer_out_of_range(integer_name(result)).into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use datafusion::logical_expr::expr::ScalarFunction;
    use datafusion::logical_expr::{ScalarUDF, col, lit};

    use super::*;

    /// What DataFusion calls a function that says nothing of it.
    fn usual_name(expression: &Expr) -> String {
        match expression {
            Expr::ScalarFunction(call) => {
                let args: Vec<_> = call.args.iter().map(usual_name).collect();
                format!("{}({})", call.func.name(), args.join(","))
            }
            other => other.schema_name().to_string(),
        }
    }

    #[test]
    fn names_are_those_of_datafusion_and_soon_made() {
        let call = |operator, left: Expr, right: Expr| {
            let function = ScalarUDF::from(CheckedArithmetic::new(operator));
            let args = vec![left, right];
            Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))
        };
        let product = call(
            CheckedOperator::Multiply,
            col("t.a"),
            lit(2_i64) + lit(3_i64),
        );
        let mut sum = call(CheckedOperator::Subtract, lit(1_i64), product);
        assert_eq!(sum.schema_name().to_string(), usual_name(&sum));
        for number in 0..300_i64 {
            sum = call(CheckedOperator::Add, sum, lit(number));
        }
        assert_eq!(sum.schema_name().to_string(), usual_name(&sum));
    }
}
