//! Which rows of the build side have a key.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{max, min};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Field, Int16Type, Int32Type, Int64Type, Schema,
};
use datafusion::common::{NullEquality, Result, exec_err};
use datafusion::physical_plan::joins::HashJoinExec;
use quire_error::interruption::Interruption;
use quire_vector::{GroupTable, KeyRanks, KeyRows, NO_KEY, RowLists};

use crate::optimize::packed_keys::{PackedKeys, in_packed_types};

/// Rows whose keys are packed at a time, so that all columns of them go through a near cache.
const PACKED_ROWS: usize = 1024;
/// Ranks of keys take no more than this,
const RANK_BYTES_MIN: usize = 64 << 10;
/// or than so much for a row of the build side, which is less than a hash table has.
const RANK_BYTES_PER_ROW: usize = 16;
/// What a hash table takes for a row at most, while it grows, beside the words of its key.
const HASHED_ROW_BYTES: usize = 48;

/// The keys of a join, by their types.
#[derive(Clone, Debug)]
pub(super) struct JoinKeys {
    packed: PackedKeys,
    /// Whether there is one key, an integer that may have a rank, and no rank for NULL is asked for.
    has_ranks: bool,
    /// Whether NULL equals NULL.
    pub(super) nulls_equal: bool,
}

impl JoinKeys {
    /// `None` for keys that are not packed.
    pub(super) fn of(join: &HashJoinExec) -> Result<Option<Self>> {
        let (left, right) = (join.left().schema(), join.right().schema());
        let mut fields = Vec::new();
        for (of_left, of_right) in join.on() {
            let data_type = of_left.data_type(&left)?;
            if of_right.data_type(&right)? != data_type {
                return Ok(None);
            }
            fields.push(Field::new("key", data_type, true));
        }
        let nulls_equal = join.null_equality() == NullEquality::NullEqualsNull;
        let is_integer = matches!(fields.as_slice(), [field] if has_ranks(field.data_type()));
        let fields = Schema::new(fields);
        let packed = match nulls_equal {
            true => PackedKeys::new(&fields),
            false => PackedKeys::of_join(&fields),
        };
        Ok(packed.map(|packed| Self {
            packed,
            has_ranks: is_integer && !nulls_equal,
            nulls_equal,
        }))
    }

    /// What an index of so many rows takes at most.
    pub(super) fn index_bytes_max(&self, row_count: usize) -> usize {
        let row_bytes = self.packed.layout().words() * size_of::<u64>() + HASHED_ROW_BYTES;
        row_count
            .saturating_mul(row_bytes)
            .saturating_add(RANK_BYTES_MIN)
    }
}

fn has_ranks(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Date32
    )
}

/// The number of each distinct key of the build side, and its rows.
pub(super) struct JoinIndex {
    keys: JoinKeys,
    numbers: KeyNumbers,
    pub(super) lists: RowLists,
    /// Distinct keys, NULL among them only where it equals NULL.
    pub(super) key_count: usize,
}

enum KeyNumbers {
    Ranks(KeyRanks),
    Groups {
        table: GroupTable,
        /// Random, so that nobody can choose keys that all have one hash.
        seed: u64,
    },
}

impl JoinIndex {
    /// The index of the keys of all rows.
    pub(super) fn new(
        keys: JoinKeys,
        values: &[ArrayRef],
        row_count: usize,
        interruption: &Interruption,
    ) -> Result<Self> {
        let values = &in_packed_types(values.to_vec())?;
        let (numbers, of_rows, key_count) = match ranks(&keys, values, row_count)? {
            Some(ranks) => {
                let mut of_rows = Vec::with_capacity(row_count);
                rank_numbers(&ranks, values[0].as_ref(), &mut of_rows)?;
                let key_count = ranks.count();
                (KeyNumbers::Ranks(ranks), of_rows, key_count)
            }
            None => {
                let seed = RandomState::new().hash_one(0);
                let (table, of_rows) = grouped(&keys, values, row_count, seed, interruption)?;
                let key_count = table.group_count();
                (KeyNumbers::Groups { table, seed }, of_rows, key_count)
            }
        };
        let lists = RowLists::new(&of_rows, key_count);
        Ok(Self {
            keys,
            numbers,
            lists,
            key_count,
        })
    }

    pub(super) fn allocated_bytes(&self) -> usize {
        let numbers = match &self.numbers {
            KeyNumbers::Ranks(ranks) => ranks.allocated_bytes(),
            KeyNumbers::Groups { table, .. } => table.allocated_bytes(),
        };
        numbers + self.lists.allocated_bytes()
    }

    /// Puts the number of the key of each row into `numbers`; [`NO_KEY`] for one that the build side does not have.
    pub(super) fn look_up(
        &self,
        values: &[ArrayRef],
        row_count: usize,
        numbers: &mut Vec<u32>,
    ) -> Result<()> {
        numbers.clear();
        numbers.reserve(row_count);
        match &self.numbers {
            KeyNumbers::Ranks(ranks) => rank_numbers(ranks, values[0].as_ref(), numbers),
            KeyNumbers::Groups { table, seed } => {
                let values = &in_packed_types(values.to_vec())?;
                let mut rows = KeyRows::new(self.keys.packed.layout());
                for_each_chunk(values, row_count, |values, count| {
                    let buffers = self.keys.packed.pack(values, count, *seed, &mut rows)?;
                    table.look_up(&rows, &buffers, numbers);
                    Ok(())
                })?;
                if !self.keys.nulls_equal {
                    without_nulls(values, numbers);
                }
                Ok(())
            }
        }
    }
}

