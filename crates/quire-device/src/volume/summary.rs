//! What there is.

use quire_format::data_set::{
    DataSetHead, DataSetProperties, DataSetTable, DataSetTotals, FileTime, SnapshotOrigin,
};

use super::{DataSetVolume, effective};
use crate::error::DataSetError;
use crate::options::EffectiveProperties;
use crate::set::DataSetStatistics;

/// A data set, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSetSummary {
    /// Its name.
    pub name: String,
    /// What is set for it.
    pub properties: DataSetProperties,
    /// What holds for it.
    pub effective: EffectiveProperties,
    /// Name of the snapshot of which it is a clone.
    pub origin: Option<String>,
    /// What it takes.
    pub statistics: DataSetStatistics,
    /// The oldest first.
    pub snapshots: Vec<SnapshotSummary>,
}

/// A snapshot, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSummary {
    /// What is behind the `@`.
    pub name: String,
    /// When it was taken.
    pub taken: FileTime,
    /// What its tree takes; it shares most of that with others.
    pub totals: DataSetTotals,
}

impl DataSetVolume {
    /// All data sets, in the order of their names.
    ///
    /// # Errors
    /// [`DataSetError::Storage`].
    pub fn list(&self) -> Result<Vec<DataSetSummary>, DataSetError> {
        let opened = self.lock_opened();
        let table = self.context.table();
        let reader = self.context.reader();
        let mut summaries = Vec::with_capacity(table.sets.len());
        for set in table.sets.iter().filter(|set| !set.is_dying) {
            let effective = effective(&table, &set.name);
            let statistics = match opened.get(&(set.id, None)) {
                Some(set) => set.statistics(),
                None => {
                    let head = reader.decoded(set.head, DataSetHead::decode)?;
                    DataSetStatistics {
                        totals: head.totals,
                        used_bytes: head.used_bytes,
                        changed_bytes: 0,
                        quota_bytes: effective.quota_bytes,
                    }
                }
            };
            let snapshots = set.snapshots.iter().filter(|snapshot| !snapshot.is_dying);
            summaries.push(DataSetSummary {
                name: set.name.clone(),
                properties: set.properties,
                effective,
                origin: set.origin.and_then(|origin| name_of(&table, origin)),
                statistics,
                snapshots: snapshots
                    .map(|snapshot| SnapshotSummary {
                        name: snapshot.name.clone(),
                        taken: snapshot.taken,
                        totals: snapshot.totals,
                    })
                    .collect(),
            });
        }
        Ok(summaries)
    }
}

fn name_of(table: &DataSetTable, origin: SnapshotOrigin) -> Option<String> {
    let set = table.sets.iter().find(|set| set.id == origin.set)?;
    let snapshot = table.snapshot(origin)?;
    Some(format!("{}@{}", set.name, snapshot.name))
}
