//! The open database: its newest committed state for readers, and concurrent write transactions.

mod newest_row;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use quire_kv::mvcc::{
    self, LockError, LockReport, LockWait, Mvcc, MvccOptions, ReadView, RowLockMode,
    TransactionOptions, TreeId,
};
use quire_kv::progress::{Phase, StatementWork};
use quire_store::pool::Pool;
use quire_store::{CleanReport, Volume};

use crate::catalog::Catalog;
use crate::check::{self, TableFinding};
use crate::definition::TreeRecord;
use crate::engine_options::EngineOptions;
use crate::error::{EngineError, MaintenanceError, TransactionError};
use crate::published::Published;
use crate::row_half::RowHalf;
use crate::snapshot::Snapshot;
use crate::staging::Staging;
use crate::stagings::Stagings;
use crate::sweep::{sweep, sweep_leftovers};

/// The tables of one volume. Clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<SharedEngine>,
}

struct SharedEngine {
    volume: Volume,
    options: EngineOptions,
    rows: Arc<RowHalf>,
    published: Arc<Published>,
    stagings: Arc<Stagings>,
    /// Held exclusively by a commit of tables together with rows while it publishes both, so that no reader sees one without the other. It
    /// is not held during the sync.
    joint_commits: RwLock<()>,
    /// Held by serializable transactions from the validation of the column tables that they have read until their commit is synced, because
    /// the row groups of one are visible to the validation of the other only once they are published. It is acquired before all other
    /// locks. Other transactions do not take it, nor do serializable ones that have neither read nor written column tables.
    serial_commits: Mutex<()>,
}

impl Engine {
    /// Opens the tables of a volume with the default options; an empty volume has none.
    ///
    /// # Errors
    /// See [`Engine::open_with`].
    pub fn open(volume: Volume) -> Result<Engine, EngineError> {
        Engine::open_with(volume, EngineOptions::default())
    }

    /// Opens the tables of a volume; an empty volume has none. In a volume that can be written, this frees what a write
    /// transaction left that a crash has ended.
    ///
    /// # Errors
    /// The catalog page cannot be read or understood. Tables are read later, each when first used.
    pub fn open_with(volume: Volume, options: EngineOptions) -> Result<Engine, EngineError> {
        if !volume.is_read_only() {
            // This has to precede the first frame of a row page, because the pool would not notice the freed pages. If it fails, as on a
            // full disk, everything can still be read, and the next write transaction tries again.
            let _ = sweep(&volume);
        }
        let sequence = volume.commit_sequence();
        let snapshot = Snapshot::committed(volume.pin())?;
        let rows = Arc::new(RowHalf::open(&volume, &options, snapshot.catalog())?);
        let published = Arc::new(Published::new(volume.clone(), snapshot, sequence));
        let newest = Arc::clone(&published);
        rows.mvcc
            .unpin_with(Box::new(move || drop(newest.newest())));
        let shared = SharedEngine {
            volume,
            options,
            rows,
            published,
            stagings: Arc::default(),
            joint_commits: RwLock::default(),
            serial_commits: Mutex::default(),
        };
        Ok(Engine {
            shared: Arc::new(shared),
        })
    }

    /// The underlying volume.
    pub fn volume(&self) -> &Volume {
        &self.shared.volume
    }

    /// The newest committed state. Waits only while a joint commit of tables and rows is being published.
    pub fn snapshot(&self) -> Snapshot {
        let shared = &self.shared;
        let _no_joint_commit = shared
            .joint_commits
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        self.seeing(|| shared.rows.mvcc.view()).1
    }

    /// A view of rows, and the newest tables with it. The view has all trees of these tables: they were there before the catalog was
    /// published, and go only when another one has been.
    fn seeing(&self, mut view: impl FnMut() -> ReadView) -> (ReadView, Snapshot) {
        loop {
            let tables = self.newest();
            let view = view();
            let is_newest = |newest: &Catalog| tables.has_catalog(newest);
            if self.with_newest_catalog(is_newest) {
                let snapshot = tables.with_rows(&self.shared.rows, view.clone());
                return (view, snapshot);
            }
        }
    }

    /// What a statement of a transaction sees.
    pub(crate) fn view_of(&self, rows: &mut mvcc::KvTransaction) -> (ReadView, Snapshot) {
        let shared = &self.shared;
        let _no_joint_commit = shared
            .joint_commits
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        self.seeing(|| rows.begin_statement())
    }

    /// The newest rows and tables with what a transaction has changed, whatever its isolation.
    pub(crate) fn latest_view_of(&self, rows: &mut mvcc::KvTransaction) -> (ReadView, Snapshot) {
        let _no_joint_commit = self
            .joint_commits()
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        self.seeing(|| rows.latest_view())
    }

