//! What queries 1 and 6 compute of a row of `lineitem`.

use quire_exec::plan::{ComparisonExpression, DecimalOperation, Expression, Operator, ValueKind};
use quire_tables::row_table::Value;

use super::failure::ExpressionFailure;
use super::tuples::{DISCOUNT, PRICE, QUANTITY, SHIPDATE, TAX};

/// A condition, and what is added up of the rows that it is true of.
pub(crate) struct FilterSumQuery {
    pub(crate) name: &'static str,
    pub(crate) condition: Expression,
    /// Columns that the condition needs.
    pub(crate) tested: &'static [usize],
    pub(crate) sums: Vec<Expression>,
    /// Columns that the sums need besides.
    pub(crate) added: &'static [usize],
}

fn column(slot: usize) -> Expression {
    let kind = match slot {
        SHIPDATE => ValueKind::Integer,
        _ => ValueKind::Decimal,
    };
    Expression::Column {
        slot,
        kind,
        nullable: false,
    }
}

fn decimal(value: i128) -> Expression {
    Expression::Constant(Value::Decimal(value.into()))
}

fn pair(left: Expression, right: Expression) -> Box<[Expression; 2]> {
    Box::new([left, right])
}

fn all(conditions: Vec<Expression>) -> Expression {
    let mut conditions = conditions.into_iter();
    let first = conditions
        .next()
        .unwrap_or(Expression::Constant(Value::Boolean(true)));
    conditions.fold(first, |left, right| Expression::And(pair(left, right)))
}

fn compare(comparison: ComparisonExpression, slot: usize, right: Expression) -> Expression {
    Expression::Compare(comparison, pair(column(slot), right))
}

fn days(days: i64) -> Expression {
    Expression::Constant(Value::Integer(days))
}

/// Query 1 without its groups.
pub(crate) fn query_1() -> Result<FilterSumQuery, ExpressionFailure> {
    let operation = |operator, left, right| {
        DecimalOperation::new(operator, left, right)
            .ok_or_else(|| ExpressionFailure::from("no such decimal"))
    };
    let subtract = operation(Operator::Subtract, 0, 2)?;
    let add = operation(Operator::Add, 0, 2)?;
    let multiply = operation(Operator::Multiply, 2, 2)?;
    let charge = operation(Operator::Multiply, 4, 2)?;
    let reduced = || {
        let rest = Expression::Decimal(subtract, pair(decimal(1), column(DISCOUNT)));
        Expression::Decimal(multiply, pair(column(PRICE), rest))
    };
    let taxed = Expression::Decimal(add, pair(decimal(1), column(TAX)));
    Ok(FilterSumQuery {
        name: "Q1",
        condition: compare(ComparisonExpression::LessOrEqual, SHIPDATE, days(10_471)),
        tested: &[SHIPDATE],
        added: &[QUANTITY, PRICE, DISCOUNT, TAX],
        sums: vec![
            column(QUANTITY),
            column(PRICE),
            reduced(),
            Expression::Decimal(charge, pair(reduced(), taxed)),
            column(DISCOUNT),
        ],
    })
}

/// Query 6.
pub(crate) fn query_6() -> FilterSumQuery {
    let multiply = DecimalOperation::new(Operator::Multiply, 2, 2);
    FilterSumQuery {
        name: "Q6",
        condition: all(vec![
            compare(ComparisonExpression::GreaterOrEqual, SHIPDATE, days(8_766)),
            compare(ComparisonExpression::Less, SHIPDATE, days(9_131)),
            compare(ComparisonExpression::GreaterOrEqual, DISCOUNT, decimal(5)),
            compare(ComparisonExpression::LessOrEqual, DISCOUNT, decimal(7)),
            compare(ComparisonExpression::Less, QUANTITY, decimal(2_400)),
        ]),
        tested: &[SHIPDATE, DISCOUNT, QUANTITY],
        added: &[PRICE],
        sums: multiply
            .map(|multiply| Expression::Decimal(multiply, pair(column(PRICE), column(DISCOUNT))))
            .into_iter()
            .collect(),
    }
}
