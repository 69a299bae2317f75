//! One total.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, AsArray, PrimitiveArray,
};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use super::total::{FloatResult, FloatTotal, SummableFloat};

#[derive(Debug)]
pub(super) struct RunningTotal<T: ArrowPrimitiveType> {
    result: FloatResult,
    total: FloatTotal<T::Native>,
}

impl<T: SummableFloat> RunningTotal<T> {
    pub(super) fn new(result: FloatResult) -> Self {
        let total = FloatTotal::none();
        Self { result, total }
    }
}

/// A float as a scalar.
fn scalar<T: SummableFloat>(value: Option<T::Native>) -> Result<ScalarValue> {
    ScalarValue::new_primitive::<T>(value, &T::DATA_TYPE)
}

impl<T: SummableFloat> Accumulator for RunningTotal<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<T>();
        let mut values = values.iter().flatten();
        values.try_for_each(|value| self.total.add::<T>(value, 1))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (totals, counts) = (
            states[0].as_primitive::<T>(),
            states[1].as_primitive::<Int64Type>(),
        );
        for (total, count) in totals.iter().zip(counts) {
            if let (Some(total), Some(count)) = (total, count) {
                self.total.add::<T>(total, count)?;
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let FloatTotal { sum, count } = self.total;
        Ok(vec![
            scalar::<T>(Some(sum))?,
            ScalarValue::Int64(Some(count)),
        ])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        scalar::<T>(self.result.of::<T>(self.total.sum, self.total.count))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The total of the different values of an input, which are added up in their order: the set has none.
#[derive(Debug)]
pub(super) struct DistinctTotal<T: ArrowPrimitiveType> {
    result: FloatResult,
    known: HashSet<u64>,
    values: Vec<T::Native>,
}

impl<T: SummableFloat> DistinctTotal<T> {
    pub(super) fn new(result: FloatResult) -> Self {
        Self {
            result,
            known: HashSet::new(),
            values: Vec::new(),
        }
    }

    fn insert(&mut self, values: &PrimitiveArray<T>) {
        for value in values.iter().flatten() {
            if self.known.insert(T::key(value)) {
                self.values.push(value);
            }
        }
    }
}

impl<T: SummableFloat> Accumulator for DistinctTotal<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.insert(values[0].as_primitive::<T>());
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states[0].as_list::<i32>();
        for values in lists.iter().flatten() {
            self.insert(values.as_primitive::<T>());
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = PrimitiveArray::<T>::from_iter_values(self.values.iter().copied());
        let list = SingleRowListArrayBuilder::new(Arc::new(values));
        Ok(vec![list.build_list_scalar()])
    }

    /// PostgreSQL sorts distinct values.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut values = self.values.clone();
        values.sort_by(|one, other| one.compare(*other));
        let mut total = FloatTotal::none();
        values
            .into_iter()
            .try_for_each(|value| total.add::<T>(value, 1))?;
        scalar::<T>(self.result.of::<T>(total.sum, total.count))
    }

    fn size(&self) -> usize {
        size_of_val(self)
            + self.known.capacity() * (size_of::<u64>() + 1)
            + self.values.capacity() * size_of::<T::Native>()
    }
}
