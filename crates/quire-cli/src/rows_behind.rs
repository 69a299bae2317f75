//! The lines behind a statement that are its rows, as those of `COPY … FROM stdin`.

use std::io::{self, BufRead, Cursor, Write};

use crate::interrupt::Interrupts;
use crate::script::{ScriptReader, is_end};

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

    /// Reads past all lines up to the end of the rows that are there: their statement does not want them, and they are no statements.
    ///
    /// # Errors
    /// What reading fails with.
    fn skip_rows(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Whether a person types them.
    fn are_typed(&self) -> bool {
        false
    }
}

impl<R: BufRead> RowLines for ScriptReader<R> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.next_row_line(line)
    }

    fn line_number(&self) -> Option<u64> {
        Some(self.next_line_number())
    }

    fn skip_rows(&mut self) -> io::Result<()> {
        let mut line = Vec::new();
        while self.next_row_line(&mut line)? && !is_end(&line) {
            line.clear();
        }
        Ok(())
    }
}

/// The standard input of the program.
pub struct ProcessInput;

impl RowLines for ProcessInput {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        Ok(io::stdin().lock().read_until(b'\n', line)? > 0)
    }
}

/// A person at the prompt, who is asked for rows.
pub trait RowTypist {
    /// Waits for some rows.
    ///
    /// # Errors
    /// Those of the terminal.
    fn type_rows(&mut self) -> io::Result<TypedRows>;
}

/// What a person has typed who was asked for rows.
pub enum TypedRows {
    /// Lines, of which the last has no line end.
    Text(String),
    /// Ctrl-D.
    End,
    /// Ctrl-C.
    Interrupted,
}

/// What was typed at the prompt.
pub type TypedScript = ScriptReader<Cursor<Vec<u8>>>;

/// What was typed with the statement, and then what is typed next.
pub struct TypedLines<'s> {
    text: &'s mut TypedScript,
    typist: &'s mut dyn RowTypist,
    interrupts: Interrupts,
    /// Whether what to do has been said.
    has_asked: bool,
}

impl<'s> TypedLines<'s> {
    pub fn new(
        text: &'s mut TypedScript,
        typist: &'s mut dyn RowTypist,
        interrupts: Interrupts,
    ) -> Self {
        Self {
            text,
            typist,
            interrupts,
            has_asked: false,
        }
    }

    /// Asks for more. What is typed behind the end of the rows stays in the text, as statements.
    fn ask(&mut self) -> io::Result<bool> {
        if !std::mem::replace(&mut self.has_asked, true) {
            let what = "Enter data to be copied followed by a newline.\nEnd with a backslash and a period on a line by itself, or an EOF signal.";
            writeln!(io::stdout(), "{what}")?;
        }
        match self.typist.type_rows()? {
            TypedRows::Text(text) => {
                let typed = self.text.reader_mut().get_mut();
                typed.extend_from_slice(text.as_bytes());
                typed.push(b'\n');
                Ok(true)
            }
            TypedRows::End => Ok(false),
            TypedRows::Interrupted => {
                // For the editor it is a key, and no signal.
                self.interrupts.cancel_running();
                Ok(false)
            }
        }
    }
}

impl RowLines for TypedLines<'_> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        while !self.text.next_row_line(line)? {
            if !self.ask()? {
                return Ok(false);
            }
        }
        // The last line of what was typed with the statement has no line end.
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        Ok(true)
    }

    fn skip_rows(&mut self) -> io::Result<()> {
        self.text.skip_rows()
    }

    fn are_typed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::RowLines;
    use crate::script::{Item, ScriptReader, is_end};

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
        let mut script = ScriptReader::new(text.as_bytes());
        let mut next = || {
            let item = script.next_item().unwrap();
            if matches!(&item, Some(Item::Statement { text, .. }) if text.starts_with("copy")) {
                script.skip_rows().unwrap();
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
