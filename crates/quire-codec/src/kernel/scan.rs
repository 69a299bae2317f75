//! One pass over the values of a vector: extremes, counts, differences, scaling.

use super::dispatch;

macro_rules! scans {
    ($module:ident, $element:ty, $bits:ty) => {
        pub(crate) mod $module {
            use super::dispatch;

            dispatch! {
                /// Smallest and largest value; of no values, the largest and smallest of the type.
                pub(crate) fn extremes(values: &[$element]) -> ($element, $element)
                    = |values: &[$element]| {
                        let mut low = <$element>::MAX;
                        let mut high = <$element>::MIN;
                        for &value in values {
                            low = low.min(value);
                            high = high.max(value);
                        }
                        (low, high)
                    }
            }
            dispatch! {
                /// The smallest value that is not below `floor`, or the largest of the type.
                pub(crate) fn least_from(values: &[$element], floor: $element) -> $element
                    = |values: &[$element], floor: $element| {
                        let mut least = <$element>::MAX;
                        for &value in values {
                            least = least.min(if value >= floor { value } else { <$element>::MAX });
                        }
                        least
                    }
            }
            dispatch! {
                /// How many values are `threshold` or more above `base`, wrapping and unsigned.
                pub(crate) fn at_least(values: &[$element], base: $element, threshold: $bits) -> usize
                    = |values: &[$element], base: $element, threshold: $bits| {
                        // Counted in the width of the values, which keeps the lanes full; the count of a
                        // chunk of 1,024 fits it.
                        values.chunks(1024).map(|chunk| {
                            let mut count: $bits = 0;
                            for &value in chunk {
                                count += <$bits>::from(value.wrapping_sub(base) as $bits >= threshold);
                            }
                            count as usize
                        }).sum()
                    }
            }
            dispatch! {
                /// `out[i] = values[i] − values[i − 1]`, wrapping; the first is 0.
                pub(crate) fn differences(values: &[$element; 1024], out: &mut [$element; 1024])
                    = |values: &[$element; 1024], out: &mut [$element; 1024]| {
                        out[0] = 0;
                        for i in 1..1024 {
                            out[i] = values[i].wrapping_sub(values[i - 1]);
                        }
                    }
            }
            dispatch! {
                /// Replaces each value by `origin` plus `unit` times it, wrapping.
                pub(crate) fn rescale(origin: $element, unit: $element, values: &mut [$element; 1024])
                    = |origin: $element, unit: $element, values: &mut [$element; 1024]| {
                        for value in values {
                            *value = origin.wrapping_add(value.wrapping_mul(unit));
                        }
                    }
            }
        }
    };
}
scans!(of_i16, i16, u16);
scans!(of_i32, i32, u32);
scans!(of_i64, i64, u64);
