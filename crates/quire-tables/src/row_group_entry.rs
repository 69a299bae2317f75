//! A row group of a table, whose metadata is read when it is first needed.

use std::sync::{Arc, OnceLock};

use quire_codec::Corrupt;
use quire_format::row_group::RowGroup;
use quire_format::table_root::RowGroupPointer;
use quire_store::PageId;

use crate::definition::TableDefinition;
use crate::error::EngineError;

/// A row group of a table, shared by all states of the table that have it.
pub(crate) struct RowGroupEntry {
    pub(crate) pointer: RowGroupPointer,
    row_group: OnceLock<Arc<RowGroup>>,
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

    /// Whether the metadata is in memory.
    pub(crate) fn is_loaded(&self) -> bool {
        self.row_group.get().is_some()
    }

    /// The row group's metadata, which `read` reads when first asked for. `index` is its place in the table.
    pub(crate) fn row_group(
        &self,
        definition: &TableDefinition,
        index: usize,
        read: impl FnOnce(&[PageId]) -> Result<Arc<[u8]>, EngineError>,
    ) -> Result<Arc<RowGroup>, EngineError> {
        if let Some(row_group) = self.row_group.get() {
            return Ok(Arc::clone(row_group));
        }
        let bytes = read(&self.pointer.pages)?;
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
