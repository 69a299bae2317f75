//! Aggregation: grouping of rows, and aggregate functions over each group.

use crate::plan::{Expression, Plan, ValueKind};

/// Groups rows by the values of expressions. NULLs form one group. Without group expressions there is exactly one group, even for an
/// empty input.
///
/// The output columns are the group expressions, followed by one column per call.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// The input rows.
    pub input: Plan,
    /// The group expressions.
    pub groups: Vec<Expression>,
    /// The aggregate functions that are computed per group.
    pub calls: Vec<AggregateCall>,
}

/// A call of an aggregate function.
#[derive(Debug, Clone)]
pub struct AggregateCall {
    /// The function.
    pub function: AggregateFunction,
    /// The argument; rows for which it is NULL are skipped. `None` is `count(*)`.
    pub argument: Option<Expression>,
    /// `DISTINCT`: equal values are aggregated once.
    pub is_distinct: bool,
    /// `FILTER`: only rows for which this is true are aggregated.
    pub filter: Option<Expression>,
}

/// An aggregate function. All but `Count` return NULL if there are no input values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// Number of values, or of rows without an argument: a `BIGINT`.
    Count,
    /// Sum.
    Sum(SumKind),
    /// Minimum, in the order of [`PlanScalar::compare`](crate::plan::PlanScalar::compare).
    Min,
    /// Maximum, in the same order.
    Max,
    /// Arithmetic mean.
    Average(AverageKind),
    /// `bool_and`: whether all values are true.
    All,
    /// `bool_or`: whether any value is true.
    Any,
}

/// The argument and result types of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SumKind {
    /// Integers to a `BIGINT`; overflow is an error.
    BigInt,
    /// Integers or decimals to a decimal of the same scale; a sum of more than `precision` digits is an error.
    Decimal {
        /// Maximum number of digits of the sum.
        precision: u8,
    },
    /// Doubles, added in input order, on which the rounding depends.
    Double,
}

/// The argument type of a mean, and how it is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AverageKind {
    /// Doubles: their sum divided by their number.
    Double,
    /// Integers: the double nearest to the exact mean.
    Integer,
    /// Decimals: the sum times `factor`, divided by the number of values, rounded half away from zero.
    Decimal {
        /// Power of ten that raises the scale of the argument to the scale of the result.
        factor: i128,
        /// Maximum number of digits of the result; more are an error.
        precision: u8,
    },
}

impl AggregateFunction {
    /// The name in SQL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum(_) => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Average(_) => "avg",
            Self::All => "bool_and",
            Self::Any => "bool_or",
        }
    }
}

impl AggregateCall {
    /// The kind of the result.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self.function {
            AggregateFunction::Count | AggregateFunction::Sum(SumKind::BigInt) => {
                ValueKind::Integer
            }
            AggregateFunction::Sum(SumKind::Decimal { .. })
            | AggregateFunction::Average(AverageKind::Decimal { .. }) => ValueKind::Decimal,
            AggregateFunction::Sum(SumKind::Double)
            | AggregateFunction::Average(AverageKind::Double | AverageKind::Integer) => {
                ValueKind::Double
            }
            AggregateFunction::All | AggregateFunction::Any => ValueKind::Boolean,
            AggregateFunction::Min | AggregateFunction::Max => {
                // The plan check rejects `min` and `max` without an argument; the default only makes this function total.
                let argument = self.argument.as_ref();
                argument.map_or(ValueKind::Boolean, Expression::kind)
            }
        }
    }

    /// Whether the result may be NULL: it is for no input values, unless the function counts them.
    #[must_use]
    pub fn may_be_null(&self) -> bool {
        self.function != AggregateFunction::Count
    }

    /// Whether the function accepts an argument of this kind.
    pub(super) fn takes(&self, kind: ValueKind) -> bool {
        match self.function {
            AggregateFunction::Count | AggregateFunction::Min | AggregateFunction::Max => true,
            AggregateFunction::Sum(SumKind::BigInt)
            | AggregateFunction::Average(AverageKind::Integer) => kind == ValueKind::Integer,
            AggregateFunction::Sum(SumKind::Decimal { .. }) => {
                matches!(kind, ValueKind::Integer | ValueKind::Decimal)
            }
            AggregateFunction::Average(AverageKind::Decimal { .. }) => kind == ValueKind::Decimal,
            AggregateFunction::Sum(SumKind::Double)
            | AggregateFunction::Average(AverageKind::Double) => kind == ValueKind::Double,
            AggregateFunction::All | AggregateFunction::Any => kind == ValueKind::Boolean,
        }
    }
}
