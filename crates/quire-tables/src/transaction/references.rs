//! Foreign keys of rows that a transaction has changed, checked in the newest state there is.

use std::sync::Arc;

use quire_kv::mvcc;

use super::whole::in_newest_catalog;
use super::{Transaction, WriteTransaction};
use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::error::RowWriteError;
use crate::rows::{AllRowParts, NewestState, NewestTables, ReferenceChecks, RowParts};

impl Transaction {
    /// Does what foreign keys demand after a statement.
    ///
    /// # Errors
    /// A foreign key is violated; or rows cannot be read, locked or written.
    pub(super) fn check_references(
        &mut self,
        checks: ReferenceChecks,
    ) -> Result<(), RowWriteError> {
        if checks.is_empty() {
            return Ok(());
        }
        let mut newest = NewestRowTables {
            engine: &self.engine,
            own: self.tables.as_ref(),
            looked_at: None,
        };
        checks.finish(&mut newest, &mut self.rows)
    }
}

/// The row tables as they are now. The snapshot of the statement is older: a table may have been filled, truncated or written
/// anew since, and then its rows are in other trees.
struct NewestRowTables<'t> {
    engine: &'t Engine,
    own: Option<&'t WriteTransaction>,
    /// The tables of the committed catalog that was looked at last.
    looked_at: Option<(Arc<Catalog>, AllRowParts)>,
}

impl NewestRowTables<'_> {
    /// The row tables of a committed catalog and of this transaction.
    fn tables_over(&mut self, newest: &Arc<Catalog>) -> Result<AllRowParts, RowWriteError> {
        if let Some((known, tables)) = &self.looked_at
            && Arc::ptr_eq(known, newest)
        {
            return Ok(Arc::clone(tables));
        }
        let half = self.engine.row_half();
        let tables = match self.own {
            Some(own) => half.all_parts(&own.catalog_over(newest))?,
            None => half.all_parts(newest)?,
        };
        self.looked_at = Some((Arc::clone(newest), Arc::clone(&tables)));
        Ok(tables)
    }
}

impl NewestTables for NewestRowTables<'_> {
    fn look(&mut self, rows: &mut mvcc::KvTransaction) -> Result<NewestState, RowWriteError> {
        let (view, snapshot) = self.engine.latest_view_of(rows);
        let tables = self.tables_over(snapshot.shared_catalog())?;
        Ok(NewestState { tables, view })
    }

    fn is_current(&self, table: &RowParts) -> bool {
        in_newest_catalog(self.engine, self.own, |catalog| catalog.has_parts(table))
    }
}
