//! Which aggregate functions have a state that grows along a partition: see [`super::prefixes`].

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::logical_expr::AggregateUDF;

use crate::average::{ExactAverage, mean_prefixes};
use crate::prefixes::{CountPrefixes, Extreme, PrefixAggregate, extreme_prefixes};
use crate::sum::{CheckedSum, sum_prefixes};

/// The aggregate of a function of one argument, as it is at the start of the first partition; `None` if it has no such state.
pub fn prefix_aggregate(
    function: &AggregateUDF,
    argument: &FieldRef,
    result: &FieldRef,
) -> Option<Box<dyn PrefixAggregate>> {
    let (from, to) = (argument.data_type(), result.data_type());
    let implementation = function.inner();
    if implementation.is::<CheckedSum>() {
        return sum_prefixes(from, to);
    }
    if implementation.is::<ExactAverage>() {
        return mean_prefixes(argument, result);
    }
    match function.name() {
        "count" if *to == DataType::Int64 => Some(Box::<CountPrefixes>::default()),
        "min" if from == to => extreme_prefixes(Extreme::Least, from),
        "max" if from == to => extreme_prefixes(Extreme::Greatest, from),
        _ => None,
    }
}
