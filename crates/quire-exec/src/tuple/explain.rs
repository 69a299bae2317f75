//! What the iterators of a query say of themselves.

use std::fmt::Display;

use super::{ProgramStep, RegisterIterator};
use crate::explained::{ExplainedOperator, MeasuredOperator, OperatorEstimate};

/// One iterator's account of itself.
#[derive(Debug, Default)]
pub struct Explanation {
    operator: ExplainedOperator,
    with_programs: bool,
}

impl Explanation {
    /// An iterator and those under it, and perhaps what they run.
    pub(crate) fn of(
        iterator: &(impl RegisterIterator + ?Sized),
        with_programs: bool,
    ) -> ExplainedOperator {
        let mut explanation = Self {
            with_programs,
            ..Self::default()
        };
        iterator.explain(&mut explanation);
        explanation.operator
    }

    /// What the iterator is; further lines say more of it.
    pub fn line(&mut self, line: impl Display) {
        let line = line.to_string();
        if self.operator.heading.is_empty() {
            self.operator.heading = line;
        } else {
            self.operator.details.push(line);
        }
    }

    /// What was expected of the iterator, and what it did.
    pub(super) fn counts(
        &mut self,
        estimate: OperatorEstimate,
        measured: Option<MeasuredOperator>,
        remarks: Vec<String>,
    ) {
        self.operator.estimate = Some(estimate);
        self.operator.measured = measured;
        self.operator.remarks = remarks;
    }

    /// A program that the iterator runs.
    pub(super) fn program(&mut self, name: &str, step: &ProgramStep) {
        if !self.with_programs || step.program.draft().instructions.len() < 2 {
            return;
        }
        self.line(format_args!("{name}:"));
        for line in step.program.to_string().lines() {
            self.line(format_args!("  {line}"));
        }
    }

    /// An input that says itself, with or without its programs, what it is; if it still knows.
    pub(super) fn input_as(&mut self, describe: impl FnOnce(bool) -> Option<ExplainedOperator>) {
        self.operator.inputs.extend(describe(self.with_programs));
    }

    /// An input of the iterator.
    pub fn input(&mut self, input: &(impl RegisterIterator + ?Sized)) {
        let input = Self::of(input, self.with_programs);
        self.operator.inputs.push(input);
    }
}
