//! Finds out from the beginning of a file how it is written.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use memchr::memchr;

use super::super::error::{BadRecord, CopyError, Problem};
use super::column::fits_type;
use super::options::{CsvFlag, CsvOptions, Delimiter, Dialect};
use super::profile::Profile;
use super::records::{PlainRecord, read_record};

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
const SAMPLE_RECORDS: usize = 1000;

/// How a file is written and where its rows begin.
#[derive(Debug, Clone)]
pub(super) struct CsvDialect {
    pub dialect: Dialect,
    #[cfg(test)]
    pub has_header: bool,
    /// One name per column: from the header, else `column1`, `column2`, …
    pub names: Arc<[String]>,
    /// Every record ends with one more delimiter.
    pub trailing_delimiter: bool,
    /// Offset of the first row.
    pub data_offset: usize,
    /// Physical line of the first row.
    pub data_line: u64,
}

/// The beginning of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct CsvSample<'a> {
    pub bytes: &'a [u8],
    /// The bytes are the whole file.
    pub complete: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a> CsvSample<'a> {
    fn start(&self, dialect: &Dialect) -> usize {
        if !dialect.backslashes && self.bytes.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        }
    }

    /// Records from `start` on, blank lines left out unless nothing else is there.
    fn records(&self, start: usize, dialect: &Dialect) -> Vec<PlainRecord<'a>> {
        let mut records = Vec::new();
        let mut at = start;
        while records.len() < SAMPLE_RECORDS && at < self.bytes.len() {
            let Some(record) = read_record(self.bytes, at, dialect, self.complete) else {
                break;
            };
            at = record.end;
            if !record.is_blank() || !dialect.skips_blank_lines() {
                records.push(record);
            }
        }
        records
    }
}

/// `None` when the sample is too short to hold one record.
pub(super) fn sniff(
    sample: &CsvSample<'_>,
    options: &CsvOptions,
    declared: Option<&Schema>,
    file: &Arc<str>,
) -> Result<Option<CsvDialect>, CopyError> {
    let dialect = choose_dialect(sample, options, declared);
    let start = sample.start(&dialect);
    if start == sample.bytes.len() && sample.complete {
        return Err(CopyError::Empty {
            file: Arc::clone(file),
        });
    }
    let records = sample.records(start, &dialect);
    let Some(first) = records.first() else {
        if sample.complete {
            return Err(CopyError::Empty {
                file: Arc::clone(file),
            });
        }
        return Ok(None);
    };
    let trailing_delimiter = match options.trailing_delimiter {
        CsvFlag::Yes => true,
        CsvFlag::No => false,
        CsvFlag::Auto => has_trailing_delimiter(&records, &dialect, declared),
    };
    let found = counted(first, trailing_delimiter);
    let first_line = lines_before(sample.bytes, first, &dialect, start);
    check_column_count(found, options, file, first_line)?;
    let columns = declared.map_or(found, |schema| schema.fields().len());
    let has_header = match (options.header, declared) {
        (CsvFlag::Yes, _) => true,
        (CsvFlag::No, _) => false,
        (CsvFlag::Auto, Some(schema)) => is_header_of(schema, first, &records, found),
        (CsvFlag::Auto, None) => is_header(&records, columns),
    };
    // PostgreSQL skips the header of its text format, whatever it says.
    if let (true, Some(schema)) = (has_header && !dialect.backslashes, declared) {
        check_header(first, schema, found, file, first_line)?;
    }
    let names = match declared {
        Some(schema) => schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect(),
        None => column_names(has_header.then_some(first), columns, file, first_line)?,
    };
    let data_offset = if has_header { first.end } else { start };
    let head = &sample.bytes[..data_offset];
    let data_line = 1 + memchr::memchr_iter(dialect.record_end, head).count() as u64;
    let names = names.into();
    let layout = CsvDialect {
        dialect,
        #[cfg(test)]
        has_header,
        names,
        trailing_delimiter,
        data_offset,
        data_line,
    };
    Ok(Some(layout))
}

/// Fields of a record, without the empty one after a trailing delimiter.
fn counted(record: &PlainRecord<'_>, trailing_delimiter: bool) -> usize {
    let ends_empty = record.fields.last().is_some_and(|f| f.bytes.is_empty());
    record.fields.len() - usize::from(trailing_delimiter && ends_empty)
}

/// Physical line of a record that may follow blank lines.
fn lines_before(bytes: &[u8], first: &PlainRecord<'_>, dialect: &Dialect, start: usize) -> u64 {
    let blank = bytes[start..first.end]
        .iter()
        .take_while(|&&b| b == dialect.record_end || b == b'\r')
        .filter(|&&b| b == dialect.record_end)
        .count() as u64;
    1 + if dialect.skips_blank_lines() {
        blank
    } else {
        0
    }
}

