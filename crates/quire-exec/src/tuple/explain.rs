//! What a query is made of, as text: iterators, inputs below and further in, with the programs that they run.

use std::fmt::{self, Display, Write as _};

use super::{ProgramStep, RegisterIterator};

/// Text that grows line by line.
#[derive(Debug, Default)]
pub struct Explanation {
    text: String,
    depth: usize,
    with_programs: bool,
    /// What goes behind the next line.
    note: Option<String>,
}

impl Explanation {
    /// The iterators under one, and what they run.
    pub(crate) fn of(iterator: &dyn RegisterIterator, with_programs: bool) -> Self {
        let mut explanation = Self {
            with_programs,
            ..Self::default()
        };
        iterator.explain(&mut explanation);
        explanation
    }

    /// A line about the present iterator.
    pub fn line(&mut self, line: impl Display) {
        let note = self.note.take().map(|note| format!(" ({note})"));
        let (indent, note) = (2 * self.depth, note.unwrap_or_default());
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{line}{note}", "");
    }

    /// Something to be shown behind the next line.
    pub(super) fn note(&mut self, note: String) {
        self.note = Some(note);
    }

    /// A program that the present iterator runs.
    pub(super) fn program(&mut self, name: &str, step: &ProgramStep) {
        let text = step.program.to_string();
        if !self.with_programs || step.program.draft().instructions.len() < 2 {
            return;
        }
        self.line(format_args!("  {name}:"));
        for line in text.lines() {
            self.line(format_args!("  {line}"));
        }
    }

    /// An input of the present iterator.
    pub fn input(&mut self, input: &(impl RegisterIterator + ?Sized)) {
        self.depth += 1;
        input.explain(self);
        self.depth -= 1;
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
