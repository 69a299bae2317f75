//! A column that another column of its rows determines: one value for each value of the other, its *reference*, and
//! the rows that break the rule.
//!
//! # Layout, version 1
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | format version, 1 |
//! | 1 | 1 | keys: 0 the codes of the reference's dictionary, 1 integers, which follow |
//! | 2 | 2 | 0 |
//! | 4 | 4 | row count, that of the reference |
//! | 8 | 4 | NULL count |
//! | 12 | 4 | `k`, bytes of the keys; 0 unless keys is 1 |
//! | 16 | 4 | `v`, bytes of the values |
//! | 20 | 4 | `p`, bytes of the positions of exceptions; 0 without any |
//! | 24 | 4 | `e`, bytes of the values of exceptions; 0 without any |
//! | 28 | k | keys: a segment of 64-bit integers that ascend, at most [`KEY_SPAN_MAX`] apart, no NULLs |
//! | … | v | values: a segment of the column's type, one value per key; one more for NULL if the reference has NULLs |
//! | … | p | positions: a segment of 32-bit integers that ascend, rows of the column, no NULLs |
//! | … | e | a segment of the column's type, one value per position |
//!
//! A code that a row of the reference has, or the place of its value among the keys, is the number of the row's value;
//! that of the exception `i` is `i` more than the number of keys. So the column reads as one with a dictionary, from which
//! opening leaves out most values that repeat: a small dictionary stays in the cache.

use std::ops::Range;
use std::sync::Arc;

use quire_codec::{
    BytesVector, CodecScalar, Corrupt, ImageCursor, PhysicalType, ROWS_MAX, RowMask, VECTOR_VALUES,
    mark_rows,
};

use super::entries::SegmentEntries;
use super::plain::{PlainSegment, SegmentHeader, SegmentSizes};

/// The version this code writes, and the only one it reads.
pub(super) const MAP_VERSION: u8 = 1;
pub(super) const MAP_HEADER_BYTES: usize = 28;

/// Integers are looked up in a table of as many places as there are from the first to the last.
pub(super) const KEY_SPAN_MAX: i64 = 1 << 20;

pub(super) const KEYS_ARE_CODES: u8 = 0;
pub(super) const KEYS_ARE_INTEGERS: u8 = 1;

/// A key that the map does not have.
const NONE: u32 = u32::MAX;

/// How a row of the reference leads to a value.
#[derive(Debug)]
pub(super) enum MapKeys {
    /// By its code: so many there are.
    Codes(usize),
    /// By its integer.
    Integers(IntegerKeys),
}

/// Numbers of ascending integers.
#[derive(Debug)]
pub(super) struct IntegerKeys {
    least: i64,
    /// Number of the key `least + i`, or [`NONE`]; behind the last a [`NONE`] for all that lies beyond.
    numbers: Vec<u32>,
    count: usize,
}

impl IntegerKeys {
    /// `None` when the keys do not ascend, or lie too far apart.
    pub(super) fn new(ascending: &[i64]) -> Option<Self> {
        let (&least, &most) = ascending.first().zip(ascending.last())?;
        let span = most
            .checked_sub(least)
            .filter(|span| *span < KEY_SPAN_MAX)?;
        if ascending.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        let mut numbers = vec![NONE; usize::try_from(span).ok()? + 2];
        for (&key, number) in ascending.iter().zip(0..) {
            *numbers.get_mut((key - least) as usize)? = number;
        }
        Some(Self {
            least,
            numbers,
            count: ascending.len(),
        })
    }

    /// The keys.
    pub(super) fn ascending(&self) -> impl Iterator<Item = i64> {
        let places = self.numbers.iter().zip(0_i64..);
        let present = places.filter(|(number, _)| **number != NONE);
        present.map(|(_, place)| self.least.wrapping_add(place))
    }

    /// The numbers of keys, [`NONE`] for what is none; whether some is.
    fn numbers(&self, keys: &[i64], out: &mut [u32]) -> bool {
        let Some(beyond) = self.numbers.len().checked_sub(1) else {
            return !keys.is_empty();
        };
        let numbers = self.numbers.as_slice();
        let mut highest = 0;
        for (out, &key) in out.iter_mut().zip(keys) {
            let place = (key.wrapping_sub(self.least) as u64).min(beyond as u64);
            *out = numbers[place as usize];
            highest = highest.max(*out);
        }
        highest == NONE
    }

