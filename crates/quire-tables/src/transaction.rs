//! The write transaction: changes that become durable and visible together, or not at all.

mod alter;
mod analyze;
mod appender;
mod begin;
mod changes;
mod copied_rows;
mod fill;
mod indexes;
mod merge;
mod names;
mod other_columns;
mod references;
mod replace;
mod roles;
mod row_changes;
mod tables;
mod ticket;
mod views;
mod whole;

pub use self::{
    appender::Appender,
    copied_rows::can_copy_rows,
    merge::{MergeOptions, MergeReport},
    other_columns::NewColumnOrigin,
    row_changes::RowChanges,
    whole::{Savepoint, Transaction},
};

use std::collections::BTreeSet;
use std::sync::Arc;

use quire_format::volume::MAX_PAYLOAD_BYTES;
use quire_store::{CommitError, PageKind, WriteBatch};

use crate::catalog::Catalog;
use crate::definition::TreeRecord;
use crate::error::{EngineError, TransactionError};
use crate::page_cluster::PageCluster;
use crate::pages::{PageSource, TransactionPages};
use crate::snapshot::Snapshot;
use crate::staging::{Staging, StagingPoint};
use ticket::WriterTicket;

/// Changes to the tables. It sees its own; nobody else does before [`WriteTransaction::commit`].
/// Dropping it aborts and leaves nothing behind. Between two calls it has nothing of the volume that others wait for.
pub struct WriteTransaction {
    pages: Arc<TransactionPages>,
    source: Arc<PageSource>,
    /// What is committed, as far as the transaction has looked.
    base: Arc<Catalog>,
    /// Whether it looks again before its commit.
    follows: bool,
    /// The same with what it has changed.
    catalog: Catalog,
    /// Tables whose root has to be written.
    changed_tables: BTreeSet<String>,
    definitions_changed: bool,
    roots_written: bool,
    /// Table whose append has begun and not finished.
    unfinished_append: Option<String>,
    /// When it is aborted, pages of trees that it has made stay in the volume until they can be freed.
    leaves_trees: bool,
    /// What could not be committed, until it is aborted.
    uncommitted: Option<Staging>,
    /// What was taken back, until the transaction ends.
    aborted: Option<Staging>,
    /// Pages that had been staged were freed when it was taken back.
    has_freed: bool,
    /// What was committed, until the transaction ends and tidies up.
    committed: Option<Staging>,
    /// What it has changed, and what others have committed since it looked, do not go together.
    is_left_behind: bool,
    ticket: WriterTicket,
}

/// A moment of a write transaction to go back to.
#[derive(Clone)]
pub(crate) struct TablesPoint {
    base: Arc<Catalog>,
    catalog: Catalog,
    changed_tables: BTreeSet<String>,
    /// Nothing: the beginning of the transaction.
    pages: Option<StagingPoint>,
}

impl WriteTransaction {
    /// `follows`: it sees what others commit meanwhile.
    fn new(ticket: WriterTicket, staging: Staging, base: &Snapshot, follows: bool) -> Self {
        let pages = Arc::new(TransactionPages::new(staging));
        let mut catalog = base.catalog().clone();
        ticket.engine().row_half().numbers.raise(&mut catalog);
        WriteTransaction {
            source: Arc::new(pages.source(Some(base.source().newest_pin()))),
            base: Arc::clone(base.shared_catalog()),
            follows,
            pages,
            catalog,
            changed_tables: BTreeSet::new(),
            definitions_changed: false,
            roots_written: false,
            unfinished_append: None,
            leaves_trees: false,
            uncommitted: None,
            aborted: None,
            has_freed: false,
            committed: None,
            is_left_behind: false,
            ticket,
        }
    }

