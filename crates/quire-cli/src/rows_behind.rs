//! The lines behind a statement that are its rows, as those of `COPY … FROM stdin`.

use std::io::{self, BufRead, Write};

use crate::script::Script;

/// What ends the rows: a line of its own.
const END_MARK: &[u8] = b"\\.";

/// What stands before lines that are typed.
const PROMPT: &str = ">> ";

/// Where such lines come from.
pub trait RowLines {
    /// Appends the next line with its line end; `false` at the end of all.
    ///
    /// # Errors
    /// What reading fails with.
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool>;

    /// On which line of its script the next line stands, from 1.
    fn line_number(&self) -> Option<u64> {
        None
    }

    /// Whether a person types them.
    fn are_typed(&self) -> bool {
        false
    }
}

impl<R: BufRead> RowLines for Script<R> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.next_row_line(line)
    }

    fn line_number(&self) -> Option<u64> {
        Some(self.next_line_number())
    }
}

/// The standard input of the program.
pub struct ProcessInput;

impl RowLines for ProcessInput {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        Ok(io::stdin().lock().read_until(b'\n', line)? > 0)
    }
}

/// What was typed with the statement, and then what is typed next.
pub struct TypedLines<'s, R> {
    pub text: &'s mut Script<R>,
    /// Whether what to do has been said.
    pub has_asked: bool,
}

impl<R: BufRead> RowLines for TypedLines<'_, R> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        if self.text.next_row_line(line)? {
            // The last line of what was typed has no line end.
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            return Ok(true);
        }
        let mut output = io::stdout();
        if !std::mem::replace(&mut self.has_asked, true) {
            let what = "Enter data to be copied followed by a newline.\nEnd with a backslash and a period on a line by itself, or an EOF signal.";
            writeln!(output, "{what}")?;
        }
        write!(output, "{PROMPT}")?;
        output.flush()?;
        ProcessInput.next_line(line)
    }

    fn are_typed(&self) -> bool {
        true
    }
}

/// Whether the line ends the rows.
pub fn is_end(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line) == END_MARK
}

/// Reads past all lines up to the end of the rows.
///
/// # Errors
/// What reading fails with.
pub fn skip(lines: &mut dyn RowLines) -> io::Result<()> {
    let mut line = Vec::new();
    while lines.next_line(&mut line)? && !is_end(&line) {
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{is_end, skip};
    use crate::script::{Item, Script};

    #[test]
    fn the_end_is_a_line_of_its_own() {
        for end in ["\\.", "\\.\n", "\\.\r\n"] {
            assert!(is_end(end.as_bytes()), "{end:?}");
        }
        for other in ["", "\n", "\\.x\n", " \\.\n", "\\\\.\n"] {
            assert!(!is_end(other.as_bytes()), "{other:?}");
        }
    }

    #[test]
    fn a_script_goes_on_behind_its_rows_and_counts_their_lines() {
        let text = "copy t from stdin; select 1;\nselect;\n\n.x\n\\.\nselect 2\n;\n.quit\n";
        let mut script = Script::new(text.as_bytes());
        let mut next = || {
            let item = script.next_item().unwrap();
            if matches!(&item, Some(Item::Statement { text, .. }) if text.starts_with("copy")) {
                skip(&mut script).unwrap();
            }
            item
        };
        let statement = |text: &str, line| {
            Some(Item::Statement {
                text: text.to_owned(),
                line,
            })
        };
        assert_eq!(next(), statement("copy t from stdin", 1));
        assert_eq!(next(), statement("select 1", 1));
        assert_eq!(next(), statement("select 2\n", 6));
        let quit = Item::Command {
            text: ".quit".to_owned(),
            line: 8,
        };
        assert_eq!(next(), Some(quit));
        assert_eq!(next(), None);
    }
}