    /// The number of a key, [`NONE`] if it is none.
    fn number(&self, key: i64) -> u32 {
        let place = key.wrapping_sub(self.least) as u64;
        let number = self
            .numbers
            .get(usize::try_from(place).unwrap_or(usize::MAX));
        number.copied().unwrap_or(NONE)
    }

    /// Puts `codes[number]` in the place of each number.
    fn recode(&mut self, codes: &[u32]) {
        for number in &mut self.numbers {
            *number = codes.get(*number as usize).copied().unwrap_or(NONE);
        }
    }
}

impl MapKeys {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Codes(count) => *count,
            Self::Integers(keys) => keys.count,
        }
    }

    /// The number of the key that each row of a vector of the reference has, and `null` for NULL.
    pub(super) fn numbers(
        &self,
        reference: &mut PlainSegment,
        vector: usize,
        null: u32,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let mut values = [0; VECTOR_VALUES];
        let (rows, has_strangers) = match self {
            Self::Codes(_) => (reference.decode_codes(vector, out)?, false),
            Self::Integers(keys) => {
                let rows = reference.decode_wide(vector, &mut values)?;
                (rows, keys.numbers(&values[..rows], &mut out[..rows]))
            }
        };
        if reference.null_count() > 0 {
            let mut valid = [u64::MAX; VECTOR_VALUES / 64];
            reference.validity(vector, &mut valid)?;
            for (row, out) in out[..rows].iter_mut().enumerate() {
                let is_valid = valid[row / 64] >> (row % 64) & 1 == 1;
                *out = if is_valid { *out } else { null };
            }
        }
        if has_strangers && let Some(row) = out[..rows].iter().position(|&number| number == NONE) {
            let what = format!("{} is not in the map", values[row]);
            return Err(Corrupt::new(what, 0));
        }
        Ok(rows)
    }
}

/// A map segment that is being read, with its reference.
#[derive(Debug)]
pub(super) struct Mapped {
    reference: PlainSegment,
    keys: MapKeys,
    /// Of the keys, of NULL if the reference has any, and of the exceptions, most that repeat left out.
    entries: SegmentEntries,
    /// Which entries are not NULL; `None` when all are.
    validity: Option<Vec<bool>>,
    /// The code of rows where the reference is NULL.
    null_code: u32,
    /// Rows of the exceptions, ascending, and the code of each.
    exceptions: Vec<u32>,
    exception_codes: Vec<u32>,
    /// A vector is asked for its NULLs, for a test and for its values: its codes are found once.
    last: Option<VectorCodes>,
}

/// The codes of a vector.
#[derive(Debug)]
struct VectorCodes {
    vector: usize,
    row_count: usize,
    codes: Box<[u32; VECTOR_VALUES]>,
}

/// The parts of a map segment's image.
pub(super) struct MapImage {
    row_count: usize,
    null_count: usize,
    sizes: SegmentSizes,
    keys: Option<PlainSegment>,
    values: PlainSegment,
    exceptions: Option<(PlainSegment, PlainSegment)>,
}

impl MapImage {
    /// What the column says of itself.
    pub(super) fn header(&self) -> SegmentHeader {
        SegmentHeader {
            row_count: self.row_count,
            null_count: self.null_count,
            sizes: self.sizes,
            ..*self.values.header()
        }
    }

