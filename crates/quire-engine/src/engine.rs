//! The open database: its newest state for readers, one write transaction at a time for writers.

use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};

use quire_store::{CATALOG_PAGE, CleanReport, Pin, STAGING_PAGE, Volume};

use crate::catalog::{Catalog, RowTableEntry};
use crate::check::{self, Finding};
use crate::definition::{SequenceDefinition, TableDefinition, TreeRecord, ViewDefinition};
use crate::error::{EngineError, MaintenanceError, TransactionError};
use crate::pages::PageSource;
use crate::staging::Staging;
use crate::sweep::sweep;
use crate::table::ColumnTable;
use crate::transaction::WriteTransaction;

/// How an engine uses its volume.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// A write transaction keeps about this much of its pages, and as much that is being written, in memory; more goes into
    /// the volume ahead of the commit.
    pub staging_bytes: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            staging_bytes: 4 << 20,
        }
    }
}

/// The tables of one volume. Clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    volume: Volume,
    options: EngineOptions,
    current: RwLock<Snapshot>,
    writer_active: Mutex<bool>,
    writer_done: Condvar,
}

/// The right to be the one write transaction; given back when dropped.
pub(crate) struct WriterTicket {
    engine: Engine,
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
            // When it fails, as on a full disk, everything can be read; the next write transaction tries again.
            let _ = sweep(&volume);
        }
        let current = Snapshot::committed(volume.pin())?;
        let shared = Shared {
            volume,
            options,
            current: RwLock::new(current),
            writer_active: Mutex::new(false),
            writer_done: Condvar::new(),
        };
        Ok(Engine {
            shared: Arc::new(shared),
        })
    }

    /// The volume below.
    pub fn volume(&self) -> &Volume {
        &self.shared.volume
    }

    /// The newest committed state. Never waits for a writer.
    pub fn snapshot(&self) -> Snapshot {
        self.shared
            .current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Starts the write transaction; waits until the one before has ended. Who only changes rows of row tables does not
    /// wait for it.
    ///
    /// # Errors
    /// The volume takes no writes.
    pub fn begin(&self) -> Result<WriteTransaction, TransactionError> {
        let ticket = self.wait_for_turn();
        let shared = &self.shared;
        // A mark at this moment is that of a transaction whose abort failed, or of a sweep that did.
        let is_marked = || shared.volume.pin().contains(STAGING_PAGE);
        if is_marked() && sweep(&shared.volume).is_ok() {
            ticket.publish(self.snapshot().catalog().clone());
        }
        let staging_bytes = shared.options.staging_bytes;
        let staging = Staging::new(&shared.volume, staging_bytes, is_marked());
        let staging = staging.map_err(EngineError::from)?;
        Ok(WriteTransaction::new(ticket, staging, &self.snapshot()))
    }

    fn wait_for_turn(&self) -> WriterTicket {
        let shared = &self.shared;
        let mut active = shared
            .writer_active
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while *active {
            active = shared
                .writer_done
                .wait(active)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *active = true;
        WriterTicket {
            engine: self.clone(),
        }
    }

    /// Moves what is alive out of mostly dead space and gives that space back, as far as no snapshot that is still
    /// held needs it. Waits for the write transaction in progress.
    ///
    /// # Errors
    /// The volume fails. Nothing is lost then.
    pub fn clean(&self) -> Result<CleanReport, MaintenanceError> {
        let report = self.shared.volume.clean()?;
        let ticket = self.wait_for_turn();
        // The newest state is pinned where it was; pinned where it is now, it lets the old space go.
        ticket.publish(self.snapshot().catalog().clone());
        self.shared.volume.checkpoint()?;
        Ok(report)
    }

    /// Checks the invariants of the tables of a volume, reading all of them. The pages below
    /// are [`Volume::check`]'s business.
    pub fn check(volume: &Volume) -> Vec<Finding> {
        check::check(volume)
    }
}

impl WriterTicket {
    /// Makes a state that has just been committed the newest one.
    pub(crate) fn publish(&self, catalog: Catalog) {
        let shared = &self.engine.shared;
        let source = PageSource::Committed(shared.volume.pin());
        *shared
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Snapshot::new(catalog, source);
    }

    /// Gives back what a transaction has staged, and its space.
    pub(crate) fn abort(&self, staging: &Staging) {
        // When it fails, the mark stays, and the next transaction or start frees the pages.
        if staging.abort().is_ok_and(|freed| freed) {
            // As in `Engine::clean`: the space must not be pinned.
            self.publish(self.engine.snapshot().catalog().clone());
            // A failure leaves the space for a later checkpoint.
            let _ = self.volume().checkpoint();
        }
    }

    pub(crate) fn volume(&self) -> &Volume {
        &self.engine.shared.volume
    }
}

impl Drop for WriterTicket {
    fn drop(&mut self) {
        let shared = &self.engine.shared;
        *shared
            .writer_active
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = false;
        shared.writer_done.notify_one();
    }
}

/// One state of all tables. It stays readable while it, a clone or one of its tables lives.
#[derive(Clone)]
pub struct Snapshot {
    catalog: Arc<Catalog>,
    source: Arc<PageSource>,
}

impl Snapshot {
    pub(crate) fn new(catalog: Catalog, source: PageSource) -> Self {
        Snapshot {
            catalog: Arc::new(catalog),
            source: Arc::new(source),
        }
    }

    /// The committed state that a pin holds.
    pub(crate) fn committed(pin: Pin) -> Result<Self, EngineError> {
        let catalog = if pin.contains(CATALOG_PAGE) {
            Catalog::decode(&pin.read(CATALOG_PAGE)?)?
        } else {
            Catalog::default()
        };
        Ok(Snapshot::new(catalog, PageSource::Committed(pin)))
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn source(&self) -> &Arc<PageSource> {
        &self.source
    }

    /// The column table called `name`. Its root is read when it is first asked for.
    ///
    /// # Errors
    /// The table's root cannot be read or understood.
    pub fn table(&self, name: &str) -> Result<Option<Arc<ColumnTable>>, EngineError> {
        match self.catalog.tables.get(name) {
            Some(entry) => Ok(Some(Arc::new(ColumnTable::new(entry, &self.source)?))),
            None => Ok(None),
        }
    }

    /// All column tables, by name.
    ///
    /// # Errors
    /// The root of one of them cannot be read or understood.
    pub fn tables(&self) -> Result<Vec<Arc<ColumnTable>>, EngineError> {
        let open = |entry| Ok(Arc::new(ColumnTable::new(entry, &self.source)?));
        self.catalog.tables.values().map(open).collect()
    }

    /// The definitions of all tables of either storage, by name. Reads nothing.
    pub fn definitions(&self) -> Vec<Arc<TableDefinition>> {
        self.catalog.definitions().into_iter().cloned().collect()
    }

    /// The definition of the table called `name`.
    pub fn definition(&self, name: &str) -> Option<&Arc<TableDefinition>> {
        self.catalog.definition(name)
    }

    /// The row table called `name`.
    pub fn row_table(&self, name: &str) -> Option<&Arc<RowTableEntry>> {
        self.catalog.row_tables.get(name)
    }

    /// All row tables, by name.
    pub fn row_tables(&self) -> impl Iterator<Item = &Arc<RowTableEntry>> {
        self.catalog.row_tables.values()
    }

    /// The view called `name`.
    pub fn view(&self, name: &str) -> Option<&Arc<ViewDefinition>> {
        self.catalog.views.get(name)
    }

    /// All views, by name.
    pub fn views(&self) -> impl Iterator<Item = &Arc<ViewDefinition>> {
        self.catalog.views.values()
    }

    /// The sequence called `name`.
    pub fn sequence(&self, name: &str) -> Option<&Arc<SequenceDefinition>> {
        self.catalog.sequences.get(name)
    }

    /// All sequences, by name.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SequenceDefinition>> {
        self.catalog.sequences.values()
    }

    /// The table that has the index called `name`; its primary key is one.
    pub fn table_of_index(&self, name: &str) -> Option<&Arc<TableDefinition>> {
        let mut tables = self.catalog.row_tables.values();
        let table = tables.find(|table| table.definition.index_names().any(|index| index == name));
        table.map(|table| &table.definition)
    }

    /// The id of the table or view called `name`: what views are recorded to depend on.
    pub fn id_of(&self, name: &str) -> Option<u64> {
        self.catalog.id_of(name)
    }

    /// Whether a table, index, view or sequence has this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.catalog.has_name(name)
    }

    /// Trees that belong to no table.
    pub fn trees(&self) -> &[TreeRecord] {
        &self.catalog.trees
    }

    /// Trees of what has been dropped, whose pages are still to be freed.
    pub fn dropped_trees(&self) -> &[TreeRecord] {
        &self.catalog.dropped_trees
    }

    /// Grows whenever a definition changes, not when rows do.
    pub fn schema_version(&self) -> u64 {
        self.catalog.schema_version
    }
}
