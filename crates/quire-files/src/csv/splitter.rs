//! Cuts a file into chunks of whole records.
//!
//! A record ends at a line end outside quotes, and a quote opens a quoted field only at the
//! beginning of a field. Without a quote in the buffer the last line end is found backwards;
//! otherwise the scan hops from quote to quote, which costs nothing where there are none. In a format of backslashes a line end behind
//! an odd number of them ends no record.

use std::io::Read;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use super::super::error::{BadRecord, CopyError, CsvColumnName, Problem, shown};
use super::options::Dialect;
use super::records::{OpenField, open_field};

/// Whole records, in file order.
#[derive(Debug)]
pub(super) struct CsvChunk {
    /// The records; the last one ends with the record end even if the file lacks it.
    pub bytes: Vec<u8>,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Physical line (1-based) of the first byte.
    pub first_line: u64,
}

/// What the splitter must know besides the input.
#[derive(Debug, Clone)]
pub(super) struct SplitOptions {
    pub dialect: Dialect,
    pub chunk_bytes: usize,
    pub record_bytes_max: usize,
    pub file: Arc<str>,
    /// Column names for messages; may be empty.
    pub names: Arc<[String]>,
}

/// Reads an input chunk by chunk. Holds one chunk, or one record if that is longer.
pub(super) struct Splitter {
    input: Box<dyn Read + Send>,
    options: SplitOptions,
    carry: Vec<u8>,
    offset: u64,
    line: u64,
    at_end: bool,
}

impl Splitter {
    /// `offset` and `line` say where in the file `input` begins.
    pub(super) fn new(
        input: Box<dyn Read + Send>,
        options: SplitOptions,
        offset: u64,
        line: u64,
    ) -> Self {
        Self {
            input,
            options,
            carry: Vec::new(),
            offset,
            line,
            at_end: false,
        }
    }

    pub(super) fn next_chunk(&mut self) -> Result<Option<CsvChunk>, CopyError> {
        let mut buffer = Vec::with_capacity(self.carry.len() + self.options.chunk_bytes + 1);
        buffer.append(&mut self.carry);
        let mut scan = QuoteScan::default();
        loop {
            if !self.at_end {
                self.fill(&mut buffer)?;
            }
            if buffer.is_empty() {
                return Ok(None);
            }
            scan.advance(&buffer, &self.options.dialect, self.at_end);
            if self.at_end {
                if scan.in_quotes {
                    return Err(self.unfinished(&buffer[scan.records_end..], &buffer, scan));
                }
                if scan.records_end < buffer.len() {
                    buffer.push(self.options.dialect.record_end);
                }
                scan.records_end = buffer.len();
            }
            let open_bytes = buffer.len() - scan.records_end;
            if open_bytes > self.options.record_bytes_max {
                return Err(self.unfinished(&buffer[scan.records_end..], &buffer, scan));
            }
            if scan.records_end > 0 {
                break;
            }
        }
        self.carry = buffer.split_off(scan.records_end);
        let line_count = memchr_iter(self.options.dialect.record_end, &buffer).count() as u64;
        let chunk = CsvChunk {
            offset: self.offset,
            first_line: self.line,
            bytes: buffer,
        };
        self.offset += chunk.bytes.len() as u64;
        self.line += line_count;
        Ok(Some(chunk))
    }

    fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<(), CopyError> {
        // A record longer than a chunk doubles the buffer, but not far beyond the limit.
        let allowed = (self.options.record_bytes_max + 1).saturating_sub(buffer.len());
        let grown = buffer.len().min(allowed);
        let wanted = self.options.chunk_bytes.max(grown).max(1) as u64;
        let read = self.input.by_ref().take(wanted).read_to_end(buffer);
        let read = read.map_err(|e| CopyError::io("read", &self.options.file, e))?;
        self.at_end = (read as u64) < wanted;
        Ok(())
    }

    /// The error of a record that does not end, or not within the limit.
    fn unfinished(&self, record: &[u8], buffer: &[u8], scan: QuoteScan) -> CopyError {
        let before = &buffer[..scan.records_end];
        let end = self.options.dialect.record_end;
        let line = self.line + memchr_iter(end, before).count() as u64;
        let OpenField {
            index,
            start,
            quoted,
        } = open_field(record, &self.options.dialect);
        let value = shown(&record[start..]);
        let problem = if self.at_end && quoted {
            Problem::UnterminatedQuote { value }
        } else {
            Problem::TooLong {
                limit_bytes: self.options.record_bytes_max,
                value,
            }
        };
        let name = self.options.names.get(index).cloned().unwrap_or_default();
        let column = Some(CsvColumnName {
            number: index + 1,
            name,
        });
        BadRecord {
            file: Arc::clone(&self.options.file),
            line,
            column,
            problem,
        }
        .into()
    }
}

/// State of the search for record ends in a growing buffer.
#[derive(Debug, Default, Clone, Copy)]
struct QuoteScan {
    /// Everything before this was seen.
    position: usize,
    in_quotes: bool,
    /// End of the last whole record.
    records_end: usize,
}

impl QuoteScan {
    fn advance(&mut self, buffer: &[u8], dialect: &Dialect, at_end: bool) {
        let Some(quote) = dialect.quote else {
            self.take_line_ends(buffer, buffer.len(), dialect);
            return;
        };
        debug_assert!(
            !dialect.backslashes,
            "a format of backslashes has no quotes"
        );
        let escape = dialect.escape.unwrap_or(quote);
        loop {
            if self.in_quotes {
                let Some(found) = memchr2(quote, escape, &buffer[self.position..]) else {
                    self.position = buffer.len();
                    return;
                };
                let at = self.position + found;
                let Some(&next) = buffer.get(at + 1) else {
                    // What follows decides; look again when it is there.
                    self.position = if at_end { buffer.len() } else { at };
                    self.in_quotes = !(at_end && buffer[at] == quote);
                    return;
                };
                if buffer[at] == escape && (next == quote || next == escape) {
                    self.position = at + 2;
                } else {
                    self.in_quotes = buffer[at] != quote;
                    self.position = at + 1;
                }
            } else {
                let found = memchr(quote, &buffer[self.position..]);
                let at = found.map_or(buffer.len(), |found| self.position + found);
                let opens = at == 0
                    || dialect.is_delimiter(buffer[at - 1])
                    || buffer[at - 1] == dialect.record_end;
                self.take_line_ends(buffer, at, dialect);
                if found.is_none() {
                    return;
                }
                self.in_quotes = opens;
                self.position = at + 1;
            }
        }
    }

    /// Takes `buffer[position..until]`, which is outside quotes.
    fn take_line_ends(&mut self, buffer: &[u8], until: usize, dialect: &Dialect) {
        let mut end = until;
        while let Some(found) = memrchr(dialect.record_end, &buffer[self.position..end]) {
            end = self.position + found;
            if !dialect.is_plain(buffer, end) {
                self.records_end = end + 1;
                break;
            }
        }
        self.position = until;
    }
}