    pub(super) fn open(image: &Arc<[u8]>) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(image, 0..image.len())?;
        let version = cursor.u8("map version")?;
        if version != MAP_VERSION {
            let what = format!("map version {version}, this program reads {MAP_VERSION}");
            return Err(Corrupt::new(what, 0));
        }
        let form = cursor.u8("form of the keys")?;
        if form > KEYS_ARE_INTEGERS || cursor.bytes(2, "reserved")? != [0, 0] {
            return Err(Corrupt::new("unknown form of the keys of a map", 1));
        }
        let row_count = cursor.u32("row count")? as usize;
        let null_count = cursor.u32("NULL count")? as usize;
        if row_count > ROWS_MAX || null_count > row_count {
            return Err(Corrupt::new("row or NULL count is out of range", 4));
        }
        let mut lengths = [0; 4];
        for length in &mut lengths {
            *length = cursor.u32("bytes of a part of a map")? as usize;
        }
        let mut part = |length| {
            let range: Range<usize> = cursor.take(length, "part of a map")?;
            let bytes = image.get(range).unwrap_or_default();
            PlainSegment::open(bytes.into())
        };
        let [keys, values, positions, others] = lengths;
        let is_shaped =
            (keys > 0) == (form == KEYS_ARE_INTEGERS) && (positions > 0) == (others > 0);
        if !is_shaped {
            return Err(Corrupt::new("map lacks a part, or has one too many", 12));
        }
        let keys = (keys > 0).then(|| part(keys)).transpose()?;
        let values = part(values)?;
        let exceptions = match positions {
            0 => None,
            _ => Some((part(positions)?, part(others)?)),
        };
        cursor.finish("map")?;
        Ok(Self {
            row_count,
            null_count,
            sizes: SegmentSizes {
                header_bytes: MAP_HEADER_BYTES,
                validity_bytes: 0,
                payload_bytes: image.len() - MAP_HEADER_BYTES,
            },
            keys,
            values,
            exceptions,
        })
    }
}

impl Mapped {
    /// What is wrong with a reference that cannot be.
    pub(super) const WRONG_REFERENCE: &'static str = "map has a reference of other rows";

    /// Decodes the map, checks it, and joins it with its reference.
    pub(super) fn new(image: MapImage, reference: PlainSegment) -> Result<Self, Corrupt> {
        let wrong = |what: &'static str| Err(Corrupt::new(what, 0));
        if reference.row_count() != image.row_count {
            return wrong(Self::WRONG_REFERENCE);
        }
        let mut keys = match (image.keys, reference.dictionary_len()) {
            (Some(mut keys), _) => {
                let ascending = integers(&mut keys, PhysicalType::Int64)?;
                match IntegerKeys::new(&ascending) {
                    Some(keys) => MapKeys::Integers(keys),
                    None => return wrong("keys of a map do not ascend, or lie too far apart"),
                }
            }
            (None, Some(count)) => MapKeys::Codes(count),
            (None, None) => return wrong("map of codes has a reference without a dictionary"),
        };
        let mut values = image.values;
        let mut entries = SegmentEntries::new(values.physical_type());
        let expected = keys.len() + usize::from(reference.null_count() > 0);
        if values.row_count() != expected {
            return wrong("map does not have one value per key");
        }
        entries.append(&mut values)?;
        let mut validity = Vec::new();
        append_validity(&mut values, &mut validity)?;
        let mut exceptions = Vec::new();
        if let Some((mut positions, mut others)) = image.exceptions {
            exceptions = positions_below(image.row_count, &mut positions)?;
            if others.physical_type() != values.physical_type()
                || others.row_count() != exceptions.len()
            {
                return wrong("exceptions of a map have no values");
            }
            entries.append(&mut others)?;
            append_validity(&mut others, &mut validity)?;
        }
        let has_nulls = validity.contains(&false);
        // Rows of the reference have codes that stay what they are.
        let kept = match &keys {
            MapKeys::Codes(count) => *count,
            MapKeys::Integers(_) => 0,
        };
        let codes = entries.leave_out_repeats(kept, &mut validity);
        if let MapKeys::Integers(keys) = &mut keys {
            keys.recode(&codes);
        }
        if has_nulls != (image.null_count > 0) {
            return wrong("NULL count of a map is not that of its values");
        }
        let null_code = codes.get(keys.len()).copied().unwrap_or_default();
        Ok(Self {
            reference,
            keys,
            entries,
            validity: has_nulls.then_some(validity),
            null_code,
            exceptions,
            exception_codes: codes.get(expected..).unwrap_or_default().to_vec(),
            last: None,
        })
    }

    pub(super) fn entries(&self) -> &SegmentEntries {
        &self.entries
    }

    /// The codes of a vector, each below the number of entries.
    pub(super) fn codes(
        &mut self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let known = self.vector_codes(vector)?;
        *out = *known.codes;
        let row_count = known.row_count;
        self.last = Some(known);
        Ok(row_count)
    }

