//! Integers expected from those of other columns, and what is left of them. Everything wraps, so that it is exact for
//! all values: the integers of 16 to 64 bits are rings, and narrowing an `i64` keeps sums and products.

use crate::{PhysicalType, RowGroupValues};

/// Largest power of ten that a product is divided by: that of a 64-bit integer.
pub const DIVISOR_DIGITS_MAX: u8 = 18;

/// How a column's values are expected from its references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combination {
    /// The value of the only reference.
    Same,
    /// The first and the second.
    Sum,
    /// The first less the second.
    Difference,
    /// The first times the second, divided by a power of ten and rounded, halves away from zero: decimals of
    /// some scales multiplied to a decimal of fewer digits behind the point.
    Product {
        /// At most [`DIVISOR_DIGITS_MAX`].
        divisor_digits: u8,
    },
}

impl Combination {
    /// Number of references: 1 or 2.
    pub const fn reference_count(self) -> usize {
        match self {
            Self::Same => 1,
            _ => 2,
        }
    }

    /// Puts the expected values in the place of those of the first reference.
    pub fn apply(self, first: &mut [i64], second: &[i64]) {
        fn each(first: &mut [i64], second: &[i64], expected: impl Fn(i64, i64) -> i64) {
            for (first, second) in first.iter_mut().zip(second) {
                *first = expected(*first, *second);
            }
        }
        match self {
            Self::Same => {}
            Self::Sum => each(first, second, i64::wrapping_add),
            Self::Difference => each(first, second, i64::wrapping_sub),
            Self::Product { divisor_digits: 0 } => each(first, second, i64::wrapping_mul),
            Self::Product { divisor_digits } => {
                let divisor = 10_i64.pow(divisor_digits.min(DIVISOR_DIGITS_MAX).into());
                each(first, second, |first, second| {
                    divided_product(first, second, divisor)
                });
            }
        }
    }
}

/// The product divided by `divisor`, rounded; its low 64 bits, should it have more.
fn divided_product(first: i64, second: i64, divisor: i64) -> i64 {
    match first.checked_mul(second) {
        Some(product) => {
            let (quotient, rest) = (product / divisor, product % divisor);
            let rounds_away = rest.unsigned_abs() * 2 >= divisor.unsigned_abs();
            quotient + i64::from(rounds_away) * product.signum()
        }
        None => {
            let (product, divisor) = (i128::from(first) * i128::from(second), i128::from(divisor));
            let (quotient, rest) = (product / divisor, product % divisor);
            let rounds_away = rest.abs() * 2 >= divisor;
            (quotient + i128::from(rounds_away) * product.signum()) as i64
        }
    }
}

/// Integers that have residuals.
pub trait Residual: Copy {
    /// The value less what was expected, wrapping.
    fn less(self, expected: i64) -> Self;
    /// Undoes [`Residual::less`].
    fn plus(self, expected: i64) -> Self;
}

macro_rules! residual {
    ($($type:ty),*) => {$(
        impl Residual for $type {
            #[inline]
            fn less(self, expected: i64) -> Self {
                self.wrapping_sub(expected as $type)
            }
            #[inline]
            fn plus(self, expected: i64) -> Self {
                self.wrapping_add(expected as $type)
            }
        }
    )*};
}
residual!(i16, i32, i64);

/// What is left of a column, of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Residuals {
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
}

impl Residuals {
    /// The residuals as a column to be encoded.
    pub fn values(&self) -> RowGroupValues<'_> {
        match self {
            Self::Int16(values) => RowGroupValues::Int16(values),
            Self::Int32(values) => RowGroupValues::Int32(values),
            Self::Int64(values) => RowGroupValues::Int64(values),
        }
    }
}

/// Whether columns of that type can be combined and expected.
pub const fn is_supported(physical_type: PhysicalType) -> bool {
    matches!(
        physical_type,
        PhysicalType::Int16 | PhysicalType::Int32 | PhysicalType::Int64
    )
}

/// The values as 64-bit integers, 0 where NULL: a bit that is 0 in `validity`, least significant bit first. `None`
/// for types that are not [`is_supported`].
pub fn wide(values: &RowGroupValues<'_>, validity: Option<&[u64]>) -> Option<Vec<i64>> {
    let mut wide: Vec<i64> = match values {
        RowGroupValues::Int16(values) => values.iter().map(|&value| value.into()).collect(),
        RowGroupValues::Int32(values) => values.iter().map(|&value| value.into()).collect(),
        RowGroupValues::Int64(values) => values.to_vec(),
        _ => return None,
    };
    for (values, word) in wide.chunks_mut(64).zip(validity.unwrap_or_default()) {
        for (bit, value) in values.iter_mut().enumerate() {
            *value *= (word >> bit & 1) as i64;
        }
    }
    Some(wide)
}

