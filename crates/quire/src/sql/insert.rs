//! `INSERT INTO … SELECT` and `INSERT INTO … VALUES`.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{Insert, ObjectName, SetExpr, TableObject};
use quire_engine::{ColumnTable, Snapshot, TableDefinition};

use super::names::last_part;
use super::reject::not_supported;
use super::{dml, query, write};
use crate::cancel::CancelToken;
use crate::error::{Error, closest};
use crate::outcome::{Completion, Outcome};
use crate::progress::Phase;
use crate::session::Session;
use crate::transaction::Writer;

/// Appends all rows or none.
pub(super) async fn run(
    session: &Arc<Session>,
    insert: Insert,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    check(&insert)?;
    let TableObject::TableName(name) = &insert.table else {
        return Err(not_supported("INSERT into a function"));
    };
    let mut writer = Writer::begin(session, token).await?;
    let snapshot = writer.snapshot()?;
    if snapshot.row_table(&table_name(name)?)?.is_some() {
        return dml::insert(session, writer, insert, token).await;
    }
    refuse_row_clauses(&insert)?;
    let Some(mut source) = insert.source else {
        return Err(not_supported(
            "INSERT without VALUES or SELECT into a column table",
        ));
    };
    let table = find_table(&snapshot, name)?;
    let definition = table.definition();
    if let SetExpr::Values(values) = source.body.as_ref() {
        let width = values.rows.first().map_or(0, |row| row.len());
        let targets = target_columns(definition, &insert.columns, width)?;
        dml::replace_defaults(&mut source, definition, &targets)?;
    }
    let planned = query::plan(session, snapshot, source, token).await?;
    let width = planned.plan.schema().fields().len();
    let targets = target_columns(definition, &insert.columns, width)?;
    dml::refuse_generated(definition, targets.iter().copied())?;
    let places = 0..definition.columns.len();
    let defaults = places.map(|place| dml::default_expression(&planned.context, definition, place));
    let defaults = defaults.collect::<Result<Vec<_>, Error>>()?;
    let rows = write::with_defaults(planned.plan, table.arrow_schema(), &targets, &defaults)?;
    let stream = planned.context.start(&rows).await?;
    let reporter = write::Reporter::new(session.observer(), Phase::Loading);
    let transaction = writer.transaction()?;
    let count =
        write::append_stream(transaction, &definition.name, stream, reporter, token).await?;
    writer.finish()?;
    Ok(Outcome::Done(Completion::counted(
        format!("INSERT 0 {count}"),
        count,
    )))
}

/// What only row tables have.
fn refuse_row_clauses(insert: &Insert) -> Result<(), Error> {
    let refused = [
        (insert.on.is_some(), "ON CONFLICT"),
        (insert.returning.is_some(), "RETURNING"),
        (insert.table_alias.is_some(), "an alias in INSERT"),
    ];
    match refused.into_iter().find(|(is_present, _)| *is_present) {
        Some((_, what)) => Err(not_supported(format!("{what} for a column table"))
            .with_hint("Create the table USING row.")),
        None => Ok(()),
    }
}

/// Refuses every clause that would otherwise be read past.
fn check(insert: &Insert) -> Result<(), Error> {
    let refused = [
        (insert.output.is_some(), "OUTPUT"),
        (insert.insert_alias.is_some(), "an alias behind INSERT"),
        (
            insert.or.is_some() || insert.ignore || insert.replace_into,
            "INSERT OR and REPLACE",
        ),
        (
            insert.overwrite || insert.has_table_keyword,
            "INSERT OVERWRITE and INSERT TABLE",
        ),
        (
            insert.partitioned.is_some() || !insert.after_columns.is_empty(),
            "PARTITION in INSERT",
        ),
        (!insert.assignments.is_empty(), "INSERT … SET"),
        (
            insert.settings.is_some() || insert.format_clause.is_some(),
            "SETTINGS and FORMAT in INSERT",
        ),
        (
            insert.multi_table_insert_type.is_some(),
            "INSERT into several tables",
        ),
    ];
    match refused.into_iter().find(|(is_present, _)| *is_present) {
        Some((_, what)) => Err(not_supported(what)),
        None => Ok(()),
    }
}

/// The table called `name`, or an error that suggests another.
pub(super) fn find_table(
    snapshot: &Snapshot,
    name: &ObjectName,
) -> Result<Arc<ColumnTable>, Error> {
    let name = table_name(name)?;
    if let Some(table) = snapshot.table(&name)? {
        return Ok(table);
    }
    Err(no_such_table(snapshot, &name))
}

/// The error for a table that is not there; it suggests another.
pub(super) fn no_such_table(snapshot: &Snapshot, name: &str) -> Error {
    let definitions = snapshot.definitions();
    let known = definitions
        .iter()
        .map(|definition| definition.name.as_str());
    let error = Error::unknown_table(name);
    match closest(name, known) {
        Some(similar) => error.with_hint(format!("Perhaps you meant \"{similar}\".")),
        None => error,
    }
}

/// The plain name of a table; qualifiers other than our own are refused.
pub(super) fn table_name(name: &ObjectName) -> Result<String, Error> {
    let qualifiers = name.0[..name.0.len().saturating_sub(1)]
        .iter()
        .map(|part| part.to_string());
    let qualifier = qualifiers.collect::<Vec<_>>().join(".").to_lowercase();
    if !matches!(qualifier.as_str(), "" | "public" | "quire.public") {
        return Err(
            Error::new("3F000", format!("schema \"{qualifier}\" does not exist"))
                .with_hint("There is one schema, public."),
        );
    }
    last_part(name).ok_or_else(|| Error::new("42602", format!("\"{name}\" is not a table's name")))
}

/// Which table column each source column goes to.
pub(super) fn target_columns(
    definition: &TableDefinition,
    named: &[ObjectName],
    source_width: usize,
) -> Result<Vec<usize>, Error> {
    let names = named.iter().map(|name| {
        last_part(name).ok_or_else(|| Error::new("42602", format!("\"{name}\" is no column name")))
    });
    let targets = if named.is_empty() {
        (0..definition.columns.len().min(source_width)).collect()
    } else {
        positions(definition, &names.collect::<Result<Vec<_>, Error>>()?)?
    };
    if targets.len() != source_width {
        let (more, than) = if source_width > targets.len() {
            ("expressions", "target columns")
        } else {
            ("target columns", "expressions")
        };
        return Err(
            Error::new("42601", format!("INSERT has more {more} than {than}")).with_detail(
                format!("{} columns, {source_width} expressions", targets.len()),
            ),
        );
    }
    Ok(targets)
}

/// The positions of named columns, each of which may be named once.
pub(super) fn positions(
    definition: &TableDefinition,
    names: &[String],
) -> Result<Vec<usize>, Error> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let Some(index) = definition.column_index(name) else {
            let table = &definition.name;
            let text = format!("column \"{name}\" of table \"{table}\" does not exist");
            return Err(Error::new("42703", text));
        };
        if found.contains(&index) {
            return Err(Error::new(
                "42701",
                format!("column \"{name}\" specified more than once"),
            ));
        }
        found.push(index);
    }
    Ok(found)
}
