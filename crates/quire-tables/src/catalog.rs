//! The tables, views and sequences of one state of the database, in memory.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use arrow_schema::SchemaRef;
use quire_codec::Corrupt;
use quire_format::catalog::{CATALOG_VERSION, CatalogRecord, TableRecord};
use quire_format::table_root::TableRoot;
use quire_kv::btree::TreeOptions;
use quire_kv::mvcc::{TreeId, TreeSpec};
use quire_store::PageId;
use quire_store::pool::PageCodec;

use crate::definition::{
    ForeignKeyDefinition, RoleDefinition, SequenceDefinition, TableDefinition, TableOptions,
    TableStorage, TreeRecord, TreeRole, ViewDefinition,
};
use crate::delta::has_change_trees;
use crate::error::{DefinitionError, EngineError};
use crate::pages::PageSource;
use crate::row_group_entry::RowGroupEntry;
use crate::rows::{RowParts, is_referenced};
use crate::scan_statistics::TableScanTotals;

/// All tables, views and sequences, by name. Cheap to clone: a write transaction changes its own copy.
#[derive(Clone)]
pub(crate) struct Catalog {
    pub(crate) schema_version: u64,
    pub(crate) next_id: u64,
    pub(crate) next_tree_id: u64,
    /// Column tables.
    pub(crate) tables: BTreeMap<String, Arc<TableEntry>>,
    pub(crate) row_tables: BTreeMap<String, Arc<RowTableEntry>>,
    pub(crate) views: BTreeMap<String, Arc<ViewDefinition>>,
    pub(crate) sequences: BTreeMap<String, Arc<SequenceDefinition>>,
    pub(crate) roles: BTreeMap<String, Arc<RoleDefinition>>,
    /// Trees that belong to no table.
    pub(crate) trees: Vec<TreeRecord>,
    /// Trees whose pages are still to be freed.
    pub(crate) dropped_trees: Vec<TreeRecord>,
}

/// A row table of a catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct RowTableEntry {
    /// Id, unique for the life of the database.
    pub id: u64,
    /// What was declared.
    pub definition: Arc<TableDefinition>,
    /// Its trees: rows, overflow, and one for each index. A root page that is not in the volume is an empty tree.
    pub trees: Vec<TreeRecord>,
}

/// A table of a catalog. Its root is read when first asked for.
pub(crate) struct TableEntry {
    pub(crate) id: u64,
    pub(crate) definition: Arc<TableDefinition>,
    pub(crate) schema: SchemaRef,
    /// Empty for a table whose root has not been written yet.
    pub(crate) root_pages: Vec<PageId>,
    /// Of rows and deletions that are not in the segments yet: all or none of [`crate::delta::change_trees`].
    pub(crate) trees: Vec<TreeRecord>,
    state: OnceLock<Arc<TableState>>,
    /// What scans of the table did, whatever its state and name was.
    pub(crate) scans: Arc<TableScanTotals>,
}

/// The root of a table and its row groups, of which those already asked for are in memory.
pub(crate) struct TableState {
    pub(crate) root: TableRoot,
    pub(crate) row_count: u64,
    pub(crate) row_groups: Vec<Arc<RowGroupEntry>>,
    /// What has been proved or refuted of columns, by their place: see [`ColumnTable::is_unique`](crate::ColumnTable::is_unique).
    pub(crate) unique_columns: Mutex<BTreeMap<usize, bool>>,
}

impl Default for Catalog {
    fn default() -> Self {
        Catalog {
            schema_version: 0,
            next_id: 1,
            next_tree_id: 1,
            tables: BTreeMap::new(),
            row_tables: BTreeMap::new(),
            views: BTreeMap::new(),
            sequences: BTreeMap::new(),
            roles: BTreeMap::new(),
            trees: Vec::new(),
            dropped_trees: Vec::new(),
        }
    }
}

