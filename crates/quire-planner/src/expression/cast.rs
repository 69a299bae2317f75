//! Casts: with a short cut where the engine has one, and always with the general path's own code behind it.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::format::DEFAULT_CAST_OPTIONS;
use quire_error::Error;
use quire_exec::plan::{
    CastPlan, DecimalRescale, EvaluationError, Expression, IntegerWidth, PlanScalar,
    ScalarFunction, ShortCut, ValueKind,
};

use super::super::scalar::{from_planned, is_same, is_text, kind_of, to_planned};

/// An expression as one of another type; `None` when the types are none of ours.
pub(super) fn cast(inner: Expression, from: &DataType, to: &DataType) -> Option<Expression> {
    if is_identity(from, to) {
        return Some(inner);
    }
    kind_of(from)?;
    let function = Arc::new(PlannedCast {
        from: from.clone(),
        to: to.clone(),
        kind: kind_of(to)?,
        name: format!("cast to {to}"),
    });
    Some(match short_cut(from, to) {
        Some(short_cut) => {
            let plan = CastPlan::new(short_cut, function);
            Expression::Cast(Box::new(plan), Box::new(inner))
        }
        None => Expression::Call(function, vec![inner]),
    })
}

/// A cast by DataFusion's code.
#[derive(Debug)]
struct PlannedCast {
    from: DataType,
    to: DataType,
    kind: ValueKind,
    name: String,
}

impl PlannedCast {
    fn result(&self, value: &PlanScalar<'_>) -> Result<PlanScalar<'static>, Error> {
        let value = to_planned(value, &self.from)?;
        let cast = value.cast_to_with_options(&self.to, &DEFAULT_CAST_OPTIONS)?;
        from_planned(cast)
            .ok_or_else(|| Error::new("XX000", format!("internal error: a cast to {}", self.to)))
    }
}

impl ScalarFunction for PlannedCast {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ValueKind {
        self.kind
    }

    fn call<'a>(&self, arguments: &[PlanScalar<'a>]) -> Result<PlanScalar<'a>, EvaluationError> {
        match arguments {
            [value] if !value.is_null() => Ok(self.result(value)?),
            _ => Ok(PlanScalar::Null),
        }
    }
}

/// Whether values stay as they are.
fn is_identity(from: &DataType, to: &DataType) -> bool {
    is_same(from, to) || is_wider_integer(from, to)
}

fn is_wider_integer(from: &DataType, to: &DataType) -> bool {
    match (integer_width(from), integer_width(to)) {
        (Some(from), Some(to)) => from.bounds().1 <= to.bounds().1,
        _ => false,
    }
}

/// Which signed integers a type has.
pub(super) fn integer_width(data_type: &DataType) -> Option<IntegerWidth> {
    Some(match data_type {
        DataType::Int8 => IntegerWidth::Bits8,
        DataType::Int16 => IntegerWidth::Bits16,
        DataType::Int32 => IntegerWidth::Bits32,
        DataType::Int64 => IntegerWidth::Bits64,
        _ => return None,
    })
}

fn short_cut(from: &DataType, to: &DataType) -> Option<ShortCut> {
    if let (Some(_), Some(width)) = (integer_width(from), integer_width(to)) {
        let (min, max) = width.bounds();
        return Some(ShortCut::IntegerInRange { min, max });
    }
    let is_integer = integer_width(from).is_some();
    match (from, to) {
        (_, DataType::Float64) if is_integer => Some(ShortCut::IntegerToDouble),
        (DataType::Float32, DataType::Float64) => Some(ShortCut::RealToDouble),
        (_, DataType::Decimal128(precision, scale)) if is_integer => {
            let rescale = DecimalRescale::new(i16::from(*scale), *precision)?;
            Some(ShortCut::IntegerToDecimal(rescale))
        }
        (DataType::Decimal128(digits, from_scale), DataType::Decimal128(precision, scale)) => {
            let power = i16::from(*scale) - i16::from(*from_scale);
            let mut rescale = DecimalRescale::new(power, *precision)?;
            rescale.keeps_values = power == 0 && digits <= precision;
            Some(ShortCut::DecimalToDecimal(rescale))
        }
        (_, to) if is_integer && is_text(to) => Some(ShortCut::IntegerToText),
        _ => None,
    }
}
