//! `CREATE INDEX`

use datafusion::sql::sqlparser::ast::{CreateIndex, IndexType};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::reject::not_supported;
use quire_tables::{IndexDefinition, KeyDefinition, Snapshot, TableStorage};

use super::super::insert::{refuse_clauses, table_name};
use super::change::CatalogChange;
use super::constraints::key_parts;
use super::draft::DefinitionDraft;
use crate::outcome::Outcome;
use crate::session::Session;

/// Creates an index.
pub(in crate::sql) async fn create_index(
    session: &Session,
    create: &CreateIndex,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    check_clauses(create)?;
    let mut change = CatalogChange::begin(session, token).await?;
    let table = table_name(&create.table_name)?;
    if planned(&change.snapshot(), create, &table)?.is_none() {
        return change.finish("CREATE INDEX");
    }
    change.lock_table_for_reading(&table)?;
    if let Some(index) = planned(&change.snapshot(), create, &table)? {
        change.create_index(&table, index)?;
    }
    change.finish("CREATE INDEX")
}

/// The index as the table is now; nothing if it is there, and need not be made.
fn planned(
    snapshot: &Snapshot,
    create: &CreateIndex,
    table: &str,
) -> Result<Option<IndexDefinition>, Error> {
    let Some(definition) = snapshot.definition(table) else {
        return Err(match snapshot.view(table) {
            Some(_) => Error::new("42809", format!("\"{table}\" is not a table")),
            None => Error::unknown_table(table),
        });
    };
    if definition.storage == TableStorage::Column {
        return Err(not_supported("an index on a column table")
            .with_hint("Column tables need none: scans skip zones by their minima and maxima."));
    }
    let parts = key_parts(definition, &create.columns)?;
    let draft = DefinitionDraft::new(snapshot, definition.as_ref().clone());
    let name = match &create.name {
        Some(name) => table_name(name)?,
        None => {
            let places: Vec<usize> = parts.iter().map(|part| part.column).collect();
            draft.name_for(&places, "idx")
        }
    };
    if create.if_not_exists && create.name.is_some() && snapshot.has_name(&name) {
        return Ok(None);
    }
    Ok(Some(IndexDefinition {
        id: 0,
        key: KeyDefinition {
            name,
            columns: parts,
        },
        is_unique: create.unique,
        is_constraint: false,
    }))
}

fn check_clauses(create: &CreateIndex) -> Result<(), Error> {
    if let Some(method) = &create.using
        && !matches!(method, IndexType::BTree)
    {
        return Err(
            not_supported(format!("an index USING {method}")).with_hint("Indexes are B+trees.")
        );
    }
    refuse_clauses(&[
        (create.predicate.is_some(), "a partial index (WHERE)"),
        (!create.include.is_empty(), "INCLUDE in an index"),
        (create.nulls_distinct == Some(false), "NULLS NOT DISTINCT"),
        (
            !create.with.is_empty()
                || !create.index_options.is_empty()
                || !create.alter_options.is_empty(),
            "an option of an index",
        ),
    ])
}
