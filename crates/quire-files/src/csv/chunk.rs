//! Walks over the records of a chunk, block by block, and says what is wrong with which.

use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use super::super::error::{BadRecord, CopyError, CsvColumnName, Problem, shown};
use super::field_index::{FieldIndex, IndexFormat, IndexStop, RecordProblem};
use super::options::{Dialect, OnError};
use super::records::unescape;
use super::splitter::CsvChunk;

/// Records that are indexed and parsed together; their text and bounds stay in the cache.
const BLOCK_ROWS: usize = 1024;

/// How records become values; the same for every chunk of a file.
#[derive(Debug, Clone)]
pub(super) struct RecordFormat {
    pub file: Arc<str>,
    pub names: Arc<[String]>,
    pub dialect: Dialect,
    pub null_string: Arc<[u8]>,
    pub quoted_null: bool,
    pub trailing_delimiter: bool,
    pub on_error: OnError,
}

/// Bad records that were left out.
#[derive(Debug, Default)]
pub(super) struct BadRecords {
    pub count: u64,
    /// The first of them.
    pub first: Vec<BadRecord>,
}

const REPORTED_MAX: usize = 10;

impl BadRecords {
    fn add(&mut self, bad: BadRecord, on_error: OnError) -> Result<(), CopyError> {
        if on_error == OnError::Stop {
            return Err(bad.into());
        }
        self.count += 1;
        if self.first.len() < REPORTED_MAX {
            self.first.push(bad);
        }
        Ok(())
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        let room = REPORTED_MAX.saturating_sub(self.first.len());
        self.first.extend(other.first.into_iter().take(room));
    }
}

/// The text of a chunk, valid UTF-8 without zero bytes: what was not is replaced by `?`.
#[derive(Debug)]
pub(super) struct ChunkText {
    text: String,
    offset: u64,
    first_line: u64,
    /// Positions of replaced bytes, ascending.
    replaced: Vec<Replaced>,
}

#[derive(Debug, Clone, Copy)]
struct Replaced {
    position: usize,
    nul: bool,
}

impl ChunkText {
    pub(super) fn new(chunk: CsvChunk) -> Self {
        let CsvChunk {
            bytes,
            offset,
            first_line,
        } = chunk;
        let mut replaced = Vec::new();
        let text = match String::from_utf8(bytes) {
            Ok(text) if memchr(0, text.as_bytes()).is_none() => text,
            Ok(text) => repair(text.into_bytes(), &mut replaced),
            Err(error) => repair(error.into_bytes(), &mut replaced),
        };
        Self {
            text,
            offset,
            first_line,
            replaced,
        }
    }

    pub(super) fn byte_count(&self) -> usize {
        self.text.len()
    }
}

fn repair(mut bytes: Vec<u8>, replaced: &mut Vec<Replaced>) -> String {
    let mut at = 0;
    while let Err(error) = std::str::from_utf8(&bytes[at..]) {
        at += error.valid_up_to();
        let length = error.error_len().unwrap_or(bytes.len() - at);
        replaced.push(Replaced {
            position: at,
            nul: false,
        });
        bytes[at..at + length].fill(b'?');
    }
    replaced.extend(memchr_iter(0, &bytes).map(|position| Replaced {
        position,
        nul: true,
    }));
    replaced.sort_unstable_by_key(|replaced| replaced.position);
    for replaced in replaced.iter().filter(|replaced| replaced.nul) {
        bytes[replaced.position] = b'?';
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Records whose fields are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParsedRecords<'a> {
    chunk: &'a ChunkText,
    index: &'a FieldIndex,
    format: &'a RecordFormat,
    /// Position after the last record.
    end: usize,
}

/// A record of a block that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordFailure {
    pub row: usize,
    /// Index of the column; `None` for the record as a whole.
    pub column: Option<usize>,
    pub problem: Problem,
}

impl<'a> ParsedRecords<'a> {
    pub(super) fn row_count(&self) -> usize {
        self.index.row_count()
    }

