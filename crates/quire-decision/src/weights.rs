//! How much each criterion of a group counts.

use crate::consistency::{JudgementConsistency, PriorityVector};
use crate::error::{DecisionError, WEIGHT_SUM_TOLERANCE};
use crate::measured::{check_finite, shares, sum_by_size};
use crate::pairwise_matrix::PairwiseMatrix;

/// How much each criterion of a group counts, in the order in which the criteria were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CriteriaWeights {
    /// All the same: 1/n each.
    #[default]
    Equal,
    /// Weights as they are, such as the paper's 0.333 for each of three. They are 0 or more and sum to 1 within 0.01.
    AsGiven(Vec<f64>),
    /// Weights 0 or more, which are divided by their sum: 2, 1, 1.
    Ratios(Vec<f64>),
    /// Judgements of how much more important one criterion is than another.
    Judged(PairwiseMatrix),
}

impl CriteriaWeights {
    /// The weight of each of `criteria` criteria, of which there is one at least.
    pub(crate) fn resolve(
        &self,
        of: &str,
        criteria: usize,
    ) -> Result<PriorityVector, DecisionError> {
        let priorities = match self {
            Self::Equal => vec![1.0 / criteria as f64; criteria],
            Self::AsGiven(weights) => {
                let sum = check_weights(of, weights, criteria)?;
                if (sum - 1.0).abs() > WEIGHT_SUM_TOLERANCE {
                    return Err(DecisionError::WeightSum {
                        of: of.to_owned(),
                        sum,
                    });
                }
                weights.clone()
            }
            Self::Ratios(weights) => {
                check_weights(of, weights, criteria)?;
                shares(weights)
            }
            Self::Judged(matrix) => {
                check_count(of, matrix.rows(), criteria)?;
                return matrix.priorities();
            }
        };
        Ok(PriorityVector {
            priorities,
            consistency: JudgementConsistency::of_ratios(criteria),
        })
    }
}

/// One for each of what is compared.
pub(crate) fn check_count(of: &str, given: usize, needed: usize) -> Result<(), DecisionError> {
    if given == needed {
        return Ok(());
    }
    Err(DecisionError::WrongCount {
        of: of.to_owned(),
        given,
        needed,
    })
}

/// The sum of weights that are 0 or more and not all 0.
fn check_weights(of: &str, weights: &[f64], criteria: usize) -> Result<f64, DecisionError> {
    check_count(of, weights.len(), criteria)?;
    check_finite(of, weights)?;
    if let Some(place) = weights.iter().position(|&weight| weight < 0.0) {
        return Err(DecisionError::NegativeWeight {
            of: of.to_owned(),
            place: place + 1,
            value: weights[place],
        });
    }
    let sum = sum_by_size(weights.to_vec());
    if sum > 0.0 {
        Ok(sum)
    } else {
        Err(DecisionError::NoWeight { of: of.to_owned() })
    }
}
