//! Keys of a sort as codes that compare as they do.

use std::cmp::Ordering;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, DynComparator, make_comparator};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{ArrowNativeType, DataType, Float32Type, Float64Type};
use datafusion::common::{Result, internal_err};
use quire_vector::{SortDirection, SortWords};

/// Bytes of a text that fit into a word beside its length.
const WHOLE_TEXT_BYTES: usize = 7;

/// What is known of a key in all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyBounds {
    /// The least and the greatest integer; none of other types, or without values.
    integers: Option<(i128, i128)>,
    text_bytes_max: usize,
    has_nulls: bool,
}

pub(super) fn is_supported(data_type: &DataType) -> bool {
    integer_width(data_type).is_some()
        || matches!(
            data_type,
            DataType::Boolean | DataType::Float32 | DataType::Float64 | DataType::Utf8View
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

/// The integers of an array, whatever stands in the place of its NULLs.
fn integers(values: &dyn Array) -> Result<Vec<i128>> {
    fn of<T: ArrowNativeType + Into<i128>>(values: &dyn Array) -> Vec<i128> {
        let data = values.to_data();
        let natives = &data.buffer::<T>(0)[..data.len()];
        natives.iter().map(|value| (*value).into()).collect()
    }
    Ok(match integer_width(values.data_type()) {
        Some((1, true)) => of::<i8>(values),
        Some((2, true)) => of::<i16>(values),
        Some((4, true)) => of::<i32>(values),
        Some((8, true)) => of::<i64>(values),
        Some((16, true)) => of::<i128>(values),
        Some((1, false)) => of::<u8>(values),
        Some((2, false)) => of::<u16>(values),
        Some((4, false)) => of::<u32>(values),
        Some((8, false)) => of::<u64>(values),
        _ => return internal_err!("{} has no integers", values.data_type()),
    })
}

fn is_valid(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_none_or(|nulls| nulls.is_valid(row))
}

impl KeyBounds {
    pub(super) fn of(values: &ArrayRef) -> Result<Self> {
        let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0);
        let mut bounds = Self {
            has_nulls: nulls.is_some(),
            ..Self::default()
        };
        if integer_width(values.data_type()).is_some() {
            let integers = integers(values.as_ref())?.into_iter().enumerate();
            let valid = integers.filter(|(row, _)| is_valid(nulls, *row));
            bounds.integers = valid.map(|(_, value)| (value, value)).reduce(widest);
        } else if let Some(texts) = values.as_string_view_opt() {
            // The length of a text is in the lowest 32 bits of its view.
            let lengths = texts.views().iter().map(|view| *view as u32 as usize);
            bounds.text_bytes_max = lengths.max().unwrap_or(0);
        }
        Ok(bounds)
    }

    /// Those of the rows of both.
    pub(super) fn and(self, other: Self) -> Self {
        let both = [self.integers, other.integers].into_iter().flatten();
        Self {
            integers: both.reduce(widest),
            text_bytes_max: self.text_bytes_max.max(other.text_bytes_max),
            has_nulls: self.has_nulls || other.has_nulls,
        }
    }
}

fn widest(one: (i128, i128), other: (i128, i128)) -> (i128, i128) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Packs keys from the first on, as long as words compare as they do. Returns how many are packed whole; the next one may be in part.
pub(super) fn pack(
    keys: &[ArrayRef],
    options: &[SortOptions],
    bounds: &[KeyBounds],
    words: &mut SortWords,
) -> Result<usize> {
    for (place, ((values, options), bounds)) in keys.iter().zip(options).zip(bounds).enumerate() {
        let direction = SortDirection {
            is_descending: options.descending,
            nulls_first: options.nulls_first,
        };
        let is_whole = pack_key(values, direction, bounds, words)?;
        if !is_whole {
            return Ok(place);
        }
    }
    Ok(keys.len())
}

/// Packs a key. Returns whether words that are the same mean that the keys are.
fn pack_key(
    values: &ArrayRef,
    direction: SortDirection,
    bounds: &KeyBounds,
    words: &mut SortWords,
) -> Result<bool> {
    let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0);
    let mut push = |codes: &mut dyn Iterator<Item = u64>, code_max: u64, has_nulls: bool| {
        let codes: Vec<Option<u64>> = codes
            .enumerate()
            .map(|(row, code)| is_valid(nulls, row).then_some(code))
            .collect();
        words.push(codes.into_iter(), code_max, has_nulls, direction);
    };
    match values.data_type() {
        DataType::Boolean => {
            let values = values.as_boolean().values().iter();
            push(&mut values.map(u64::from), 1, bounds.has_nulls);
        }
        DataType::Float32 => {
            let values = values.as_primitive::<Float32Type>().values().iter();
            let mut codes = values.map(|value| u64::from(ordered_32(value.to_bits())));
            push(&mut codes, u64::from(u32::MAX), bounds.has_nulls);
        }
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>().values().iter();
            let mut codes = values.map(|value| ordered_64(value.to_bits()));
            push(&mut codes, u64::MAX, bounds.has_nulls);
        }
        DataType::Utf8View => {
            let texts = values.as_string_view();
            let is_whole = bounds.text_bytes_max <= WHOLE_TEXT_BYTES;
            let texts = (0..texts.len()).map(|row| match is_valid(nulls, row) {
                true => texts.value(row).as_bytes(),
                false => &[],
            });
            let mut codes = texts.map(|text| prefix(text, is_whole));
            push(&mut codes, u64::MAX, bounds.has_nulls);
            return Ok(is_whole);
        }
        _ => {
            let (least, greatest) = bounds.integers.unwrap_or((0, 0));
            let integers = integers(values.as_ref())?;
            // What stands in the place of a NULL may be beyond the bounds.
            let offsets = integers
                .iter()
                .map(|value| value.wrapping_sub(least) as u128);
            let largest = greatest.wrapping_sub(least) as u128;
            let high_max = (largest >> u64::BITS) as u64;
            if high_max > 0 {
                let mut high = offsets.clone().map(|offset| (offset >> u64::BITS) as u64);
                push(&mut high, high_max, bounds.has_nulls);
                let mut low = offsets.map(|offset| offset as u64);
                push_low(&mut low, nulls, direction, words);
            } else {
                let mut codes = offsets.map(|offset| offset as u64);
                push(&mut codes, largest as u64, bounds.has_nulls);
            }
        }
    }
    Ok(true)
}

