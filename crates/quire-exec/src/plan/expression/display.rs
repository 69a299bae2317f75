//! Expressions as text, with the names of the columns they see.

use std::fmt;

use quire_tables::row_table::Value;

use super::Expression;
use crate::plan::PlanColumn;

/// An expression over rows with these columns.
pub(in crate::plan) struct ShownExpression<'a> {
    pub(in crate::plan) expression: &'a Expression,
    pub(in crate::plan) columns: &'a [PlanColumn],
}

impl ShownExpression<'_> {
    fn of<'s>(&'s self, expression: &'s Expression) -> ShownExpression<'s> {
        ShownExpression {
            expression,
            columns: self.columns,
        }
    }

    fn between(
        &self,
        f: &mut fmt::Formatter<'_>,
        sides: &[Expression; 2],
        sign: &str,
    ) -> fmt::Result {
        let [left, right] = sides;
        write!(f, "({} {sign} {})", self.of(left), self.of(right))
    }

    fn listed<'s>(
        &'s self,
        f: &mut fmt::Formatter<'_>,
        parts: impl IntoIterator<Item = &'s Expression>,
    ) -> fmt::Result {
        f.write_str("(")?;
        for (place, part) in parts.into_iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{}", self.of(part))?;
        }
        f.write_str(")")
    }

    fn case(
        &self,
        f: &mut fmt::Formatter<'_>,
        branches: &[(Expression, Expression)],
        otherwise: Option<&Expression>,
    ) -> fmt::Result {
        f.write_str("case")?;
        for (when, then) in branches {
            write!(f, " when {} then {}", self.of(when), self.of(then))?;
        }
        if let Some(otherwise) = otherwise {
            write!(f, " else {}", self.of(otherwise))?;
        }
        f.write_str(" end")
    }
}

impl fmt::Display for ShownExpression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |is_negated: bool| if is_negated { "not " } else { "" };
        match self.expression {
            Expression::Constant(value) => write_value(f, value),
            Expression::Null(_) => f.write_str("NULL"),
            Expression::Column { slot, .. } => match self.columns.get(*slot) {
                Some(column) => f.write_str(&column.name),
                None => write!(f, "#{slot}"),
            },
            Expression::Parameter { number, .. } => write!(f, "${}", number + 1),
            Expression::Now => f.write_str("now()"),
            Expression::Compare(comparison, sides) => self.between(f, sides, comparison.sign()),
            Expression::And(sides) => self.between(f, sides, "and"),
            Expression::Or(sides) => self.between(f, sides, "or"),
            Expression::Not(inner) => write!(f, "not {}", self.of(inner)),
            Expression::IsNull(inner, wanted) => {
                write!(f, "{} is {}null", self.of(inner), not(!wanted))
            }
            Expression::Is(inner, value, wanted) => {
                write!(f, "{} is {}{value}", self.of(inner), not(!wanted))
            }
            Expression::In(tested, list, is_negated) => {
                write!(f, "{} {}in ", self.of(tested), not(*is_negated))?;
                self.listed(f, list)
            }
            Expression::Like(tested, pattern, is_negated) => {
                let (tested, not) = (self.of(tested), not(*is_negated));
                write!(f, "{tested} {not}like '{pattern}'")
            }
            Expression::Case(branches, otherwise) => self.case(f, branches, otherwise.as_deref()),
            Expression::Coalesce(parts) => {
                f.write_str("coalesce")?;
                self.listed(f, parts)
            }
            Expression::Concatenate(sides) => self.between(f, sides, "||"),
            Expression::Integer(operation, sides) => {
                self.between(f, sides, operation.operator().sign())
            }
            Expression::Double(operator, sides) | Expression::Real(operator, sides) => {
                self.between(f, sides, operator.0.sign())
            }
            Expression::Decimal(operation, sides) => {
                self.between(f, sides, operation.operator().sign())
            }
            Expression::Digits(inner) => write!(f, "{}", self.of(inner)),
            Expression::Negate(inner) => write!(f, "-{}", self.of(inner)),
            Expression::Cast(plan, inner) => {
                write!(f, "{}({})", plan.otherwise().name(), self.of(inner))
            }
            Expression::Call(function, arguments) => {
                f.write_str(function.name())?;
                self.listed(f, arguments)
            }
        }
    }
}

/// A value as it is held: a decimal without its point, a date as a number of days.
fn write_value(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Boolean(value) => write!(f, "{value}"),
        Value::Integer(value) => write!(f, "{value}"),
        Value::Decimal(value) => write!(f, "{}", i128::from(*value)),
        Value::Real(value) => write!(f, "{value}"),
        Value::Double(value) => write!(f, "{value}"),
        Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        Value::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
        Value::Null => f.write_str("NULL"),
    }
}
