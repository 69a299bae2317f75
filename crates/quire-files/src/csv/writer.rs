//! Record batches to CSV text.
//!
//! NULL is the NULL string, unquoted. A text is quoted when it holds a delimiter, a quote, a line
//! end, or equals the NULL string; so the empty string is `""` and differs from NULL.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, Schema, TimeUnit, TimestampMicrosecondType,
};
use quire_text::bytea;
use quire_text::number_out::{
    write_date, write_decimal, write_f32, write_f64, write_integer, write_timestamp,
};
use quire_text::temporal::{TimeZoneRules, write_instant};

use super::super::control::{CopyControl, CopyPhase, CopyProgress};
use super::super::error::CopyError;
use super::super::writable::{check_writable, unwritable};

/// Text is handed to the output in pieces of about this size.
const FLUSH_BYTES: usize = 1 << 20;

/// Options of writing CSV.
#[derive(Debug, Clone)]
pub struct CsvWriteOptions {
    /// Field separator. Default `,`.
    pub delimiter: u8,
    /// Quote character. Default `"`.
    pub quote: u8,
    /// Character put before a quote, or before itself, inside quotes. Default: the quote.
    pub escape: Option<u8>,
    /// Write the column names first. Default true.
    pub header: bool,
    /// Text for NULL. Default: nothing.
    pub null_string: String,
    /// Where clocks show the instants of TIMESTAMPTZ. Default UTC.
    pub zone: TimeZoneRules,
}

impl Default for CsvWriteOptions {
    fn default() -> Self {
        Self {
            delimiter: b',',
            quote: b'"',
            escape: None,
            header: true,
            null_string: String::new(),
            zone: TimeZoneRules::default(),
        }
    }
}

/// Writes batches of one schema as CSV.
pub struct CsvWriter<W: Write> {
    output: W,
    file: Arc<str>,
    options: CsvWriteOptions,
    buffer: Vec<u8>,
    control: CopyControl,
    progress: CopyProgress,
}

impl<W: Write> CsvWriter<W> {
    /// Begins a file, with the header if it is wanted. `name` is for messages.
    ///
    /// # Errors
    /// A column type that has no text form, or options that contradict each other.
    pub fn new(
        output: W,
        name: &str,
        schema: &Schema,
        options: CsvWriteOptions,
        control: CopyControl,
    ) -> Result<Self, CopyError> {
        if options.delimiter == options.quote {
            let message = "DELIMITER and QUOTE must differ".to_owned();
            return Err(CopyError::Option { message });
        }
        check_writable(schema, "CSV")?;
        let phase = CopyPhase::Writing;
        let progress = CopyProgress {
            phase,
            row_count: 0,
            bytes_done: 0,
            bytes_total: None,
        };
        let buffer = Vec::with_capacity(FLUSH_BYTES + FLUSH_BYTES / 8);
        let mut writer = Self {
            output,
            file: name.into(),
            options,
            buffer,
            control,
            progress,
        };
        if writer.options.header {
            for (position, field) in schema.fields().iter().enumerate() {
                writer.separate(position);
                write_text(field.name().as_bytes(), &writer.options, &mut writer.buffer);
            }
            writer.buffer.push(b'\n');
        }
        Ok(writer)
    }

    /// Writes all rows of a batch.
    ///
    /// # Errors
    /// A failure of the output, or cancellation.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), CopyError> {
        let columns: Vec<CsvWriterColumn<'_>> = batch
            .columns()
            .iter()
            .zip(batch.schema_ref().fields())
            .map(|(array, field)| CsvWriterColumn::new(array.as_ref(), field.name()))
            .collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            for (position, column) in columns.iter().enumerate() {
                self.separate(position);
                if column.array.is_null(row) {
                    self.buffer
                        .extend_from_slice(self.options.null_string.as_bytes());
                } else {
                    column.write(row, &self.options, &mut self.buffer);
                }
            }
            self.buffer.push(b'\n');
            if self.buffer.len() >= FLUSH_BYTES {
                self.flush()?;
            }
        }
        self.progress.row_count += batch.num_rows() as u64;
        self.control.report(self.progress);
        Ok(())
    }

    /// Writes what is left and returns the output with the number of rows.
    ///
    /// # Errors
    /// A failure of the output.
    pub fn finish(mut self) -> Result<(W, u64), CopyError> {
        self.flush()?;
        self.output
            .flush()
            .map_err(|e| CopyError::io("write", &self.file, e))?;
        Ok((self.output, self.progress.row_count))
    }

    fn separate(&mut self, position: usize) {
        if position > 0 {
            self.buffer.push(self.options.delimiter);
        }
    }

    fn flush(&mut self) -> Result<(), CopyError> {
        self.control.check()?;
        let written = self.output.write_all(&self.buffer);
        written.map_err(|e| CopyError::io("write", &self.file, e))?;
        self.progress.bytes_done += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

struct CsvWriterColumn<'a> {
    array: &'a dyn Array,
    values: CsvWriterValues<'a>,
}

