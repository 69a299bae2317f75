//! `count`, `sum`, `min` and `max` over the rows of a range.

use std::cmp::Ordering;

use datafusion::arrow::datatypes::DataType;
use quire_error::Error;
use quire_exec::plan::{Environment, Expression, PlanScalar, Row};
use quire_tables::row_table::Value;

use super::scalar::is_text;

/// An aggregate of a statement.
#[derive(Debug)]
pub struct StatementAggregate {
    kind: AggregateKind,
    /// None counts rows.
    argument: Option<Expression>,
}

#[derive(Debug, Clone, Copy)]
enum AggregateKind {
    Count,
    SumToBigInt,
    SumToDecimal { precision: u8 },
    Extreme { wanted: Ordering, is_text: bool },
}

impl StatementAggregate {
    pub(super) fn count(argument: Option<Expression>) -> Self {
        let kind = AggregateKind::Count;
        Self { kind, argument }
    }

    /// `None` for floats, whose sum depends on the order of the rows.
    pub(super) fn sum(total: &DataType, argument: Expression) -> Option<Self> {
        let kind = match total {
            DataType::Int64 => AggregateKind::SumToBigInt,
            DataType::Decimal128(precision, _) => AggregateKind::SumToDecimal {
                precision: *precision,
            },
            _ => return None,
        };
        let argument = Some(argument);
        Some(Self { kind, argument })
    }

    /// `None` for floats, of which the general path knows more than one NaN.
    pub(super) fn extreme(
        is_greatest: bool,
        result: &DataType,
        argument: Expression,
    ) -> Option<Self> {
        if result.is_floating() {
            return None;
        }
        let wanted = if is_greatest {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        let is_text = is_text(result);
        Some(Self {
            kind: AggregateKind::Extreme { wanted, is_text },
            argument: Some(argument),
        })
    }

    /// What is known before the first row.
    pub fn start(&self) -> AggregateState {
        match self.kind {
            AggregateKind::Count => AggregateState::Count(0),
            AggregateKind::SumToBigInt | AggregateKind::SumToDecimal { .. } => {
                AggregateState::Sum(None)
            }
            AggregateKind::Extreme { .. } => AggregateState::Extreme(Value::Null),
        }
    }

    /// Takes a row in.
    pub fn add<'a>(
        &'a self,
        running: &mut AggregateState,
        row: Row<'a>,
        environment: &Environment<'a>,
    ) -> Result<(), Error> {
        let value = match &self.argument {
            Some(argument) => argument.evaluate(row, environment)?,
            None => PlanScalar::Boolean(true),
        };
        match (running, value) {
            (_, PlanScalar::Null) => {}
            (AggregateState::Count(count), _) => *count += 1,
            (AggregateState::Sum(sum), value) => {
                let addend = match value {
                    PlanScalar::Integer(value) => i128::from(value),
                    PlanScalar::Decimal(value) => value,
                    _ => 0,
                };
                let total = sum.unwrap_or(0).checked_add(addend);
                *sum = Some(total.ok_or_else(|| self.overflow())?);
            }
            (AggregateState::Extreme(extreme), value) => {
                let AggregateKind::Extreme { wanted, is_text } = self.kind else {
                    return Ok(());
                };
                let known = PlanScalar::from(extreme.as_tuple_value());
                if known.is_null() || value.compare(&known) == wanted {
                    *extreme = value.into_value(is_text)?;
                }
            }
        }
        Ok(())
    }

    /// The value after the last row.
    pub fn finish(&self, running: AggregateState) -> Result<Value, Error> {
        let sum = match running {
            AggregateState::Count(count) => return Ok(Value::Integer(count)),
            AggregateState::Extreme(value) => return Ok(value),
            AggregateState::Sum(None) => return Ok(Value::Null),
            AggregateState::Sum(Some(sum)) => sum,
        };
        match self.kind {
            AggregateKind::SumToDecimal { precision } => {
                let limit = 10_u128
                    .checked_pow(u32::from(precision))
                    .unwrap_or(u128::MAX);
                if sum.unsigned_abs() < limit {
                    Ok(Value::Decimal(sum.into()))
                } else {
                    Err(self.overflow())
                }
            }
            _ => match i64::try_from(sum) {
                Ok(sum) => Ok(Value::Integer(sum)),
                Err(_) => Err(self.overflow()),
            },
        }
    }

    #[cold]
    fn overflow(&self) -> Error {
        match self.kind {
            AggregateKind::SumToDecimal { precision } => {
                Error::new("22003", format!("sum has more than {precision} digits"))
            }
            _ => Error::new("22003", "bigint out of range in sum"),
        }
    }
}

/// What is known of an aggregate after some rows.
#[derive(Debug)]
pub enum AggregateState {
    Count(i64),
    /// Nothing yet is NULL.
    Sum(Option<i128>),
    Extreme(Value),
}
