//! The values of a row become a tuple.

use std::borrow::Cow;
use std::ops::Range;

use quire_codec::field::FieldValue;

use super::layout::TupleLayout;
use super::section::{ColumnLocation, Fixed, FixedKind, LengthPlace, OpenCode, Section, SmallKind};
use super::value::{TupleValue, ValueError};

pub(super) fn set_bit(part_1: &mut [u8], bit: usize) {
    if let Some(byte) = part_1.get_mut(bit / 8) {
        *byte |= 1 << (bit % 8);
    }
}

/// Sets the bits of `code` from `bit` on.
fn set_code(part_1: &mut [u8], bit: usize, code: usize) {
    let bytes = (code << (bit % 8)).to_le_bytes();
    for (target, byte) in part_1.iter_mut().skip(bit / 8).zip(bytes).take(3) {
        *target |= byte;
    }
}

/// Writes an uncompressed value. Nothing is written for NULL but its bit.
fn set_fixed(head: &mut [u8], fixed: Fixed, value: TupleValue<'_>) {
    let mut put = |bytes: &[u8]| {
        let range = fixed.offset..fixed.offset + bytes.len();
        if let Some(target) = head.get_mut(range) {
            target.copy_from_slice(bytes);
        }
    };
    match (fixed.kind, value) {
        (_, TupleValue::Null) => {
            if let Some(bit) = fixed.null_bit {
                set_bit(head, bit);
            }
        }
        (_, TupleValue::Bool(value)) => put(&[u8::from(value)]),
        (FixedKind::Int16, TupleValue::Integer(value)) => put(&(value as i16).to_le_bytes()),
        (FixedKind::Int32, TupleValue::Integer(value)) => put(&(value as i32).to_le_bytes()),
        (_, TupleValue::Integer(value)) => put(&value.to_le_bytes()),
        (FixedKind::Decimal, TupleValue::Wide(value)) => put(&(value as i64).to_le_bytes()),
        (_, TupleValue::Wide(value)) => put(&value.to_le_bytes()),
        (_, TupleValue::Float32(value)) => put(&value.to_le_bytes()),
        (_, TupleValue::Float64(value)) => put(&value.to_le_bytes()),
        (_, TupleValue::Bytes(bytes)) => put(&(bytes.len() as u32).to_le_bytes()),
        // No column holds codes: they are made here.
        (_, TupleValue::Coded(_)) => {}
    }
}

/// What part 4 holds of a value that its column holds.
fn field_value(kind: SmallKind, value: TupleValue<'_>) -> FieldValue {
    match (kind, value) {
        (_, TupleValue::Integer(value)) => FieldValue::Integer(value),
        (SmallKind::Wide, TupleValue::Wide(value)) => FieldValue::Wide(value),
        (_, TupleValue::Wide(value)) => FieldValue::Integer(value as i64),
        (_, TupleValue::Float64(value)) => FieldValue::Double(value),
        (_, TupleValue::Bytes(bytes)) => FieldValue::Integer(bytes.len() as i64),
        (
            _,
            TupleValue::Null | TupleValue::Bool(_) | TupleValue::Float32(_) | TupleValue::Coded(_),
        ) => FieldValue::Null,
    }
}

/// Which of the columns with open dictionaries have their value as a code, one bit for each.
#[derive(Clone, Copy)]
struct CodedColumns(u64);

impl CodedColumns {
    /// What part 4 has of the column: nothing of a value that has a code.
    #[inline]
    fn other<'a>(
        self,
        section: &Section,
        values: &[TupleValue<'a>],
        column: usize,
    ) -> TupleValue<'a> {
        match section.places.get(column) {
            Some(ColumnLocation::Open(number)) if self.0 >> number & 1 == 1 => TupleValue::Null,
            _ => values.get(column).copied().unwrap_or_default(),
        }
    }
}

/// No UTF-8 begins with it. What does is a mark of the layer above, which must find it as it is.
const MARK_BYTE: u8 = 0xFF;

/// Longer strings are not coded: of eight bytes for each byte of codes, no page has room for an entry of so many.
const CODED_STRING_BYTES_MAX: usize = 128 << 10;

/// The strings of a row that codes make shorter.
#[derive(Default)]
struct CodedStrings {
    codes: Vec<u8>,
    strings: Vec<CodedString>,
}

