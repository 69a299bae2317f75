//! Finds where the fields of a block of records end.
//!
//! The text is looked at in windows of 64 bytes: comparing all bytes of a window with the
//! delimiter, the record end and the quote gives one bit per byte (the loops are written so that
//! the compiler turns them into vector instructions), and the set bits are visited in order. A
//! chunk without any quote, which one search tells beforehand, takes the short way.

use super::options::Dialect;

/// The field that ends here is quoted.
const QUOTED: u32 = 1 << 31;
/// The quoted field that ends here has escapes.
const ESCAPED: u32 = 1 << 30;
/// A carriage return before the record's line feed belongs to the line end.
const CARRIAGE_RETURN: u32 = 1 << 29;
const POSITION: u32 = CARRIAGE_RETURN - 1;

const WINDOW: usize = 64;

/// Ends of the fields of up to `row_limit` records.
///
/// `bounds[row * (field_count + 1)]` is the position of the record's first byte, the following
/// `field_count` entries are the positions after each field's delimiter or record end, with flags.
#[derive(Debug)]
pub(super) struct FieldIndex {
    bounds: Vec<u32>,
    field_count: usize,
    row_count: usize,
}

/// A field in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawField {
    /// First byte, after the opening quote.
    pub start: usize,
    /// Position after the last byte, before the closing quote.
    pub end: usize,
    pub quoted: bool,
    /// Holds escapes that must be resolved.
    pub escaped: bool,
}

/// Why indexing stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexStop {
    /// The block is full or the text ends; the next record begins at `next`.
    Filled { next: usize },
    /// A record is wrong; it lies at `start..next`.
    Bad {
        start: usize,
        next: usize,
        problem: RecordProblem,
    },
}

/// What is wrong with a record's structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordProblem {
    FieldCount {
        found: usize,
    },
    /// Text after the closing quote of this field, which begins at `start`.
    TextAfterQuote {
        field: usize,
        start: usize,
    },
}

/// The record being read.
#[derive(Debug, Clone, Copy)]
struct RecordCursor {
    record_start: usize,
    field_start: usize,
    /// Index of the record's first entry in the bounds.
    slot: usize,
    /// Fields of the record that have ended.
    fields: usize,
    in_quotes: bool,
    flags: u32,
    /// Position after the closing quote of the current field.
    closed_at: usize,
    /// A quote or escape at this position is plain.
    plain_at: usize,
    problem: Option<RecordProblem>,
}

impl RecordCursor {
    fn at(position: usize, slot: usize) -> Self {
        Self {
            record_start: position,
            field_start: position,
            slot,
            fields: 0,
            in_quotes: false,
            flags: 0,
            closed_at: 0,
            plain_at: usize::MAX,
            problem: None,
        }
    }
}

/// What the indexer must know of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexFormat {
    pub dialect: Dialect,
    /// Whether the text has a quote character at all.
    pub has_quotes: bool,
}

impl FieldIndex {
    pub(super) fn new(field_count: usize, row_limit: usize) -> Self {
        Self {
            bounds: vec![0; row_limit * (field_count + 1)],
            field_count,
            row_count: 0,
        }
    }

    pub(super) fn row_count(&self) -> usize {
        self.row_count
    }

    pub(super) fn record_start(&self, row: usize) -> usize {
        self.bounds[row * (self.field_count + 1)] as usize
    }

    /// Where one field lies.
    #[inline]
    pub(super) fn field(&self, row: usize, column: usize) -> RawField {
        let at = row * (self.field_count + 1) + column;
        let pair = &self.bounds[at..at + 2];
        let (before, bound) = (pair[0], pair[1]);
        let line_end_bytes = 1 + usize::from(bound & CARRIAGE_RETURN != 0);
        let start = (before & POSITION) as usize;
        let end = (bound & POSITION) as usize - line_end_bytes;
        let quote_bytes = usize::from(bound & QUOTED != 0);
        RawField {
            start: start + quote_bytes,
            end: end - quote_bytes,
            quoted: bound & QUOTED != 0,
            escaped: bound & ESCAPED != 0,
        }
    }

