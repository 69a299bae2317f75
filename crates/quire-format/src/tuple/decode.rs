//! Values from a tuple: one, all, or one column of many tuples. A tuple is untrusted.

use quire_codec::Corrupt;
use quire_codec::field::FieldValue;

use super::layout::TupleLayout;
use super::section::{
    ColumnLocation, Fixed, FixedKind, LengthPlace, OpenCode, OtherPlace, Section, SmallKind,
    SmallTupleField, TextColumn,
};
use super::value::TupleValue;

/// The `width` bits of part 1 from `bit` on, which are at most 16.
#[inline]
pub(super) fn bits(tuple: &[u8], bit: usize, width: u32) -> usize {
    let rest = tuple.get(bit / 8..).unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => (rest.iter().rev()).fold(0, |word, &byte| word << 8 | u32::from(byte)),
    };
    (word >> (bit % 8)) as usize & ((1 << width) - 1)
}

#[inline]
fn array<const N: usize>(tuple: &[u8], offset: usize) -> Result<[u8; N], Corrupt> {
    let rest = tuple.get(offset..).and_then(<[u8]>::first_chunk);
    rest.copied().ok_or_else(|| cut_short(tuple.len()))
}

#[cold]
pub(super) fn cut_short(given: usize) -> Corrupt {
    Corrupt::new("tuple is cut short", given)
}

#[cold]
pub(super) fn no_column(column: usize, count: usize) -> Corrupt {
    Corrupt::new(
        format!("tuple has {count} columns, none with number {column}"),
        0,
    )
}

#[cold]
fn no_code(code: usize, bit: usize) -> Corrupt {
    Corrupt::new(format!("dictionary has no code {code}"), bit / 8)
}

impl Fixed {
    #[inline]
    fn is_null(self, tuple: &[u8]) -> bool {
        self.null_bit.is_some_and(|bit| bits(tuple, bit, 1) != 0)
    }

    /// Hands the value in a tuple that has all fixed parts to `sink`; of a string, its length.
    ///
    /// The value is not returned but handed on where its variant is known: so it goes straight to where it is needed,
    /// and is not copied through memory.
    #[inline(always)]
    fn read<'a, R>(
        self,
        tuple: &[u8],
        sink: impl FnOnce(TupleValue<'a>) -> R,
    ) -> Result<R, Corrupt> {
        if self.is_null(tuple) {
            return Ok(sink(TupleValue::Null));
        }
        let at = self.offset;
        let integer = |value: i64| TupleValue::Integer(value);
        Ok(match self.kind {
            FixedKind::Bool => match array(tuple, at)? {
                [byte @ 0..=1] => sink(TupleValue::Bool(byte == 1)),
                _ => return Err(Corrupt::new("boolean is neither 0 nor 1", at)),
            },
            FixedKind::Int16 => sink(integer(i16::from_le_bytes(array(tuple, at)?).into())),
            FixedKind::Int32 => sink(integer(i32::from_le_bytes(array(tuple, at)?).into())),
            FixedKind::Length => sink(integer(u32::from_le_bytes(array(tuple, at)?).into())),
            FixedKind::Int64 => sink(integer(i64::from_le_bytes(array(tuple, at)?))),
            FixedKind::Decimal => {
                let value = i64::from_le_bytes(array(tuple, at)?);
                sink(TupleValue::Wide(value.into()))
            }
            FixedKind::Wide => sink(TupleValue::Wide(i128::from_le_bytes(array(tuple, at)?))),
            FixedKind::Float32 => sink(TupleValue::Float32(f32::from_le_bytes(array(tuple, at)?))),
            FixedKind::Float64 => sink(TupleValue::Float64(f64::from_le_bytes(array(tuple, at)?))),
        })
    }
}

#[inline(always)]
fn column_value<'a, R>(
    kind: SmallKind,
    value: FieldValue,
    sink: impl FnOnce(TupleValue<'a>) -> R,
) -> R {
    match (value, kind) {
        (FieldValue::Null, _) => sink(TupleValue::Null),
        (FieldValue::Integer(value), SmallKind::Number) => sink(TupleValue::Integer(value)),
        (FieldValue::Integer(value), _) => sink(TupleValue::Wide(i128::from(value))),
        (FieldValue::Wide(value), _) => sink(TupleValue::Wide(value)),
        (FieldValue::Double(value), _) => sink(TupleValue::Float64(value)),
    }
}

