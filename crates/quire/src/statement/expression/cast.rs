//! Casts. Those that cannot fail and are frequent are done here; the others, and all that fail, by the general path's own code.

use std::borrow::Cow;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::format::DEFAULT_CAST_OPTIONS;

use super::super::scalar::{Scalar, is_known, is_same, is_text};
use super::arithmetic::integer_bounds;
use crate::error::Error;

/// How values of one type become values of another.
#[derive(Debug, Clone)]
pub(in crate::statement) struct CastPlan {
    from: DataType,
    to: DataType,
    short_cut: ShortCut,
}

#[derive(Debug, Clone, Copy)]
enum ShortCut {
    None,
    /// The value stays, if it is between these.
    Integer(i64, i64),
    IntegerToDouble,
    /// Multiplied by a power of ten, it must stay below a limit.
    IntegerToDecimal(i128, i128),
    DecimalToDecimal(i128, i128),
    IntegerToText,
    RealToDouble,
}

impl CastPlan {
    /// `None` when the types are none of ours.
    pub(super) fn new(from: &DataType, to: &DataType) -> Option<Self> {
        (is_known(from) && is_known(to)).then(|| Self {
            from: from.clone(),
            to: to.clone(),
            short_cut: short_cut(from, to),
        })
    }

    /// Whether values stay as they are.
    pub(super) fn is_identity(from: &DataType, to: &DataType) -> bool {
        is_same(from, to) || is_wider_integer(from, to)
    }

    /// Whether decimals stay as they are, but may have more digits in front.
    pub(in crate::statement) fn keeps_decimals(&self) -> bool {
        match (&self.from, &self.to) {
            (DataType::Decimal128(from, from_scale), DataType::Decimal128(to, to_scale)) => {
                from_scale == to_scale && from <= to
            }
            _ => false,
        }
    }

    pub(super) fn apply<'a>(&self, value: Scalar<'a>) -> Result<Scalar<'a>, Error> {
        let quick = match (self.short_cut, &value) {
            (_, Scalar::Null) => return Ok(Scalar::Null),
            (ShortCut::Integer(min, max), Scalar::Integer(value)) => (min..=max)
                .contains(value)
                .then_some(Scalar::Integer(*value)),
            (ShortCut::IntegerToDouble, Scalar::Integer(value)) => {
                Some(Scalar::Double(*value as f64))
            }
            (ShortCut::IntegerToDecimal(factor, limit), Scalar::Integer(value)) => {
                scaled(i128::from(*value), factor, limit)
            }
            (ShortCut::DecimalToDecimal(factor, limit), Scalar::Decimal(value)) => {
                scaled(*value, factor, limit)
            }
            (ShortCut::IntegerToText, Scalar::Integer(value)) => {
                Some(Scalar::Bytes(Cow::Owned(value.to_string().into_bytes())))
            }
            (ShortCut::RealToDouble, Scalar::Real(value)) => {
                Some(Scalar::Double(f64::from(*value)))
            }
            _ => None,
        };
        match quick {
            Some(value) => Ok(value),
            None => self.apply_slowly(&value),
        }
    }

    fn apply_slowly(&self, value: &Scalar<'_>) -> Result<Scalar<'static>, Error> {
        let value = value.to_planned(&self.from)?;
        let cast = value.cast_to_with_options(&self.to, &DEFAULT_CAST_OPTIONS)?;
        Scalar::from_planned(cast)
            .ok_or_else(|| Error::new("XX000", format!("internal error: a cast to {}", self.to)))
    }
}

fn scaled<'a>(value: i128, factor: i128, limit: i128) -> Option<Scalar<'a>> {
    let value = value.checked_mul(factor)?;
    (-limit < value && value < limit).then_some(Scalar::Decimal(value))
}

fn is_wider_integer(from: &DataType, to: &DataType) -> bool {
    match (integer_bounds(from), integer_bounds(to)) {
        (Some((_, from_max)), Some((_, to_max))) => from_max <= to_max,
        _ => false,
    }
}

fn short_cut(from: &DataType, to: &DataType) -> ShortCut {
    if let (Some(_), Some((min, max))) = (integer_bounds(from), integer_bounds(to)) {
        return ShortCut::Integer(min, max);
    }
    let is_integer = integer_bounds(from).is_some();
    match (from, to) {
        (_, DataType::Float64) if is_integer => ShortCut::IntegerToDouble,
        (DataType::Float32, DataType::Float64) => ShortCut::RealToDouble,
        (_, DataType::Decimal128(precision, scale)) if is_integer => {
            match (
                power_of_ten(i16::from(*scale)),
                power_of_ten(i16::from(*precision)),
            ) {
                (Some(factor), Some(limit)) => ShortCut::IntegerToDecimal(factor, limit),
                _ => ShortCut::None,
            }
        }
        (DataType::Decimal128(_, from_scale), DataType::Decimal128(precision, scale)) => {
            let power = i16::from(*scale) - i16::from(*from_scale);
            match (power_of_ten(power), power_of_ten(i16::from(*precision))) {
                (Some(factor), Some(limit)) => ShortCut::DecimalToDecimal(factor, limit),
                _ => ShortCut::None,
            }
        }
        (_, to) if is_integer && is_text(to) => ShortCut::IntegerToText,
        _ => ShortCut::None,
    }
}

fn power_of_ten(power: i16) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(power).ok()?)
}