    /// Indexes records from `from` on, which is the beginning of a record; `text` ends with a
    /// record end. Blank lines are no records unless a record is one field.
    pub(super) fn fill(&mut self, text: &[u8], from: usize, format: &IndexFormat) -> IndexStop {
        assert!(
            text.len() < POSITION as usize,
            "a chunk is too long for positions of 29 bits"
        );
        self.row_count = 0;
        let mut cursor = RecordCursor::at(from, 0);
        let mut base = from;
        if from < text.len() {
            self.bounds[0] = from as u32;
        }
        while base < text.len() {
            let stop = if let Some(window) = text[base..].first_chunk::<WINDOW>() {
                self.take_window(text, base, window, &mut cursor, format)
            } else {
                let mut window = [0; WINDOW];
                window[..text.len() - base].copy_from_slice(&text[base..]);
                self.take_window(text, base, &window, &mut cursor, format)
            };
            if let Some(stop) = stop {
                return stop;
            }
            base += WINDOW;
        }
        if cursor.record_start < text.len() {
            // The splitter hands over whole records; a record that stays open is a wrong one.
            let problem = RecordProblem::FieldCount {
                found: cursor.fields,
            };
            return IndexStop::Bad {
                start: cursor.record_start,
                next: text.len(),
                problem,
            };
        }
        IndexStop::Filled { next: text.len() }
    }

    fn take_window(
        &mut self,
        text: &[u8],
        base: usize,
        window: &[u8; WINDOW],
        cursor: &mut RecordCursor,
        format: &IndexFormat,
    ) -> Option<IndexStop> {
        let dialect = &format.dialect;
        let ends = match_any(
            window,
            dialect.delimiter.unwrap_or(dialect.record_end),
            dialect.record_end,
        );
        let valid = u64::MAX >> (WINDOW - (text.len() - base).min(WINDOW));
        if dialect.backslashes {
            let backslashes = match_any(window, b'\\', b'\\') & valid;
            // A field with a backslash may have begun in a window before.
            return if backslashes == 0 && cursor.flags == 0 {
                self.take_plain(text, base, ends & valid, cursor, dialect)
            } else {
                self.take_escaped(text, base, ends & valid | backslashes, cursor, dialect)
            };
        }
        let quotes = match (format.has_quotes, dialect.quote) {
            (true, Some(quote)) => match_any(window, quote, dialect.escape.unwrap_or(quote)),
            _ => 0,
        };
        if quotes & valid == 0 && !cursor.in_quotes && cursor.flags == 0 {
            self.take_plain(text, base, ends & valid, cursor, dialect)
        } else {
            self.take_quoted(text, base, (ends | quotes) & valid, cursor, dialect)
        }
    }

    /// A window outside quotes and without quotes.
    #[inline]
    fn take_plain(
        &mut self,
        text: &[u8],
        base: usize,
        mut ends: u64,
        cursor: &mut RecordCursor,
        dialect: &Dialect,
    ) -> Option<IndexStop> {
        while ends != 0 {
            let at = base + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            if let Some(stop) = self.end_at(text, at, cursor, dialect) {
                return Some(stop);
            }
        }
        None
    }

    /// A window with backslashes, each of which makes the byte behind it plain.
    fn take_escaped(
        &mut self,
        text: &[u8],
        base: usize,
        mut marks: u64,
        cursor: &mut RecordCursor,
        dialect: &Dialect,
    ) -> Option<IndexStop> {
        while marks != 0 {
            let at = base + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            if at == cursor.plain_at {
                continue;
            }
            if text[at] == b'\\' {
                cursor.plain_at = at + 1;
                cursor.flags |= ESCAPED;
                continue;
            }
            if let Some(stop) = self.end_at(text, at, cursor, dialect) {
                return Some(stop);
            }
        }
        None
    }

    fn take_quoted(
        &mut self,
        text: &[u8],
        base: usize,
        mut marks: u64,
        cursor: &mut RecordCursor,
        dialect: &Dialect,
    ) -> Option<IndexStop> {
        while marks != 0 {
            let at = base + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            let byte = text[at];
            if cursor.in_quotes {
                step_in_quotes(text, at, cursor, dialect);
            } else if dialect.is_delimiter(byte) || byte == dialect.record_end {
                check_after_quote(text, at, cursor, dialect);
                if let Some(stop) = self.end_at(text, at, cursor, dialect) {
                    return Some(stop);
                }
            } else if dialect.is_quote(byte) && at == cursor.field_start {
                cursor.in_quotes = true;
                cursor.flags = QUOTED;
            }
        }
        None
    }

