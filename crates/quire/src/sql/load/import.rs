//! `COPY table FROM 'file'`

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use datafusion::arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_files::csv::{CsvFile, CsvFlag, CsvOptions, CsvReader, TextLimit};
use quire_files::parquet::ParquetFile;
use quire_files::{CopyControl, CopyError};
use quire_sql::copy_statement::{CopyStatement, CopyTarget};
use quire_sql::names::folded;
use quire_sql::reject::not_supported;
use quire_tables::{Snapshot, SqlType, TableDefinition, TableStorage, Transaction};

use super::super::dml;
use super::super::insert::{find_table, positions, table_name};
use super::client_reader::{CLIENT, ClientReader, ClientRows};
use super::control;
use super::convert::convert;
use super::file::{FileRows, threads};
use super::options::{self, FileFormat};
use super::read_ahead::read_ahead;
use crate::outcome::{Completion, Outcome};
use crate::planning::StatementContext;
use crate::session::{Session, TableWriteGuard};

/// Bad records that a statement names one by one.
const NAMED_RECORDS: usize = 10;

/// Appends all rows of the file or none.
pub(super) async fn run(
    session: &Arc<Session>,
    copy: CopyStatement,
    path: &Path,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let CopyTarget::Table(name, named) = &copy.target else {
        return Err(not_supported("COPY FROM into a query"));
    };
    let format = options::format(&copy.options, path)?;
    let mut writer = TableWriteGuard::begin(session, token).await?;
    let target = ImportTarget::of(&writer.snapshot()?, name, named, path)?;
    let control = control(token);
    token.work().begin(Phase::Loading, Some(&target.name));
    let (count, notices) = match format {
        FileFormat::Csv => {
            let options = target.fitted(options::csv_reading(&copy.options)?, session);
            match tokio::task::block_in_place(|| target.csv_rows(path, options, &control))? {
                Some(rows) => {
                    let (count, rows) = target.take(session, &mut writer, rows, token).await?;
                    (count, rows.notices())
                }
                None => (0, Vec::new()),
            }
        }
        FileFormat::Parquet => {
            options::no_others(&copy.options, &[])?;
            let rows = tokio::task::block_in_place(|| target.parquet_rows(path, &control))?;
            let (count, _) = target.take(session, &mut writer, rows, token).await?;
            (count, Vec::new())
        }
    };
    writer.finish()?;
    Ok(outcome(count, notices))
}

fn outcome(count: u64, notices: Vec<String>) -> Outcome {
    Outcome::Done(Completion {
        tag: format!("COPY {count}"),
        row_count: Some(count),
        notices,
    })
}

/// Appends all rows that come from a client, or none; `ready` receives the columns before anything is read.
pub(super) async fn run_stream(
    session: &Arc<Session>,
    copy: &CopyStatement,
    rows: ClientRows,
    ready: std::sync::mpsc::Sender<SchemaRef>,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let CopyTarget::Table(name, named) = &copy.target else {
        return Err(not_supported("COPY FROM into a query"));
    };
    let mut writer = TableWriteGuard::begin(session, token).await?;
    let path = Path::new(CLIENT);
    let target = ImportTarget::of(&writer.snapshot()?, name, named, path)?;
    let control = control(token);
    token.work().begin(Phase::Loading, Some(&target.name));
    // Whoever waits may have gone.
    let _ = ready.send(Arc::clone(&target.columns));
    let (count, notices) = match rows {
        ClientRows::Batches(rows) => {
            let (count, _) = target.take(session, &mut writer, rows, token).await?;
            (count, Vec::new())
        }
        ClientRows::Lines(options, reader) => {
            match target.lines(session, options, reader, &control)? {
                Some(rows) => {
                    let (count, rows) = target.take(session, &mut writer, rows, token).await?;
                    (count, rows.notices())
                }
                None => (0, Vec::new()),
            }
        }
    };
    writer.finish()?;
    Ok(outcome(count, notices))
}

/// A table, and which of its columns the file has.
struct ImportTarget {
    name: String,
    definition: Arc<TableDefinition>,
    is_row_table: bool,
    /// Columns that the file lacks have another default than NULL.
    has_missing_defaults: bool,
    table_schema: SchemaRef,
    /// The file's columns: those named in the statement, or all.
    columns: SchemaRef,
    positions: Vec<usize>,
    /// Of the file's columns.
    text_limits: Vec<Option<TextLimit>>,
}

