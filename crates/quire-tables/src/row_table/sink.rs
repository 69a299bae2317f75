//! Values become Arrow arrays.

use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BinaryViewArray, BooleanArray, PrimitiveArray, StringViewArray};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, ScalarBuffer};
use quire_codec::Corrupt;
use quire_codec::text::CodedText;
use quire_format::tuple::TupleValue;

use super::overflow_mark::{OverflowMark, StoredString};
use crate::types::SqlType;

/// Strings of at most so many bytes are in their view.
const INLINE_BYTES_MAX: usize = 12;

/// The buffers of a view array: what values were read from, what was copied, and one for each long value.
const SOURCE_BUFFER: u32 = 0;
const COPY_BUFFER: u32 = 1;
const FIRST_LONG_BUFFER: u32 = 2;

/// Gathers the values of one column.
pub(super) struct ColumnSink {
    sql_type: SqlType,
    values: SinkValues,
    nulls: NullBufferBuilder,
    failure: Option<Corrupt>,
}

enum SinkValues {
    Boolean(BooleanBufferBuilder),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Decimal(Vec<i128>),
    Real(Vec<f32>),
    Double(Vec<f64>),
    Views(Views),
}

/// Views of strings. Those that are in the source stay there.
struct Views {
    views: Vec<u128>,
    /// Address and length of the source.
    source: (usize, usize),
    copies: Vec<u8>,
    /// Address and length of what was copied last, and its view: the value of rows older than a column is the same for all.
    last: (usize, usize, u128),
    marked: bool,
    long: Vec<(usize, OverflowMark)>,
}

impl Views {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> Result<(), Corrupt> {
        if !self.marked {
            return self.push_whole(bytes);
        }
        match StoredString::read(bytes)? {
            StoredString::Whole(bytes) => self.push_whole(bytes),
            StoredString::CutOut(mark) => {
                self.long.push((self.views.len(), mark));
                self.views.push(0);
                Ok(())
            }
        }
    }

    #[inline]
    fn push_whole(&mut self, bytes: &[u8]) -> Result<(), Corrupt> {
        if bytes.len() <= INLINE_BYTES_MAX {
            self.views.push(make_view(bytes, 0, 0));
            return Ok(());
        }
        let (source, source_bytes) = self.source;
        let offset = (bytes.as_ptr() as usize).wrapping_sub(source);
        match u32::try_from(offset) {
            Ok(known) if offset < source_bytes && bytes.len() <= source_bytes - offset => {
                self.views.push(make_view(bytes, SOURCE_BUFFER, known));
                Ok(())
            }
            _ => self.copy(bytes),
        }
    }

    /// A string that the source has in codes.
    fn push_coded(&mut self, text: CodedText<'_>) -> Result<(), Corrupt> {
        let start = self.copies.len();
        let offset = u32::try_from(start).map_err(|_| too_many_bytes())?;
        text.append_to(&mut self.copies)?;
        let bytes = self.copies.get(start..).unwrap_or_default();
        self.views.push(make_view(bytes, COPY_BUFFER, offset));
        if bytes.len() <= INLINE_BYTES_MAX {
            self.copies.truncate(start);
        }
        Ok(())
    }

    #[inline(never)]
    fn copy(&mut self, bytes: &[u8]) -> Result<(), Corrupt> {
        let (address, length, view) = self.last;
        let same = address == bytes.as_ptr() as usize && length == bytes.len();
        let stored = if same {
            let offset = (view >> 96) as usize;
            self.copies.get(offset..offset + length)
        } else {
            None
        };
        if stored == Some(bytes) {
            self.views.push(view);
            return Ok(());
        }
        let offset = u32::try_from(self.copies.len()).map_err(|_| too_many_bytes())?;
        self.copies.extend_from_slice(bytes);
        let view = make_view(bytes, COPY_BUFFER, offset);
        self.last = (bytes.as_ptr() as usize, bytes.len(), view);
        self.views.push(view);
        Ok(())
    }
}

fn too_many_bytes() -> Corrupt {
    Corrupt::new("strings of a batch take more than 4 GiB", 0)
}

fn no_value_of(sql_type: SqlType) -> Corrupt {
    Corrupt::new(format!("value is not one of {sql_type}"), 0)
}

