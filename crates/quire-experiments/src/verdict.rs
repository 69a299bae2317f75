//! What a paper says of its measurements, and whether ours agree.

/// How many exceptions a verdict names.
const EXCEPTIONS_NAMED: usize = 6;

/// Whether a statement holds for what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerdictOutcome {
    Holds,
    Fails,
    /// Nothing was measured that it speaks of.
    NotMeasured,
}

/// A statement, and how it fares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) outcome: VerdictOutcome,
    pub(crate) text: String,
}

/// One case that a statement speaks of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VerdictCase {
    pub(crate) name: String,
    pub(crate) holds: bool,
    /// What was measured, as the verdict names an exception: `1.23`.
    pub(crate) value: f64,
}

impl Verdict {
    /// The statement holds if it does in at least `needed` of the cases.
    pub(crate) fn at_least(
        statement: impl Into<String>,
        needed: usize,
        cases: &[VerdictCase],
    ) -> Self {
        let statement = statement.into();
        if cases.is_empty() {
            return Self::not_measured(&statement);
        }
        let held = cases.iter().filter(|case| case.holds).count();
        let (outcome, word) = match held >= needed {
            true => (VerdictOutcome::Holds, "holds"),
            false => (VerdictOutcome::Fails, "does not hold"),
        };
        let exceptions: Vec<&VerdictCase> = cases.iter().filter(|case| !case.holds).collect();
        let names = exceptions.iter().take(EXCEPTIONS_NAMED);
        let mut names: Vec<String> = names
            .map(|case| format!("{} ({:.2})", case.name, case.value))
            .collect();
        if exceptions.len() > names.len() {
            names.push(format!("{} more", exceptions.len() - names.len()));
        }
        let exceptions = match names.is_empty() {
            true => String::new(),
            false => format!("; not for {}", names.join(", ")),
        };
        let text = format!("{word}: {statement}: {held} of {}{exceptions}", cases.len());
        Self { outcome, text }
    }

    /// The statement holds if it does in every case.
    pub(crate) fn of_all(statement: impl Into<String>, cases: &[VerdictCase]) -> Self {
        Self::at_least(statement, cases.len(), cases)
    }

    /// A statement about what was not measured.
    pub(crate) fn not_measured(statement: &str) -> Self {
        Self {
            outcome: VerdictOutcome::NotMeasured,
            text: format!("not measured: {statement}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, value: f64) -> VerdictCase {
        VerdictCase {
            name: name.to_owned(),
            holds: value <= 1.0,
            value,
        }
    }

    #[test]
    fn one_exception_is_named_and_decides() {
        let cases = [case("Q1", 0.5), case("Q6", 1.25)];
        let verdict = Verdict::of_all("fast", &cases);
        assert_eq!(verdict.outcome, VerdictOutcome::Fails);
        assert_eq!(
            verdict.text,
            "does not hold: fast: 1 of 2; not for Q6 (1.25)"
        );
        let verdict = Verdict::at_least("fast", 1, &cases);
        assert_eq!(verdict.outcome, VerdictOutcome::Holds);
        let verdict = Verdict::of_all("fast", &cases[..1]);
        assert_eq!(verdict.text, "holds: fast: 1 of 1");
    }

    #[test]
    fn without_cases_nothing_is_said() {
        let verdict = Verdict::of_all("fast", &[]);
        assert_eq!(verdict.outcome, VerdictOutcome::NotMeasured);
    }

    #[test]
    fn of_many_exceptions_a_few_are_named() {
        let cases: Vec<VerdictCase> = (0..10)
            .map(|number| case(&format!("Q{number}"), 2.0))
            .collect();
        let verdict = Verdict::of_all("fast", &cases);
        assert!(verdict.text.ends_with("Q5 (2.00), 4 more"));
    }
}
