//! A script, read piece by piece: statements, and commands of the shell.
//!
//! A line that begins with `.` or `\` where a statement could begin is a command; it ends with the
//! line. Everything else is SQL up to its semicolon. What remains at the end of the script is a
//! statement too, so `-c 'select 1'` needs none.

use std::io::{self, BufRead};

use crate::bare_words::reads_rows;
use crate::lexer::{Scanned, StatementScanner, UnfinishedText};

/// Some editors put it at the start of a file; it is no part of the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The next thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A line of the shell's own commands, without the line end.
    Command { text: String, line: u64 },
    /// A statement without its semicolon, and the line on which it begins, from 1.
    Statement { text: String, line: u64 },
}

/// Reads the items of a script.
pub struct ScriptReader<R> {
    reader: R,
    /// Lines read; what stands before `taken` was given out.
    buffer: String,
    taken: usize,
    /// Goes over what is not taken.
    scanner: StatementScanner,
    /// Line on which the text not taken begins.
    line: u64,
    /// Lines behind the text read that were given out as rows.
    row_line_count: u64,
    is_at_line_start: bool,
    is_at_end: bool,
}

impl<R: BufRead> ScriptReader<R> {
    /// A script from its first line.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: String::new(),
            taken: 0,
            scanner: StatementScanner::new(),
            line: 1,
            row_line_count: 0,
            is_at_line_start: true,
            is_at_end: false,
        }
    }

    /// The next item; `None` at the end.
    ///
    /// # Errors
    /// What reading fails with; text that is not UTF-8 among it.
    pub fn next_item(&mut self) -> io::Result<Option<Item>> {
        loop {
            if let Some(item) = self.take_command().or_else(|| self.take_statement()) {
                return Ok(Some(item));
            }
            if self.is_at_end {
                return Ok(self.take_rest());
            }
            self.read_line()?;
        }
    }

    /// Where the text comes from, for who has more of it.
    pub fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Line on which the text not yet given out begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Gives out the next line as it is, with its line end, though no statement ends before it: lines of rows follow the line on which
    /// their statement ends. `false` at the end.
    ///
    /// # Errors
    /// What reading fails with.
    pub fn next_row_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let has_line = self.reader.read_until(b'\n', line)? > 0;
        self.row_line_count += u64::from(has_line);
        Ok(has_line)
    }

    /// Line of the script that is read next.
    pub fn next_line_number(&self) -> u64 {
        self.line + line_count(self.rest()) + self.row_line_count
    }

    fn read_line(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        if self.buffer.is_empty() {
            self.line += std::mem::take(&mut self.row_line_count);
        }
        let is_first = self.line == 1 && self.buffer.is_empty();
        self.is_at_end = self.reader.read_line(&mut self.buffer)? == 0;
        if is_first && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len_utf8());
        }
        Ok(())
    }

    fn rest(&self) -> &str {
        &self.buffer[self.taken..]
    }

    fn take_command(&mut self) -> Option<Item> {
        if self.scanner.content_start().is_some() || !self.is_at_line_start {
            return None;
        }
        let text = self.rest().trim_start();
        if !text.starts_with(['.', '\\']) {
            return None;
        }
        let start = self.rest().len() - text.len();
        let end = text
            .find('\n')
            .map_or(self.rest().len(), |end| start + end + 1);
        let item = Item::Command {
            text: self.rest()[start..end].trim_end().to_owned(),
            line: self.line + line_count(&self.rest()[..start]),
        };
        self.take(end);
        Some(item)
    }

    /// The statement that ends in the text read, if one does.
    fn take_statement(&mut self) -> Option<Item> {
        while let Scanned::End(end) = self.scanner.scan(&self.buffer[self.taken..]) {
            let start = self.scanner.content_start();
            let item = start.map(|start| self.statement(start, end - 1));
            self.take(end);
            self.is_at_line_start = false;
            // A lone semicolon is no statement.
            if item.is_some() {
                return item;
            }
        }
        if self.scanner.waiting() == UnfinishedText::Nothing {
            // Blanks and comments are done with, and the next line may be a command.
            self.take(self.rest().len());
            self.is_at_line_start = true;
        }
        None
    }

    fn take_rest(&mut self) -> Option<Item> {
        let start = self.scanner.content_start()?;
        let item = self.statement(start, self.rest().trim_end().len());
        self.take(self.rest().len());
        Some(item)
    }

    fn statement(&self, start: usize, end: usize) -> Item {
        Item::Statement {
            text: self.rest()[start..end].to_owned(),
            line: self.line + line_count(&self.rest()[..start]),
        }
    }

    fn take(&mut self, length: usize) {
        self.line += line_count(&self.buffer[self.taken..self.taken + length]);
        self.taken += length;
        self.scanner = StatementScanner::new();
    }
}

