//! Least and greatest values of types whose values have one order. Floats are not among them: NaN and the zeros have an order of their own.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, AsArray, PrimitiveArray,
};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::Result;

use super::{PrefixAggregate, PrefixResults, PrefixSegment, PrefixState, advance};

/// Which value is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extreme {
    Least,
    Greatest,
}

/// The extremes of values of a type; `None` if it is none of these types.
pub(crate) fn extreme_prefixes(
    extreme: Extreme,
    data_type: &DataType,
) -> Option<Box<dyn PrefixAggregate>> {
    Some(match data_type {
        DataType::Int16 => ExtremePrefixes::<Int16Type>::boxed(extreme, data_type),
        DataType::Int32 => ExtremePrefixes::<Int32Type>::boxed(extreme, data_type),
        DataType::Int64 => ExtremePrefixes::<Int64Type>::boxed(extreme, data_type),
        DataType::Decimal128(..) => ExtremePrefixes::<Decimal128Type>::boxed(extreme, data_type),
        DataType::Date32 => ExtremePrefixes::<Date32Type>::boxed(extreme, data_type),
        DataType::Time64(TimeUnit::Microsecond) => {
            ExtremePrefixes::<Time64MicrosecondType>::boxed(extreme, data_type)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            ExtremePrefixes::<TimestampMicrosecondType>::boxed(extreme, data_type)
        }
        _ => return None,
    })
}

struct ExtremePrefixes<T: ArrowPrimitiveType> {
    extreme: Extreme,
    /// Precision and time zone are those of the argument.
    data_type: DataType,
    kept: Option<T::Native>,
    results: Vec<Option<T::Native>>,
}

impl<T: ArrowPrimitiveType> ExtremePrefixes<T> {
    fn boxed(extreme: Extreme, data_type: &DataType) -> Box<dyn PrefixAggregate> {
        Box::new(Self {
            extreme,
            data_type: data_type.clone(),
            kept: None,
            results: Vec::new(),
        })
    }
}

impl<T: ArrowPrimitiveType> PrefixState for ExtremePrefixes<T> {
    type Value = T::Native;

    fn restart(&mut self) {
        self.kept = None;
    }

    fn add(&mut self, value: T::Native) -> Result<()> {
        let is_wanted = self.kept.is_none_or(|kept| match self.extreme {
            Extreme::Least => value.is_lt(kept),
            Extreme::Greatest => value.is_gt(kept),
        });
        if is_wanted {
            self.kept = Some(value);
        }
        Ok(())
    }

    fn record(&mut self) {
        self.results.push(self.kept);
    }

    fn take_results(&mut self) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results).into_iter();
        let results = results.collect::<PrimitiveArray<T>>();
        Ok(Arc::new(results.with_data_type(self.data_type.clone())))
    }
}

impl<T: ArrowPrimitiveType> PrefixAggregate for ExtremePrefixes<T> {
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