    /// What the transaction sees: the state it started from and its own changes up to now. It can be
    /// read until the transaction ends.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.catalog.clone(), &self.source)
    }

    /// Says in the file that pages are written for this transaction before it commits: pages that nobody refers to
    /// are freed if a crash ends it. Its own writing does so by itself. Who writes pages for it without telling it calls this
    /// before the first, and frees them before an abort.
    ///
    /// # Errors
    /// The volume fails.
    pub fn mark_staging(&mut self) -> Result<(), TransactionError> {
        Ok(self.pages.mark()?)
    }

    /// Makes all changes durable, then visible. Returns the number of the commit.
    ///
    /// # Errors
    /// Nothing of the transaction is visible, now or after a restart, with one exception that the error
    /// names: when the device fails during the sync itself.
    pub fn commit(mut self) -> Result<u64, TransactionError> {
        self.commit_here()
    }

    /// The same; the locks are held until this is dropped.
    pub(crate) fn commit_here(&mut self) -> Result<u64, TransactionError> {
        if self.unfinished_append.is_none() && !self.is_changed() {
            return Ok(self.ticket.volume().commit_sequence());
        }
        let engine = self.ticket.engine().clone();
        self.commit_here_by(|batch| engine.mvcc().commit_pages(batch))
    }

    /// The same, where `end` commits the last batch: with redo records of row tables, for example
    /// ([`quire_store::log::VolumeLog::commit_batch`]). The batch has the changes to tables, if there are any.
    ///
    /// # Errors
    /// As [`WriteTransaction::commit`], and those of `end`.
    pub fn commit_by<R>(
        mut self,
        end: impl FnOnce(WriteBatch) -> Result<R, CommitError>,
    ) -> Result<R, TransactionError> {
        self.commit_here_by(end)
    }

    /// The same; the locks are held until this is dropped.
    pub(crate) fn commit_here_by<R>(
        &mut self,
        end: impl FnOnce(WriteBatch) -> Result<R, CommitError>,
    ) -> Result<R, TransactionError> {
        self.write_roots()?;
        let (committed, ()) = self.commit_showing(end, || ())?;
        Ok(committed)
    }

    /// Writes what there is of changed tables besides their row groups, as the commit does: before others have to wait for that.
    pub(crate) fn write_roots(&mut self) -> Result<(), TransactionError> {
        self.check_appends_finished()?;
        for name in std::mem::take(&mut self.changed_tables) {
            self.write_root(&name)?;
            self.roots_written = true;
        }
        Ok(())
    }

    /// The commit, after [`WriteTransaction::write_roots`]. When everything is in the volume, and before others see it, `hold` is called.
    pub(crate) fn commit_showing<R, G>(
        &mut self,
        end: impl FnOnce(WriteBatch) -> Result<R, CommitError>,
        hold: impl FnOnce() -> G,
    ) -> Result<(R, G), TransactionError> {
        let engine = self.ticket.engine().clone();
        let _committing = engine.table_commit();
        // What others commit comes before or after all of this.
        self.rebase_catalog(engine.newest().shared_catalog())?;
        let catalog = if self.is_changed() {
            Some(self.encoded_catalog()?)
        } else {
            None
        };
        let staging = self.pages.take().ok_or(EngineError::TransactionEnded)?;
        match staging.commit(catalog.as_deref(), end) {
            Ok(committed) => {
                let held = hold();
                self.ticket.engine().publish(self.catalog.clone());
                self.committed = Some(staging);
                Ok((committed, held))
            }
            Err(error) => {
                // Others need not wait until it is aborted.
                self.uncommitted = Some(staging);
                Err(error)
            }
        }
    }

    /// Takes everything back; the locks are held until this is dropped.
    pub(crate) fn abort_here(&mut self) {
        let staging = self.pages.take().or_else(|| self.uncommitted.take());
        if let Some(staging) = staging {
            // When it fails, the mark stays, and the next transaction or start frees the pages.
            self.has_freed = staging.abort(self.leaves_trees).is_ok_and(|freed| freed);
            self.aborted = Some(staging);
        }
    }

    /// Whether there is something to commit.
    pub(crate) fn is_changed(&self) -> bool {
        self.definitions_changed || self.roots_written || !self.changed_tables.is_empty()
    }

    /// Whether it has changed definitions. The schema version increases only at commit.
    pub(crate) fn has_changed_definitions(&self) -> bool {
        self.definitions_changed
    }

    /// The payload of the catalog.
    fn encoded_catalog(&mut self) -> Result<Vec<u8>, TransactionError> {
        if self.definitions_changed {
            self.catalog.schema_version += 1;
        }
        let payload = self.catalog.encode();
        if payload.len() > MAX_PAYLOAD_BYTES {
            let (bytes, limit) = (payload.len(), MAX_PAYLOAD_BYTES);
            return Err(TransactionError::CatalogFull { bytes, limit });
        }
        Ok(payload)
    }

    fn write_root(&mut self, name: &str) -> Result<(), TransactionError> {
        let Some(entry) = self.catalog.tables.get(name).cloned() else {
            return Ok(());
        };
        let state = entry.state(&self.source)?;
        let root_pages =
            self.pages
                .write(PageKind::Table, PageCluster::Other, &state.root.encode())?;
        self.pages.free(&entry.root_pages)?;
        let entry = Arc::new(entry.with_state(root_pages, state));
        self.catalog.tables.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Whether it has changed the column table called `name`.
    pub(crate) fn has_changed(&self, name: &str) -> bool {
        let (own, base) = (self.catalog.tables.get(name), self.base.tables.get(name));
        let is_same = own
            .zip(base)
            .is_some_and(|(own, base)| Arc::ptr_eq(own, base));
        !is_same
    }

    fn check_appends_finished(&self) -> Result<(), TransactionError> {
        match &self.unfinished_append {
            Some(name) => Err(TransactionError::AppendUnfinished(name.clone())),
            None => Ok(()),
        }
    }

    /// What is defined now.
    pub(crate) fn catalog_now(&self) -> &Catalog {
        &self.catalog
    }

    /// This moment.
    pub(crate) fn savepoint(&self) -> TablesPoint {
        TablesPoint {
            base: Arc::clone(&self.base),
            catalog: self.catalog.clone(),
            changed_tables: self.changed_tables.clone(),
            // Without pages it has ended, and nothing goes back.
            pages: self.pages.savepoint().ok(),
        }
    }

    /// Takes back what was done since. Pages that were written since are freed with the end of the transaction.
    pub(crate) fn go_back_to(&mut self, point: &TablesPoint) {
        let newest = std::mem::replace(&mut self.base, Arc::clone(&point.base));
        self.catalog = point.catalog.clone();
        // What others have committed since stays. Where that cannot be the commit says so.
        let _ = self.rebase_catalog(&newest);
        self.ticket
            .engine()
            .row_half()
            .numbers
            .raise(&mut self.catalog);
        self.unfinished_append = None;
        self.changed_tables = point.changed_tables.clone();
        // An error says that the transaction has ended.
        let _ = self.pages.go_back_to(point.pages.as_ref());
    }

    /// The point at which it had changed nothing.
    pub(crate) fn beginning(&self) -> TablesPoint {
        TablesPoint {
            base: Arc::clone(&self.base),
            catalog: Catalog::clone(&self.base),
            changed_tables: BTreeSet::new(),
            pages: None,
        }
    }

    /// The pages of these trees, which the transaction has made and taken back, are to be freed after its commit.
    pub(crate) fn drop_new_trees(&mut self, trees: &[TreeRecord]) {
        for tree in trees {
            if !self.catalog.all_trees().any(|known| known == tree) {
                self.catalog.dropped_trees.push(*tree);
                self.definitions_changed = true;
            }
        }
    }

    /// When it is aborted, the mark stays: it covers pages of trees.
    pub(crate) fn leave_trees(&mut self) {
        self.leaves_trees = true;
    }

    /// Forgets dropped trees that have no pages any more.
    pub(crate) fn forget_trees_without_pages(&mut self, has_pages: impl Fn(&TreeRecord) -> bool) {
        self.catalog.dropped_trees.retain(has_pages);
    }

    pub(crate) fn pages(&self) -> &Arc<TransactionPages> {
        &self.pages
    }
}

impl Drop for WriteTransaction {
    fn drop(&mut self) {
        // Views of this transaction may outlive it; what it has written must not.
        self.abort_here();
        // A checkpoint may follow: those that wait for the locks do not wait for that.
        self.ticket.release_locks();
        if let Some(staging) = self.committed.take() {
            staging.tidy_up();
        }
        if self.has_freed {
            self.ticket.engine().clean_up();
        }
    }
}
