//! Sums and means of floats, added up one by one in the type of the argument, as PostgreSQL does.
//!
//! DataFusion adds several values at a time, so that the last digit is another one, and REALs as doubles. A sum of finite values that
//! is not finite is an error, 22003.

mod groups;
mod prefixes;
mod running;
mod total;

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, GroupsAccumulator};

use self::groups::GroupedTotals;
use self::prefixes::TotalPrefixes;
use self::running::{DistinctTotal, RunningTotal};
use super::prefixes::PrefixAggregate;

pub(super) use self::total::{FloatResult, SummableFloat, added, overflow};

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

    /// The totals along partitions; `None` of what are no floats.
    pub(super) fn prefixes(self, argument: &DataType) -> Option<Box<dyn PrefixAggregate>> {
        Some(match argument {
            DataType::Float32 => Box::new(TotalPrefixes::<Float32Type>::new(self)),
            DataType::Float64 => Box::new(TotalPrefixes::<Float64Type>::new(self)),
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
}
