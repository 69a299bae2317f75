//! Keys of groups and of joins, between columns of Arrow and the packed words of [`GroupTable`](quire_vector::GroupTable).
//!
//! Values of fixed width, and a bit for NULL of each column that may be NULL, share words: two integers of 32 bits take one. The widest come first, so
//! that few bits stay unused. A text has two words, behind those. Values of other types, as lists and rows are, become the bytes that Arrow's
//! row format has for them, and these are packed as texts are.
//!
//! Floats come as [`super::float_keys`] leaves them: equal ones have equal bits.

use std::ops::Range;

use datafusion::arrow::array::{
    Array, ArrayData, ArrayRef, AsArray, BinaryArray, make_array, new_null_array,
};
use datafusion::arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{ArrowNativeType, DataType, Field, Schema};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::{Result, internal_err};
use quire_vector::{GroupKeys, GroupLayout, KeyRows, TextBuffers};

const WORD_BITS: usize = u64::BITS as usize;

/// The columns of a key, and where they are in its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::optimize) struct PackedKeys {
    columns: Vec<PackedColumn>,
    layout: GroupLayout,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PackedColumn {
    data_type: DataType,
    place: PackedPlace,
    null: PackedNull,
}

/// What becomes of a NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackedNull {
    /// There is none.
    Never,
    /// This bit is set.
    Bit(BitPlace),
    /// The caller leaves out rows that have one.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackedPlace {
    /// A value of so many bits, 64 at most.
    Bits(BitPlace, usize),
    /// A value of two whole words, from this one on.
    TwoWords(usize),
    /// The text of this number.
    Text(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BitPlace {
    word: usize,
    shift: usize,
}

/// How values of a type are packed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PackedKind {
    Bits(usize),
    Text,
    /// As a text of the bytes of Arrow's row format.
    Encoded,
}

/// Nothing for a type without an encoding that is the same for equal values.
fn kind_of(data_type: &DataType) -> Option<PackedKind> {
    use DataType::{
        Binary, BinaryView, Boolean, Date32, Date64, Decimal128, Duration, Float32, Float64,
        LargeBinary, LargeUtf8, Time32, Time64, Timestamp, Utf8, Utf8View,
    };
    match data_type {
        Utf8View | Utf8 | LargeUtf8 | BinaryView | Binary | LargeBinary => Some(PackedKind::Text),
        Boolean => Some(PackedKind::Bits(1)),
        Date32 | Date64 | Decimal128(..) | Time32(_) | Time64(_) | Timestamp(..) | Duration(_)
        | Float32 | Float64 => data_type
            .primitive_width()
            .map(|bytes| PackedKind::Bits(8 * bytes)),
        integer if integer.is_integer() => integer
            .primitive_width()
            .map(|bytes| PackedKind::Bits(8 * bytes)),
        other => is_encoded(other).then_some(PackedKind::Encoded),
    }
}

/// Whether values become bytes of Arrow's row format. Of types whose arrays do not say where NULL is they do not.
fn is_encoded(data_type: &DataType) -> bool {
    use DataType::{Decimal256, FixedSizeBinary, FixedSizeList, Interval, LargeList, List, Struct};
    let has_nulls = matches!(
        data_type,
        Decimal256(..)
            | FixedSizeBinary(_)
            | FixedSizeList(..)
            | Interval(_)
            | LargeList(_)
            | List(_)
            | Struct(_)
    );
    has_nulls && RowConverter::supports_fields(&[SortField::new(data_type.clone())])
}

/// The type in which values are packed: texts and bytes as views, whatever form they have.
fn packed_type(data_type: &DataType) -> &DataType {
    use DataType::{Binary, LargeBinary, LargeUtf8, Utf8};
    match data_type {
        Utf8 | LargeUtf8 => &DataType::Utf8View,
        Binary | LargeBinary => &DataType::BinaryView,
        other if is_encoded(other) => &DataType::BinaryView,
        packed => packed,
    }
}

fn encoded(values: &ArrayRef) -> Result<ArrayRef> {
    let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())])?;
    let rows = converter.convert_columns(std::slice::from_ref(values))?;
    let (offsets, bytes, _) = rows.try_into_binary()?.into_parts();
    let bytes = BinaryArray::new(offsets, bytes, values.nulls().cloned());
    Ok(cast(&bytes, &DataType::BinaryView)?)
}

