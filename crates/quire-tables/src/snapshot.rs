//! One state of the database, to read.

use std::sync::Arc;

use quire_format::column_sample::ColumnSample;
use quire_format::row_page::PageTransform;
use quire_kv::mvcc::{LockObject, ReadView, TreeId};
use quire_store::pool::PoolStats;
use quire_store::{CATALOG_PAGE, Pin};

use crate::catalog::{Catalog, RowTableEntry, TableEntry};
use crate::column_reads::ColumnReads;
use crate::definition::{
    RoleDefinition, SequenceDefinition, TableDefinition, TreeRecord, TreeRole, ViewDefinition,
};
use crate::delta::ColumnChanges;
use crate::error::{EngineError, RowScanError, SequenceError};
use crate::pages::PageSource;
use crate::row_half::RowHalf;
use crate::rows::{RowParts, RowTable, TreeSize, column_samples};
use crate::table::ColumnTable;

/// One state of all tables. It stays readable while it, a clone or one of its tables lives.
#[derive(Clone)]
pub struct Snapshot {
    catalog: Arc<Catalog>,
    source: Arc<PageSource>,
    /// What can be read of row tables; nothing in a state that is only checked.
    rows: Option<RowsOfSnapshot>,
}

/// The row tables of a snapshot.
#[derive(Clone)]
pub(crate) struct RowsOfSnapshot {
    pub(crate) half: Arc<RowHalf>,
    pub(crate) view: ReadView,
    /// Where it is noted which column tables are read.
    reads: Option<Arc<ColumnReads>>,
}

impl Snapshot {
    pub(crate) fn new(catalog: Catalog, source: PageSource) -> Self {
        Snapshot {
            catalog: Arc::new(catalog),
            source: Arc::new(source),
            rows: None,
        }
    }

    /// Tables whose pages are read there.
    pub(crate) fn of(catalog: Catalog, source: &Arc<PageSource>) -> Self {
        Snapshot {
            catalog: Arc::new(catalog),
            source: Arc::clone(source),
            rows: None,
        }
    }

    /// The same tables, with the rows that a view has.
    pub(crate) fn with_rows(&self, half: &Arc<RowHalf>, view: ReadView) -> Self {
        Snapshot {
            rows: Some(RowsOfSnapshot {
                half: Arc::clone(half),
                view,
                reads: None,
            }),
            ..self.clone()
        }
    }

    /// Whether its tables are those of this catalog, the same in memory.
    pub(crate) fn has_catalog(&self, catalog: &Catalog) -> bool {
        std::ptr::eq(self.catalog(), catalog)
    }

    /// See [`ReadView::forget_changes`].
    pub(crate) fn forget_changes(&mut self) {
        if let Some(rows) = &mut self.rows {
            rows.view.forget_changes();
        }
    }

    /// The same, and it is noted which column tables are read.
    pub(crate) fn noting(mut self, reads: &Arc<ColumnReads>) -> Self {
        if let Some(rows) = &mut self.rows {
            rows.reads = Some(Arc::clone(reads));
        }
        self
    }

    /// The same, but for the trees of the changes of a table, which it gets from a newer catalog. False when that has another table.
    pub(crate) fn adopt_trees(&mut self, name: &str, newer: &Catalog) -> bool {
        let (Some(own), Some(newer)) = (self.catalog.tables.get(name), newer.tables.get(name))
        else {
            return false;
        };
        let is_same = Arc::ptr_eq(&own.definition, &newer.definition)
            && own.root_pages == newer.root_pages
            && own.trees.is_empty();
        if is_same {
            // The same but for the trees. What is committed later is compared with the one that is committed now.
            let entry = Arc::clone(newer);
            let catalog = Arc::make_mut(&mut self.catalog);
            catalog.tables.insert(name.to_owned(), entry);
        }
        is_same
    }

