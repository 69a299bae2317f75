//! Zones of a row group as DataFusion's pruning wants them.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, ScalarValue};
use quire_tables::ZoneTable;

/// One container per zone. Bounds may be wider than the values (long text is cut), never narrower.
pub(super) struct ZoneStatistics<'a> {
    zones: &'a ZoneTable,
    schema: &'a Schema,
}

impl<'a> ZoneStatistics<'a> {
    pub(super) fn new(zones: &'a ZoneTable, schema: &'a Schema) -> Self {
        Self { zones, schema }
    }

    fn index(&self, column: &Column) -> Option<usize> {
        self.schema.index_of(column.name()).ok()
    }
}

impl PruningStatistics for ZoneStatistics<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.zones.min(self.index(column)?)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.zones.max(self.index(column)?)
    }

    fn num_containers(&self) -> usize {
        self.zones.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let counts = self.zones.null_counts(self.index(column)?)?;
        Some(Arc::new(counts))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(self.zones.row_counts()))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