fn check_column_count(
    found: usize,
    options: &CsvOptions,
    file: &Arc<str>,
    line: u64,
) -> Result<(), CopyError> {
    let limit = options.column_count_max;
    if found <= limit {
        return Ok(());
    }
    let problem = Problem::TooManyColumns { limit, found };
    Err(BadRecord {
        file: Arc::clone(file),
        line,
        column: None,
        problem,
    }
    .into())
}

fn choose_dialect(
    sample: &CsvSample<'_>,
    options: &CsvOptions,
    declared: Option<&Schema>,
) -> Dialect {
    let old_mac = memchr(b'\n', sample.bytes).is_none() && memchr(b'\r', sample.bytes).is_some();
    let mut dialect = Dialect {
        delimiter: None,
        quote: options.quote,
        escape: options.escape.or(options.quote),
        backslashes: options.backslashes,
        record_end: if old_mac { b'\r' } else { b'\n' },
    };
    dialect.delimiter = match options.delimiter {
        Delimiter::Byte(byte) => Some(byte),
        Delimiter::None => None,
        Delimiter::Auto => {
            let wanted = declared.map(|schema| schema.fields().len());
            let trailing = options.trailing_delimiter != CsvFlag::No;
            choose_delimiter(sample, &dialect, wanted, trailing)
        }
    };
    dialect
}

/// The delimiter that cuts most records into as many fields as the first, then into most fields.
///
/// `wanted`: the number of columns, when it is known. One column needs no delimiter.
fn choose_delimiter(
    sample: &CsvSample<'_>,
    dialect: &Dialect,
    wanted: Option<usize>,
    trailing: bool,
) -> Option<u8> {
    if wanted == Some(1) {
        return None;
    }
    let mut best: Option<(bool, u64, usize, u8)> = None;
    for delimiter in CANDIDATES {
        let dialect = Dialect {
            delimiter: Some(delimiter),
            ..*dialect
        };
        let records = sample.records(sample.start(&dialect), &dialect);
        let Some(fields) = records.first().map(|first| first.fields.len()) else {
            continue;
        };
        let same = records
            .iter()
            .filter(|record| record.fields.len() == fields)
            .count();
        let share = same as u64 * 1000 / records.len() as u64;
        let expected = wanted.is_some_and(|n| fields == n || (trailing && fields == n + 1));
        if fields < 2 || (share < 500 && !expected) {
            continue;
        }
        let score = (expected, share, fields);
        if best.is_none_or(|(e, s, f, _)| score > (e, s, f)) {
            best = Some((expected, share, fields, delimiter));
        }
    }
    let fallback = wanted.map(|_| b',');
    best.map(|(.., delimiter)| delimiter).or(fallback)
}

/// Without a declared table only `|` is looked at: an empty last column is no rare thing.
fn has_trailing_delimiter(
    records: &[PlainRecord<'_>],
    dialect: &Dialect,
    declared: Option<&Schema>,
) -> bool {
    let columns = match (declared, dialect.delimiter) {
        (Some(schema), _) => schema.fields().len(),
        (None, Some(b'|')) => records.first().map_or(0, |first| first.fields.len()) - 1,
        (None, _) => return false,
    };
    let ends_empty = |record: &PlainRecord<'_>| {
        record.fields.len() == columns + 1
            && record
                .fields
                .last()
                .is_some_and(|last| last.bytes.is_empty() && !last.quoted)
    };
    columns > 0 && records.iter().all(ends_empty)
}

