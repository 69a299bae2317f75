//! One column of a row group, decoded a vector group at a time into Arrow arrays.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, UInt32Array};
use arrow_buffer::{BooleanBuffer, NullBuffer, NullBufferBuilder, ScalarBuffer};
use arrow_schema::DataType;
use arrow_select::take::take;
use quire_codec::{BytesVector, Corrupt, PhysicalType, RowMask, VECTOR_VALUES};
use quire_format::row_group::GROUP_ROWS;
use quire_format::segment::{IntegerRuns, SegmentReader};
use quire_vector::KeySet;

use super::byte_arrays::{bytes_array, dictionary_array, unbuildable};
use super::decode_timer::DecodeTimer;
use super::integers::{GROUP_VECTORS, GroupIntegers, StoredInteger};
use super::selection::{Selection, VectorRows};
use super::shared_arrays::SharedArray;
use crate::types::SqlType;

/// A row of a dictionary's segment that is looked up by itself costs so many times what a value of the array of all of them does.
const FEW_ROWS: usize = 4;

/// A text in an array, beside its bytes.
const VIEW_BYTES: usize = 16;

/// Decodes one column of one row group.
pub(super) struct ColumnReader {
    sql_type: SqlType,
    arrow_type: DataType,
    segment: SegmentReader,
    /// The distinct values and a NULL behind them, of a dictionary segment, once somebody asked.
    dictionary: Option<ArrayRef>,
    /// Of all segments with the same codes.
    shared_array: Option<SharedArray>,
    /// Rows whose values have been read from the dictionary of texts one by one.
    rows_looked_up: usize,
    /// What was decoded last: group, rows of it, values. Later requests for fewer rows of it are cut from this.
    decoded: Option<(usize, Selection, ArrayRef)>,
    integers: GroupIntegers,
    /// A test, and which values of a column that another one determines pass it.
    wanted: Option<(ValueTest, Vec<u64>)>,
    pub(super) timer: DecodeTimer,
    pub(super) vectors_decoded: u64,
    pub(super) vectors_tested: u64,
}

/// A test on integers that is the same for all vectors.
#[derive(Clone)]
pub(super) enum ValueTest {
    Range(RangeInclusive<i64>),
    Members(Arc<KeySet>),
}

