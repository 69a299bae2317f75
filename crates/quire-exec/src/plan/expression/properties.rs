//! What can be told of an expression without a row.

use super::Expression;
use crate::plan::ValueKind;

impl Expression {
    /// How its values are held.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            // A constant is not NULL.
            Self::Constant(value) => ValueKind::of_value(value).unwrap_or(ValueKind::Boolean),
            Self::Null(kind) | Self::Column { kind, .. } | Self::Parameter { kind, .. } => *kind,
            Self::Now | Self::Integer(..) => ValueKind::Integer,
            Self::Compare(..)
            | Self::And(_)
            | Self::Or(_)
            | Self::Not(_)
            | Self::IsNull(..)
            | Self::Is(..)
            | Self::In(..)
            | Self::Like(..) => ValueKind::Boolean,
            // All results have one kind; without any, the value is always NULL.
            Self::Case(branches, otherwise) => {
                let first = branches.first().map(|(_, result)| result);
                let result = first.or(otherwise.as_deref());
                result.map_or(ValueKind::Boolean, Self::kind)
            }
            Self::Coalesce(parts) => parts.first().map_or(ValueKind::Boolean, Self::kind),
            Self::Concatenate(_) => ValueKind::Bytes,
            Self::Double(..) => ValueKind::Double,
            Self::Real(..) => ValueKind::Real,
            Self::Decimal(..) | Self::Digits(_) => ValueKind::Decimal,
            Self::Negate(inner) => inner.kind(),
            Self::Cast(plan, _) => plan.kind(),
            Self::Call(function, _) => function.kind(),
        }
    }

    /// Whether there may be rows for which it is NULL.
    #[must_use]
    pub fn may_be_null(&self) -> bool {
        match self {
            Self::Constant(_) | Self::Now | Self::IsNull(..) | Self::Is(..) => false,
            Self::Null(_) | Self::Parameter { .. } | Self::Call(..) => true,
            Self::Column { nullable, .. } => *nullable,
            Self::Compare(comparison, _) if comparison.takes_null() => false,
            Self::Case(branches, otherwise) => {
                let mut results = branches.iter().map(|(_, result)| result);
                let rest = otherwise.as_deref();
                rest.is_none_or(Self::may_be_null) || results.any(Self::may_be_null)
            }
            Self::Coalesce(parts) => parts.iter().all(Self::may_be_null),
            other => other.children().any(Self::may_be_null),
        }
    }

    /// Whether the value is the same for every row and every execution, and written here.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Null(_))
    }

    /// Whether the value is the same for every row.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Column { .. } => false,
            other => other.children().all(Self::is_fixed),
        }
    }

    /// Whether it reads the column in that slot.
    pub(crate) fn reads(&self, wanted: usize) -> bool {
        match self {
            Self::Column { slot, .. } => *slot == wanted,
            other => other.children().any(|child| child.reads(wanted)),
        }
    }

    /// Whether there may be rows for which there is an error instead of a value.
    #[must_use]
    pub fn can_fail(&self) -> bool {
        let fails = match self {
            Self::Integer(..)
            | Self::Decimal(..)
            | Self::Digits(_)
            | Self::Cast(..)
            | Self::Call(..) => true,
            Self::Double(operator, _) | Self::Real(operator, _) => operator.can_fail(),
            _ => false,
        };
        fails || self.children().any(Self::can_fail)
    }

    /// What the node is applied to.
    pub fn children(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::Constant(_)
            | Self::Null(_)
            | Self::Column { .. }
            | Self::Parameter { .. }
            | Self::Now => Box::new(std::iter::empty()),
            Self::Compare(_, sides)
            | Self::And(sides)
            | Self::Or(sides)
            | Self::Concatenate(sides)
            | Self::Integer(_, sides)
            | Self::Double(_, sides)
            | Self::Real(_, sides)
            | Self::Decimal(_, sides) => Box::new(sides.iter()),
            Self::Not(inner)
            | Self::IsNull(inner, _)
            | Self::Is(inner, ..)
            | Self::Digits(inner)
            | Self::Negate(inner)
            | Self::Like(inner, ..)
            | Self::Cast(_, inner) => Box::new(std::iter::once(&**inner)),
            Self::In(tested, list, _) => Box::new(std::iter::once(&**tested).chain(list)),
            Self::Case(branches, otherwise) => {
                let pairs = branches.iter().flat_map(|(when, then)| [when, then]);
                Box::new(pairs.chain(otherwise.as_deref()))
            }
            Self::Coalesce(parts) | Self::Call(_, parts) => Box::new(parts.iter()),
        }
    }
}
