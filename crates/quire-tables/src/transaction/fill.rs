//! Tables and indexes whose trees are built from below.

use std::sync::Arc;

use arrow_array::RecordBatch;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{Isolation, LockWait, TableLockMode, TreeId, TreeReadError};
use quire_kv::progress::StatementWork;

use quire_format::key::KeyCode;

use super::Transaction;
use crate::definition::{IndexDefinition, KeyDefinition, TableDefinition, TreeRecord, TreeRole};
use crate::engine::Engine;
use crate::error::{EngineError, RowWriteError, TransactionError};
use crate::pages::TransactionPages;
use crate::rows::{
    FillContext, RowFill, RowParts, RowScanOptions, RowTable, SAMPLE_BYTES_MAX, ScanRowSource,
    build_index, choose_field_codes, choose_key_codes, columns_without_keys, trained_key_code,
};

/// A table that is filled with so many rows is sampled as by `ANALYZE`.
const SAMPLED_ROWS_MIN: u64 = 1000;

/// Rows that are read together where some are looked at.
const BATCH_ROWS: usize = 8192;

impl Transaction {
    /// Begins to fill a table that is empty: many rows cost much less than one by one. Until the transaction ends others may only
    /// read the table, where they find nothing. `None` when that cannot be: there are
    /// rows, somebody else uses the table or changes its definition, or the isolation of this transaction is to be kept row by row, as it
    /// need not be for tables that this transaction has made.
    ///
    /// `sample` is some of the rows to come, in batches of the table's visible columns: by it is chosen how they are stored.
    ///
    /// # Errors
    /// Pages cannot be read, or the volume takes no writes.
    pub fn begin_fill(
        &mut self,
        table: &RowTable,
        sample: &[RecordBatch],
    ) -> Result<Option<RowFill>, TransactionError> {
        let may_be_whole = self.isolation() == Isolation::ReadCommitted || self.has_made(table);
        if !may_be_whole || !self.is_current(table.parts()) || !self.is_empty(table)? {
            return Ok(None);
        }
        // Nobody is waited for: who has one of both may wait for the other.
        let could_define = self.tables.is_some();
        let (mode, wait) = (TableLockMode::Exclusive, LockWait::Skip);
        let name = &table.definition().name;
        let is_free = self.try_tables(name)? && self.rows.lock_table(table.id(), mode, wait)?;
        // Somebody may have inserted rows before we had the lock.
        if !is_free || !self.is_empty(table)? {
            if !could_define {
                self.tables = None;
            }
            return Ok(None);
        }
        let parts = self.parts_for(table, sample)?;
        let catalog = self.tables()?.catalog_now().clone();
        let pages = Arc::clone(self.tables()?.pages());
        let row_half = self.engine.row_half();
        let context = context(&self.engine, &pages, self.work());
        let fill = RowFill::new(&parts, &context, |role: TreeRole| {
            let tree = parts.trees.iter().find(|tree| tree.role == role);
            row_half.tree_spec(&catalog, tree.ok_or(EngineError::TransactionEnded)?)
        })?;
        Ok(Some(fill))
    }

    /// Whether nobody else knows the table.
    fn has_made(&self, table: &RowTable) -> bool {
        let rows = table.parts().rows;
        self.new_trees
            .iter()
            .any(|tree| TreeId::new(tree.id) == rows)
    }

    /// An empty table as rows like those of the sample are best stored.
    fn parts_for(
        &mut self,
        table: &RowTable,
        sample: &[RecordBatch],
    ) -> Result<Arc<RowParts>, TransactionError> {
        let mut definition = TableDefinition::clone(table.definition());
        choose_field_codes(&mut definition, sample, self.engine.finds_dictionaries());
        choose_key_codes(&mut definition, sample);
        if definition == **table.definition() {
            return Ok(Arc::clone(table.parts()));
        }
        let name = definition.name.clone();
        self.tables()?.redefine_empty(definition)?;
        let parts = self.snapshot().row_parts(&name)?;
        parts.ok_or(TransactionError::TableNotFound(name))
    }

    /// The table has the rows from now on, for this transaction. Returns their number.
    ///
    /// # Errors
    /// Two rows have a key that only one may have; or the pages cannot be written. What the statement has done must then be rolled back.
    pub fn finish_fill(&mut self, fill: RowFill) -> Result<u64, TransactionError> {
        let name = fill.parts().definition.name.clone();
        let tables = self.tables()?;
        tables.truncate_table(&name)?;
        let entry = tables.catalog_now().row_tables.get(&name);
        let trees = entry
            .map(|entry| entry.trees.clone())
            .ok_or_else(|| TransactionError::TableNotFound(name.clone()))?;
        let (filled, row_count) = fill.finish(&trees)?;
        self.add_filled_trees(&filled)?;
        self.add_new_trees()?;
        self.begin_statement();
        if row_count >= SAMPLED_ROWS_MIN {
            // Its pages are at hand, and without samples a join of it may be planned as if every column were a key.
            self.take_sample(&name, None)?;
            self.begin_statement();
        }
        Ok(row_count)
    }

