//! Which filters a scan may take over.
//!
//! A scan evaluates its filters in its own order, on rows of its choosing, and on the values of
//! dictionaries. So only filters that can neither fail nor change between calls are taken over;
//! the others stay above the scan, where they see only rows that passed the ones below.

use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Schema};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator};

/// Functions that return a value for every input of the right type.
const TOTAL_FUNCTIONS: [&str; 19] = [
    "btrim",
    "character_length",
    "coalesce",
    "contains",
    "date_part",
    "decimal_to_double",
    "decimal_to_real",
    "ends_with",
    "float_key",
    "left",
    "lower",
    "ltrim",
    "nullif",
    "octet_length",
    "right",
    "rtrim",
    "starts_with",
    "strpos",
    "upper",
];

const COMPARISONS: [Operator; 8] = [
    Operator::Eq,
    Operator::NotEq,
    Operator::Lt,
    Operator::LtEq,
    Operator::Gt,
    Operator::GtEq,
    Operator::IsDistinctFrom,
    Operator::IsNotDistinctFrom,
];

/// Whether a scan of a table with this schema may evaluate `filter`.
pub(super) fn is_pushable(filter: &Expr, schema: &Schema) -> bool {
    let Ok(schema) = DFSchema::try_from(schema.clone()) else {
        return false;
    };
    !filter.is_volatile() && is_total(filter, &schema)
}

/// Whether evaluating `expr` cannot fail on any row.
pub(crate) fn is_total(expr: &Expr, schema: &DFSchema) -> bool {
    is_total_where(expr, schema, &|_| false)
}

/// The same, where of some parts more is known than their types tell.
pub(crate) fn is_total_where(
    expr: &Expr,
    schema: &DFSchema,
    is_known: &dyn Fn(&Expr) -> bool,
) -> bool {
    let is_total = |expr: &Expr| is_total_where(expr, schema, is_known);
    let all = |mut expressions: Box<dyn Iterator<Item = &Expr> + '_>| -> bool {
        expressions.all(is_total)
    };
    match expr {
        known if is_known(known) => true,
        Expr::Column(_) | Expr::Literal(..) => true,
        Expr::Alias(alias) => is_total(&alias.expr),
        Expr::Not(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner) => is_total(inner),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            is_total_operator(*op, expr, [left, right], schema) && all(boxed([left, right]))
        }
        Expr::Between(between) => all(boxed([&between.expr, &between.low, &between.high])),
        Expr::InList(InList { expr, list, .. }) => is_total(expr) && all(Box::new(list.iter())),
        Expr::Like(like) => matches!(*like.pattern, Expr::Literal(..)) && is_total(&like.expr),
        Expr::Case(case) => {
            let pairs = case
                .when_then_expr
                .iter()
                .flat_map(|(when, then)| [when, then]);
            let others = case.expr.iter().chain(case.else_expr.iter());
            all(Box::new(pairs.chain(others).map(|e| &**e)))
        }
        Expr::Cast(Cast { expr, field }) => {
            let is_safe = expr
                .get_type(schema)
                .is_ok_and(|from| is_total_cast(&from, field.data_type()));
            is_safe && is_total(expr)
        }
        Expr::ScalarFunction(function) => {
            is_total_function(function) && all(Box::new(function.args.iter()))
        }
        _ => false,
    }
}

fn boxed<'e, const N: usize>(parts: [&'e Expr; N]) -> Box<dyn Iterator<Item = &'e Expr> + 'e> {
    Box::new(parts.into_iter())
}

fn is_total_operator(
    operator: Operator,
    whole: &Expr,
    [left, right]: [&Expr; 2],
    schema: &DFSchema,
) -> bool {
    match operator {
        Operator::Divide => is_positive(right) && whole.get_type(schema).is_ok_and(has_all_digits),
        Operator::Plus | Operator::Minus | Operator::Multiply => {
            let is_floating = |data_type: DataType| data_type.is_floating();
            left.get_type(schema).is_ok_and(is_floating)
                || whole.get_type(schema).is_ok_and(has_all_digits)
        }
        Operator::And | Operator::Or => true,
        other => COMPARISONS.contains(&other),
    }
}

