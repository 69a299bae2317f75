//! Benefit, cost, and their quotient (paper 5, §2.3, equations 1 to 3, figures 2 to 5).

use quire_decision::{
    AlternativeValues, CriteriaHierarchy, CriteriaWeights, DecisionError, Ranking,
};

use super::codecs::OF_PAPER;
use super::comparison::RunComparison;
use super::paper::{BENEFIT_WEIGHT, printed};
use super::scenarios::TransactionScenario;

/// Ranks codecs by space, transactions a second and maximum response time against processor time.
pub(crate) fn ranking(names: &[&str], runs: &[RunComparison]) -> Result<Ranking, DecisionError> {
    let values = |value: fn(&RunComparison) -> f64| {
        AlternativeValues::Percentages(runs.iter().map(value).collect())
    };
    CriteriaHierarchy::new(names.iter().copied())
        .benefit("saving", values(|run| run.saving_percent))
        .benefit("performance", values(|run| run.improvement_percent))
        .benefit("response", values(|run| run.response_percent))
        .benefit_weights(CriteriaWeights::AsGiven(vec![BENEFIT_WEIGHT; 3]))
        .cost("CPU overhead", values(|run| run.overhead_percent))
        .rank()
}

/// What the paper prints of its codecs, as comparisons.
pub(crate) fn paper_comparisons(scenario: TransactionScenario) -> Vec<RunComparison> {
    let paper = printed(scenario);
    let codecs = 0..OF_PAPER;
    let comparison = |index: usize| RunComparison {
        improvement_percent: paper.improvement_percent[index],
        saving_percent: paper.saving_percent[index],
        response_percent: paper.response_percent[index],
        overhead_percent: paper.overhead_percent[index],
    };
    codecs.map(comparison).collect()
}
