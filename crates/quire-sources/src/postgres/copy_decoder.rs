//! Batches from the stream of a binary COPY: a header, then for each row the count of its fields, and each field's length and bytes
//! (PostgreSQL's manual, COPY, "Binary Format").

use std::io::{self, Read};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use quire_files::TypedArrayBuilder;
use quire_text::calendar::DATES;

use super::numeric::{NumericProblem, decimal};
use super::server::{PostgresServer, PostgresStop};
use crate::batch::{BATCH_ROWS, SourceBatchBuilder, append_null};
use crate::definition::SourceTableName;
use crate::error::SourceError;

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// PostgreSQL's own limit of a field.
const FIELD_BYTES_MAX: u64 = 1 << 30;
/// 2000-01-01, PostgreSQL's day 0, in days and in microseconds since 1970.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_MICROSECONDS: i64 = 946_684_800_000_000;

const INFINITE_TIME: &str = "the value is infinity, which no date or timestamp here can be; leave the column out, or read a view that has another value in its place";
const WRONG_LENGTH: &str =
    "the server sends a value of a wrong length; report it with the server's version";

/// Turns a stream into batches.
pub(super) struct CopyDecoder<'a, R> {
    server: &'a PostgresServer,
    table: &'a SourceTableName,
    stream: R,
    builder: SourceBatchBuilder,
    schema: &'a SchemaRef,
    /// The field that is read.
    field: Vec<u8>,
    rows_done: u64,
    is_done: bool,
}

impl<'a, R: Read> CopyDecoder<'a, R> {
    /// Reads the header.
    pub(super) fn start(
        server: &'a PostgresServer,
        table: &'a SourceTableName,
        schema: &'a SchemaRef,
        mut stream: R,
    ) -> Result<Self, PostgresStop> {
        let builder = SourceBatchBuilder::new(schema)
            .ok_or_else(|| server.internal("a column has none of our types"))?;
        let wrong = |problem: String| PostgresStop::from(protocol(server, table, problem));
        let mut head = [0; 19];
        stream
            .read_exact(&mut head)
            .map_err(|error| broken(server, table, error))?;
        let (signature, rest) = head.split_at(SIGNATURE.len());
        if signature != SIGNATURE {
            return Err(wrong("there is no signature".to_owned()));
        }
        let (flags, extension) = rest.split_at(4);
        // Critical flags are those of the upper half; none is defined.
        if flags != [0; 4] || extension != [0; 4] {
            return Err(wrong(format!(
                "unknown flags {flags:?} or extension {extension:?}"
            )));
        }
        Ok(Self {
            server,
            table,
            stream,
            builder,
            schema,
            field: Vec::new(),
            rows_done: 0,
            is_done: false,
        })
    }

    /// The next batch; `None` at the end.
    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>, PostgresStop> {
        while !self.is_done && !self.builder.is_full(BATCH_ROWS) {
            self.read_row()?;
        }
        if self.builder.row_count() == 0 {
            return Ok(None);
        }
        Ok(Some(
            self.builder
                .finish()
                .map_err(|error| self.server.internal(error))?,
        ))
    }

    fn read_row(&mut self) -> Result<(), PostgresStop> {
        let mut count = [0; 2];
        self.read_exact(&mut count)?;
        match i16::from_be_bytes(count) {
            -1 => return self.read_end(),
            count if usize::try_from(count) == Ok(self.builder.columns.len()) => {}
            count => return Err(self.wrong(format!("a row of {count} fields"))),
        }
        self.rows_done += 1;
        for index in 0..self.builder.columns.len() {
            let has_value = self.read_field()?;
            let column = &mut self.builder.columns[index];
            if !has_value {
                append_null(column);
                continue;
            }
            if let Err(problem) = append(column, &self.field) {
                return Err(self.refused(index, problem).into());
            }
            if matches!(
                column,
                TypedArrayBuilder::Text(_) | TypedArrayBuilder::Bytes(_)
            ) {
                self.builder.text_bytes += self.field.len();
            }
        }
        self.builder.end_row();
        Ok(())
    }

    /// Puts the next field into `field`; false if it is NULL.
    fn read_field(&mut self) -> Result<bool, PostgresStop> {
        let mut length = [0; 4];
        self.read_exact(&mut length)?;
        self.field.clear();
        let length = match i32::from_be_bytes(length) {
            -1 => return Ok(false),
            length => u64::try_from(length)
                .ok()
                .filter(|&length| length <= FIELD_BYTES_MAX),
        };
        let Some(length) = length else {
            return Err(self.wrong("a field of an impossible length".to_owned()));
        };
        // Grows with what comes, not with what is announced.
        let read = (&mut self.stream).take(length).read_to_end(&mut self.field);
        let read = read.map_err(|error| broken(self.server, self.table, error))?;
        if read as u64 != length {
            return Err(self.wrong("the stream ends within a field".to_owned()));
        }
        Ok(true)
    }

