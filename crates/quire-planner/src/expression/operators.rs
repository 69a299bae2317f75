//! Operators of the planner, and what they are here.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::Operator as Planned;
use quire_exec::plan::{
    ComparisonExpression, DecimalOperation, Expression, FloatOperator, IntegerOperation, Operator,
};

use super::cast::integer_width;

/// Arithmetic on two values of these types; `None` when they are none of ours.
pub(super) fn arithmetic(
    operator: Operator,
    left: &DataType,
    right: &DataType,
    sides: Box<[Expression; 2]>,
) -> Option<Expression> {
    match (left, right) {
        (DataType::Float64, DataType::Float64) => {
            Some(Expression::Double(FloatOperator(operator), sides))
        }
        (DataType::Float32, DataType::Float32) => {
            Some(Expression::Real(FloatOperator(operator), sides))
        }
        (DataType::Decimal128(_, left), DataType::Decimal128(_, right)) => {
            let operation = DecimalOperation::new(operator, *left, *right)?;
            Some(Expression::Decimal(operation, sides))
        }
        (left, right) if left == right => {
            let operation = IntegerOperation::new(operator, integer_width(left)?);
            Some(Expression::Integer(operation, sides))
        }
        _ => None,
    }
}

pub(crate) fn checked_operator(name: &str) -> Option<Operator> {
    Some(match name {
        "checked_add" => Operator::Add,
        "checked_subtract" => Operator::Subtract,
        "checked_multiply" => Operator::Multiply,
        "checked_divide" => Operator::Divide,
        _ => return None,
    })
}

pub(crate) fn operator_of(operator: Planned) -> Option<Operator> {
    Some(match operator {
        Planned::Plus => Operator::Add,
        Planned::Minus => Operator::Subtract,
        Planned::Multiply => Operator::Multiply,
        Planned::Divide => Operator::Divide,
        Planned::Modulo => Operator::Remainder,
        _ => return None,
    })
}

pub(super) fn comparison_of(operator: Planned) -> Option<ComparisonExpression> {
    Some(match operator {
        Planned::Eq => ComparisonExpression::Equal,
        Planned::NotEq => ComparisonExpression::NotEqual,
        Planned::Lt => ComparisonExpression::Less,
        Planned::LtEq => ComparisonExpression::LessOrEqual,
        Planned::Gt => ComparisonExpression::Greater,
        Planned::GtEq => ComparisonExpression::GreaterOrEqual,
        Planned::IsDistinctFrom => ComparisonExpression::Distinct,
        Planned::IsNotDistinctFrom => ComparisonExpression::NotDistinct,
        _ => return None,
    })
}
