//! The words of verdicts.

use crate::VerdictOutcome;

/// A word in its colour.
pub(super) fn outcome_word(outcome: VerdictOutcome) -> String {
    let class = outcome_class(outcome);
    format!("<span class=\"outcome {class}\">{}</span>", outcome.name())
}

fn outcome_class(outcome: VerdictOutcome) -> &'static str {
    match outcome {
        VerdictOutcome::Holds => "good",
        VerdictOutcome::Deviates => "odd",
        VerdictOutcome::Fails => "bad",
        VerdictOutcome::NotMeasured => "none",
    }
}
