//! The tables of one state of the database, in memory.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

use arrow_schema::SchemaRef;
use quire_codec::Corrupt;
use quire_format::catalog::{CatalogRecord, TableRecord};
use quire_format::row_group::RowGroup;
use quire_format::table_root::{RowGroupPointer, TableRoot};
use quire_store::PageId;

use crate::definition::{ColumnDefinition, TableDefinition};
use crate::error::EngineError;
use crate::pages::PageSource;

/// All tables, by name. Cheap to clone: a write transaction changes its own copy.
#[derive(Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) schema_version: u64,
    pub(crate) next_table_id: u64,
    pub(crate) tables: BTreeMap<String, Arc<TableEntry>>,
}

/// A table of a catalog. Its root is read when first asked for.
pub(crate) struct TableEntry {
    pub(crate) id: u64,
    pub(crate) definition: Arc<TableDefinition>,
    pub(crate) schema: SchemaRef,
    /// Empty for a table whose root has not been written yet.
    pub(crate) root_pages: Vec<PageId>,
    state: OnceLock<Arc<TableState>>,
}

/// The root of a table and its row groups, of which those already asked for are in memory.
pub(crate) struct TableState {
    pub(crate) root: TableRoot,
    pub(crate) row_count: u64,
    pub(crate) row_groups: Vec<Arc<RowGroupEntry>>,
}

/// A row group of a table, shared by all states of the table that have it.
pub(crate) struct RowGroupEntry {
    pub(crate) pointer: RowGroupPointer,
    row_group: OnceLock<Arc<RowGroup>>,
}

impl Catalog {
    pub(crate) fn decode(payload: &[u8]) -> Result<Self, EngineError> {
        let corrupt = |source| EngineError::Corrupt {
            what: "the catalog page".to_owned(),
            source,
        };
        let record = CatalogRecord::decode(payload).map_err(corrupt)?;
        let mut tables = BTreeMap::new();
        for table in &record.tables {
            let entry = TableEntry::from_record(table).map_err(corrupt)?;
            tables.insert(table.name.clone(), Arc::new(entry));
        }
        Ok(Catalog {
            schema_version: record.schema_version,
            next_table_id: record.next_table_id,
            tables,
        })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut tables: Vec<_> = self
            .tables
            .values()
            .map(|table| table.to_record())
            .collect();
        tables.sort_by_key(|table| table.id);
        let record = CatalogRecord {
            schema_version: self.schema_version,
            next_table_id: self.next_table_id,
            tables,
        };
        record.encode()
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
            state: OnceLock::from(Arc::new(state)),
        }
    }

    /// The same table in another state.
    pub(crate) fn with_state(&self, root_pages: Vec<PageId>, state: Arc<TableState>) -> Self {
        TableEntry {
            id: self.id,
            definition: Arc::clone(&self.definition),
            schema: Arc::clone(&self.schema),
            root_pages,
            state: OnceLock::from(state),
        }
    }

    fn from_record(record: &TableRecord) -> Result<Self, Corrupt> {
        let columns = record.columns.iter().map(ColumnDefinition::from_record);
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let definition = Arc::new(TableDefinition {
            name: record.name.clone(),
            columns,
        });
        if let Err(error) = definition.validate() {
            return Err(Corrupt::new(format!("table {:?}: {error}", record.name), 0));
        }
        Ok(TableEntry {
            id: record.id,
            schema: definition.arrow_schema(),
            definition,
            root_pages: record.root_pages.clone(),
            state: OnceLock::new(),
        })
    }

    fn to_record(&self) -> TableRecord {
        assert!(
            !self.root_pages.is_empty(),
            "the root is written before the catalog"
        );
        TableRecord {
            id: self.id,
            name: self.definition.name.clone(),
            root_pages: self.root_pages.clone(),
            columns: self
                .definition
                .columns
                .iter()
                .map(ColumnDefinition::to_record)
                .collect(),
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
        let mut all_pages = root
            .row_groups
            .iter()
            .flat_map(|row_group| &row_group.pages);
        match all_pages.find(|page| !pages.insert(**page)) {
            Some(page) => Err(Corrupt::new(format!("it names page {page} twice"), 0)),
            None => Ok(root),
        }
    }
}

impl TableState {
    pub(crate) fn new(root: TableRoot, row_groups: Vec<Arc<RowGroupEntry>>) -> Self {
        let row_count = root.row_count();
        TableState {
            root,
            row_count,
            row_groups,
        }
    }
}

impl RowGroupEntry {
    pub(crate) fn new(pointer: RowGroupPointer) -> Self {
        RowGroupEntry {
            pointer,
            row_group: OnceLock::new(),
        }
    }

    pub(crate) fn loaded(pointer: RowGroupPointer, row_group: Arc<RowGroup>) -> Self {
        RowGroupEntry {
            pointer,
            row_group: OnceLock::from(row_group),
        }
    }

    /// The row group's metadata, read when first asked for. `index` is its place in the table.
    pub(crate) fn row_group(
        &self,
        source: &PageSource,
        definition: &TableDefinition,
        index: usize,
    ) -> Result<Arc<RowGroup>, EngineError> {
        if let Some(row_group) = self.row_group.get() {
            return Ok(Arc::clone(row_group));
        }
        let bytes = source.read(&self.pointer.pages)?;
        let row_group =
            RowGroup::decode(&bytes).and_then(|row_group| self.check(definition, row_group));
        let row_group = row_group.map_err(|source| EngineError::Corrupt {
            what: format!("row group {index} of table {:?}", definition.name),
            source,
        })?;
        Ok(Arc::clone(
            self.row_group.get_or_init(|| Arc::new(row_group)),
        ))
    }

    /// The row group must have the rows its table's root says and the columns the table has.
    fn check(
        &self,
        definition: &TableDefinition,
        row_group: RowGroup,
    ) -> Result<RowGroup, Corrupt> {
        if row_group.row_count != self.pointer.row_count {
            let (rows, expected) = (row_group.row_count, self.pointer.row_count);
            return Err(Corrupt::new(
                format!("it has {rows} rows, the table's root says {expected}"),
                0,
            ));
        }
        let declared = definition
            .columns
            .iter()
            .map(|column| column.sql_type.physical_type());
        if !declared.eq(row_group.columns.iter().map(|column| column.physical_type)) {
            return Err(Corrupt::new("its columns are not those of the catalog", 0));
        }
        Ok(row_group)
    }
}
