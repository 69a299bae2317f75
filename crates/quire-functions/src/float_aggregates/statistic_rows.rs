//! The accumulators of statistics: of a whole input, and of groups.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use super::moments::Moments;
use super::statistic::Statistic;
use crate::group_states::{passes, states_of_rows};

/// How moments travel.
pub(super) fn state_fields(name: &str) -> Vec<FieldRef> {
    let parts = (0..Moments::WIDTH).map(|part| {
        let name = format_state_name(name, &format!("moment {part}"));
        Arc::new(Field::new(name, DataType::Float64, true))
    });
    parts.collect()
}

/// Calls `visit` with the row and values, y before x, of every row without NULL.
fn for_each_row(
    values: &[ArrayRef],
    mut visit: impl FnMut(usize, &[f64]) -> Result<()>,
) -> Result<()> {
    let columns = values.iter();
    let columns = columns.map(|column| Ok(cast(column, &DataType::Float64)?));
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let columns = columns.iter();
    let columns: Vec<&Float64Array> = columns
        .map(|column| column.as_primitive::<Float64Type>())
        .collect();
    let row_count = columns.first().map_or(0, |column| column.len());
    let mut row_values = vec![0.0; columns.len()];
    for row in 0..row_count {
        if columns.iter().any(|column| column.is_null(row)) {
            continue;
        }
        for (value, column) in row_values.iter_mut().zip(&columns) {
            *value = column.value(row);
        }
        visit(row, &row_values)?;
    }
    Ok(())
}

impl Moments {
    fn add_row(&mut self, values: &[f64]) -> Result<()> {
        match values {
            [value] => self.add(*value),
            [y, x] => self.add_pair(*x, *y),
            _ => exec_err!("statistics have one or two arguments"),
        }
    }

    /// Calls `visit` with the row and moments of states.
    fn for_each_state(
        states: &[ArrayRef],
        mut visit: impl FnMut(usize, Self) -> Result<()>,
    ) -> Result<()> {
        let row_count = states.first().map_or(0, |state| state.len());
        for row in 0..row_count {
            let mut parts = [0.0; Self::WIDTH];
            for (part, state) in parts.iter_mut().zip(states) {
                *part = state.as_primitive::<Float64Type>().value(row);
            }
            visit(row, Self::of_parts(parts))?;
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct RunningMoments {
    statistic: Statistic,
    moments: Moments,
}

impl RunningMoments {
    pub(super) fn new(statistic: Statistic) -> Self {
        let moments = Moments::default();
        Self { statistic, moments }
    }
}

impl Accumulator for RunningMoments {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for_each_row(values, |_, values| self.moments.add_row(values))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        Moments::for_each_state(states, |_, moments| self.moments.merge(moments))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let parts = self.moments.parts();
        Ok(parts.map(|part| ScalarValue::Float64(Some(part))).to_vec())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.statistic.value(self.moments)))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

#[derive(Debug)]
pub(super) struct GroupedMoments {
    statistic: Statistic,
    moments: Vec<Moments>,
}

impl GroupedMoments {
    pub(super) fn new(statistic: Statistic) -> Self {
        let moments = Vec::new();
        Self { statistic, moments }
    }
}

impl GroupsAccumulator for GroupedMoments {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.moments.resize(total_num_groups, Moments::default());
        for_each_row(values, |row, values| {
            if passes(opt_filter, row) {
                self.moments[group_indices[row]].add_row(values)
            } else {
                Ok(())
            }
        })
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.moments.resize(total_num_groups, Moments::default());
        Moments::for_each_state(values, |row, moments| {
            self.moments[group_indices[row]].merge(moments)
        })
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let moments = emit_to.take_needed(&mut self.moments);
        let values = moments.iter();
        let values = values.map(|moments| self.statistic.value(*moments));
        Ok(Arc::new(values.collect::<Float64Array>()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let moments = emit_to.take_needed(&mut self.moments);
        let column = |part: usize| {
            let values = moments.iter().map(|moments| moments.parts()[part]);
            Arc::new(Float64Array::from_iter_values(values)) as ArrayRef
        };
        Ok((0..Moments::WIDTH).map(column).collect())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let empty = Self::new(self.statistic);
        states_of_rows(empty, values, opt_filter)
    }

    fn size(&self) -> usize {
        self.moments.capacity() * size_of::<Moments>()
    }
}