    /// Nothing comes after the end; an error of the server may.
    fn read_end(&mut self) -> Result<(), PostgresStop> {
        self.is_done = true;
        let mut rest = [0; 1];
        match self.stream.read(&mut rest) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong("bytes after the end".to_owned())),
            Err(error) => Err(broken(self.server, self.table, error)),
        }
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<(), PostgresStop> {
        self.stream
            .read_exact(bytes)
            .map_err(|error| broken(self.server, self.table, error))
    }

    fn wrong(&self, problem: String) -> PostgresStop {
        protocol(self.server, self.table, problem).into()
    }

    fn refused(&self, index: usize, problem: &str) -> SourceError {
        SourceError::Value {
            table: self.table.clone(),
            row: format!("row {} of those read", self.rows_done),
            column: self.schema.field(index).name().clone(),
            problem: problem.to_owned(),
        }
    }
}

fn protocol(server: &PostgresServer, table: &SourceTableName, problem: String) -> SourceError {
    SourceError::Protocol {
        server: server.shown_name.clone(),
        table: table.clone(),
        problem,
    }
}

/// The library hands the server's errors through as those of reading.
fn broken(server: &PostgresServer, table: &SourceTableName, error: io::Error) -> PostgresStop {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return protocol(server, table, "the stream ends within a row".to_owned()).into();
    }
    match error.downcast::<postgres::Error>() {
        Ok(said) => PostgresStop::Library(said),
        Err(error) => protocol(server, table, error.to_string()).into(),
    }
}

/// Appends the value of a field; the error says what is wrong with it.
fn append(column: &mut TypedArrayBuilder, field: &[u8]) -> Result<(), &'static str> {
    match column {
        TypedArrayBuilder::Boolean(builder) => builder.append_value(exactly::<1>(field)? != [0]),
        TypedArrayBuilder::Int16(builder) => {
            builder.append_value(i16::from_be_bytes(exactly(field)?))
        }
        TypedArrayBuilder::Int32(builder) => {
            builder.append_value(i32::from_be_bytes(exactly(field)?))
        }
        TypedArrayBuilder::Int64(builder) => {
            builder.append_value(i64::from_be_bytes(exactly(field)?))
        }
        TypedArrayBuilder::Float32(builder) => {
            builder.append_value(f32::from_be_bytes(exactly(field)?))
        }
        TypedArrayBuilder::Float64(builder) => {
            builder.append_value(f64::from_be_bytes(exactly(field)?))
        }
        TypedArrayBuilder::Decimal(builder, precision, scale) => {
            builder.append_value(decimal(field, *precision, *scale).map_err(numeric_problem)?);
        }
        TypedArrayBuilder::Date(builder) => {
            builder.append_value(date(i32::from_be_bytes(exactly(field)?))?)
        }
        TypedArrayBuilder::Timestamp(builder) => {
            builder.append_value(timestamp(i64::from_be_bytes(exactly(field)?))?)
        }
        TypedArrayBuilder::Text(builder) => {
            let text = std::str::from_utf8(field);
            builder.append_value(text.map_err(
                |_| "the text is not valid UTF-8; mend it, or read a view that converts it",
            )?);
        }
        TypedArrayBuilder::Bytes(builder) => builder.append_value(field),
    }
    Ok(())
}

fn exactly<const N: usize>(field: &[u8]) -> Result<[u8; N], &'static str> {
    field.try_into().map_err(|_| WRONG_LENGTH)
}

/// The ends of the range are infinity.
fn date(days: i32) -> Result<i32, &'static str> {
    if matches!(days, i32::MIN | i32::MAX) {
        return Err(INFINITE_TIME);
    }
    let days = days
        .checked_add(EPOCH_DAYS)
        .filter(|days| DATES.contains(days));
    days.ok_or("the date is beyond those of the calendar; leave the column out")
}

/// The ends of the range are infinity.
fn timestamp(microseconds: i64) -> Result<i64, &'static str> {
    if matches!(microseconds, i64::MIN | i64::MAX) {
        return Err(INFINITE_TIME);
    }
    let since_1970 = microseconds.checked_add(EPOCH_MICROSECONDS);
    since_1970.ok_or("the timestamp is later than the year 294246, which 64 bits of microseconds since 1970 cannot hold; leave the column out")
}

fn numeric_problem(problem: NumericProblem) -> &'static str {
    match problem {
        NumericProblem::NotANumber => {
            "the number is NaN, which no decimal can be; read a view that casts the column to double precision, or leave it out"
        }
        NumericProblem::Infinity => {
            "the number is infinity, which no decimal can be; read a view that casts the column to double precision, or leave it out"
        }
        NumericProblem::TooLarge => {
            "the number has more digits than the column; report it with the server's version"
        }
        NumericProblem::WrongBytes => {
            "the server sends bytes that are no number; report it with the server's version"
        }
    }
}
