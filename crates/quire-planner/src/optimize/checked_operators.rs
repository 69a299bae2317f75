//! Puts checking functions where DataFusion's operators wrap around or cut off.
//!
//! Runs once types are settled. `a + b` on integers becomes `checked_add(a, b)`, `-a` becomes
//! `checked_subtract(0, a)`, `x / y` on floats becomes `checked_divide(x, y)`, a cast of a float
//! or decimal to an integer rounds its argument first, one between text and bytes goes by
//! their hexadecimal form, arrays and rows have their own text, casts of text to decimals and of decimals to floats round once,
//! and casts to floats and from them to decimals keep their bounds. `a || b` on
//! texts becomes `concatenate(a, b)`, which refuses what would be too long. Decimals are checked by Arrow already.

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Between, BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, Operator, ScalarUDF,
    ScalarUDFImpl, cast as expr_cast,
};
use quire_functions::{
    ArrayCast, BytesToText, CheckedArithmetic, CheckedOperator, Concatenation, DecimalDigits,
    DecimalToFloat, FloatCast, LossyCast, NestedText, OrderedDoubles, RoundToInteger, TextToBytes,
    TextToDecimal, in_order,
};

use super::float_keys::compares;
use super::own_names::map_node;
use super::settle_types;

pub(super) fn check_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    map_node(plan, &check_expression)
}

pub(super) fn check_expression(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(binary) => check_operator(binary, schema),
        Expr::Negative(inner) => {
            let data_type = inner.get_type(schema)?;
            if !data_type.is_signed_integer() {
                return Ok(Transformed::no(Expr::Negative(inner)));
            }
            let zero = Expr::Literal(ScalarValue::new_zero(&data_type)?, None);
            Ok(Transformed::yes(call(
                CheckedOperator::Subtract,
                zero,
                *inner,
            )))
        }
        Expr::Cast(cast) => check_cast(cast, schema),
        Expr::Between(mut between) => {
            let Between {
                expr, low, high, ..
            } = &mut between;
            let parts = [expr.as_mut(), low.as_mut(), high.as_mut()];
            let is_changed = parts
                .map(|part| LossyCast::hide(part, schema))
                .contains(&true);
            Ok(changed_if(is_changed, Expr::Between(between)))
        }
        Expr::AggregateFunction(call) if !call.params.order_by.is_empty() => {
            check_order(call, schema)
        }
        other => Ok(Transformed::no(other)),
    }
}

/// The type of an expression. Of a chain of operators that have been replaced it is that of an operand: DataFusion asks every
/// operand of the chain for its name besides, which is a text of what is below it.
fn type_of(mut expr: &Expr, schema: &DFSchema) -> Result<DataType> {
    while let Expr::ScalarFunction(call) = expr
        && let [left, right] = call.args.as_slice()
        && is_operator(call.func.inner().as_ref())
    {
        expr = match right {
            Expr::ScalarFunction(_) => left,
            _ => right,
        };
    }
    expr.get_type(schema)
}

/// Whether the function is one of those whose operands have the type of its result.
fn is_operator(function: &dyn ScalarUDFImpl) -> bool {
    function.downcast_ref::<CheckedArithmetic>().is_some()
        || function.downcast_ref::<Concatenation>().is_some()
}

/// An aggregate function with ORDER BY.
fn check_order(call: AggregateFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let argument = call
        .params
        .args
        .first()
        .map(|argument| argument.get_type(schema));
    let function = match argument.transpose()? {
        Some(argument) => OrderedDoubles::needed_for(&call, &argument),
        None => None,
    };
    Ok(match function {
        Some(function) => Transformed::yes(Expr::AggregateFunction(in_order(call, function))),
        None => Transformed::no(Expr::AggregateFunction(call)),
    })
}

fn changed_if(is_changed: bool, expr: Expr) -> Transformed<Expr> {
    if is_changed {
        Transformed::yes(expr)
    } else {
        Transformed::no(expr)
    }
}

