//! How are the tables of a workload written down in few words?

use crate::{WorkloadColumn, WorkloadIndex, WorkloadTable};

/// A table whose indexes are named after it and their columns.
pub(super) fn table(
    name: &str,
    columns: &[WorkloadColumn],
    primary_key: &[&'static str],
    indexes: &[&[&'static str]],
) -> WorkloadTable {
    WorkloadTable {
        name: name.into(),
        columns: columns.to_vec(),
        primary_key: primary_key.to_vec(),
        indexes: indexes
            .iter()
            .map(|columns| index(name, columns, false))
            .collect(),
    }
}

/// The same table with an index of unique keys.
pub(super) fn with_unique(mut table: WorkloadTable, columns: &[&'static str]) -> WorkloadTable {
    let index = index(&table.name, columns, true);
    table.indexes.push(index);
    table
}

/// Names of indexes are unique within a database, so they begin with the table's.
fn index(table: &str, columns: &[&'static str], unique: bool) -> WorkloadIndex {
    WorkloadIndex {
        name: format!("{table}_by_{}", columns.join("_")),
        columns: columns.to_vec(),
        unique,
    }
}
