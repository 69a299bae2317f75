//! Values of one shape as rows of fixed width, their strings column by column, and back.

use quire_codec::Corrupt;

use super::layout::PageSlot;
use super::read::RowPage;
use super::shape::{ExpandedColumn, RowPageShape};

/// Bytes that are copied of a field, whatever its length: no field is longer.
const COPY_BYTES: usize = 16;

/// The values of a page, taken apart.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// Expanded rows, one behind the other.
    pub(super) rows: Vec<u8>,
    /// The strings of each column.
    pub(super) columns: Vec<Vec<u8>>,
    /// What follows the strings in each value.
    pub(super) tails: Vec<u8>,
    /// The stored length of each value, less what its row and strings say.
    pub(super) surplus: Vec<u16>,
}

impl Expanded {
    /// Takes the values of `page` apart; `None` when one has not the shape.
    pub(super) fn of(page: &RowPage<'_>, shape: &RowPageShape) -> Result<Option<Self>, Corrupt> {
        let entry_count = page.slots.len();
        let mut expanded = Self::default();
        let row_bytes = shape.expanded.row_bytes();
        expanded.rows.reserve(entry_count * row_bytes);
        expanded.columns = vec![Vec::new(); shape.string_lengths().count()];
        for (slot, entry) in page.slots.iter().zip(page.entries()) {
            let (slot, value) = (PageSlot::read(slot), entry?.value);
            let start = expanded.rows.len();
            let Some(rest) = expand_row(shape, value, &mut expanded.rows) else {
                return Ok(None);
            };
            let row = expanded.rows.get(start..).unwrap_or_default();
            let Some(tail) = cut_strings(shape, row, rest, &mut expanded.columns) else {
                return Ok(None);
            };
            expanded.tails.extend_from_slice(tail);
            let told = (value.len() - tail.len()) as u16;
            expanded.surplus.push(slot.value_field().wrapping_sub(told));
        }
        Ok(Some(expanded))
    }
}

/// Appends the expanded row of a value, and returns what follows its fields.
fn expand_row<'a>(shape: &RowPageShape, value: &'a [u8], rows: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (fixed, mut rest) = value.split_at_checked(shape.fixed_bytes)?;
    rows.extend_from_slice(fixed);
    for field in &shape.field_codes {
        let length = field.length(fixed)?;
        let others = rest.get(length..)?;
        if field.width <= size_of::<u64>() {
            let word = narrow_word(rest, length, field.signed);
            push_word(word, field.width, rows);
        } else {
            let mut word = [0; COPY_BYTES];
            let bytes = rest.get(..length)?;
            if field.signed && bytes.last().is_some_and(|last| last & 0x80 != 0) {
                word = [0xFF; COPY_BYTES];
            }
            word.get_mut(..length)?.copy_from_slice(bytes);
            rows.extend_from_slice(word.get(..field.width)?);
        }
        rest = others;
    }
    Some(rest)
}

/// The number of at most 8 bytes that `rest` begins with, its sign repeated if it has one.
#[inline]
fn narrow_word(rest: &[u8], length: usize, signed: bool) -> u64 {
    let word = match rest.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => (rest.iter().rev()).fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    let unused_bits = u64::BITS - 8 * length as u32;
    match (length, signed) {
        (0, _) => 0,
        (_, true) => ((word << unused_bits) as i64 >> unused_bits) as u64,
        (_, false) => word << unused_bits >> unused_bits,
    }
}

/// Appends the low bytes of a number, which are 2, 4 or 8.
#[inline]
fn push_word(word: u64, width: usize, rows: &mut Vec<u8>) {
    match width {
        2 => rows.extend_from_slice(&(word as u16).to_le_bytes()),
        4 => rows.extend_from_slice(&(word as u32).to_le_bytes()),
        _ => rows.extend_from_slice(&word.to_le_bytes()),
    }
}

/// The number in a column of an expanded row, without sign.
pub(super) fn length_at(row: &[u8], place: ExpandedColumn) -> Option<usize> {
    let bytes = row.get(place.offset..)?.get(..place.width)?;
    let join = |length: usize, byte: &u8| length << 8 | usize::from(*byte);
    Some(bytes.iter().rev().fold(0, join))
}

/// Appends each string to its column, and returns what follows them.
fn cut_strings<'a>(
    shape: &RowPageShape,
    row: &[u8],
    mut rest: &'a [u8],
    columns: &mut [Vec<u8>],
) -> Option<&'a [u8]> {
    for (place, column) in shape.string_lengths().zip(columns) {
        let (string, others) = rest.split_at_checked(length_at(row, place)?)?;
        column.extend_from_slice(string);
        rest = others;
    }
    Some(rest)
}