struct CodedString {
    column: usize,
    /// The bit of part 1 that says so.
    bit: usize,
    codes: Range<usize>,
}

impl CodedStrings {
    /// `values` with codes in place of the strings.
    fn in_place<'v>(&'v self, values: &'v [TupleValue<'v>]) -> Cow<'v, [TupleValue<'v>]> {
        if self.strings.is_empty() {
            return Cow::Borrowed(values);
        }
        let mut stored = values.to_vec();
        for string in &self.strings {
            let codes = self.codes.get(string.codes.clone());
            if let (Some(value), Some(codes)) = (stored.get_mut(string.column), codes) {
                *value = TupleValue::Bytes(codes);
            }
        }
        Cow::Owned(stored)
    }
}

impl Section {
    fn coded_strings(&self, values: &[TupleValue<'_>]) -> CodedStrings {
        let mut found = CodedStrings::default();
        for text in &self.texts {
            let Some(coded) = &text.coded else { continue };
            let Some(TupleValue::Bytes(bytes)) = values.get(text.column) else {
                continue;
            };
            let start = found.codes.len();
            if bytes.first() != Some(&MARK_BYTE)
                && bytes.len() <= CODED_STRING_BYTES_MAX
                && coded.table.encode_if_shorter(bytes, &mut found.codes)
            {
                found.strings.push(CodedString {
                    column: text.column,
                    bit: coded.bit,
                    codes: start..found.codes.len(),
                });
            }
        }
        found
    }

    pub(super) fn check_count(
        &self,
        values: &[TupleValue<'_>],
        first_column: usize,
    ) -> Result<(), ValueError> {
        if values.len() == self.columns.len() {
            return Ok(());
        }
        Err(ValueError::ColumnCount {
            given: first_column + values.len(),
            expected: first_column + self.columns.len(),
        })
    }

    fn check(&self, values: &[TupleValue<'_>], first_column: usize) -> Result<(), ValueError> {
        for (index, (column, &value)) in self.columns.iter().zip(values).enumerate() {
            let number = first_column + index;
            column.column_type.check(column.nullable, number, value)?;
        }
        Ok(())
    }

    pub(super) fn encoded_bytes(
        &self,
        values: &[TupleValue<'_>],
        first_column: usize,
    ) -> Result<usize, ValueError> {
        self.check(values, first_column)?;
        let strings = self.coded_strings(values);
        let values = &*strings.in_place(values);
        let coded = self.codes(values, |_, _| ());
        let mut total = self.part_4;
        for text in &self.texts {
            if let TupleValue::Bytes(bytes) = coded.other(self, values, text.column) {
                total += bytes.len();
            }
        }
        for padded in &self.padded {
            total += padded.bytes_behind(values.get(padded.column).copied().unwrap_or_default());
        }
        for (field, small) in self.small_fields.iter().enumerate() {
            let value = coded.other(self, values, small.column);
            let length = self.small.length(field, field_value(small.kind, value));
            let column = first_column + small.column;
            total += length.map_err(|source| ValueError::Field { column, source })?;
        }
        Ok(total)
    }

    /// Appends the five parts of `values`, of which there is one for each column.
    pub(super) fn encode(
        &self,
        values: &[TupleValue<'_>],
        first_column: usize,
        tuple: &mut Vec<u8>,
    ) -> Result<(), ValueError> {
        let strings = self.coded_strings(values);
        let values = &*strings.in_place(values);
        let start = tuple.len();
        tuple.resize(start + self.part_4, 0);
        let (_, head) = tuple.split_at_mut(start);
        for string in &strings.strings {
            set_bit(head, string.bit);
        }
        let columns = self.columns.iter().zip(&self.places).zip(values);
        for (index, ((column, place), &value)) in columns.enumerate() {
            let number = first_column + index;
            column.column_type.check(column.nullable, number, value)?;
            self.set(head, *place, value, number)?;
        }
        let coded = self.codes(values, |open, code| set_code(head, open.bit, code));
        let codes_at = start + self.part_2;
        for (field, small) in self.small_fields.iter().enumerate() {
            let value = coded.other(self, values, small.column);
            let stored = field_value(small.kind, value);
            let appended = self.small.append(field, stored, codes_at, tuple);
            let column = first_column + small.column;
            appended.map_err(|source| ValueError::Field { column, source })?;
        }
        for text in &self.texts {
            if let TupleValue::Bytes(bytes) = coded.other(self, values, text.column) {
                tuple.extend_from_slice(bytes);
            }
        }
        for padded in &self.padded {
            let value = values.get(padded.column).copied().unwrap_or_default();
            padded.append(value, tuple);
        }
        Ok(())
    }

    /// Hands the code of each value that an open dictionary has to `put`.
    fn codes(
        &self,
        values: &[TupleValue<'_>],
        mut put: impl FnMut(&OpenCode, usize),
    ) -> CodedColumns {
        let mut coded = CodedColumns(0);
        for (number, open) in self.open.iter().enumerate() {
            let value = values.get(open.column).copied().unwrap_or_default();
            let dictionary = self.dictionaries.get(open.dictionary);
            if value != TupleValue::Null
                && let Some(entry) = dictionary.and_then(|dictionary| dictionary.find(value))
            {
                put(open, entry + 1);
                coded.0 |= 1 << number;
            }
        }
        coded
    }

    /// Writes what parts 1 and 3 hold of a value.
    fn set(
        &self,
        head: &mut [u8],
        place: ColumnLocation,
        value: TupleValue<'_>,
        column: usize,
    ) -> Result<(), ValueError> {
        match place {
            ColumnLocation::Small(_) | ColumnLocation::Open(_) => {}
            ColumnLocation::Fixed(fixed) => set_fixed(head, fixed, value),
            ColumnLocation::Padded(number) => {
                if let Some(padded) = self.padded.get(number) {
                    padded.set(head, value);
                }
            }
            ColumnLocation::Bit { bit, null_bit } => match (value, null_bit) {
                (TupleValue::Null, Some(null_bit)) => set_bit(head, null_bit),
                (TupleValue::Bool(true), _) => set_bit(head, bit),
                _ => {}
            },
            ColumnLocation::Text { number } => {
                let length = self.texts.get(number).map(|text| text.length);
                if let Some(LengthPlace::Fixed(fixed)) = length {
                    set_fixed(head, fixed, value);
                }
            }
            ColumnLocation::Code {
                bit,
                nullable,
                dictionary,
                ..
            } => {
                if value != TupleValue::Null {
                    let dictionary = self.dictionaries.get(dictionary);
                    let entry = dictionary.and_then(|dictionary| dictionary.find(value));
                    let entry = entry.ok_or(ValueError::NotInDictionary { column })?;
                    set_code(head, bit, entry + usize::from(nullable));
                }
            }
        }
        Ok(())
    }
}

impl TupleLayout {
    /// `values` cut into those of each section.
    fn cut<'v, 'a>(
        &self,
        values: &'v [TupleValue<'a>],
    ) -> Result<impl Iterator<Item = (&Section, usize, &'v [TupleValue<'a>])>, ValueError> {
        let (given, expected) = (values.len(), self.column_count());
        if given != expected {
            return Err(ValueError::ColumnCount { given, expected });
        }
        let added = self.added.iter();
        let sections = std::iter::once((&self.first, 0))
            .chain(added.map(|added| (&added.section, added.first_column)));
        Ok(sections.map(|(section, first_column)| {
            let range = first_column..first_column + section.columns.len();
            (section, first_column, values.get(range).unwrap_or_default())
        }))
    }

    /// Exactly the bytes that [`Self::encode`] appends for `values`.
    ///
    /// # Errors
    /// As [`Self::encode`], but for values that a dictionary does not have.
    pub fn encoded_bytes(&self, values: &[TupleValue<'_>]) -> Result<usize, ValueError> {
        let mut total = 0;
        for (section, first_column, values) in self.cut(values)? {
            total += section.encoded_bytes(values, first_column)?;
        }
        Ok(total)
    }

    /// Appends the tuple of `values` to `tuple`.
    ///
    /// # Errors
    /// Not one value for each column, or a value that its column does not hold; `tuple` is then as it was.
    pub fn encode(&self, values: &[TupleValue<'_>], tuple: &mut Vec<u8>) -> Result<(), ValueError> {
        let start = tuple.len();
        for (section, first_column, values) in self.cut(values)? {
            if let Err(error) = section.encode(values, first_column, tuple) {
                tuple.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }
}