/// Whether the sum, the difference or the product of two decimals is one of that type whatever the two are: types of results have as many digits as
/// those can have, up to 38.
fn has_all_digits(result: DataType) -> bool {
    matches!(result, DataType::Decimal128(precision, _) if precision < DECIMAL128_MAX_PRECISION)
}

fn is_total_function(function: &ScalarFunction) -> bool {
    let name = function.name();
    if name == "substr" || name == "substring" {
        // A negative length is an error.
        return function.args.iter().skip(1).all(is_not_negative);
    }
    TOTAL_FUNCTIONS.contains(&name)
}

fn is_positive(divisor: &Expr) -> bool {
    // A cast of anything else may round it to nothing.
    let is_integer = |inner: &Expr| matches!(inner, Expr::Literal(ScalarValue::Int64(_), _));
    match divisor {
        Expr::Cast(cast) if is_integer(&cast.expr) => is_positive(&cast.expr),
        Expr::Literal(ScalarValue::Int64(Some(value)), _) => *value > 0,
        Expr::Literal(ScalarValue::Decimal128(Some(value), ..), _) => *value > 0,
        _ => false,
    }
}

fn is_not_negative(argument: &Expr) -> bool {
    let Expr::Literal(value, _) = argument else {
        return false;
    };
    matches!(value.cast_to(&DataType::Int64), Ok(ScalarValue::Int64(Some(n))) if n >= 0)
}

/// Whether every value of `from` has a value of `to`.
fn is_total_cast(from: &DataType, to: &DataType) -> bool {
    use DataType::{
        Decimal128, Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8, Utf8, Utf8View,
    };
    let is_text = |data_type: &DataType| matches!(data_type, Utf8 | LargeUtf8 | Utf8View);
    if from == to || (is_text(from) && is_text(to)) {
        return true;
    }
    let integer_digits = match from {
        Int8 => 3,
        Int16 => 5,
        Int32 => 10,
        Int64 => 19,
        _ => 0,
    };
    match to {
        Int16 => matches!(from, Int8),
        Int32 => matches!(from, Int8 | Int16),
        Int64 => matches!(from, Int8 | Int16 | Int32),
        Float64 => integer_digits > 0 || matches!(from, Float32 | Decimal128(..)),
        Decimal128(precision, scale) => match from {
            Decimal128(p, s) => {
                let digits_before_point = |p: u8, s: i8| i16::from(p) - i16::from(s);
                s <= scale && digits_before_point(*p, *s) <= digits_before_point(*precision, *scale)
            }
            _ => integer_digits > 0 && i16::from(*precision) - i16::from(*scale) >= integer_digits,
        },
        to => is_text(to) && integer_digits > 0,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::Field;
    use datafusion::logical_expr::{cast, col, lit};
    use datafusion::prelude::random;

    use super::*;

    fn schema() -> Schema {
        Schema::new(vec![
            Field::new("i", DataType::Int32, true),
            Field::new("f", DataType::Float64, true),
            Field::new("s", DataType::Utf8View, true),
            Field::new("d", DataType::Decimal128(10, 2), true),
            Field::new("wide", DataType::Decimal128(38, 2), true),
        ])
    }

    #[test]
    fn comparisons_are_taken_over() {
        for filter in [
            col("i").gt(lit(5)),
            col("i").in_list(vec![lit(1), lit(2)], true),
            col("s").like(lit("a%")).or(col("f").is_null()),
            cast(col("i"), DataType::Int64).eq(lit(5_i64)),
            (col("f") * lit(2.0)).lt(lit(1.0)),
            (col("d") * col("d") - col("d")).gt(col("d")),
        ] {
            assert!(is_pushable(&filter, &schema()), "{filter}");
        }
    }

    #[test]
    fn what_can_fail_or_change_stays_above() {
        for filter in [
            (col("wide") + col("d")).gt(col("d")),
            (col("d") / col("d")).gt(col("d")),
            (lit(1) / col("i")).eq(lit(1)),
            (col("i") + lit(1)).eq(lit(1)),
            cast(col("s"), DataType::Int32).eq(lit(1)),
            cast(col("f"), DataType::Int32).eq(lit(1)),
            random().gt(lit(0.5)),
        ] {
            assert!(!is_pushable(&filter, &schema()), "{filter}");
        }
    }
}
