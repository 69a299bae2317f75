//! What a query is made of, as text: iterators, inputs below and further in, with the programs that they run.

use std::fmt::{self, Display, Write as _};

use super::{RegisterIterator, Step};

/// Text that grows line by line.
#[derive(Debug, Default)]
pub struct Explanation {
    text: String,
    depth: usize,
}

impl Explanation {
    /// The iterators under one, and what they run.
    pub(crate) fn of(iterator: &dyn RegisterIterator) -> Self {
        let mut explanation = Self::default();
        iterator.explain(&mut explanation);
        explanation
    }

    /// A line about the present iterator.
    pub fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    /// A program that the present iterator runs.
    pub(super) fn program(&mut self, name: &str, step: &Step) {
        let text = step.program.to_string();
        if step.program.draft().instructions.len() < 2 {
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