fn line_count(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// What a text typed so far waits for; `Nothing` when all of it can run.
pub fn waiting(text: &str) -> UnfinishedText {
    let mut rest = text;
    loop {
        if rest.trim_start().starts_with(['.', '\\']) {
            let Some((command, after)) = rest.trim_start().split_once('\n') else {
                return UnfinishedText::Nothing;
            };
            let has_rows = command_reads_rows(command) && !after.trim().is_empty();
            rest = match has_rows.then(|| behind_end(after)) {
                Some(None) => return UnfinishedText::Rows,
                Some(Some(behind)) => behind,
                None => after,
            };
            continue;
        }
        let mut scanner = StatementScanner::new();
        match scanner.scan(rest) {
            Scanned::End(end) if reads_rows(&rest[..end]) => match behind_rows(&rest[end..]) {
                Some(after) => rest = after,
                None => return UnfinishedText::Rows,
            },
            Scanned::End(end) => rest = &rest[end..],
            Scanned::More => return scanner.waiting(),
        }
    }
}

/// What follows the rows of a statement, of which this stands behind it; `None` if they do not end. If there are none yet, they will be
/// asked for.
fn behind_rows(text: &str) -> Option<&str> {
    let (line, rows) = text.split_once('\n').unwrap_or((text, ""));
    if rows.trim().is_empty() {
        return Some(line);
    }
    behind_end(rows)
}

/// What follows the line that ends the rows; `None` without such a line.
pub fn behind_end(rows: &str) -> Option<&str> {
    let mut taken = 0;
    for row in rows.split_inclusive('\n') {
        taken += row.len();
        if is_end(row.as_bytes()) {
            return Some(&rows[taken..]);
        }
    }
    None
}

/// Whether it is a `\copy` of the rows below.
fn command_reads_rows(command: &str) -> bool {
    command.starts_with('\\') && reads_rows(command)
}

/// What ends the rows: a line of its own.
const END_MARK: &[u8] = b"\\.";

/// Whether the line ends the rows.
pub fn is_end(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line) == END_MARK
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Item, ScriptReader, waiting};
    use crate::lexer::UnfinishedText;

    fn items(text: &str) -> Vec<Item> {
        let mut script = ScriptReader::new(text.as_bytes());
        std::iter::from_fn(|| script.next_item().unwrap()).collect()
    }

    fn statement(text: &str, line: u64) -> Item {
        Item::Statement {
            text: text.to_owned(),
            line,
        }
    }

    fn command(text: &str, line: u64) -> Item {
        Item::Command {
            text: text.to_owned(),
            line,
        }
    }

    #[test]
    fn statements_know_their_line() {
        assert_eq!(
            items("select 1;\n\n-- two\nselect\n 2; select 3;\nselect 4\n"),
            [
                statement("select 1", 1),
                statement("select\n 2", 4),
                statement("select 3", 5),
                statement("select 4", 6)
            ]
        );
    }

    #[test]
    fn commands_end_with_their_line() {
        assert_eq!(
            items(".mode csv\n  \\dt  \n-- why\n.tables\nselect 1;\n.quit"),
            [
                command(".mode csv", 1),
                command("\\dt", 2),
                command(".tables", 4),
                statement("select 1", 5),
                command(".quit", 6)
            ]
        );
    }

    #[test]
    fn a_dot_inside_a_statement_is_no_command() {
        assert_eq!(
            items("select t\n.a from t;\n"),
            [statement("select t\n.a from t", 1)]
        );
        assert_eq!(
            items("select '\n.quit\n';"),
            [statement("select '\n.quit\n'", 1)]
        );
        assert_eq!(
            items("select 1; .5"),
            [statement("select 1", 1), statement(".5", 1)]
        );
    }

    #[test]
    fn comments_before_a_command_or_at_the_end_are_nothing() {
        assert_eq!(
            items("/* a\n b */\n.tables\n-- end"),
            [command(".tables", 3)]
        );
        assert_eq!(items("-- nothing\n;;\n"), []);
        assert_eq!(items(""), []);
    }

    #[test]
    fn an_open_string_at_the_end_is_still_handed_over() {
        assert_eq!(items("select 'a\nb"), [statement("select 'a\nb", 1)]);
    }

    #[test]
    fn text_that_is_not_utf_8_is_an_error() {
        assert!(
            ScriptReader::new(&b"select '\xff';\n"[..])
                .next_item()
                .is_err()
        );
    }

    #[test]
    fn typed_text_waits_for_what_is_missing() {
        assert_eq!(waiting("select 1;"), UnfinishedText::Nothing);
        assert_eq!(waiting("select 1; select"), UnfinishedText::Semicolon);
        assert_eq!(waiting("select ("), UnfinishedText::Parenthesis);
        assert_eq!(waiting("select 'a;"), UnfinishedText::Quote);
        assert_eq!(waiting(".tables"), UnfinishedText::Nothing);
        assert_eq!(waiting(".timer on\nselect 1"), UnfinishedText::Semicolon);
        assert_eq!(waiting("\\d t"), UnfinishedText::Nothing);
        assert_eq!(waiting(""), UnfinishedText::Nothing);
        assert_eq!(waiting("copy t from stdin;"), UnfinishedText::Nothing);
    }

    #[test]
    fn typed_rows_wait_for_their_end() {
        for copy in ["copy t from stdin;", "\\copy t (a, b) from stdin csv"] {
            let begun = format!("{copy}\n1\t'a\n");
            assert_eq!(waiting(copy), UnfinishedText::Nothing);
            assert_eq!(waiting(&begun), UnfinishedText::Rows);
            assert_eq!(waiting(&format!("{begun}\\.")), UnfinishedText::Nothing);
            let behind = format!("{begun}\\.\nselect");
            assert_eq!(waiting(&behind), UnfinishedText::Semicolon);
        }
        for other in [
            "\\copy t from 'f'",
            "\\copy t to stdout",
            "\\echo from stdin",
        ] {
            assert_eq!(
                waiting(&format!("{other}\nselect 1;")),
                UnfinishedText::Nothing
            );
        }
    }
}