    /// The lock that a joint commit of tables and rows holds while it publishes both.
    pub(crate) fn joint_commits(&self) -> &RwLock<()> {
        &self.shared.joint_commits
    }

    /// Blocks readers of the newest state until tables and rows that were committed together are both published.
    pub(crate) fn joint_commit(&self) -> RwLockWriteGuard<'_, ()> {
        self.joint_commits()
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// One serializable transaction over column tables at a time compares what it has read, and commits.
    pub(crate) fn serial_commit(&self) -> MutexGuard<'_, ()> {
        let commits = self.shared.serial_commits.lock();
        commits.unwrap_or_else(PoisonError::into_inner)
    }

    /// Serializes commits of tables, because each catalog is derived from the previous one. The next commit waits here for the sync of the
    /// batch, rather than for its turn in the volume.
    pub(crate) fn table_commit(&self) -> RwLockWriteGuard<'_, ()> {
        self.shared.published.table_commit()
    }

    /// The newest catalog.
    pub(crate) fn newest_catalog(&self) -> Catalog {
        self.newest().catalog().clone()
    }

    /// Calls `look` with the newest catalog. No other one can be published during the call.
    pub(crate) fn with_newest_catalog<R>(&self, look: impl FnOnce(&Catalog) -> R) -> R {
        self.shared.published.with_catalog(look)
    }

    /// The newest tables, pinned as the volume has them now: space that rows have left since need not be kept for them.
    pub(crate) fn newest(&self) -> Snapshot {
        self.shared.published.newest()
    }

    pub(crate) fn mvcc(&self) -> &Mvcc {
        &self.shared.rows.mvcc
    }

    /// How transactions on rows run.
    pub(crate) fn mvcc_options(&self) -> &MvccOptions {
        &self.shared.options.mvcc
    }

    /// Whether columns get dictionaries that have not asked for one.
    pub(crate) fn finds_dictionaries(&self) -> bool {
        self.shared.options.finds_dictionaries
    }

    pub(crate) fn row_half(&self) -> &Arc<RowHalf> {
        &self.shared.rows
    }

    /// The pool of the pages of row tables.
    pub fn row_pool(&self) -> &Pool {
        &self.shared.rows.pool
    }

    /// Writes what has changed in row tables, and the map of pages.
    ///
    /// # Errors
    /// The volume fails. Nothing is lost then.
    pub fn checkpoint(&self) -> Result<(), MaintenanceError> {
        self.shared.rows.mvcc.checkpoint()?;
        Ok(self.shared.volume.checkpoint()?)
    }

    /// Waits until nobody changes the definition of that name.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn wait_for_definition(
        &self,
        name: &str,
        options: &TransactionOptions,
    ) -> Result<(), LockError> {
        let mut transaction = self.mvcc().begin(options.clone());
        let mut locks = transaction.definition_locks();
        locks.take_all(RowLockMode::Share, LockWait::Wait)?;
        let id = self.with_newest_catalog(|catalog| catalog.id_of(name));
        let name = (name, id.unwrap_or(0));
        locks.take_name(name, RowLockMode::Exclusive, LockWait::Wait)?;
        Ok(())
    }

    /// Where a write transaction that begins now writes pages ahead of its commit.
    pub(crate) fn new_staging(&self) -> Result<Staging, TransactionError> {
        let shared = &self.shared;
        self.sweep_leftovers();
        // Each of its batches has to find its place by itself.
        shared.rows.mvcc.make_room_if_full();
        let staging_bytes = shared.options.staging_bytes;
        let staging = Staging::new(&shared.volume, staging_bytes, &shared.stagings);
        Ok(staging.map_err(EngineError::from)?)
    }

    /// Makes a state that has just been committed the newest one.
    pub(crate) fn publish(&self, catalog: Catalog) {
        self.shared.published.publish(catalog);
    }

    /// Makes space that a transaction has freed usable.
    pub(crate) fn clean_up(&self) {
        // As in `Engine::clean`: the space must not be pinned.
        drop(self.newest());
        // A failure leaves the space for a later checkpoint.
        let _ = self.volume().checkpoint();
    }

    /// Frees the pages that a failed abort or a failed sweep left behind, if no write transaction is in progress. Transactions that begin
    /// meanwhile do not wait for it.
    fn sweep_leftovers(&self) {
        let volume = &self.shared.volume;
        let Some(left) = self.shared.stagings.leftovers(volume) else {
            return;
        };
        if self.trees_are_settled() && sweep_leftovers(volume, &left).is_ok() {
            drop(self.newest());
        } else {
            left.registered.keep_mark();
            left.registered.note_end(false, true);
        }
    }

    /// Whether the volume has pages of one of these trees.
    pub(crate) fn has_pages_of(&self, trees: &[TreeRecord]) -> bool {
        if trees.is_empty() {
            return false;
        }
        let pin = self.shared.volume.pin();
        trees.iter().any(|tree| pin.contains(tree.root))
    }

    /// Frees trees that were removed and that no catalog will have. True when none of their pages is in the volume or can come there.
    pub(crate) fn free_trees(&self, trees: &[TreeRecord]) -> bool {
        let ids: Vec<TreeId> = trees.iter().map(|tree| TreeId::new(tree.id)).collect();
        self.mvcc().free_trees(&ids) && !self.has_pages_of(trees)
    }

    /// Frees trees that nobody uses any more. True when none is left that will be freed later: until then, the volume may have
    /// pages of which only memory knows.
    fn trees_are_settled(&self) -> bool {
        let mvcc = &self.shared.rows.mvcc;
        mvcc.checkpoint().is_ok() && !mvcc.has_removed_trees()
    }

    /// Locks of everybody, and who waits for them. Rows that nobody waits for are left out.
    pub fn lock_report(&self) -> Vec<LockReport> {
        self.mvcc().lock_report()
    }

    /// Moves what is alive out of mostly dead space and gives that space back, as far as no snapshot that is still
    /// held needs it.
    ///
    /// # Errors
    /// The volume fails. Nothing is lost then.
    pub fn clean(&self) -> Result<CleanReport, MaintenanceError> {
        self.clean_with(&TransactionOptions::default())
    }

    /// The same, where the options say how to wait, what ends it, and where bytes that are moved are counted.
    ///
    /// # Errors
    /// As [`Engine::clean`], and those of [`LockError`]. What was moved until then stays so.
    pub fn clean_with(
        &self,
        options: &TransactionOptions,
    ) -> Result<CleanReport, MaintenanceError> {
        let work = options.work.clone().unwrap_or_default();
        work.begin(Phase::Cleaning, None);
        self.shared.rows.mvcc.checkpoint()?;
        // What this has taken says nothing about the time that moving will take.
        work.begin(Phase::Cleaning, None);
        let mut report = self.clean_step(options, &work)?;
        // What a step has moved is pinned where it was until the next, which can then go on. Each byte is moved twice at most:
        // out of a hollow run, and into a hole.
        let limit_bytes = report.file_bytes_before.saturating_mul(2);
        while report.moved_bytes < limit_bytes {
            let step = self.clean_step(options, &work)?;
            report.file_bytes_after = step.file_bytes_after;
            report.moved_pages += step.moved_pages;
            report.moved_bytes += step.moved_bytes;
            if step.moved_bytes == 0 {
                break;
            }
        }
        Ok(report)
    }

    /// Cleans as far as the pin of the newest state permits, and renews that.
    fn clean_step(
        &self,
        options: &TransactionOptions,
        work: &StatementWork,
    ) -> Result<CleanReport, MaintenanceError> {
        let is_cancelled = || options.cancel.as_ref().is_some_and(|cancel| cancel());
        let mut known_bytes = 0;
        let report = self
            .shared
            .volume
            .clean_telling(&mut |moved_bytes, left_bytes| {
                work.note_read(0, moved_bytes - known_bytes);
                work.foresee_left(left_bytes);
                known_bytes = moved_bytes;
                !is_cancelled()
            })?;
        if is_cancelled() {
            return Err(LockError::Cancelled.into());
        }
        drop(self.newest());
        self.shared.volume.checkpoint()?;
        Ok(report)
    }

    /// Checks the invariants of the tables of a volume, reading all of them, as they are without the log. The pages below
    /// are [`Volume::check`]'s business. Of a volume that is read only, rows are checked too, as [`Engine::check_rows`] does.
    pub fn check(volume: &Volume) -> Vec<TableFinding> {
        let mut findings = check::check(volume);
        if findings.is_empty() && volume.is_read_only() {
            match Engine::open(volume.clone()) {
                Ok(engine) => findings = engine.check_rows(),
                Err(error) => findings.push(TableFinding {
                    invariant: "tables_can_be_opened",
                    table: None,
                    page: None,
                    what: error.to_string(),
                }),
            }
        }
        findings
    }

    /// Checks the newest committed rows: trees, indexes and long values against the rows they belong to. Rows can be changed
    /// meanwhile.
    pub fn check_rows(&self) -> Vec<TableFinding> {
        check::check_rows(&self.snapshot(), self.mvcc())
    }
}
