//! A CSV file whose way of writing is known: ready to be inferred and read.

use std::fs::{self, File};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::{Schema, SchemaRef};

use super::super::control::CopyControl;
use super::super::error::CopyError;
use super::chunk::RecordFormat;
use super::infer::{InferPlan, infer_schema};
#[cfg(test)]
use super::options::Dialect;
use super::options::{CHUNK_BYTES_CEILING, CsvOptions, Delimiter, RECORD_BYTES_CEILING};
use super::reader::{CsvReader, ReadPlan};
use super::sniff::{CsvDialect, CsvSample, sniff};
use super::splitter::{SplitOptions, Splitter};

/// An opened CSV file or stream.
pub struct CsvFile {
    shown_name: Arc<str>,
    input: CsvInput,
    options: CsvOptions,
    layout: CsvDialect,
    /// The beginning, with the header; all of a small file.
    sample: Vec<u8>,
    bytes_total: Option<u64>,
}

enum CsvInput {
    Path(PathBuf),
    /// What follows the sample, until somebody reads it.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl CsvFile {
    /// Opens a file and finds out what the options leave open. `declared` is the table the rows
    /// are meant for, if there is one: it decides the number of columns, and a first record that
    /// names its columns is a header.
    ///
    /// # Errors
    /// A missing or empty file, a directory, contradictory options, a header that does not fit.
    pub fn open(
        path: &Path,
        options: CsvOptions,
        declared: Option<&Schema>,
    ) -> Result<Self, CopyError> {
        let shown_name: Arc<str> = path.to_string_lossy().into();
        let failed = |source| CopyError::io("open", &shown_name, source);
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return Err(CopyError::Directory { file: shown_name });
        }
        let mut file = File::open(path).map_err(failed)?;
        if !metadata.is_file() {
            return Self::from_reader(&shown_name, Box::new(file), options, declared);
        }
        let (sample, layout) = look(&mut file, &options, declared, &shown_name)?;
        let input = CsvInput::Path(path.to_owned());
        let bytes_total = Some(metadata.len());
        Ok(Self {
            shown_name,
            input,
            options,
            layout,
            sample,
            bytes_total,
        })
    }

    /// Like [`CsvFile::open`] for a stream, which can be read once. `name` is for messages.
    /// Inference sees the sample only (see [`CsvOptions::sample_bytes`]).
    ///
    /// # Errors
    /// As for [`CsvFile::open`].
    pub fn from_reader(
        name: &str,
        mut reader: Box<dyn Read + Send>,
        options: CsvOptions,
        declared: Option<&Schema>,
    ) -> Result<Self, CopyError> {
        let shown_name: Arc<str> = name.into();
        let (sample, layout) = look(&mut reader, &options, declared, &shown_name)?;
        let input = CsvInput::Stream(Mutex::new(Some(reader)));
        Ok(Self {
            shown_name,
            input,
            options,
            layout,
            sample,
            bytes_total: None,
        })
    }

    /// How the file is written.
    #[cfg(test)]
    pub(super) fn dialect(&self) -> Dialect {
        self.layout.dialect
    }

    /// Whether the first record holds names.
    #[cfg(test)]
    pub(super) fn has_header(&self) -> bool {
        self.layout.has_header
    }

    /// One name per column: the declared ones, else the header's made distinct, else `column1`, ….
    #[cfg(test)]
    pub(super) fn column_names(&self) -> &[String] {
        &self.layout.names
    }

    /// Types for the columns such that no value of the file changes; reads the whole file. See
    /// the README for the rules.
    ///
    /// # Errors
    /// A record with a wrong number of fields and other errors that reading would meet.
    pub fn infer_schema(&self, control: &CopyControl) -> Result<SchemaRef, CopyError> {
        let input = match &self.input {
            CsvInput::Path(path) => self.reopen(path)?,
            CsvInput::Stream(_) => self.sampled_records(),
        };
        let plan = InferPlan {
            format: self.record_format(),
            thread_count: self.options.thread_count,
            bytes_total: self.bytes_total,
        };
        infer_schema(self.splitter(input), plan, control)
    }

    /// Streams the rows as batches of `schema`, which has a field for every column of the file;
    /// with a projection, only these columns are parsed and handed out, in this order.
    ///
    /// # Errors
    /// A schema that does not fit the file, a type CSV cannot have, or a stream read before.
    pub fn read(
        &self,
        schema: &SchemaRef,
        projection: Option<&[usize]>,
        control: &CopyControl,
    ) -> Result<CsvReader, CopyError> {
        let columns = self.layout.names.len();
        let all: Vec<usize> = (0..columns).collect();
        let projection = projection.unwrap_or(&all).to_vec();
        if schema.fields().len() != columns || projection.iter().any(|&c| c >= columns) {
            let message = format!(
                "\"{}\" has {columns} columns, {} are expected",
                self.shown_name,
                schema.fields().len()
            );
            return Err(CopyError::Option { message });
        }
        let input = match &self.input {
            CsvInput::Path(path) => self.reopen(path)?,
            CsvInput::Stream(stream) => {
                let stream = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
                let stream = stream.ok_or_else(|| CopyError::Option {
                    message: format!("\"{}\" is a stream and was read already", self.shown_name),
                })?;
                let rest = self.sample[self.layout.data_offset..].to_vec();
                Box::new(Cursor::new(rest).chain(stream))
            }
        };
        let thread_count = self.options.thread_count.max(1);
        let plan = ReadPlan {
            format: self.record_format(),
            schema: Arc::clone(schema),
            projection,
            text_limits: self.options.text_limits.clone(),
            zone: self.options.zone.clone(),
            thread_count,
            budget_bytes: self.options.chunk_bytes.saturating_mul(8 * thread_count),
            bytes_total: self.bytes_total,
        };
        CsvReader::start(self.splitter(input), plan, control.clone())
    }

    fn reopen(&self, path: &Path) -> Result<Box<dyn Read + Send>, CopyError> {
        let failed = |source| CopyError::io("open", &self.shown_name, source);
        let mut file = File::open(path).map_err(failed)?;
        let start = SeekFrom::Start(self.layout.data_offset as u64);
        file.seek(start)
            .map_err(|e| CopyError::io("read", &self.shown_name, e))?;
        Ok(Box::new(file))
    }

    /// The records of the sample that are whole.
    fn sampled_records(&self) -> Box<dyn Read + Send> {
        let rows = &self.sample[self.layout.data_offset..];
        let mut end = 0;
        while let Some(record) = super::records::read_record(rows, end, &self.layout.dialect, false)
        {
            end = record.end;
        }
        // A stream without a last line end is its own only record.
        let end = if end == 0 { rows.len() } else { end };
        Box::new(Cursor::new(rows[..end].to_vec()))
    }

    fn splitter(&self, input: Box<dyn Read + Send>) -> Splitter {
        let options = SplitOptions {
            dialect: self.layout.dialect,
            chunk_bytes: self.options.chunk_bytes.min(CHUNK_BYTES_CEILING),
            record_bytes_max: self.options.record_bytes_max.min(RECORD_BYTES_CEILING),
            file: Arc::clone(&self.shown_name),
            names: Arc::clone(&self.layout.names),
        };
        let offset = self.layout.data_offset as u64;
        Splitter::new(input, options, offset, self.layout.data_line)
    }

    fn record_format(&self) -> RecordFormat {
        RecordFormat {
            file: Arc::clone(&self.shown_name),
            names: Arc::clone(&self.layout.names),
            dialect: self.layout.dialect,
            null_string: self.options.null_string.as_bytes().into(),
            quoted_null: self.options.quoted_null,
            trailing_delimiter: self.layout.trailing_delimiter,
            on_error: self.options.on_error,
        }
    }
}