/// The lower half of a key whose upper half tells NULLs.
fn push_low(
    codes: &mut dyn Iterator<Item = u64>,
    nulls: Option<&NullBuffer>,
    direction: SortDirection,
    words: &mut SortWords,
) {
    let codes = codes.enumerate();
    let codes = codes.map(|(row, code)| Some(if is_valid(nulls, row) { code } else { 0 }));
    let codes: Vec<Option<u64>> = codes.collect();
    words.push(codes.into_iter(), u64::MAX, false, direction);
}

/// Bits that compare as floats do in their total order (IEEE 754, §5.10).
fn ordered_64(bits: u64) -> u64 {
    bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
}

fn ordered_32(bits: u32) -> u32 {
    bits ^ (((bits as i32 >> 31) as u32) | 1 << 31)
}

/// The first bytes of a text; of a whole one its length comes behind them, as `a` comes before `a\0`.
fn prefix(text: &[u8], is_whole: bool) -> u64 {
    let mut bytes = [0; 8];
    let taken = text.len().min(if is_whole { WHOLE_TEXT_BYTES } else { 8 });
    bytes[..taken].copy_from_slice(&text[..taken]);
    if is_whole {
        bytes[7] = taken as u8;
    }
    u64::from_be_bytes(bytes)
}

/// Compares rows of two partitions by some keys.
pub(super) struct KeyComparison(Vec<DynComparator>);

impl KeyComparison {
    pub(super) fn new(
        one: &[ArrayRef],
        other: &[ArrayRef],
        options: &[SortOptions],
    ) -> Result<Self> {
        let keys = one.iter().zip(other).zip(options);
        let comparators = keys.map(|((one, other), options)| {
            Ok(make_comparator(one.as_ref(), other.as_ref(), *options)?)
        });
        comparators.collect::<Result<_>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn compare(&self, one: u32, other: u32) -> Ordering {
        let mut keys = self.0.iter();
        let differing = keys.find_map(|compare| {
            let order = compare(one as usize, other as usize);
            order.is_ne().then_some(order)
        });
        differing.unwrap_or(Ordering::Equal)
    }
}
