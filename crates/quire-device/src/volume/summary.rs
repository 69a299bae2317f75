//! What there is.

use std::collections::HashMap;

use quire_format::data_set::{
    DataSetDefinition, DataSetHead, DataSetProperties, DataSetTable, DataSetTotals, FileTime,
    SnapshotOrigin,
};

use super::{DataSetVolume, effective};
use crate::dead::listed_bytes;
use crate::error::{DataSetError, DeviceStorageError};
use crate::options::EffectiveProperties;
use crate::set::{DataSetStatistics, compression_ratio};
use crate::tree::PageReader;

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
    /// Bytes that only it has: what removing it, and nothing else, would set free. Lists of dead pages are not counted.
    pub used_bytes: u64,
}

impl DataSetSummary {
    /// Bytes of its tree as it is stored, with what it shares with others (ZFS: `referenced`).
    #[must_use]
    pub fn referenced_bytes(&self) -> u64 {
        referenced_bytes(&self.statistics.totals)
    }
}

impl SnapshotSummary {
    /// Bytes of its records before compression, holes left out (ZFS: `logicalreferenced`).
    #[must_use]
    pub fn logical_bytes(&self) -> u64 {
        self.totals.raw_bytes()
    }

    /// Bytes of its tree as it is stored, with what it shares with others (ZFS: `referenced`).
    #[must_use]
    pub fn referenced_bytes(&self) -> u64 {
        referenced_bytes(&self.totals)
    }

    /// How many times as long its records are as what is stored of them; 1 if there is none.
    #[must_use]
    pub fn compression_ratio(&self) -> f64 {
        compression_ratio(&self.totals)
    }
}

fn referenced_bytes(totals: &DataSetTotals) -> u64 {
    totals.stored_bytes() + totals.node_bytes
}

impl DataSetVolume {
    /// All data sets, in the order of their names. Reads the lists of dead pages: memory and time in proportion to what snapshots have and
    /// data sets have not.
    ///
    /// # Errors
    /// [`DataSetError::Storage`].
    pub fn list(&self) -> Result<Vec<DataSetSummary>, DataSetError> {
        let opened = self.lock_opened();
        let table = self.context.table();
        let open_heads: HashMap<u64, (DataSetHead, u64)> = opened
            .iter()
            .filter(|((_, boundary), _)| boundary.is_none())
            .map(|((id, _), set)| {
                let changed_bytes = set.statistics().changed_bytes;
                (*id, (set.lock().head.clone(), changed_bytes))
            })
            .collect();
        // Younger than these heads, so it has the lists that they name; lists only go with the table, which is locked.
        let reader = self.context.reader();
        let mut summaries = Vec::with_capacity(table.sets.len());
        for set in table.sets.iter().filter(|set| !set.is_dying) {
            let (head, changed_bytes) = match open_heads.get(&set.id) {
                Some((head, changed_bytes)) => (head.clone(), *changed_bytes),
                None => (reader.decoded(set.head, DataSetHead::decode)?, 0),
            };
            let effective = effective(&table, &set.name);
            summaries.push(DataSetSummary {
                name: set.name.clone(),
                properties: set.properties,
                effective,
                origin: set.origin.and_then(|origin| name_of(&table, origin)),
                statistics: DataSetStatistics {
                    totals: head.totals,
                    used_bytes: head.used_bytes,
                    changed_bytes,
                    quota_bytes: effective.quota_bytes,
                },
                snapshots: snapshot_summaries(&reader, set, &head)?,
            });
        }
        Ok(summaries)
    }
}

/// What only a snapshot has is on the list of its successor, and not below the boundary of the snapshot before: see [`crate::dead`].
fn snapshot_summaries(
    reader: &PageReader,
    set: &DataSetDefinition,
    head: &DataSetHead,
) -> Result<Vec<SnapshotSummary>, DeviceStorageError> {
    let mut before = set.origin.map_or(0, |origin| origin.boundary);
    let later = set.snapshots.iter().skip(1).map(|later| &later.dead);
    let mut summaries = Vec::with_capacity(set.snapshots.len());
    for (snapshot, lists) in set.snapshots.iter().zip(later.chain([&head.dead])) {
        let boundary = std::mem::replace(&mut before, snapshot.boundary);
        if snapshot.is_dying {
            continue;
        }
        summaries.push(SnapshotSummary {
            name: snapshot.name.clone(),
            taken: snapshot.taken,
            totals: snapshot.totals,
            used_bytes: listed_bytes(reader, lists, boundary)?,
        });
    }
    Ok(summaries)
}

fn name_of(table: &DataSetTable, origin: SnapshotOrigin) -> Option<String> {
    let set = table.sets.iter().find(|set| set.id == origin.set)?;
    let snapshot = table.snapshot(origin)?;
    Some(format!("{}@{}", set.name, snapshot.name))
}
