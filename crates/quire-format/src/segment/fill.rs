//! What the payload holds in rows that are NULL.

use super::validity::{ValidityEncoder, is_valid};
use quire_codec::{BytesSlice, BytesVector, CodecId, PhysicalType, RowGroupValues};
use std::borrow::Cow;

/// Whether a codec stores equal strings once, so that a NULL row should repeat the row before; the other
/// string codecs spend bytes on every row, and an empty string spends fewest.
pub(super) fn repeats(codec: CodecId) -> bool {
    matches!(
        codec,
        CodecId::Constant | CodecId::Rle | CodecId::Dictionary
    )
}

/// Values with the NULL rows filled; borrowed when there are none.
pub(super) struct FilledValues<'a> {
    column: FillColumn<'a>,
    /// How NULL strings were filled; `None` when there was nothing to fill, or no strings.
    strings_repeat: Option<bool>,
}

enum FillColumn<'a> {
    Bool(Cow<'a, [bool]>),
    Int16(Cow<'a, [i16]>),
    Int32(Cow<'a, [i32]>),
    Int64(Cow<'a, [i64]>),
    Int128(Cow<'a, [i128]>),
    Float32(Cow<'a, [f32]>),
    Float64(Cow<'a, [f64]>),
    Bytes(BytesSlice<'a>),
    FilledBytes(BytesVector),
}

impl<'a> FilledValues<'a> {
    /// Fills NULL rows with the row before, or strings with nothing if `strings_repeat` is false.
    pub(super) fn new(
        values: &RowGroupValues<'a>,
        validity: &ValidityEncoder<'_>,
        strings_repeat: bool,
    ) -> Self {
        let words = validity.words();
        let column = match *values {
            RowGroupValues::Bool(values) => FillColumn::Bool(fill(values, words)),
            RowGroupValues::Int16(values) => FillColumn::Int16(fill(values, words)),
            RowGroupValues::Int32(values) => FillColumn::Int32(fill(values, words)),
            RowGroupValues::Int64(values) => FillColumn::Int64(fill(values, words)),
            RowGroupValues::Int128(values) => FillColumn::Int128(fill(values, words)),
            RowGroupValues::Float32(values) => FillColumn::Float32(fill(values, words)),
            RowGroupValues::Float64(values) => FillColumn::Float64(fill(values, words)),
            RowGroupValues::Bytes(values) => match words {
                None => FillColumn::Bytes(values),
                Some(words) => FillColumn::FilledBytes(fill_strings(values, words, strings_repeat)),
            },
        };
        let strings = values.physical_type() == PhysicalType::Bytes && words.is_some();
        Self {
            column,
            strings_repeat: strings.then_some(strings_repeat),
        }
    }

    /// Filled as the codecs that are likely want it: strings repeat only if they are then all equal.
    pub(super) fn for_choice(values: &RowGroupValues<'a>, validity: &ValidityEncoder<'_>) -> Self {
        let one_string = match (values, validity.words()) {
            (RowGroupValues::Bytes(values), Some(words)) => has_one_string(*values, words),
            _ => false,
        };
        Self::new(values, validity, one_string)
    }

    /// Whether the NULL rows are filled as `codec` wants it.
    pub(super) fn serves(&self, codec: CodecId) -> bool {
        self.strings_repeat
            .is_none_or(|repeat| repeat == repeats(codec))
    }

    pub(super) fn values(&self) -> RowGroupValues<'_> {
        match &self.column {
            FillColumn::Bool(values) => RowGroupValues::Bool(values),
            FillColumn::Int16(values) => RowGroupValues::Int16(values),
            FillColumn::Int32(values) => RowGroupValues::Int32(values),
            FillColumn::Int64(values) => RowGroupValues::Int64(values),
            FillColumn::Int128(values) => RowGroupValues::Int128(values),
            FillColumn::Float32(values) => RowGroupValues::Float32(values),
            FillColumn::Float64(values) => RowGroupValues::Float64(values),
            FillColumn::Bytes(values) => RowGroupValues::Bytes(*values),
            FillColumn::FilledBytes(values) => RowGroupValues::Bytes(values.as_slice()),
        }
    }
}

/// NULL rows take the value of the row before, and those at the start that of the first row that has one.
fn fill<'a, T: Copy + Default>(values: &'a [T], words: Option<&[u64]>) -> Cow<'a, [T]> {
    let Some(words) = words else {
        return Cow::Borrowed(values);
    };
    let first = (0..values.len()).find(|&row| is_valid(words, row));
    let mut last = first.map_or(T::default(), |row| values[row]);
    let mut filled = Vec::with_capacity(values.len());
    for (chunk, word) in values.chunks(64).zip(words) {
        for (bit, &value) in chunk.iter().enumerate() {
            last = if word >> bit & 1 != 0 { value } else { last };
            filled.push(last);
        }
    }
    Cow::Owned(filled)
}

fn fill_strings(values: BytesSlice<'_>, words: &[u64], repeat: bool) -> BytesVector {
    let first = (0..values.len()).find(|&row| is_valid(words, row));
    let mut last = first.map_or(&[] as &[u8], |row| values.get(row));
    let mut filled = BytesVector::new();
    filled.offsets.reserve(values.len());
    for row in 0..values.len() {
        match (is_valid(words, row), repeat) {
            (true, _) => last = values.get(row),
            (false, true) => {}
            (false, false) => last = &[],
        }
        // Repeating a long string for many NULLs could pass 4 GiB; an empty one never does.
        if filled.push(last).is_err() {
            return fill_strings(values, words, false);
        }
    }
    filled
}

fn has_one_string(values: BytesSlice<'_>, words: &[u64]) -> bool {
    let mut valid = (0..values.len()).filter(|&row| is_valid(words, row));
    let Some(first) = valid.next().map(|row| values.get(row)) else {
        return true;
    };
    valid.all(|row| values.get(row) == first)
}
