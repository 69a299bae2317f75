//! Keys of a sort as codes that compare as they do.

use datafusion::arrow::array::{Array, ArrayData, ArrayRef, AsArray, StringViewArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{ArrowNativeType, DataType, Float32Type, Float64Type};
use datafusion::common::{Result, internal_err};
use quire_vector::{SortDirection, SortWords};

/// Bytes of a text that fit into a word beside its length.
const WHOLE_TEXT_BYTES: usize = 7;

/// So many bytes that all texts begin with are left out of their words.
const PREFIX_BYTES_MAX: usize = 64;

/// What is known of a key in all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SortKeyBounds {
    /// The least and the greatest integer; none of other types, or without values.
    integers: Option<(i128, i128)>,
    /// None of other types, or without values.
    texts: Option<TextBounds>,
    has_nulls: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TextBounds {
    /// What all of them begin with.
    prefix: Vec<u8>,
    bytes_max: usize,
}

pub(super) fn is_supported(data_type: &DataType) -> bool {
    integer_width(data_type).is_some()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Float32
                | DataType::Float64
                | DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
        )
}

/// Bytes of the integers of a type, and whether these have a sign.
fn integer_width(data_type: &DataType) -> Option<(usize, bool)> {
    use DataType::{Date32, Date64, Decimal128, Duration, Time32, Time64, Timestamp};
    let is_integer = data_type.is_integer()
        || matches!(
            data_type,
            Date32 | Date64 | Decimal128(..) | Time32(_) | Time64(_) | Timestamp(..) | Duration(_)
        );
    let width = data_type.primitive_width().filter(|_| is_integer)?;
    Some((width, !data_type.is_unsigned_integer()))
}

/// Calls a function with the integers of an array, whatever stands in the place of its NULLs, as an iterator over `i128`.
macro_rules! with_integers {
    ($values:expr, $call:ident $(, $argument:expr)*) => {
        match integer_width($values.data_type()) {
            Some((1, true)) => $call(natives::<i8>(&$values.to_data()), $($argument),*),
            Some((2, true)) => $call(natives::<i16>(&$values.to_data()), $($argument),*),
            Some((4, true)) => $call(natives::<i32>(&$values.to_data()), $($argument),*),
            Some((8, true)) => $call(natives::<i64>(&$values.to_data()), $($argument),*),
            Some((16, true)) => $call(natives::<i128>(&$values.to_data()), $($argument),*),
            Some((1, false)) => $call(natives::<u8>(&$values.to_data()), $($argument),*),
            Some((2, false)) => $call(natives::<u16>(&$values.to_data()), $($argument),*),
            Some((4, false)) => $call(natives::<u32>(&$values.to_data()), $($argument),*),
            Some((8, false)) => $call(natives::<u64>(&$values.to_data()), $($argument),*),
            _ => return internal_err!("{} has no integers", $values.data_type()),
        }
    };
}

fn natives<T: ArrowNativeType + Into<i128>>(
    data: &ArrayData,
) -> impl ExactSizeIterator<Item = i128> + Clone {
    data.buffer::<T>(0)[..data.len()]
        .iter()
        .map(|value| (*value).into())
}

fn is_valid(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_none_or(|nulls| nulls.is_valid(row))
}

/// The NULLs of an array that has some.
fn some_nulls(values: &ArrayRef) -> Option<&NullBuffer> {
    values.nulls().filter(|nulls| nulls.null_count() > 0)
}

impl SortKeyBounds {
    pub(super) fn of(values: &ArrayRef) -> Result<Self> {
        let nulls = some_nulls(values);
        let mut bounds = Self {
            has_nulls: nulls.is_some(),
            ..Self::default()
        };
        if integer_width(values.data_type()).is_some() {
            bounds.integers = with_integers!(values, extremes, nulls);
        } else if let Some(texts) = values.as_string_view_opt() {
            bounds.texts = TextBounds::of(texts);
        }
        Ok(bounds)
    }

    /// Those of the rows of both.
    pub(super) fn and(self, other: Self) -> Self {
        let integers = [self.integers, other.integers].into_iter().flatten();
        let texts = [self.texts, other.texts].into_iter().flatten();
        Self {
            integers: integers.reduce(widest),
            texts: texts.reduce(TextBounds::and),
            has_nulls: self.has_nulls || other.has_nulls,
        }
    }
}

/// The bounds of each key in all runs.
pub(super) fn common_bounds<'a>(
    runs: impl Iterator<Item = &'a [SortKeyBounds]>,
) -> Vec<SortKeyBounds> {
    let both = |one: Vec<SortKeyBounds>, other: Vec<SortKeyBounds>| {
        let keys = one.into_iter().zip(other);
        keys.map(|(one, other)| one.and(other)).collect()
    };
    runs.map(<[_]>::to_vec).reduce(both).unwrap_or_default()
}

fn extremes(
    values: impl ExactSizeIterator<Item = i128>,
    nulls: Option<&NullBuffer>,
) -> Option<(i128, i128)> {
    let valid = values.enumerate().filter(|(row, _)| is_valid(nulls, *row));
    valid.map(|(_, value)| (value, value)).reduce(widest)
}

fn widest(one: (i128, i128), other: (i128, i128)) -> (i128, i128) {
    (one.0.min(other.0), one.1.max(other.1))
}

impl TextBounds {
    /// Nothing if all are NULL.
    fn of(texts: &StringViewArray) -> Option<Self> {
        let mut valid = texts.iter().flatten();
        let first = valid.next()?.as_bytes();
        let mut bounds = Self {
            prefix: first[..first.len().min(PREFIX_BYTES_MAX)].to_vec(),
            bytes_max: first.len(),
        };
        for text in valid {
            let shared = shared_bytes(&bounds.prefix, text.as_bytes());
            bounds.prefix.truncate(shared);
            bounds.bytes_max = bounds.bytes_max.max(text.len());
        }
        Some(bounds)
    }