/// A length as a number of bytes; NULL has none.
#[inline]
fn length(value: TupleValue<'_>) -> Result<Option<usize>, Corrupt> {
    match value {
        TupleValue::Null => Ok(None),
        TupleValue::Integer(length) => usize::try_from(length)
            .map(Some)
            .map_err(|_| Corrupt::new("length of a string is negative", 0)),
        _ => Err(Corrupt::new("length of a string is no integer", 0)),
    }
}

impl TextColumn {
    /// The string of which part 5 has these bytes, in a tuple that has all fixed parts; NULL has none.
    #[inline]
    fn value<'a>(
        &'a self,
        tuple: &[u8],
        stored: Option<&'a [u8]>,
    ) -> Result<TupleValue<'a>, Corrupt> {
        let coded = self.coded.as_ref();
        match (coded.filter(|coded| bits(tuple, coded.bit, 1) != 0), stored) {
            (None, None) => Ok(TupleValue::Null),
            (None, Some(bytes)) => Ok(TupleValue::Bytes(bytes)),
            (Some(coded), Some(codes)) => Ok(TupleValue::Coded(coded.table.text(codes))),
            (Some(coded), None) => Err(Corrupt::new("NULL has string codes", coded.bit / 8)),
        }
    }
}

impl Section {
    /// `tuple`, which must have all parts of fixed length.
    #[inline]
    pub(super) fn head<'a>(&self, tuple: &'a [u8]) -> Result<&'a [u8], Corrupt> {
        if tuple.len() < self.part_4 {
            Err(cut_short(tuple.len()))
        } else {
            Ok(tuple)
        }
    }

    /// The length codes, and the bytes from part 4 on.
    #[inline]
    fn small_parts<'a>(&self, tuple: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Corrupt> {
        let codes = tuple.get(self.part_2..self.part_3);
        let values = tuple.get(self.part_4..);
        codes.zip(values).ok_or_else(|| cut_short(tuple.len()))
    }

    #[inline(always)]
    fn small_value<'a, R>(
        &self,
        tuple: &[u8],
        small: SmallTupleField,
        sink: impl FnOnce(TupleValue<'a>) -> R,
    ) -> Result<R, Corrupt> {
        let (codes, values) = self.small_parts(tuple)?;
        let value = self.small.value(codes, values, small.field)?;
        Ok(column_value(small.kind, value, sink))
    }

    #[inline]
    fn code_value(
        &self,
        tuple: &[u8],
        (bit, width): (usize, u32),
        nullable: bool,
        dictionary: usize,
    ) -> Result<TupleValue<'_>, Corrupt> {
        let code = bits(self.head(tuple)?, bit, width);
        if nullable && code == 0 {
            return Ok(TupleValue::Null);
        }
        let dictionary = self.dictionaries.get(dictionary);
        let entry =
            dictionary.and_then(|dictionary| dictionary.entry(code - usize::from(nullable)));
        entry.ok_or_else(|| no_code(code, bit))
    }

    /// The value of a column with an open dictionary.
    #[inline]
    fn open_value<'a>(
        &'a self,
        tuple: &'a [u8],
        open: &OpenCode,
    ) -> Result<TupleValue<'a>, Corrupt> {
        if let Some(entry) = self.entry(self.head(tuple)?, open)? {
            return Ok(entry);
        }
        let value = match open.other {
            OtherPlace::Small(small) => self.small_value(tuple, small, |value| value)?,
            OtherPlace::Text(number) => self.text_value(tuple, number)?,
        };
        self.check_other(open, value)?;
        Ok(value)
    }

    /// The entry that the code of an open dictionary stands for; `None` for a value that is elsewhere.
    #[inline]
    fn entry<'a>(
        &'a self,
        head: &[u8],
        open: &OpenCode,
    ) -> Result<Option<TupleValue<'a>>, Corrupt> {
        let code = bits(head, open.bit, open.width);
        let Some(index) = code.checked_sub(1) else {
            return Ok(None);
        };
        let dictionary = self.dictionaries.get(open.dictionary);
        match dictionary.and_then(|dictionary| dictionary.entry(index)) {
            Some(entry) => Ok(Some(entry)),
            None => Err(no_code(code, open.bit)),
        }
    }

    /// Part 4 has NULL for every value that has a code, so a column that has no NULL must be looked at.
    #[inline]
    fn check_other(&self, open: &OpenCode, value: TupleValue<'_>) -> Result<(), Corrupt> {
        let column = self.columns.get(open.column);
        if value == TupleValue::Null && column.is_none_or(|column| !column.nullable) {
            Err(Corrupt::new(
                "a value has neither a code nor bytes",
                open.bit / 8,
            ))
        } else {
            Ok(())
        }
    }

    /// Replaces the values that have codes.
    fn decode_codes<'a>(
        &'a self,
        tuple: &[u8],
        values: &mut [TupleValue<'a>],
    ) -> Result<(), Corrupt> {
        for open in &self.open {
            let Some(value) = values.get_mut(open.column) else {
                return Err(no_column(open.column, values.len()));
            };
            match self.entry(tuple, open)? {
                None => self.check_other(open, *value)?,
                Some(entry) if *value == TupleValue::Null => *value = entry,
                Some(_) => {
                    return Err(Corrupt::new("a value has a code and bytes", open.bit / 8));
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn bit_value<'a>(
        &self,
        tuple: &[u8],
        bit: usize,
        null_bit: Option<usize>,
    ) -> Result<TupleValue<'a>, Corrupt> {
        let tuple = self.head(tuple)?;
        if null_bit.is_some_and(|null_bit| bits(tuple, null_bit, 1) != 0) {
            return Ok(TupleValue::Null);
        }
        Ok(TupleValue::Bool(bits(tuple, bit, 1) != 0))
    }

    #[inline]
    fn text_bytes(&self, tuple: &[u8], place: LengthPlace) -> Result<Option<usize>, Corrupt> {
        match place {
            LengthPlace::Fixed(fixed) => fixed.read(self.head(tuple)?, length)?,
            LengthPlace::Small(small) => self.small_value(tuple, small, length)?,
        }
    }

    /// Where part 5 starts.
    #[inline]
    fn part_5(&self, tuple: &[u8]) -> Result<usize, Corrupt> {
        let (codes, _) = self.small_parts(tuple)?;
        Ok(self.part_4 + self.small.value_bytes(codes)?)
    }

    /// Where the strings before the first `count` end.
    #[inline]
    pub(super) fn texts_end(&self, tuple: &[u8], count: usize) -> Result<usize, Corrupt> {
        let mut end = self.part_5(tuple)?;
        for text in self.texts.iter().take(count) {
            let bytes = self.text_bytes(tuple, text.length)?;
            end = end.saturating_add(bytes.unwrap_or(0));
        }
        Ok(end)
    }

    #[inline]
    fn text_value<'a>(&'a self, tuple: &'a [u8], number: usize) -> Result<TupleValue<'a>, Corrupt> {
        let Some(text) = self.texts.get(number) else {
            return Err(no_column(number, self.texts.len()));
        };
        let Some(bytes) = self.text_bytes(tuple, text.length)? else {
            return text.value(tuple, None);
        };
        let start = self.texts_end(tuple, number)?;
        let found = tuple.get(start..start.saturating_add(bytes));
        text.value(tuple, Some(found.ok_or_else(|| cut_short(tuple.len()))?))
    }

    #[inline]
    fn value<'a>(&'a self, tuple: &'a [u8], index: usize) -> Result<TupleValue<'a>, Corrupt> {
        match self.places.get(index) {
            Some(ColumnLocation::Fixed(fixed)) => fixed.read(self.head(tuple)?, |value| value),
            Some(ColumnLocation::Small(small)) => self.small_value(tuple, *small, |value| value),
            Some(&ColumnLocation::Code {
                bit,
                width,
                nullable,
                dictionary,
            }) => self.code_value(tuple, (bit, width), nullable, dictionary),
            Some(&ColumnLocation::Bit { bit, null_bit }) => self.bit_value(tuple, bit, null_bit),
            Some(&ColumnLocation::Text { number }) => self.text_value(tuple, number),
            Some(&ColumnLocation::Padded(number)) => self.padded_value(tuple, number),
            Some(&ColumnLocation::Open(number)) => match self.open.get(number) {
                Some(open) => self.open_value(tuple, open),
                None => Err(no_column(index, self.places.len())),
            },
            None => Err(no_column(index, self.places.len())),
        }
    }

    /// What follows the section at the start of `tuple`.
    fn rest<'a>(&self, tuple: &'a [u8]) -> Result<&'a [u8], Corrupt> {
        let end = self.padded_end(tuple, self.padded.len())?;
        tuple.get(end..).ok_or_else(|| cut_short(tuple.len()))
    }

    /// Writes the values of all columns to `values` and returns the bytes of the section.
    #[inline]
    fn decode<'a>(
        &'a self,
        tuple: &'a [u8],
        values: &mut [TupleValue<'a>],
    ) -> Result<usize, Corrupt> {
        self.check_part_1(self.head(tuple)?)?;
        let (codes, small) = self.small_parts(tuple)?;
        let fields = &self.small_fields;
        let bytes = self.small.visit(codes, small, |field, value| {
            if let Some(field) = fields.get(field)
                && let Some(target) = values.get_mut(field.column)
            {
                column_value(field.kind, value, |value| *target = value);
            }
        })?;
        for (place, value) in self.places.iter().zip(values.iter_mut()) {
            match *place {
                ColumnLocation::Small(_)
                | ColumnLocation::Text { .. }
                | ColumnLocation::Padded(_)
                | ColumnLocation::Open(_) => {}
                ColumnLocation::Fixed(fixed) => fixed.read(tuple, |read| *value = read)?,
                ColumnLocation::Bit { bit, null_bit } => {
                    *value = self.bit_value(tuple, bit, null_bit)?
                }
                ColumnLocation::Code {
                    bit,
                    width,
                    nullable,
                    dictionary,
                } => *value = self.code_value(tuple, (bit, width), nullable, dictionary)?,
            }
        }
        let end = self.decode_texts(tuple, self.part_4 + bytes, values)?;
        let end = self.decode_padded(tuple, end, values)?;
        self.decode_codes(tuple, values)?;
        Ok(end)
    }

    /// Replaces the lengths in `values` by the strings, of which the first starts at `start`. Lengths of part 3 are
    /// read here.
    #[inline]
    fn decode_texts<'a>(
        &'a self,
        tuple: &'a [u8],
        mut start: usize,
        values: &mut [TupleValue<'a>],
    ) -> Result<usize, Corrupt> {
        for text in &self.texts {
            let Some(value) = values.get_mut(text.column) else {
                return Err(no_column(text.column, values.len()));
            };
            let stored = match text.length {
                LengthPlace::Fixed(fixed) => fixed.read(tuple, length)??,
                LengthPlace::Small(_) => length(*value)?,
            };
            let Some(bytes) = stored else {
                *value = text.value(tuple, None)?;
                continue;
            };
            let end = start.saturating_add(bytes);
            let found = tuple.get(start..end);
            *value = text.value(tuple, Some(found.ok_or_else(|| cut_short(tuple.len()))?))?;
            start = end;
        }
        Ok(start)
    }

    /// Bits of part 1 that mean nothing must be zeros, so that a later version may give them a meaning.
    #[inline]
    fn check_part_1(&self, tuple: &[u8]) -> Result<(), Corrupt> {
        let used = self.part_1_bits % 8;
        let last = self.part_1_bits / 8;
        match tuple.get(last) {
            Some(byte) if used != 0 && byte >> used != 0 => {
                Err(Corrupt::new("unused bit of part 1 is set", last))
            }
            _ => Ok(()),
        }
    }

    /// Hands the values of column `index` to `sink`. What kind of column it is, is asked once.
    #[inline]
    fn visit<'a>(
        &'a self,
        tuples: impl IntoIterator<Item = &'a [u8]>,
        index: usize,
        mut sink: impl FnMut(TupleValue<'a>),
    ) -> Result<(), Corrupt> {
        match self.places.get(index) {
            Some(&ColumnLocation::Fixed(fixed)) => {
                for tuple in tuples {
                    fixed.read(self.head(tuple)?, &mut sink)?;
                }
            }
            Some(&ColumnLocation::Small(small)) => {
                for tuple in tuples {
                    self.small_value(tuple, small, &mut sink)?;
                }
            }
            Some(&ColumnLocation::Text { number }) => {
                for tuple in tuples {
                    sink(self.text_value(tuple, number)?);
                }
            }
            _ => {
                for tuple in tuples {
                    sink(self.value(tuple, index)?);
                }
            }
        }
        Ok(())
    }
}