impl Catalog {
    pub(crate) fn decode(payload: &[u8]) -> Result<Self, EngineError> {
        let corrupt = |source| EngineError::Corrupt {
            what: "the catalog page".to_owned(),
            source,
        };
        if let Some(&version) = payload.first()
            && version > CATALOG_VERSION
        {
            let what =
                format!("the catalog page has version {version}, expected {CATALOG_VERSION}");
            return Err(EngineError::NewerVersion { what });
        }
        let record = CatalogRecord::decode(payload).map_err(corrupt)?;
        for table in &record.tables {
            if let Some(number) = TableOptions::newer_option(&table.options) {
                let what = format!("table {:?} has the unknown option {number}", table.name);
                return Err(EngineError::NewerVersion { what });
            }
        }
        Self::from_record(record).map_err(corrupt)
    }

    /// Whether it has a row table as somebody has known it.
    pub(crate) fn has_parts(&self, parts: &RowParts) -> bool {
        let entry = self.row_tables.get(&parts.definition.name);
        entry.is_some_and(|entry| {
            entry.id == parts.id
                && Arc::ptr_eq(&entry.definition, &parts.definition)
                && entry.trees == parts.trees
        })
    }

    /// Whether a foreign key refers to the table called `name`.
    pub(crate) fn is_referenced(&self, name: &str) -> bool {
        let mut entries = self.row_tables.values();
        entries.any(|entry| is_referenced(name, &entry.definition))
    }