    /// The codes of a vector, to be put back when they have been used.
    fn vector_codes(&mut self, vector: usize) -> Result<VectorCodes, Corrupt> {
        let mut known = self.last.take().unwrap_or_else(|| VectorCodes {
            vector: usize::MAX,
            row_count: 0,
            codes: Box::new([0; VECTOR_VALUES]),
        });
        if known.vector != vector {
            known.row_count = self.find_codes(vector, &mut known.codes)?;
            known.vector = vector;
        }
        Ok(known)
    }

    fn find_codes(
        &mut self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = self
            .keys
            .numbers(&mut self.reference, vector, self.null_code, out)?;
        out[rows..].fill(0);
        for (row, exception) in self.exceptions_of(vector) {
            if let Some(code) = out[..rows].get_mut(row) {
                *code = exception;
            }
        }
        let highest = out.iter().fold(0, |highest, &code| highest.max(code));
        if (highest as usize) < self.entries.len() {
            Ok(rows)
        } else {
            Err(Corrupt::new("code is beyond the map", 0))
        }
    }

    /// Decodes a vector of the type that `of` picks.
    pub(super) fn decode<T: Copy>(
        &mut self,
        vector: usize,
        out: &mut [T; VECTOR_VALUES],
        of: impl Fn(&SegmentEntries) -> Option<&[T]>,
    ) -> Result<usize, Corrupt> {
        let known = self.vector_codes(vector)?;
        let Some(entries) = of(&self.entries) else {
            return Err(Corrupt::new("map holds values of another type", 0));
        };
        for (out, &code) in out.iter_mut().zip(&known.codes[..known.row_count]) {
            match entries.get(code as usize) {
                Some(&value) => *out = value,
                None => return Err(Corrupt::new("code is beyond the map", 0)),
            }
        }
        let row_count = known.row_count;
        self.last = Some(known);
        Ok(row_count)
    }

    /// Appends a vector of strings.
    pub(super) fn decode_bytes(
        &mut self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let known = self.vector_codes(vector)?;
        for &code in &known.codes[..known.row_count] {
            let value = self.entries.bytes(code);
            out.push(value.ok_or_else(|| Corrupt::new("map holds no strings", 0))?)?;
        }
        let row_count = known.row_count;
        self.last = Some(known);
        Ok(row_count)
    }

    /// Which rows of a vector are not NULL, and how many are NULL.
    pub(super) fn validity(
        &mut self,
        vector: usize,
        out: &mut [u64; VECTOR_VALUES / 64],
    ) -> Result<usize, Corrupt> {
        let known = self.vector_codes(vector)?;
        out.fill(0);
        let validity = self.validity.as_deref();
        let words = known.codes[..known.row_count].chunks(64);
        for (word, codes) in out.iter_mut().zip(words) {
            for (row, &code) in codes.iter().enumerate() {
                let is_valid = validity.is_none_or(|validity| validity[code as usize]);
                *word |= u64::from(is_valid) << row;
            }
        }
        let valid: u32 = out.iter().map(|word| word.count_ones()).sum();
        let row_count = known.row_count;
        self.last = Some(known);
        Ok(row_count - valid as usize)
    }

    /// The exceptions in a vector: their rows there, and their codes.
    fn exceptions_of(&self, vector: usize) -> impl Iterator<Item = (usize, u32)> {
        let start = vector * VECTOR_VALUES;
        let first = self
            .exceptions
            .partition_point(|&row| (row as usize) < start);
        let exceptions = self
            .exceptions
            .iter()
            .zip(&self.exception_codes)
            .skip(first);
        let exceptions = exceptions.map(move |(&row, &code)| (row as usize - start, code));
        exceptions.take_while(|(row, _)| *row < VECTOR_VALUES)
    }

