//! Smallest and largest values: the only kernels for which signed and unsigned numbers of one width differ.

use super::dispatch;

macro_rules! order {
    ($module:ident, $element:ty) => {
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
        }
    };
}
order!(of_i8, i8);
order!(of_i16, i16);
order!(of_i32, i32);
order!(of_i64, i64);
order!(of_u8, u8);
order!(of_u16, u16);
order!(of_u32, u32);
order!(of_u64, u64);
