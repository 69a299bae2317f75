//! How far judgements contradict each other.

/// Saaty's random index of a matrix of 1, 2, ... rows: the mean consistency index of reciprocal matrices whose judgements are drawn from 1/9 to 9.
///
/// T. L. Saaty, *The Analytic Hierarchy Process*, 1980. They come from samples, and the index of 12 rows is below that of 11 by chance. Later
/// publications have others (0.52 for 3 rows); Saaty's examples of 1990 are calculated with these.
pub(crate) const RANDOM_INDEX: [f64; 15] = [
    0.0, 0.0, 0.58, 0.90, 1.12, 1.24, 1.32, 1.41, 1.45, 1.49, 1.51, 1.48, 1.56, 1.57, 1.59,
];

/// How consistent the comparisons of a matrix are. Consistent means that a_ij · a_jk = a_ik for all i, j and k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgementConsistency {
    /// The principal eigenvalue λmax: the number of rows n if the comparisons are consistent, and more otherwise.
    pub lambda_max: f64,
    /// The consistency index (λmax − n) / (n − 1); 0 for one and two rows.
    pub index: f64,
    /// The consistency ratio: the index divided by the random index of as many rows; 0 for one and two rows.
    pub ratio: f64,
}

impl JudgementConsistency {
    /// Saaty's rule: judgements with a consistency ratio above this should be made again.
    pub const RATIO_ACCEPTED_MAX: f64 = 0.1;

    /// Of comparisons that are ratios of values of `count` things.
    pub(crate) fn of_ratios(count: usize) -> Self {
        Self {
            lambda_max: count as f64,
            index: 0.0,
            ratio: 0.0,
        }
    }

    /// Of a matrix of `rows` rows, at most as many as there are random indexes, with the principal eigenvalue `lambda_max`.
    pub(crate) fn of_eigenvalue(lambda_max: f64, rows: usize) -> Self {
        let random_index = RANDOM_INDEX.get(rows.saturating_sub(1)).copied();
        match random_index {
            // One comparison contradicts nothing: what differs from n is rounding.
            Some(random_index) if random_index > 0.0 => {
                // Rounding may bring λmax below n, which it cannot be.
                let index = ((lambda_max - rows as f64) / (rows as f64 - 1.0)).max(0.0);
                Self {
                    lambda_max,
                    index,
                    ratio: index / random_index,
                }
            }
            _ => Self::of_ratios(rows),
        }
    }

    /// The ratio is at most 0.1, as Saaty demands.
    #[must_use]
    pub fn is_acceptable(&self) -> bool {
        self.ratio <= Self::RATIO_ACCEPTED_MAX
    }
}

/// What comparisons say: the share of each thing, and how consistent they are.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityVector {
    /// One priority for each thing, in the order of the comparisons. They are 0 or more and sum to 1, except weights that are taken
    /// [as given](crate::CriteriaWeights::AsGiven).
    pub priorities: Vec<f64>,
    /// How consistent the comparisons are.
    pub consistency: JudgementConsistency,
}
