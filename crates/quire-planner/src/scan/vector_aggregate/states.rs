//! Groups and their totals, as batches of partial states.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{Result, exec_datafusion_err};

use super::aggregates::{GroupTotal, VectorAggregates, integer_array};
use super::key_value::{KeyValue, text_array};

/// The shape of the batches.
#[derive(Clone, Debug)]
pub(super) struct StateShape {
    /// The keys, and then the states of each aggregate.
    pub(super) schema: SchemaRef,
    pub(super) batch_rows: usize,
}

impl StateShape {
    /// About what a group takes: its keys and totals, and then their arrays.
    pub(super) fn group_bytes(key_count: usize, total_count: usize) -> usize {
        let keys = key_count * (size_of::<KeyValue>() + size_of::<i64>());
        keys + total_count * (size_of::<GroupTotal>() + 2 * size_of::<i64>())
    }

    /// The batches of groups. `keys` has each key of all groups, `totals` each total of all groups.
    pub(super) fn batches(
        &self,
        aggregates: &VectorAggregates,
        keys: &[Vec<KeyValue>],
        totals: &[Vec<GroupTotal>],
        group_count: usize,
    ) -> Result<Vec<RecordBatch>> {
        let starts = (0..group_count).step_by(self.batch_rows.max(1));
        starts
            .map(|start| {
                let end = (start + self.batch_rows.max(1)).min(group_count);
                let keys: Vec<&[KeyValue]> = keys.iter().map(|key| &key[start..end]).collect();
                let totals: Vec<&[GroupTotal]> =
                    totals.iter().map(|total| &total[start..end]).collect();
                self.batch(aggregates, &keys, &totals)
            })
            .collect()
    }

    fn batch(
        &self,
        aggregates: &VectorAggregates,
        keys: &[&[KeyValue]],
        totals: &[&[GroupTotal]],
    ) -> Result<RecordBatch> {
        let fields = self.schema.fields();
        let types: Vec<&DataType> = fields.iter().map(|field| field.data_type()).collect();
        let mut arrays = Vec::with_capacity(types.len());
        for (values, data_type) in keys.iter().zip(&types) {
            let array = key_array(data_type, values);
            arrays.push(array.ok_or_else(|| exec_datafusion_err!("no such group key"))?);
        }
        let states = types.get(keys.len()..).unwrap_or_default();
        arrays.extend(aggregates.states(totals, states)?);
        Ok(RecordBatch::try_new(
            SchemaRef::clone(&self.schema),
            arrays,
        )?)
    }
}

fn key_array(data_type: &DataType, values: &[KeyValue]) -> Option<ArrayRef> {
    match data_type {
        DataType::Utf8View => return Some(text_array(values.iter())),
        DataType::Utf8 => return cast(&text_array(values.iter()), data_type).ok(),
        DataType::Boolean => {
            let integers = key_array(&DataType::Int32, values)?;
            return cast(&integers, data_type).ok();
        }
        _ => {}
    }
    let integer = |value: &KeyValue| match value {
        KeyValue::Integer(integer) => Some(i128::from(*integer)),
        KeyValue::Text(_) | KeyValue::Null => None,
    };
    let is_integer = |value: &KeyValue| integer(value).is_some();
    let all_are = values.iter().all(is_integer);
    let nulls = (!all_are).then(|| values.iter().map(is_integer).collect());
    let integers = values.iter().map(|value| integer(value).unwrap_or(0));
    integer_array(data_type, integers.collect(), nulls)
}
