//! `CREATE TABLE`, `CREATE TABLE AS`, `DROP TABLE`, `TRUNCATE`.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::helpers::stmt_create_table::CreateTableBuilder;
use datafusion::sql::sqlparser::ast::{
    ColumnDef, ColumnOption, CreateTable, CreateTableOptions, ObjectName, Query, SqlOption,
    Truncate,
};
use quire_codec::CodecId;
use quire_engine::{ColumnDefinition, SqlType, TableDefinition};

use super::insert::{find_table, table_name};
use super::names::folded;
use super::reject::not_supported;
use super::table_clauses::TableClauses;
use super::{query, types, write};
use crate::cancel::CancelToken;
use crate::error::Error;
use crate::outcome::{Completion, Outcome};
use crate::progress::Phase;
use crate::session::Session;
use crate::transaction::Writer;

const NEEDS_ROW_TABLES: &str =
    "It must be enforced, and column tables cannot; it arrives with row tables.";

/// Creates an empty table, or one with the rows of a query.
pub(super) async fn create_table(
    session: &Arc<Session>,
    create: CreateTable,
    clauses: TableClauses,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    check_clauses(&create, &clauses)?;
    let name = table_name(&create.name)?;
    let mut writer = Writer::begin(session, token).await?;
    let exists = writer
        .snapshot()?
        .definitions()
        .iter()
        .any(|d| d.name == name);
    if exists && create.if_not_exists {
        writer.finish()?;
        return Ok(Outcome::Done(Completion::tag("CREATE TABLE")));
    }
    let columns = columns_of(&create.columns, &clauses)?;
    let completion = match create.query {
        Some(query) => create_as(session, &mut writer, name, columns, query, token).await?,
        None => {
            writer
                .transaction()?
                .define(|tables| tables.create_table(TableDefinition::new(name, columns)))?;
            Completion::tag("CREATE TABLE")
        }
    };
    writer.finish()?;
    Ok(Outcome::Done(completion))
}

/// What is left of the statement when all that is understood is taken away must be nothing.
fn check_clauses(create: &CreateTable, clauses: &TableClauses) -> Result<(), Error> {
    if !create.constraints.is_empty() {
        let constraint = create.constraints[0].to_string();
        return Err(
            not_supported(format!("the constraint {constraint}")).with_hint(NEEDS_ROW_TABLES)
        );
    }
    match &clauses.using {
        Some((storage, position)) if storage == "row" || storage == "pax" => {
            return Err(not_supported(format!("USING {storage}"))
                .with_hint(
                    "Only column tables are built yet: leave the clause out, or say USING column.",
                )
                .at(*position));
        }
        Some((storage, position)) if storage != "column" => {
            return Err(Error::new(
                "42704",
                format!("storage model \"{storage}\" does not exist"),
            )
            .with_hint("Say USING column.")
            .at(*position));
        }
        _ => {}
    }
    check_options(&create.table_options)?;
    let mut understood = CreateTableBuilder::new(create.name.clone())
        .if_not_exists(create.if_not_exists)
        .columns(create.columns.clone())
        .query(create.query.clone())
        .build();
    understood.table_options = create.table_options.clone();
    understood.hive_distribution = create.hive_distribution.clone();
    understood.hive_formats = create.hive_formats.clone();
    if &understood != create {
        return Err(not_supported("a clause of this CREATE TABLE")
            .with_detail(format!("Understood is only: {understood}")));
    }
    Ok(())
}

/// `WITH (compression = auto)` says what is so anyway; other options have no effect here and are
/// refused.
fn check_options(options: &CreateTableOptions) -> Result<(), Error> {
    let options: &[SqlOption] = match options {
        CreateTableOptions::None => return Ok(()),
        CreateTableOptions::With(options) => options,
        _ => return Err(not_supported("this form of table options")),
    };
    for option in options {
        let SqlOption::KeyValue { key, value } = option else {
            return Err(not_supported(format!("table option {option}")));
        };
        let value = value.to_string();
        let is_auto = value.trim_matches('\'').eq_ignore_ascii_case("auto");
        if folded(key) != "compression" || !is_auto {
            return Err(not_supported(format!("table option {option}"))
                .with_hint("To choose a codec, write COMPRESSION codec after a column's type."));
        }
    }
    Ok(())
}

fn columns_of(
    spelled: &[ColumnDef],
    clauses: &TableClauses,
) -> Result<Vec<ColumnDefinition>, Error> {
    let mut columns = spelled
        .iter()
        .map(column_of)
        .collect::<Result<Vec<_>, Error>>()?;
    for (index, codec, position) in &clauses.compression {
        let known = CodecId::from_name(codec);
        let (Some(column), Some(codec)) = (columns.get_mut(*index), known) else {
            let names: Vec<_> = CodecId::ALL.iter().map(|codec| codec.name()).collect();
            return Err(
                Error::new("42704", format!("codec \"{codec}\" does not exist"))
                    .with_hint(format!("Codecs are {}.", names.join(", ")))
                    .at(*position),
            );
        };
        column.compression = Some(codec);
    }
    Ok(columns)
}

