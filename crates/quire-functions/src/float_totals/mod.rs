//! Sums and means of floats, added up one by one in the type of the argument, as PostgreSQL does.
//!
//! DataFusion adds several values at a time, so that the last digit is another one, and REALs as doubles. A sum of finite values that
//! is not finite is an error, 22003.

mod groups;
mod running;

use std::sync::Arc;

use datafusion::arrow::array::{ArrowNativeTypeOp, ArrowPrimitiveType};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, GroupsAccumulator};
use quire_error::Error;

use self::groups::GroupedTotals;
use self::running::{DistinctTotal, RunningTotal};

/// What is computed of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FloatResult {
    Sum,
    Mean,
}

/// A type of floats that are added up.
pub(super) trait Float: ArrowPrimitiveType + std::fmt::Debug {
    fn is_infinite(value: Self::Native) -> bool;
    fn divided(total: Self::Native, count: i64) -> Self::Native;
    /// Bits by which equal values are equal: those of -0 are those of 0.
    fn key(value: Self::Native) -> u64;
}

impl Float for Float32Type {
    fn is_infinite(value: f32) -> bool {
        value.is_infinite()
    }
    fn divided(total: f32, count: i64) -> f32 {
        total / count as f32
    }
    fn key(value: f32) -> u64 {
        Float64Type::key(value.into())
    }
}

impl Float for Float64Type {
    fn is_infinite(value: f64) -> bool {
        value.is_infinite()
    }
    fn divided(total: f64, count: i64) -> f64 {
        total / count as f64
    }
    fn key(value: f64) -> u64 {
        if value.is_nan() {
            f64::NAN.to_bits()
        } else {
            (value + 0.0).to_bits()
        }
    }
}

/// The sum of two floats; an error if it is infinite and neither of them is.
pub(super) fn added<T: Float>(left: T::Native, right: T::Native) -> Result<T::Native> {
    let sum = left.add_wrapping(right);
    if T::is_infinite(sum) && !T::is_infinite(left) && !T::is_infinite(right) {
        Err(overflow())
    } else {
        Ok(sum)
    }
}

/// The error of a float that is too large.
#[cold]
pub(super) fn overflow() -> DataFusionError {
    let error = Error::new("22003", "value out of range: overflow");
    DataFusionError::External(Box::new(error))
}

impl FloatResult {
    /// The total of a whole input; `None` of what are no floats.
    pub(super) fn accumulator(
        self,
        argument: &DataType,
        is_distinct: bool,
    ) -> Option<Box<dyn Accumulator>> {
        Some(match (argument, is_distinct) {
            (DataType::Float32, false) => Box::new(RunningTotal::<Float32Type>::new(self)),
            (DataType::Float64, false) => Box::new(RunningTotal::<Float64Type>::new(self)),
            (DataType::Float32, true) => Box::new(DistinctTotal::<Float32Type>::new(self)),
            (DataType::Float64, true) => Box::new(DistinctTotal::<Float64Type>::new(self)),
            _ => return None,
        })
    }

    /// The totals of groups; `None` of what are no floats.
    pub(super) fn groups_accumulator(
        self,
        argument: &DataType,
    ) -> Option<Box<dyn GroupsAccumulator>> {
        Some(match argument {
            DataType::Float32 => Box::new(GroupedTotals::<Float32Type>::new(self)),
            DataType::Float64 => Box::new(GroupedTotals::<Float64Type>::new(self)),
            _ => return None,
        })
    }

    /// How totals travel; `None` of what are no floats.
    pub(super) fn state_fields(
        argument: &DataType,
        name: &str,
        is_distinct: bool,
    ) -> Option<Vec<FieldRef>> {
        if !matches!(argument, DataType::Float32 | DataType::Float64) {
            return None;
        }
        let name = |part| format_state_name(name, part);
        if is_distinct {
            let item = Field::new_list_field(argument.clone(), true);
            let list = Field::new_list(name("distinct floats"), item, true);
            return Some(vec![Arc::new(list)]);
        }
        Some(vec![
            Arc::new(Field::new(name("total"), argument.clone(), true)),
            Arc::new(Field::new(name("count"), DataType::Int64, true)),
        ])
    }

    /// What a total of some values comes to; NULL of none.
    pub(super) fn of<T: Float>(self, total: T::Native, count: i64) -> Option<T::Native> {
        match self {
            _ if count == 0 => None,
            Self::Sum => Some(total),
            Self::Mean => Some(T::divided(total, count)),
        }
    }
}

/// A total and how many values are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Total<N> {
    sum: N,
    count: i64,
}

impl<N: ArrowNativeTypeOp> Total<N> {
    fn none() -> Self {
        let sum = N::ZERO;
        Self { sum, count: 0 }
    }

    /// Takes in a value, or the total of `count` others. The first is taken as it is: `-0` remains.
    fn add<T: Float<Native = N>>(&mut self, sum: N, count: i64) -> Result<()> {
        self.sum = match (self.count, count) {
            (_, 0) => return Ok(()),
            (0, _) => sum,
            _ => added::<T>(self.sum, sum)?,
        };
        self.count += count;
        Ok(())
    }
}
