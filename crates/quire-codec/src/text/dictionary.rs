//! Distinct strings once, in ascending order, and a code per row.
//!
//! Layout: `u32` number of distinct values; a section ([`super::section`]) with their lengths
//! ([`super::packed`]) and then their bytes; the codes, a sequence of 32-bit integers
//! ([`crate::int::sequence`]), so that sorted or skewed codes take less than their width. Ascending order of
//! values is checked when the payload is opened, so that a comparison of values may become one of codes.

use super::dictionary_values::{DictionaryValues, SHORT_BYTES_MAX, raw_section};
use super::interner::Interner;
use super::lengths::end_row;
use super::{DATA_BYTES_MAX, PayloadImage, section};
use crate::fixed::clear_beyond;
use crate::int::Element;
use crate::int::sequence::{self, Sequence};
use crate::kernel::select;
use crate::{BytesSlice, BytesVector, Corrupt, ROWS_MAX, RowMask, VECTOR_VALUES, vector_rows};
use std::ops::{Bound, Range};
use std::sync::Arc;

/// Distinct values ascending, and the code of each row.
fn distinct<'a>(values: &BytesSlice<'a>) -> (Vec<&'a [u8]>, Vec<i32>) {
    let mut interner = Interner::new();
    let intern = |value| interner.intern(value) as i32;
    let mut codes: Vec<i32> = values.iter().map(intern).collect();
    let seen = interner.values();
    let mut order: Vec<u32> = (0..seen.len() as u32).collect();
    order.sort_unstable_by_key(|number| seen[*number as usize]);
    let mut rank = vec![0i32; order.len()];
    for (code, number) in order.iter().enumerate() {
        rank[*number as usize] = code as i32;
    }
    for code in &mut codes {
        *code = rank[*code as usize];
    }
    (
        order.iter().map(|number| seen[*number as usize]).collect(),
        codes,
    )
}

pub(super) fn append_section(ascending: &[&[u8]], payload: &mut Vec<u8>) {
    section::write(&raw_section(ascending), payload);
}

pub(super) fn encode(values: &BytesSlice) -> Vec<u8> {
    let (dictionary, codes) = distinct(values);
    let mut payload = Vec::new();
    append_coded(&dictionary, &codes, &mut payload);
    payload
}

/// Appends the payload of rows with these codes of strings that ascend.
pub(super) fn append_coded(ascending: &[&[u8]], codes: &[i32], payload: &mut Vec<u8>) {
    payload.extend_from_slice(&(ascending.len() as u32).to_le_bytes());
    append_section(ascending, payload);
    sequence::append(codes, payload);
}

/// Rows whose codes tell how large those of all are.
const CODE_SAMPLE_ROWS: usize = 2 * VECTOR_VALUES;

/// Size of a payload of `values`, of which these are the distinct ones, or most, in any order: extrapolated from
/// the codes of two vectors if there are more.
pub(super) fn estimated_bytes(distinct: &[&[u8]], values: &BytesSlice) -> usize {
    let mut ascending = distinct.to_vec();
    ascending.sort_unstable();
    let mut section = Vec::new();
    append_section(&ascending, &mut section);
    let vectors = values.len().div_ceil(VECTOR_VALUES);
    let (first, second) = match values.len() {
        0..=CODE_SAMPLE_ROWS => (0..values.len(), 0..0),
        _ => [1, 2]
            .map(|third| vectors * third / 3 * VECTOR_VALUES)
            .map(|start| start..values.len().min(start + VECTOR_VALUES))
            .into(),
    };
    let code = |value: &[u8]| match ascending.binary_search(&value) {
        Ok(code) | Err(code) => code as i32,
    };
    let sample = values
        .slice(first)
        .iter()
        .chain(values.slice(second).iter());
    let codes: Vec<i32> = sample.map(code).collect();
    let scale = values.len() as f64 / codes.len().max(1) as f64;
    4 + section.len() + (sequence::encoded_bytes(&codes) as f64 * scale) as usize
}

