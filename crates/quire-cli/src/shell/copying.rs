//! `COPY` with the shell itself: rows that follow a statement, and files of `\copy`.

use std::io::{self, Read, Write};

use quire::{AtomicFile, CopyIn, CopyKind, CopyStream};
use quire_server::copy::{CopyFailure, CopyReceiver, CopySender};

use super::{Shell, ShellFailure};
use crate::bare_words::reads_rows;
use crate::rows_behind::RowLines;
use crate::script::is_end;

/// Rows are handed on in pieces of about so many bytes.
const PIECE_BYTES: usize = 256 << 10;

/// Where the rows of a `COPY … FROM STDIN` come from.
pub enum CopyRowSource<'a> {
    /// Up to a line with `\.`, or the end of all lines.
    Lines(&'a mut dyn RowLines),
    /// All there is.
    Reader(Box<dyn Read>),
}

/// Where those of a `COPY … TO STDOUT` go.
pub enum RowTarget {
    /// Where results go.
    Output,
    /// The standard output, wherever results go.
    ProcessOutput,
    File(AtomicFile),
}

/// What comes of reading rows.
enum Fed {
    All,
    /// The statement wants no more.
    Refused,
    /// The rows are not in the format.
    Wrong(CopyFailure),
    /// The rest cannot be read.
    Unreadable(io::Error),
}

impl Shell {
    /// Runs a statement; if it is a `COPY` with the client, the shell is the client.
    ///
    /// # Errors
    /// What the statement, the rows or the output fail with.
    pub fn execute_or_copy(
        &mut self,
        sql: &str,
        lines: &mut dyn RowLines,
    ) -> Result<(), ShellFailure> {
        if !sql
            .get(..4)
            .is_some_and(|word| word.eq_ignore_ascii_case("copy"))
        {
            return self.execute(sql);
        }
        let mut has_begun = false;
        self.echo(sql)?;
        let copied = self.run_statement(|shell| {
            let begun = shell.begin_copy(sql)?;
            has_begun = true;
            match begun {
                Some(stream) => {
                    shell.copy(stream, CopyRowSource::Lines(&mut *lines), RowTarget::Output)
                }
                None => shell.execute_in_time(sql),
            }
        });
        if !has_begun && reads_rows(sql) {
            lines.skip_rows()?;
        }
        copied
    }

    /// Runs a `COPY` with the client for a command of the shell.
    ///
    /// # Errors
    /// As [`Shell::execute_or_copy`].
    pub fn copy_with(
        &mut self,
        sql: &str,
        source: CopyRowSource<'_>,
        target: RowTarget,
    ) -> Result<(), ShellFailure> {
        let mut source = Some(source);
        let copied = self.run_statement(|shell| {
            let stream = shell.begin_copy(sql)?;
            match stream.zip(source.take()) {
                Some((stream, source)) => shell.copy(stream, source, target),
                None => Err(ShellFailure::Command(format!("this is no COPY: {sql}"))),
            }
        });
        match source {
            // It has not begun.
            Some(CopyRowSource::Lines(lines)) if reads_rows(sql) => lines.skip_rows()?,
            _ => {}
        }
        copied
    }

    fn begin_copy(&mut self, sql: &str) -> Result<Option<CopyStream>, ShellFailure> {
        let begun = self.connection()?.begin_copy(sql);
        begun.map_err(|error| ShellFailure::Statement {
            error,
            sql: sql.to_owned(),
        })
    }

    fn copy(
        &mut self,
        stream: CopyStream,
        source: CopyRowSource<'_>,
        target: RowTarget,
    ) -> Result<(), ShellFailure> {
        match stream {
            CopyStream::In(copy) => self.take_rows(copy, source),
            CopyStream::Out(rows, format) => {
                self.progress.stop();
                self.send_rows(CopySender::new(rows, format), target)
            }
        }
    }