enum CsvWriterValues<'a> {
    Boolean(&'a arrow::array::BooleanArray),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal(&'a [i128], i8),
    Date(&'a [i32]),
    Timestamp(&'a [i64], bool),
    Utf8(&'a arrow::array::StringArray),
    LargeUtf8(&'a arrow::array::LargeStringArray),
    Utf8View(&'a arrow::array::StringViewArray),
    Binary(&'a arrow::array::BinaryArray),
    LargeBinary(&'a arrow::array::LargeBinaryArray),
    BinaryView(&'a arrow::array::BinaryViewArray),
}

impl<'a> CsvWriterColumn<'a> {
    fn new(array: &'a dyn Array, name: &str) -> Result<Self, CopyError> {
        let values = match array.data_type() {
            DataType::Boolean => CsvWriterValues::Boolean(array.as_boolean()),
            DataType::Int16 => CsvWriterValues::Int16(array.as_primitive::<Int16Type>().values()),
            DataType::Int32 => CsvWriterValues::Int32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => CsvWriterValues::Int64(array.as_primitive::<Int64Type>().values()),
            DataType::Float32 => {
                CsvWriterValues::Float32(array.as_primitive::<Float32Type>().values())
            }
            DataType::Float64 => {
                CsvWriterValues::Float64(array.as_primitive::<Float64Type>().values())
            }
            DataType::Decimal128(_, scale) => {
                CsvWriterValues::Decimal(array.as_primitive::<Decimal128Type>().values(), *scale)
            }
            DataType::Date32 => CsvWriterValues::Date(array.as_primitive::<Date32Type>().values()),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let values = array.as_primitive::<TimestampMicrosecondType>().values();
                CsvWriterValues::Timestamp(values, zone.is_some())
            }
            DataType::Utf8 => CsvWriterValues::Utf8(array.as_string()),
            DataType::LargeUtf8 => CsvWriterValues::LargeUtf8(array.as_string()),
            DataType::Utf8View => CsvWriterValues::Utf8View(array.as_string_view()),
            DataType::Binary => CsvWriterValues::Binary(array.as_binary()),
            DataType::LargeBinary => CsvWriterValues::LargeBinary(array.as_binary()),
            DataType::BinaryView => CsvWriterValues::BinaryView(array.as_binary_view()),
            other => return Err(unwritable(name, other, "CSV")),
        };
        Ok(Self { array, values })
    }

    #[inline]
    fn write(&self, row: usize, options: &CsvWriteOptions, out: &mut Vec<u8>) {
        let start = out.len();
        match &self.values {
            CsvWriterValues::Boolean(array) => {
                let text: &[u8] = if array.value(row) { b"true" } else { b"false" };
                out.extend_from_slice(text);
            }
            CsvWriterValues::Int16(values) => write_integer(values[row].into(), out),
            CsvWriterValues::Int32(values) => write_integer(values[row].into(), out),
            CsvWriterValues::Int64(values) => write_integer(values[row].into(), out),
            CsvWriterValues::Float32(values) => write_f32(values[row], out),
            CsvWriterValues::Float64(values) => write_f64(values[row], out),
            CsvWriterValues::Decimal(values, scale) => write_decimal(values[row], *scale, out),
            CsvWriterValues::Date(values) => write_date(values[row].into(), out),
            CsvWriterValues::Timestamp(values, true)
                if options.zone != TimeZoneRules::default() =>
            {
                let mut text = String::new();
                write_instant(values[row], &options.zone, &mut text);
                out.extend_from_slice(text.as_bytes());
            }
            CsvWriterValues::Timestamp(values, zoned) => write_timestamp(values[row], *zoned, out),
            CsvWriterValues::Utf8(array) => {
                return write_text(array.value(row).as_bytes(), options, out);
            }
            CsvWriterValues::LargeUtf8(array) => {
                return write_text(array.value(row).as_bytes(), options, out);
            }
            CsvWriterValues::Utf8View(array) => {
                return write_text(array.value(row).as_bytes(), options, out);
            }
            CsvWriterValues::Binary(array) => bytea::write(array.value(row), out),
            CsvWriterValues::LargeBinary(array) => bytea::write(array.value(row), out),
            CsvWriterValues::BinaryView(array) => bytea::write(array.value(row), out),
        }
        quote_unusual(start, options, out);
    }
}

/// Quotes a number or date that holds the delimiter or equals the NULL string.
#[inline]
fn quote_unusual(start: usize, options: &CsvWriteOptions, out: &mut Vec<u8>) {
    let text = &out[start..];
    if needs_quotes(text, options) {
        let text = text.to_vec();
        out.truncate(start);
        write_text(&text, options, out);
    }
}

#[inline]
fn needs_quotes(text: &[u8], options: &CsvWriteOptions) -> bool {
    let special = |&byte: &u8| {
        byte == options.delimiter || byte == options.quote || byte == b'\n' || byte == b'\r'
    };
    // A line that is only `\.` ends the data for PostgreSQL; a byte order mark would be taken
    // for the file's.
    text.iter().any(special)
        || text == options.null_string.as_bytes()
        || text == b"\\."
        || text.starts_with(b"\xef\xbb\xbf")
}

fn write_text(text: &[u8], options: &CsvWriteOptions, out: &mut Vec<u8>) {
    if !needs_quotes(text, options) {
        out.extend_from_slice(text);
        return;
    }
    let escape = options.escape.unwrap_or(options.quote);
    out.push(options.quote);
    for &byte in text {
        if byte == options.quote || byte == escape {
            out.push(escape);
        }
        out.push(byte);
    }
    out.push(options.quote);
}
