//! `CREATE TABLE`, with columns, as a copy of a definition, or with the rows of a query.

use std::sync::Arc;

use datafusion::arrow::datatypes::Field;
use datafusion::sql::sqlparser::ast::helpers::stmt_create_table::CreateTableBuilder;
use datafusion::sql::sqlparser::ast::{
    CreateTable, CreateTableLikeDefaults, CreateTableLikeKind, Query, SqlOption,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_planner::whole_table::rows_of_column_table;
use quire_sql::names::folded;
use quire_sql::reject::not_supported;
use quire_sql::table_clauses::TableClauses;
use quire_sql::types;
use quire_tables::{
    ColumnDefinition, ColumnSequence, TableDefinition, TableStorage, can_copy_rows,
};
use tokio::task::block_in_place;

use super::super::insert::table_name;
use super::super::{dml, query, write};
use super::change::CatalogChange;
use super::draft::DefinitionDraft;
use super::expressions::ExpressionPlanner;
use super::table_options::{self, TableDefaults};
use crate::outcome::{Completion, Outcome};
use crate::session::Session;

/// Creates an empty table, or one with the rows of a query.
pub(in crate::sql) async fn create_table(
    session: &Arc<Session>,
    create: CreateTable,
    clauses: TableClauses,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    check_clauses(&create)?;
    let name = table_name(&create.name)?;
    let mut change = CatalogChange::begin(session, token).await?;
    let mut is_locked = create.query.is_some();
    let snapshot = loop {
        let snapshot = change.snapshot();
        if snapshot.has_name(&name) {
            if create.if_not_exists {
                return change.finish("CREATE TABLE");
            }
            let text = format!("relation \"{name}\" already exists");
            return Err(Error::new("42P07", text));
        }
        if is_locked {
            break snapshot;
        }
        // Keys refer to other tables; a query is read as any other is.
        change.lock_definitions()?;
        is_locked = true;
    };
    let mut draft = DefinitionDraft::new(&snapshot, TableDefinition::new(name, Vec::new()));
    let defaults = TableDefaults::of(session)?;
    assemble(&mut draft, &create, &clauses, &defaults)?;
    if let Some(query) = create.query {
        let options = table_options::with_options(&create.table_options)?;
        return create_as(session, change, draft.definition, options, query, token).await;
    }
    let expressions = ExpressionPlanner {
        session,
        snapshot: snapshot.clone(),
    };
    check_expressions(&draft, &expressions, token).await?;
    let DefinitionDraft {
        mut definition,
        sequences,
        ..
    } = draft;
    for (place, kind, sequence) in sequences {
        let id = change.define(|tables| tables.create_sequence(sequence))?;
        definition.columns[place].sequence = Some(ColumnSequence { id, kind });
    }
    change.define(|tables| tables.create_table(definition))?;
    change.finish("CREATE TABLE")
}

/// Everything that the statement says, but for its query.
fn assemble(
    draft: &mut DefinitionDraft<'_>,
    create: &CreateTable,
    clauses: &TableClauses,
    defaults: &TableDefaults,
) -> Result<(), Error> {
    if let Some(CreateTableLikeKind::Parenthesized(like) | CreateTableLikeKind::Plain(like)) =
        &create.like
    {
        let source = table_name(&like.name)?;
        let has_defaults = matches!(like.defaults, Some(CreateTableLikeDefaults::Including));
        copy_columns(draft, &source, has_defaults)?;
    }
    for column in &create.columns {
        draft.add_column(column)?;
    }
    draft.set_codecs(&clauses.compression)?;
    draft.add_constraints(&create.constraints)?;
    let options = table_options::with_options(&create.table_options)?;
    table_options::set_storage(&mut draft.definition, clauses, options, defaults)?;
    table_options::apply(&mut draft.definition, options)
}

/// `LIKE`: names, types and NOT NULL; nothing else, except for defaults if they are asked for.
fn copy_columns(
    draft: &mut DefinitionDraft<'_>,
    source: &str,
    has_defaults: bool,
) -> Result<(), Error> {
    let Some(source) = draft.snapshot.definition(source) else {
        return Err(Error::unknown_table(source));
    };
    let columns = source
        .visible_columns()
        .map(|(_, column)| ColumnDefinition {
            nullable: column.nullable,
            compression: column.compression,
            default: column.default.clone().filter(|_| has_defaults),
            ..ColumnDefinition::new(&column.name, column.sql_type)
        });
    draft.definition.columns.extend(columns);
    Ok(())
}

/// Plans the conditions and defaults of a draft.
pub(super) async fn check_expressions(
    draft: &DefinitionDraft<'_>,
    expressions: &ExpressionPlanner<'_>,
    token: &CancelToken,
) -> Result<(), Error> {
    for condition in &draft.conditions {
        expressions
            .check_condition(&draft.definition, condition)
            .await?;
    }
    for (place, default) in &draft.defaults {
        let column = &draft.definition.columns[*place];
        expressions.check_default(column, default, token).await?;
    }
    Ok(())
}

/// What is left of the statement when all that is understood is taken away must be nothing.
fn check_clauses(create: &CreateTable) -> Result<(), Error> {
    if create.temporary {
        return Err(not_supported("a temporary table"));
    }
    let mut understood = CreateTableBuilder::new(create.name.clone())
        .if_not_exists(create.if_not_exists)
        .columns(create.columns.clone())
        .constraints(create.constraints.clone())
        .like(create.like.clone())
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

/// `CREATE TABLE name AS query`
async fn create_as(
    session: &Session,
    mut change: CatalogChange<'_>,
    declared: TableDefinition,
    options: &[SqlOption],
    query: Box<Query>,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    if !declared.columns.is_empty() {
        return Err(not_supported("a column list in CREATE TABLE AS")
            .with_hint("Name the columns in the query with AS."));
    }
    let planned = query::plan(session, change.snapshot(), query, token).await?;
    let column = |field: &Arc<Field>| {
        let sql_type = types::from_arrow(field.name(), field.data_type())?;
        Ok(ColumnDefinition::new(field.name(), sql_type))
    };
    let schema = planned.shown_schema();
    let columns: Result<Vec<_>, Error> = schema.fields().iter().map(column).collect();
    let mut definition = TableDefinition {
        columns: columns?,
        ..declared
    };
    table_options::apply(&mut definition, options)?;
    let name = definition.name.clone();
    let targets: Vec<usize> = (0..definition.columns.len()).collect();
    let (table_schema, storage) = (definition.arrow_schema(), definition.storage);
    let copied = rows_of_column_table(&planned.plan)
        .filter(|(source, columns)| can_copy_rows(&definition, source, columns));
    change.define(|tables| tables.create_table(definition))?;
    token.work().begin(Phase::Loading, Some(&name));
    if storage == TableStorage::Row {
        let (writer, context) = (&mut change.writer, &planned.context);
        let count = dml::insert_plan(writer, &name, context, planned.plan, &targets, token).await?;
        change.writer.finish()?;
        return Ok(Outcome::Done(Completion::counted(
            format!("SELECT {count}"),
            count,
        )));
    }
    let transaction = change.writer.transaction()?;
    let count = match copied {
        Some((source, columns)) => {
            let work = token.work();
            let tables = transaction.tables()?;
            block_in_place(|| tables.copy_rows(&name, &source, &columns, Some(work)))?
        }
        None => {
            let rows = write::as_table_rows(planned.plan, &table_schema, &targets)?;
            let stream = planned.context.start(&rows).await?;
            write::append_stream(transaction, &name, stream, token).await?
        }
    };
    change.writer.finish()?;
    let completion = Completion::counted(format!("SELECT {count}"), count);
    Ok(Outcome::Done(completion))
}

/// The name of a column, folded; for statements that name one column.
pub(super) fn column_place(
    definition: &TableDefinition,
    name: &datafusion::sql::sqlparser::ast::Ident,
) -> Result<usize, Error> {
    let name = folded(name);
    definition.column_index(&name).ok_or_else(|| {
        let table = &definition.name;
        let text = format!("column \"{name}\" of relation \"{table}\" does not exist");
        Error::new("42703", text)
    })
}