/// The ranks of the keys, if they are integers that lie close enough together.
fn ranks(keys: &JoinKeys, values: &[ArrayRef], row_count: usize) -> Result<Option<KeyRanks>> {
    if !keys.has_ranks {
        return Ok(None);
    }
    let bytes_max = RANK_BYTES_MIN.max(row_count.saturating_mul(RANK_BYTES_PER_ROW));
    let values = values[0].as_ref();
    Ok(match values.data_type() {
        DataType::Int16 => ranks_of::<Int16Type>(values, bytes_max),
        DataType::Int32 => ranks_of::<Int32Type>(values, bytes_max),
        DataType::Int64 => ranks_of::<Int64Type>(values, bytes_max),
        DataType::Date32 => ranks_of::<Date32Type>(values, bytes_max),
        other => return exec_err!("{other} is no integer key"),
    })
}

fn ranks_of<T: ArrowPrimitiveType<Native: Into<i64>>>(
    values: &dyn Array,
    bytes_max: usize,
) -> Option<KeyRanks> {
    let values = values.as_primitive::<T>();
    let (first, last) = (min(values)?.into(), max(values)?.into());
    if KeyRanks::bytes(first, last)? > bytes_max {
        return None;
    }
    let keys = values.iter().flatten().map(Into::into);
    Some(KeyRanks::new(first, last, keys))
}

fn rank_numbers(ranks: &KeyRanks, values: &dyn Array, numbers: &mut Vec<u32>) -> Result<()> {
    match values.data_type() {
        DataType::Int16 => rank_numbers_of::<Int16Type>(ranks, values, numbers),
        DataType::Int32 => rank_numbers_of::<Int32Type>(ranks, values, numbers),
        DataType::Int64 => rank_numbers_of::<Int64Type>(ranks, values, numbers),
        DataType::Date32 => rank_numbers_of::<Date32Type>(ranks, values, numbers),
        other => return exec_err!("{other} is no integer key"),
    }
    Ok(())
}

fn rank_numbers_of<T: ArrowPrimitiveType<Native: Into<i64>>>(
    ranks: &KeyRanks,
    values: &dyn Array,
    numbers: &mut Vec<u32>,
) {
    let values = values.as_primitive::<T>();
    let keys = values.values().iter();
    let found = keys.map(|key| ranks.number((*key).into()));
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => numbers.extend(found),
        Some(nulls) => {
            let found = found.zip(nulls);
            numbers.extend(found.map(|(number, is_valid)| if is_valid { number } else { NO_KEY }));
        }
    }
}

/// The groups of rows with equal keys, and that of each row.
fn grouped(
    keys: &JoinKeys,
    values: &[ArrayRef],
    row_count: usize,
    seed: u64,
    interruption: &Interruption,
) -> Result<(GroupTable, Vec<u32>)> {
    let nulls = any_null(values).filter(|_| !keys.nulls_equal);
    let mut table = GroupTable::new(keys.packed.layout());
    let mut rows = KeyRows::new(keys.packed.layout());
    let mut numbers = Vec::with_capacity(row_count);
    let mut groups = Vec::new();
    match nulls {
        None => for_each_chunk(values, row_count, |values, count| {
            interruption.check()?;
            let buffers = keys.packed.pack(values, count, seed, &mut rows)?;
            groups.clear();
            table.find(&rows, &buffers, &mut groups);
            numbers.extend(groups.iter().map(|group| *group as u32));
            Ok(())
        })?,
        Some(nulls) => {
            // A row with a NULL has no number, and no group either: each number has a row.
            let kept = datafusion::arrow::array::BooleanArray::new(nulls.inner().clone(), None);
            let values = values
                .iter()
                .map(|values| datafusion::arrow::compute::filter(values, &kept));
            let values = values.collect::<std::result::Result<Vec<_>, _>>()?;
            let (table_of_kept, of_kept) =
                grouped(keys, &values, kept.true_count(), seed, interruption)?;
            table = table_of_kept;
            let mut of_kept = of_kept.into_iter();
            numbers.extend(nulls.iter().map(|is_valid| {
                let number = if is_valid { of_kept.next() } else { None };
                number.unwrap_or(NO_KEY)
            }));
        }
    }
    Ok((table, numbers))
}

/// Rows that have a NULL among their keys are the ones that are not valid. `None` if all are.
fn any_null(values: &[ArrayRef]) -> Option<NullBuffer> {
    let nulls = values.iter().fold(None, |all: Option<NullBuffer>, values| {
        NullBuffer::union(all.as_ref(), values.logical_nulls().as_ref())
    });
    nulls.filter(|nulls| nulls.null_count() > 0)
}

fn without_nulls(values: &[ArrayRef], numbers: &mut [u32]) {
    if let Some(nulls) = any_null(values) {
        for (number, is_valid) in numbers.iter_mut().zip(&nulls) {
            if !is_valid {
                *number = NO_KEY;
            }
        }
    }
}

fn for_each_chunk(
    values: &[ArrayRef],
    row_count: usize,
    mut f: impl FnMut(&[ArrayRef], usize) -> Result<()>,
) -> Result<()> {
    for start in (0..row_count).step_by(PACKED_ROWS) {
        let count = PACKED_ROWS.min(row_count - start);
        let chunk = values.iter().map(|values| values.slice(start, count));
        f(&chunk.collect::<Vec<_>>(), count)?;
    }
    Ok(())
}
