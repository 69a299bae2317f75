//! Which columns of a row table have few enough values to be stored as codes (paper 1 §3.2.3).
//!
//! The paper gives a dictionary to columns that are known to have few values. Here a sample says what they are: the most frequent
//! values get codes of so many bits that the bytes of all rows become fewest, and values without a code are stored as
//! they would be without a dictionary. So the choice may be wrong for rows that come later, and they cost a few bits then.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use quire_codec::CodecScalar;
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue};

use crate::definition::{ColumnDefinition, ColumnDictionary};
use crate::row_table::{ColumnArray, fit, tuple_type};
use crate::types::SqlType;

/// Most bits of a code that is chosen: 4,095 values.
const CODE_BITS_MAX: u32 = 12;

/// Most bytes of the values of a dictionary: they are in the catalog page.
const ENTRY_BYTES_MAX: usize = 32 << 10;

/// Longest value that gets a code.
const VALUE_BYTES_MAX: usize = 255;

/// Bits that a dictionary must save in the average row.
const GAIN_BITS_MIN: f64 = 2.0;

/// A dictionary for a column, and what it is good for.
pub(super) struct ChosenDictionary {
    pub(super) dictionary: ColumnDictionary,
    /// What the catalog keeps.
    pub(super) entry_bytes: usize,
    /// Bits that the average row is shorter.
    pub(super) gain_bits: f64,
}

fn entry_bytes(dictionary: &ColumnDictionary) -> usize {
    let bytes = |entry: &CodecScalar| match entry {
        CodecScalar::Bytes(bytes) => bytes.len() + 1,
        _ => 16,
    };
    dictionary.entries.iter().map(bytes).sum()
}

/// A value, how often it was met after the first time, and the bytes that it takes null-suppressed.
struct ValueFrequency<'a> {
    value: TupleValue<'a>,
    again: usize,
    bytes: usize,
}

impl ValueFrequency<'_> {
    /// Bits that a code saves in all rows of the sample. A value that was met once says nothing of the rows to come.
    fn saved_bits(&self) -> usize {
        8 * self.bytes * self.again
    }

    fn entry_bytes(&self) -> usize {
        match self.value {
            TupleValue::Bytes(bytes) => bytes.len() + 1,
            _ => 16,
        }
    }
}

/// The dictionary with which the column's part of the tuples is smallest, if one makes it smaller. Its entries take at most
/// `left_bytes`.
pub(super) fn best(
    column: &ColumnDefinition,
    sample: &[RecordBatch],
    position: usize,
    left_bytes: usize,
) -> Option<ChosenDictionary> {
    let column_type = tuple_type(column.sql_type);
    if matches!(
        column_type,
        TupleType::Bool | TupleType::Float32 | TupleType::Bytes
    ) {
        return None;
    }
    let met = met(column.sql_type, sample, position)?;
    let row_count: usize = sample.iter().map(RecordBatch::num_rows).sum();
    let (code_bits, gain_bits) = code_bits(column.stores_null, &met, row_count, left_bytes)?;
    let entries = met.iter().take((1 << code_bits) - 1);
    let entries = entries.filter_map(|one| scalar(column.sql_type, one.value));
    let dictionary = ColumnDictionary {
        code_bits: code_bits as u8,
        entries: entries.collect(),
    };
    Some(ChosenDictionary {
        entry_bytes: entry_bytes(&dictionary),
        dictionary,
        gain_bits,
    })
}