    fn and(mut self, other: Self) -> Self {
        let shared = shared_bytes(&self.prefix, &other.prefix);
        self.prefix.truncate(shared);
        self.bytes_max = self.bytes_max.max(other.bytes_max);
        self
    }

    /// Whether a word tells all of them apart.
    fn fit_into_word(&self) -> bool {
        self.bytes_max - self.prefix.len() <= WHOLE_TEXT_BYTES
    }
}

/// How many bytes two texts begin with alike.
fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    let pairs = one.iter().zip(other);
    pairs.take_while(|(one, other)| one == other).count()
}

/// Appends a key to the words of its rows. Returns whether words that are the same mean that the keys are.
pub(super) fn pack(
    values: &ArrayRef,
    bounds: &SortKeyBounds,
    direction: SortDirection,
    words: &mut SortWords,
) -> Result<bool> {
    let packing = KeyPacking {
        nulls: some_nulls(values),
        has_nulls: bounds.has_nulls,
        direction,
        words,
    };
    packing.pack(values, bounds)
}

struct KeyPacking<'a> {
    nulls: Option<&'a NullBuffer>,
    /// Whether there are NULLs in any run.
    has_nulls: bool,
    direction: SortDirection,
    words: &'a mut SortWords,
}

impl KeyPacking<'_> {
    fn pack(mut self, values: &ArrayRef, bounds: &SortKeyBounds) -> Result<bool> {
        match values.data_type() {
            DataType::Boolean => {
                let values = values.as_boolean().values();
                let codes = (0..values.len()).map(|row| u64::from(values.value(row)));
                self.push(codes, 1);
            }
            DataType::Float32 => {
                let values = values.as_primitive::<Float32Type>().values().iter();
                let codes = values.map(|value| u64::from(ordered_32(value.to_bits())));
                self.push(codes, u64::from(u32::MAX));
            }
            DataType::Float64 => {
                let values = values.as_primitive::<Float64Type>().values().iter();
                let codes = values.map(|value| ordered_64(value.to_bits()));
                self.push(codes, u64::MAX);
            }
            DataType::Utf8View => return Ok(self.pack_texts(values.as_string_view(), bounds)),
            _ => {
                let range = bounds.integers.unwrap_or((0, 0));
                with_integers!(values, pack_integers, range, &mut self);
            }
        }
        Ok(true)
    }

    fn pack_texts(&mut self, texts: &StringViewArray, bounds: &SortKeyBounds) -> bool {
        let Some(known) = &bounds.texts else {
            // NULLs compare as NULLs.
            self.push((0..texts.len()).map(|_| 0), 0);
            return true;
        };
        let (prefix_bytes, is_whole) = (known.prefix.len(), known.fit_into_word());
        let nulls = self.nulls;
        let codes = (0..texts.len()).map(|row| match is_valid(nulls, row) {
            true => text_code(&texts.value(row).as_bytes()[prefix_bytes..], is_whole),
            false => 0,
        });
        self.push(codes, u64::MAX);
        is_whole
    }

    fn push(&mut self, codes: impl ExactSizeIterator<Item = u64>, code_max: u64) {
        let direction = self.direction;
        match self.nulls {
            None => {
                let codes = codes.map(Some);
                self.words.push(codes, code_max, self.has_nulls, direction);
            }
            Some(nulls) => {
                let codes = codes.zip(nulls.iter());
                let codes = codes.map(|(code, is_valid)| is_valid.then_some(code));
                self.words.push(codes, code_max, self.has_nulls, direction);
            }
        }
    }
}

/// Packs how far integers are from the least one.
fn pack_integers(
    values: impl ExactSizeIterator<Item = i128> + Clone,
    (least, greatest): (i128, i128),
    packing: &mut KeyPacking<'_>,
) {
    // The range may take all 128 bits, and what stands in the place of a NULL may be beyond it.
    let largest = greatest.wrapping_sub(least) as u128;
    let offset = move |value: i128| value.wrapping_sub(least) as u128;
    let high_max = (largest >> u64::BITS) as u64;
    if high_max == 0 {
        packing.push(values.map(|value| offset(value) as u64), largest as u64);
        return;
    }
    let high = values
        .clone()
        .map(|value| (offset(value) >> u64::BITS) as u64);
    packing.push(high, high_max);
    // The upper half tells NULLs.
    let nulls = packing.nulls;
    let low = values
        .enumerate()
        .map(|(row, value)| match is_valid(nulls, row) {
            true => Some(offset(value) as u64),
            false => Some(0),
        });
    packing.words.push(low, u64::MAX, false, packing.direction);
}

/// Bits that compare as floats do in their total order (IEEE 754, §5.10).
fn ordered_64(bits: u64) -> u64 {
    bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
}

fn ordered_32(bits: u32) -> u32 {
    bits ^ (((bits as i32 >> 31) as u32) | 1 << 31)
}

/// The first bytes of a text; of a whole one its length comes behind them, as `a` comes before `a\0`.
fn text_code(text: &[u8], is_whole: bool) -> u64 {
    let mut bytes = [0; 8];
    let taken = text.len().min(if is_whole { WHOLE_TEXT_BYTES } else { 8 });
    bytes[..taken].copy_from_slice(&text[..taken]);
    if is_whole {
        bytes[7] = taken as u8;
    }
    u64::from_be_bytes(bytes)
}
