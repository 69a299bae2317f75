//! Numbers of values that are not NULL.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::common::Result;

use super::{PrefixAggregate, PrefixResults, PrefixSegment, PrefixState, advance};

#[derive(Debug, Default)]
pub(crate) struct CountPrefixes {
    count: i64,
    results: Vec<i64>,
}

impl PrefixState for CountPrefixes {
    type Value = ();

    fn restart(&mut self) {
        self.count = 0;
    }

    fn add(&mut self, _: ()) -> Result<()> {
        self.count += 1;
        Ok(())
    }

    fn record(&mut self) {
        self.results.push(self.count);
    }

    fn take_results(&mut self) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results);
        Ok(Arc::new(Int64Array::from(results)))
    }
}

impl PrefixAggregate for CountPrefixes {
    fn advance(
        &mut self,
        values: &ArrayRef,
        segments: &[PrefixSegment],
        wanted: PrefixResults,
    ) -> Result<ArrayRef> {
        let nulls = values.logical_nulls();
        advance(self, nulls.as_ref(), |_| (), segments, wanted)
    }
}
