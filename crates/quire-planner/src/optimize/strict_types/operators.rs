//! Which operators there are, by the kinds of their operands: those of PostgreSQL's `pg_operator`.

use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use super::kinds::{Kind, sql_name};
use super::refusal;

/// Refuses an operator that these operands do not have.
pub(super) fn check(binary: &BinaryExpr, schema: &DFSchema) -> Result<()> {
    let left = Kind::of_expression(&binary.left, schema)?;
    let right = Kind::of_expression(&binary.right, schema)?;
    if matches!(binary.op, Operator::And | Operator::Or) {
        for operand in [&binary.left, &binary.right] {
            super::check_condition(operand, &binary.op.to_string(), schema)?;
        }
        return Ok(());
    }
    if exists(binary.op, left, right) {
        Ok(())
    } else {
        Err(missing(
            &binary.left,
            &spelled(binary.op),
            &binary.right,
            schema,
        ))
    }
}

/// The error of an operator that does not exist.
pub(super) fn missing(
    left: &Expr,
    operator: &str,
    right: &Expr,
    schema: &DFSchema,
) -> DataFusionError {
    let (left, right) = (sql_name(left, schema), sql_name(right, schema));
    refusal(
        "42883",
        format!("operator does not exist: {left} {operator} {right}"),
        "Convert one side, as in CAST(x AS type).",
    )
}

fn spelled(operator: Operator) -> String {
    match operator {
        Operator::NotEq => "<>".to_owned(),
        Operator::LikeMatch => "~~".to_owned(),
        Operator::ILikeMatch => "~~*".to_owned(),
        Operator::BitwiseXor => "#".to_owned(),
        other => other.to_string(),
    }
}

fn exists(operator: Operator, left: Kind, right: Kind) -> bool {
    match operator {
        Operator::Eq
        | Operator::NotEq
        | Operator::Lt
        | Operator::LtEq
        | Operator::Gt
        | Operator::GtEq
        | Operator::IsDistinctFrom
        | Operator::IsNotDistinctFrom => left.agrees(right),
        Operator::Plus => adds(left, right) || adds(right, left),
        Operator::Minus => subtracts(left, right),
        Operator::Multiply => {
            are_numbers(left, right) || scales(left, right) || scales(right, left)
        }
        Operator::Divide => are_numbers(left, right) || scales(left, right),
        Operator::Modulo => are_numbers(left, right),
        Operator::StringConcat => joins(left, right),
        Operator::RegexMatch
        | Operator::RegexIMatch
        | Operator::RegexNotMatch
        | Operator::RegexNotIMatch
        | Operator::LikeMatch
        | Operator::ILikeMatch
        | Operator::NotLikeMatch
        | Operator::NotILikeMatch => is_text(left) && is_text(right),
        Operator::BitwiseAnd
        | Operator::BitwiseOr
        | Operator::BitwiseXor
        | Operator::BitwiseShiftLeft
        | Operator::BitwiseShiftRight => left.fits(Kind::Integer) && right.fits(Kind::Integer),
        _ => true,
    }
}

/// Whether a value is a text, or becomes one.
pub(super) fn is_text(kind: Kind) -> bool {
    kind.fits(Kind::Text)
}

fn is_open(kind: Kind) -> bool {
    matches!(kind, Kind::Unknown | Kind::Other)
}

fn are_numbers(left: Kind, right: Kind) -> bool {
    left.fits(Kind::Number) && right.fits(Kind::Number)
}

/// An interval and a number.
fn scales(left: Kind, right: Kind) -> bool {
    left.fits(Kind::Interval) && right.fits(Kind::Number)
}

fn adds(left: Kind, right: Kind) -> bool {
    let is_time = matches!(
        left,
        Kind::Date | Kind::Timestamp | Kind::Time | Kind::Interval
    );
    are_numbers(left, right)
        || (is_time && (right.fits(Kind::Interval) || is_open(right)))
        || matches!(
            (left, right),
            (Kind::Date, Kind::Integer) | (Kind::Date, Kind::Time) | (Kind::Array, _)
        )
        || (is_open(left) && is_open(right))
}

fn subtracts(left: Kind, right: Kind) -> bool {
    let is_time = matches!(
        left,
        Kind::Date | Kind::Timestamp | Kind::Time | Kind::Interval
    );
    are_numbers(left, right)
        || (is_time && (right.fits(Kind::Interval) || left.agrees(right) || is_open(right)))
        || (is_open(left) && !right.is_numeric() && right != Kind::Text && right != Kind::Boolean)
        || (left == Kind::Date && right == Kind::Integer)
}

fn joins(left: Kind, right: Kind) -> bool {
    let is_part = |kind| kind != Kind::Bytes;
    left == Kind::Array
        || right == Kind::Array
        || (is_text(left) && is_part(right))
        || (is_text(right) && is_part(left))
        || (left.fits(Kind::Bytes) && right.fits(Kind::Bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_exist_as_in_postgresql() {
        let there = [
            (Operator::Eq, Kind::Integer, Kind::Number),
            (Operator::Lt, Kind::Date, Kind::Timestamp),
            (Operator::Plus, Kind::Date, Kind::Integer),
            (Operator::Plus, Kind::Interval, Kind::Date),
            (Operator::Minus, Kind::Timestamp, Kind::Date),
            (Operator::Minus, Kind::Time, Kind::Interval),
            (Operator::Multiply, Kind::Number, Kind::Interval),
            (Operator::StringConcat, Kind::Text, Kind::Integer),
            (Operator::StringConcat, Kind::Bytes, Kind::Bytes),
            (Operator::Eq, Kind::Unknown, Kind::Date),
            (Operator::BitwiseXor, Kind::Integer, Kind::Unknown),
        ];
        for (operator, left, right) in there {
            assert!(
                exists(operator, left, right),
                "{left:?} {operator} {right:?}"
            );
        }
        let missing = [
            (Operator::Eq, Kind::Integer, Kind::Text),
            (Operator::Eq, Kind::Boolean, Kind::Integer),
            (Operator::Eq, Kind::Date, Kind::Integer),
            (Operator::Plus, Kind::Text, Kind::Integer),
            (Operator::Plus, Kind::Boolean, Kind::Integer),
            (Operator::Minus, Kind::Integer, Kind::Date),
            (Operator::Minus, Kind::Date, Kind::Number),
            (Operator::Divide, Kind::Number, Kind::Interval),
            (Operator::StringConcat, Kind::Integer, Kind::Integer),
            (Operator::RegexMatch, Kind::Integer, Kind::Unknown),
            (Operator::BitwiseXor, Kind::Number, Kind::Integer),
            (Operator::BitwiseShiftLeft, Kind::Integer, Kind::Number),
        ];
        for (operator, left, right) in missing {
            assert!(
                !exists(operator, left, right),
                "{left:?} {operator} {right:?}"
            );
        }
    }
}
