//! Zones and distinct sketch of a column of a row group.

use quire_codec::{BytesSlice, CodecScalar, RowGroupValues};
use quire_format::distinct_sketch::{DistinctSketch, hash_bytes, hash_f64, hash_u64, hash_u128};
use quire_format::row_group::GROUP_ROWS;
use quire_format::zone::{ZoneBounds, bytes_bounds};

use super::column_values::ColumnValues;

/// What is known of a column of a row group.
pub(crate) struct ChunkStatistics {
    pub(crate) zone: ZoneBounds,
    pub(super) group_zones: Vec<ZoneBounds>,
    pub(super) sketch: DistinctSketch,
}

/// Which rows of a column are not NULL.
#[derive(Clone, Copy)]
struct ValidityBuilder<'a>(Option<&'a [u64]>);

impl ValidityBuilder<'_> {
    fn is_valid(&self, row: usize) -> bool {
        self.0
            .is_none_or(|words| words[row / 64] >> (row % 64) & 1 == 1)
    }

    /// The rows of vector group `group` that are not NULL, of `rows` altogether.
    fn valid_rows(&self, group: usize, rows: usize) -> impl Iterator<Item = usize> {
        let end = rows.min((group + 1) * GROUP_ROWS);
        (group * GROUP_ROWS..end).filter(|&row| self.is_valid(row))
    }

    fn valid_count(&self, group: usize, rows: usize) -> usize {
        let end = rows.min((group + 1) * GROUP_ROWS);
        match self.0 {
            None => end - group * GROUP_ROWS,
            Some(_) => self.valid_rows(group, rows).count(),
        }
    }
}

/// Computes the statistics of a column's values; `is_text` when they are UTF-8.
pub(crate) fn statistics(column: &ColumnValues, is_text: bool) -> ChunkStatistics {
    let validity = ValidityBuilder(column.validity.as_deref());
    match column.values() {
        RowGroupValues::Bool(values) => integers(values, validity, CodecScalar::Bool, |value| {
            hash_u64(u64::from(value))
        }),
        RowGroupValues::Int16(values) => integers(values, validity, CodecScalar::Int16, |value| {
            hash_u64(value as u64)
        }),
        RowGroupValues::Int32(values) => integers(values, validity, CodecScalar::Int32, |value| {
            hash_u64(value as u64)
        }),
        RowGroupValues::Int64(values) => integers(values, validity, CodecScalar::Int64, |value| {
            hash_u64(value as u64)
        }),
        RowGroupValues::Int128(values) => {
            integers(values, validity, CodecScalar::Int128, |value| {
                hash_u128(value as u128)
            })
        }
        RowGroupValues::Float32(values) => floats(values, validity, CodecScalar::Float32),
        RowGroupValues::Float64(values) => floats(values, validity, CodecScalar::Float64),
        RowGroupValues::Bytes(values) => bytes(values, validity, is_text),
    }
}

/// One zone per vector group, and their union.
fn zones(
    rows: usize,
    validity: ValidityBuilder<'_>,
    mut bounds: impl FnMut(usize) -> ZoneBounds,
) -> (ZoneBounds, Vec<ZoneBounds>) {
    let mut union = ZoneBounds::default();
    let mut union_values = 0;
    let mut zones = Vec::with_capacity(rows.div_ceil(GROUP_ROWS));
    for group in 0..rows.div_ceil(GROUP_ROWS) {
        let group_rows = GROUP_ROWS.min(rows - group * GROUP_ROWS);
        let values = validity.valid_count(group, rows) as u64;
        let mut zone = if values == 0 {
            ZoneBounds::default()
        } else {
            bounds(group)
        };
        zone.null_count = group_rows as u64 - values;
        union.merge(union_values, &zone, values);
        union_values += values;
        zones.push(zone);
    }
    (union, zones)
}

/// The distinct values of the rows that have one.
fn sketch_of<T: Copy + PartialEq>(
    values: impl Iterator<Item = T>,
    validity: ValidityBuilder<'_>,
    hash: impl Fn(T) -> u64,
) -> DistinctSketch {
    let mut sketch = DistinctSketch::default();
    let mut previous = None;
    for (row, value) in values.enumerate() {
        // Equal neighbours are frequent, and hashing is not free.
        if previous != Some(value) && validity.is_valid(row) {
            previous = Some(value);
            sketch.insert(hash(value));
        }
    }
    sketch
}

fn integers<T: Copy + Ord>(
    values: &[T],
    validity: ValidityBuilder<'_>,
    scalar: fn(T) -> CodecScalar,
    hash: impl Fn(T) -> u64,
) -> ChunkStatistics {
    let (zone, group_zones) = zones(values.len(), validity, |group| {
        let (min, max) = match validity.0 {
            None => {
                let end = values.len().min((group + 1) * GROUP_ROWS);
                let values = &values[group * GROUP_ROWS..end];
                (values.iter().min().copied(), values.iter().max().copied())
            }
            Some(_) => {
                let valid = || {
                    validity
                        .valid_rows(group, values.len())
                        .map(|row| values[row])
                };
                (valid().min(), valid().max())
            }
        };
        let (min, max) = (min.map(scalar), max.map(scalar));
        ZoneBounds {
            min_exact: min.is_some(),
            max_exact: max.is_some(),
            min,
            max,
            null_count: 0,
        }
    });
    let sketch = sketch_of(values.iter().copied(), validity, hash);
    ChunkStatistics {
        zone,
        group_zones,
        sketch,
    }
}

