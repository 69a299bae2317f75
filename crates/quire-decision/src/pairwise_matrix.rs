//! Pairwise comparisons.

mod power_iteration;

use crate::consistency::{JudgementConsistency, PriorityVector};
use crate::error::{DecisionError, MATRIX_ROWS_MAX, RATIO_MAX, RECIPROCAL_TOLERANCE};
use crate::measured::check_positive;
use power_iteration::principal_eigenvector;

/// How many times each of several things exceeds each other one: a positive reciprocal matrix.
///
/// The comparison in row i and column j says how many times thing i exceeds thing j. Judgements are on Saaty's scale: 1 as important, 3 moderately
/// more, 5 strongly more, 7 very strongly more, 9 extremely more, and their reciprocals for less.
#[derive(Clone, Debug, PartialEq)]
pub struct PairwiseMatrix {
    /// Row by row. Opposite entries are reciprocal up to rounding, and the diagonal is 1.
    entries: Vec<f64>,
    rows: usize,
}

impl PairwiseMatrix {
    /// A matrix of judgements, row by row.
    ///
    /// Of two opposite comparisons the one above 1 is kept and the other becomes its reciprocal, as 3 is exact where 0.333 is rounded.
    ///
    /// # Errors
    /// [`DecisionError::NoRows`], [`DecisionError::TooManyRows`], [`DecisionError::NotSquare`]; [`DecisionError::NoRatio`] if a comparison is not
    /// finite, not positive, or not between 1/[`RATIO_MAX`] and [`RATIO_MAX`]; [`DecisionError::DiagonalNotOne`];
    /// [`DecisionError::NotReciprocal`] if two opposite comparisons multiply to less than 0.995 or more than 1.005.
    pub fn from_judgements<R: AsRef<[f64]>>(judgements: &[R]) -> Result<Self, DecisionError> {
        let rows = judgements.len();
        check_row_count(rows)?;
        let mut entries = Vec::with_capacity(rows * rows);
        for (row, comparisons) in judgements.iter().enumerate() {
            check_row(row, comparisons.as_ref(), rows)?;
            entries.extend_from_slice(comparisons.as_ref());
        }
        let mut matrix = Self { entries, rows };
        for row in 0..rows {
            for column in row + 1..rows {
                matrix.make_reciprocal(row, column)?;
            }
        }
        Ok(matrix)
    }

    /// The matrix of measured values: a_ij = v_i / v_j. It is consistent, and its priorities are v_i / Σv.
    ///
    /// # Errors
    /// [`DecisionError::NoRows`], [`DecisionError::TooManyRows`], [`DecisionError::NotFinite`], [`DecisionError::NotPositive`], and
    /// [`DecisionError::TooFarApart`] if the largest value is more than [`RATIO_MAX`] times the smallest.
    pub fn from_values(values: &[f64]) -> Result<Self, DecisionError> {
        check_row_count(values.len())?;
        check_positive("the values", values)?;
        let row = |above: &f64| values.iter().map(|below| above / below).collect::<Vec<_>>();
        Ok(Self {
            entries: values.iter().flat_map(row).collect(),
            rows: values.len(),
        })
    }

    /// The number of rows, which is that of columns.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The priorities: the principal eigenvector, which sums to 1, by power iteration. It ends when λmax is known to 12 digits.
    ///
    /// # Errors
    /// [`DecisionError::NotConverged`]: with judgements of 1/9 to 9 it does not occur.
    pub fn priorities(&self) -> Result<PriorityVector, DecisionError> {
        let (priorities, lambda_max) = principal_eigenvector(&self.entries, self.rows)?;
        Ok(PriorityVector {
            priorities,
            consistency: JudgementConsistency::of_eigenvalue(lambda_max, self.rows),
        })
    }

    fn make_reciprocal(&mut self, row: usize, column: usize) -> Result<(), DecisionError> {
        let (above, below) = (row * self.rows + column, column * self.rows + row);
        let (value, opposite) = (self.entries[above], self.entries[below]);
        if (value * opposite - 1.0).abs() > RECIPROCAL_TOLERANCE {
            return Err(DecisionError::NotReciprocal {
                row: row + 1,
                column: column + 1,
                value,
                opposite,
            });
        }
        if value >= opposite {
            self.entries[below] = 1.0 / value;
        } else {
            self.entries[above] = 1.0 / opposite;
        }
        Ok(())
    }
}

fn check_row_count(rows: usize) -> Result<(), DecisionError> {
    match rows {
        0 => Err(DecisionError::NoRows),
        1..=MATRIX_ROWS_MAX => Ok(()),
        _ => Err(DecisionError::TooManyRows { rows }),
    }
}

/// The comparisons of row `row`, which counts from 0, of a matrix of `rows` rows.
fn check_row(row: usize, comparisons: &[f64], rows: usize) -> Result<(), DecisionError> {
    if comparisons.len() != rows {
        return Err(DecisionError::NotSquare {
            row: row + 1,
            columns: comparisons.len(),
            rows,
        });
    }
    for (column, &value) in comparisons.iter().enumerate() {
        if !(1.0 / RATIO_MAX..=RATIO_MAX).contains(&value) {
            return Err(DecisionError::NoRatio {
                row: row + 1,
                column: column + 1,
                value,
            });
        }
        if row == column && value != 1.0 {
            return Err(DecisionError::DiagonalNotOne {
                row: row + 1,
                value,
            });
        }
    }
    Ok(())
}
