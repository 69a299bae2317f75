//! Arithmetic on two vectors, value by value.

use quire_codec::dispatch;

/// What is computed. A result that leaves 64 bits wraps around: whoever asks knows from the bounds of the operands that none does, or that
/// nobody reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorOperator {
    Add,
    Subtract,
    Multiply,
}

impl VectorOperator {
    /// Writes the results for all values, also for those in rows that are NULL or not selected.
    pub fn apply(self, left: &[i64; 1024], right: &[i64; 1024], out: &mut [i64; 1024]) {
        match self {
            VectorOperator::Add => sums(left, right, out),
            VectorOperator::Subtract => differences(left, right, out),
            VectorOperator::Multiply => products(left, right, out),
        }
    }
}

dispatch! {
    fn sums(left: &[i64; 1024], right: &[i64; 1024], out: &mut [i64; 1024])
        = |left: &[i64; 1024], right: &[i64; 1024], out: &mut [i64; 1024]| {
            for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
                *out = left.wrapping_add(*right);
            }
        }
}

dispatch! {
    fn differences(left: &[i64; 1024], right: &[i64; 1024], out: &mut [i64; 1024])
        = |left: &[i64; 1024], right: &[i64; 1024], out: &mut [i64; 1024]| {
            for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
                *out = left.wrapping_sub(*right);
            }
        }
}

dispatch! {
    fn products(left: &[i64; 1024], right: &[i64; 1024], out: &mut [i64; 1024])
        = |left: &[i64; 1024], right: &[i64; 1024], out: &mut [i64; 1024]| {
            for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
                *out = left.wrapping_mul(*right);
            }
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quire_codec::{Backend, limit_backend};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn results_are_those_of_single_values(
            values in proptest::collection::vec((any::<i64>(), any::<i64>()), 1024),
        ) {
            let (mut left, mut right) = ([0; 1024], [0; 1024]);
            for (row, (one, other)) in values.iter().enumerate() {
                (left[row], right[row]) = (*one, *other);
            }
            for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
                limit_backend(backend);
                for (operator, single) in [
                    (VectorOperator::Add, i64::wrapping_add as fn(i64, i64) -> i64),
                    (VectorOperator::Subtract, i64::wrapping_sub),
                    (VectorOperator::Multiply, i64::wrapping_mul),
                ] {
                    let mut out = [7; 1024];
                    operator.apply(&left, &right, &mut out);
                    for row in 0..1024 {
                        prop_assert_eq!(out[row], single(left[row], right[row]));
                    }
                }
            }
        }
    }
}
