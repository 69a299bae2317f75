//! Priorities by measured values.

use crate::consistency::{JudgementConsistency, PriorityVector};
use crate::error::{DecisionError, RATIO_MAX};

/// What the paper takes in place of v if a percentage of change is 0 or negative: 100 + v, the new value in per cent of the old.
const OLD_VALUE_PERCENT: f64 = 100.0;

/// v_i / Σv, the principal eigenvector of the matrix v_i / v_j (paper 5, §3.0: "the resulting ranking will be consistent").
pub(crate) fn priorities_of_values(
    of: &str,
    values: &[f64],
) -> Result<PriorityVector, DecisionError> {
    check_positive(of, values)?;
    Ok(PriorityVector {
        priorities: shares(values),
        consistency: JudgementConsistency::of_ratios(values.len()),
    })
}

/// The same of percentages of change: if one of them is 0 or negative, all are replaced by 100 + v, which paper 5 calls relative (§3.1, §3.3).
pub(crate) fn priorities_of_percentages(
    of: &str,
    percentages: &[f64],
) -> Result<PriorityVector, DecisionError> {
    check_finite(of, percentages)?;
    if percentages.iter().all(|&value| value > 0.0) {
        return priorities_of_values(of, percentages);
    }
    let relative: Vec<f64> = percentages
        .iter()
        .map(|value| OLD_VALUE_PERCENT + value)
        .collect();
    match relative.iter().position(|&value| value <= 0.0) {
        Some(place) => Err(DecisionError::PercentageTooLow {
            of: of.to_owned(),
            place: place + 1,
            value: percentages[place],
        }),
        None => priorities_of_values(of, &relative),
    }
}

/// Values without NaN and infinity.
pub(crate) fn check_finite(of: &str, values: &[f64]) -> Result<(), DecisionError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(place) => Err(DecisionError::NotFinite {
            of: of.to_owned(),
            place: place + 1,
            value: values[place],
        }),
        None => Ok(()),
    }
}

/// Values that all have a ratio to each other of [`RATIO_MAX`] at most.
pub(crate) fn check_positive(of: &str, values: &[f64]) -> Result<(), DecisionError> {
    check_finite(of, values)?;
    if let Some(place) = values.iter().position(|&value| value <= 0.0) {
        return Err(DecisionError::NotPositive {
            of: of.to_owned(),
            place: place + 1,
            value: values[place],
        });
    }
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(0.0, f64::max);
    // The quotient of a subnormal number may be infinite, which is more as well.
    if largest / smallest > RATIO_MAX {
        return Err(DecisionError::TooFarApart {
            of: of.to_owned(),
            smallest,
            largest,
        });
    }
    Ok(())
}

/// Each value's part of the sum of all, which are 0 or more and not all 0.
pub(crate) fn shares(values: &[f64]) -> Vec<f64> {
    let largest = values.iter().copied().fold(0.0, f64::max);
    // The sum of what is at most 1 does not overflow.
    let scaled: Vec<f64> = values.iter().map(|value| value / largest).collect();
    let sum = sum_by_size(scaled.clone());
    scaled.iter().map(|value| value / sum).collect()
}

/// The sum, the smallest first: it depends on the values alone and not on their order, so that equal alternatives have equal sums.
pub(crate) fn sum_by_size(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.iter().sum()
}
