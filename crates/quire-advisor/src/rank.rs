//! Which choice is best by the user's weights? The analytic hierarchy process of paper 5 (`quire-decision`).

use quire_decision::{AlternativeValues, CriteriaHierarchy, CriteriaWeights, DecisionError};

use crate::measure::ChoiceMeasurement;
use crate::predict::ChoicePrediction;

/// A benefit is believed to be no smaller than this share of the largest: the process takes no ratios without end, and a clock may tell of no time.
const SMALLEST_SHARE: f64 = 1e-6;

/// What a user reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadKind {
    /// Single rows by their key.
    Points,
    /// All rows of some columns.
    Scans,
    /// Both alike: the geometric mean, which has no unit to weigh the two by.
    #[default]
    Both,
}

/// How much each criterion counts. The first four are ratios to each other, 0 or more and not all 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdviceWeights {
    /// Bytes of the whole.
    pub size: f64,
    /// Reading, by [`ReadKind`].
    pub read: f64,
    /// Loading and inserting.
    pub write: f64,
    /// The longest time of many reads.
    pub response: f64,
    /// Whether the benefit is divided by the processor time, as in paper 5: the rank is then by benefit/cost. Without it processor time is shown and does not
    /// count.
    pub counts_processor: bool,
}

impl Default for AdviceWeights {
    fn default() -> Self {
        Self {
            size: 1.0,
            read: 1.0,
            write: 1.0,
            response: 1.0,
            counts_processor: false,
        }
    }
}

/// What the criteria say of a choice. All are positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriterionValues {
    /// One over the bytes of the whole.
    pub size: f64,
    /// One over the microseconds of a point read, MB/s of a scan, or the geometric mean of both.
    pub read: f64,
    /// MB/s of writing.
    pub write: f64,
    /// One over the microseconds of the longest read.
    pub response: f64,
    /// Seconds of processor time for the sample: the cost.
    pub processor: f64,
}

impl CriterionValues {
    pub(crate) fn new(
        measured: &ChoiceMeasurement,
        predicted: &ChoicePrediction,
        read_kind: ReadKind,
    ) -> Self {
        let tiny = f64::MIN_POSITIVE.sqrt();
        let reciprocal = |value: f64| 1.0 / value.max(1e-9);
        let point = reciprocal(predicted.point_read_us);
        let scan = predicted.scan_mb_s.max(tiny);
        let read = match read_kind {
            ReadKind::Points => point,
            ReadKind::Scans => scan,
            ReadKind::Both => point.sqrt() * scan.sqrt(),
        };
        Self {
            size: reciprocal(predicted.whole_bytes as f64),
            read,
            write: measured.encode_mb_s.max(tiny),
            response: reciprocal(predicted.worst_response_us),
            processor: measured.processor_seconds.max(1e-9),
        }
    }

    fn benefits(&self) -> [f64; 4] {
        [self.size, self.read, self.write, self.response]
    }

    /// Whether this is as good as `other` by everything, and better by something.
    fn dominates(&self, other: &Self, weights: &AdviceWeights) -> bool {
        let mut pairs: Vec<(f64, f64)> =
            self.benefits().into_iter().zip(other.benefits()).collect();
        if weights.counts_processor {
            pairs.push((other.processor, self.processor));
        }
        pairs.iter().all(|(own, other)| own >= other)
            && pairs.iter().any(|(own, other)| own > other)
    }
}

/// The place of one choice.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceRank {
    /// 1 for the best; choices with the same score share a rank. `None` of a choice to which another is preferable whatever the weights.
    pub rank: Option<usize>,
    /// The first choice that is as good by everything and better by something.
    pub dominated_by: Option<usize>,
    /// The weighted sum of priorities; 0 of a dominated choice.
    pub benefit: f64,
    /// The priority by processor time; 0 of a dominated choice.
    pub cost: f64,
    /// Benefit over cost, by which paper 5 ranks; 0 of a dominated choice.
    pub benefit_to_cost: f64,
    /// What it was ranked by.
    pub values: CriterionValues,
}

