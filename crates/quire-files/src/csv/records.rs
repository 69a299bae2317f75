//! A plain record parser for small inputs: samples, headers, and the place of an error.

use std::borrow::Cow;

use super::options::Dialect;

/// One field of a record, as text without quotes and escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainField<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub quoted: bool,
}

/// One record and where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainRecord<'a> {
    pub fields: Vec<PlainField<'a>>,
    /// Position after the record's end.
    pub end: usize,
}

impl PlainRecord<'_> {
    /// A line with nothing in it.
    pub(super) fn is_blank(&self) -> bool {
        matches!(&self.fields[..], [only] if only.bytes.is_empty() && !only.quoted)
    }
}

/// Where a record that does not end breaks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenField {
    /// Index of the field.
    pub index: usize,
    /// Where it begins, with its quote.
    pub start: usize,
    /// Whether it is inside quotes there.
    pub quoted: bool,
}

/// The record that begins at `start`; `None` when the bytes end before it does and `complete` is
/// false. Text after a closing quote is taken as part of the field.
pub(super) fn read_record<'a>(
    bytes: &'a [u8],
    start: usize,
    dialect: &Dialect,
    complete: bool,
) -> Option<PlainRecord<'a>> {
    let mut fields = Vec::new();
    let mut field_start = start;
    loop {
        let raw_end = field_end(bytes, field_start, dialect);
        if raw_end.open || raw_end.position == bytes.len() {
            if !complete {
                return None;
            }
            fields.push(plain_field(&bytes[field_start..raw_end.position], dialect));
            return Some(PlainRecord {
                fields,
                end: bytes.len(),
            });
        }
        let end = raw_end.position;
        if dialect.is_delimiter(bytes[end]) {
            fields.push(plain_field(&bytes[field_start..end], dialect));
            field_start = end + 1;
            continue;
        }
        let field = &bytes[field_start..end];
        let field = if dialect.record_end == b'\n' {
            field.strip_suffix(b"\r").unwrap_or(field)
        } else {
            field
        };
        fields.push(plain_field(field, dialect));
        return Some(PlainRecord {
            fields,
            end: end + 1,
        });
    }
}

/// Where a record without an end breaks off.
pub(super) fn open_field(record: &[u8], dialect: &Dialect) -> OpenField {
    let mut open = OpenField {
        index: 0,
        start: 0,
        quoted: false,
    };
    loop {
        let end = field_end(record, open.start, dialect);
        if end.open || end.position >= record.len() || !dialect.is_delimiter(record[end.position]) {
            return OpenField {
                quoted: end.open,
                ..open
            };
        }
        open = OpenField {
            index: open.index + 1,
            start: end.position + 1,
            quoted: false,
        };
    }
}

struct FieldEnd {
    /// Position of the delimiter or record end, or the length of the bytes.
    position: usize,
    /// The bytes end inside quotes.
    open: bool,
}

fn field_end(bytes: &[u8], start: usize, dialect: &Dialect) -> FieldEnd {
    let mut at = start;
    if at < bytes.len() && dialect.is_quote(bytes[at]) {
        at += 1;
        loop {
            let Some(&byte) = bytes.get(at) else {
                return FieldEnd {
                    position: bytes.len(),
                    open: true,
                };
            };
            if escapes_next(bytes, at, dialect) {
                at += 2;
            } else if dialect.is_quote(byte) {
                at += 1;
                break;
            } else {
                at += 1;
            }
        }
    }
    while let Some(&byte) = bytes.get(at) {
        let ends = dialect.is_delimiter(byte) || byte == dialect.record_end;
        if ends {
            break;
        }
        at += if dialect.backslashes && byte == b'\\' {
            2
        } else {
            1
        };
    }
    FieldEnd {
        position: at.min(bytes.len()),
        open: at > bytes.len(),
    }
}

fn escapes_next(bytes: &[u8], at: usize, dialect: &Dialect) -> bool {
    dialect.escape == Some(bytes[at])
        && bytes
            .get(at + 1)
            .is_some_and(|&b| dialect.is_quote(b) || dialect.escape == Some(b))
}

fn plain_field<'a>(raw: &'a [u8], dialect: &Dialect) -> PlainField<'a> {
    if dialect.backslashes && raw.contains(&b'\\') {
        let mut text = Vec::with_capacity(raw.len());
        unescape(raw, dialect, &mut text);
        return PlainField {
            bytes: Cow::Owned(text),
            quoted: false,
        };
    }
    if !raw.first().is_some_and(|&b| dialect.is_quote(b)) {
        return PlainField {
            bytes: Cow::Borrowed(raw),
            quoted: false,
        };
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut at = 1;
    let mut inside = true;
    while at < raw.len() {
        if inside && escapes_next(raw, at, dialect) {
            text.push(raw[at + 1]);
            at += 2;
            continue;
        }
        if inside && dialect.is_quote(raw[at]) {
            inside = false;
        } else {
            text.push(raw[at]);
        }
        at += 1;
    }
    PlainField {
        bytes: Cow::Owned(text),
        quoted: true,
    }
}

/// Appends the content of a field (without its outer quotes) with escapes resolved.
pub(super) fn unescape(content: &[u8], dialect: &Dialect, out: &mut Vec<u8>) {
    if dialect.backslashes {
        return unescape_backslashes(content, out);
    }
    let mut at = 0;
    while at < content.len() {
        at += usize::from(escapes_next(content, at, dialect));
        out.push(content[at]);
        at += 1;
    }
}

/// Octal and hexadecimal numbers are bytes, which may make a text that is not UTF-8.
fn unescape_backslashes(content: &[u8], out: &mut Vec<u8>) {
    let mut bytes = content.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        // A field never ends in an odd number of backslashes: its end would be a character of it.
        let Some(escaped) = bytes.next() else { return };
        out.push(match escaped {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'0'..=b'7' => number(u32::from(escaped - b'0'), 8, &mut bytes),
            b'x' if bytes.peek().is_some_and(u8::is_ascii_hexdigit) => number(0, 16, &mut bytes),
            other => other,
        });
    }
}

/// The byte of `value` and up to two more digits. What does not fit a byte is cut off, as PostgreSQL does.
fn number(
    mut value: u32,
    base: u32,
    bytes: &mut std::iter::Peekable<impl Iterator<Item = u8>>,
) -> u8 {
    for _ in 0..2 {
        let digit = bytes.next_if(|byte| char::from(*byte).is_digit(base));
        let digit = digit.and_then(|digit| char::from(digit).to_digit(base));
        value = digit.map_or(value, |digit| value * base + digit);
    }
    value as u8
}
