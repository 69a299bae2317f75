//! Strings of fixed width: the paper's uncompressed `CHAR(n)`, which takes n bytes of part 3 (§3.3.1).
//!
//! A string has its blanks there, up to the width; they are not part of it. What this would not give back as it was, or has no
//! room (a string of n characters may have more bytes), is behind part 5 with its length in 4 bytes in front. Its field has FF, with
//! which no UTF-8 begins, and zeros then.

use quire_codec::Corrupt;

use super::decode::{bits, cut_short, no_column};
use super::encode::set_bit;
use super::section::{PaddedColumn, Section};
use super::value::TupleValue;

/// The first byte of a field whose string is behind part 5.
const BEHIND: u8 = 0xFF;
const BLANK: u8 = b' ';
const LENGTH_BYTES: usize = 4;

/// What a field holds.
enum PaddedField<'a> {
    Null,
    Here(&'a [u8]),
    Behind,
}

impl PaddedColumn {
    fn has_room(&self, string: &[u8]) -> bool {
        string.len() <= self.bytes
            && string.first() != Some(&BEHIND)
            && string.last() != Some(&BLANK)
    }

    /// Bytes that `value` has behind part 5.
    pub(super) fn bytes_behind(&self, value: TupleValue<'_>) -> usize {
        match value {
            TupleValue::Bytes(string) if !self.has_room(string) => LENGTH_BYTES + string.len(),
            _ => 0,
        }
    }

    /// Writes what parts 1 and 3 have of a value.
    pub(super) fn set(&self, head: &mut [u8], value: TupleValue<'_>) {
        let TupleValue::Bytes(string) = value else {
            if let Some(bit) = self.null_bit {
                set_bit(head, bit);
            }
            return;
        };
        let field = head.get_mut(self.offset..self.offset + self.bytes);
        let field = field.unwrap_or_default();
        if self.has_room(string) {
            let padded = string.iter().chain(std::iter::repeat(&BLANK));
            for (target, byte) in field.iter_mut().zip(padded) {
                *target = *byte;
            }
        } else if let Some(first) = field.first_mut() {
            *first = BEHIND;
        }
    }

    /// Appends what is behind part 5.
    pub(super) fn append(&self, value: TupleValue<'_>, tuple: &mut Vec<u8>) {
        if let TupleValue::Bytes(string) = value
            && !self.has_room(string)
        {
            tuple.extend_from_slice(&(string.len() as u32).to_le_bytes());
            tuple.extend_from_slice(string);
        }
    }

    #[inline]
    fn read<'a>(&self, tuple: &'a [u8]) -> Result<PaddedField<'a>, Corrupt> {
        if self.null_bit.is_some_and(|bit| bits(tuple, bit, 1) != 0) {
            return Ok(PaddedField::Null);
        }
        let field = tuple.get(self.offset..self.offset + self.bytes);
        let field = field.ok_or_else(|| cut_short(tuple.len()))?;
        match field {
            [BEHIND, zeros @ ..] if zeros.iter().all(|byte| *byte == 0) => Ok(PaddedField::Behind),
            [BEHIND, ..] => Err(Corrupt::new("a padded string begins with FF", self.offset)),
            _ => {
                let last = field.iter().rposition(|byte| *byte != BLANK);
                let string = field.get(..last.map_or(0, |last| last + 1));
                Ok(PaddedField::Here(string.unwrap_or_default()))
            }
        }
    }
}

/// The string at `start`, behind its length.
fn string_at(tuple: &[u8], start: usize) -> Result<&[u8], Corrupt> {
    let found = tuple.get(start..).and_then(|rest| {
        let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>()?;
        rest.get(..u32::from_le_bytes(*length) as usize)
    });
    found.ok_or_else(|| cut_short(tuple.len()))
}

impl Section {
    /// Where the strings behind part 5 of the first `count` padded columns end.
    pub(super) fn padded_end(&self, tuple: &[u8], count: usize) -> Result<usize, Corrupt> {
        let mut end = self.texts_end(tuple, self.texts.len())?;
        for padded in self.padded.iter().take(count) {
            if let PaddedField::Behind = padded.read(tuple)? {
                end += LENGTH_BYTES + string_at(tuple, end)?.len();
            }
        }
        Ok(end)
    }

    #[inline]
    pub(super) fn padded_value<'a>(
        &self,
        tuple: &'a [u8],
        number: usize,
    ) -> Result<TupleValue<'a>, Corrupt> {
        let Some(padded) = self.padded.get(number) else {
            return Err(no_column(number, self.padded.len()));
        };
        Ok(match padded.read(self.head(tuple)?)? {
            PaddedField::Null => TupleValue::Null,
            PaddedField::Here(string) => TupleValue::Bytes(string),
            PaddedField::Behind => {
                let start = self.padded_end(tuple, number)?;
                TupleValue::Bytes(string_at(tuple, start)?)
            }
        })
    }

    /// Writes the values of padded columns to `values`; part 5 ends at `end`. Returns the end of what is behind it.
    pub(super) fn decode_padded<'a>(
        &self,
        tuple: &'a [u8],
        mut end: usize,
        values: &mut [TupleValue<'a>],
    ) -> Result<usize, Corrupt> {
        for padded in &self.padded {
            let Some(value) = values.get_mut(padded.column) else {
                return Err(no_column(padded.column, values.len()));
            };
            *value = match padded.read(tuple)? {
                PaddedField::Null => TupleValue::Null,
                PaddedField::Here(string) => TupleValue::Bytes(string),
                PaddedField::Behind => {
                    let string = string_at(tuple, end)?;
                    end += LENGTH_BYTES + string.len();
                    TupleValue::Bytes(string)
                }
            };
        }
        Ok(end)
    }
}