/// Ranks choices. Those that another dominates take no part: they would change the priorities of the rest, and no weights could make them best.
///
/// # Errors
/// Weights that are negative, not finite or all 0.
pub(crate) fn rank(
    values: &[CriterionValues],
    weights: &AdviceWeights,
) -> Result<Vec<ChoiceRank>, DecisionError> {
    let dominated_by = |place: usize| {
        let is_better = |other: &usize| values[*other].dominates(&values[place], weights);
        (0..values.len()).find(is_better)
    };
    let dominated: Vec<Option<usize>> = (0..values.len()).map(dominated_by).collect();
    let left: Vec<usize> = (0..values.len())
        .filter(|&at| dominated[at].is_none())
        .collect();
    let column = |of: fn(&CriterionValues) -> f64| {
        let all: Vec<f64> = left.iter().map(|&place| of(&values[place])).collect();
        let largest = all.iter().copied().fold(0.0, f64::max);
        let least = largest * SMALLEST_SHARE;
        AlternativeValues::Measured(all.into_iter().map(|value| value.max(least)).collect())
    };
    let names = left.iter().map(ToString::to_string);
    let hierarchy = || {
        CriteriaHierarchy::new(names.clone())
            .benefit("size", column(|one| one.size))
            .benefit("read", column(|one| one.read))
            .benefit("write", column(|one| one.write))
            .benefit("response", column(|one| one.response))
            .benefit_weights(CriteriaWeights::Ratios(vec![
                weights.size,
                weights.read,
                weights.write,
                weights.response,
            ]))
    };
    let with_cost = hierarchy()
        .cost("processor", column(|one| one.processor))
        .rank()?;
    let ranking = if weights.counts_processor {
        with_cost.clone()
    } else {
        hierarchy().rank()?
    };
    let mut ranks: Vec<ChoiceRank> = (values.iter().zip(&dominated))
        .map(|(values, dominated_by)| ChoiceRank {
            rank: None,
            dominated_by: *dominated_by,
            benefit: 0.0,
            cost: 0.0,
            benefit_to_cost: 0.0,
            values: *values,
        })
        .collect();
    let scored = ranking.alternatives.iter().zip(&with_cost.alternatives);
    for (place, (ranked, costed)) in left.into_iter().zip(scored) {
        let one = &mut ranks[place];
        one.rank = Some(ranked.rank);
        one.benefit = ranked.benefit;
        one.cost = costed.cost.unwrap_or_default();
        one.benefit_to_cost = costed.benefit_to_cost.unwrap_or_default();
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(size: f64, read: f64, write: f64, response: f64) -> CriterionValues {
        CriterionValues {
            size,
            read,
            write,
            response,
            processor: 1.0,
        }
    }

    fn ranks(values: &[CriterionValues], weights: &AdviceWeights) -> Vec<Option<usize>> {
        let ranks = rank(values, weights).unwrap();
        ranks.into_iter().map(|one| one.rank).collect()
    }

    const SIZE: AdviceWeights = AdviceWeights {
        size: 1.0,
        read: 0.0,
        write: 0.0,
        response: 0.0,
        counts_processor: false,
    };

    #[test]
    fn a_single_weight_ranks_by_that_criterion() {
        let choices = [
            values(3.0, 1.0, 2.0, 2.0),
            values(1.0, 3.0, 2.0, 1.0),
            values(2.0, 2.0, 2.0, 3.0),
        ];
        assert_eq!(ranks(&choices, &SIZE), [Some(1), Some(3), Some(2)]);
        let read = AdviceWeights {
            size: 0.0,
            read: 5.0,
            ..SIZE
        };
        assert_eq!(ranks(&choices, &read), [Some(3), Some(1), Some(2)]);
    }

    #[test]
    fn what_is_worse_by_everything_has_no_rank_and_changes_none() {
        let mut choices = vec![values(3.0, 1.0, 1.0, 1.0), values(1.0, 3.0, 1.0, 1.0)];
        let weights = AdviceWeights {
            size: 3.0,
            read: 2.0,
            ..AdviceWeights::default()
        };
        let before = rank(&choices, &weights).unwrap();
        choices.push(values(2.0, 1.0, 1.0, 0.5));
        let after = rank(&choices, &weights).unwrap();
        assert_eq!(after[..2], before[..]);
        assert_eq!((after[2].rank, after[2].dominated_by), (None, Some(0)));
    }

    #[test]
    fn equal_choices_share_a_rank() {
        let same = values(1.0, 2.0, 3.0, 4.0);
        assert_eq!(ranks(&[same, same], &SIZE), [Some(1), Some(1)]);
    }

    #[test]
    fn scores_are_weighted_sums_of_shares() {
        let choices = [values(3.0, 1.0, 1.0, 1.0), values(1.0, 1.0, 1.0, 3.0)];
        let weights = AdviceWeights {
            size: 3.0,
            read: 2.0,
            write: 1.0,
            response: 2.0,
            counts_processor: false,
        };
        let ranked = rank(&choices, &weights).unwrap();
        // (3 * 3/4 + 2 * 1/2 + 1 * 1/2 + 2 * 1/4) / 8
        assert!((ranked[0].benefit - 4.25 / 8.0).abs() < 1e-12);
        assert!((ranked[0].cost - 0.5).abs() < 1e-12);
        assert_eq!(ranked[0].rank, Some(1));
    }

    #[test]
    fn processor_time_divides_the_benefit_only_if_it_counts() {
        let mut dear = values(3.0, 1.0, 1.0, 1.0);
        dear.processor = 10.0;
        let choices = [dear, values(2.0, 1.0, 1.0, 1.0)];
        // Dearer, and smaller: neither dominates once the processor counts.
        let counts = AdviceWeights {
            counts_processor: true,
            ..SIZE
        };
        assert_eq!(ranks(&choices, &counts), [Some(2), Some(1)]);
        assert_eq!(ranks(&choices, &SIZE), [Some(1), None]);
    }

    #[test]
    fn weights_without_sense_are_refused() {
        let choices = [values(1.0, 1.0, 1.0, 1.0)];
        let none = AdviceWeights { size: 0.0, ..SIZE };
        assert!(rank(&choices, &none).is_err());
        let negative = AdviceWeights { read: -1.0, ..SIZE };
        assert!(rank(&choices, &negative).is_err());
    }
}
