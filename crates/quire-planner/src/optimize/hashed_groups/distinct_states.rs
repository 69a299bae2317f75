//! The groups of one partition, to which each distinct value is added once.
//!
//! Two tables: one numbers the groups, the other the pairs of a group's number and a value. The keys of the groups, often several texts, are looked up in a
//! table of few entries that stays in the cache, and an entry for each pair has few words; a table of whole rows has the keys of the group
//! again for each of its values.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{take, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result};

use super::hashed_states::{HashedStates, Taken, TakenGroups};
use super::key_table::KeyTable;
use crate::optimize::packed_keys::PackedKeys;

/// Where the keys of a group and its values are among the columns of a distinct row.
#[derive(Clone, Debug)]
pub(super) struct DistinctColumns {
    keys: Vec<usize>,
    values: Vec<usize>,
    pairs: PackedKeys,
}

impl DistinctColumns {
    /// `keys` are the columns of rows of `schema` that are keys of groups. Nothing if there are no others, or none that can be packed.
    pub(super) fn new(schema: &Schema, keys: Vec<usize>) -> Option<Self> {
        let columns = 0..schema.fields().len();
        let values: Vec<usize> = columns.filter(|column| !keys.contains(column)).collect();
        let group = Arc::new(Field::new("group", DataType::UInt32, false));
        let fields = values
            .iter()
            .map(|&column| Arc::clone(&schema.fields()[column]));
        let fields: Vec<_> = std::iter::once(group).chain(fields).collect();
        let pairs = PackedKeys::new(&Schema::new(fields))?;
        (!values.is_empty()).then_some(Self {
            keys,
            values,
            pairs,
        })
    }

    pub(super) fn values(&self) -> &[usize] {
        &self.values
    }
}

pub(super) struct DistinctStates {
    columns: DistinctColumns,
    groups: HashedStates,
    pairs: KeyTable,
    /// The groups of the rows of a batch, and their pairs, whose memory is used again for the next.
    row_groups: Vec<usize>,
    row_pairs: Vec<usize>,
}

impl DistinctStates {
    pub(super) fn new(columns: DistinctColumns, groups: HashedStates) -> Self {
        Self {
            pairs: KeyTable::new(columns.pairs.clone()),
            columns,
            groups,
            row_groups: Vec::new(),
            row_pairs: Vec::new(),
        }
    }

    /// Adds those rows of a batch that there have not been before.
    pub(super) fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        self.groups.number(rows, &mut self.row_groups)?;
        let known = self.pairs.key_count();
        let groups = &self.row_groups;
        let numbers = UInt32Array::from_iter_values(groups.iter().map(|group| *group as u32));
        let values = self.columns.values.iter();
        let values = values.map(|&column| Arc::clone(rows.column(column)));
        let pairs = std::iter::once(Arc::new(numbers) as ArrayRef).chain(values);
        self.pairs
            .find(pairs.collect(), rows.num_rows(), &mut self.row_pairs)?;
        if self.pairs.key_count() - known == rows.num_rows() {
            return self.groups.add_numbered(rows, groups);
        }
        let first = first_rows(&self.row_pairs, known);
        let groups: Vec<usize> = first.iter().map(|row| groups[*row as usize]).collect();
        let rows = take_record_batch(rows, &UInt32Array::from(first))?;
        self.groups.add_numbered(&rows, &groups)
    }

    /// Reserves what both tables take by now.
    pub(super) fn reserve(&mut self) -> Result<()> {
        let (count, bytes) = (self.pairs.key_count(), self.pairs.allocated_bytes());
        self.groups.reserve_beside(count, bytes)
    }

    /// What was computed for the groups. `None` if there are none.
    pub(super) fn take(
        mut self,
        taken: Taken,
        schema: &SchemaRef,
        batch_rows: usize,
    ) -> Result<Option<TakenGroups>> {
        self.groups.take(taken, schema, batch_rows)
    }

    /// The distinct rows, as if nothing had been computed of them, in batches.
    pub(super) fn into_rows(
        mut self,
        schema: SchemaRef,
        batch_rows: usize,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>>> {
        let (group_count, pair_count) = (self.groups.group_count(), self.pairs.key_count());
        let pairs = self.pairs.take();
        let (keys, reservation) = self.groups.into_keys();
        let keys = keys.columns(0..group_count)?;
        let batch_rows = batch_rows.max(1);
        Ok((0..pair_count).step_by(batch_rows).map(move |start| {
            // Its memory is held until the last batch is taken.
            let _held = &reservation;
            let pairs = pairs.columns(start..pair_count.min(start + batch_rows))?;
            rows_of(&self.columns, &keys, &pairs, &schema)
        }))
    }
}

/// The rows in which keys come first, if so many were known before the batch.
fn first_rows(numbers: &[usize], known: usize) -> Vec<u32> {
    let mut next = known;
    let rows = (0..).zip(numbers).filter_map(|(row, number)| {
        let is_first = *number == next;
        next += usize::from(is_first);
        is_first.then_some(row)
    });
    rows.collect()
}

/// The distinct rows of some pairs, the keys of whose groups are in `keys`.
fn rows_of(
    columns: &DistinctColumns,
    keys: &[ArrayRef],
    pairs: &[ArrayRef],
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    let [groups, values @ ..] = pairs else {
        let message = "a pair has no group".to_owned();
        return Err(DataFusionError::Internal(message));
    };
    let column = |column: usize| {
        let value = columns.values.iter().position(|value| *value == column);
        if let Some(value) = value {
            return Ok(Arc::clone(&values[value]));
        }
        match columns.keys.iter().position(|key| *key == column) {
            Some(key) => Ok(take(&keys[key], groups, None)?),
            None => Err(DataFusionError::Internal(format!(
                "column {column} is lost"
            ))),
        }
    };
    let all = (0..schema.fields().len()).map(column);
    let all = all.collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(Arc::clone(schema), all)?)
}
