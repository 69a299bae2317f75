//! Casts that are frequent and cannot fail for most values. A value for which they do is handed to the cast's own function,
//! which knows the error.

use std::borrow::Cow;
use std::sync::Arc;

use super::ScalarFunction;
use crate::plan::{EvaluationError, PlanScalar, ValueKind};

/// How values of one type become values of another.
#[derive(Debug, Clone)]
pub struct CastPlan {
    short_cut: ShortCut,
    otherwise: Arc<dyn ScalarFunction>,
}

/// A cast that needs no function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShortCut {
    /// The integer stays, if it is one of the type.
    IntegerInRange {
        /// Least value of the type.
        min: i64,
        /// Greatest value of the type.
        max: i64,
    },
    /// The nearest float.
    IntegerToDouble,
    /// An integer becomes a decimal.
    IntegerToDecimal(DecimalRescale),
    /// A decimal gets more digits behind the point.
    DecimalToDecimal(DecimalRescale),
    /// The digits.
    IntegerToText,
    /// The same number.
    RealToDouble,
}

/// Digits are appended; how many there may be is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecimalRescale {
    /// What the value is multiplied by.
    pub factor: i128,
    /// What its absolute value must stay below.
    pub limit: i128,
    /// Whether every value of the type that is cast stays as it is.
    pub keeps_values: bool,
}

impl DecimalRescale {
    /// To a type of `precision` digits, `power` more of them behind the point than there were; `None` when there are fewer.
    #[must_use]
    pub fn new(power: i16, precision: u8) -> Option<Self> {
        let power_of_ten = |power: i16| 10_i128.checked_pow(u32::try_from(power).ok()?);
        Some(Self {
            factor: power_of_ten(power)?,
            limit: power_of_ten(i16::from(precision))?,
            keeps_values: false,
        })
    }

    #[inline]
    fn apply<'a>(&self, value: i128) -> Option<PlanScalar<'a>> {
        let value = value.checked_mul(self.factor)?;
        (-self.limit < value && value < self.limit).then_some(PlanScalar::Decimal(value))
    }
}

impl CastPlan {
    /// A cast by a short cut, and by a function where that leads nowhere.
    #[must_use]
    pub fn new(short_cut: ShortCut, otherwise: Arc<dyn ScalarFunction>) -> Self {
        Self {
            short_cut,
            otherwise,
        }
    }

    /// How most values are cast.
    #[must_use]
    pub(crate) fn short_cut(&self) -> ShortCut {
        self.short_cut
    }

    /// How the values are cast for which the short cut has no result.
    #[must_use]
    pub fn otherwise(&self) -> &Arc<dyn ScalarFunction> {
        &self.otherwise
    }

    /// Whether decimals stay as they are, but may have more digits in front.
    #[must_use]
    pub fn keeps_decimals(&self) -> bool {
        matches!(self.short_cut, ShortCut::DecimalToDecimal(rescale) if rescale.keeps_values)
    }

    /// How the values of the cast are held.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self.short_cut {
            ShortCut::IntegerInRange { .. } => ValueKind::Integer,
            ShortCut::IntegerToDouble | ShortCut::RealToDouble => ValueKind::Double,
            ShortCut::IntegerToDecimal(_) | ShortCut::DecimalToDecimal(_) => ValueKind::Decimal,
            ShortCut::IntegerToText => ValueKind::Bytes,
        }
    }

    /// The value as one of the other type; NULL stays NULL.
    ///
    /// # Errors
    /// Those of the cast's function.
    pub fn apply<'a>(&self, value: PlanScalar<'a>) -> Result<PlanScalar<'a>, EvaluationError> {
        let quick = match (self.short_cut, &value) {
            (_, PlanScalar::Null) => return Ok(PlanScalar::Null),
            (ShortCut::IntegerInRange { min, max }, PlanScalar::Integer(value)) => (min..=max)
                .contains(value)
                .then_some(PlanScalar::Integer(*value)),
            (ShortCut::IntegerToDouble, PlanScalar::Integer(value)) => {
                Some(PlanScalar::Double(*value as f64))
            }
            (ShortCut::IntegerToDecimal(rescale), PlanScalar::Integer(value)) => {
                rescale.apply(i128::from(*value))
            }
            (ShortCut::DecimalToDecimal(rescale), PlanScalar::Decimal(value)) => {
                rescale.apply(*value)
            }
            (ShortCut::IntegerToText, PlanScalar::Integer(value)) => Some(PlanScalar::Bytes(
                Cow::Owned(value.to_string().into_bytes()),
            )),
            (ShortCut::RealToDouble, PlanScalar::Real(value)) => {
                Some(PlanScalar::Double(f64::from(*value)))
            }
            _ => None,
        };
        match quick {
            Some(value) => Ok(value),
            None => self.otherwise.call(&[value]),
        }
    }
}