    pub(super) fn stops_on_error(&self) -> bool {
        self.format.on_error == OnError::Stop
    }

    /// A field's text, `None` for NULL. `scratch` serves fields with escapes.
    #[inline]
    pub(super) fn value<'s>(
        &self,
        row: usize,
        column: usize,
        scratch: &'s mut Vec<u8>,
    ) -> Option<&'s [u8]>
    where
        'a: 's,
    {
        let bytes = self.chunk.text.as_bytes();
        let field = self.index.field(row, column);
        let text = &bytes[field.start..field.end];
        if !field.quoted || self.format.quoted_null {
            let null = &self.format.null_string;
            if text.len() == null.len() && (null.is_empty() || text == &null[..]) {
                return None;
            }
        }
        if !field.escaped {
            return Some(text);
        }
        scratch.clear();
        unescape(text, &self.format.dialect, scratch);
        Some(scratch)
    }

    /// Like [`ParsedRecords::value`] for text without escapes; `Err` when it has some.
    #[inline]
    pub(super) fn plain_text(&self, row: usize, column: usize) -> Result<Option<&'a str>, ()> {
        let text: &'a str = &self.chunk.text;
        let field = self.index.field(row, column);
        if field.escaped {
            return Err(());
        }
        // Fields end at ASCII characters, so this never cuts one.
        let text = text.get(field.start..field.end).unwrap_or_default();
        if !field.quoted || self.format.quoted_null {
            let null = &self.format.null_string;
            if text.len() == null.len() && (null.is_empty() || text.as_bytes() == &null[..]) {
                return Ok(None);
            }
        }
        Ok(Some(text))
    }

    /// Like [`ParsedRecords::value`] for text with escapes, of which some may stand for bytes that are no text.
    pub(super) fn escaped_text<'s>(
        &self,
        row: usize,
        column: usize,
        scratch: &'s mut Vec<u8>,
    ) -> Result<Option<&'s str>, Problem>
    where
        'a: 's,
    {
        let offset = self.chunk.offset + self.index.field(row, column).start as u64;
        let Some(bytes) = self.value(row, column, scratch) else {
            return Ok(None);
        };
        if memchr(0, bytes).is_some() {
            return Err(Problem::NulByte { offset });
        }
        let value = || shown(bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| Problem::InvalidUtf8 {
            offset,
            value: value(),
        })?;
        Ok(Some(text))
    }

    fn record_end(&self, row: usize) -> usize {
        if row + 1 < self.row_count() {
            self.index.record_start(row + 1)
        } else {
            self.end
        }
    }

    /// Records with replaced bytes, or with text after the trailing delimiter.
    fn failures(&self, column_count: usize) -> Vec<RecordFailure> {
        let mut failures = Vec::new();
        if self.format.trailing_delimiter {
            for row in 0..self.row_count() {
                let last = self.index.field(row, column_count);
                if last.start != last.end {
                    let found = column_count + 1;
                    let problem = Problem::FieldCount {
                        expected: column_count,
                        found,
                    };
                    failures.push(RecordFailure {
                        row,
                        column: None,
                        problem,
                    });
                }
            }
        }
        if self.chunk.replaced.is_empty() || self.row_count() == 0 {
            return failures;
        }
        let start = self.index.record_start(0);
        let first = self.chunk.replaced.partition_point(|r| r.position < start);
        let inside = self.chunk.replaced[first..]
            .iter()
            .take_while(|r| r.position < self.end);
        let mut row = 0;
        for replaced in inside {
            while self.record_end(row) <= replaced.position {
                row += 1;
            }
            failures.push(self.replaced_failure(row, *replaced, column_count));
        }
        failures
    }

    fn replaced_failure(
        &self,
        row: usize,
        replaced: Replaced,
        column_count: usize,
    ) -> RecordFailure {
        let bytes = self.chunk.text.as_bytes();
        let offset = self.chunk.offset + replaced.position as u64;
        let column =
            (0..column_count).find(|&column| replaced.position < self.index.field(row, column).end);
        let problem = if replaced.nul {
            Problem::NulByte { offset }
        } else {
            let field = self.index.field(row, column.unwrap_or(0));
            Problem::InvalidUtf8 {
                offset,
                value: shown(&bytes[field.start..field.end]),
            }
        };
        RecordFailure {
            row,
            column,
            problem,
        }
    }
}

