//! The tree as text: inputs are below the operator that reads them, and further in.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{ExplainedOperator, MeasuredOperator, OperatorEstimate};

/// Lines are broken where they would be longer.
const LINE_COLUMNS_MAX: usize = 100;
/// Columns of text in a line, however far in it is.
const TEXT_COLUMNS_MIN: usize = 40;
/// Columns by which an input is further in.
const INPUT_INDENT: usize = 2;
/// Columns by which details are further in than their operator, and the rest of a broken line than its beginning.
const DETAIL_INDENT: usize = 4;

impl Display for ExplainedOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl ExplainedOperator {
    fn write(&self, f: &mut Formatter<'_>, indent: usize) -> fmt::Result {
        let mut line = self.heading.clone();
        let notes: Vec<String> = self.notes().collect();
        if !notes.is_empty() {
            write!(line, " ({})", notes.join("; "))?;
        }
        write_broken(f, indent, &line)?;
        for detail in &self.details {
            write_broken(f, indent + DETAIL_INDENT, detail)?;
        }
        for input in &self.inputs {
            input.write(f, indent + INPUT_INDENT)?;
        }
        Ok(())
    }

    /// What stands behind the heading.
    fn notes(&self) -> impl Iterator<Item = String> {
        let estimate = self.estimate.iter().map(OperatorEstimate::to_string);
        let measured = self.measured.iter().map(MeasuredOperator::to_string);
        estimate.chain(measured).chain(self.remarks.iter().cloned())
    }
}

impl Display for OperatorEstimate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "about {:.0} rows", self.row_count)?;
        match self.cost_ns {
            Some(cost_ns) => write!(f, ", {:.3} ms", cost_ns / 1e6),
            None => Ok(()),
        }
    }
}

impl Display for MeasuredOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows", self.row_count)?;
        for (name, value) in &self.counters {
            write!(f, ", {value} {name}")?;
        }
        write!(f, ", {:.3} ms", self.own_time.as_secs_f64() * 1e3)
    }
}

/// A line, broken between words where it is too long. A word that is longer than a line stays whole.
fn write_broken(f: &mut Formatter<'_>, indent: usize, line: &str) -> fmt::Result {
    let (mut left, mut indent) = (line, indent);
    loop {
        let columns_max = LINE_COLUMNS_MAX
            .saturating_sub(indent)
            .max(TEXT_COLUMNS_MIN);
        let Some(end) = break_of(left, columns_max) else {
            return writeln!(f, "{:indent$}{left}", "");
        };
        let (begun, rest) = left.split_at(end);
        writeln!(f, "{:indent$}{begun}", "")?;
        if left.len() == line.len() {
            indent += DETAIL_INDENT;
        }
        left = rest.trim_start();
    }
}

/// Where a line that is longer than `columns_max` characters is broken; nothing where it is not.
///
/// Behind a comma or semicolon in the second half of the line, so that `2 vectors decoded` stays whole, or else at its last space.
fn break_of(line: &str, columns_max: usize) -> Option<usize> {
    let (too_far, _) = line.char_indices().nth(columns_max)?;
    let first_word = line.len() - line.trim_start().len();
    let fitting = &line[..too_far];
    let part = fitting.rfind([',', ';']).map(|at| at + 1);
    let part = part.filter(|&end| end > too_far / 2 && line[end..].starts_with(' '));
    let word = || fitting.rfind(' ').filter(|&end| end > first_word);
    part.or_else(word).or_else(|| {
        let after = line[too_far..].find(' ')?;
        Some(too_far + after)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lines_are_broken_between_parts_or_words() {
        let mut root = ExplainedOperator::new("hash join");
        root.estimate = Some(OperatorEstimate {
            row_count: 12.4,
            cost_ns: Some(1.5e6),
        });
        root.measured = Some(MeasuredOperator {
            row_count: 10,
            own_time: Duration::from_micros(2_500),
            counters: vec![("bytes read".to_owned(), 4096)],
        });
        root.details = vec!["on ".to_owned() + &"k = l, ".repeat(20)];
        root.inputs = vec![ExplainedOperator::new("x".repeat(150))];
        let text = root.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "hash join (about 12 rows, 1.500 ms; 10 rows, 4096 bytes read, 2.500 ms)"
        );
        assert!(lines[1].starts_with("    on k = l,"), "{text}");
        assert!(lines[2].starts_with("        k = l,"), "{text}");
        assert!(lines[1].len() <= LINE_COLUMNS_MAX && lines[1].len() > 90);
        assert_eq!(lines.last().map(|line| line.len()), Some(152));
        let without_parts = "word ".repeat(30);
        assert_eq!(break_of(&without_parts, 98), Some(94));
        assert_eq!(break_of("one, two three four", 15), Some(14));
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words(&lines[1..lines.len() - 1].join(" ")),
            words(&root.details[0])
        );
    }
}