    fn from_record(record: CatalogRecord) -> Result<Self, Corrupt> {
        let mut catalog = Catalog {
            schema_version: record.schema_version,
            next_id: record.next_id,
            next_tree_id: record.next_tree_id,
            trees: record.trees,
            dropped_trees: record.dropped_trees,
            ..Catalog::default()
        };
        for table in &record.tables {
            let name = table.name.clone();
            match table.storage {
                TableStorage::Column => {
                    let entry = Arc::new(TableEntry::from_record(table)?);
                    catalog.tables.insert(name, entry);
                }
                TableStorage::Row => {
                    let entry = Arc::new(RowTableEntry::from_record(table)?);
                    catalog.row_tables.insert(name, entry);
                }
            }
        }
        for view in record.views {
            catalog.views.insert(view.name.clone(), Arc::new(view));
        }
        for sequence in &record.sequences {
            let sequence = Arc::new(SequenceDefinition::from_record(sequence)?);
            catalog.sequences.insert(sequence.name.clone(), sequence);
        }
        for role in record.roles {
            catalog.roles.insert(role.name.clone(), Arc::new(role));
        }
        match catalog.foreign_key_error() {
            Some(error) => Err(Corrupt::new(error.to_string(), 0)),
            None => Ok(catalog),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let columnar = self.tables.values().map(|table| table.to_record());
        let rows = self.row_tables.values().map(|table| table.to_record());
        let mut tables: Vec<_> = columnar.chain(rows).collect();
        tables.sort_by_key(|table| table.id);
        let mut views: Vec<_> = self.views.values().map(|view| (**view).clone()).collect();
        views.sort_by_key(|view| view.id);
        let sequences = self.sequences.values();
        let mut sequences: Vec<_> = sequences.map(|sequence| sequence.to_record()).collect();
        sequences.sort_by_key(|sequence| sequence.id);
        let mut roles: Vec<_> = self.roles.values().map(|role| (**role).clone()).collect();
        roles.sort_by_key(|role| role.id);
        let record = CatalogRecord {
            schema_version: self.schema_version,
            next_id: self.next_id,
            next_tree_id: self.next_tree_id,
            tables,
            views,
            sequences,
            trees: self.trees.clone(),
            dropped_trees: self.dropped_trees.clone(),
            roles,
        };
        record.encode()
    }

    /// Every tree that has pages, also those that nobody uses any more.
    pub(crate) fn all_trees(&self) -> impl Iterator<Item = &TreeRecord> {
        self.live_trees().chain(&self.dropped_trees)
    }

    /// The trees of all tables, and those of none.
    pub(crate) fn live_trees(&self) -> impl Iterator<Item = &TreeRecord> {
        let columnar = self.tables.values().flat_map(|table| &table.trees);
        let rows = self.row_tables.values().flat_map(|table| &table.trees);
        columnar.chain(rows).chain(&self.trees)
    }

    /// The table whose rows are in a tree.
    pub(crate) fn definition_of_rows(&self, tree: &TreeRecord) -> Option<&TableDefinition> {
        let mut tables = self.row_tables.values();
        let table = tables.find(|table| tree.role == TreeRole::Rows && table.trees.contains(tree));
        table.map(|table| &*table.definition)
    }

    /// The options of the table that a tree belongs to.
    pub(crate) fn options_of(&self, tree: &TreeRecord) -> TableOptions {
        let columnar = self
            .tables
            .values()
            .map(|table| (&table.trees, &table.definition));
        let rows = self
            .row_tables
            .values()
            .map(|table| (&table.trees, &table.definition));
        let mut tables = columnar.chain(rows);
        let definition = tables
            .find(|(trees, _)| trees.contains(tree))
            .map(|(_, found)| found);
        definition
            .map(|definition| definition.options)
            .unwrap_or_default()
    }

    /// How the pages of a tree are kept, if by rows, in a table with these options.
    pub(crate) fn tree_spec(
        &self,
        tree: &TreeRecord,
        options: &TableOptions,
    ) -> Result<TreeSpec, EngineError> {
        let codec = PageCodec::new(options.page_codec, options.page_codec_level);
        let codec = codec.map_err(|error| EngineError::Corrupt {
            what: "the page codec of a table".to_owned(),
            source: Corrupt::new(error.to_string(), 0),
        })?;
        Ok(TreeSpec {
            id: TreeId::new(tree.id),
            root: tree.root,
            codec,
            options: TreeOptions {
                page_bytes: options.page_bytes,
                layout: 0,
            },
            holds_deletions: tree.role == TreeRole::Deletions,
        })
    }

    /// Definitions of all tables, by name.
    pub(crate) fn definitions(&self) -> Vec<&Arc<TableDefinition>> {
        let columnar = self.tables.values().map(|table| &table.definition);
        let rows = self.row_tables.values().map(|table| &table.definition);
        let mut definitions: Vec<_> = columnar.chain(rows).collect();
        definitions.sort_by(|left, right| left.name.cmp(&right.name));
        definitions
    }

    /// The definition of the table called `name`, of either storage.
    pub(crate) fn definition(&self, name: &str) -> Option<&Arc<TableDefinition>> {
        let columnar = self.tables.get(name).map(|table| &table.definition);
        columnar.or_else(|| self.row_tables.get(name).map(|table| &table.definition))
    }

    /// The id of the table or view called `name`.
    pub(crate) fn id_of(&self, name: &str) -> Option<u64> {
        let table = self.tables.get(name).map(|table| table.id);
        let row_table = || self.row_tables.get(name).map(|table| table.id);
        let view = || self.views.get(name).map(|view| view.id);
        table.or_else(row_table).or_else(view)
    }

    /// Whether a table, index, primary key, view or sequence has this name.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.tables.contains_key(name)
            || self.row_tables.contains_key(name)
            || self.views.contains_key(name)
            || self.sequences.contains_key(name)
            || self.row_tables.values().any(|table| {
                let mut names = table.definition.index_names();
                names.any(|index| index == name)
            })
    }

    /// What is wrong with a foreign key, if anything: it must refer to columns that are unique, of the same types.
    pub(crate) fn foreign_key_error(&self) -> Option<DefinitionError> {
        let definitions = self.row_tables.values().map(|table| &table.definition);
        let mut keys = definitions.flat_map(|definition| {
            let keys = definition.foreign_keys.iter();
            keys.map(move |key| (definition, key))
        });
        keys.find_map(|(definition, key)| {
            let what = self.foreign_key_problem(definition, key)?;
            Some(DefinitionError::ForeignKey {
                key: key.name.clone(),
                what,
            })
        })
    }