/// Calls `visit` with every block of records; `visit` returns what else is wrong with them. Bad
/// records are the first error, or are added to `bad` and left to `visit`'s second call, which
/// gets the rows to leave out.
pub(super) trait BlockVisitor {
    fn parse(&mut self, block: &ParsedRecords<'_>) -> Vec<RecordFailure>;
    /// After `parse`: the rows of the block that failed, ascending; the rest stays.
    fn keep(&mut self, block: &ParsedRecords<'_>, failed_rows: &[usize]) -> Result<(), CopyError>;
}

/// Walks over all records of a chunk.
pub(super) fn walk(
    chunk: &ChunkText,
    format: &RecordFormat,
    bad: &mut BadRecords,
    visitor: &mut dyn BlockVisitor,
) -> Result<(), CopyError> {
    let bytes = chunk.text.as_bytes();
    let column_count = format.names.len();
    let field_count = column_count + usize::from(format.trailing_delimiter);
    let quote = format.dialect.quote;
    let has_quotes = quote.is_some_and(|quote| memchr(quote, bytes).is_some());
    let index_format = IndexFormat {
        dialect: format.dialect,
        has_quotes,
    };
    let mut index = FieldIndex::new(field_count, BLOCK_ROWS);
    let mut next = 0;
    while next < bytes.len() {
        let stop = index.fill(bytes, next, &index_format);
        let end = match stop {
            IndexStop::Filled { next } => next,
            IndexStop::Bad { start, .. } => start,
        };
        let block = ParsedRecords {
            chunk,
            index: &index,
            format,
            end,
        };
        let mut failures = block.failures(column_count);
        failures.extend(visitor.parse(&block));
        failures.sort_by_key(|failure| (failure.row, failure.column));
        failures.dedup_by_key(|failure| failure.row);
        let failed_rows: Vec<usize> = failures.iter().map(|failure| failure.row).collect();
        for failure in failures {
            let start = index.record_start(failure.row);
            let record = bad_record(chunk, format, start, failure.column, failure.problem);
            bad.add(record, format.on_error)?;
        }
        visitor.keep(&block, &failed_rows)?;
        next = end;
        if let IndexStop::Bad {
            start,
            next: after,
            problem,
        } = stop
        {
            let (column, problem) = structural(bytes, problem, field_count, after);
            bad.add(
                bad_record(chunk, format, start, column, problem),
                format.on_error,
            )?;
            next = after;
        }
    }
    Ok(())
}

fn structural(
    bytes: &[u8],
    problem: RecordProblem,
    field_count: usize,
    record_end: usize,
) -> (Option<usize>, Problem) {
    match problem {
        RecordProblem::FieldCount { found } => (
            None,
            Problem::FieldCount {
                expected: field_count,
                found,
            },
        ),
        RecordProblem::TextAfterQuote { field, start } => {
            let record_end = record_end.saturating_sub(1).max(start);
            (
                Some(field),
                Problem::TextAfterQuote {
                    value: shown(&bytes[start..record_end]),
                },
            )
        }
    }
}

fn bad_record(
    chunk: &ChunkText,
    format: &RecordFormat,
    start: usize,
    column: Option<usize>,
    problem: Problem,
) -> BadRecord {
    let before = &chunk.text.as_bytes()[..start];
    let lines = memchr_iter(format.dialect.record_end, before).count() as u64;
    let column = column.map(|index| CsvColumnName {
        number: index + 1,
        name: format.names.get(index).cloned().unwrap_or_default(),
    });
    BadRecord {
        file: Arc::clone(&format.file),
        line: chunk.first_line + lines,
        column,
        problem,
    }
}