/// The values that have been [`encoded`].
fn decoded(bytes: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let converter = RowConverter::new(vec![SortField::new(data_type.clone())])?;
    let null = converter.convert_columns(&[new_null_array(data_type, 1)])?;
    let parser = converter.parser();
    let rows = bytes.as_binary_view().into_iter();
    let rows = rows.map(|row| row.map_or(null.row(0), |row| parser.parse(row)));
    let mut columns = converter.convert_rows(rows)?;
    match columns.pop() {
        Some(values) => Ok(values),
        None => internal_err!("a key of {data_type} has no values"),
    }
}

/// Keys in the types in which they are packed. Views refer to the bytes of the texts, which are not copied.
pub(in crate::optimize) fn in_packed_types(keys: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
    let keys = keys.into_iter().map(|values| {
        let packed = packed_type(values.data_type());
        match packed == values.data_type() {
            true => Ok(values),
            false if is_encoded(values.data_type()) => encoded(&values),
            false => Ok(cast(&values, packed)?),
        }
    });
    keys.collect()
}

/// Gives bits to values, those of one value in one word.
#[derive(Default)]
struct BitPlaces {
    /// How many bits of each word are taken.
    words: Vec<usize>,
}

impl BitPlaces {
    fn take(&mut self, bits: usize) -> BitPlace {
        let has_space = |taken: &usize| taken + bits <= WORD_BITS;
        let word = self.words.iter().position(has_space);
        let word = word.unwrap_or_else(|| {
            self.words.push(0);
            self.words.len() - 1
        });
        let shift = self.words[word];
        self.words[word] += bits;
        BitPlace { word, shift }
    }

    fn take_two_words(&mut self) -> usize {
        self.words.extend([WORD_BITS; 2]);
        self.words.len() - 2
    }
}

impl PackedKeys {
    /// Packs the keys of a schema, of which NULL is one; `None` if there are none, or if one of their types is not packed.
    pub(in crate::optimize) fn new(keys: &Schema) -> Option<Self> {
        Self::with_nulls(keys, |field, taken| match field.is_nullable() {
            true => PackedNull::Bit(taken.take(1)),
            false => PackedNull::Never,
        })
    }

    /// As [`Self::new`], but that nothing equals NULL: the words of a row that has one are not to be used.
    pub(in crate::optimize) fn of_join(keys: &Schema) -> Option<Self> {
        Self::with_nulls(keys, |_, _| PackedNull::Ignored)
    }

    fn with_nulls(
        keys: &Schema,
        null_of: impl Fn(&Field, &mut BitPlaces) -> PackedNull,
    ) -> Option<Self> {
        let fields = keys.fields();
        let kinds = fields.iter().map(|field| kind_of(field.data_type()));
        let kinds = kinds
            .collect::<Option<Vec<_>>>()
            .filter(|kinds| !kinds.is_empty())?;
        let bits = |kind: &PackedKind| match kind {
            PackedKind::Bits(bits) => *bits,
            PackedKind::Text | PackedKind::Encoded => 0,
        };
        let mut widest_first: Vec<usize> = (0..kinds.len()).collect();
        widest_first.sort_by_key(|column| std::cmp::Reverse(bits(&kinds[*column])));
        let (mut taken, mut text_count) = (BitPlaces::default(), 0);
        let mut places = vec![PackedPlace::Text(0); kinds.len()];
        for column in widest_first {
            places[column] = match kinds[column] {
                PackedKind::Bits(bits) if bits > WORD_BITS => {
                    PackedPlace::TwoWords(taken.take_two_words())
                }
                PackedKind::Bits(bits) => PackedPlace::Bits(taken.take(bits), bits),
                PackedKind::Text | PackedKind::Encoded => {
                    text_count += 1;
                    PackedPlace::Text(text_count - 1)
                }
            };
        }
        let columns = fields
            .iter()
            .zip(places)
            .map(|(field, place)| PackedColumn {
                data_type: field.data_type().clone(),
                place,
                null: null_of(field, &mut taken),
            });
        let columns = columns.collect();
        let fixed_words = taken.words.len();
        Some(Self {
            columns,
            layout: GroupLayout {
                fixed_words,
                text_count,
            },
        })
    }

    pub(in crate::optimize) fn layout(&self) -> GroupLayout {
        self.layout
    }

