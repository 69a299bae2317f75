//! `ANALYZE`: what some rows of a row table say of its columns is kept beside them.

use quire_kv::mvcc::{TableLockMode, TreeId};
use quire_kv::progress::{Phase, StatementWork};

use super::Transaction;
use crate::definition::TreeRole;
use crate::error::{RowWriteError, TransactionError};
use crate::rows::column_samples;
use crate::samples;

impl Transaction {
    /// Takes a sample of a row table's rows and keeps what it says of the columns, for estimates.
    ///
    /// # Errors
    /// There is no such row table; its rows cannot be read; the samples cannot be written.
    pub fn analyze(&mut self, table: &str) -> Result<(), TransactionError> {
        let work = self.work();
        if let Some(work) = &work {
            work.begin(Phase::Sampling, Some(table));
        }
        self.take_sample(table, work.as_deref())
    }

    /// The same as a part of something else, which `work` is not told of if it is absent.
    pub(super) fn take_sample(
        &mut self,
        table: &str,
        work: Option<&StatementWork>,
    ) -> Result<(), TransactionError> {
        self.lock_name(table, TableLockMode::AccessShare)?;
        self.begin_statement();
        let Some(rows) = self.snapshot().row_table(table)? else {
            return Err(TransactionError::TableNotFound(table.to_owned()));
        };
        let found = samples::take(&rows, work).map_err(RowWriteError::from)?;
        let known = self.snapshot().samples_tree();
        let tree = match known {
            Some(tree) => tree,
            None => self.define_beside(|tables| tables.shared_tree(TreeRole::Samples))?,
        };
        let tree = TreeId::new(tree.id);
        for (ordinal, sample) in found {
            let key = column_samples::key(rows.id(), ordinal);
            let written = self.rows.put(tree, &key, &sample.encode());
            written.map_err(RowWriteError::from)?;
        }
        Ok(())
    }
}
