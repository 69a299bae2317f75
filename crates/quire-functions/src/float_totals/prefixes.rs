//! Totals of the rows of a partition up to some of its rows.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use datafusion::common::Result;

use super::total::{FloatResult, FloatTotal, SummableFloat};
use crate::prefixes::{PrefixAggregate, PrefixResults, PrefixSegment, PrefixState, advance};

pub(super) struct TotalPrefixes<T: ArrowPrimitiveType> {
    result: FloatResult,
    total: FloatTotal<T::Native>,
    results: Vec<Option<T::Native>>,
}

impl<T: SummableFloat> TotalPrefixes<T> {
    pub(super) fn new(result: FloatResult) -> Self {
        Self {
            result,
            total: FloatTotal::none(),
            results: Vec::new(),
        }
    }
}

impl<T: SummableFloat> PrefixState for TotalPrefixes<T> {
    type Value = T::Native;

    fn restart(&mut self) {
        self.total = FloatTotal::none();
    }

    fn add(&mut self, value: T::Native) -> Result<()> {
        self.total.add::<T>(value, 1)
    }

    fn record(&mut self) {
        let FloatTotal { sum, count } = self.total;
        self.results.push(self.result.of::<T>(sum, count));
    }

    fn take_results(&mut self) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results).into_iter();
        Ok(Arc::new(results.collect::<PrimitiveArray<T>>()))
    }
}

impl<T: SummableFloat> PrefixAggregate for TotalPrefixes<T> {
    fn advance(
        &mut self,
        values: &ArrayRef,
        segments: &[PrefixSegment],
        wanted: PrefixResults,
    ) -> Result<ArrayRef> {
        let array = values.as_primitive::<T>();
        let values = array.values();
        advance(self, array.nulls(), |row| values[row], segments, wanted)
    }
}