    fn foreign_key_problem(
        &self,
        definition: &TableDefinition,
        key: &ForeignKeyDefinition,
    ) -> Option<String> {
        let name = &key.referenced_table;
        let Some(referenced) = self.definition(name) else {
            return Some(format!("there is no table {name:?}"));
        };
        if !referenced.has_unique_key(&key.referenced_columns) {
            return Some(format!(
                "there is no unique constraint matching given keys for referenced table {name:?}"
            ));
        }
        let pairs = key.columns.iter().zip(&key.referenced_columns);
        for (&own, &other) in pairs {
            let (own, other) = (definition.columns.get(own)?, referenced.columns.get(other)?);
            if !own.sql_type.has_keys_of(&other.sql_type) {
                return Some(format!(
                    "key columns {:?} and {:?} are of incompatible types: {} and {}",
                    own.name, other.name, own.sql_type, other.sql_type
                ));
            }
        }
        None
    }
}

impl RowTableEntry {
    fn from_record(record: &TableRecord) -> Result<Self, Corrupt> {
        let corrupt = |what: &str| {
            let what = format!("table {:?}: {what}", record.name);
            Err(Corrupt::new(what, 0))
        };
        if !record.root_pages.is_empty() {
            return corrupt("it has rows, and the root of a column table");
        }
        let indexes = record.indexes.iter().map(|index| TreeRole::Index(index.id));
        let expected: BTreeSet<_> = [TreeRole::Rows, TreeRole::Overflow]
            .into_iter()
            .chain(indexes)
            .collect();
        let found: BTreeSet<_> = record.trees.iter().map(|tree| tree.role).collect();
        if found != expected || found.len() != record.trees.len() {
            return corrupt("its trees are not those of its indexes");
        }
        Ok(RowTableEntry {
            id: record.id,
            definition: Arc::new(TableDefinition::from_record(record)?),
            trees: record.trees.clone(),
        })
    }

    fn to_record(&self) -> TableRecord {
        TableRecord {
            id: self.id,
            trees: self.trees.clone(),
            ..self.definition.to_record()
        }
    }
}

impl TableEntry {
    pub(crate) fn new(id: u64, definition: Arc<TableDefinition>) -> Self {
        let types = definition
            .columns
            .iter()
            .map(|column| column.sql_type.physical_type());
        let state = TableState::new(TableRoot::empty(id, types), Vec::new());
        TableEntry {
            id,
            schema: definition.arrow_schema(),
            definition,
            root_pages: Vec::new(),
            trees: Vec::new(),
            state: OnceLock::from(Arc::new(state)),
            scans: Arc::default(),
        }
    }

    /// The same table in another state.
    pub(crate) fn with_state(&self, root_pages: Vec<PageId>, state: Arc<TableState>) -> Self {
        TableEntry {
            id: self.id,
            definition: Arc::clone(&self.definition),
            schema: Arc::clone(&self.schema),
            root_pages,
            trees: self.trees.clone(),
            state: OnceLock::from(state),
            scans: Arc::clone(&self.scans),
        }
    }

    /// The same table with other trees of changes.
    pub(crate) fn with_trees(&self, trees: Vec<TreeRecord>) -> Self {
        TableEntry {
            id: self.id,
            definition: Arc::clone(&self.definition),
            schema: Arc::clone(&self.schema),
            root_pages: self.root_pages.clone(),
            trees,
            state: self.state.clone(),
            scans: Arc::clone(&self.scans),
        }
    }

    /// The rows that are in no row group, as a row table.
    pub(crate) fn delta_entry(&self) -> RowTableEntry {
        RowTableEntry {
            id: self.id,
            definition: Arc::clone(&self.definition),
            trees: self.trees.clone(),
        }
    }