/// Codes of a vector that are read one by one in less time than all are decoded, of 4 bytes as PFOR has them, and then compared with the number of values.
const FEW_CODES: usize = 8;

#[derive(Debug)]
pub(super) struct TextDictionaryDecoder {
    values: Arc<DictionaryValues>,
    codes: Sequence<i32>,
    offset: usize,
}

impl TextDictionaryDecoder {
    pub(super) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let offset = cursor.position();
        let distinct = cursor.u32("number of distinct values")? as usize;
        if distinct > row_count.min(ROWS_MAX) {
            return Err(Corrupt::new("more distinct values than rows", offset));
        }
        let values = DictionaryValues::read(&mut cursor, distinct, "dictionary")?;
        let rest = cursor.take(cursor.remaining(), "codes")?;
        Self::of_values(payload, Arc::new(values), rest, row_count)
    }

    /// Of codes at `codes` in the image, which stand for `values`.
    pub(super) fn of_values(
        payload: &PayloadImage,
        values: Arc<DictionaryValues>,
        codes: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        Ok(Self {
            values,
            codes: Sequence::open(payload.image.clone(), codes, row_count)?,
            offset: payload.range.start,
        })
    }

    pub(super) fn values(&self) -> &Arc<DictionaryValues> {
        &self.values
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn get(&self, code: u32) -> Option<&[u8]> {
        self.values.get(code)
    }

    fn bad_code(&self, code: u32) -> Corrupt {
        Corrupt::new(
            format!("code {code} of {} in the dictionary", self.len()),
            self.offset,
        )
    }

    pub(super) fn decode_codes(
        &self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        if vector >= self.codes.len().div_ceil(VECTOR_VALUES) {
            return Ok(0);
        }
        let rows = self.codes.decode_vector(vector, bytemuck::cast_mut(out))?;
        let highest = out[..rows].iter().copied().max();
        match highest {
            Some(code) if code as usize >= self.len() => Err(self.bad_code(code)),
            _ => Ok(rows),
        }
    }

    /// The codes of the values between two bounds; `None` if these need not be neighbours.
    pub(super) fn code_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Option<Range<u32>> {
        if !self.values.ascends {
            return None;
        }
        let values = self.values.strings.as_slice();
        // How many values satisfy what those up to some code satisfy.
        let count = |holds: &dyn Fn(&[u8]) -> bool| {
            let (mut low, mut high) = (0, values.len());
            while low < high {
                let middle = (low + high) / 2;
                if holds(values.get(middle)) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            low as u32
        };
        let first = match low {
            Bound::Included(bound) => count(&|value| value < bound),
            Bound::Excluded(bound) => count(&|value| value <= bound),
            Bound::Unbounded => 0,
        };
        let end = match high {
            Bound::Included(bound) => count(&|value| value <= bound),
            Bound::Excluded(bound) => count(&|value| value < bound),
            Bound::Unbounded => values.len() as u32,
        };
        Some(first..end.max(first))
    }

    /// Marks the rows of a vector whose codes have their bit set in `wanted`, and returns its rows.
    pub(super) fn select_codes(
        &self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        let mut codes = [0; VECTOR_VALUES];
        let rows = self.decode_codes(vector, &mut codes)?;
        *mask = select::select_codes(&codes, wanted);
        clear_beyond(rows, mask);
        Ok(rows)
    }

    /// Marks the rows of a vector whose codes lie in `range`, packed as they are where that can be, and returns its
    /// rows.
    pub(super) fn select_code_range(
        &self,
        vector: usize,
        range: Range<u32>,
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        let rows = vector_rows(self.codes.len(), vector);
        let end = range.end.min(self.len() as u32);
        if range.start >= end || rows == 0 {
            *mask = [0; 16];
            return Ok(rows);
        }
        let (first, last) = (range.start as i32, (end - 1) as i32);
        if !self.codes.select(vector, first, last, mask)? {
            let mut codes = [0; VECTOR_VALUES];
            self.decode_codes(vector, &mut codes)?;
            *mask = Element::select(bytemuck::cast_ref(&codes), first, last);
        }
        clear_beyond(rows, mask);
        Ok(rows)
    }

    pub(super) fn decode_vector(
        &self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let mut codes = [0u32; VECTOR_VALUES];
        let rows = self.decode_codes(vector, &mut codes)?;
        self.append_codes(&codes[..rows], out)?;
        Ok(rows)
    }

    /// Appends the values of codes.
    pub(super) fn append_codes(&self, codes: &[u32], out: &mut BytesVector) -> Result<(), Corrupt> {
        let bytes = codes
            .iter()
            .map(|code| self.get(*code).map_or(0, <[u8]>::len))
            .sum::<usize>();
        if bytes > DATA_BYTES_MAX || out.data.len() + bytes > u32::MAX as usize {
            return Err(Corrupt::new("strings of a vector pass 1 GiB", self.offset));
        }
        match self.values.longest {
            0..=16 => self.append_short::<16>(codes, bytes, out),
            17..=SHORT_BYTES_MAX => self.append_short::<SHORT_BYTES_MAX>(codes, bytes, out),
            _ => codes
                .iter()
                .try_for_each(|&code| out.push(self.get(code).ok_or_else(|| self.bad_code(code))?)),
        }
    }

    /// Appends values of at most `WIDTH` bytes by copying `WIDTH` bytes each: the next value overwrites
    /// what was too much.
    fn append_short<const WIDTH: usize>(
        &self,
        codes: &[u32],
        bytes: usize,
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        let mut end = out.data.len();
        let final_end = end + bytes;
        out.data.resize(final_end + WIDTH, 0);
        out.offsets.reserve(codes.len());
        let data = &self.values.strings.data;
        for &code in codes {
            let bounds = self
                .values
                .strings
                .offsets
                .get(code as usize..code as usize + 2);
            let Some(&[start, stop]) = bounds else {
                return Err(self.bad_code(code));
            };
            let source = data.get(start as usize..start as usize + WIDTH);
            let target = out.data.get_mut(end..end + WIDTH);
            let (Some(source), Some(target)) = (source, target) else {
                return Err(self.bad_code(code));
            };
            target.copy_from_slice(source);
            end += (stop - start) as usize;
            out.offsets.push(end as u32);
        }
        out.data.truncate(final_end);
        Ok(())
    }

    /// Rows of a vector up to which [`Self::code`] takes less time than [`Self::decode_codes`].
    pub(super) fn few_codes(&self) -> usize {
        if self.codes.reads_single_values() {
            FEW_CODES
        } else {
            0
        }
    }

    pub(super) fn code(&self, row: usize) -> Result<u32, Corrupt> {
        if row >= self.codes.len() {
            return Err(Corrupt::new("row beyond the payload", self.offset));
        }
        let code = self.codes.value(row)? as u32;
        if (code as usize) < self.len() {
            Ok(code)
        } else {
            Err(self.bad_code(code))
        }
    }

    pub(super) fn decode_rows(
        &self,
        vector: usize,
        places: impl ExactSizeIterator<Item = usize>,
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        let before = out.data.len();
        let mut codes = [0; VECTOR_VALUES];
        let are_few = places.len() <= self.few_codes();
        if !are_few {
            self.decode_codes(vector, &mut codes)?;
        }
        for place in places {
            let code = if are_few {
                self.code(vector * VECTOR_VALUES + place)?
            } else {
                codes[place]
            };
            out.data
                .extend_from_slice(self.get(code).ok_or_else(|| self.bad_code(code))?);
            end_row(out, before, self.offset)?;
        }
        Ok(())
    }

    pub(super) fn value(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Corrupt> {
        let code = self.code(row)?;
        out.extend_from_slice(self.get(code).ok_or_else(|| self.bad_code(code))?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_order_of_values() {
        let values = BytesSlice {
            offsets: &[0, 1, 2, 3, 3],
            data: b"bab",
        };
        let (dictionary, codes) = distinct(&values);
        assert_eq!(dictionary, [&b""[..], b"a", b"b"]);
        assert_eq!(codes, [2, 1, 2, 0]);
    }
}
