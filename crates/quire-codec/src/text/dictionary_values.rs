//! The strings of a dictionary in memory, by code.

use super::packed::{self, PackedNumbers};
use super::section;
use crate::{BytesVector, Corrupt, ImageCursor};

/// Bytes beyond the last value, so that every value can be read as [`SHORT_BYTES_MAX`] bytes.
const PADDING: [u8; SHORT_BYTES_MAX] = [0; SHORT_BYTES_MAX];
/// Values up to this long are copied with a fixed number of bytes, which needs no loop.
pub(super) const SHORT_BYTES_MAX: usize = 32;

/// Strings by code.
#[derive(Debug)]
pub(super) struct DictionaryValues {
    /// The data ends with [`PADDING`].
    pub(super) strings: BytesVector,
    /// Length of the longest of them.
    pub(super) longest: usize,
    /// Whether the strings ascend with their codes.
    pub(super) ascends: bool,
}

impl DictionaryValues {
    /// Reads a section of `count` strings, which must ascend. Offsets of errors are those of `cursor`.
    pub(super) fn read(
        cursor: &mut ImageCursor<'_>,
        count: usize,
        what: &'static str,
    ) -> Result<Self, Corrupt> {
        let offset = cursor.position();
        let raw = section::read(cursor, section::COMPRESSED_RAW_BYTES_MAX, what)?;
        Self::of_raw(&raw, count).map_err(|error| Corrupt { offset, ..error })
    }

    /// The strings that [`raw_section`] wrote.
    pub(super) fn of_raw(raw: &[u8], count: usize) -> Result<Self, Corrupt> {
        let strings = read_strings(raw, count)?;
        Ok(Self::padded(strings, true))
    }

    fn padded(mut strings: BytesVector, ascends: bool) -> Self {
        let lengths = strings.as_slice().iter().map(<[u8]>::len);
        let longest = lengths.max().unwrap_or(0);
        strings.data.extend_from_slice(&PADDING);
        Self {
            strings,
            longest,
            ascends,
        }
    }

    /// These strings, and then others, whose codes follow.
    pub(super) fn followed_by(&self, others: &Self) -> Result<Self, Corrupt> {
        let mut strings = BytesVector::new();
        for string in self.iter().chain(others.iter()) {
            strings.push(string)?;
        }
        Ok(Self::padded(strings, others.len() == 0))
    }

    pub(super) fn len(&self) -> usize {
        self.strings.len()
    }

    /// The strings in the order of their codes.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.strings.as_slice().iter()
    }

    pub(super) fn get(&self, code: u32) -> Option<&[u8]> {
        let (code, offsets) = (code as usize, &self.strings.offsets);
        let bounds = offsets.get(code).zip(offsets.get(code + 1));
        bounds.and_then(|(&start, &end)| self.strings.data.get(start as usize..end as usize))
    }
}

/// What a section holds of strings that ascend: their lengths ([`super::packed`]), then their bytes.
pub(super) fn raw_section(ascending: &[&[u8]]) -> Vec<u8> {
    let mut raw = Vec::new();
    let lengths: Vec<u32> = ascending.iter().map(|value| value.len() as u32).collect();
    packed::write(&lengths, &mut raw);
    ascending
        .iter()
        .for_each(|value| raw.extend_from_slice(value));
    raw
}

fn read_strings(raw: &[u8], count: usize) -> Result<BytesVector, Corrupt> {
    let mut cursor = ImageCursor::new(raw, 0..raw.len())?;
    let lengths = PackedNumbers::open(&mut cursor, count)?;
    let mut strings = BytesVector::new();
    for length in lengths.to_vec(raw) {
        strings.push(cursor.bytes(length as usize, "dictionary value")?)?;
    }
    cursor.finish("dictionary")?;
    let slice = strings.as_slice();
    if (1..slice.len()).any(|code| slice.get(code - 1) >= slice.get(code)) {
        return Err(Corrupt::new("dictionary does not ascend", 0));
    }
    Ok(strings)
}
