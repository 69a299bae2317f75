//! Aggregation: groups of rows that have equal values, and totals of each.

use crate::plan::{Expression, Plan, ValueKind};

/// Groups of rows. NULLs are one group; without group expressions all rows are one, even if there are none.
///
/// The columns that come out are those of the groups and, behind them, a column per call.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// Where the rows come from.
    pub input: Plan,
    /// What is equal in the rows of a group.
    pub groups: Vec<Expression>,
    /// What is computed of the rows of a group.
    pub calls: Vec<AggregateCall>,
}

/// One total.
#[derive(Debug, Clone)]
pub struct AggregateCall {
    /// How values are taken together.
    pub function: AggregateFunction,
    /// The value of a row, which is left out when it is NULL; none counts rows.
    pub argument: Option<Expression>,
    /// Whether equal values count once.
    pub is_distinct: bool,
    /// Rows for which this is not true are left out.
    pub filter: Option<Expression>,
}

/// How values are taken together. All but `Count` are NULL of no values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// Number of values, or of rows: a BIGINT.
    Count,
    /// The total.
    Sum(SumKind),
    /// The least value, in the order of [`PlanScalar::compare`](crate::plan::PlanScalar::compare).
    Min,
    /// The greatest value.
    Max,
    /// The mean.
    Average(AverageKind),
    /// Whether all conditions are true.
    All,
    /// Whether a condition is true.
    Any,
}

/// What values add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SumKind {
    /// Integers to a BIGINT; more is an error.
    BigInt,
    /// Integers or decimals to a decimal of the same scale; more digits are an error.
    Decimal {
        /// Digits that the total may have.
        precision: u8,
    },
    /// Doubles, in the order in which they come.
    Double,
}

/// How a mean is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AverageKind {
    /// Of doubles.
    Double,
    /// Of integers: the double nearest to the exact mean.
    Integer,
    /// Of decimals: the total times a power of ten, divided by the number of values, to the nearest, a tie going away from zero.
    Decimal {
        /// The power of ten, for the digits that the result has more.
        factor: i128,
        /// Digits that the result may have.
        precision: u8,
    },
}

impl AggregateFunction {
    /// What it is called.
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
    /// How its values are held.
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
                let argument = self.argument.as_ref();
                argument.map_or(ValueKind::Boolean, Expression::kind)
            }
        }
    }

    /// Whether it may be NULL: of no values it is, unless it counts them.
    #[must_use]
    pub fn may_be_null(&self) -> bool {
        self.function != AggregateFunction::Count
    }

    /// Whether a value of this kind can be taken.
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