    /// The same tables as another version of the volume has them.
    pub(crate) fn pinned_as(&self, source: PageSource) -> Self {
        Snapshot {
            catalog: Arc::clone(&self.catalog),
            source: Arc::new(source),
            rows: None,
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

    pub(crate) fn shared_catalog(&self) -> &Arc<Catalog> {
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
            Some(entry) => {
                let rows = self.rows.as_ref();
                if let Some(reads) = rows.and_then(|rows| rows.reads.as_ref()) {
                    reads.note(entry);
                }
                Ok(Some(self.column_table(entry)?))
            }
            None => Ok(None),
        }
    }

    fn column_table(&self, entry: &Arc<TableEntry>) -> Result<Arc<ColumnTable>, EngineError> {
        let parts = self.delta_parts(entry)?;
        let changes = parts.zip(self.rows.as_ref()).and_then(|(parts, rows)| {
            let delta = RowTable::new(parts, rows.view.clone());
            ColumnChanges::new(delta)
        });
        Ok(Arc::new(ColumnTable::new(entry, &self.source, changes)?))
    }

    /// What follows from the trees of changes of a column table, if it has them.
    fn delta_parts(&self, entry: &TableEntry) -> Result<Option<Arc<RowParts>>, EngineError> {
        let Some(rows) = self.rows.as_ref().filter(|_| !entry.trees.is_empty()) else {
            return Ok(None);
        };
        rows.half.parts(&entry.delta_entry()).map(Some)
    }

    /// All column tables, by name.
    ///
    /// # Errors
    /// The root of one of them cannot be read or understood.
    pub fn tables(&self) -> Result<Vec<Arc<ColumnTable>>, EngineError> {
        let entries = self.catalog.tables.values();
        entries.map(|entry| self.column_table(entry)).collect()
    }

    /// The definitions of all tables of either storage, by name. Reads nothing.
    pub fn definitions(&self) -> Vec<Arc<TableDefinition>> {
        self.catalog.definitions().into_iter().cloned().collect()
    }

    /// The definition of the table called `name`.
    pub fn definition(&self, name: &str) -> Option<&Arc<TableDefinition>> {
        self.catalog.definition(name)
    }

    /// The row table called `name`, as this snapshot has it.
    ///
    /// # Errors
    /// Its definition makes no layout.
    pub fn row_table(&self, name: &str) -> Result<Option<Arc<RowTable>>, EngineError> {
        let parts = self.row_parts(name)?;
        let (Some(parts), Some(rows)) = (parts, &self.rows) else {
            return Ok(None);
        };
        Ok(Some(self.row_table_of(parts, rows)))
    }

    /// What the catalog has of the row table called `name`.
    pub fn row_table_entry(&self, name: &str) -> Option<&Arc<RowTableEntry>> {
        self.catalog.row_tables.get(name)
    }

    /// All row tables, by name.
    ///
    /// # Errors
    /// A definition makes no layout.
    pub fn row_tables(&self) -> Result<Vec<Arc<RowTable>>, EngineError> {
        let Some(rows) = &self.rows else {
            return Ok(Vec::new());
        };
        let parts = rows.half.all_parts(&self.catalog)?;
        let tables = parts.iter();
        Ok(tables
            .map(|parts| self.row_table_of(Arc::clone(parts), rows))
            .collect())
    }

    fn row_table_of(&self, parts: Arc<RowParts>, rows: &RowsOfSnapshot) -> Arc<RowTable> {
        let table = RowTable::new(parts, rows.view.clone());
        let samples = self.samples_tree().map(|tree| TreeId::new(tree.id));
        Arc::new(table.with_samples(samples))
    }

    /// What the trees of a row table, or of the changes of a column table, take in the file.
    ///
    /// # Errors
    /// Inner pages cannot be read or understood.
    pub fn tree_sizes(&self, name: &str) -> Result<Vec<TreeSize>, EngineError> {
        let parts = match self.catalog.tables.get(name) {
            Some(entry) => self.delta_parts(entry)?,
            None => self.row_parts(name)?,
        };
        match parts {
            Some(parts) => parts.tree_sizes(&self.source),
            None => Ok(Vec::new()),
        }
    }

    /// How the bytes of most pages of each tree of a row table lie in the file, in the order of [`tree_sizes`](Self::tree_sizes): what
    /// `storage_format = auto` has chosen. A few pages of each tree are read; `None` of a tree that has no stored page.
    ///
    /// # Errors
    /// Pages cannot be read or understood.
    pub fn stored_transforms(&self, name: &str) -> Result<Vec<Option<PageTransform>>, EngineError> {
        match self.row_parts(name)? {
            Some(parts) => parts.stored_transforms(&self.source),
            None => Ok(Vec::new()),
        }
    }

    /// What the pool of row pages has done, and how large it is.
    pub fn pool_stats(&self) -> Option<PoolStats> {
        self.rows.as_ref().map(|rows| rows.half.pool.stats())
    }

    pub(crate) fn row_parts(&self, name: &str) -> Result<Option<Arc<RowParts>>, EngineError> {
        match (self.catalog.row_tables.get(name), &self.rows) {
            (Some(entry), Some(rows)) => Ok(Some(rows.half.parts(entry)?)),
            _ => Ok(None),
        }
    }

    /// What `ANALYZE` has found of the table with that id: ordinals of columns, and samples.
    ///
    /// # Errors
    /// The samples cannot be read or understood.
    pub fn column_samples(&self, table: u64) -> Result<Vec<(usize, ColumnSample)>, RowScanError> {
        match (self.samples_tree(), &self.rows) {
            (Some(tree), Some(rows)) => {
                column_samples::of_table(&rows.view, TreeId::new(tree.id), table)
            }
            _ => Ok(Vec::new()),
        }
    }

    pub(crate) fn samples_tree(&self) -> Option<TreeRecord> {
        let mut trees = self.catalog.trees.iter();
        trees.find(|tree| tree.role == TreeRole::Samples).copied()
    }

    /// Whether a foreign key refers to the table called `name`.
    pub fn is_referenced(&self, name: &str) -> bool {
        self.catalog.is_referenced(name)
    }

    /// Advances a sequence and returns its value. A rollback of the calling transaction does not undo that.
    ///
    /// # Errors
    /// See [`SequenceError`].
    pub fn next_value(&self, sequence: &SequenceDefinition) -> Result<i64, SequenceError> {
        let (half, tree) = self.sequence_tree(sequence)?;
        half.sequences.next(&half.mvcc, tree, sequence)
    }

    /// Returns when no crash can undo what [`next_value`](Self::next_value) and [`set_value`](Self::set_value) have done so far. Whoever returns
    /// a value outside of a transaction that stores it calls this first.
    ///
    /// # Errors
    /// See [`SequenceError`].
    pub fn sync_sequences(&self) -> Result<(), SequenceError> {
        match &self.rows {
            Some(rows) => rows.half.sequences.sync(&rows.half.mvcc),
            None => Ok(()),
        }
    }

    /// The value that [`next_value`](Self::next_value) would return, without advancing the sequence; `None` if it is exhausted.
    ///
    /// # Errors
    /// See [`SequenceError`].
    pub fn peek_value(&self, sequence: &SequenceDefinition) -> Result<Option<i64>, SequenceError> {
        let (half, tree) = self.sequence_tree(sequence)?;
        half.sequences.peek(&half.mvcc, tree, sequence)
    }

    /// The value that a sequence handed out last, or the one with which it starts. After the database was opened it is the last one that was
    /// reserved, which may not have been handed out.
    ///
    /// # Errors
    /// See [`SequenceError`].
    pub fn last_value(&self, sequence: &SequenceDefinition) -> Result<i64, SequenceError> {
        let (half, tree) = self.sequence_tree(sequence)?;
        half.sequences.last(&half.mvcc, tree, sequence)
    }

    /// Sets the last value of a sequence, as `setval` does: the next one is `value` itself unless `is_called`, otherwise its successor.
    ///
    /// # Errors
    /// See [`SequenceError`].
    pub fn set_value(
        &self,
        sequence: &SequenceDefinition,
        value: i64,
        is_called: bool,
    ) -> Result<(), SequenceError> {
        let (half, tree) = self.sequence_tree(sequence)?;
        half.sequences
            .set(&half.mvcc, tree, sequence, value, is_called)
    }

    fn sequence_tree(
        &self,
        sequence: &SequenceDefinition,
    ) -> Result<(&RowHalf, TreeId), SequenceError> {
        let mut trees = self.catalog.trees.iter();
        let tree = trees.find(|tree| tree.role == TreeRole::Sequences);
        match (tree, &self.rows) {
            (Some(tree), Some(rows)) => Ok((&rows.half, TreeId::new(tree.id))),
            _ => Err(SequenceError::Damaged {
                sequence: sequence.name.clone(),
            }),
        }
    }

    /// The sequence with that id.
    pub fn sequence_by_id(&self, id: u64) -> Option<Arc<SequenceDefinition>> {
        self.catalog
            .sequences
            .values()
            .find(|sequence| sequence.id == id)
            .cloned()
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
    pub fn sequence(&self, name: &str) -> Option<Arc<SequenceDefinition>> {
        self.catalog.sequences.get(name).cloned()
    }

    /// All sequences, by name.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SequenceDefinition>> {
        self.catalog.sequences.values()
    }

    /// The role called `name`.
    pub fn role(&self, name: &str) -> Option<&Arc<RoleDefinition>> {
        self.catalog.roles.get(name)
    }

    /// All roles, by name.
    pub fn roles(&self) -> impl Iterator<Item = &Arc<RoleDefinition>> {
        self.catalog.roles.values()
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

    /// Number and name of the table that a lock is on, or of the table of the row that it is on.
    pub fn table_of_lock(&self, object: LockObject) -> Option<(u64, &str)> {
        let rows = self.catalog.row_tables.values();
        let rows = rows.map(|it| (it.id, &it.definition.name, &it.trees));
        let columns = self.catalog.tables.values();
        let columns = columns.map(|it| (it.id, &it.definition.name, &it.trees));
        let is_locked = |id: u64, trees: &[TreeRecord]| match object {
            LockObject::Table(table) | LockObject::Definition(table) => table == id,
            LockObject::Row(tree) | LockObject::Tree(tree) => {
                trees.iter().any(|known| known.id == tree.get())
            }
            LockObject::Definitions => false,
        };
        let mut tables = rows.chain(columns);
        let found = tables.find(|(id, _, trees)| is_locked(*id, trees));
        found.map(|(id, name, _)| (id, name.as_str()))
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