impl ImportTarget {
    /// The rows of a CSV file; `None` of an empty one that is said to have no header. Others have to begin with something.
    fn csv_rows(
        &self,
        path: &Path,
        options: CsvOptions,
        control: &CopyControl,
    ) -> Result<Option<CsvRows>, Error> {
        let has_no_header = matches!(options.header, CsvFlag::No);
        let file = match CsvFile::open(path, options, Some(&self.columns)) {
            Err(CopyError::Empty { .. }) if has_no_header => return Ok(None),
            opened => opened?,
        };
        let rows = file.read(&self.columns, None, control)?;
        Ok(Some(CsvRows(rows)))
    }

    fn of(
        snapshot: &Snapshot,
        name: &datafusion::sql::sqlparser::ast::ObjectName,
        named: &[datafusion::sql::sqlparser::ast::Ident],
        path: &Path,
    ) -> Result<Self, Error> {
        let plain = table_name(name)?;
        let Some(definition) = snapshot.definition(&plain) else {
            let error = find_table(snapshot, name).err();
            let error = error.unwrap_or_else(|| Error::unknown_table(&plain));
            let path = path.display();
            return Err(match error.hint() {
                None => error.with_hint(format!(
                    "To make a table of the file: CREATE TABLE {plain} AS SELECT * FROM '{path}'."
                )),
                Some(_) => error,
            });
        };
        let positions = if named.is_empty() {
            definition
                .visible_columns()
                .map(|(place, _)| place)
                .collect()
        } else {
            positions(definition, &named.iter().map(folded).collect::<Vec<_>>())?
        };
        let text_limit = |position: &usize| match definition.columns[*position].sql_type {
            sql_type @ (SqlType::VarChar(length) | SqlType::Char(length)) => Some(TextLimit {
                characters: length as usize,
                sql_type: sql_type.to_string(),
            }),
            _ => None,
        };
        let text_limits = positions.iter().map(text_limit).collect();
        let field = |place: &usize| {
            let column = &definition.columns[*place];
            Field::new(&column.name, column.sql_type.arrow_type(), column.nullable)
        };
        let columns = Arc::new(Schema::new(positions.iter().map(field).collect::<Vec<_>>()));
        let table_schema = definition.arrow_schema();
        let mut missing = definition
            .visible_columns()
            .filter(|(place, _)| !positions.contains(place));
        Ok(Self {
            name: definition.name.clone(),
            definition: Arc::clone(definition),
            is_row_table: definition.storage == TableStorage::Row,
            has_missing_defaults: missing
                .any(|(_, column)| column.default.is_some() || column.sequence.is_some()),
            table_schema,
            columns,
            positions,
            text_limits,
        })
    }

    /// Whether rows go through a plan, which computes what the file lacks; otherwise they are appended as they are read.
    fn needs_plan(&self) -> bool {
        self.is_row_table || self.has_missing_defaults
    }

    /// Options of reading for the columns of the file, and for the session's zone.
    fn fitted(&self, options: CsvOptions, session: &Session) -> CsvOptions {
        CsvOptions {
            text_limits: self.text_limits.clone(),
            zone: session.zone(),
            ..options
        }
    }

    /// The rows of the lines that a client sends; `None` if it sends nothing.
    fn lines(
        &self,
        session: &Session,
        options: CsvOptions,
        mut reader: ClientReader,
        control: &CopyControl,
    ) -> Result<Option<CsvRows>, Error> {
        let options = self.fitted(options, session);
        let file = tokio::task::block_in_place(|| {
            if reader.is_at_end()? {
                return Ok::<_, Error>(None);
            }
            let columns = Some(self.columns.as_ref());
            let file = CsvFile::from_reader(CLIENT, Box::new(reader), options, columns)?;
            Ok(Some(file))
        })?;
        let rows = file.map(|file| file.read(&self.columns, None, control));
        Ok(rows.transpose()?.map(CsvRows))
    }

