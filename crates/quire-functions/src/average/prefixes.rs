//! Means of the rows of a partition up to some of its rows.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::Result;

use super::mean::{Mean, MeanTotal};
use crate::float_totals::FloatResult;
use crate::prefixes::{PrefixAggregate, PrefixResults, PrefixSegment, PrefixState};
use crate::sum::advance_exact;

/// The means of values as those of `argument`, as values of `result`; `None` if they have no state here.
pub(crate) fn mean_prefixes(
    argument: &FieldRef,
    result: &FieldRef,
) -> Option<Box<dyn PrefixAggregate>> {
    match Mean::of(std::slice::from_ref(argument), result) {
        Some(mean) => Some(Box::new(MeanPrefixes {
            mean,
            total: MeanTotal::default(),
            totals: Vec::new(),
        })),
        None if argument.data_type() == result.data_type() => {
            FloatResult::Mean.prefixes(argument.data_type())
        }
        None => None,
    }
}

struct MeanPrefixes {
    mean: Mean,
    total: MeanTotal,
    totals: Vec<MeanTotal>,
}

impl PrefixState for MeanPrefixes {
    type Value = i128;

    fn restart(&mut self) {
        self.total = MeanTotal::default();
    }

    fn add(&mut self, value: i128) -> Result<()> {
        self.total.add(value);
        Ok(())
    }

    fn record(&mut self) {
        self.totals.push(self.total);
    }

    fn take_results(&mut self) -> Result<ArrayRef> {
        let results = self.mean.array(&self.totals);
        self.totals.clear();
        results
    }
}

impl PrefixAggregate for MeanPrefixes {
    fn advance(
        &mut self,
        values: &ArrayRef,
        segments: &[PrefixSegment],
        wanted: PrefixResults,
    ) -> Result<ArrayRef> {
        advance_exact(self, values, segments, wanted)
    }
}
