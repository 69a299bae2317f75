//! Which alternative is best, and why.

use crate::consistency::{JudgementConsistency, PriorityVector};
use crate::measured::sum_by_size;

/// Criteria of one group and their weights.
type WeighedCriteria = (Vec<CriterionPriorities>, PriorityVector);

/// What one criterion says of all alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionPriorities {
    /// Name of the criterion.
    pub name: String,
    /// One priority for each alternative, in their order. They are positive and sum to 1.
    pub priorities: Vec<f64>,
    /// How consistent the comparisons of the alternatives are. Measured values are consistent.
    pub consistency: JudgementConsistency,
}

/// One alternative and its scores. All are finite and positive.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedAlternative {
    /// Name of the alternative.
    pub name: String,
    /// The sum of its priorities by the benefits, each times the criterion's weight (paper 5, equations 1 to 3).
    pub benefit: f64,
    /// The same of the costs. `None` without costs.
    pub cost: Option<f64>,
    /// The benefit divided by the cost. `None` without costs.
    pub benefit_to_cost: Option<f64>,
    /// 1 for the best. Alternatives with the same score share a rank, and the next rank is left out for each of them: 1, 2, 2, 4.
    pub rank: usize,
}

impl RankedAlternative {
    /// What the rank is by: benefit/cost, or without costs the benefit.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.benefit_to_cost.unwrap_or(self.benefit)
    }
}

/// The result of a [`CriteriaHierarchy`](crate::CriteriaHierarchy).
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The alternatives, in the order in which they were named.
    pub alternatives: Vec<RankedAlternative>,
    /// The criteria of the benefits, in the order in which they were added.
    pub benefits: Vec<CriterionPriorities>,
    /// Weights of the benefits, and how consistent their comparisons are.
    pub benefit_weights: PriorityVector,
    /// The criteria of the costs, in the order in which they were added; none without costs.
    pub costs: Vec<CriterionPriorities>,
    /// Weights of the costs, and how consistent their comparisons are. `None` without costs.
    pub cost_weights: Option<PriorityVector>,
}

impl Ranking {
    pub(crate) fn new(
        names: &[String],
        (benefits, benefit_weights): WeighedCriteria,
        costs: Option<WeighedCriteria>,
    ) -> Self {
        let scored = names.iter().enumerate().map(|(place, name)| {
            let benefit = weighted_sum(&benefits, &benefit_weights, place);
            let cost = costs
                .as_ref()
                .map(|(criteria, weights)| weighted_sum(criteria, weights, place));
            RankedAlternative {
                name: name.clone(),
                benefit,
                cost,
                benefit_to_cost: cost.map(|cost| benefit / cost),
                rank: 1,
            }
        });
        let mut alternatives: Vec<RankedAlternative> = scored.collect();
        let scores: Vec<f64> = alternatives.iter().map(RankedAlternative::score).collect();
        for alternative in &mut alternatives {
            let score = alternative.score();
            alternative.rank = 1 + scores.iter().filter(|&&other| other > score).count();
        }
        let (costs, cost_weights) = costs.unzip();
        Self {
            alternatives,
            benefits,
            benefit_weights,
            costs: costs.unwrap_or_default(),
            cost_weights,
        }
    }

    /// The alternatives, the best first. Those that share a rank are in the order in which they were named.
    pub fn best_first(&self) -> impl Iterator<Item = &RankedAlternative> {
        let mut sorted: Vec<&RankedAlternative> = self.alternatives.iter().collect();
        sorted.sort_by_key(|alternative| alternative.rank);
        sorted.into_iter()
    }
}

fn weighted_sum(criteria: &[CriterionPriorities], weights: &PriorityVector, place: usize) -> f64 {
    let parts = criteria.iter().zip(&weights.priorities);
    sum_by_size(
        parts
            .map(|(criterion, weight)| criterion.priorities[place] * weight)
            .collect(),
    )
}
