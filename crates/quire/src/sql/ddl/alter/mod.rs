//! `ALTER TABLE`: one operation after the other, each on the definition that the one before it left.

mod columns;
mod constraints;
mod missing;
mod renames;
mod rewrite;
mod rows;

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{AlterTable, AlterTableOperation};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::reject::not_supported;
use quire_tables::{Snapshot, TableDefinition, TableStorage};

use super::super::insert::table_name;
use super::change::CatalogChange;
use super::table_options;
use crate::outcome::Outcome;
use crate::session::Session;

pub(in crate::sql) use renames::alter_index;

/// One statement on one table.
struct Alteration<'s, 't> {
    session: &'s Session,
    change: CatalogChange<'s>,
    /// Name of the table at this moment.
    table: String,
    token: &'t CancelToken,
}

/// What others may do with a table while its rows are written again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    MayRead,
    MayDoNothing,
}

/// Whether to begin again after a failure. Readers are excluded only at the end of a rewrite. One that wants to change the table in the same
/// transaction waits for the rewrite, and that for its end: of such a circle the rewrite gives way, and excludes everybody from its
/// beginning when it is repeated.
fn is_in_a_circle<T>(done: &Result<T, Error>) -> bool {
    matches!(done, Err(error) if error.sqlstate() == "40P01")
}

/// Runs `ALTER TABLE`.
pub(in crate::sql) async fn alter_table(
    session: &Session,
    alter: AlterTable,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let keeps_shape = |operation: &AlterTableOperation| {
        matches!(operation, AlterTableOperation::SetOptionsParens { .. })
    };
    if !alter.operations.iter().all(keeps_shape) {
        return alter_while(session, alter, Others::MayDoNothing, token).await;
    }
    let is_repeatable = !session.transaction.lock().await.is_explicit();
    let altered = alter_while(session, alter.clone(), Others::MayRead, token).await;
    if is_repeatable && is_in_a_circle(&altered) {
        alter_while(session, alter, Others::MayDoNothing, token).await
    } else {
        altered
    }
}

async fn alter_while(
    session: &Session,
    alter: AlterTable,
    others: Others,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    if alter.location.is_some() || alter.on_cluster.is_some() || alter.table_type.is_some() {
        return Err(not_supported("a clause of this ALTER TABLE"));
    }
    let mut change = CatalogChange::begin(session, token).await?;
    let table = table_name(&alter.name)?;
    lock_table(&mut change, &table, others)?;
    let snapshot = change.snapshot();
    let mut alteration = Alteration {
        session,
        change,
        table,
        token,
    };
    let name = &alteration.table;
    if snapshot.definition(name).is_none() {
        if snapshot.view(name).is_some() {
            return alteration.alter_view(&alter.operations);
        }
        if alter.if_exists {
            return alteration.change.finish("ALTER TABLE");
        }
        return Err(Error::unknown_table(name));
    }
    for operation in alter.operations {
        alteration.apply(operation).await?;
    }
    alteration.change.finish("ALTER TABLE")
}

/// Writes the rows of a row table again: without the room that is left in pages, and as its values want to be stored today.
pub(in crate::sql) async fn rewrite_rows(
    session: &Session,
    table: &str,
    token: &CancelToken,
) -> Result<(), Error> {
    let rewritten = rewrite_while(session, table, Others::MayRead, token).await;
    if is_in_a_circle(&rewritten) {
        rewrite_while(session, table, Others::MayDoNothing, token).await
    } else {
        rewritten
    }
}

async fn rewrite_while(
    session: &Session,
    table: &str,
    others: Others,
    token: &CancelToken,
) -> Result<(), Error> {
    let mut change = CatalogChange::begin(session, token).await?;
    lock_table(&mut change, table, others)?;
    let mut alteration = Alteration {
        session,
        change,
        table: table.to_owned(),
        token,
    };
    let definition = TableDefinition::clone(&*alteration.definition()?);
    if definition.storage == TableStorage::Row {
        let values = columns::values_of(&definition);
        alteration.rewrite(definition, &values).await?;
    }
    alteration.change.finish("VACUUM").map(|_| ())
}

fn lock_table(change: &mut CatalogChange<'_>, table: &str, others: Others) -> Result<(), Error> {
    match others {
        Others::MayRead => change.lock_table_for_rewriting(table),
        Others::MayDoNothing => change.lock_table(table),
    }
}

impl Alteration<'_, '_> {
    fn snapshot(&self) -> Snapshot {
        self.change.snapshot()
    }

    fn definition(&self) -> Result<Arc<TableDefinition>, Error> {
        let snapshot = self.snapshot();
        let found = snapshot.definition(&self.table).cloned();
        found.ok_or_else(|| Error::unknown_table(&self.table))
    }

    /// Puts another definition in place; rows stay as they are.
    fn redefine(&mut self, definition: TableDefinition) -> Result<(), Error> {
        self.change.alter_table(&self.table, definition)
    }

    async fn apply(&mut self, operation: AlterTableOperation) -> Result<(), Error> {
        match operation {
            AlterTableOperation::AddColumn {
                if_not_exists,
                column_def,
                column_position: None,
                ..
            } => self.add_column(&column_def, if_not_exists).await,
            AlterTableOperation::DropColumn {
                column_names,
                if_exists,
                drop_behavior,
                ..
            } => {
                let cascade = is_cascade(drop_behavior.as_ref());
                for name in &column_names {
                    self.drop_column(name, if_exists, cascade).await?;
                }
                Ok(())
            }
            AlterTableOperation::RenameColumn {
                old_column_name,
                new_column_name,
            } => self.rename_column(&old_column_name, &new_column_name),
            AlterTableOperation::RenameTable { table_name } => self.rename_table(&table_name),
            AlterTableOperation::RenameConstraint { old_name, new_name } => {
                self.rename_constraint(&old_name, &new_name)
            }
            AlterTableOperation::AlterColumn { column_name, op } => {
                self.alter_column(&column_name, op).await
            }
            AlterTableOperation::AddConstraint {
                constraint,
                not_valid: false,
            } => self.add_constraint(&constraint).await,
            AlterTableOperation::DropConstraint {
                if_exists,
                name,
                drop_behavior,
            } => {
                let cascade = is_cascade(drop_behavior.as_ref());
                self.drop_constraint(&name, if_exists, cascade).await
            }
            AlterTableOperation::SetOptionsParens { options } => {
                let mut definition = TableDefinition::clone(&*self.definition()?);
                let old = definition.options;
                table_options::apply(&mut definition, &options)?;
                if definition.options == old {
                    return Ok(());
                }
                // All pages are encoded anew: those that stayed as they are would keep the old options for as long as nobody changes
                // them.
                let values = columns::values_of(&definition);
                self.rewrite(definition, &values).await
            }
            other => Err(not_supported(format!("ALTER TABLE ... {other}"))),
        }
    }
}

fn is_cascade(behavior: Option<&datafusion::sql::sqlparser::ast::DropBehavior>) -> bool {
    matches!(
        behavior,
        Some(datafusion::sql::sqlparser::ast::DropBehavior::Cascade)
    )
}
