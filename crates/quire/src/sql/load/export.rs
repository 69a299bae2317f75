//! `COPY … TO 'file'`

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast::Query;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_files::csv::{CsvWriteOptions, CsvWriter};
use quire_files::parquet::{ParquetWriteOptions, ParquetWriter};
use quire_files::{AtomicFile, CopyControl, CopyError};
use quire_sql::copy_statement::{CopyStatement, CopyTarget};
use quire_sql::names::folded;
use quire_sql::parse::parse_query;
use quire_text::temporal::TimeZoneRules;

use super::super::query;
use super::control;
use super::options::{self, FileFormat};
use crate::outcome::{Completion, Outcome};
use crate::planning::next_of;
use crate::session::Session;

/// Writes the rows of a table or query; the file appears when it is complete.
pub(super) async fn run(
    session: &Arc<Session>,
    copy: CopyStatement,
    path: &Path,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let format = options::format(&copy.options, path)?;
    let is_table = matches!(copy.target, CopyTarget::Table(..));
    let query = query_of(copy.target)?;
    let snapshot = session.snapshot().await?;
    let mut planned = query::plan(session, snapshot, query, token).await?;
    if is_table {
        // One partition keeps the table's order of rows.
        planned.context.use_one_partition();
    }
    let schema = planned.shown_schema();
    token.work().begin(Phase::Exporting, None);
    let mut stream = planned.context.start(&planned.plan).await?;
    let control = control(token);
    let place = (path, session.zone());
    let mut output = ExportOutput::create(place, format, &copy.options, &schema, control)?;
    while let Some(batch) = next_of(&mut stream, token).await? {
        tokio::task::block_in_place(|| output.write(&batch))?;
    }
    let count = tokio::task::block_in_place(|| output.finish())?;
    Ok(Outcome::Done(Completion::counted(
        format!("COPY {count}"),
        count,
    )))
}

/// The query whose rows are written.
pub(super) fn query_of(target: CopyTarget) -> Result<Box<Query>, Error> {
    let (name, columns) = match target {
        CopyTarget::Query(query) => return Ok(query),
        CopyTarget::Table(name, columns) => (name, columns),
    };
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let columns: Vec<_> = columns
        .iter()
        .map(|column| quoted(&folded(column)))
        .collect();
    let list = if columns.is_empty() {
        "*".to_owned()
    } else {
        columns.join(", ")
    };
    parse_query(&format!("SELECT {list} FROM {name}"))
}

/// A file being written.
enum ExportOutput {
    Csv(Box<CsvWriter<AtomicFile>>),
    Parquet(Box<ParquetWriter<AtomicFile>>),
}

impl ExportOutput {
    fn create(
        (path, zone): (&Path, TimeZoneRules),
        format: FileFormat,
        spelled: &[(String, Option<String>)],
        schema: &SchemaRef,
        control: CopyControl,
    ) -> Result<Self, Error> {
        let name = path.to_string_lossy();
        match format {
            FileFormat::Csv => {
                let options = CsvWriteOptions {
                    zone,
                    ..options::csv_writing(spelled)?
                };
                let file = AtomicFile::create(path)?;
                let writer = CsvWriter::new(file, &name, schema, options, control)?;
                Ok(ExportOutput::Csv(Box::new(writer)))
            }
            FileFormat::Parquet => {
                options::no_others(spelled, &[])?;
                let options = ParquetWriteOptions::default();
                let file = AtomicFile::create(path)?;
                let writer = ParquetWriter::new(file, &name, schema, options, control)?;
                Ok(ExportOutput::Parquet(Box::new(writer)))
            }
        }
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), CopyError> {
        match self {
            ExportOutput::Csv(writer) => writer.write(batch),
            ExportOutput::Parquet(writer) => writer.write(batch),
        }
    }

    fn finish(self) -> Result<u64, CopyError> {
        let (file, count) = match self {
            ExportOutput::Csv(writer) => writer.finish()?,
            ExportOutput::Parquet(writer) => writer.finish()?,
        };
        file.commit()?;
        Ok(count)
    }
}
