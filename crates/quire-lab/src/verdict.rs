//! What a paper says of its measurements, and whether ours agree.

/// How many exceptions a verdict names.
const EXCEPTIONS_NAMED: usize = 6;

/// Whether a claim holds for what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictOutcome {
    Holds,
    /// It does not hold, and nothing says why.
    Fails,
    /// It does not hold, for a reason that the verdict names.
    Deviates,
    /// Nothing was measured that it speaks of.
    NotMeasured,
}

impl VerdictOutcome {
    /// All of them, from the best to the worst.
    pub const ALL: [Self; 4] = [Self::Holds, Self::Deviates, Self::Fails, Self::NotMeasured];

    /// As written in front of a claim.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "does not hold",
            Self::Deviates => "deviates",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A claim of a paper, and how it fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: VerdictOutcome,
    /// What the paper says.
    pub claim: String,
    /// What was measured: `10 of 11; not for Q15 (0.71)`. Empty if nothing was.
    pub finding: String,
    /// Why the claim does not hold; only of one that [deviates](VerdictOutcome::Deviates).
    pub reason: Option<String>,
}

/// One case that a claim speaks of.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictCase {
    pub name: String,
    pub holds: bool,
    /// What was measured, as the verdict names an exception: `1.23`.
    pub value: f64,
}

impl VerdictCase {
    /// A case of that name.
    pub fn new(name: impl Into<String>, holds: bool, value: f64) -> Self {
        Self {
            name: name.into(),
            holds,
            value,
        }
    }
}

impl Verdict {
    /// A claim about one thing, and what was found of it.
    pub fn of_one(claim: impl Into<String>, holds: bool, finding: impl Into<String>) -> Self {
        Self {
            outcome: if holds {
                VerdictOutcome::Holds
            } else {
                VerdictOutcome::Fails
            },
            claim: claim.into(),
            finding: finding.into(),
            reason: None,
        }
    }

    /// The claim holds if it does in at least `needed` of the cases.
    pub fn at_least(claim: impl Into<String>, needed: usize, cases: &[VerdictCase]) -> Self {
        let claim = claim.into();
        if cases.is_empty() {
            return Self::not_measured(&claim);
        }
        let held = cases.iter().filter(|case| case.holds).count();
        let exceptions: Vec<&VerdictCase> = cases.iter().filter(|case| !case.holds).collect();
        let names = exceptions.iter().take(EXCEPTIONS_NAMED);
        let mut names: Vec<String> = names
            .map(|case| format!("{} ({:.2})", case.name, case.value))
            .collect();
        if exceptions.len() > names.len() {
            names.push(format!("{} more", exceptions.len() - names.len()));
        }
        let exceptions = if names.is_empty() {
            String::new()
        } else {
            format!("; not for {}", names.join(", "))
        };
        let finding = format!("{held} of {}{exceptions}", cases.len());
        Self::of_one(claim, held >= needed, finding)
    }

    /// The claim holds if it does in every case.
    pub fn of_all(claim: impl Into<String>, cases: &[VerdictCase]) -> Self {
        Self::at_least(claim, cases.len(), cases)
    }

    /// A claim about what was not measured.
    pub fn not_measured(claim: &str) -> Self {
        Self {
            outcome: VerdictOutcome::NotMeasured,
            claim: claim.to_owned(),
            finding: String::new(),
            reason: None,
        }
    }

    /// The same with the reason why the claim does not hold, if it does not and there is one.
    #[must_use]
    pub fn deviating_by(mut self, reason: Option<String>) -> Self {
        if self.outcome == VerdictOutcome::Fails && reason.is_some() {
            self.outcome = VerdictOutcome::Deviates;
            self.reason = reason;
        }
        self
    }

    /// In one line: `deviates: CLAIM: FINDING; reason: REASON`.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}", self.outcome.name(), self.claim);
        if !self.finding.is_empty() {
            text += &format!(": {}", self.finding);
        }
        if let Some(reason) = &self.reason {
            text += &format!("; reason: {reason}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, value: f64) -> VerdictCase {
        VerdictCase::new(name, value <= 1.0, value)
    }

    #[test]
    fn one_exception_is_named_and_decides() {
        let cases = [case("Q1", 0.5), case("Q6", 1.25)];
        let verdict = Verdict::of_all("fast", &cases);
        assert_eq!(verdict.outcome, VerdictOutcome::Fails);
        assert_eq!(
            verdict.text(),
            "does not hold: fast: 1 of 2; not for Q6 (1.25)"
        );
        let verdict = Verdict::at_least("fast", 1, &cases);
        assert_eq!(verdict.outcome, VerdictOutcome::Holds);
        let verdict = Verdict::of_all("fast", &cases[..1]);
        assert_eq!(verdict.text(), "holds: fast: 1 of 1");
    }

    #[test]
    fn without_cases_nothing_is_said() {
        let verdict = Verdict::of_all("fast", &[]);
        assert_eq!(verdict.outcome, VerdictOutcome::NotMeasured);
        assert_eq!(verdict.text(), "not measured: fast");
    }

    #[test]
    fn of_many_exceptions_a_few_are_named() {
        let cases: Vec<VerdictCase> = (0..10)
            .map(|number| case(&format!("Q{number}"), 2.0))
            .collect();
        let verdict = Verdict::of_all("fast", &cases);
        assert!(verdict.finding.ends_with("Q5 (2.00), 4 more"));
    }

    #[test]
    fn a_reason_makes_a_deviation_of_what_does_not_hold_and_of_nothing_else() {
        let reason = || Some("another plan".to_owned());
        let fails = Verdict::of_one("fast", false, "ours 2");
        let verdict = fails.clone().deviating_by(reason());
        assert_eq!(verdict.outcome, VerdictOutcome::Deviates);
        assert_eq!(
            verdict.text(),
            "deviates: fast: ours 2; reason: another plan"
        );
        assert_eq!(fails.clone().deviating_by(None), fails);
        for other in [
            Verdict::of_one("fast", true, "ours 1"),
            Verdict::not_measured("fast"),
        ] {
            assert_eq!(other.clone().deviating_by(reason()), other);
        }
    }
}