    /// Marks the rows of a vector whose codes have their bit set in `wanted`, one run of the reference at a time, as a run of the lines of an order
    /// has one number. Returns the rows of the vector; `None` if the reference does not store runs.
    pub(super) fn select_codes_by_runs(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<Option<usize>, Corrupt> {
        let is_wanted = |code: u32| {
            let word = wanted.get(code as usize / 64).copied().unwrap_or(0);
            word >> (code % 64) & 1 == 1
        };
        *mask = RowMask::default();
        if !self.mark_runs(vector, is_wanted, mask)? {
            return Ok(None);
        }
        for (row, code) in self.exceptions_of(vector) {
            mask[row / 64] &= !(1 << (row % 64));
            mask[row / 64] |= u64::from(is_wanted(code)) << (row % 64);
        }
        Ok(Some(self.reference.vector_rows(vector)))
    }

    /// Marks the rows of wanted runs, exceptions not regarded. `false` if the reference has no runs, or has NULLs.
    fn mark_runs(
        &mut self,
        vector: usize,
        is_wanted: impl Fn(u32) -> bool,
        mask: &mut RowMask,
    ) -> Result<bool, Corrupt> {
        let MapKeys::Integers(keys) = &self.keys else {
            return Ok(false);
        };
        if self.reference.null_count() > 0 {
            return Ok(false);
        }
        let (mut row, mut stranger) = (0, None);
        let has_runs = self.reference.for_each_run(vector, |key, length| {
            let code = keys.number(key);
            if code == NONE {
                stranger = Some(key);
            } else if is_wanted(code) {
                mark_rows(mask, row, length);
            }
            row += length;
        })?;
        match stranger {
            Some(key) => Err(Corrupt::new(format!("{key} is not in the map"), 0)),
            None => Ok(has_runs),
        }
    }

    /// Of integers, which entries pass: bit `c % 64` of word `c / 64` for code `c`, clear for NULL. `None` for other types.
    pub(super) fn codes_where(&self, passes: impl Fn(i64) -> bool) -> Option<Vec<u64>> {
        let mut wanted = vec![0_u64; self.entries.len().div_ceil(64)];
        for code in 0..self.entries.len() as u32 {
            let value = self.entries.integer(code)?;
            let is_wanted = self.is_valid(code) && passes(value);
            wanted[code as usize / 64] |= u64::from(is_wanted) << (code % 64);
        }
        Some(wanted)
    }

    /// The value of a row, `None` if it is NULL.
    pub(super) fn value(&mut self, row: usize) -> Result<Option<CodecScalar>, Corrupt> {
        let known = self.vector_codes(row / VECTOR_VALUES)?;
        let code = known.codes[row % VECTOR_VALUES];
        self.last = Some(known);
        Ok(self.entries.scalar(code).filter(|_| self.is_valid(code)))
    }

    /// Whether a code stands for a value rather than NULL.
    pub(super) fn is_valid(&self, code: u32) -> bool {
        let validity = self.validity.as_ref();
        validity.is_none_or(|validity| validity.get(code as usize) == Some(&true))
    }
}

/// All values of a segment of integers, which has no NULLs.
fn integers(segment: &mut PlainSegment, expected: PhysicalType) -> Result<Vec<i64>, Corrupt> {
    if segment.physical_type() != expected || segment.null_count() > 0 {
        return Err(Corrupt::new(
            "part of a map is of another type, or has NULLs",
            1,
        ));
    }
    let mut integers = Vec::with_capacity(segment.row_count());
    let mut values = [0; VECTOR_VALUES];
    for vector in 0..segment.vector_count() {
        let rows = segment.decode_wide(vector, &mut values)?;
        integers.extend_from_slice(&values[..rows]);
    }
    Ok(integers)
}

fn positions_below(row_count: usize, segment: &mut PlainSegment) -> Result<Vec<u32>, Corrupt> {
    let positions = integers(segment, PhysicalType::Int32)?;
    let mut next = 0;
    let mut rows = Vec::with_capacity(positions.len());
    for position in positions {
        if position < next || position >= row_count as i64 {
            let what = "exceptions of a map do not ascend, or lie beyond the rows";
            return Err(Corrupt::new(what, 0));
        }
        next = position + 1;
        rows.push(position as u32);
    }
    Ok(rows)
}

fn append_validity(segment: &mut PlainSegment, validity: &mut Vec<bool>) -> Result<(), Corrupt> {
    let mut words = [0; VECTOR_VALUES / 64];
    for vector in 0..segment.vector_count() {
        segment.validity(vector, &mut words)?;
        let rows = 0..segment.vector_rows(vector);
        validity.extend(rows.map(|row| words[row / 64] >> (row % 64) & 1 == 1));
    }
    Ok(())
}
