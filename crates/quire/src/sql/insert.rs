//! `INSERT INTO … SELECT` and `INSERT INTO … VALUES`.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{Insert, ObjectName};
use quire_error::cancel::CancelToken;
use quire_error::{Error, closest};
use quire_sql::names::last_part;
use quire_sql::reject::not_supported;
use quire_tables::{ColumnTable, Snapshot, TableDefinition};

use super::dml;
use crate::outcome::Outcome;
use crate::session::{Session, TableWriteGuard};

/// Inserts all rows or none.
pub(super) async fn run(
    session: &Arc<Session>,
    insert: Insert,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    check(&insert)?;
    let writer = TableWriteGuard::begin(session, token).await?;
    dml::insert(session, writer, insert, token).await
}

/// Refuses every clause that would otherwise be read past.
fn check(insert: &Insert) -> Result<(), Error> {
    refuse_clauses(&[
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
    ])
}

/// Refuses the first clause that is there.
pub(super) fn refuse_clauses(clauses: &[(bool, &str)]) -> Result<(), Error> {
    match clauses.iter().find(|(is_present, _)| *is_present) {
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
    suggest_table(snapshot, name, Error::unknown_table(name))
}

/// The error with a table that may have been meant by `name`, if there is one.
pub(super) fn suggest_table(snapshot: &Snapshot, name: &str, error: Error) -> Error {
    let definitions = snapshot.definitions();
    let known = definitions
        .iter()
        .map(|definition| definition.name.as_str());
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
