//! Which rows are read: some much more often than others.

use super::record_tree::mixed;

/// Rows by a continuous approximation of Zipf's law: the density of rank *x* is in proportion to *x^-exponent*. Those that are read most have the
/// least keys, and so are in few pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChosenKeys {
    rows: u64,
    exponent: f64,
}

impl ChosenKeys {
    pub(crate) fn new(rows: u64, exponent: f64) -> Self {
        Self {
            rows: rows.max(1),
            exponent,
        }
    }

    /// The row of the access with that number.
    pub(crate) fn row(&self, access: u64) -> u64 {
        // 53 random bits: from 0, and below 1.
        let uniform = (mixed(access) >> 11) as f64 / (1_u64 << 53) as f64;
        let last = self.rows as f64 + 1.0;
        let power = 1.0 - self.exponent;
        let rank = if power.abs() < 1e-9 {
            last.powf(uniform)
        } else {
            (1.0 + uniform * (last.powf(power) - 1.0)).powf(1.0 / power)
        };
        (rank as u64 - 1).min(self.rows - 1)
    }
}

/// The exponent from 0 to 2 for which `rate` is nearest to `wanted`, which grows with the exponent: by bisection.
pub(crate) fn exponent_for<E>(
    wanted: f64,
    mut rate: impl FnMut(f64) -> Result<f64, E>,
) -> Result<f64, E> {
    const STEPS: usize = 8;
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if rate(middle)? < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok((low + high) / 2.0)
}