    /// Creates an index and fills it, while others may only read the table.
    ///
    /// # Errors
    /// As [`WriteTransaction::create_index`](super::WriteTransaction::create_index); two rows have a key that only one may have.
    pub fn create_index(
        &mut self,
        table: &str,
        index: IndexDefinition,
    ) -> Result<(), TransactionError> {
        let locked = self.lock_name(table, TableLockMode::Share)?;
        self.lock_definitions()?;
        self.tables()?.check_is_locked(table, locked)?;
        let name = index.key.name.clone();
        let codes = self.key_codes_of(table, &index.key)?;
        let tree = self.tables()?.create_index_with(table, index, codes)?;
        let Some(parts) = self.snapshot().row_parts(table)? else {
            return Err(TransactionError::TableNotFound(table.to_owned()));
        };
        let position = parts
            .indexes
            .iter()
            .position(|known| known.definition.key.name == name);
        if let Some(position) = position {
            let pages = Arc::clone(self.tables()?.pages());
            let catalog = self.tables()?.catalog_now().clone();
            let row_half = self.engine.row_half();
            let spec = row_half.tree_spec(&catalog, &tree)?;
            let context = context(&self.engine, &pages, self.work());
            let target = (&tree, &spec);
            if build_index(&parts, position, &mut self.rows, &context, target)? {
                self.add_filled_trees(&[tree])?;
            }
        }
        self.add_new_trees()?;
        self.begin_statement();
        Ok(())
    }

    /// The codes of the strings of columns that get their first key.
    fn key_codes_of(
        &mut self,
        table: &str,
        key: &KeyDefinition,
    ) -> Result<Vec<(usize, KeyCode)>, TransactionError> {
        let Some(parts) = self.snapshot().row_parts(table)? else {
            return Ok(Vec::new());
        };
        let columns = columns_without_keys(parts.definition(), key);
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let live = parts.layout().live_ordinals();
        let positions = columns
            .iter()
            .filter_map(|column| live.binary_search(column).ok());
        let rows = RowTable::new(Arc::clone(&parts), self.rows.latest_view());
        let scan = rows.scan(&RowScanOptions {
            projection: positions.collect(),
            with_row_key: false,
            source: ScanRowSource::all(),
            direction: Direction::Forward,
            batch_rows: BATCH_ROWS,
        });
        let mut scan = scan.map_err(RowWriteError::from)?;
        let (mut sample, mut bytes) = (Vec::new(), 0);
        while bytes < SAMPLE_BYTES_MAX
            && let Some(batch) = scan.next_batch().map_err(RowWriteError::from)?
        {
            bytes += batch.get_array_memory_size();
            sample.push(batch);
        }
        let code = |(position, ordinal): (usize, &usize)| {
            let column = parts.definition().columns.get(*ordinal)?;
            Some((*ordinal, trained_key_code(column, &sample, position)?))
        };
        Ok(columns.iter().enumerate().filter_map(code).collect())
    }

    /// Makes trees known whose pages are staged.
    fn add_filled_trees(&mut self, trees: &[TreeRecord]) -> Result<(), TransactionError> {
        let catalog = self.tables()?.catalog_now().clone();
        for tree in trees {
            let spec = self.engine.row_half().tree_spec(&catalog, tree)?;
            self.engine.mvcc().add_tree(&spec)?;
            self.filled_trees.push(*tree);
        }
        Ok(())
    }

    /// Whether the table has no rows now.
    fn is_empty(&mut self, table: &RowTable) -> Result<bool, RowWriteError> {
        let view = self.rows.latest_view();
        let first = |view: &quire_kv::mvcc::ReadView| -> Result<bool, TreeReadError> {
            let rows = table.parts().rows;
            let mut scan = view.scan(rows, &[], &[], Direction::Forward)?;
            Ok(scan.next_entry()?.is_none())
        };
        Ok(first(&view)?)
    }
}

/// What a fill is done with.
fn context<'c>(
    engine: &'c Engine,
    pages: &'c Arc<TransactionPages>,
    work: Option<Arc<StatementWork>>,
) -> FillContext<'c> {
    FillContext {
        pool: &engine.row_half().pool,
        pages,
        options: engine.mvcc_options(),
        work,
    }
}