impl TupleLayout {
    /// The value of column `column`.
    ///
    /// A dictionary code, a boolean or an uncompressed value is read where it is; a null-suppressed one after one
    /// look-up for each length byte up to its own. A string costs the lengths of those before it besides. A column that was
    /// added costs the length of the tuple as it was before.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes that are read for this column are not what an encoder writes, and when there is no such
    /// column.
    #[inline]
    pub fn field<'a>(&'a self, tuple: &'a [u8], column: usize) -> Result<TupleValue<'a>, Corrupt> {
        if column < self.first.places.len() {
            self.first.value(tuple, column)
        } else {
            self.added_value(tuple, column)
        }
    }

    /// Hands the value of column `column` to `sink`, which then need not go through memory: for those who know what they wait for.
    ///
    /// # Errors
    /// As [`Self::field`]; `sink` has then seen nothing.
    #[inline(always)]
    pub fn field_with<'a, R>(
        &'a self,
        tuple: &'a [u8],
        column: usize,
        sink: impl FnOnce(TupleValue<'a>) -> R,
    ) -> Result<R, Corrupt> {
        let section = &self.first;
        match section.places.get(column) {
            Some(ColumnLocation::Fixed(fixed)) => fixed.read(section.head(tuple)?, sink),
            Some(ColumnLocation::Small(small)) => section.small_value(tuple, *small, sink),
            Some(&ColumnLocation::Open(number)) => {
                let open = section.open.get(number);
                let open = open.ok_or_else(|| no_column(column, section.places.len()))?;
                match section.entry(section.head(tuple)?, open)? {
                    Some(entry) => Ok(sink(entry)),
                    None => section.open_value(tuple, open).map(sink),
                }
            }
            _ => self.field(tuple, column).map(sink),
        }
    }