impl ColumnSink {
    /// A sink for about `rows` values of `sql_type`. Strings that lie in `source` stay there. `marked` says whether
    /// strings may have been cut out or escaped.
    pub(super) fn new(sql_type: SqlType, rows: usize, source: &[u8], marked: bool) -> Self {
        let values = match sql_type {
            SqlType::Boolean => SinkValues::Boolean(BooleanBufferBuilder::new(rows)),
            SqlType::SmallInt => SinkValues::Int16(Vec::with_capacity(rows)),
            SqlType::Integer | SqlType::Date => SinkValues::Int32(Vec::with_capacity(rows)),
            SqlType::BigInt | SqlType::Timestamp | SqlType::TimestampTz => {
                SinkValues::Int64(Vec::with_capacity(rows))
            }
            SqlType::Decimal { .. } => SinkValues::Decimal(Vec::with_capacity(rows)),
            SqlType::Real => SinkValues::Real(Vec::with_capacity(rows)),
            SqlType::Double => SinkValues::Double(Vec::with_capacity(rows)),
            SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) | SqlType::Bytea => {
                SinkValues::Views(Views {
                    views: Vec::with_capacity(rows),
                    source: (source.as_ptr() as usize, source.len()),
                    copies: Vec::new(),
                    last: (0, 0, 0),
                    marked,
                    long: Vec::new(),
                })
            }
        };
        Self {
            sql_type,
            values,
            nulls: NullBufferBuilder::new(rows),
            failure: None,
        }
    }

    /// Adds a value.
    #[inline(always)]
    pub(super) fn push(&mut self, value: TupleValue<'_>) {
        if value == TupleValue::Null {
            return self.push_null();
        }
        match (&mut self.values, value) {
            (SinkValues::Int32(values), TupleValue::Integer(value)) => values.push(value as i32),
            (SinkValues::Int64(values), TupleValue::Integer(value)) => values.push(value),
            (SinkValues::Decimal(values), TupleValue::Wide(value)) => values.push(value),
            (SinkValues::Views(views), TupleValue::Bytes(bytes)) => {
                if let Err(error) = views.push(bytes) {
                    self.failure = Some(error);
                }
            }
            (SinkValues::Views(views), TupleValue::Coded(text)) => {
                if let Err(error) = views.push_coded(text) {
                    self.failure = Some(error);
                }
            }
            (SinkValues::Int16(values), TupleValue::Integer(value)) => values.push(value as i16),
            (SinkValues::Boolean(values), TupleValue::Bool(value)) => values.append(value),
            (SinkValues::Real(values), TupleValue::Float32(value)) => values.push(value),
            (SinkValues::Double(values), TupleValue::Float64(value)) => values.push(value),
            _ => self.failure = Some(no_value_of(self.sql_type)),
        }
        self.nulls.append_non_null();
    }

    fn push_null(&mut self) {
        match &mut self.values {
            SinkValues::Boolean(values) => values.append(false),
            SinkValues::Int16(values) => values.push(0),
            SinkValues::Int32(values) => values.push(0),
            SinkValues::Int64(values) => values.push(0),
            SinkValues::Decimal(values) => values.push(0),
            SinkValues::Real(values) => values.push(0.0),
            SinkValues::Double(values) => values.push(0.0),
            SinkValues::Views(views) => views.views.push(0),
        }
        self.nulls.append_null();
    }

    /// Whether views may point into the source.
    pub(super) fn needs_source(&self) -> bool {
        match &self.values {
            SinkValues::Views(views) => {
                let in_source = |view: &u128| {
                    *view as u32 as usize > INLINE_BYTES_MAX
                        && (*view >> 64) as u32 == SOURCE_BUFFER
                };
                views.views.iter().any(in_source)
            }
            _ => false,
        }
    }

    /// The array. `source` is what was given when the sink was made; `long` puts together the value of a row that was
    /// cut out.
    pub(super) fn finish<E: From<Corrupt>>(
        mut self,
        source: &Buffer,
        long: impl FnMut(usize, OverflowMark) -> Result<Vec<u8>, E>,
    ) -> Result<ArrayRef, E> {
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        let nulls = self.nulls.finish();
        let sql_type = self.sql_type;
        Ok(match self.values {
            SinkValues::Boolean(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            SinkValues::Int16(values) => primitive::<Int16Type>(sql_type, values, nulls),
            SinkValues::Int32(values) if sql_type == SqlType::Date => {
                primitive::<Date32Type>(sql_type, values, nulls)
            }
            SinkValues::Int32(values) => primitive::<Int32Type>(sql_type, values, nulls),
            SinkValues::Int64(values) if sql_type == SqlType::BigInt => {
                primitive::<Int64Type>(sql_type, values, nulls)
            }
            SinkValues::Int64(values) => {
                primitive::<TimestampMicrosecondType>(sql_type, values, nulls)
            }
            SinkValues::Decimal(values) => primitive::<Decimal128Type>(sql_type, values, nulls),
            SinkValues::Real(values) => primitive::<Float32Type>(sql_type, values, nulls),
            SinkValues::Double(values) => primitive::<Float64Type>(sql_type, values, nulls),
            SinkValues::Views(views) => views.finish(sql_type, nulls, source, long)?,
        })
    }
}

fn primitive<T: ArrowPrimitiveType>(
    sql_type: SqlType,
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls);
    Arc::new(array.with_data_type(sql_type.arrow_type()))
}

impl Views {
    fn finish<E: From<Corrupt>>(
        mut self,
        sql_type: SqlType,
        nulls: Option<NullBuffer>,
        source: &Buffer,
        mut long: impl FnMut(usize, OverflowMark) -> Result<Vec<u8>, E>,
    ) -> Result<ArrayRef, E> {
        let mut buffers = vec![source.clone(), Buffer::from_vec(self.copies)];
        for (number, (row, mark)) in self.long.into_iter().enumerate() {
            let bytes = long(row, mark)?;
            if let Some(view) = self.views.get_mut(row) {
                *view = make_view(&bytes, FIRST_LONG_BUFFER + number as u32, 0);
            }
            buffers.push(Buffer::from_vec(bytes));
        }
        let views = ScalarBuffer::from(self.views);
        Ok(if sql_type.is_text() {
            let array = StringViewArray::try_new(views, buffers, nulls);
            Arc::new(array.map_err(|error| Corrupt::new(error.to_string(), 0))?)
        } else {
            let array = BinaryViewArray::try_new(views, buffers, nulls);
            Arc::new(array.map_err(|error| Corrupt::new(error.to_string(), 0))?)
        })
    }
}

/// The array of some values of one type.
///
/// # Errors
/// Values of another type; text that is not UTF-8.
pub fn array_of_values<'a>(
    sql_type: SqlType,
    values: impl IntoIterator<Item = TupleValue<'a>>,
) -> Result<ArrayRef, Corrupt> {
    let values = values.into_iter();
    let mut sink = ColumnSink::new(sql_type, values.size_hint().0, &[], false);
    for value in values {
        sink.push(value);
    }
    sink.finish(&Buffer::from_vec(Vec::<u8>::new()), |_, _| {
        Err(no_value_of(sql_type))
    })
}
