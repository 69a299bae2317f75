//! Sums, and sums of squares and products of deviations from the mean, of one column or of two.
//!
//! After E. A. Youngs and E. M. Cramer, *Some Results Relevant to Choice of Sum and Sum-of-Product Algorithms*, Technometrics 13 (1971),
//! in the very steps of PostgreSQL's `float8_accum`, `float8_regr_accum` and `float8_regr_combine`, so that the last digit is the same.

use datafusion::common::Result;

use crate::float_totals::overflow;

/// What is known of some rows. Of one column, what stands for the other is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) count: f64,
    pub(super) x: ColumnMoments,
    pub(super) y: ColumnMoments,
    /// Sum of the products of both deviations.
    pub(super) products: f64,
}

/// The sum of a column, and the sum of the squares of its deviations from its mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ColumnMoments {
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl Moments {
    /// Parts of a state.
    pub(super) const WIDTH: usize = 6;

    pub(super) fn parts(self) -> [f64; Self::WIDTH] {
        let Self {
            count,
            x,
            y,
            products,
        } = self;
        [count, x.sum, x.squares, y.sum, y.squares, products]
    }

    pub(super) fn of_parts(
        [count, sum_x, squares_x, sum_y, squares_y, products]: [f64; Self::WIDTH],
    ) -> Self {
        let (x, y) = (
            ColumnMoments {
                sum: sum_x,
                squares: squares_x,
            },
            ColumnMoments {
                sum: sum_y,
                squares: squares_y,
            },
        );
        Self {
            count,
            x,
            y,
            products,
        }
    }

    /// A value of the only column.
    pub(super) fn add(&mut self, value: f64) -> Result<()> {
        let before = *self;
        self.count += 1.0;
        self.x.sum += value;
        if before.count == 0.0 {
            self.x.squares = deviations_of_first(value);
            return Ok(());
        }
        let deviation = value * self.count - self.x.sum;
        self.x.squares += deviation * deviation / (self.count * before.count);
        self.x.settle(before.x, value)
    }

    /// A value of each column.
    pub(super) fn add_pair(&mut self, x: f64, y: f64) -> Result<()> {
        let before = *self;
        self.count += 1.0;
        self.x.sum += x;
        self.y.sum += y;
        if before.count == 0.0 {
            self.x.squares = deviations_of_first(x);
            self.y.squares = deviations_of_first(y);
            self.products = self.x.squares + self.y.squares;
            return Ok(());
        }
        let deviation_x = x * self.count - self.x.sum;
        let deviation_y = y * self.count - self.y.sum;
        let scale = 1.0 / (self.count * before.count);
        self.x.squares += deviation_x * deviation_x * scale;
        self.y.squares += deviation_y * deviation_y * scale;
        self.products += deviation_x * deviation_y * scale;
        self.x.settle(before.x, x)?;
        self.y.settle(before.y, y)?;
        if self.products.is_infinite() {
            let are_finite = [before.x.sum, x, before.y.sum, y]
                .iter()
                .all(|value| !value.is_infinite());
            if are_finite {
                return Err(overflow());
            }
            self.products = f64::NAN;
        }
        Ok(())
    }

    /// The rows of another.
    pub(super) fn merge(&mut self, other: Self) -> Result<()> {
        if other.count == 0.0 {
            return Ok(());
        }
        if self.count == 0.0 {
            *self = other;
            return Ok(());
        }
        let (one, count) = (*self, self.count + other.count);
        let apart = |one: ColumnMoments, of_other: ColumnMoments| {
            one.sum / self.count - of_other.sum / other.count
        };
        let (apart_x, apart_y) = (apart(one.x, other.x), apart(one.y, other.y));
        let weight = one.count * other.count;
        let x = one.x.merged(other.x, weight * apart_x * apart_x / count)?;
        let y = one.y.merged(other.y, weight * apart_y * apart_y / count)?;
        let between = weight * apart_x * apart_y / count;
        let products = finite_sum(
            &[one.products, other.products],
            one.products + other.products + between,
        )?;
        *self = Self {
            count,
            x,
            y,
            products,
        };
        Ok(())
    }
}

impl ColumnMoments {
    /// What is infinite after a value was added: of a finite column and value an overflow, otherwise no number.
    fn settle(&mut self, before: Self, value: f64) -> Result<()> {
        if self.sum.is_infinite() || self.squares.is_infinite() {
            if !before.sum.is_infinite() && !value.is_infinite() {
                return Err(overflow());
            }
            self.squares = f64::NAN;
        }
        Ok(())
    }

    fn merged(self, other: Self, between: f64) -> Result<Self> {
        Ok(Self {
            sum: finite_sum(&[self.sum, other.sum], self.sum + other.sum)?,
            squares: finite_sum(
                &[self.squares, other.squares],
                self.squares + other.squares + between,
            )?,
        })
    }
}

/// No deviations, and no number for a value that is none.
fn deviations_of_first(value: f64) -> f64 {
    if value.is_finite() { 0.0 } else { f64::NAN }
}

fn finite_sum(parts: &[f64], sum: f64) -> Result<f64> {
    if sum.is_infinite() && !parts.iter().any(|part| part.is_infinite()) {
        Err(overflow())
    } else {
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_parts_are_those_of_the_whole() -> Result<()> {
        // Small integers, whose moments are exact.
        let rows = [(1.0, 8.0), (3.0, 4.0), (5.0, 0.0), (7.0, -4.0)];
        let mut whole = Moments::default();
        rows.iter().try_for_each(|(x, y)| whole.add_pair(*x, *y))?;
        assert_eq!(whole.parts(), [4.0, 16.0, 20.0, 8.0, 80.0, -40.0]);
        let (mut left, mut right) = (Moments::default(), Moments::default());
        rows[..2]
            .iter()
            .try_for_each(|(x, y)| left.add_pair(*x, *y))?;
        rows[2..]
            .iter()
            .try_for_each(|(x, y)| right.add_pair(*x, *y))?;
        left.merge(right)?;
        assert_eq!(left, whole);
        Ok(())
    }

    #[test]
    fn an_overflow_of_finite_values_is_an_error() -> Result<()> {
        let mut moments = Moments::default();
        moments.add(1e200)?;
        assert!(moments.add(-1e200).is_err());
        let mut moments = Moments::default();
        moments.add(f64::INFINITY)?;
        moments.add(1.0)?;
        assert!(moments.x.squares.is_nan() && moments.x.sum.is_infinite());
        Ok(())
    }
}