    /// Puts the rows into the table, of either storage; gives the reader back.
    async fn take<R>(
        &self,
        session: &Session,
        writer: &mut TableWriteGuard<'_>,
        mut rows: R,
        token: &CancelToken,
    ) -> Result<(u64, R), Error>
    where
        R: Iterator<Item = Result<RecordBatch, CopyError>> + Send + 'static,
    {
        if self.needs_plan() {
            let context = session.statement(writer.snapshot()?, HashMap::default())?;
            return self.insert_from(writer, &context, rows, token).await;
        }
        tokio::task::block_in_place(|| {
            let count = append(writer.transaction()?, self, &mut rows)?;
            Ok((count, rows))
        })
    }

    /// Inserts rows that a thread reads meanwhile; gives the reader back.
    async fn insert_from<R>(
        &self,
        writer: &mut TableWriteGuard<'_>,
        context: &StatementContext,
        rows: R,
        token: &CancelToken,
    ) -> Result<(u64, R), Error>
    where
        R: Iterator<Item = Result<RecordBatch, CopyError>> + Send + 'static,
    {
        let (plan, reading) = read_ahead(rows, &self.columns)?;
        let (name, positions) = (&self.name, &self.positions);
        let inserted = if self.is_row_table {
            dml::insert_plan(writer, name, context, plan, positions, token).await
        } else {
            dml::append_plan(writer, name, context, plan, positions, token).await
        };
        let rows = reading
            .await
            .map_err(|error| Error::new("XX000", error.to_string()))?;
        Ok((inserted?, rows))
    }

    /// Rows of a Parquet file whose columns have the names of the target's.
    fn parquet_rows(&self, path: &Path, control: &CopyControl) -> Result<FileRows, Error> {
        let file = ParquetFile::open(path)?;
        let known = file.schema();
        let position = |field: &FieldRef| {
            let mut names = known.fields().iter().map(|candidate| candidate.name());
            let found = names.position(|name| name.eq_ignore_ascii_case(field.name()));
            found.ok_or_else(|| {
                Error::new(
                    "22P04",
                    format!("\"{}\" has no column \"{}\"", path.display(), field.name()),
                )
                .with_hint("Name the columns that the file has: COPY table (column, …) FROM …")
            })
        };
        let fields = self.columns.fields().iter();
        let projection: Vec<usize> = fields.map(position).collect::<Result<_, Error>>()?;
        Ok(Box::new(file.read(
            Some(&projection),
            threads(),
            control,
        )?))
    }

    /// A batch of the file as one of the table.
    fn table_batch(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let rows = batch.num_rows();
        let column = |(index, field): (usize, &FieldRef)| {
            let mut positions = self.positions.iter();
            match positions.position(|position| *position == index) {
                Some(source) => convert(batch.column(source), field),
                None => Ok(new_null_array(field.data_type(), rows)),
            }
        };
        let columns = self.table_schema.fields().iter().enumerate().map(column);
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        // The appender checks NOT NULL itself and says which row is wrong.
        let fields = self.table_schema.fields().iter();
        let nullable: Vec<_> = fields
            .map(|f| f.as_ref().clone().with_nullable(true))
            .collect();
        let schema = Arc::new(Schema::new(nullable));
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

fn append(
    transaction: &mut Transaction,
    target: &ImportTarget,
    rows: &mut dyn Iterator<Item = Result<RecordBatch, CopyError>>,
) -> Result<u64, Error> {
    if !transaction.lock_to_append(&target.definition)? {
        return Err(dml::changed_meanwhile(&target.name));
    }
    let mut appender = transaction.tables()?.appender(&target.name)?;
    for batch in rows {
        appender.append(&target.table_batch(&batch?)?)?;
    }
    Ok(appender.finish()?)
}

/// A CSV reader that can be asked afterwards what it left out.
struct CsvRows(CsvReader);

impl CsvRows {
    fn notices(&self) -> Vec<String> {
        let skipped = self.0.skipped();
        if skipped.count == 0 {
            return Vec::new();
        }
        let mut notices = vec![format!("{} records were left out", skipped.count)];
        notices.extend(
            skipped
                .first
                .iter()
                .take(NAMED_RECORDS)
                .map(ToString::to_string),
        );
        notices
    }
}

impl Iterator for CsvRows {
    type Item = Result<RecordBatch, CopyError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
