//! What the rows of a table must satisfy before a definition can say so.

use datafusion::sql::sqlparser::ast::Ident;
use quire_error::Error;
use quire_tables::{ForeignKeyDefinition, TableDefinition};

use super::Alteration;
use crate::session::next_of;

/// A name as SQL needs it.
pub(super) fn quoted(name: &str) -> String {
    Ident::with_quote('"', name).to_string()
}

impl Alteration<'_, '_> {
    /// Whether a query of ours has a row.
    pub(super) async fn has_row(&mut self, sql: &str) -> Result<bool, Error> {
        self.change.refuse_older_rows(&self.table)?;
        let planned = self.planned(sql).await?;
        let mut stream = planned.context.start(&planned.plan).await?;
        while let Some(batch) = next_of(&mut stream, self.token).await? {
            if batch.num_rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// No row may have NULL in the column.
    pub(super) async fn check_no_null(&mut self, column: &str) -> Result<(), Error> {
        let (table, quoted_column) = (quoted(&self.table), quoted(column));
        let sql = format!("SELECT 1 FROM {table} WHERE {quoted_column} IS NULL LIMIT 1");
        if self.has_row(&sql).await? {
            let table = &self.table;
            let text = format!("column \"{column}\" of relation \"{table}\" contains null values");
            Err(Error::new("23502", text))
        } else {
            Ok(())
        }
    }

    /// No row may fail a condition.
    pub(super) async fn check_condition_holds(
        &mut self,
        name: &str,
        condition: &str,
    ) -> Result<(), Error> {
        let table = quoted(&self.table);
        let sql = format!("SELECT 1 FROM {table} WHERE NOT ({condition}) LIMIT 1");
        if self.has_row(&sql).await? {
            let table = &self.table;
            let text = format!(
                "check constraint \"{name}\" of relation \"{table}\" is violated by some row"
            );
            Err(Error::new("23514", text))
        } else {
            Ok(())
        }
    }

    /// Every row refers to one that is there, or has NULL.
    pub(super) async fn check_references(
        &mut self,
        definition: &TableDefinition,
        key: &ForeignKeyDefinition,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let Some(referenced) = snapshot.definition(&key.referenced_table) else {
            return Err(Error::unknown_table(&key.referenced_table));
        };
        let mut known = Vec::new();
        let mut equal = Vec::new();
        for (&own, &other) in key.columns.iter().zip(&key.referenced_columns) {
            let own = quoted(&definition.columns[own].name);
            let other = quoted(&referenced.columns[other].name);
            known.push(format!("referring.{own} IS NOT NULL"));
            equal.push(format!("referred.{other} = referring.{own}"));
        }
        let sql = format!(
            "SELECT 1 FROM {} AS referring WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS referred WHERE {}) LIMIT 1",
            quoted(&self.table),
            known.join(" AND "),
            quoted(&key.referenced_table),
            equal.join(" AND "),
        );
        if self.has_row(&sql).await? {
            let text = format!(
                "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
                self.table, key.name
            );
            Err(Error::new("23503", text).with_detail(format!(
                "Key is not present in table \"{}\".",
                key.referenced_table
            )))
        } else {
            Ok(())
        }
    }
}
