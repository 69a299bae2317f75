//! Dates, times and intervals as PostgreSQL has them, where the planner's operators and casts are not.
//!
//! [`replace_operators`] runs before types are settled: it puts functions in the place of arithmetic, so that no operand is made one of
//! nanoseconds. [`settle_node`] runs after: casts become functions that know the session's zone, what still is of nanoseconds becomes of
//! microseconds, and intervals are compared, sorted and grouped by their lengths.

mod keys;
mod types;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, lit};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::open_literals::{settle_numbers, settle_sides};
use super::own_names::map_node;
use quire_functions::time_operator;

pub(super) use types::settle_expression;

/// Before types are settled.
pub(super) fn replace_operators(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    map_node(plan, &replace_operator)
}

/// After types are settled.
pub(super) fn settle_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    map_node(plan, &settle_expression)?
        .transform_data(types::settle_schema)?
        .transform_data(keys::by_length)
}

/// The function for an operator on times.
pub(super) fn replace_operator(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if let Expr::WindowFunction(call) = expr {
        // Where types are settled, so are the bounds of frames, which no interval can be.
        return Ok(types::settle_window(call, schema));
    }
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else {
        return Ok(Transformed::no(expr));
    };
    // An expression without a type is refused where types are settled, with a better message.
    let types = (left.get_type(schema), right.get_type(schema));
    let (Ok(left_type), Ok(right_type)) = types else {
        let same = BinaryExpr::new(left, op, right);
        return Ok(Transformed::no(Expr::BinaryExpr(same)));
    };
    Ok(
        match time_operator(op, *left, *right, (&left_type, &right_type)) {
            Ok(call) => Transformed::yes(call),
            Err((left, right)) => {
                let binary = BinaryExpr::new(Box::new(left), op, Box::new(right));
                Transformed::yes(Expr::BinaryExpr(binary))
            }
        },
    )
}

/// The same while a statement is read: operators that the planner knows no type for never come further.
#[derive(Debug)]
pub struct TimePlanner;

impl ExprPlanner for TimePlanner {
    fn plan_binary_op(
        &self,
        raw: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let operator = match raw.op {
            BinaryOperator::Plus => Operator::Plus,
            BinaryOperator::Minus => Operator::Minus,
            BinaryOperator::Multiply => Operator::Multiply,
            BinaryOperator::Divide => Operator::Divide,
            _ => return Ok(PlannerResult::Original(beside_text(raw, schema))),
        };
        let raw = beside_number(raw, schema);
        let types = (raw.left.get_type(schema), raw.right.get_type(schema));
        let (Ok(left_type), Ok(right_type)) = types else {
            return Ok(PlannerResult::Original(raw));
        };
        let RawBinaryExpr { op, left, right } = raw;
        Ok(
            match time_operator(operator, left, right, (&left_type, &right_type)) {
                Ok(call) => PlannerResult::Planned(call),
                Err((left, right)) => PlannerResult::Original(RawBinaryExpr { op, left, right }),
            },
        )
    }
}

/// Arithmetic with a number and a text in quotes, `n + '1'`.
fn beside_number(mut raw: RawBinaryExpr, schema: &DFSchema) -> RawBinaryExpr {
    settle_numbers(&mut raw.left, &mut raw.right, schema);
    raw
}

/// A comparison with a text in quotes, which has the type of the other side; and a condition beside one, `flag AND 'true'`.
fn beside_text(mut raw: RawBinaryExpr, schema: &DFSchema) -> RawBinaryExpr {
    use BinaryOperator::{
        And, BitwiseAnd, BitwiseOr, Eq, Gt, GtEq, Lt, LtEq, Modulo, NotEq, Or, PGBitwiseShiftLeft,
        PGBitwiseShiftRight, PGBitwiseXor,
    };
    let is_boolean = |found: &DataType| *found == DataType::Boolean;
    let is_compared =
        |found: &DataType| *found == DataType::Boolean || matches!(found, DataType::Interval(_));
    let needs_text: fn(&DataType) -> bool = match raw.op {
        Eq | NotEq | Lt | LtEq | Gt | GtEq => is_compared,
        And | Or => is_boolean,
        Modulo | BitwiseAnd | BitwiseOr | PGBitwiseXor | PGBitwiseShiftLeft
        | PGBitwiseShiftRight => return beside_number(raw, schema),
        _ => return raw,
    };
    settle_sides(&mut raw.left, &mut raw.right, schema, needs_text);
    if let (Ok(left_type), Ok(right_type)) = (raw.left.get_type(schema), raw.right.get_type(schema))
        && !matches!(raw.op, And | Or)
    {
        let types = (&left_type, &right_type);
        // Comparisons stay what they are, of sides that may have other types.
        let sides = time_operator(Operator::Eq, raw.left, raw.right, types);
        (raw.left, raw.right) = match sides {
            Ok(call) => (call, lit(true)),
            Err(sides) => sides,
        };
    }
    raw
}
