//! Columns whose values lie close to those of another column of the same rows: dates that follow dates, ids that
//! repeat ids. Such a column is encoded as its differences from the other, its *reference*, by the codecs of
//! integers; equal columns become a constant. (Paper 1 §3.2 leaves correlation to the designer of the schema; here
//! it is found in a sample.)
//!
//! ```
//! use quire_codec::{Values, correlated};
//!
//! let shipped = [9_000, 12_345, 8_100];
//! let received = [9_007, 12_346, 8_130];
//! let differences = correlated::differences(&Values::Int32(&received), &Values::Int32(&shipped));
//! let mut decoded = match differences {
//!     Some(correlated::Differences::Int32(differences)) => differences,
//!     _ => unreachable!(),
//! };
//! correlated::add(&mut decoded, &shipped);
//! assert_eq!(decoded, received);
//! ```

use crate::{PhysicalType, Values};

/// Integers whose differences are taken, wrapping.
pub trait Difference: Copy + Ord {
    fn minus(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    /// Bits that tell the values from `least` to `self` apart.
    fn width_above(self, least: Self) -> u32;
}

macro_rules! difference {
    ($type:ty, $unsigned:ty) => {
        impl Difference for $type {
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn width_above(self, least: Self) -> u32 {
                let span = self.wrapping_sub(least) as $unsigned;
                <$unsigned>::BITS - span.leading_zeros()
            }
        }
    };
}
difference!(i16, u16);
difference!(i32, u32);
difference!(i64, u64);

/// Differences of two columns, of the type of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Differences {
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
}

impl Differences {
    /// The differences as a column to be encoded.
    pub fn values(&self) -> Values<'_> {
        match self {
            Self::Int16(values) => Values::Int16(values),
            Self::Int32(values) => Values::Int32(values),
            Self::Int64(values) => Values::Int64(values),
        }
    }
}

/// Whether columns of that type can have a reference, and be one.
pub const fn is_supported(physical_type: PhysicalType) -> bool {
    matches!(
        physical_type,
        PhysicalType::Int16 | PhysicalType::Int32 | PhysicalType::Int64
    )
}

/// What is left of `values` without `reference`, wrapping; `None` unless both have one type of 16 to 64 bits and as
/// many rows.
pub fn differences(values: &Values<'_>, reference: &Values<'_>) -> Option<Differences> {
    fn minus<T: Difference>(values: &[T], reference: &[T]) -> Option<Vec<T>> {
        let pairs = values.iter().zip(reference);
        (values.len() == reference.len()).then(|| pairs.map(|(a, b)| a.minus(*b)).collect())
    }
    match (values, reference) {
        (Values::Int16(a), Values::Int16(b)) => minus(a, b).map(Differences::Int16),
        (Values::Int32(a), Values::Int32(b)) => minus(a, b).map(Differences::Int32),
        (Values::Int64(a), Values::Int64(b)) => minus(a, b).map(Differences::Int64),
        _ => None,
    }
}

/// Undoes [`differences`]: adds `reference` to as many values as it has, wrapping.
pub fn add<T: Difference>(values: &mut [T], reference: &[T]) {
    for (value, other) in values.iter_mut().zip(reference) {
        *value = value.plus(*other);
    }
}

/// Bits per value that `values` need in a frame of reference, alone and as differences from `reference`, of the rows
/// where `is_valid`; `None` where [`differences`] has none, or without a valid row.
pub fn widths(
    values: &Values<'_>,
    reference: &Values<'_>,
    is_valid: impl Fn(usize) -> bool,
) -> Option<(u32, u32)> {
    match (values, reference) {
        (Values::Int16(a), Values::Int16(b)) => widths_of(a, b, is_valid),
        (Values::Int32(a), Values::Int32(b)) => widths_of(a, b, is_valid),
        (Values::Int64(a), Values::Int64(b)) => widths_of(a, b, is_valid),
        _ => None,
    }
}

fn widths_of<T: Difference>(
    values: &[T],
    reference: &[T],
    is_valid: impl Fn(usize) -> bool,
) -> Option<(u32, u32)> {
    let mut alone: Option<(T, T)> = None;
    let mut apart: Option<(T, T)> = None;
    let widen = |bounds: Option<(T, T)>, value: T| match bounds {
        Some((least, most)) => Some((least.min(value), most.max(value))),
        None => Some((value, value)),
    };
    for (row, (value, other)) in values.iter().zip(reference).enumerate() {
        if is_valid(row) {
            alone = widen(alone, *value);
            apart = widen(apart, value.minus(*other));
        }
    }
    let width = |(least, most): (T, T)| most.width_above(least);
    Some((width(alone?), width(apart?)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_widths_are_those_of_the_spans() {
        // 8,100 to 12,345 spans 4,245 < 2^13; 1 to 30 spans 29 < 2^5.
        let shipped = [9_000, 12_345, 8_100];
        let received = [9_007, 12_346, 8_130];
        let pair = (Values::Int32(&received), Values::Int32(&shipped));
        assert_eq!(widths(&pair.0, &pair.1, |_| true), Some((13, 5)));
        assert_eq!(widths(&pair.0, &pair.1, |row| row == 1), Some((0, 0)));
        assert_eq!(widths(&pair.0, &pair.1, |_| false), None);
    }

    #[test]
    fn other_types_and_lengths_have_no_differences() {
        let (short, long) = (Values::Int32(&[1]), Values::Int32(&[1, 2]));
        assert_eq!(differences(&short, &long), None);
        assert_eq!(differences(&short, &Values::Int64(&[1])), None);
        assert_eq!(
            differences(&Values::Float64(&[1.0]), &Values::Float64(&[1.0])),
            None
        );
        assert!(!is_supported(PhysicalType::Int128));
    }

    proptest! {
        #[test]
        fn adding_undoes_the_differences(pairs: Vec<(i64, i64)>) {
            let (values, reference): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
            let found = differences(&Values::Int64(&values), &Values::Int64(&reference));
            let Some(Differences::Int64(mut decoded)) = found else { panic!("no differences") };
            add(&mut decoded, &reference);
            prop_assert_eq!(decoded, values);
        }
    }
}
