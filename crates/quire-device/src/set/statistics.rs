//! What a data set takes.

use quire_format::data_set::DataSetTotals;

use super::state::DataSet;

/// What a data set, or a snapshot, takes as of the newest batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSetStatistics {
    /// Of its tree, by codec; what it shares with snapshots, or with the snapshot of which it is a clone, included.
    pub totals: DataSetTotals,
    /// Bytes of its own, with those that only its snapshots have: what removing both would set free. 0 for a snapshot.
    pub used_bytes: u64,
    /// What has changed in memory and is not in the volume yet.
    pub changed_bytes: u64,
    /// Most bytes it may use.
    pub quota_bytes: Option<u64>,
}

impl DataSetStatistics {
    /// Bytes of the records before compression, holes left out.
    #[must_use]
    pub fn logical_bytes(&self) -> u64 {
        self.totals.raw_bytes()
    }

    /// Bytes of the records as they are stored, in whole sectors.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.totals.stored_bytes()
    }

    /// How many times as long the records are as what is stored of them; 1 if there is none.
    #[must_use]
    pub fn compression_ratio(&self) -> f64 {
        compression_ratio(&self.totals)
    }
}

/// How many times as long records are as what is stored of them; 1 if there is none.
pub(crate) fn compression_ratio(totals: &DataSetTotals) -> f64 {
    match totals.stored_bytes() {
        0 => 1.0,
        stored => totals.raw_bytes() as f64 / stored as f64,
    }
}

impl DataSet {
    /// What it takes.
    #[must_use]
    pub fn statistics(&self) -> DataSetStatistics {
        let quota_bytes = self.properties().quota_bytes;
        let state = self.lock();
        let frozen = state.frozen.as_ref().map_or(0, |frozen| frozen.bytes());
        DataSetStatistics {
            totals: state.head.totals,
            used_bytes: state.head.used_bytes,
            changed_bytes: (state.current.bytes() + frozen) as u64,
            quota_bytes,
        }
    }
}