fn column_of(spelled: &ColumnDef) -> Result<ColumnDefinition, Error> {
    let name = folded(&spelled.name);
    let Some(sql_type) = types::from_spelling(&spelled.data_type)? else {
        return Err(not_supported(format!("type {} (column \"{name}\")", spelled.data_type))
            .with_hint(
                "Types are BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, DECIMAL(p,s), \
                 DATE, TIMESTAMP, TIMESTAMPTZ, TEXT, VARCHAR(n), CHAR(n) and BYTEA.",
            ));
    };
    let mut nullable = true;
    for option in &spelled.options {
        match &option.option {
            ColumnOption::Null => {}
            ColumnOption::NotNull => nullable = false,
            other => {
                let hint = match other {
                    ColumnOption::Default(_) => "Columns without a value are NULL.",
                    _ => NEEDS_ROW_TABLES,
                };
                let what = format!("{other} (column \"{name}\")");
                return Err(not_supported(what).with_hint(hint));
            }
        }
    }
    Ok(ColumnDefinition {
        nullable,
        ..ColumnDefinition::new(name, sql_type)
    })
}

/// `CREATE TABLE name [(column, …)] AS query`
async fn create_as(
    session: &Session,
    writer: &mut Writer<'_>,
    name: String,
    declared: Vec<ColumnDefinition>,
    query: Box<Query>,
    token: &CancelToken,
) -> Result<Completion, Error> {
    if !declared.is_empty() {
        return Err(not_supported("a column list in CREATE TABLE AS")
            .with_hint("Name the columns in the query with AS."));
    }
    let planned = query::plan(session, writer.snapshot()?, query, token).await?;
    let schema = planned.shown_schema();
    let column = |field: &Arc<datafusion::arrow::datatypes::Field>| {
        let sql_type: SqlType = types::from_arrow(field.name(), field.data_type())?;
        let name = field.name().clone();
        Ok(ColumnDefinition::new(name, sql_type))
    };
    let columns = schema
        .fields()
        .iter()
        .map(column)
        .collect::<Result<Vec<_>, Error>>()?;
    let targets: Vec<usize> = (0..columns.len()).collect();
    let definition = TableDefinition::new(name.clone(), columns);
    let table_schema = definition.arrow_schema();
    writer
        .transaction()?
        .define(|tables| tables.create_table(definition))?;
    let rows = write::as_table_rows(planned.plan, &table_schema, &targets)?;
    let stream = planned.context.start(&rows).await?;
    let reporter = write::Reporter::new(session.observer(), Phase::Loading);
    let transaction = writer.transaction()?;
    let count = write::append_stream(transaction, &name, stream, reporter, token).await?;
    Ok(Completion::counted(format!("SELECT {count}"), count))
}

/// Drops all of the tables or none.
pub(super) async fn drop_tables(
    session: &Session,
    names: &[ObjectName],
    if_exists: bool,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let mut writer = Writer::begin(session, token).await?;
    for name in names {
        let snapshot = writer.snapshot()?;
        let table = table_name(name)?;
        let exists = snapshot
            .definitions()
            .iter()
            .any(|definition| definition.name == table);
        if !exists && if_exists {
            continue;
        }
        if snapshot.definition(&table).is_none() {
            find_table(&snapshot, name)?;
        }
        let transaction = writer.transaction()?;
        tokio::task::block_in_place(|| transaction.drop_table(&table))?;
    }
    writer.finish()?;
    Ok(Outcome::Done(Completion::tag("DROP TABLE")))
}

/// Empties tables by putting empty ones in their place.
pub(super) async fn truncate(
    session: &Session,
    truncate: &Truncate,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    if truncate.partitions.is_some() || truncate.on_cluster.is_some() {
        return Err(not_supported("PARTITION or ON CLUSTER in TRUNCATE"));
    }
    let mut writer = Writer::begin(session, token).await?;
    for target in &truncate.table_names {
        let name = table_name(&target.name)?;
        let snapshot = writer.snapshot()?;
        if snapshot.definition(&name).is_none() {
            if truncate.if_exists {
                continue;
            }
            return Err(Error::unknown_table(&name));
        }
        let transaction = writer.transaction()?;
        tokio::task::block_in_place(|| transaction.truncate_table(&name))?;
    }
    writer.finish()?;
    Ok(Outcome::Done(Completion::tag("TRUNCATE TABLE")))
}