/// What is left of `values` without what was expected; `None` unless they are integers of 16 to 64 bits and as many.
pub fn residuals(values: &RowGroupValues<'_>, expected: &[i64]) -> Option<Residuals> {
    fn of<T: Residual>(values: &[T], expected: &[i64]) -> Vec<T> {
        let pairs = values.iter().zip(expected);
        pairs.map(|(value, &other)| value.less(other)).collect()
    }
    if values.len() != expected.len() {
        return None;
    }
    match values {
        RowGroupValues::Int16(values) => Some(Residuals::Int16(of(values, expected))),
        RowGroupValues::Int32(values) => Some(Residuals::Int32(of(values, expected))),
        RowGroupValues::Int64(values) => Some(Residuals::Int64(of(values, expected))),
        _ => None,
    }
}

/// Undoes [`residuals`]: adds what was expected to as many values as there are of it. Integers of the same type, or
/// of any other, need not be widened before.
pub fn add<T: Residual, E: Copy + Into<i64>>(values: &mut [T], expected: &[E]) {
    for (value, &other) in values.iter_mut().zip(expected) {
        *value = value.plus(other.into());
    }
}

/// Undoes [`add`].
pub fn subtract<T: Residual, E: Copy + Into<i64>>(values: &mut [T], expected: &[E]) {
    for (value, &other) in values.iter_mut().zip(expected) {
        *value = value.less(other.into());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_types_and_lengths_have_no_residuals() {
        assert_eq!(residuals(&RowGroupValues::Int32(&[1]), &[1, 2]), None);
        assert_eq!(residuals(&RowGroupValues::Float64(&[1.0]), &[1]), None);
        assert_eq!(wide(&RowGroupValues::Int128(&[1]), None), None);
        assert!(!is_supported(PhysicalType::Int128));
    }

    #[test]
    fn null_rows_of_references_count_as_zero() {
        let values: Vec<i16> = (1..=70).collect();
        let validity = [!0b100, 0b1];
        let wide = wide(&RowGroupValues::Int16(&values), Some(&validity)).unwrap();
        assert_eq!(wide[..4], [1, 2, 0, 4]);
        assert_eq!(wide[63..], [64, 65, 0, 0, 0, 0, 0]);
    }

    /// 12.34 × 5.00 = 61.70, 0.15 × 0.30 = 0.045, which is 0.05 with two digits, and the same below zero.
    #[test]
    fn products_of_decimals_are_rounded() {
        let mut first = [1234, 15, -15, i64::MAX];
        let cents = Combination::Product { divisor_digits: 2 };
        cents.apply(&mut first, &[500, 30, 30, 100]);
        assert_eq!(first, [6170, 5, -5, i64::MAX]);
    }

    fn combination() -> impl Strategy<Value = Combination> {
        prop_oneof![
            Just(Combination::Same),
            Just(Combination::Sum),
            Just(Combination::Difference),
            (0..=DIVISOR_DIGITS_MAX)
                .prop_map(|divisor_digits| Combination::Product { divisor_digits }),
        ]
    }

    proptest! {
        #[test]
        fn adding_undoes_the_residuals(
            rows: Vec<(i64, i64, i64)>,
            combination in combination(),
        ) {
            let mut expected: Vec<i64> = rows.iter().map(|row| row.0).collect();
            let second: Vec<i64> = rows.iter().map(|row| row.1).collect();
            combination.apply(&mut expected, &second);
            let wide: Vec<i64> = rows.iter().map(|row| row.2).collect();
            let narrow: Vec<i16> = wide.iter().map(|&value| value as i16).collect();
            match residuals(&RowGroupValues::Int64(&wide), &expected) {
                Some(Residuals::Int64(mut decoded)) => {
                    add(&mut decoded, &expected);
                    prop_assert_eq!(&decoded, &wide);
                }
                other => panic!("{other:?}"),
            }
            match residuals(&RowGroupValues::Int16(&narrow), &expected) {
                Some(Residuals::Int16(mut decoded)) => {
                    add(&mut decoded, &expected);
                    prop_assert_eq!(&decoded, &narrow);
                }
                other => panic!("{other:?}"),
            }
        }

        /// The twin does it in 128 bits, and rounds by the sign.
        #[test]
        fn expected_values_are_those_of_wide_arithmetic(
            first: i64, second: i64, combination in combination(),
        ) {
            let (a, b) = (i128::from(first), i128::from(second));
            let expected = match combination {
                Combination::Same => a,
                Combination::Sum => a + b,
                Combination::Difference => a - b,
                Combination::Product { divisor_digits } => {
                    let divisor = 10_i128.pow(divisor_digits.into());
                    let half = if (a * b) < 0 { -divisor / 2 } else { divisor / 2 };
                    (a * b + half) / divisor
                }
            };
            let mut found = [first];
            combination.apply(&mut found, &[second]);
            prop_assert_eq!(found[0], expected as i64);
        }
    }
}