fn check_operator(mut binary: BinaryExpr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if compares(binary.op) {
        let sides = [binary.left.as_mut(), binary.right.as_mut()];
        let is_changed = sides
            .map(|side| LossyCast::hide(side, schema))
            .contains(&true);
        return Ok(changed_if(is_changed, Expr::BinaryExpr(binary)));
    }
    let data_type = type_of(&binary.left, schema)?;
    if let Some(operator) = CheckedArithmetic::needed_for(binary.op, &data_type)
        && type_of(&binary.right, schema)? == data_type
    {
        return Ok(Transformed::yes(call(
            operator,
            *binary.left,
            *binary.right,
        )));
    }
    if binary.op == Operator::StringConcat
        && data_type.is_string()
        && type_of(&binary.right, schema)?.is_string()
    {
        let sides = vec![*binary.left, *binary.right];
        let text = ScalarUDF::from(Concatenation::default()).call(sides);
        return Ok(Transformed::yes(text));
    }
    let can_grow = matches!(
        binary.op,
        Operator::Plus | Operator::Minus | Operator::Multiply
    );
    let expr = Expr::BinaryExpr(binary);
    if can_grow && DecimalDigits::is_needed_for(&expr.get_type(schema)?) {
        let checked = ScalarUDF::from(DecimalDigits::default()).call(vec![expr]);
        return Ok(Transformed::yes(checked));
    }
    Ok(Transformed::no(expr))
}

fn check_cast(cast: Cast, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let from = cast.expr.get_type(schema)?;
    let to = cast.field.data_type();
    if NestedText::is_needed_for(&from) && to.is_string() {
        let text = ScalarUDF::from(NestedText::default()).call(vec![*cast.expr]);
        return Ok(Transformed::yes(as_type(
            text,
            &DataType::Utf8View,
            cast.field,
        )));
    }
    let shaped = ArrayCast::shaped(&from, to);
    if let Some((before, after)) = ArrayCast::elements_of(&from, to) {
        let read = expr_cast(ArrayCast::element(), after.clone());
        let read = settle_types(read, &ArrayCast::schema(before)?)?;
        let to = shaped.unwrap_or_else(|| to.clone());
        let function = ScalarUDF::from(ArrayCast::new(to, read));
        return Ok(Transformed::yes(function.call(vec![*cast.expr])));
    }
    if shaped.is_some_and(|shaped| !shaped.equals_datatype(to)) {
        return Ok(Transformed::yes(*cast.expr));
    }
    if from.is_string() && to.is_binary() {
        let bytes = ScalarUDF::from(TextToBytes::default()).call(vec![*cast.expr]);
        return Ok(Transformed::yes(as_type(
            bytes,
            &DataType::BinaryView,
            cast.field,
        )));
    }
    if from.is_binary() && to.is_string() {
        let text = ScalarUDF::from(BytesToText::default()).call(vec![*cast.expr]);
        return Ok(Transformed::yes(as_type(
            text,
            &DataType::Utf8View,
            cast.field,
        )));
    }
    if let (true, DataType::Decimal128(precision, scale)) = (from.is_string(), to)
        && *scale >= 0
    {
        let function = ScalarUDF::from(TextToDecimal::new(*precision, *scale));
        return Ok(Transformed::yes(function.call(vec![*cast.expr])));
    }
    if let Some(function) = DecimalToFloat::needed_for(&from, to) {
        let float = ScalarUDF::from(function).call(vec![*cast.expr]);
        return Ok(Transformed::yes(float));
    }
    if let Some(function) = FloatCast::needed_for(&from, to) {
        let value = ScalarUDF::from(function).call(vec![*cast.expr]);
        return Ok(Transformed::yes(value));
    }
    if to.is_integer() && RoundToInteger::is_needed_for(&from) && !is_rounded(&cast.expr) {
        let expr = Box::new(ScalarUDF::from(RoundToInteger::default()).call(vec![*cast.expr]));
        return Ok(Transformed::yes(Expr::Cast(Cast {
            expr,
            field: cast.field,
        })));
    }
    Ok(Transformed::no(Expr::Cast(cast)))
}

/// An expression of type `from`, cast where the field asks for another.
fn as_type(expr: Expr, from: &DataType, field: FieldRef) -> Expr {
    if field.data_type() == from {
        return expr;
    }
    Expr::Cast(Cast {
        expr: Box::new(expr),
        field,
    })
}

fn call(operator: CheckedOperator, left: Expr, right: Expr) -> Expr {
    ScalarUDF::from(CheckedArithmetic::new(operator)).call(vec![left, right])
}

fn is_rounded(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(function) if function.name() == "round_to_integer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unchecked_operators_are_replaced() {
        let needed = CheckedArithmetic::needed_for;
        assert_eq!(
            needed(Operator::Plus, &DataType::Int32),
            Some(CheckedOperator::Add)
        );
        assert_eq!(
            needed(Operator::Divide, &DataType::Float64),
            Some(CheckedOperator::Divide)
        );
        assert_eq!(needed(Operator::Divide, &DataType::Int32), None);
        assert_eq!(needed(Operator::Plus, &DataType::Decimal128(10, 2)), None);
        assert_eq!(needed(Operator::Plus, &DataType::Float64), None);
    }
}