/// The values of a column that may get codes, those first that save most; `None` when they cannot be counted.
fn met(
    sql_type: SqlType,
    sample: &[RecordBatch],
    position: usize,
) -> Option<Vec<ValueFrequency<'_>>> {
    let layout = TupleLayout::new(&[TupleColumn {
        column_type: tuple_type(sql_type),
        nullable: true,
        compression: TupleCompression::NullSuppressed,
    }]);
    let layout = layout.ok()?;
    let bytes_of = |value: TupleValue<'_>| layout.encoded_bytes(&[value]).ok();
    let empty_bytes = bytes_of(TupleValue::Null)?;
    let mut numbers: HashMap<Exact<'_>, usize> = HashMap::new();
    let mut met: Vec<ValueFrequency<'_>> = Vec::new();
    for batch in sample {
        let array = ColumnArray::new(sql_type, batch.columns().get(position)?.as_ref())?;
        for row in 0..batch.num_rows() {
            // As rows have it: without trailing blanks, for example. What does not fit will be refused.
            let Ok(value) = fit(sql_type, array.value(row)) else {
                continue;
            };
            let Some(exact) = exact(value) else {
                continue;
            };
            let number = *numbers.entry(exact).or_insert_with(|| {
                let bytes = bytes_of(value).unwrap_or(empty_bytes) - empty_bytes;
                met.push(ValueFrequency {
                    value,
                    again: 0,
                    bytes,
                });
                met.len() - 1
            });
            met[number].again += 1;
        }
    }
    met.iter_mut().for_each(|one| one.again -= 1);
    met.retain(|one| one.again > 0 && one.entry_bytes() <= VALUE_BYTES_MAX);
    // What saves as much keeps the order in which it was met, so that the same rows choose the same.
    met.sort_by_key(|one| std::cmp::Reverse(one.saved_bits()));
    Some(met)
}

/// A value by which equal ones are found; floats by their bits. NULL has none.
#[derive(PartialEq, Eq, Hash)]
enum Exact<'a> {
    Number(i128),
    Bytes(&'a [u8]),
}

fn exact(value: TupleValue<'_>) -> Option<Exact<'_>> {
    Some(match value {
        TupleValue::Null | TupleValue::Bool(_) => return None,
        TupleValue::Integer(value) => Exact::Number(i128::from(value)),
        TupleValue::Wide(value) => Exact::Number(value),
        TupleValue::Float32(value) => Exact::Number(i128::from(value.to_bits())),
        TupleValue::Float64(value) => Exact::Number(i128::from(value.to_bits())),
        TupleValue::Bytes(bytes) => Exact::Bytes(bytes),
        // Rows to come have none.
        TupleValue::Coded(_) => return None,
    })
}

/// Bits of the codes with which the sample takes fewest bits, and those that the average row saves; `None` when it takes fewest
/// without.
fn code_bits(
    nullable: bool,
    met: &[ValueFrequency<'_>],
    row_count: usize,
    left_bytes: usize,
) -> Option<(u32, f64)> {
    let room_bytes = left_bytes.min(ENTRY_BYTES_MAX);
    let mut best: Option<(u32, f64)> = None;
    // One bit of the length code says whether there is a value besides the code.
    let length_bit = f64::from(u8::from(!nullable));
    for bits in 1..=CODE_BITS_MAX {
        let coded = met.iter().take((1 << bits) - 1);
        let entry_bytes: usize = coded.clone().map(ValueFrequency::entry_bytes).sum();
        if entry_bytes > room_bytes {
            break;
        }
        let saved_bits: usize = coded.map(ValueFrequency::saved_bits).sum();
        let gain = saved_bits as f64 / row_count.max(1) as f64 - f64::from(bits) - length_bit;
        if best.is_none_or(|(_, known)| gain > known) {
            best = Some((bits, gain));
        }
        if met.len() < 1 << bits {
            break;
        }
    }
    best.filter(|(_, gain)| *gain >= GAIN_BITS_MIN)
}

fn scalar(sql_type: SqlType, value: TupleValue<'_>) -> Option<CodecScalar> {
    Some(match (value, sql_type) {
        (TupleValue::Integer(value), SqlType::SmallInt) => CodecScalar::Int16(value as i16),
        (TupleValue::Integer(value), SqlType::Integer | SqlType::Date) => {
            CodecScalar::Int32(value as i32)
        }
        (TupleValue::Integer(value), _) => CodecScalar::Int64(value),
        (TupleValue::Wide(value), _)
            if sql_type.physical_type() == quire_codec::PhysicalType::Int64 =>
        {
            CodecScalar::Int64(i64::try_from(value).ok()?)
        }
        (TupleValue::Wide(value), _) => CodecScalar::Int128(value),
        (TupleValue::Float64(value), _) => CodecScalar::Float64(value),
        (TupleValue::Bytes(bytes), _) => CodecScalar::Bytes(bytes.to_vec()),
        (
            TupleValue::Null | TupleValue::Bool(_) | TupleValue::Float32(_) | TupleValue::Coded(_),
            _,
        ) => return None,
    })
}