/// Reads a sample and finds out how the file is written.
fn look(
    input: &mut dyn Read,
    options: &CsvOptions,
    declared: Option<&Schema>,
    file: &Arc<str>,
) -> Result<(Vec<u8>, CsvDialect), CopyError> {
    check_options(options)?;
    let mut bytes = Vec::new();
    let mut wanted = options.sample_bytes.max(1);
    let ceiling = options.record_bytes_max.min(RECORD_BYTES_CEILING);
    loop {
        let room = (wanted - bytes.len()) as u64;
        let read = (&mut *input).take(room).read_to_end(&mut bytes);
        let read = read.map_err(|e| CopyError::io("read", file, e))?;
        let complete = (read as u64) < room;
        let sample = CsvSample {
            bytes: &bytes,
            complete,
        };
        if let Some(layout) = sniff(&sample, options, declared, file)? {
            return Ok((bytes, layout));
        }
        if wanted > ceiling {
            let problem = super::super::error::Problem::TooLong {
                limit_bytes: ceiling,
                value: super::super::error::shown(&bytes),
            };
            let file = Arc::clone(file);
            return Err(super::super::error::BadRecord {
                file,
                line: 1,
                column: None,
                problem,
            }
            .into());
        }
        wanted *= 2;
    }
}

fn check_options(options: &CsvOptions) -> Result<(), CopyError> {
    let fail = |message: &str| {
        Err(CopyError::Option {
            message: message.to_owned(),
        })
    };
    let special = |byte: u8| !byte.is_ascii() || matches!(byte, b'\n' | b'\r' | 0);
    if let Delimiter::Byte(byte) = options.delimiter {
        if special(byte) {
            return fail("DELIMITER must be one ASCII character other than a line end");
        }
        if options.quote == Some(byte) {
            return fail("DELIMITER and QUOTE must differ");
        }
        if options.null_string.as_bytes().contains(&byte) {
            return fail("the NULL string must not contain the delimiter");
        }
    }
    if options.backslashes && (options.quote.is_some() || options.escape.is_some()) {
        return fail("a format of backslashes has no QUOTE and no ESCAPE");
    }
    if options.quote.is_some_and(special) {
        return fail("QUOTE must be one ASCII character other than a line end");
    }
    if options.escape.is_some_and(special) {
        return fail("ESCAPE must be one ASCII character other than a line end");
    }
    if options.null_string.contains(['\n', '\r']) {
        return fail("the NULL string must not contain a line end");
    }
    Ok(())
}