impl ValueTest {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Range(one), Self::Range(other)) => one == other,
            (Self::Members(one), Self::Members(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl ColumnReader {
    /// Reads `segment` as a column of a row group of `row_count` rows.
    pub(super) fn open(
        sql_type: SqlType,
        row_count: u64,
        segment: SegmentReader,
    ) -> Result<Self, Corrupt> {
        if segment.row_count() as u64 != row_count {
            let what = format!(
                "segment of {} rows, expected {row_count}",
                segment.row_count()
            );
            return Err(Corrupt::new(what, 0));
        }
        if segment.physical_type() != sql_type.physical_type() {
            let what = format!(
                "segment of {} values for {sql_type}",
                segment.physical_type()
            );
            return Err(Corrupt::new(what, 0));
        }
        Ok(ColumnReader {
            sql_type,
            arrow_type: sql_type.arrow_type(),
            segment,
            dictionary: None,
            shared_array: None,
            rows_looked_up: 0,
            decoded: None,
            integers: GroupIntegers::default(),
            wanted: None,
            timer: DecodeTimer::default(),
            vectors_decoded: 0,
            vectors_tested: 0,
        })
    }

    /// The codes of the segment are those of a shared dictionary, whose array this is.
    pub(super) fn set_shared_array(&mut self, array: SharedArray) {
        self.dictionary = array.get().cloned();
        self.shared_array = Some(array);
    }

    pub(super) fn segment(&self) -> &SegmentReader {
        &self.segment
    }

    pub(super) fn physical_type(&self) -> PhysicalType {
        self.segment.physical_type()
    }

    /// The integers of a vector of a group. Values past the row count, and those of NULL rows, are unspecified.
    pub(super) fn integers<T: StoredInteger>(
        &mut self,
        group: usize,
        vector: usize,
    ) -> Result<&[T; VECTOR_VALUES], Corrupt> {
        let is_new = self.integers.decoded::<T>(group, vector).is_none();
        let timed = is_new.then(|| self.timer.begin_vector()).flatten();
        let values = self.integers.vector(&mut self.segment, group, vector)?;
        if is_new {
            self.timer.end(timed, size_of_val(values));
            self.vectors_decoded += 1;
        }
        Ok(values)
    }

    /// The rows of a vector of a group that pass a test, if the column is determined by another one: the values of that one's keys are tested once. `None` for
    /// other columns. Rows that are NULL do not pass.
    pub(super) fn mask_of_values(
        &mut self,
        group: usize,
        vector: usize,
        test: &ValueTest,
    ) -> Result<Option<RowMask>, Corrupt> {
        if !self
            .wanted
            .as_ref()
            .is_some_and(|(known, _)| known.is_same(test))
        {
            let wanted = match test {
                ValueTest::Range(range) => {
                    self.segment.values_where(|value| range.contains(&value))
                }
                ValueTest::Members(set) => self.segment.values_where(|value| set.contains(value)),
            };
            let Some(wanted) = wanted else {
                return Ok(None);
            };
            self.wanted = Some((test.clone(), wanted));
        }
        let Some((_, wanted)) = &self.wanted else {
            return Ok(None);
        };
        let mut mask = RowMask::default();
        let vector = group * GROUP_VECTORS + vector;
        let timed = self.timer.begin_vector();
        self.segment.select_values(vector, wanted, &mut mask)?;
        self.timer.end(timed, 0);
        self.vectors_tested += 1;
        Ok(Some(mask))
    }

    /// Appends the runs of a vector of a group; see [`SegmentReader::append_runs`].
    pub(super) fn append_runs(
        &mut self,
        group: usize,
        vector: usize,
        runs: &mut IntegerRuns,
    ) -> Result<bool, Corrupt> {
        let vector = group * GROUP_VECTORS + vector;
        self.vectors_decoded += 1;
        let timed = self.timer.begin_vector();
        let appended = self.segment.append_runs(vector, runs)?;
        self.timer.end(timed, 0);
        Ok(appended)
    }

    /// Integers of the column as an array of its type.
    pub(super) fn integer_array(&self, values: &[i64]) -> Result<ArrayRef, Corrupt> {
        let values = values.iter();
        match self.sql_type {
            SqlType::SmallInt => {
                self.primitive::<Int16Type>(values.map(|&value| value as i16).collect(), None)
            }
            SqlType::Integer => {
                self.primitive::<Int32Type>(values.map(|&value| value as i32).collect(), None)
            }
            SqlType::Date => {
                self.primitive::<Date32Type>(values.map(|&value| value as i32).collect(), None)
            }
            SqlType::Timestamp | SqlType::TimestampTz => {
                self.primitive::<TimestampMicrosecondType>(values.copied().collect(), None)
            }
            SqlType::Decimal { .. } => {
                let values = values.map(|&value| i128::from(value)).collect();
                self.primitive::<Decimal128Type>(values, None)
            }
            _ => self.primitive::<Int64Type>(values.copied().collect(), None),
        }
    }

    /// The marked rows of a vector of a group that are not NULL.
    pub(super) fn present(
        &mut self,
        group: usize,
        vector: usize,
        mut marked: RowMask,
    ) -> Result<RowMask, Corrupt> {
        if let Some(valid) = self.valid(group, vector)? {
            for (rows, valid) in marked.iter_mut().zip(valid) {
                *rows &= valid;
            }
        }
        Ok(marked)
    }

    /// The rows of a vector of a group that are not NULL; `None` if no row of the segment is.
    fn valid(&mut self, group: usize, vector: usize) -> Result<Option<RowMask>, Corrupt> {
        if self.segment.null_count() == 0 {
            return Ok(None);
        }
        let mut valid = RowMask::default();
        let vector = group * GROUP_VECTORS + vector;
        self.segment.validity(vector, &mut valid)?;
        Ok(Some(valid))
    }

    /// The selected rows of a vector group.
    pub(super) fn array(
        &mut self,
        group: usize,
        selection: &Selection,
    ) -> Result<ArrayRef, Corrupt> {
        if let Some((decoded_group, decoded, array)) = &self.decoded
            && *decoded_group == group
        {
            if decoded.len() == selection.len() {
                return Ok(Arc::clone(array));
            }
            let positions = selection.positions_in(decoded);
            return take(array, &positions, None).map_err(unbuildable);
        }
        let timed = DecodeTimer::begin_group();
        let array = self.decode(group, selection)?;
        let value_bytes = self.sql_type.physical_type().value_bytes();
        let value_bytes = value_bytes.unwrap_or(VIEW_BYTES);
        self.timer.end(Some(timed), array.len() * value_bytes);
        self.decoded = Some((group, selection.clone(), Arc::clone(&array)));
        Ok(array)
    }

    fn decode(&mut self, group: usize, selection: &Selection) -> Result<ArrayRef, Corrupt> {
        let nulls = self.nulls(group, selection)?;
        match self.sql_type {
            SqlType::Boolean => {
                let access = self.access(SegmentReader::decode_bool, SegmentReader::value_bool);
                let values = self.gather(group, selection, &access, |one| one)?;
                let values = BooleanBuffer::collect_bool(values.len(), |index| values[index]);
                Ok(Arc::new(BooleanArray::new(values, nulls)))
            }
            SqlType::SmallInt => {
                let values = self.gather_integers::<i16, _>(group, selection, |one| one)?;
                self.primitive::<Int16Type>(values, nulls)
            }
            SqlType::Integer => {
                let values = self.gather_integers::<i32, _>(group, selection, |one| one)?;
                self.primitive::<Int32Type>(values, nulls)
            }
            SqlType::Date => {
                let values = self.gather_integers::<i32, _>(group, selection, |one| one)?;
                self.primitive::<Date32Type>(values, nulls)
            }
            SqlType::BigInt => {
                let values = self.gather_integers::<i64, _>(group, selection, |one| one)?;
                self.primitive::<Int64Type>(values, nulls)
            }
            SqlType::Timestamp | SqlType::TimestampTz => {
                let values = self.gather_integers::<i64, _>(group, selection, |one| one)?;
                self.primitive::<TimestampMicrosecondType>(values, nulls)
            }
            SqlType::Real => {
                let access = self.access(SegmentReader::decode_f32, SegmentReader::value_f32);
                let values = self.gather(group, selection, &access, |one| one)?;
                self.primitive::<Float32Type>(values, nulls)
            }
            SqlType::Double => {
                let access = self.access(SegmentReader::decode_f64, SegmentReader::value_f64);
                let values = self.gather(group, selection, &access, |one| one)?;
                self.primitive::<Float64Type>(values, nulls)
            }
            SqlType::Decimal { .. } => {
                let values = self.decimals(group, selection)?;
                self.primitive::<Decimal128Type>(values, nulls)
            }
            SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) | SqlType::Bytea => {
                self.decode_bytes(group, selection, nulls)
            }
        }
    }

    /// The values of the selected rows. Where a vector has few, these are read; otherwise it is decoded, one at a time in the cache.
    fn gather<T: Copy + Default, U>(
        &mut self,
        group: usize,
        selection: &Selection,
        access: &ValueAccess<T>,
        convert: impl Fn(T) -> U,
    ) -> Result<Vec<U>, Corrupt> {
        let mut gathered = Vec::with_capacity(selection.len());
        let mut values = [T::default(); VECTOR_VALUES];
        for (vector, rows) in selection.vectors() {
            self.vectors_decoded += 1;
            if let Some(rows) = rows.few(access.few) {
                let first = group * GROUP_ROWS;
                for row in rows.iter().map(|&row| first + row as usize) {
                    gathered.push(convert((access.value)(&mut self.segment, row)?));
                }
                continue;
            }
            let vector = group * GROUP_VECTORS + vector;
            (access.decode)(&mut self.segment, vector, &mut values)?;
            append_rows(&values, rows, &convert, &mut gathered);
        }
        Ok(gathered)
    }

    /// As [`ColumnReader::gather`], from the vectors that a test has decoded.
    fn gather_integers<T: StoredInteger, U>(
        &mut self,
        group: usize,
        selection: &Selection,
        convert: impl Fn(T) -> U,
    ) -> Result<Vec<U>, Corrupt> {
        let mut gathered = Vec::with_capacity(selection.len());
        let mut buffer = [T::default(); VECTOR_VALUES];
        let few = self.segment.few_rows();
        for (vector, rows) in selection.vectors() {
            if let Some(values) = self.integers.decoded::<T>(group, vector) {
                append_rows(values, rows, &convert, &mut gathered);
                continue;
            }
            self.vectors_decoded += 1;
            if let Some(rows) = rows.few(few) {
                let first = group * GROUP_ROWS;
                for row in rows.iter().map(|&row| first + row as usize) {
                    gathered.push(convert(T::value(&mut self.segment, row)?));
                }
                continue;
            }
            T::decode(
                &mut self.segment,
                group * GROUP_VECTORS + vector,
                &mut buffer,
            )?;
            append_rows(&buffer, rows, &convert, &mut gathered);
        }
        Ok(gathered)
    }

    /// Decimals are widened to the 128 bits of Arrow while they are in the cache.
    fn decimals(&mut self, group: usize, selection: &Selection) -> Result<Vec<i128>, Corrupt> {
        if self.segment.physical_type() == quire_codec::PhysicalType::Int64 {
            self.gather_integers::<i64, _>(group, selection, i128::from)
        } else {
            let access = self.access(SegmentReader::decode_i128, SegmentReader::value_i128);
            self.gather(group, selection, &access, |value| value)
        }
    }

    fn access<T>(
        &self,
        decode: DecodeVector<T>,
        value: fn(&mut SegmentReader, usize) -> Result<T, Corrupt>,
    ) -> ValueAccess<T> {
        let few = self.segment.few_rows();
        ValueAccess { few, decode, value }
    }

    fn primitive<T: ArrowPrimitiveType>(
        &self,
        values: Vec<T::Native>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, Corrupt> {
        let array = PrimitiveArray::<T>::try_new(ScalarBuffer::from(values), nulls);
        let array = array.map_err(unbuildable)?;
        Ok(Arc::new(array.with_data_type(self.arrow_type.clone())))
    }

    /// Which selected rows are not NULL; `None` when none is.
    fn nulls(
        &mut self,
        group: usize,
        selection: &Selection,
    ) -> Result<Option<NullBuffer>, Corrupt> {
        if self.segment.null_count() == 0 {
            return Ok(None);
        }
        let mut valid = [RowMask::default(); GROUP_VECTORS];
        for vector in selection.vector_numbers() {
            let words = &mut valid[vector];
            self.segment
                .validity(group * GROUP_VECTORS + vector, words)?;
        }
        let nulls = NullBuffer::new(selection.gather_bits(&valid));
        Ok((nulls.null_count() > 0).then_some(nulls))
    }

    /// The codes of the selected rows of a dictionary segment.
    fn codes(&mut self, group: usize, selection: &Selection) -> Result<Vec<u32>, Corrupt> {
        let access = ValueAccess {
            few: self.segment.few_codes(),
            decode: SegmentReader::decode_codes,
            value: SegmentReader::code,
        };
        self.gather(group, selection, &access, |code| code)
    }

    /// The rows of a vector of a group that `select` marks and that are not NULL, and those that are if `null_matches`. Bits past the row
    /// count are unspecified.
    pub(super) fn mask(
        &mut self,
        group: usize,
        vector: usize,
        null_matches: bool,
        select: impl FnOnce(&mut SegmentReader, usize, &mut RowMask) -> Result<(), Corrupt>,
    ) -> Result<RowMask, Corrupt> {
        let mut mask = RowMask::default();
        let timed = self.timer.begin_vector();
        select(&mut self.segment, group * GROUP_VECTORS + vector, &mut mask)?;
        self.timer.end(timed, 0);
        self.vectors_tested += 1;
        if let Some(valid) = self.valid(group, vector)? {
            for (word, valid) in mask.iter_mut().zip(valid) {
                *word = if null_matches {
                    *word | !valid
                } else {
                    *word & valid
                };
            }
        }
        Ok(mask)
    }

    /// The distinct values of a dictionary segment, and a NULL behind them.
    pub(super) fn dictionary(&mut self) -> Result<Option<ArrayRef>, Corrupt> {
        if self.dictionary.is_none() {
            let own = dictionary_array(self.sql_type, &self.segment)?;
            self.dictionary = match (&self.shared_array, own) {
                // Another reader may have been faster.
                (Some(shared), Some(own)) => Some(Arc::clone(shared.get_or_init(|| own))),
                (_, own) => own,
            };
        }
        Ok(self.dictionary.clone())
    }

    /// Whether so few rows have been asked for, with these, that an array of all texts of the dictionary does not pay.
    pub(super) fn are_few(&self, rows: usize) -> bool {
        self.dictionary.is_none()
            && self.sql_type.physical_type() == PhysicalType::Bytes
            && self.segment.dictionary_len().is_some_and(|length| {
                (self.rows_looked_up + rows).saturating_mul(FEW_ROWS) <= length
            })
    }

    /// The texts of a few rows of a dictionary segment.
    fn look_up(
        &mut self,
        group: usize,
        selection: &Selection,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, Corrupt> {
        self.rows_looked_up += selection.len();
        let codes = self.codes(group, selection)?;
        let mut gathered = BytesVector::new();
        let mut valid = NullBufferBuilder::new(codes.len());
        for (row, code) in codes.into_iter().enumerate() {
            let is_valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
                && self.segment.dictionary_is_valid(code);
            valid.append(is_valid);
            gathered.push(match self.segment.dictionary_bytes(code) {
                Some(value) if is_valid => value,
                None if is_valid => return Err(Corrupt::new("a code of no value", 0)),
                _ => &[],
            })?;
        }
        bytes_array(self.sql_type, gathered, valid.finish())
    }

    fn decode_bytes(
        &mut self,
        group: usize,
        selection: &Selection,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, Corrupt> {
        if self.are_few(selection.len()) {
            return self.look_up(group, selection, nulls);
        }
        if let Some(dictionary) = self.dictionary()? {
            let codes = self.codes(group, selection)?;
            let codes = UInt32Array::new(ScalarBuffer::from(codes), nulls);
            return take(&dictionary, &codes, None).map_err(unbuildable);
        }
        let mut gathered = BytesVector::new();
        gathered.offsets.reserve(selection.len());
        for (vector, rows) in selection.vectors() {
            let vector = group * GROUP_VECTORS + vector;
            self.vectors_decoded += 1;
            match rows {
                VectorRows::First(_) => {
                    self.segment.decode_bytes(vector, &mut gathered)?;
                }
                VectorRows::Rows(rows) => {
                    self.segment.decode_byte_rows(vector, rows, &mut gathered)?;
                }
            }
        }
        self.timer.decoded_bytes += gathered.data.len() as u64;
        bytes_array(self.sql_type, gathered, nulls)
    }
}

type DecodeVector<T> =
    fn(&mut SegmentReader, usize, &mut [T; VECTOR_VALUES]) -> Result<usize, Corrupt>;

/// How values of one type are read.
struct ValueAccess<T> {
    /// Rows of a vector up to which they are read one by one.
    few: usize,
    decode: DecodeVector<T>,
    value: fn(&mut SegmentReader, usize) -> Result<T, Corrupt>,
}

/// Appends the values of some rows of a vector.
fn append_rows<T: Copy, U>(
    values: &[T; VECTOR_VALUES],
    rows: VectorRows<'_>,
    convert: impl Fn(T) -> U,
    gathered: &mut Vec<U>,
) {
    match rows {
        VectorRows::First(count) => {
            gathered.extend(values[..count].iter().map(|&value| convert(value)));
        }
        VectorRows::Rows(rows) => {
            let value = |&row: &u32| convert(values[row as usize % VECTOR_VALUES]);
            gathered.extend(rows.iter().map(value));
        }
    }
}
