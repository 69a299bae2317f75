//! The principal eigenvector of a positive matrix.
//!
//! A positive matrix has one eigenvalue λmax that is larger than the absolute value of all others, and its eigenvector is positive (Perron, 1907).
//! Multiplying any positive vector by the matrix again and again turns it towards that eigenvector. For each positive vector w, λmax lies between
//! the smallest and the largest (Aw)_i / w_i (Collatz, 1942; Wielandt, 1950): the bounds say how near w is, without knowing λmax.

use crate::error::DecisionError;

/// The iteration ends when the bounds of λmax differ by no more than this part of λmax.
const BOUNDS_GAP_MAX: f64 = 1e-12;
/// Judgements of 1/9 to 9 take less than 200 steps in all samples; only contradictions between far larger ratios take more than this.
const STEPS_MAX: usize = 100_000;

/// The principal eigenvector, which sums to 1, and its eigenvalue, of a square matrix of positive numbers, row by row.
pub(crate) fn principal_eigenvector(
    matrix: &[f64],
    rows: usize,
) -> Result<(Vec<f64>, f64), DecisionError> {
    let mut vector = vec![1.0 / rows as f64; rows];
    for _ in 0..STEPS_MAX {
        let product: Vec<f64> = matrix
            .chunks_exact(rows)
            .map(|row| row.iter().zip(&vector).map(|(a, w)| a * w).sum())
            .collect();
        let ratios = product
            .iter()
            .zip(&vector)
            .map(|(after, before)| after / before);
        let (least, most) = ratios.fold((f64::INFINITY, 0.0f64), |(least, most), ratio| {
            (least.min(ratio), most.max(ratio))
        });
        // As the vector sums to 1, the sum of the product is a mean of the ratios: it is between the bounds.
        let eigenvalue: f64 = product.iter().sum();
        vector = product.iter().map(|after| after / eigenvalue).collect();
        if most - least <= BOUNDS_GAP_MAX * most {
            return Ok((vector, eigenvalue));
        }
    }
    Err(DecisionError::NotConverged { steps: STEPS_MAX })
}