    /// Ends the field at a delimiter, and with it the record at a record end.
    #[inline]
    fn end_at(
        &mut self,
        text: &[u8],
        at: usize,
        cursor: &mut RecordCursor,
        dialect: &Dialect,
    ) -> Option<IndexStop> {
        self.end_field(at, cursor);
        if text[at] == dialect.record_end {
            self.end_record(text, at, cursor, dialect)
        } else {
            None
        }
    }

    #[inline]
    fn end_field(&mut self, at: usize, cursor: &mut RecordCursor) {
        cursor.fields += 1;
        if cursor.fields <= self.field_count {
            self.bounds[cursor.slot + cursor.fields] = (at + 1) as u32 | cursor.flags;
        }
        cursor.flags = 0;
        cursor.field_start = at + 1;
    }

    #[inline]
    fn end_record(
        &mut self,
        text: &[u8],
        at: usize,
        cursor: &mut RecordCursor,
        dialect: &Dialect,
    ) -> Option<IndexStop> {
        let (start, next) = (cursor.record_start, at + 1);
        let is_left_out = |line| is_blank(line) && !dialect.backslashes;
        let mut slot = cursor.slot;
        if cursor.fields == self.field_count && cursor.problem.is_none() {
            self.mark_carriage_return(text, at, slot);
            self.row_count += 1;
            slot += self.field_count + 1;
        } else if !is_left_out(&text[start..at]) || cursor.problem.is_some() {
            let found = cursor.fields;
            let problem = cursor
                .problem
                .unwrap_or(RecordProblem::FieldCount { found });
            return Some(IndexStop::Bad {
                start,
                next,
                problem,
            });
        }
        *cursor = RecordCursor::at(next, slot);
        if slot == self.bounds.len() {
            return Some(IndexStop::Filled { next });
        }
        self.bounds[slot] = next as u32;
        None
    }

    #[inline]
    fn mark_carriage_return(&mut self, text: &[u8], at: usize, slot: usize) {
        let last = slot + self.field_count;
        let field_start = (self.bounds[last - 1] & POSITION) as usize;
        if at > field_start && text[at] == b'\n' && text[at - 1] == b'\r' {
            self.bounds[last] |= CARRIAGE_RETURN;
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.is_empty() || line == b"\r"
}

fn step_in_quotes(text: &[u8], at: usize, cursor: &mut RecordCursor, dialect: &Dialect) {
    let byte = text[at];
    if at == cursor.plain_at {
        return;
    }
    let next = text.get(at + 1).copied();
    let special = |b: u8| dialect.is_quote(b) || dialect.escape == Some(b);
    if dialect.escape == Some(byte) && next.is_some_and(special) {
        cursor.plain_at = at + 1;
        cursor.flags |= ESCAPED;
    } else if dialect.is_quote(byte) {
        cursor.in_quotes = false;
        cursor.closed_at = at + 1;
    }
}

fn check_after_quote(text: &[u8], at: usize, cursor: &mut RecordCursor, dialect: &Dialect) {
    let closed = cursor.closed_at;
    if cursor.flags & QUOTED == 0 || at == closed {
        return;
    }
    let line_end = dialect.record_end == b'\n' && text[at] == b'\n';
    if line_end && at == closed + 1 && text[closed] == b'\r' {
        return;
    }
    let (field, start) = (cursor.fields, cursor.field_start);
    // Where a line is one field, such a line is text like any other.
    if dialect.delimiter.is_none() && !text[start..at].contains(&dialect.record_end) {
        cursor.flags = 0;
        return;
    }
    cursor
        .problem
        .get_or_insert(RecordProblem::TextAfterQuote { field, start });
}

/// Bit i is set where byte i equals `a` or `b`.
#[inline]
fn match_any(window: &[u8; WINDOW], a: u8, b: u8) -> u64 {
    let mut equal = [0u8; WINDOW];
    for (flag, &byte) in equal.iter_mut().zip(window) {
        *flag = u8::from(byte == a) | u8::from(byte == b);
    }
    // The product moves bit 8·i of a word of zero and one bytes to bit 56 + i, without carries.
    let mut mask = 0;
    for (group, bytes) in equal.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*bytes);
        mask |= (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * group);
    }
    mask
}
