//! Rows that a write transaction appends to a column table.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::WriteTransaction;
use crate::append::{AppendOptions, TableAppend};
use crate::catalog::{TableEntry, TableState};
use crate::error::{TableAppendError, TransactionError};

/// Appends batches to one table. The rows are part of the transaction once [`Appender::finish`] has returned;
/// an appender that fails or is dropped before leaves a transaction that can only be aborted.
pub struct Appender<'txn> {
    transaction: &'txn mut WriteTransaction,
    entry: Arc<TableEntry>,
    append: TableAppend,
}

impl WriteTransaction {
    /// Starts appending rows to a table.
    ///
    /// # Errors
    /// No such table, or its metadata cannot be read.
    pub fn appender(&mut self, name: &str) -> Result<Appender<'_>, TransactionError> {
        self.appender_with(name, AppendOptions::default())
    }

    /// Starts appending rows to a table.
    ///
    /// # Errors
    /// No such table, or its metadata cannot be read.
    pub fn appender_with(
        &mut self,
        name: &str,
        options: AppendOptions,
    ) -> Result<Appender<'_>, TransactionError> {
        self.check_appends_finished()?;
        self.lock_name(name)?;
        let Some(entry) = self.catalog.tables.get(name).cloned() else {
            return Err(TransactionError::TableNotFound(name.to_owned()));
        };
        let state = entry.state(&self.source)?;
        self.unfinished_append = Some(name.to_owned());
        let (pages, source) = (&self.pages, &self.source);
        let append = TableAppend::new(pages, source, Arc::clone(&entry), state, options);
        Ok(Appender {
            transaction: self,
            entry,
            append,
        })
    }

    /// An append has finished: the table has this state now.
    fn append_finished(&mut self, entry: &TableEntry, state: TableState) {
        let name = &entry.definition.name;
        let entry = entry.with_state(entry.root_pages.clone(), Arc::new(state));
        self.catalog.tables.insert(name.clone(), Arc::new(entry));
        self.changed_tables.insert(name.clone());
        self.unfinished_append = None;
    }

    /// An append has finished without rows.
    fn append_was_empty(&mut self) {
        self.unfinished_append = None;
    }
}

impl Appender<'_> {
    /// Appends the rows of a batch whose columns have the table's Arrow types, in the table's order.
    /// Blocks while all workers are busy.
    ///
    /// CHAR(n) values lose their trailing blanks, VARCHAR(n) values those beyond n characters.
    ///
    /// # Errors
    /// A value that the table cannot hold, with its row and column; or the volume fails.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<(), TableAppendError> {
        self.append.append(batch)
    }

    /// Encodes what is left and adds all row groups to the table, as the transaction sees it.
    /// Returns the number of rows appended.
    ///
    /// # Errors
    /// The volume fails, or a worker did.
    pub fn finish(self) -> Result<u64, TableAppendError> {
        let row_count = self.append.row_count();
        match self.append.finish()? {
            Some(state) => self.transaction.append_finished(&self.entry, state),
            None => self.transaction.append_was_empty(),
        }
        Ok(row_count)
    }
}