/// Bounds of floats hold under IEEE comparison, under total order and when NaN is the greatest value: a NaN makes the
/// upper bound unknown, one with a sign the lower bound too, and the zeros are equal.
fn floats<T: FloatBounds>(
    values: &[T],
    validity: ValidityBuilder<'_>,
    scalar: fn(T) -> CodecScalar,
) -> ChunkStatistics {
    let (zone, group_zones) = zones(values.len(), validity, |group| {
        let (mut min, mut max): (Option<T>, Option<T>) = (None, None);
        let (mut positive_nan, mut negative_nan) = (false, false);
        for row in validity.valid_rows(group, values.len()) {
            let value = values[row];
            let wide: f64 = value.into();
            if wide.is_nan() {
                positive_nan |= wide.is_sign_positive();
                negative_nan |= wide.is_sign_negative();
                continue;
            }
            if min.is_none_or(|min| value.precedes(min)) {
                min = Some(value);
            }
            if max.is_none_or(|max| max.precedes(value)) {
                max = Some(value);
            }
        }
        let min = min.filter(|_| !negative_nan);
        let max = max.filter(|_| !positive_nan && !negative_nan);
        let (min_bound, max_bound) = (min.map(T::below_zeros), max.map(T::above_zeros));
        let same = |bound: Option<T>, value: Option<T>| match (bound, value) {
            (Some(bound), Some(value)) => !bound.precedes(value) && !value.precedes(bound),
            _ => false,
        };
        ZoneBounds {
            min_exact: same(min_bound, min),
            max_exact: same(max_bound, max),
            min: min_bound.map(scalar),
            max: max_bound.map(scalar),
            null_count: 0,
        }
    });
    let mut sketch = DistinctSketch::default();
    for (row, &value) in values.iter().enumerate() {
        if validity.is_valid(row) {
            sketch.insert(hash_f64(value.into()));
        }
    }
    ChunkStatistics {
        zone,
        group_zones,
        sketch,
    }
}

/// What bounds need of a float type.
trait FloatBounds: Copy + Into<f64> {
    /// Less in IEEE total order.
    fn precedes(self, other: Self) -> bool;
    /// -0 for 0, else the value.
    fn below_zeros(self) -> Self;
    /// 0 for -0, else the value.
    fn above_zeros(self) -> Self;
}

macro_rules! float_bounds {
    ($($float:ty),*) => {$(
        impl FloatBounds for $float {
            fn precedes(self, other: Self) -> bool {
                self.total_cmp(&other).is_lt()
            }
            fn below_zeros(self) -> Self {
                if self == 0.0 { -0.0 } else { self }
            }
            fn above_zeros(self) -> Self {
                if self == 0.0 { 0.0 } else { self }
            }
        }
    )*};
}

float_bounds!(f32, f64);

fn bytes(values: BytesSlice<'_>, validity: ValidityBuilder<'_>, is_text: bool) -> ChunkStatistics {
    let (zone, group_zones) = zones(values.len(), validity, |group| {
        let mut bounds: Option<ByteStringBounds<'_>> = None;
        for row in validity.valid_rows(group, values.len()) {
            let value = values.get(row);
            match &mut bounds {
                Some(bounds) => bounds.widen(value),
                None => bounds = Some(ByteStringBounds::of(value)),
            }
        }
        match bounds {
            Some(bounds) => bytes_bounds(bounds.min, bounds.max, is_text, 0),
            None => ZoneBounds::default(),
        }
    });
    let sketch = sketch_of(values.iter(), validity, hash_bytes);
    ChunkStatistics {
        zone,
        group_zones,
        sketch,
    }
}

/// Least and greatest byte string so far, with their first 8 bytes as numbers: most strings are told
/// apart by those.
struct ByteStringBounds<'a> {
    min: &'a [u8],
    max: &'a [u8],
    min_start: u64,
    max_start: u64,
}

impl<'a> ByteStringBounds<'a> {
    fn of(value: &'a [u8]) -> Self {
        let start = first_bytes(value);
        ByteStringBounds {
            min: value,
            max: value,
            min_start: start,
            max_start: start,
        }
    }

    fn widen(&mut self, value: &'a [u8]) {
        let start = first_bytes(value);
        if start <= self.min_start && value < self.min {
            self.min = value;
            self.min_start = start;
        }
        if start >= self.max_start && value > self.max {
            self.max = value;
            self.max_start = start;
        }
    }
}

/// The first 8 bytes, most significant first, zeros behind the end: never greater for a lesser string.
fn first_bytes(value: &[u8]) -> u64 {
    match value.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..value.len()].copy_from_slice(value);
            u64::from_be_bytes(bytes)
        }
    }
}
