//! A transaction over everything: rows of row tables, and definitions and column tables.
//!
//! Rows are changed by [`quire_kv::mvcc`], definitions and row groups by a [`WriteTransaction`], which this one has when it first needs it. Any
//! number of transactions may have such halves that write row groups of different tables; one that changes definitions is alone. The commit of both is one batch of
//! the volume: pages, catalog, and the page of the log with the redo of the rows.

use std::collections::HashSet;
use std::sync::Arc;

use quire_kv::mvcc::{
    self, DefinitionLock, Isolation, LockWait, ReadView, RowLockMode, Synchronous, TableLockMode,
    TransactionOptions, TreeId,
};
use quire_kv::progress::StatementWork;
use quire_store::{Durability, WriteBatch};

use super::{TablesPoint, WriteTransaction};
use crate::catalog::Catalog;
use crate::column_reads::ColumnReads;
use crate::definition::{TableDefinition, TreeRecord};
use crate::engine::Engine;
use crate::error::{EngineError, RowWriteError, TransactionCommitError, TransactionError};
use crate::rows::{RowMemory, RowParts, TableRowWriter};
use crate::snapshot::Snapshot;
use crate::table::ColumnTable;

/// A transaction. Dropping it rolls it back. What a statement reads is fixed by [`Transaction::begin_statement`].
pub struct Transaction {
    pub(super) engine: Engine,
    pub(super) rows: mvcc::KvTransaction,
    pub(super) tables: Option<WriteTransaction>,
    /// Trees that this transaction has made; they go when it is rolled back.
    pub(super) new_trees: Vec<TreeRecord>,
    /// Trees whose pages were staged, which are freed with all that was when it is rolled back.
    pub(super) filled_trees: Vec<TreeRecord>,
    /// What the current statement reads. Nothing at first, if that reads newest rows only, and once the transaction is being committed.
    seen: Option<StatementSnapshot>,
    /// Column tables that it has read; only at SERIALIZABLE.
    column_reads: Arc<ColumnReads>,
    made: RowMemory,
}

/// What a statement sees.
struct StatementSnapshot {
    view: ReadView,
    /// The same rows with the catalog of the statement, which counts unless the transaction has one of its own.
    snapshot: Snapshot,
}

/// A point of a transaction to go back to.
#[derive(Clone)]
pub struct Savepoint {
    rows: mvcc::KvSavepoint,
    /// What was defined then, if the transaction had defined something.
    tables: Option<TablesPoint>,
}

impl Transaction {
    /// One whose first statement is still to begin.
    pub(crate) fn new(engine: &Engine, options: TransactionOptions) -> Self {
        Self {
            engine: engine.clone(),
            rows: engine.mvcc().begin(options),
            tables: None,
            new_trees: Vec::new(),
            filled_trees: Vec::new(),
            seen: None,
            column_reads: Arc::default(),
            made: RowMemory::default(),
        }
    }

    /// A statement begins: it sees what the transaction has changed up to now, and of others, at READ COMMITTED, what
    /// is committed now.
    pub fn begin_statement(&mut self) {
        // Otherwise the changes of every statement would be kept apart.
        self.forget_changes();
        let (mut view, mut snapshot) = self.engine.view_of(&mut self.rows);
        if let Some(tables) = &mut self.tables
            && tables.follows()
        {
            // Where both do not go together, what this transaction has defined keeps it from being committed.
            let _ = tables.rebase_on(&snapshot);
        }
        if let Some(older) = &self.seen
            && self.rows.options().isolation != Isolation::ReadCommitted
        {
            view.keep_trees_of(&older.view);
            let half = self.engine.row_half();
            snapshot = older.snapshot.with_rows(half, view.clone());
        }
        self.seen = Some(StatementSnapshot { view, snapshot });
    }