    /// The same table with another definition, which has the same types of columns.
    pub(crate) fn with_definition(&self, definition: Arc<TableDefinition>) -> Self {
        TableEntry {
            id: self.id,
            schema: definition.arrow_schema(),
            definition,
            root_pages: self.root_pages.clone(),
            trees: self.trees.clone(),
            state: self.state.clone(),
            scans: Arc::clone(&self.scans),
        }
    }

    /// The rows of this table in a table with another id. Its root is still to be written.
    pub(crate) fn in_place_of(
        &self,
        id: u64,
        definition: Arc<TableDefinition>,
        state: &TableState,
    ) -> Self {
        let mut root = state.root.clone();
        root.table_id = id;
        let state = TableState::new(root, state.row_groups.clone());
        let entry = self.with_definition(definition);
        TableEntry {
            id,
            state: OnceLock::from(Arc::new(state)),
            ..entry
        }
    }

    fn from_record(record: &TableRecord) -> Result<Self, Corrupt> {
        if !has_change_trees(&record.trees) {
            let what = format!(
                "table {:?}: its trees are not those of changes",
                record.name
            );
            return Err(Corrupt::new(what, 0));
        }
        let definition = Arc::new(TableDefinition::from_record(record)?);
        Ok(TableEntry {
            id: record.id,
            schema: definition.arrow_schema(),
            definition,
            root_pages: record.root_pages.clone(),
            trees: record.trees.clone(),
            state: OnceLock::new(),
            scans: Arc::default(),
        })
    }

    fn to_record(&self) -> TableRecord {
        assert!(
            !self.root_pages.is_empty(),
            "the root is written before the catalog"
        );
        TableRecord {
            id: self.id,
            root_pages: self.root_pages.clone(),
            trees: self.trees.clone(),
            ..self.definition.to_record()
        }
    }

    /// The table's root and row groups.
    pub(crate) fn state(&self, source: &PageSource) -> Result<Arc<TableState>, EngineError> {
        if let Some(state) = self.state.get() {
            return Ok(Arc::clone(state));
        }
        let bytes = source.read(&self.root_pages)?;
        let root = TableRoot::decode(&bytes).and_then(|root| self.check_root(root));
        let root = root.map_err(|source| EngineError::Corrupt {
            what: format!("the root of table {:?}", self.definition.name),
            source,
        })?;
        let entries = root
            .row_groups
            .iter()
            .cloned()
            .map(RowGroupEntry::new)
            .map(Arc::new);
        let state = Arc::new(TableState::new(root.clone(), entries.collect()));
        Ok(Arc::clone(self.state.get_or_init(|| state)))
    }

    /// The root must be this table's, with its columns' types, and name no page twice.
    fn check_root(&self, root: TableRoot) -> Result<TableRoot, Corrupt> {
        if root.table_id != self.id {
            return Err(Corrupt::new(
                format!("it is that of table id {}", root.table_id),
                0,
            ));
        }
        let declared = self
            .definition
            .columns
            .iter()
            .map(|column| column.sql_type.physical_type());
        if !declared.eq(root.columns.iter().map(|column| column.physical_type)) {
            return Err(Corrupt::new("its columns are not those of the catalog", 0));
        }
        let mut pages = HashSet::new();
        let of_row_groups = root.row_groups.iter().flat_map(|one| &one.pages);
        for page in of_row_groups.chain(root.dictionary_pages()) {
            if !pages.insert(*page) {
                return Err(Corrupt::new(format!("it names page {page} twice"), 0));
            }
        }
        Ok(root)
    }
}

impl TableState {
    pub(crate) fn new(root: TableRoot, row_groups: Vec<Arc<RowGroupEntry>>) -> Self {
        let row_count = root.row_count();
        TableState {
            root,
            row_count,
            row_groups,
            unique_columns: Mutex::default(),
        }
    }
}
