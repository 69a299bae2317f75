//! The zones of a row group as Arrow arrays, for predicates to prune with.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use quire_codec::CodecScalar;
use quire_format::row_group::{ColumnChunk, RowGroup};
use quire_format::zone::ZoneBounds;

use crate::definition::TableDefinition;
use crate::scalar_array::scalar_array;

/// Zones of consecutive pieces of a table; every array has one value per zone.
///
/// Columns are indices into the table's definition. A bound that is NULL is unknown, or the zone has no
/// value that is not NULL: its [`ZoneTable::null_counts`] then equals its [`ZoneTable::row_counts`].
pub struct ZoneTable {
    definition: Arc<TableDefinition>,
    row_group: Arc<RowGroup>,
}

impl ZoneTable {
    /// One zone per vector group of a row group.
    pub(crate) fn new(definition: Arc<TableDefinition>, row_group: Arc<RowGroup>) -> Self {
        ZoneTable {
            definition,
            row_group,
        }
    }

    /// Number of zones.
    pub fn len(&self) -> usize {
        self.row_group.group_count()
    }

    /// Whether there is no zone.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the table's columns are.
    pub fn definition(&self) -> &Arc<TableDefinition> {
        &self.definition
    }

    /// Lower bounds of a column in its Arrow type; `None` when there is no such column.
    pub fn min(&self, column: usize) -> Option<ArrayRef> {
        self.bounds(column, |zone| zone.min.as_ref())
    }

    /// Upper bounds of a column in its Arrow type; `None` when there is no such column.
    pub fn max(&self, column: usize) -> Option<ArrayRef> {
        self.bounds(column, |zone| zone.max.as_ref())
    }

    /// NULLs of a column; `None` when there is no such column.
    pub fn null_counts(&self, column: usize) -> Option<UInt64Array> {
        let chunk = self.chunk(column)?;
        Some(
            chunk
                .group_zones
                .iter()
                .map(|zone| Some(zone.null_count))
                .collect(),
        )
    }

    /// Rows of each zone.
    pub fn row_counts(&self) -> UInt64Array {
        (0..self.len())
            .map(|group| Some(self.row_group.group_rows(group) as u64))
            .collect()
    }

    fn chunk(&self, column: usize) -> Option<&ColumnChunk> {
        self.row_group.columns.get(column)
    }

    fn bounds(
        &self,
        column: usize,
        bound: fn(&ZoneBounds) -> Option<&CodecScalar>,
    ) -> Option<ArrayRef> {
        let sql_type = self.definition.columns.get(column)?.sql_type;
        let zones = &self.chunk(column)?.group_zones;
        Some(scalar_array(sql_type, zones.iter().map(bound)))
    }
}
