//! What a device stores, while a database uses it.

use std::sync::{Arc, Weak};

use quire_format::data_set::DataSetCodec;
use quire_store::disk::{ThrottleStatistics, ThrottledDisk};

use super::whole::WholeDevice;
use crate::error::DataSetError;
use crate::set::DataSetStatistics;

/// Looks at a device. It does not keep the device open.
#[derive(Clone)]
pub struct DeviceMonitor {
    pub(super) device: Weak<WholeDevice>,
    pub(super) slow_above: Option<Weak<ThrottledDisk>>,
}

/// What a device stores, and how long it has taken.
#[derive(Clone, Copy, Debug)]
pub struct DeviceStatistics {
    /// Of its data set.
    pub data_set: DataSetStatistics,
    /// Length of the file of the volume, with what is free in it.
    pub file_bytes: u64,
    /// Of the throttle, if there is one.
    pub throttle: Option<ThrottleStatistics>,
}

impl DeviceStatistics {
    /// Bytes that the database has stored on it, zeros and what it has discarded left out.
    #[must_use]
    pub fn logical_bytes(&self) -> u64 {
        self.data_set.logical_bytes()
    }

    /// Bytes that these take, in whole sectors if the device has some.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.data_set.stored_bytes()
    }

    /// Bytes of the map that finds them: the nodes of the tree. As a drive does, the ratio leaves them out.
    #[must_use]
    pub fn map_bytes(&self) -> u64 {
        self.data_set.totals.node_bytes
    }

    /// How many times as long what is stored is as what it takes; 1 if nothing is stored.
    #[must_use]
    pub fn compression_ratio(&self) -> f64 {
        self.data_set.compression_ratio()
    }
}

impl DeviceMonitor {
    /// As of the newest sync, or of what has been written since for lack of memory. `None` when the device has been closed.
    #[must_use]
    pub fn statistics(&self) -> Option<DeviceStatistics> {
        let device = self.device.upgrade()?;
        let set = device.sets.open_set(device.set_name).ok()?;
        let above = self.slow_above.as_ref().and_then(Weak::upgrade);
        let throttled: Option<Arc<ThrottledDisk>> = above.or_else(|| device.slow_below.clone());
        Some(DeviceStatistics {
            data_set: set.statistics(),
            file_bytes: device.sets.volume().stats().file_bytes,
            throttle: throttled.map(|throttled| throttled.statistics()),
        })
    }

    /// Another codec for what is written from now on. What was written before stays as it is; the device is opened with the new codec from
    /// then on. Nothing happens when the device has been closed.
    ///
    /// # Errors
    /// [`DataSetError::Storage`].
    pub fn set_compression(&self, codec: DataSetCodec) -> Result<(), DataSetError> {
        let Some(device) = self.device.upgrade() else {
            return Ok(());
        };
        device.sets.set_properties(device.set_name, |properties| {
            properties.compression = Some(codec);
        })
    }
}