    /// Packs the keys of a batch of `row_count` rows, which have the types of [`in_packed_types`]. Returns the buffers of its texts.
    pub(in crate::optimize) fn pack<'a>(
        &self,
        keys: &'a [ArrayRef],
        row_count: usize,
        seed: u64,
        rows: &mut KeyRows,
    ) -> Result<Vec<TextBuffers<'a>>> {
        rows.begin(row_count);
        let mut buffers = vec![TextBuffers::new(); self.layout.text_count];
        for (column, values) in self.columns.iter().zip(keys) {
            let packed = packed_type(&column.data_type);
            if values.data_type() != packed {
                return internal_err!("a key is {} and not {packed}", values.data_type());
            }
            column.pack_nulls(values.as_ref(), rows)?;
            match column.place {
                PackedPlace::Text(number) => buffers[number] = pack_texts(values, number, rows),
                PackedPlace::Bits(place, 1) => pack_booleans(values, place, rows),
                PackedPlace::Bits(place, 8) => pack_bits::<u8>(values, place, rows),
                PackedPlace::Bits(place, 16) => pack_bits::<u16>(values, place, rows),
                PackedPlace::Bits(place, 32) => pack_bits::<u32>(values, place, rows),
                PackedPlace::Bits(place, _) => pack_bits::<u64>(values, place, rows),
                PackedPlace::TwoWords(word) => pack_two_words(values, word, rows),
            }
        }
        rows.hash(seed, &buffers);
        Ok(buffers)
    }

    /// The keys of groups, whose columns are made as they are asked for.
    pub(in crate::optimize) fn unpacked(&self, mut keys: GroupKeys) -> UnpackedKeys {
        let blocks = std::mem::take(&mut keys.blocks).into_iter();
        let buffers = |blocks: Vec<Vec<u8>>| blocks.into_iter().map(Buffer::from_vec).collect();
        UnpackedKeys {
            columns: self.columns.clone(),
            blocks: blocks.map(buffers).collect(),
            keys,
        }
    }
}

/// The keys of groups, whose texts stay where they are.
pub(in crate::optimize) struct UnpackedKeys {
    columns: Vec<PackedColumn>,
    keys: GroupKeys,
    blocks: Vec<Vec<Buffer>>,
}

impl UnpackedKeys {
    /// The columns of some groups. Of few at a time, as each column is read from all over the words of the keys.
    pub(in crate::optimize) fn columns(&self, groups: Range<usize>) -> Result<Vec<ArrayRef>> {
        let columns = self.columns.iter();
        let unpack =
            |column: &PackedColumn| column.unpack(&self.keys, groups.clone(), &self.blocks);
        columns.map(unpack).collect()
    }
}

impl PackedColumn {
    fn pack_nulls(&self, values: &dyn Array, rows: &mut KeyRows) -> Result<()> {
        let Some(nulls) = some_nulls(values) else {
            return Ok(());
        };
        let place = match self.null {
            PackedNull::Bit(place) => place,
            PackedNull::Ignored => return Ok(()),
            PackedNull::Never => return internal_err!("a key that is never NULL has a NULL"),
        };
        rows.update(place.word, nulls.iter(), |word, is_valid| {
            *word |= u64::from(!is_valid) << place.shift;
        });
        Ok(())
    }

