//! Sums of the rows of a partition up to some of its rows.

use datafusion::arrow::array::{Array, ArrayRef, NullBufferBuilder, PrimitiveArray};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, DataType};
use datafusion::common::Result;

use super::{Inputs, SumTotal};
use crate::float_totals::FloatResult;
use crate::prefixes::{PrefixAggregate, PrefixResults, PrefixSegment, PrefixState, advance};

/// The sums of values of type `argument` as values of type `result`; `None` if they have no state here.
pub(crate) fn sum_prefixes(
    argument: &DataType,
    result: &DataType,
) -> Option<Box<dyn PrefixAggregate>> {
    let is_exact = matches!(
        argument,
        DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Decimal128(..)
    );
    match SumTotal::of(result) {
        Some(total) => is_exact.then(|| Box::new(SumPrefixes::new(total)) as _),
        None if argument == result => FloatResult::Sum.prefixes(argument),
        None => None,
    }
}

struct SumPrefixes {
    total: SumTotal,
    sum: i128,
    /// The sum of no values is NULL.
    has_values: bool,
    sums: Vec<i128>,
    nulls: NullBufferBuilder,
}

impl SumPrefixes {
    fn new(total: SumTotal) -> Self {
        Self {
            total,
            sum: 0,
            has_values: false,
            sums: Vec::new(),
            nulls: NullBufferBuilder::new(0),
        }
    }
}

impl PrefixState for SumPrefixes {
    type Value = i128;

    fn restart(&mut self) {
        (self.sum, self.has_values) = (0, false);
    }

    fn add(&mut self, value: i128) -> Result<()> {
        self.sum = self.total.add(self.sum, value)?;
        self.has_values = true;
        Ok(())
    }

    fn record(&mut self) {
        self.sums.push(self.sum);
        self.nulls.append(self.has_values);
    }

    fn take_results(&mut self) -> Result<ArrayRef> {
        let sums = std::mem::take(&mut self.sums);
        self.total.result_array(sums, self.nulls.finish())
    }
}

impl PrefixAggregate for SumPrefixes {
    fn advance(
        &mut self,
        values: &ArrayRef,
        segments: &[PrefixSegment],
        wanted: PrefixResults,
    ) -> Result<ArrayRef> {
        advance_exact(self, values, segments, wanted)
    }
}

/// Takes a column of integers or decimals into a state.
pub(crate) fn advance_exact<S: PrefixState<Value = i128>>(
    state: &mut S,
    values: &ArrayRef,
    segments: &[PrefixSegment],
    wanted: PrefixResults,
) -> Result<ArrayRef> {
    match Inputs::of(values)? {
        Inputs::Int16(array) => advance_widened(state, array, segments, wanted),
        Inputs::Int32(array) => advance_widened(state, array, segments, wanted),
        Inputs::Int64(array) => advance_widened(state, array, segments, wanted),
        Inputs::Decimal(array) => advance_widened(state, array, segments, wanted),
    }
}

fn advance_widened<T: ArrowPrimitiveType, S: PrefixState<Value = i128>>(
    state: &mut S,
    array: &PrimitiveArray<T>,
    segments: &[PrefixSegment],
    wanted: PrefixResults,
) -> Result<ArrayRef>
where
    i128: From<T::Native>,
{
    let values = array.values();
    let value_at = |row: usize| i128::from(values[row]);
    advance(state, array.nulls(), value_at, segments, wanted)
}