    fn added_value<'a>(
        &'a self,
        tuple: &'a [u8],
        column: usize,
    ) -> Result<TupleValue<'a>, Corrupt> {
        let mut rest = self.first.rest(tuple)?;
        for added in &self.added {
            let index = column - added.first_column;
            if index < added.section.places.len() {
                let bytes = if rest.is_empty() {
                    &added.missing
                } else {
                    rest
                };
                return added.section.value(bytes, index);
            }
            if !rest.is_empty() {
                rest = added.section.rest(rest)?;
            }
        }
        Err(no_column(column, self.column_count()))
    }

    /// Writes the values of all columns to `values`, which has room for exactly as many.
    ///
    /// # Errors
    /// [`Corrupt`] when `tuple` is not what an encoder writes, or `values` has another length; what `values` holds is then
    /// unspecified.
    #[inline]
    pub fn decode_all<'a>(
        &'a self,
        tuple: &'a [u8],
        values: &mut [TupleValue<'a>],
    ) -> Result<(), Corrupt> {
        let count = self.column_count();
        if values.len() != count {
            return Err(no_column(values.len(), count));
        }
        let (first, mut values) = values.split_at_mut(self.first.places.len());
        let mut end = self.first.decode(tuple, first)?;
        for added in &self.added {
            let (mine, others) = values.split_at_mut(added.section.places.len());
            let rest = tuple.get(end..).unwrap_or_default();
            if rest.is_empty() {
                added.section.decode(&added.missing, mine)?;
            } else {
                end += added.section.decode(rest, mine)?;
            }
            values = others;
        }
        if end == tuple.len() {
            Ok(())
        } else {
            Err(Corrupt::new("bytes follow the last column of a tuple", end))
        }
    }

    /// Hands the value of column `column` in each of `tuples` to `sink`, in order.
    ///
    /// # Errors
    /// As [`Self::field`]; `sink` has then seen the values of the tuples before.
    #[inline]
    pub fn decode_column<'a>(
        &'a self,
        tuples: impl IntoIterator<Item = &'a [u8]>,
        column: usize,
        mut sink: impl FnMut(TupleValue<'a>),
    ) -> Result<(), Corrupt> {
        if column < self.first.places.len() {
            return self.first.visit(tuples, column, sink);
        }
        for tuple in tuples {
            sink(self.added_value(tuple, column)?);
        }
        Ok(())
    }
}