/// Whether the first record holds the names of a declared table: it does if it names its columns,
/// or if not one of the fields that should be numbers, dates or booleans is one.
fn is_header_of(
    schema: &Schema,
    first: &PlainRecord<'_>,
    records: &[PlainRecord<'_>],
    field_count: usize,
) -> bool {
    if field_count != schema.fields().len() {
        return false;
    }
    let pairs = || schema.fields().iter().zip(&first.fields);
    if pairs().all(|(column, field)| names_column(column.name(), &field.bytes)) {
        return true;
    }
    let is_text =
        |data_type: &DataType| matches!(data_type, DataType::Utf8View | DataType::BinaryView);
    let mut typed = pairs()
        .filter(|(column, _)| !is_text(column.data_type()))
        .peekable();
    // A file of one line is rather a bad row than a header without rows.
    records.len() > 1
        && typed.peek().is_some()
        && typed.all(|(column, field)| {
            !field.bytes.is_empty() && !fits_type(column.data_type(), &field.bytes)
        })
}

fn names_column(name: &str, field: &[u8]) -> bool {
    field.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
}

/// A header must have a field per column, and one that names the declared columns in another
/// order would put values in wrong columns.
fn check_header(
    first: &PlainRecord<'_>,
    schema: &Schema,
    found: usize,
    file: &Arc<str>,
    line: u64,
) -> Result<(), CopyError> {
    let columns = schema.fields();
    let (fields, expected) = (&first.fields, columns.len());
    if found != expected {
        let problem = Problem::FieldCount { expected, found };
        let file = Arc::clone(file);
        return Err(BadRecord {
            file,
            line,
            column: None,
            problem,
        }
        .into());
    }
    let in_place = columns
        .iter()
        .zip(fields)
        .all(|(c, f)| names_column(c.name(), &f.bytes));
    let named = columns
        .iter()
        .all(|c| fields.iter().any(|f| names_column(c.name(), &f.bytes)));
    if in_place || !named {
        return Ok(());
    }
    let order: Vec<_> = fields
        .iter()
        .map(|f| String::from_utf8_lossy(&f.bytes))
        .collect();
    let message = format!(
        "the header of \"{file}\" names the columns in another order than the table; list the \
         columns in the order of the file: ({})",
        order.join(", ")
    );
    Err(CopyError::Option { message })
}

/// Whether the first record of a file holds names. It does if at least half of the columns that
/// have a type without it lose it with it. If all columns are text, a first record of distinct,
/// non-empty fields that do not occur again in their columns is taken for names; see
/// [`names_one_text`] for files of one column.
fn is_header(records: &[PlainRecord<'_>], columns: usize) -> bool {
    let Some((first, rows)) = records.split_first() else {
        return false;
    };
    let field = |record: &PlainRecord<'_>, column: usize| {
        record
            .fields
            .get(column)
            .map(|field| field.bytes.to_vec())
            .unwrap_or_default()
    };
    let names: Vec<Vec<u8>> = (0..columns).map(|column| field(first, column)).collect();
    let mut typed = 0;
    let mut lost = 0;
    for (column, name) in names.iter().enumerate() {
        let mut profile = Profile::default();
        for row in rows {
            let text = field(row, column);
            if !text.is_empty() {
                profile.observe(&text);
            }
        }
        let without = profile.data_type();
        if without == DataType::Utf8View || name.is_empty() {
            continue;
        }
        profile.observe(name);
        typed += 1;
        lost += usize::from(profile.data_type() == DataType::Utf8View);
    }
    if typed > 0 {
        return lost * 2 >= typed;
    }
    let distinct = names
        .iter()
        .enumerate()
        .all(|(at, name)| !names[..at].contains(name));
    let named = names
        .iter()
        .all(|name| !name.is_empty() && !looks_typed(name));
    let unique =
        |(column, name): (usize, &Vec<u8>)| !rows.iter().any(|r| field(r, column) == *name);
    distinct
        && named
        && names.iter().enumerate().all(unique)
        && (columns > 1 || rows.is_empty() || names_one_text(first, rows))
}

/// Whether the first record of a file of one text column is its name. It must not be lost if it is
/// a value, so it has to be an identifier, and hardly any other record may be one.
fn names_one_text(first: &PlainRecord<'_>, rows: &[PlainRecord<'_>]) -> bool {
    let fields = || rows.iter().flat_map(|row| &row.fields);
    let is_identifier = |text: &[u8]| {
        let starts = text
            .first()
            .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        starts && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    let count = fields().filter(|field| !field.bytes.is_empty()).count();
    let identifiers = fields().filter(|field| is_identifier(&field.bytes)).count();
    first.fields.iter().all(|field| is_identifier(&field.bytes)) && identifiers * 20 <= count
}

fn looks_typed(text: &[u8]) -> bool {
    let mut profile = Profile::default();
    profile.observe(text);
    profile.data_type() != DataType::Utf8View
}

/// Names from the header, made distinct without regard to case, or `column1`, `column2`, ….
fn column_names(
    header: Option<&PlainRecord<'_>>,
    columns: usize,
    file: &Arc<str>,
    line: u64,
) -> Result<Vec<String>, CopyError> {
    let mut names: Vec<String> = Vec::with_capacity(columns);
    let mut taken = std::collections::HashSet::new();
    for column in 0..columns {
        let field = header.and_then(|header| header.fields.get(column));
        let bytes = field.map(|field| &field.bytes[..]).unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|_| {
            let value = super::super::error::shown(bytes);
            let problem = Problem::Invalid {
                sql_type: "column name in UTF-8".to_owned(),
                value,
            };
            BadRecord {
                file: Arc::clone(file),
                line,
                column: None,
                problem,
            }
        })?;
        let base = match text.trim() {
            "" => format!("column{}", column + 1),
            text => text.to_owned(),
        };
        let mut name = base.clone();
        let mut suffix = 1;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{base}_{suffix}");
            suffix += 1;
        }
        names.push(name);
    }
    Ok(names)
}
