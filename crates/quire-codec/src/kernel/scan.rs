//! One pass over the values of a vector: counts, differences, scaling.

use super::dispatch;

macro_rules! scans {
    ($module:ident, $element:ty, $bits:ty) => {
        pub(crate) mod $module {
            use super::dispatch;

            dispatch! {
                /// Bits of each value less `base`, wrapping and unsigned; 0 for 0. At most 1,024 values.
                pub(crate) fn bit_lengths(values: &[$element], base: $element, lengths: &mut [u8; 1024])
                    = |values: &[$element], base: $element, lengths: &mut [u8; 1024]| {
                        for (length, &value) in lengths.iter_mut().zip(values) {
                            let distance = value.wrapping_sub(base) as $bits;
                            *length = (<$bits>::BITS - distance.leading_zeros()) as u8;
                        }
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
scans!(of_i8, i8, u8);
scans!(of_i16, i16, u16);
scans!(of_i32, i32, u32);
scans!(of_i64, i64, u64);

dispatch! {
    /// How many lengths are above `width`.
    pub(crate) fn longer_than(lengths: &[u8; 1024], width: u8) -> usize
        = |lengths: &[u8; 1024], width: u8| {
            // Counted in bytes, 16 to each, which keeps the lanes full.
            let mut counts = [0u8; 64];
            for chunk in lengths.as_chunks::<64>().0 {
                for (count, &length) in counts.iter_mut().zip(chunk) {
                    *count += u8::from(length > width);
                }
            }
            counts.iter().map(|&count| usize::from(count)).sum()
        }
}