/// The lengths of the strings of a column, and their sum.
pub(super) fn string_lengths(
    shape: &RowPageShape,
    rows: &[u8],
    place: ExpandedColumn,
) -> (Vec<usize>, usize) {
    let rows = rows.chunks_exact(shape.expanded.row_bytes());
    let lengths = rows.map(|row| length_at(row, place).unwrap_or(0));
    let lengths: Vec<usize> = lengths.collect();
    let bytes = lengths.iter().copied().fold(0, usize::saturating_add);
    (lengths, bytes)
}

/// Writes `bytes` behind the first `end` bytes of a buffer that grows if it must. Returns their end.
fn append(buffer: &mut Vec<u8>, end: usize, bytes: &[u8]) -> usize {
    let new_end = end + bytes.len();
    if buffer.len() < new_end {
        buffer.resize(new_end, 0);
    }
    if let Some(target) = buffer.get_mut(end..new_end) {
        target.copy_from_slice(bytes);
    }
    new_end
}

/// Puts values together again, in the order of their rows.
pub(super) struct ExpandedValues<'a> {
    shape: &'a RowPageShape,
    /// What is left of the strings of each column, and of what follows them.
    columns: Vec<&'a [u8]>,
    tails: &'a [u8],
    /// The value in its first bytes, the rest from values before.
    value: Vec<u8>,
}

fn wrong_lengths() -> Corrupt {
    Corrupt::new(
        "lengths in the columns of a row page contradict each other",
        0,
    )
}

impl<'a> ExpandedValues<'a> {
    /// From the strings of each column, and what follows them in each value.
    pub(super) fn new(shape: &'a RowPageShape, columns: Vec<&'a [u8]>, tails: &'a [u8]) -> Self {
        Self {
            shape,
            columns,
            tails,
            value: vec![0; shape.expanded.row_bytes() + COPY_BYTES],
        }
    }

    /// The value of the next row and its stored length, given what that is above what the row says. Of `rows` the row is the first;
    /// what follows it is not part of the value.
    pub(super) fn next(&mut self, rows: &[u8], surplus: u16) -> Result<(&[u8], u16), Corrupt> {
        let mut end = self.put_row(rows).ok_or_else(wrong_lengths)?;
        for (place, column) in self.shape.string_lengths().zip(&mut self.columns) {
            let length = length_at(rows, place).ok_or_else(wrong_lengths)?;
            let (string, others) = column.split_at_checked(length).ok_or_else(wrong_lengths)?;
            end = append(&mut self.value, end, string);
            *column = others;
        }
        let told = u16::try_from(end).map_err(|_| wrong_lengths())?;
        let field = told.wrapping_add(surplus);
        let (value_bytes, _) = PageSlot::split_value_field(field);
        let tail_bytes = usize::from(value_bytes).checked_sub(end);
        let parts = tail_bytes.and_then(|bytes| self.tails.split_at_checked(bytes));
        let (tail, others) = parts.ok_or_else(wrong_lengths)?;
        end = append(&mut self.value, end, tail);
        self.tails = others;
        let value = self.value.get(..end).ok_or_else(wrong_lengths)?;
        Ok((value, field))
    }

    /// Writes the fixed part and the fields of a row to the value, and tells their length. A field is copied with what follows it, in
    /// one step of a length known beforehand; the next field overwrites that.
    fn put_row(&mut self, rows: &[u8]) -> Option<usize> {
        let (fixed, mut expanded) = rows.split_at_checked(self.shape.fixed_bytes)?;
        self.value.get_mut(..fixed.len())?.copy_from_slice(fixed);
        let mut end = fixed.len();
        for field in &self.shape.field_codes {
            let length = field.length(fixed)?;
            let target = self.value.get_mut(end..)?;
            match expanded.first_chunk::<COPY_BYTES>() {
                Some(word) => *target.first_chunk_mut::<COPY_BYTES>()? = *word,
                None => target
                    .get_mut(..length)?
                    .copy_from_slice(expanded.get(..length)?),
            }
            end += length;
            expanded = expanded.get(field.width..)?;
        }
        Some(end)
    }

    /// Whether everything was used.
    pub(super) fn is_at_end(&self) -> bool {
        self.tails.is_empty() && self.columns.iter().all(|column| column.is_empty())
    }
}
