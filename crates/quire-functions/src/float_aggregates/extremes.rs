//! The least and greatest float of each group.

use std::fmt::Debug;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray,
};
use datafusion::arrow::datatypes::{Float32Type, Float64Type};
use datafusion::common::Result;

use crate::group_states::{passes, states_of_rows};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

/// Which value of a group is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FloatExtreme {
    Least,
    Greatest,
}

/// One value per group, none of a group without values. The argument is a key of floats, so the total order of IEEE 754 is that of SQL.
#[derive(Debug)]
pub(super) struct GroupedExtremes<T: ArrowPrimitiveType> {
    extreme: FloatExtreme,
    kept: Vec<Option<T::Native>>,
}

impl GroupedExtremes<Float64Type> {
    pub(super) fn of_doubles(extreme: FloatExtreme) -> Self {
        let kept = Vec::new();
        Self { extreme, kept }
    }
}

impl GroupedExtremes<Float32Type> {
    pub(super) fn of_reals(extreme: FloatExtreme) -> Self {
        let kept = Vec::new();
        Self { extreme, kept }
    }
}

impl<T: ArrowPrimitiveType> GroupedExtremes<T> {
    fn keep(&mut self, group: usize, value: T::Native) {
        let kept = &mut self.kept[group];
        let is_wanted = kept.is_none_or(|kept| match self.extreme {
            FloatExtreme::Least => value.is_lt(kept),
            FloatExtreme::Greatest => value.is_gt(kept),
        });
        if is_wanted {
            *kept = Some(value);
        }
    }
}

impl<T: ArrowPrimitiveType + Debug> GroupsAccumulator for GroupedExtremes<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.kept.resize(total_num_groups, None);
        let values = values[0].as_primitive::<T>();
        for (row, value) in values.iter().enumerate() {
            if let (Some(value), true) = (value, passes(opt_filter, row)) {
                self.keep(group_indices[row], value);
            }
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let kept = emit_to.take_needed(&mut self.kept);
        Ok(Arc::new(kept.into_iter().collect::<PrimitiveArray<T>>()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit_to)?])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let empty = Self {
            extreme: self.extreme,
            kept: Vec::new(),
        };
        states_of_rows(empty, values, opt_filter)
    }

    fn size(&self) -> usize {
        self.kept.capacity() * size_of::<Option<T::Native>>()
    }
}