    fn take_rows(&mut self, copy: CopyIn, source: CopyRowSource<'_>) -> Result<(), ShellFailure> {
        let is_binary = copy.format().kind == CopyKind::Binary;
        let mut receiver = CopyReceiver::new(copy);
        let mut first_line = None;
        let fed = match source {
            CopyRowSource::Reader(reader) => feed_bytes(reader, &mut receiver),
            CopyRowSource::Lines(lines) => {
                first_line = lines.line_number();
                if lines.are_typed() {
                    // It would be drawn over what is typed.
                    self.progress.stop();
                }
                let interrupts = self.interrupts.clone();
                let is_over = || interrupts.was_interrupted();
                if is_binary {
                    feed_bytes(LinesAsBytes::new(lines), &mut receiver)
                } else {
                    feed_lines(lines, &mut receiver, &is_over)
                }
            }
        };
        let finished = match fed {
            Fed::All | Fed::Refused => receiver.finish(),
            Fed::Wrong(failure) => Err(failure),
            Fed::Unreadable(error) => {
                Err(receiver.fail(&format!("the rows cannot be read: {error}")))
            }
        };
        self.progress.stop();
        match finished {
            Ok(completion) => self.show_completion(&completion),
            Err(failure) => {
                let line = failure.line.zip(first_line);
                let line = line.map(|(line, first)| first + line - 1);
                Err(ShellFailure::Rows { failure, line })
            }
        }
    }

    fn send_rows(&mut self, sender: CopySender, target: RowTarget) -> Result<(), ShellFailure> {
        let writer = match target {
            RowTarget::Output => self.output.writer(),
            RowTarget::ProcessOutput => self.output.process_writer(),
            RowTarget::File(file) => {
                let count = write_file(sender, file)?;
                return self.show_change(&format!("COPY {count}"));
            }
        };
        sender.run(|piece| writer.write_all(piece).map_err(ShellFailure::Output))?;
        Ok(writer.flush()?)
    }
}

fn write_file(sender: CopySender, file: AtomicFile) -> Result<u64, ShellFailure> {
    let failed = |error: io::Error| {
        ShellFailure::Command(format!("cannot write the file of the copy: {error}"))
    };
    let mut writer = io::BufWriter::new(file);
    let count = sender.run(|piece| writer.write_all(piece).map_err(failed))?;
    let file = writer.into_inner();
    let file = file.map_err(|error| failed(error.into_error()))?;
    let named = file.commit();
    named.map_err(|error| ShellFailure::Command(error.to_string()))?;
    Ok(count)
}

/// Reads lines up to the end of the rows, also those that nobody wants.
fn feed_lines(
    lines: &mut dyn RowLines,
    receiver: &mut CopyReceiver,
    is_over: &dyn Fn() -> bool,
) -> Fed {
    let mut piece = Vec::new();
    let mut fed = Fed::All;
    loop {
        let start = piece.len();
        let is_last = match lines.next_line(&mut piece) {
            Ok(has_line) => !has_line || is_end(&piece[start..]),
            Err(error) => return Fed::Unreadable(error),
        };
        if is_last {
            piece.truncate(start);
        }
        if is_last || piece.len() >= PIECE_BYTES {
            if matches!(fed, Fed::All) {
                fed = taken(receiver.take(&piece));
            }
            piece.clear();
        }
        if is_last || lines.are_typed() && is_over() {
            return fed;
        }
    }
}

fn feed_bytes(mut reader: impl Read, receiver: &mut CopyReceiver) -> Fed {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Fed::All,
            Ok(count) => match taken(receiver.take(&piece[..count])) {
                Fed::All => {}
                other => return other,
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Fed::Unreadable(error),
        }
    }
}

fn taken(wants_more: Result<bool, CopyFailure>) -> Fed {
    match wants_more {
        Ok(true) => Fed::All,
        Ok(false) => Fed::Refused,
        Err(failure) => Fed::Wrong(failure),
    }
}

/// All lines to the end, for a format without lines.
struct LinesAsBytes<'a> {
    lines: &'a mut dyn RowLines,
    line: Vec<u8>,
    taken: usize,
}

impl<'a> LinesAsBytes<'a> {
    fn new(lines: &'a mut dyn RowLines) -> Self {
        Self {
            lines,
            line: Vec::new(),
            taken: 0,
        }
    }
}

impl Read for LinesAsBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.line.len() {
            self.line.clear();
            self.taken = 0;
            self.lines.next_line(&mut self.line)?;
        }
        let mut rest = &self.line[self.taken..];
        let count = rest.read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}
