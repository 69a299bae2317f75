//! Comparisons of two values.

use crate::plan::PlanScalar;

/// A comparison of two values of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComparisonExpression {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `IS DISTINCT FROM`: NULL is like any other value.
    Distinct,
    /// `IS NOT DISTINCT FROM`: NULL is like any other value.
    NotDistinct,
}

impl ComparisonExpression {
    /// The comparison with its sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            other => other,
        }
    }

    /// Whether it is true or false even of NULL.
    #[must_use]
    pub(crate) fn takes_null(self) -> bool {
        matches!(self, Self::Distinct | Self::NotDistinct)
    }

    /// How SQL writes it.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Distinct => "IS DISTINCT FROM",
            Self::NotDistinct => "IS NOT DISTINCT FROM",
        }
    }

    /// True, false or NULL.
    #[inline]
    #[must_use]
    pub fn compare<'a>(self, left: &PlanScalar<'_>, right: &PlanScalar<'_>) -> PlanScalar<'a> {
        if left.is_null() || right.is_null() {
            let is_equal = left.is_null() && right.is_null();
            return match self {
                Self::Distinct => PlanScalar::Boolean(!is_equal),
                Self::NotDistinct => PlanScalar::Boolean(is_equal),
                _ => PlanScalar::Null,
            };
        }
        let order = left.compare(right);
        PlanScalar::Boolean(match self {
            Self::Equal | Self::NotDistinct => order.is_eq(),
            Self::NotEqual | Self::Distinct => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }
}
