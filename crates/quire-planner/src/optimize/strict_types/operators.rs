//! Which operators there are, by the kinds of their operands: those of PostgreSQL's `pg_operator`.

use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use super::kinds::{StrictTypeKind, sql_name};
use super::refusal;

/// Refuses an operator that these operands do not have.
pub(super) fn check(binary: &BinaryExpr, schema: &DFSchema) -> Result<()> {
    let left = StrictTypeKind::of_expression(&binary.left, schema)?;
    let right = StrictTypeKind::of_expression(&binary.right, schema)?;
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

fn exists(operator: Operator, left: StrictTypeKind, right: StrictTypeKind) -> bool {
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
        | Operator::BitwiseShiftRight => {
            left.fits(StrictTypeKind::Integer) && right.fits(StrictTypeKind::Integer)
        }
        _ => true,
    }
}

/// Whether a value is a text, or becomes one.
pub(super) fn is_text(kind: StrictTypeKind) -> bool {
    kind.fits(StrictTypeKind::Text)
}

fn is_open(kind: StrictTypeKind) -> bool {
    matches!(kind, StrictTypeKind::Unknown | StrictTypeKind::Other)
}

fn is_time(kind: StrictTypeKind) -> bool {
    matches!(
        kind,
        StrictTypeKind::Date
            | StrictTypeKind::Timestamp
            | StrictTypeKind::Time
            | StrictTypeKind::Interval
    )
}

fn are_numbers(left: StrictTypeKind, right: StrictTypeKind) -> bool {
    left.fits(StrictTypeKind::Number) && right.fits(StrictTypeKind::Number)
}

/// An interval and a number.
fn scales(left: StrictTypeKind, right: StrictTypeKind) -> bool {
    left.fits(StrictTypeKind::Interval) && right.fits(StrictTypeKind::Number)
}

fn adds(left: StrictTypeKind, right: StrictTypeKind) -> bool {
    are_numbers(left, right)
        || (is_time(left) && (right.fits(StrictTypeKind::Interval) || is_open(right)))
        || matches!(
            (left, right),
            (StrictTypeKind::Date, StrictTypeKind::Integer)
                | (StrictTypeKind::Date, StrictTypeKind::Time)
                | (StrictTypeKind::Array, _)
        )
        || (is_open(left) && is_open(right))
}

fn subtracts(left: StrictTypeKind, right: StrictTypeKind) -> bool {
    are_numbers(left, right)
        || (is_time(left)
            && (right.fits(StrictTypeKind::Interval) || left.agrees(right) || is_open(right)))
        || (is_open(left)
            && !right.is_numeric()
            && right != StrictTypeKind::Text
            && right != StrictTypeKind::Boolean)
        || (left == StrictTypeKind::Date && right == StrictTypeKind::Integer)
}

fn joins(left: StrictTypeKind, right: StrictTypeKind) -> bool {
    let is_part = |kind| kind != StrictTypeKind::Bytes;
    left == StrictTypeKind::Array
        || right == StrictTypeKind::Array
        || (is_text(left) && is_part(right))
        || (is_text(right) && is_part(left))
        || (left.fits(StrictTypeKind::Bytes) && right.fits(StrictTypeKind::Bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_exist_as_in_postgresql() {
        use StrictTypeKind::{
            Boolean, Bytes, Date, Integer, Interval, Number, Text, Time, Timestamp, Unknown,
        };
        let there = [
            (Operator::Eq, Integer, Number),
            (Operator::Lt, Date, Timestamp),
            (Operator::Plus, Date, Integer),
            (Operator::Plus, Interval, Date),
            (Operator::Minus, Timestamp, Date),
            (Operator::Minus, Time, Interval),
            (Operator::Multiply, Number, Interval),
            (Operator::StringConcat, Text, Integer),
            (Operator::StringConcat, Bytes, Bytes),
            (Operator::Eq, Unknown, Date),
            (Operator::BitwiseXor, Integer, Unknown),
        ];
        for (operator, left, right) in there {
            assert!(
                exists(operator, left, right),
                "{left:?} {operator} {right:?}"
            );
        }
        let missing = [
            (Operator::Eq, Integer, Text),
            (Operator::Eq, Boolean, Integer),
            (Operator::Eq, Date, Integer),
            (Operator::Plus, Text, Integer),
            (Operator::Plus, Boolean, Integer),
            (Operator::Minus, Integer, Date),
            (Operator::Minus, Date, Number),
            (Operator::Divide, Number, Interval),
            (Operator::StringConcat, Integer, Integer),
            (Operator::RegexMatch, Integer, Unknown),
            (Operator::BitwiseXor, Number, Integer),
            (Operator::BitwiseShiftLeft, Integer, Number),
        ];
        for (operator, left, right) in missing {
            assert!(
                !exists(operator, left, right),
                "{left:?} {operator} {right:?}"
            );
        }
    }
}
