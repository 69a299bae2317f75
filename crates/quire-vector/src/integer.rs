//! The integer types of columns, and their kernels.

use quire_codec::{RowMask, dispatch, mask_of};

use crate::compare::Comparison;
use crate::key_set::KeySet;

/// An integer that a column stores: bit `i % 64` of word `i / 64` of each mask stands for value `i`.
pub trait VectorInteger: Copy + Default + Into<i64> {
    /// Where `left` compares with `right` as asked.
    fn compare(left: &[Self; 1024], comparison: Comparison, right: &[Self; 1024]) -> RowMask;

    /// Which values are in the set.
    fn select_members(values: &[Self; 1024], set: &KeySet) -> RowMask;
}

macro_rules! vector_integer {
    ($element:ty) => {
        impl VectorInteger for $element {
            fn compare(
                left: &[Self; 1024],
                comparison: Comparison,
                right: &[Self; 1024],
            ) -> RowMask {
                dispatch! {
                    fn less(left: &[$element; 1024], right: &[$element; 1024]) -> RowMask
                        = |left: &[$element; 1024], right: &[$element; 1024]| {
                            mask_of(|i| left[i] < right[i])
                        }
                }
                dispatch! {
                    fn less_or_equal(left: &[$element; 1024], right: &[$element; 1024]) -> RowMask
                        = |left: &[$element; 1024], right: &[$element; 1024]| {
                            mask_of(|i| left[i] <= right[i])
                        }
                }
                dispatch! {
                    fn equal(left: &[$element; 1024], right: &[$element; 1024]) -> RowMask
                        = |left: &[$element; 1024], right: &[$element; 1024]| {
                            mask_of(|i| left[i] == right[i])
                        }
                }
                match comparison {
                    Comparison::Less => less(left, right),
                    Comparison::LessOrEqual => less_or_equal(left, right),
                    Comparison::Equal => equal(left, right),
                    Comparison::NotEqual => equal(left, right).map(|bits| !bits),
                }
            }

            fn select_members(values: &[Self; 1024], set: &KeySet) -> RowMask {
                dispatch! {
                    fn members(values: &[$element; 1024], set: &KeySet) -> RowMask
                        = |values: &[$element; 1024], set: &KeySet| {
                            mask_of(|i| set.contains(values[i].into()))
                        }
                }
                members(values, set)
            }
        }
    };
}
vector_integer!(i16);
vector_integer!(i32);
vector_integer!(i64);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quire_codec::{Backend, limit_backend};

    use super::*;

    const COMPARISONS: [Comparison; 4] = [
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Equal,
        Comparison::NotEqual,
    ];

    fn holds<T: PartialOrd>(comparison: Comparison, left: T, right: T) -> bool {
        match comparison {
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
        }
    }

    /// The mask of the rows for which `wanted` is true, row by row.
    fn expected(wanted: impl Fn(usize) -> bool) -> RowMask {
        let mut mask = RowMask::default();
        for row in (0..1024).filter(|&row| wanted(row)) {
            mask[row / 64] |= 1 << (row % 64);
        }
        mask
    }

    /// Values of the whole type, and close ones, that are often equal.
    fn vector<T: VectorInteger + Arbitrary + From<i8>>() -> impl Strategy<Value = Box<[T; 1024]>> {
        let value = prop_oneof![any::<T>(), (-3_i8..4).prop_map(T::from)];
        proptest::collection::vec(value, 1024).prop_map(|values| {
            let mut vector = Box::new([T::default(); 1024]);
            vector.copy_from_slice(&values);
            vector
        })
    }

    fn obeys_its_laws<T: VectorInteger + PartialOrd>(
        left: &[T; 1024],
        right: &[T; 1024],
        set: &KeySet,
    ) {
        for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
            limit_backend(backend);
            for comparison in COMPARISONS {
                let holds = |row: usize| holds(comparison, left[row], right[row]);
                assert_eq!(T::compare(left, comparison, right), expected(holds));
            }
            let contains = |row: usize| set.contains(left[row].into());
            assert_eq!(T::select_members(left, set), expected(contains));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn kernels_agree_with_single_values(
            (short, shorts) in (vector::<i16>(), vector::<i16>()),
            (word, words) in (vector::<i32>(), vector::<i32>()),
            (long, longs) in (vector::<i64>(), vector::<i64>()),
            first in prop_oneof![any::<i64>(), -70_i64..3],
            bits in proptest::collection::vec(any::<u64>(), 0..4),
        ) {
            let set = KeySet::new(first, bits);
            obeys_its_laws(&short, &shorts, &set);
            obeys_its_laws(&word, &words, &set);
            obeys_its_laws(&long, &longs, &set);
        }
    }
}