    fn forget_changes(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.view.forget_changes();
            seen.snapshot.forget_changes();
        }
    }

    /// A statement begins that reads nothing but the newest state of rows that it locks. At READ COMMITTED it is spared a view: the first
    /// one has none, and later that of the statement before stays, without what the transaction has changed, as long as nobody has
    /// committed anything since.
    pub fn begin_newest(&mut self) {
        let is_spared = self.tables.is_none()
            && self.rows.options().isolation == Isolation::ReadCommitted
            && self.seen.as_ref().is_none_or(|seen| {
                let is_newest = |newest: &Catalog| seen.snapshot.has_catalog(newest);
                seen.view.is_newest() && self.engine.with_newest_catalog(is_newest)
            });
        if is_spared {
            // Otherwise the changes of every statement would be kept apart.
            self.forget_changes();
        } else {
            self.begin_statement();
        }
    }

    /// What the current statement sees; what is committed now, if it reads newest rows only.
    pub fn snapshot(&self) -> Snapshot {
        let snapshot = match (&self.tables, &self.seen) {
            (Some(tables), Some(seen)) => tables
                .snapshot()
                .with_rows(self.engine.row_half(), seen.view.clone()),
            (None, Some(seen)) => seen.snapshot.clone(),
            (_, None) => self.engine.snapshot(),
        };
        match self.isolation() {
            Isolation::Serializable => snapshot.noting(&self.column_reads),
            _ => snapshot,
        }
    }

    /// Whether nothing has been committed since its statement began to see rows.
    pub fn sees_newest_rows(&self) -> bool {
        let seen = self.seen.as_ref();
        seen.is_some_and(|seen| seen.view.is_newest())
    }

    /// What it sees of others.
    pub fn isolation(&self) -> Isolation {
        self.rows.options().isolation
    }

    /// How it waits for locks and when it is durable; may be changed at any time.
    pub fn options_mut(&mut self) -> &mut TransactionOptions {
        self.rows.options_mut()
    }

    /// Where long work is counted.
    pub(crate) fn work(&self) -> Option<Arc<StatementWork>> {
        self.rows.options().work.clone()
    }

    /// Locks a table or view by its id.
    ///
    /// # Errors
    /// See [`mvcc::LockError`].
    pub fn lock_table(
        &mut self,
        id: u64,
        mode: TableLockMode,
        wait: LockWait,
    ) -> Result<bool, mvcc::LockError> {
        self.rows.lock_table(id, mode, wait)
    }

    /// The half that writes row groups of tables, beside those of other transactions. For definitions use [`Transaction::define`].
    ///
    /// # Errors
    /// See [`mvcc::LockError`]; or the volume takes no writes.
    pub fn tables(&mut self) -> Result<&mut WriteTransaction, TransactionError> {
        if self.tables.is_none() {
            self.begin_tables(RowLockMode::Share, LockWait::Wait)?;
        }
        let tables = self.tables.as_mut();
        let tables = tables.ok_or(EngineError::TransactionEnded)?;
        tables.wait_as(self.rows.options());
        Ok(tables)
    }

    /// The same without waiting, for who changes the table of that name; says whether there is such a half now, and has the table.
    pub(crate) fn try_tables(&mut self, name: &str) -> Result<bool, TransactionError> {
        if self.tables.is_none() {
            self.begin_tables(RowLockMode::Share, LockWait::Skip)?;
        }
        match &mut self.tables {
            Some(tables) => tables.try_lock_name(name),
            None => Ok(false),
        }
    }

    fn begin_tables(&mut self, mode: RowLockMode, wait: LockWait) -> Result<(), TransactionError> {
        let mut locks = self.rows.definition_locks();
        if locks.take_all(mode, wait)? != DefinitionLock::Skipped {
            let seen = self.seen.as_ref();
            let is_fixed = self.isolation() != Isolation::ReadCommitted;
            let fixed = seen.filter(|_| is_fixed).map(|seen| &seen.snapshot);
            self.tables = Some(self.engine.begin_in(locks, fixed)?);
        }
        Ok(())
    }

    /// Has all definitions for this transaction alone, from now until it ends.
    pub(super) fn lock_definitions(&mut self) -> Result<(), TransactionError> {
        match &mut self.tables {
            Some(tables) => {
                tables.wait_as(self.rows.options());
                tables.lock_all()
            }
            None => self.begin_tables(RowLockMode::Exclusive, LockWait::Wait),
        }
    }

    /// Whether it has changed definitions. Its snapshots still have the schema version from before.
    pub fn has_changed_definitions(&self) -> bool {
        let tables = self.tables.as_ref();
        tables.is_some_and(WriteTransaction::has_changed_definitions)
    }

    /// Changes definitions, alone. Statements of this transaction see them at once.
    ///
    /// # Errors
    /// Those of `change`; the volume takes no writes; a tree cannot be made.
    pub fn define<R>(
        &mut self,
        change: impl FnOnce(&mut WriteTransaction) -> Result<R, TransactionError>,
    ) -> Result<R, TransactionError> {
        self.lock_definitions()?;
        self.define_beside(change)
    }

    /// Gives tables other trees or row groups, which others see as definitions do. `change` locks the names of these tables.
    pub(crate) fn define_beside<R>(
        &mut self,
        change: impl FnOnce(&mut WriteTransaction) -> Result<R, TransactionError>,
    ) -> Result<R, TransactionError> {
        let changed = change(self.tables()?)?;
        self.add_new_trees()?;
        self.begin_statement();
        Ok(changed)
    }

    /// Changes the definition of a table, once nobody else uses it.
    fn define_locked<R>(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut WriteTransaction) -> Result<R, TransactionError>,
    ) -> Result<R, TransactionError> {
        let locked = self.lock_name(name, TableLockMode::AccessExclusive)?;
        self.define(|tables| {
            tables.check_is_locked(name, locked)?;
            change(tables)
        })
    }

    /// Makes trees known that the definitions have now. Their pages may reach the file before the commit, so the file says that
    /// something is under way.
    pub(super) fn add_new_trees(&mut self) -> Result<(), TransactionError> {
        let catalog = self.tables()?.catalog_now().clone();
        let committed = Arc::clone(self.tables()?.base());
        let committed: HashSet<u64> = committed.live_trees().map(|tree| tree.id).collect();
        let live: Vec<TreeRecord> = catalog.live_trees().copied().collect();
        for tree in live {
            let known = [&self.new_trees, &self.filled_trees];
            if committed.contains(&tree.id) || known.iter().any(|trees| trees.contains(&tree)) {
                continue;
            }
            self.tables()?.mark_staging()?;
            let spec = self.engine.row_half().tree_spec(&catalog, &tree)?;
            self.engine.mvcc().add_tree(&spec)?;
            self.new_trees.push(tree);
        }
        Ok(())
    }

    /// Changes rows of one table.
    pub fn row_writer(&mut self, parts: &Arc<RowParts>) -> TableRowWriter<'_> {
        TableRowWriter::new(Arc::clone(parts), &mut self.rows, &mut self.made)
    }

    /// Whether a foreign key refers to the table called `name`, in the newest state there is or this transaction's own.
    pub fn is_referenced(&self, name: &str) -> bool {
        self.in_newest_catalog(|catalog| catalog.is_referenced(name))
    }

    /// Drops a table, once nobody else uses it.
    ///
    /// # Errors
    /// As [`WriteTransaction::drop_table`], and what waiting for the table may fail with.
    pub fn drop_table(&mut self, name: &str) -> Result<(), TransactionError> {
        self.define_locked(name, |tables| tables.drop_table(name))
    }

    /// Removes all rows of a table, once nobody else uses it.
    ///
    /// # Errors
    /// As [`WriteTransaction::truncate_table`], and what waiting for the table may fail with.
    pub fn truncate_table(&mut self, name: &str) -> Result<(), TransactionError> {
        self.define_locked(name, |tables| tables.truncate_table(name))
    }

    /// Gives a table another definition, once nobody else uses it.
    ///
    /// # Errors
    /// As [`WriteTransaction::alter_table`], and what waiting for the table may fail with.
    pub fn alter_table(
        &mut self,
        name: &str,
        definition: TableDefinition,
    ) -> Result<(), TransactionError> {
        self.define_locked(name, |tables| tables.alter_table(name, definition))
    }

    /// Remembers everything done so far.
    pub fn savepoint(&mut self) -> Savepoint {
        Savepoint {
            rows: self.rows.savepoint(),
            tables: self.tables.as_ref().map(WriteTransaction::savepoint),
        }
    }

    /// Forgets a savepoint, and those after it: what was done since belongs to what was done before.
    pub fn release(&mut self, savepoint: &Savepoint) {
        self.rows.release(savepoint.rows);
    }

    /// Goes back to a savepoint, which stays. The turn to change tables is kept: waiting for it again could end in a deadlock.
    pub fn roll_back_to(&mut self, savepoint: &Savepoint) {
        self.rows.rollback_to(savepoint.rows);
        if let Some(tables) = &mut self.tables {
            match &savepoint.tables {
                Some(point) => tables.go_back_to(point),
                None => tables.go_back_to(&tables.beginning()),
            }
        }
        self.begin_statement();
    }

    /// Makes all of it durable and visible.
    ///
    /// # Errors
    /// Nothing of it is visible then, with the exceptions that the error names.
    pub fn commit(mut self) -> Result<(), TransactionCommitError> {
        self.commit_and_renew()
    }

    /// The same; it is a new transaction then, of the same options, whose first statement is still to begin. One that has changed
    /// nothing but rows has the memory of the one that was committed.
    ///
    /// # Errors
    /// As [`Transaction::commit`]: it must be dropped.
    pub fn commit_and_renew(&mut self) -> Result<(), TransactionCommitError> {
        let engine = self.engine.clone();
        // Another that has read what this one writes, and writes what this one has read, compares before or after all of this.
        let is_serial = self.isolation() == Isolation::Serializable
            && (self.tables.is_some() || self.rows.has_changes() && !self.column_reads.is_empty());
        let _serial = is_serial.then(|| engine.serial_commit());
        self.validate_column_reads()?;
        // What it has read must not keep space from being cleaned for its own commit, nor what it overwrites be kept for it.
        self.seen = None;
        if self.isolation() == Isolation::Serializable {
            self.column_reads = Arc::default();
        }
        let Some(tables) = self.tables.take() else {
            self.rows.commit_and_renew()?;
            return Ok(());
        };
        let options = self.rows.options().clone();
        self.commit_tables(tables, options.isolation)?;
        *self = Self::new(&self.engine, options);
        Ok(())
    }

    fn commit_tables(
        &mut self,
        mut tables: WriteTransaction,
        isolation: Isolation,
    ) -> Result<(), TransactionCommitError> {
        let rows = std::mem::replace(&mut self.rows, self.engine.mvcc().begin(Default::default()));
        tables.unpin();
        let old_trees: Vec<TreeRecord> = tables.base().live_trees().copied().collect();
        self.engine.mvcc().make_room_if_full();
        tables.drop_new_trees(&self.new_trees);
        if !self.new_trees.is_empty() {
            tables.leave_trees();
        }
        // What it has read of rows is compared there, too.
        let is_joint =
            rows.has_changes() || isolation == Isolation::Serializable && tables.is_changed();
        let committed = if is_joint {
            self.commit_both(&mut tables, rows)
        } else {
            let committed = tables.commit_here();
            // Not before: whoever waits for a lock of this transaction must find what it has committed.
            drop(rows);
            committed.map(drop).map_err(TransactionCommitError::from)
        };
        if committed.is_err() {
            self.remove_trees_of(&mut tables);
            return committed;
        }
        let live: Vec<TreeRecord> = self.engine.newest_catalog().live_trees().copied().collect();
        let made = self.new_trees.drain(..).chain(self.filled_trees.drain(..));
        // Others remove what they have dropped.
        let trees = made.chain(old_trees);
        for tree in trees.filter(|tree| !live.contains(tree)) {
            self.engine.mvcc().remove_tree(mvcc::TreeId::new(tree.id));
        }
        self.engine.mvcc().make_room_if_full();
        Ok(())
    }

    /// After a commit that failed. Its locks of definitions, and what it is for the staging mark, go with `tables`: not before the trees.
    fn remove_trees_of(&mut self, tables: &mut WriteTransaction) {
        for tree in self.new_trees.drain(..) {
            self.engine.mvcc().remove_tree(TreeId::new(tree.id));
        }
        // What was staged is freed here, before others find that nobody uses the trees any more.
        tables.abort_here();
        for tree in self.filled_trees.drain(..) {
            self.engine.mvcc().remove_tree(TreeId::new(tree.id));
        }
    }

    fn commit_both(
        &self,
        tables: &mut WriteTransaction,
        rows: mvcc::KvTransaction,
    ) -> Result<(), TransactionCommitError> {
        let durability = match rows.options().synchronous {
            Synchronous::Full => Durability::Synced,
            Synchronous::Normal | Synchronous::Off => Durability::Unsynced,
        };
        tables.write_roots()?;
        let committed = rows.commit_with(|redo| -> Result<_, TransactionCommitError> {
            let end = |batch: WriteBatch| redo.commit_batch(batch, durability);
            // Not before: who only reads does not wait for the sync.
            Ok(tables.commit_showing(end, || self.engine.joint_commit())?)
        });
        committed.map(drop)
    }

    /// What a serializable transaction that changes something has read of column tables must be as it was.
    fn validate_column_reads(&mut self) -> Result<(), mvcc::KvCommitError> {
        let changes_tables = self
            .tables
            .as_ref()
            .is_some_and(|tables| tables.is_changed());
        if self.isolation() != Isolation::Serializable
            || !self.rows.has_changes() && !changes_tables
        {
            return Ok(());
        }
        let is_own = |name: &str| {
            let mut tables = self.tables.iter();
            tables.any(|tables| tables.has_changed(name))
        };
        let newest = self.engine.newest_catalog();
        let trees = self.column_reads.trees_since(&newest, is_own);
        let trees = trees.ok_or(mvcc::KvCommitError::Conflict)?;
        if !trees.is_empty() {
            let view = self.rows.latest_view();
            for tree in trees {
                view.note_all_of(TreeId::new(tree.id));
            }
        }
        Ok(())
    }

    /// Locks the table or view of that name; says its number, if there is one.
    pub(super) fn lock_name(
        &mut self,
        name: &str,
        mode: TableLockMode,
    ) -> Result<Option<u64>, TransactionError> {
        let id = self.snapshot().id_of(name);
        if let Some(id) = id {
            self.rows.lock_table(id, mode, LockWait::Wait)?;
        }
        Ok(id)
    }

    /// Whether the table that a statement has found is the newest there is, or this transaction's own.
    pub fn is_current(&self, table: &RowParts) -> bool {
        self.in_newest_catalog(|catalog| catalog.has_parts(table))
    }

    /// The same of a column table; and whether it has not been merged since.
    pub fn is_current_column_table(&self, table: &ColumnTable) -> bool {
        let entry = |catalog: &Catalog| catalog.tables.get(&table.definition().name).cloned();
        let entry = self.in_newest_catalog(entry);
        entry.is_some_and(|entry| {
            entry.id == table.id()
                && Arc::ptr_eq(&entry.definition, table.definition())
                && entry.trees == table.trees()
        })
    }

    fn in_newest_catalog<R>(&self, look: impl FnOnce(&Catalog) -> R) -> R {
        in_newest_catalog(&self.engine, self.tables.as_ref(), look)
    }

    /// Makes sure that rows of a column table can be changed: gives it trees for that, in a transaction of its own where this one
    /// has not changed definitions. False when this transaction reads a state in which the table was another.
    ///
    /// # Errors
    /// No such column table, or the volume fails.
    pub fn prepare_changes(&mut self, name: &str) -> Result<bool, TransactionCommitError> {
        if self.tables.is_some() {
            self.define_beside(|tables| tables.add_change_trees(name))?;
            return Ok(true);
        }
        let options = TransactionOptions {
            isolation: Isolation::ReadCommitted,
            ..self.rows.options().clone()
        };
        let mut own = self.engine.transaction(options);
        // This transaction waits, with the locks that it has: otherwise a circle through it would not be found.
        let mut locks = self.rows.definition_locks();
        let taken = locks.take_all(RowLockMode::Share, LockWait::Wait);
        taken.map_err(TransactionError::from)?;
        own.tables = Some(self.engine.begin_in(locks, None)?);
        own.define_beside(|tables| tables.add_change_trees(name))?;
        own.commit()?;
        self.begin_statement();
        if self.isolation() == Isolation::ReadCommitted {
            return Ok(true);
        }
        let newest = self.engine.newest_catalog();
        let seen = self.seen.as_mut();
        Ok(seen.is_some_and(|seen| seen.snapshot.adopt_trees(name, &newest)))
    }

    /// Removes an entry of a tree that belongs to a table.
    pub(crate) fn remove_entry(
        &mut self,
        tree: TreeId,
        key: &[u8],
    ) -> Result<(), TransactionError> {
        Ok(self.rows.remove(tree, key).map_err(RowWriteError::from)?)
    }

    /// Whether a statement that begins now sees the newest definitions, and not those of the transaction's beginning.
    pub fn sees_newest_definitions(&self) -> bool {
        match &self.tables {
            Some(tables) => tables.follows() && !tables.is_left_behind(),
            None => self.isolation() == Isolation::ReadCommitted,
        }
    }
}

/// Shows the newest definitions there are, with those that a transaction has changed itself.
pub(super) fn in_newest_catalog<R>(
    engine: &Engine,
    own: Option<&WriteTransaction>,
    look: impl FnOnce(&Catalog) -> R,
) -> R {
    match own {
        Some(own) => look(&own.catalog_over(engine.newest().shared_catalog())),
        None => engine.with_newest_catalog(look),
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.new_trees.is_empty() {
            for tree in &self.new_trees {
                self.engine.mvcc().remove_tree(mvcc::TreeId::new(tree.id));
            }
            // This transaction is not to be who still has them.
            self.rows = self.engine.mvcc().begin(Default::default());
            self.seen = None;
            let are_freed = self.engine.free_trees(&self.new_trees);
            // Pages that are in the file, or come there because somebody reads these trees, must not lose the mark that covers them.
            if let Some(tables) = &mut self.tables
                && !are_freed
            {
                tables.leave_trees();
            }
        }
        // What was staged is freed here, before others find that nobody uses the trees any more.
        self.tables = None;
        for tree in &self.filled_trees {
            self.engine.mvcc().remove_tree(mvcc::TreeId::new(tree.id));
        }
    }
}
