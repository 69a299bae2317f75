//! Values of one shape as rows of fixed width, their strings column by column, and back.

use quire_codec::Corrupt;

use super::layout::Slot;
use super::read::RowPage;
use super::shape::{ColumnPlace, PageShape};

/// The values of a page, taken apart.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// Expanded rows, one behind the other.
    pub(super) rows: Vec<u8>,
    /// The strings of the first column, then those of the second …, then what follows them in each value.
    pub(super) strings: Vec<u8>,
    /// The stored length of each value, less what its row and strings say.
    pub(super) surplus: Vec<u16>,
}

impl Expanded {
    /// Takes the values of `page` apart; `None` when one has not the shape.
    pub(super) fn of(page: &RowPage<'_>, shape: &PageShape) -> Result<Option<Self>, Corrupt> {
        let entry_count = page.slots.len();
        let mut expanded = Self::default();
        let row_bytes = shape.expanded.row_bytes();
        expanded.rows.reserve(entry_count * row_bytes);
        let mut columns: Vec<Vec<u8>> = vec![Vec::new(); shape.string_lengths().count()];
        let mut tails = Vec::new();
        for (slot, entry) in page.slots.iter().zip(page.entries()) {
            let (slot, value) = (Slot::read(slot), entry?.value);
            let start = expanded.rows.len();
            let Some(rest) = expand_row(shape, value, &mut expanded.rows) else {
                return Ok(None);
            };
            let row = expanded.rows.get(start..).unwrap_or_default();
            let Some(tail) = cut_strings(shape, row, rest, &mut columns) else {
                return Ok(None);
            };
            tails.extend_from_slice(tail);
            let told = (value.len() - tail.len()) as u16;
            expanded.surplus.push(slot.value_field().wrapping_sub(told));
        }
        for column in &columns {
            expanded.strings.extend_from_slice(column);
        }
        expanded.strings.extend_from_slice(&tails);
        Ok(Some(expanded))
    }
}

/// Appends the expanded row of a value, and returns what follows its fields.
fn expand_row<'a>(shape: &PageShape, value: &'a [u8], rows: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (fixed, mut rest) = value.split_at_checked(shape.fixed_bytes)?;
    rows.extend_from_slice(fixed);
    for field in &shape.field_codes {
        let (bytes, others) = rest.split_at_checked(field.length(fixed)?)?;
        let is_negative = field.signed && bytes.last().is_some_and(|last| last & 0x80 != 0);
        let mut word = [if is_negative { 0xFF } else { 0 }; 16];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        rows.extend_from_slice(word.get(..field.width)?);
        rest = others;
    }
    Some(rest)
}

/// The number in a column of an expanded row, without sign.
pub(super) fn length_at(row: &[u8], place: ColumnPlace) -> Option<usize> {
    let bytes = row.get(place.offset..)?.get(..place.width)?;
    let join = |length: usize, byte: &u8| length << 8 | usize::from(*byte);
    Some(bytes.iter().rev().fold(0, join))
}

/// Appends each string to its column, and returns what follows them.
fn cut_strings<'a>(
    shape: &PageShape,
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

/// Puts values together again, in the order of their rows.
pub(super) struct Values<'a> {
    shape: &'a PageShape,
    /// What is left of the strings of each column, and of what follows them.
    columns: Vec<&'a [u8]>,
    tails: &'a [u8],
    value: Vec<u8>,
}

fn wrong_lengths() -> Corrupt {
    Corrupt::new(
        "lengths in the columns of a row page contradict each other",
        0,
    )
}

impl<'a> Values<'a> {
    pub(super) fn new(
        shape: &'a PageShape,
        rows: &[u8],
        strings: &'a [u8],
    ) -> Result<Self, Corrupt> {
        let (mut columns, mut rest) = (Vec::new(), strings);
        for place in shape.string_lengths() {
            let rows = rows.chunks_exact(shape.expanded.row_bytes());
            let lengths = rows.map(|row| length_at(row, place).unwrap_or(0));
            let bytes = lengths.fold(0, usize::saturating_add);
            let (column, others) = rest.split_at_checked(bytes).ok_or_else(wrong_lengths)?;
            columns.push(column);
            rest = others;
        }
        Ok(Self {
            shape,
            columns,
            tails: rest,
            value: Vec::new(),
        })
    }

    /// The value of the next row and its stored length, given what that is above what the row says.
    pub(super) fn next(&mut self, row: &[u8], surplus: u16) -> Result<(&[u8], u16), Corrupt> {
        self.value.clear();
        self.push_row(row).ok_or_else(wrong_lengths)?;
        let told = u16::try_from(self.value.len()).map_err(|_| wrong_lengths())?;
        let field = told.wrapping_add(surplus);
        let (value_bytes, _) = Slot::split_value_field(field);
        let tail_bytes = usize::from(value_bytes).checked_sub(self.value.len());
        let parts = tail_bytes.and_then(|bytes| self.tails.split_at_checked(bytes));
        let (tail, others) = parts.ok_or_else(wrong_lengths)?;
        self.value.extend_from_slice(tail);
        self.tails = others;
        Ok((&self.value, field))
    }

    fn push_row(&mut self, row: &[u8]) -> Option<()> {
        let (fixed, mut expanded) = row.split_at_checked(self.shape.fixed_bytes)?;
        self.value.extend_from_slice(fixed);
        for field in &self.shape.field_codes {
            let (word, others) = expanded.split_at_checked(field.width)?;
            self.value
                .extend_from_slice(word.get(..field.length(fixed)?)?);
            expanded = others;
        }
        for (place, column) in self.shape.string_lengths().zip(&mut self.columns) {
            let (string, others) = column.split_at_checked(length_at(row, place)?)?;
            self.value.extend_from_slice(string);
            *column = others;
        }
        Some(())
    }

    /// Whether everything was used.
    pub(super) fn is_at_end(&self) -> bool {
        self.tails.is_empty() && self.columns.iter().all(|column| column.is_empty())
    }
}
