//! One pass over the values of a vector: extremes, counts, differences, running sums.

use super::dispatch;

macro_rules! scans {
    ($element:ty, $bits:ty, $extremes:ident, $at_least:ident, $differences:ident, $running:ident, $rescale:ident) => {
        dispatch! {
            /// Smallest and largest value; of no values, the largest and smallest of the type.
            pub(crate) fn $extremes(values: &[$element]) -> ($element, $element)
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
            /// How many values are `threshold` or more above `base`, in unsigned wrapping arithmetic.
            pub(crate) fn $at_least(values: &[$element], base: $element, threshold: $bits) -> usize
                = |values: &[$element], base: $element, threshold: $bits| {
                    // Counted in the width of the values, which keeps the lanes full; a slice of at most
                    // 1,024 values cannot overflow it.
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
            pub(crate) fn $differences(values: &[$element; 1024], out: &mut [$element; 1024])
                = |values: &[$element; 1024], out: &mut [$element; 1024]| {
                    out[0] = 0;
                    for i in 1..1024 {
                        out[i] = values[i].wrapping_sub(values[i - 1]);
                    }
                }
        }
        dispatch! {
            /// Replaces each value by `start` plus the sum of all values up to it, wrapping.
            pub(crate) fn $running(start: $element, values: &mut [$element; 1024])
                = |start: $element, values: &mut [$element; 1024]| {
                    running_sum!($element, start, values)
                }
        }
        dispatch! {
            /// Replaces each value by `origin` plus `unit` times it, wrapping.
            pub(crate) fn $rescale(origin: $element, unit: $element, values: &mut [$element; 1024])
                = |origin: $element, unit: $element, values: &mut [$element; 1024]| {
                    for value in values {
                        *value = origin.wrapping_add(value.wrapping_mul(unit));
                    }
                }
        }
    };
}

/// A running sum without a chain through neighbours: sums over windows of 4, then of 16 values, each from
/// unaligned loads, then every value adds the result 16 places before it.
macro_rules! running_sum {
    ($element:ty, $start:expr, $values:expr) => {{
        const PAD: usize = 16;
        let mut single: [$element; 1024 + PAD] = [0; 1024 + PAD];
        single[PAD..].copy_from_slice($values);
        let mut windows: [$element; 1024 + PAD] = [0; 1024 + PAD];
        for (i, window) in windows[PAD..].iter_mut().enumerate() {
            let near = single[PAD + i].wrapping_add(single[PAD + i - 1]);
            let far = single[PAD + i - 2].wrapping_add(single[PAD + i - 3]);
            *window = near.wrapping_add(far);
        }
        let mut carried: [$element; PAD] = [$start; PAD];
        for block in 0..1024 / PAD {
            let target = &mut $values[block * PAD..][..PAD];
            let source = &windows[block * PAD..][..2 * PAD];
            for lane in 0..PAD {
                let near = source[PAD + lane].wrapping_add(source[PAD + lane - 4]);
                let far = source[PAD + lane - 8].wrapping_add(source[PAD + lane - 12]);
                carried[lane] = carried[lane].wrapping_add(near.wrapping_add(far));
                target[lane] = carried[lane];
            }
        }
    }};
}

scans!(
    i16,
    u16,
    extremes_i16,
    at_least_i16,
    differences_i16,
    running_sum_i16,
    rescale_i16
);
scans!(
    i32,
    u32,
    extremes_i32,
    at_least_i32,
    differences_i32,
    running_sum_i32,
    rescale_i32
);
scans!(
    i64,
    u64,
    extremes_i64,
    at_least_i64,
    differences_i64,
    running_sum_i64,
    rescale_i64
);
