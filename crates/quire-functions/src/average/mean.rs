//! Exact totals, and what they come to divided by a number of values.

use std::sync::Arc;

use arrow::datatypes::i256;
use datafusion::arrow::array::{ArrayRef, Decimal128Array, Float64Array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::utils::format_state_name;
use quire_exec::plan::{nearest_double, nearest_mean};

use quire_error::Error;

/// Which values the mean is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mean {
    OfIntegers,
    OfDecimals {
        /// Of the values.
        scale: i8,
        /// Of the result, whose scale is larger by the digits of the factor.
        precision: u8,
        result_scale: i8,
        factor: i128,
    },
}

impl Mean {
    /// `None` of floats and of what is no number.
    pub(super) fn of(arguments: &[FieldRef], result: &FieldRef) -> Option<Self> {
        match (arguments.first()?.data_type(), result.data_type()) {
            (DataType::Int16 | DataType::Int32 | DataType::Int64, DataType::Float64) => {
                Some(Self::OfIntegers)
            }
            (DataType::Decimal128(_, scale), DataType::Decimal128(precision, result_scale)) => {
                let digits = u32::try_from(result_scale.checked_sub(*scale)?).ok()?;
                Some(Self::OfDecimals {
                    scale: *scale,
                    precision: *precision,
                    result_scale: *result_scale,
                    factor: 10_i128.checked_pow(digits)?,
                })
            }
            _ => None,
        }
    }

    fn scale(self) -> i8 {
        match self {
            Self::OfIntegers => 0,
            Self::OfDecimals { scale, .. } => scale,
        }
    }

    /// Type in which distinct values travel.
    pub(super) fn value_type(self) -> DataType {
        DataType::Decimal128(38, self.scale())
    }

    pub(super) fn value_scalar(self, value: i128) -> ScalarValue {
        ScalarValue::Decimal128(Some(value), 38, self.scale())
    }

    /// Type in which totals travel.
    pub(super) fn total_type(self) -> DataType {
        DataType::Decimal256(76, self.scale())
    }

    pub(super) fn total_scalar(self, total: MeanTotal) -> ScalarValue {
        ScalarValue::Decimal256(Some(total.wide()), 76, self.scale())
    }

    /// The means of totals; NULL where there is no value.
    pub(super) fn array(self, totals: &[MeanTotal]) -> Result<ArrayRef> {
        match self {
            Self::OfIntegers => {
                let mean = |total: &MeanTotal| {
                    let sum = total.sum;
                    (total.count > 0)
                        .then(|| nearest_double(sum, total.count.unsigned_abs().into()))
                };
                Ok(Arc::new(totals.iter().map(mean).collect::<Float64Array>()))
            }
            Self::OfDecimals {
                precision,
                result_scale,
                factor,
                ..
            } => {
                let means = totals
                    .iter()
                    .map(|total| total.decimal_mean(factor, precision));
                let means = means.collect::<Result<Decimal128Array>>()?;
                Ok(Arc::new(
                    means.with_precision_and_scale(precision, result_scale)?,
                ))
            }
        }
    }

    pub(super) fn scalar(self, total: MeanTotal) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.array(&[total])?, 0)
    }
}

/// What groups of values come to before they are merged: their count and their sum.
pub(super) fn state_fields(mean: Mean, name: &str) -> Vec<FieldRef> {
    let field = |part, data_type| Field::new(format_state_name(name, part), data_type, true);
    let fields = [
        field("count", DataType::Int64),
        field("sum", mean.total_type()),
    ];
    fields.map(Arc::new).to_vec()
}

/// A sum of any number of 128-bit values, and how many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MeanTotal {
    /// The sum, less 2^128 times `wraps`. Sums of integers do not wrap: there are less than 2^63 of them.
    sum: i128,
    wraps: i64,
    count: i64,
}

impl MeanTotal {
    pub(super) fn count(self) -> i64 {
        self.count
    }

    pub(super) fn add(&mut self, value: i128) {
        let (sum, has_wrapped) = self.sum.overflowing_add(value);
        self.sum = sum;
        if has_wrapped {
            self.wraps += value.signum() as i64;
        }
        self.count += 1;
    }

    pub(super) fn remove(&mut self, value: i128) {
        let (sum, has_wrapped) = self.sum.overflowing_sub(value);
        self.sum = sum;
        if has_wrapped {
            self.wraps -= value.signum() as i64;
        }
        self.count -= 1;
    }

    /// Takes in the total of other values, as it travels.
    pub(super) fn merge(&mut self, count: i64, total: i256) {
        let (low, high) = self.wide().wrapping_add(total).to_parts();
        self.sum = low as i128;
        self.wraps = (high - (self.sum >> 127)) as i64;
        self.count += count;
    }

    /// The sum as a whole.
    pub(super) fn wide(self) -> i256 {
        i256::from_parts(self.sum as u128, i128::from(self.wraps) + (self.sum >> 127))
    }

    fn decimal_mean(self, factor: i128, precision: u8) -> Result<Option<i128>> {
        if self.count == 0 {
            return Ok(None);
        }
        let limit = 10_u128.pow(u32::from(precision));
        match self.nearest_mean(factor) {
            Some(mean) if mean.unsigned_abs() < limit => Ok(Some(mean)),
            _ => Err(Error::decimal_out_of_range().into()),
        }
    }

    fn nearest_mean(self, factor: i128) -> Option<i128> {
        let count = i128::from(self.count);
        if self.wraps == 0 {
            return nearest_mean(self.sum, factor, count);
        }
        let divisor = i256::from_i128(count);
        let whole = self.wide().checked_div(divisor)?.to_i128()?;
        let rest = self.wide().checked_rem(divisor)?.to_i128()?;
        whole
            .checked_mul(factor)?
            .checked_add(nearest_mean(rest, factor, count)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_go_beyond_128_bits_and_back() {
        let largest = 10_i128.pow(38) - 1;
        for value in [largest, -largest] {
            let mut total = MeanTotal::default();
            (0..7).for_each(|_| total.add(value));
            assert_eq!(total.nearest_mean(1), Some(value));
            let mut merged = MeanTotal::default();
            merged.merge(total.count(), total.wide());
            merged.merge(total.count(), total.wide());
            assert_eq!((merged.count(), merged.nearest_mean(1)), (14, Some(value)));
            (0..6).for_each(|_| total.remove(value));
            assert_eq!((total.wraps, total.sum), (0, value));
        }
    }
}
