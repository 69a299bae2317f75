//! The hierarchy: a goal, criteria in two groups, and alternatives (paper 5, figure 2).

pub(crate) mod ranking;

use crate::consistency::PriorityVector;
use crate::error::DecisionError;
use crate::measured::{priorities_of_percentages, priorities_of_values};
use crate::pairwise_matrix::PairwiseMatrix;
use crate::weights::{CriteriaWeights, check_count};
use ranking::{CriterionPriorities, Ranking};

/// What one criterion says of the alternatives, in their order. More is more of the benefit, or more of the cost: where less is better, such as
/// time, a benefit takes the reciprocals.
#[derive(Clone, Debug, PartialEq)]
pub enum AlternativeValues {
    /// Positive values in any unit with a natural zero: throughput, bytes, seconds. Their ratios count, and so the unit does not.
    Measured(Vec<f64>),
    /// Changes in per cent of a baseline. If one of them is 0 or negative, all are replaced by 100 + v, as in paper 5 (§3.1, §3.3). What this does
    /// to the result is in the README; [`AlternativeValues::Measured`] with 100 + v always does the same to all columns.
    Percentages(Vec<f64>),
    /// Judgements of how many times one alternative exceeds another.
    Judged(PairwiseMatrix),
}

impl AlternativeValues {
    fn priorities(&self, of: &str, alternatives: usize) -> Result<PriorityVector, DecisionError> {
        let given = match self {
            Self::Measured(values) | Self::Percentages(values) => values.len(),
            Self::Judged(matrix) => matrix.rows(),
        };
        check_count(of, given, alternatives)?;
        match self {
            Self::Measured(values) => priorities_of_values(of, values),
            Self::Percentages(values) => priorities_of_percentages(of, values),
            Self::Judged(matrix) => matrix.priorities(),
        }
    }
}

/// A decision between alternatives by criteria, which are benefits or costs.
#[derive(Clone, Debug)]
pub struct CriteriaHierarchy {
    alternatives: Vec<String>,
    benefits: CriteriaGroup,
    costs: CriteriaGroup,
}

/// Criteria that are weighed against each other.
#[derive(Clone, Debug, Default)]
struct CriteriaGroup {
    criteria: Vec<(String, AlternativeValues)>,
    weights: CriteriaWeights,
}

impl CriteriaHierarchy {
    /// A decision between these alternatives, as yet without criteria.
    pub fn new<N: Into<String>>(alternatives: impl IntoIterator<Item = N>) -> Self {
        Self {
            alternatives: alternatives.into_iter().map(Into::into).collect(),
            benefits: CriteriaGroup::default(),
            costs: CriteriaGroup::default(),
        }
    }

    /// Adds a criterion by which more is better.
    #[must_use]
    pub fn benefit(mut self, name: impl Into<String>, values: AlternativeValues) -> Self {
        self.benefits.criteria.push((name.into(), values));
        self
    }

    /// Adds a criterion by which less is better.
    #[must_use]
    pub fn cost(mut self, name: impl Into<String>, values: AlternativeValues) -> Self {
        self.costs.criteria.push((name.into(), values));
        self
    }

    /// Sets the weights of the benefits; they are equal otherwise.
    #[must_use]
    pub fn benefit_weights(mut self, weights: CriteriaWeights) -> Self {
        self.benefits.weights = weights;
        self
    }

    /// Sets the weights of the costs; they are equal otherwise. Without costs they are not used.
    #[must_use]
    pub fn cost_weights(mut self, weights: CriteriaWeights) -> Self {
        self.costs.weights = weights;
        self
    }

    /// The benefit, the cost, benefit/cost and the rank of each alternative; without costs the rank is by the benefit.
    ///
    /// # Errors
    /// [`DecisionError::NoAlternatives`] and [`DecisionError::NoBenefits`]; those of values, weights and matrices, with the name of the criterion
    /// or the group: [`DecisionError::WrongCount`], [`DecisionError::NotFinite`], [`DecisionError::NotPositive`],
    /// [`DecisionError::PercentageTooLow`], [`DecisionError::TooFarApart`], [`DecisionError::NegativeWeight`], [`DecisionError::NoWeight`],
    /// [`DecisionError::WeightSum`]; and [`DecisionError::NotConverged`].
    pub fn rank(&self) -> Result<Ranking, DecisionError> {
        if self.alternatives.is_empty() {
            return Err(DecisionError::NoAlternatives);
        }
        if self.benefits.criteria.is_empty() {
            return Err(DecisionError::NoBenefits);
        }
        let count = self.alternatives.len();
        let benefits = self.benefits.criteria_priorities(count)?;
        let benefit_weights = self.benefits.resolve_weights("weights of the benefits")?;
        if self.costs.criteria.is_empty() {
            return Ok(Ranking::new(
                &self.alternatives,
                (benefits, benefit_weights),
                None,
            ));
        }
        let costs = self.costs.criteria_priorities(count)?;
        let cost_weights = self.costs.resolve_weights("weights of the costs")?;
        Ok(Ranking::new(
            &self.alternatives,
            (benefits, benefit_weights),
            Some((costs, cost_weights)),
        ))
    }
}

impl CriteriaGroup {
    fn criteria_priorities(
        &self,
        alternatives: usize,
    ) -> Result<Vec<CriterionPriorities>, DecisionError> {
        let priorities = |(name, values): &(String, AlternativeValues)| {
            let vector = values.priorities(&format!("criterion {name}"), alternatives)?;
            Ok(CriterionPriorities {
                name: name.clone(),
                priorities: vector.priorities,
                consistency: vector.consistency,
            })
        };
        self.criteria.iter().map(priorities).collect()
    }

    fn resolve_weights(&self, of: &str) -> Result<PriorityVector, DecisionError> {
        self.weights.resolve(of, self.criteria.len())
    }
}