    fn unpack(
        &self,
        keys: &GroupKeys,
        groups: Range<usize>,
        blocks: &[Vec<Buffer>],
    ) -> Result<ArrayRef> {
        let packed = packed_type(&self.data_type);
        let builder = ArrayData::builder(packed.clone()).len(groups.len());
        let word = |word: usize| keys.word(word, groups.clone());
        let builder = match self.place {
            PackedPlace::Text(number) => {
                let views: Vec<u128> = keys.views(number, groups.clone()).collect();
                let builder = builder.add_buffer(Buffer::from_vec(views));
                builder.add_buffers(blocks[number].clone())
            }
            PackedPlace::Bits(place, 1) => {
                let bits = word(place.word).map(|word| place.bit(word));
                builder.add_buffer(bits.collect::<BooleanBuffer>().into_inner())
            }
            PackedPlace::Bits(place, 8) => {
                builder.add_buffer(place.unpack(word(place.word), |bits| bits as u8))
            }
            PackedPlace::Bits(place, 16) => {
                builder.add_buffer(place.unpack(word(place.word), |bits| bits as u16))
            }
            PackedPlace::Bits(place, 32) => {
                builder.add_buffer(place.unpack(word(place.word), |bits| bits as u32))
            }
            PackedPlace::Bits(place, _) => {
                builder.add_buffer(place.unpack(word(place.word), |bits| bits))
            }
            PackedPlace::TwoWords(low) => {
                let values = word(low).zip(word(low + 1));
                let values =
                    values.map(|(low, high)| u128::from(low) | u128::from(high) << WORD_BITS);
                builder.add_buffer(Buffer::from_vec(values.collect::<Vec<_>>()))
            }
        };
        let nulls = match self.null {
            PackedNull::Bit(place) => {
                let is_valid = word(place.word).map(|word| !place.bit(word));
                Some(is_valid.collect::<NullBuffer>())
            }
            PackedNull::Never | PackedNull::Ignored => None,
        };
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        let values = make_array(builder.nulls(nulls).build()?);
        match *packed == self.data_type {
            true => Ok(values),
            false if is_encoded(&self.data_type) => decoded(&values, &self.data_type),
            false => Ok(cast(&values, &self.data_type)?),
        }
    }
}

impl BitPlace {
    fn bit(self, word: u64) -> bool {
        word >> self.shift & 1 != 0
    }

    fn unpack<T: ArrowNativeType>(
        self,
        words: impl Iterator<Item = u64>,
        narrow: impl Fn(u64) -> T,
    ) -> Buffer {
        let values = words.map(|word| narrow(word >> self.shift));
        Buffer::from_vec(values.collect::<Vec<T>>())
    }
}

fn some_nulls(values: &dyn Array) -> Option<&NullBuffer> {
    values.nulls().filter(|nulls| nulls.null_count() > 0)
}

/// The values of an array of this width.
fn native_values<T: ArrowNativeType>(data: &ArrayData) -> &[T] {
    &data.buffer::<T>(0)[..data.len()]
}

fn pack_bits<T: ArrowNativeType + Into<u64>>(
    values: &ArrayRef,
    place: BitPlace,
    rows: &mut KeyRows,
) {
    let data = values.to_data();
    let natives = native_values::<T>(&data).iter();
    match some_nulls(values) {
        None => rows.update(place.word, natives, |word, value| {
            *word |= (*value).into() << place.shift;
        }),
        Some(nulls) => rows.update(place.word, natives.zip(nulls), |word, (value, is_valid)| {
            // What stands in the place of a NULL may be anything.
            *word |= if is_valid {
                (*value).into() << place.shift
            } else {
                0
            };
        }),
    }
}

fn pack_two_words(values: &ArrayRef, word: usize, rows: &mut KeyRows) {
    let data = values.to_data();
    let natives = native_values::<i128>(&data).iter();
    for (word, shift) in [(word, 0), (word + 1, WORD_BITS)] {
        let halves = natives.clone().map(|value| (value >> shift) as u64);
        match some_nulls(values) {
            None => rows.update(word, halves, |word, half| *word = half),
            Some(nulls) => rows.update(word, halves.zip(nulls), |word, (half, is_valid)| {
                *word = if is_valid { half } else { 0 };
            }),
        }
    }
}

fn pack_booleans(values: &ArrayRef, place: BitPlace, rows: &mut KeyRows) {
    let values = values.as_boolean().iter();
    rows.update(place.word, values, |word, value| {
        *word |= u64::from(value.unwrap_or(false)) << place.shift;
    });
}

fn pack_texts<'a>(values: &'a ArrayRef, number: usize, rows: &mut KeyRows) -> TextBuffers<'a> {
    let (views, buffers) = match values.as_string_view_opt() {
        Some(texts) => (texts.views(), texts.data_buffers()),
        None => (
            values.as_binary_view().views(),
            values.as_binary_view().data_buffers(),
        ),
    };
    match some_nulls(values) {
        None => rows.put_texts(number, views.iter().copied()),
        Some(nulls) => {
            let views = views.iter().zip(nulls);
            let views = views.map(|(view, is_valid)| if is_valid { *view } else { 0 });
            rows.put_texts(number, views);
        }
    }
    buffers.iter().map(|buffer| buffer.as_slice()).collect()
}
