//! Samples of what is advised on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::SchemaRef;
use quire_advisor::{
    DemandedCodecs, SampleColumn, SampleDrawing, SampleOrigin, SampledTable, StorageChoice,
    WholeRowCount,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_files::CopyControl;
use quire_sources::SourceDatabase;
use quire_sources::definition::{SourceRowCount, SourceTableKind, SourceTableName};
use quire_sql::advise_statement::AdviceSubject;
use quire_sql::names::quoted;
use quire_sql::parse::parse_query;
use quire_sql::types::from_arrow;
use quire_tables::{Snapshot, SqlType, TableDefinition, TableStorage};

use super::super::insert::{no_such_table, table_name};
use super::super::load::of_source;
use super::super::query;
use super::options::AdviceOptions;
use super::pieces::{EvenPieces, PIECE_ROWS};
use crate::planning::next_of;
use crate::roles::check_files;
use crate::session::Session;

/// Pieces that are asked of another database.
const SOURCE_PIECES: usize = 24;

/// A table with its sample.
pub(super) struct AdvisedTable {
    pub(super) name: String,
    pub(super) sample: SampledTable,
}

/// The tables that are meant, each with a sample.
pub(super) async fn tables_of(
    session: &Arc<Session>,
    subject: &AdviceSubject,
    options: &AdviceOptions,
    token: &CancelToken,
) -> Result<Vec<AdvisedTable>, Error> {
    let snapshot = session.snapshot().await?;
    let time = options.sampling_time();
    match subject {
        AdviceSubject::Table(name) => {
            let name = table_name(name)?;
            let definition = snapshot.definition(&name).cloned();
            let definition = definition.ok_or_else(|| no_such_table(&snapshot, &name))?;
            let table = stored_table(session, &snapshot, &definition, time, token).await?;
            Ok(vec![table])
        }
        AdviceSubject::Database => {
            let definitions = snapshot.definitions();
            let each = time / u32::try_from(definitions.len().max(1)).unwrap_or(u32::MAX);
            let mut tables = Vec::new();
            for definition in definitions.iter() {
                tables.push(stored_table(session, &snapshot, definition, each, token).await?);
            }
            Ok(tables)
        }
        AdviceSubject::Source(location) => {
            check_files(session)?;
            if SourceDatabase::recognizes(location) {
                let control = CopyControl::default().with_cancel_flag(token.flag());
                return tokio::task::block_in_place(|| other_database(location, &control));
            }
            Ok(vec![file(session, location, time, token).await?])
        }
    }
}

/// Rows of a stream.
struct DrawnRows {
    schema: SchemaRef,
    pieces: Vec<RecordBatch>,
    /// Rows that were read.
    read_rows: u64,
    /// Whether the stream was read to its end.
    has_ended: bool,
    /// Whether the pieces are all rows that were read.
    is_whole: bool,
}

/// Reads rows of a query for so long, and keeps pieces of them.
async fn drawn(
    session: &Arc<Session>,
    snapshot: &Snapshot,
    sql: &str,
    time: Duration,
    token: &CancelToken,
) -> Result<DrawnRows, Error> {
    let until = Instant::now() + time;
    let mut planned = query::plan(session, snapshot.clone(), parse_query(sql)?, token).await?;
    // Rows that are neighbours stay so.
    planned.context.use_one_partition();
    let schema = planned.shown_schema();
    let mut stream = planned.context.start(&planned.plan).await?;
    let mut even = EvenPieces::new();
    let mut has_ended = false;
    while Instant::now() < until || even.row_count() == 0 {
        match next_of(&mut stream, token).await? {
            Some(batch) => even.add(&batch)?,
            None => {
                has_ended = true;
                break;
            }
        }
    }
    let read_rows = even.row_count();
    let (pieces, is_whole) = even.finish()?;
    Ok(DrawnRows {
        schema,
        pieces,
        read_rows,
        has_ended,
        is_whole: is_whole && has_ended,
    })
}

/// A table of the database.
async fn stored_table(
    session: &Arc<Session>,
    snapshot: &Snapshot,
    definition: &TableDefinition,
    time: Duration,
    token: &CancelToken,
) -> Result<AdvisedTable, Error> {
    let name = definition.name.clone();
    let sql = format!("SELECT * FROM {}", quoted(&name));
    let drawn = drawn(session, snapshot, &sql, time, token).await?;
    let live: Vec<_> = definition
        .columns
        .iter()
        .filter(|one| !one.is_dropped)
        .collect();
    let columns: Vec<SampleColumn> = live
        .iter()
        .map(|column| SampleColumn {
            name: column.name.clone(),
            sql_type: column.sql_type,
            is_nullable: column.nullable,
        })
        .collect();
    let whole_rows = match drawn.has_ended {
        true => WholeRowCount::Exact(drawn.read_rows),
        false => WholeRowCount::Estimated {
            rows: stored_rows(snapshot, &name)?.max(drawn.read_rows),
            source: "what the table knows of itself".to_owned(),
        },
    };
    let place = |ordinal: usize| {
        let before = definition.columns.iter().take(ordinal);
        before.filter(|one| !one.is_dropped).count()
    };
    let key = definition.primary_key.iter();
    let key = key.flat_map(|key| key.columns.iter().map(|part| place(part.column)));
    let origin = SampleOrigin::Table {
        current: current_choice(definition),
        needs_rows: needs_rows(definition),
    };
    let sample = SampledTable {
        primary_key: key.collect(),
        pieces: fitted(&drawn.pieces, &columns)?,
        name: name.clone(),
        columns,
        whole_rows,
        drawing: drawing(drawn.is_whole),
        origin,
    };
    Ok(AdvisedTable { name, sample })
}

fn drawing(is_whole: bool) -> SampleDrawing {
    if is_whole {
        SampleDrawing::Whole
    } else {
        SampleDrawing::Pieces
    }
}

fn stored_rows(snapshot: &Snapshot, name: &str) -> Result<u64, Error> {
    if let Some(table) = snapshot.row_table(name)? {
        return Ok(table.row_count_estimate()?);
    }
    match snapshot.table(name)? {
        Some(table) => Ok(table.row_count_estimate()?),
        None => Ok(0),
    }
}

/// How the table is kept now.
fn current_choice(definition: &TableDefinition) -> StorageChoice {
    match (definition.storage, definition.options.block_bytes) {
        (TableStorage::Row, _) => StorageChoice::rows(definition.options),
        (TableStorage::Column, Some(block_bytes)) => StorageChoice::blocks(block_bytes),
        (TableStorage::Column, None) => StorageChoice::columns(DemandedCodecs::Chosen),
    }
}

/// What only row tables have.
fn needs_rows(definition: &TableDefinition) -> bool {
    definition.primary_key.is_some()
        || !definition.indexes.is_empty()
        || !definition.checks.is_empty()
        || !definition.foreign_keys.is_empty()
        || definition
            .columns
            .iter()
            .any(|column| column.sequence.is_some())
}

/// The rows in the types of the columns; a query may give texts of another Arrow type.
fn fitted(pieces: &[RecordBatch], columns: &[SampleColumn]) -> Result<Vec<RecordBatch>, Error> {
    let types: Vec<SqlType> = columns.iter().map(|column| column.sql_type).collect();
    let pieces = pieces.iter().map(|piece| {
        let arrays = piece.columns().iter().zip(&types);
        let named = columns.iter().map(|column| column.name.as_str());
        let arrays = arrays.map(|(array, kind)| Ok(cast(array, &kind.arrow_type())?));
        let arrays = arrays.collect::<Result<Vec<_>, Error>>()?;
        let batch = RecordBatch::try_from_iter_with_nullable(
            named.zip(arrays).map(|(name, array)| (name, array, true)),
        );
        Ok(batch?)
    });
    pieces.collect()
}

fn columns_of(schema: &SchemaRef) -> Result<Vec<SampleColumn>, Error> {
    let columns = schema.fields().iter().map(|field| {
        Ok(SampleColumn {
            name: field.name().clone(),
            sql_type: from_arrow(field.name(), field.data_type())?,
            is_nullable: true,
        })
    });
    columns.collect()
}

/// A CSV or Parquet file, which would become a table of the name of the file.
async fn file(
    session: &Arc<Session>,
    location: &str,
    time: Duration,
    token: &CancelToken,
) -> Result<AdvisedTable, Error> {
    let snapshot = session.snapshot().await?;
    let sql = format!("SELECT * FROM '{}'", location.replace('\'', "''"));
    let drawn = drawn(session, &snapshot, &sql, time, token).await?;
    let columns = columns_of(&drawn.schema)?;
    let whole_rows = match drawn.has_ended {
        true => WholeRowCount::Exact(drawn.read_rows),
        false => file_rows(location, &drawn),
    };
    let stem = std::path::Path::new(location).file_stem();
    let name = stem.map_or_else(
        || location.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let sample = SampledTable {
        name: name.clone(),
        pieces: fitted(&drawn.pieces, &columns)?,
        columns,
        whole_rows,
        primary_key: Vec::new(),
        drawing: drawing(drawn.is_whole),
        origin: SampleOrigin::File {
            path: location.to_owned(),
        },
    };
    Ok(AdvisedTable { name, sample })
}

/// About how many rows a file has that was read in part.
fn file_rows(location: &str, drawn: &DrawnRows) -> WholeRowCount {
    let file_bytes = std::fs::metadata(location).map_or(0, |file| file.len());
    let bytes = drawn.pieces.iter().map(RecordBatch::get_array_memory_size);
    let kept_rows: usize = drawn.pieces.iter().map(RecordBatch::num_rows).sum();
    let row_bytes = bytes.sum::<usize>() as f64 / kept_rows.max(1) as f64;
    let rows = file_bytes as f64 / row_bytes.max(1.0);
    WholeRowCount::Estimated {
        rows: (rows as u64).max(drawn.read_rows),
        source: "the length of the file and of the rows that were read".to_owned(),
    }
}

/// All tables of another database.
fn other_database(location: &str, control: &CopyControl) -> Result<Vec<AdvisedTable>, Error> {
    let database = SourceDatabase::open(location).map_err(of_source)?;
    let tables = database.tables().map_err(of_source)?;
    let stored = tables
        .iter()
        .filter(|table| table.kind == SourceTableKind::Table);
    let tables = stored.map(|table| table_of_source(&database, location, &table.name, control));
    tables.collect()
}

fn table_of_source(
    database: &SourceDatabase,
    location: &str,
    table: &SourceTableName,
    control: &CopyControl,
) -> Result<AdvisedTable, Error> {
    let definition = database.definition(table, control).map_err(of_source)?;
    let drawn = database.sample(table, SOURCE_PIECES, PIECE_ROWS, control);
    let drawn = drawn.map_err(of_source)?;
    let sampled: usize = drawn.pieces.iter().map(RecordBatch::num_rows).sum();
    let sampled = sampled as u64;
    let mut columns = columns_of(&drawn.schema)?;
    for (column, known) in columns.iter_mut().zip(&definition.columns) {
        column.is_nullable = known.is_nullable;
    }
    let whole_rows = match drawn.row_count {
        SourceRowCount::Exact(rows) => WholeRowCount::Exact(rows),
        SourceRowCount::Estimated(rows) => WholeRowCount::Estimated {
            rows: rows.max(sampled),
            source: "what the other database knows of its table".to_owned(),
        },
        SourceRowCount::Unknown => WholeRowCount::Estimated {
            rows: sampled,
            source: "the rows of the sample, as nothing else is known".to_owned(),
        },
    };
    let place = |name: &String| columns.iter().position(|column| column.name == *name);
    let primary_key = definition.primary_key.iter().filter_map(place).collect();
    let name = table.to_string();
    let sample = SampledTable {
        name: table.name.clone(),
        pieces: fitted(&drawn.pieces, &columns)?,
        drawing: drawing(whole_rows.rows() == sampled),
        whole_rows,
        primary_key,
        columns,
        origin: SampleOrigin::File {
            path: location.to_owned(),
        },
    };
    Ok(AdvisedTable { name, sample })
}
