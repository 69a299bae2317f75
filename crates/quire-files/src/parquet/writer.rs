//! Record batches to a Parquet file, columns encoded on several threads.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::super::control::{CopyControl, CopyPhase, CopyProgress};
use super::super::error::CopyError;
use super::super::writable::check_writable;

/// Options of writing Parquet.
#[derive(Debug, Clone)]
pub struct ParquetWriteOptions {
    /// Compression of the pages. Default: zstd, level 3.
    pub compression: Compression,
    /// Rows of a row group. Default 131,072.
    pub row_group_rows: usize,
    /// Threads that encode columns. Default: what the machine offers.
    pub thread_count: usize,
}

impl Default for ParquetWriteOptions {
    fn default() -> Self {
        Self {
            compression: Compression::ZSTD(ZstdLevel::try_new(3).unwrap_or_default()),
            row_group_rows: 131_072,
            thread_count: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Writes batches of one schema as Parquet. Holds the batches of one row group.
pub struct ParquetWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    file: Arc<str>,
    options: ParquetWriteOptions,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    row_group_count: usize,
    control: CopyControl,
    progress: CopyProgress,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file. `name` is for messages.
    ///
    /// # Errors
    /// A column type that Parquet cannot hold, or a failure of the output.
    pub fn new(
        output: W,
        name: &str,
        schema: &SchemaRef,
        options: ParquetWriteOptions,
        control: CopyControl,
    ) -> Result<Self, CopyError> {
        let file: Arc<str> = name.into();
        check_writable(schema, "Parquet")?;
        let properties = WriterProperties::builder()
            .set_compression(options.compression)
            .set_created_by(format!("quire {}", env!("CARGO_PKG_VERSION")))
            .build();
        let failed = |error: ParquetError| write_error(&file, error);
        let parquet_schema = ArrowSchemaConverter::new()
            .convert(schema)
            .map_err(failed)?;
        let root = parquet_schema.root_schema_ptr();
        let writer = SerializedFileWriter::new(output, root, Arc::new(properties));
        let writer = writer.map_err(failed)?;
        let factory = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(schema));
        let phase = CopyPhase::Writing;
        let progress = CopyProgress {
            phase,
            row_count: 0,
            bytes_done: 0,
            bytes_total: None,
        };
        Ok(Self {
            writer,
            factory,
            schema: Arc::clone(schema),
            file,
            options,
            pending: Vec::new(),
            pending_rows: 0,
            row_group_count: 0,
            control,
            progress,
        })
    }

    /// Takes all rows of a batch; writes a row group when enough are there.
    ///
    /// # Errors
    /// A failure of the output, or cancellation.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), CopyError> {
        let mut start = 0;
        while start < batch.num_rows() {
            self.control.check()?;
            let room = self.options.row_group_rows.max(1) - self.pending_rows;
            let rows = room.min(batch.num_rows() - start);
            self.pending.push(batch.slice(start, rows));
            self.pending_rows += rows;
            start += rows;
            if rows == room {
                self.write_row_group()?;
            }
        }
        self.progress.row_count += batch.num_rows() as u64;
        self.control.report(self.progress);
        Ok(())
    }

    /// Writes what is left and the footer; returns the output with the number of rows.
    ///
    /// # Errors
    /// A failure of the output.
    pub fn finish(mut self) -> Result<(W, u64), CopyError> {
        self.write_row_group()?;
        let output = self
            .writer
            .into_inner()
            .map_err(|e| write_error(&self.file, e))?;
        Ok((output, self.progress.row_count))
    }

    fn write_row_group(&mut self) -> Result<(), CopyError> {
        if self.pending_rows == 0 {
            return Ok(());
        }
        let batches = std::mem::take(&mut self.pending);
        self.pending_rows = 0;
        let failed = |error: ParquetError| write_error(&self.file, error);
        let writers = self
            .factory
            .create_column_writers(self.row_group_count)
            .map_err(failed)?;
        self.row_group_count += 1;
        let threads = self.options.thread_count;
        let chunks = encode_columns(&self.schema, &batches, writers, threads).map_err(failed)?;
        let mut row_group = self.writer.next_row_group().map_err(failed)?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut row_group).map_err(failed)?;
        }
        row_group.close().map_err(failed)?;
        self.progress.bytes_done = self.writer.bytes_written() as u64;
        Ok(())
    }
}

/// Encodes the columns of a row group, each by one thread. All columns are flat: one writer each.
fn encode_columns(
    schema: &Schema,
    batches: &[RecordBatch],
    writers: Vec<ArrowColumnWriter>,
    thread_count: usize,
) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
    let column_count = writers.len();
    let writers: Vec<_> = writers
        .into_iter()
        .map(|writer| Mutex::new(Some(writer)))
        .collect();
    let chunks: Vec<_> = (0..column_count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let column = next.fetch_add(1, Ordering::Relaxed);
            let Some(writer) = writers.get(column) else {
                return;
            };
            let writer = writer.lock().unwrap_or_else(PoisonError::into_inner).take();
            let field = &schema.fields()[column];
            let chunk = writer.map(|writer| encode_column(field, batches, column, writer));
            *chunks[column]
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = chunk;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..thread_count.min(column_count) {
            scope.spawn(work);
        }
        work();
    });
    let missing = || Err(ParquetError::General("a column was not encoded".to_owned()));
    chunks
        .into_iter()
        .map(|chunk| {
            chunk
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner)
                .unwrap_or_else(missing)
        })
        .collect()
}

fn encode_column(
    field: &FieldRef,
    batches: &[RecordBatch],
    column: usize,
    mut writer: ArrowColumnWriter,
) -> Result<ArrowColumnChunk, ParquetError> {
    let arrays: Vec<&dyn arrow::array::Array> = batches
        .iter()
        .map(|batch| batch.column(column).as_ref())
        .collect();
    // Views share buffers, which putting together would repeat; other arrays are small.
    let pieces: Vec<ArrayRef> = match field.data_type() {
        DataType::Utf8View | DataType::BinaryView => batches
            .iter()
            .map(|batch| Arc::clone(batch.column(column)))
            .collect(),
        _ => vec![concat(&arrays)?],
    };
    for array in &pieces {
        for leaf in compute_leaves(field, array)? {
            writer.write(&leaf)?;
        }
    }
    writer.close()
}

fn write_error(file: &Arc<str>, error: ParquetError) -> CopyError {
    let source = match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(io) => *io,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    };
    CopyError::io("write", file, source)
}
