//! The data sets of a volume: made, listed, opened, given properties.

mod names;
mod promotion;
mod properties;
mod removal;
mod renaming;
mod rollback;
mod snapshots;
mod summary;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_format::data_set::{
    DataSetDefinition, DataSetHead, DataSetProperties, DataSetTable, DataSetTotals,
    RECORD_BYTES_MAX, RECORD_BYTES_MIN, ROOT_INODE,
};
use quire_store::{CATALOG_PAGE, PageKind, Volume, WriteBatch};

pub use properties::{PropertySource, PropertyValue};
pub use summary::{DataSetSummary, SnapshotSummary};

use crate::context::DeviceContext;
use crate::error::{DataSetError, DeviceStorageError};
use crate::options::{DeviceOptions, EffectiveProperties};
use crate::set::DataSet;
pub(crate) use names::check_first_name;
use names::{check_set_name, parent_of, split_snapshot};

/// A volume of data sets. Operations may be called from several threads. When it is dropped, what has changed in the data sets that are open
/// is written; a failure is not reported then, so [`DataSetVolume::sync`] comes first.
pub struct DataSetVolume {
    pub(crate) context: Arc<DeviceContext>,
    opened: Mutex<OpenedSets>,
}

/// By the id of the data set, and for snapshots the boundary.
type OpenedSets = HashMap<(u64, Option<u64>), Arc<DataSet>>;

impl DataSetVolume {
    /// Makes an empty volume one of data sets.
    ///
    /// # Errors
    /// [`DataSetError::NotEmpty`], [`DataSetError::Storage`].
    pub fn create(volume: Volume, options: DeviceOptions) -> Result<Self, DataSetError> {
        if volume.stats().page_count > 0 {
            let file = volume.file();
            return Err(DataSetError::NotEmpty { file });
        }
        let table = DataSetTable {
            next_id: 1,
            sets: Vec::new(),
        };
        let batch = volume.begin()?;
        batch.replace(CATALOG_PAGE, PageKind::DataSetTable, &table.encode())?;
        batch.commit()?;
        Ok(Self::new(volume, options, table))
    }

    /// Whether a volume is one of data sets, and not a database.
    #[must_use]
    pub fn is_in(volume: &Volume) -> bool {
        let pin = volume.pin();
        let kind = pin.kind(CATALOG_PAGE);
        pin.contains(CATALOG_PAGE) && kind.is_ok_and(|kind| kind == PageKind::DataSetTable)
    }

    /// Opens a volume of data sets. What a crash has interrupted is removed to its end, unless the volume is open read-only.
    ///
    /// # Errors
    /// [`DataSetError::NotDataSets`], [`DataSetError::Storage`].
    pub fn open(volume: Volume, options: DeviceOptions) -> Result<Self, DataSetError> {
        if !Self::is_in(&volume) {
            let file = volume.file();
            return Err(DataSetError::NotDataSets { file });
        }
        let pin = volume.pin();
        let payload = pin.read(CATALOG_PAGE)?;
        let table = DataSetTable::decode(&payload).map_err(|corrupt| {
            DeviceStorageError::corrupt(&volume.file(), CATALOG_PAGE, &corrupt)
        })?;
        drop(pin);
        let sets = Self::new(volume, options, table);
        if !sets.context.volume.is_read_only() {
            sets.finish_removals()?;
        }
        Ok(sets)
    }

    fn new(volume: Volume, options: DeviceOptions, table: DataSetTable) -> Self {
        Self {
            context: Arc::new(DeviceContext::new(volume, options, table)),
            opened: Mutex::default(),
        }
    }

    /// The volume below.
    #[must_use]
    pub fn volume(&self) -> &Volume {
        &self.context.volume
    }

    /// Makes an empty data set. `a/b` can be made when there is `a`, and inherits from it.
    ///
    /// # Errors
    /// [`DataSetError::InvalidName`], [`DataSetError::Exists`], [`DataSetError::NotFound`] for the data set above,
    /// [`DataSetError::InvalidProperty`], [`DataSetError::Storage`].
    pub fn create_set(
        &self,
        name: &str,
        properties: DataSetProperties,
    ) -> Result<(), DataSetError> {
        let head = DataSetHead {
            has_dictionaries: false,
            id: 0,
            root: None,
            next_inode: ROOT_INODE + 1,
            used_bytes: 0,
            totals: DataSetTotals::default(),
            log: Vec::new(),
            dead: Vec::new(),
        };
        self.change_table(|table, batch| add_set(table, batch, name, properties, head).map(|_| ()))
    }

    /// What is set for a data set.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`].
    pub fn properties(&self, name: &str) -> Result<DataSetProperties, DataSetError> {
        Ok(find(&self.context.table(), name)?.properties)
    }

    /// Changes what is set for a data set; what becomes `None` is inherited. It holds for what is written, or made, from now on.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`], [`DataSetError::InvalidProperty`], [`DataSetError::Storage`].
    pub fn set_properties(
        &self,
        name: &str,
        change: impl FnOnce(&mut DataSetProperties),
    ) -> Result<(), DataSetError> {
        let opened = self.lock_opened();
        self.change_table(|table, _| {
            let set = find_mut(table, name)?;
            change(&mut set.properties);
            check_properties(&set.properties)
        })?;
        let table = self.context.table();
        for set in opened.values() {
            let definition = table.sets.iter().find(|one| one.id == set.id());
            if let Some(definition) = definition {
                set.set_properties(effective(&table, &definition.name));
            }
        }
        Ok(())
    }

    /// Opens a data set, or a snapshot of one (`set@snapshot`). Opening it again returns the same object.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`], [`DataSetError::Storage`].
    pub fn open_set(&self, name: &str) -> Result<Arc<DataSet>, DataSetError> {
        let mut opened = self.lock_opened();
        if !name.contains('@') {
            let set = find(&self.context.table(), name)?.clone();
            return self.live(&mut opened, &set);
        }
        let (set_name, snapshot_name) = split_snapshot(name)?;
        let table = self.context.table();
        let set = find(&table, set_name)?;
        let mut snapshots = set.snapshots.iter();
        let snapshot = snapshots.find(|one| one.name == snapshot_name && !one.is_dying);
        let snapshot = snapshot.ok_or_else(|| not_found(name))?;
        let key = (set.id, Some(snapshot.boundary));
        if let Some(set) = opened.get(&key) {
            return Ok(Arc::clone(set));
        }
        let properties = effective(&table, set_name);
        let snapshot = DataSet::open_snapshot(&self.context, set, snapshot, properties);
        let snapshot = Arc::new(snapshot);
        opened.insert(key, Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Makes durable what has been done in all data sets that are open, also in those behind one that fails.
    ///
    /// # Errors
    /// [`DeviceStorageError`], the first one.
    pub fn sync(&self) -> Result<(), DeviceStorageError> {
        let opened: Vec<Arc<DataSet>> = self.lock_opened().values().cloned().collect();
        let synced = opened.iter().map(|set| set.sync());
        synced.fold(Ok(()), Result::and)
    }

    /// Closes a data set, or a snapshot: what has changed is made durable, and its memory is given back.
    ///
    /// # Errors
    /// [`DataSetError::Busy`] when it is still in use; [`DataSetError::NotFound`], [`DataSetError::Storage`].
    pub fn close_set(&self, name: &str) -> Result<(), DataSetError> {
        let mut opened = self.lock_opened();
        let found = opened.iter().find(|(_, set)| set.name() == name);
        let (key, set) = found.ok_or_else(|| not_found(name))?;
        if is_in_use(set) {
            let name = name.to_owned();
            return Err(DataSetError::Busy { name });
        }
        set.sync()?;
        let key = *key;
        opened.remove(&key);
        Ok(())
    }

    /// Bytes of decompressed records that are kept.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.context.cache.bytes()
    }

    /// A data set that can be changed, opened if it is not open.
    fn live(
        &self,
        opened: &mut OpenedSets,
        set: &DataSetDefinition,
    ) -> Result<Arc<DataSet>, DataSetError> {
        let key = (set.id, None);
        if let Some(set) = opened.get(&key) {
            return Ok(Arc::clone(set));
        }
        let properties = effective(&self.context.table(), &set.name);
        let set = Arc::new(DataSet::open_live(&self.context, set, properties)?);
        set.replay_log()?;
        if !set.is_read_only() {
            set.reap_orphans()?;
        }
        opened.insert(key, Arc::clone(&set));
        Ok(set)
    }

    fn lock_opened(&self) -> MutexGuard<'_, OpenedSets> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the table in one batch, with what else belongs to the change.
    fn change_table<T>(
        &self,
        change: impl FnOnce(&mut DataSetTable, &WriteBatch) -> Result<T, DataSetError>,
    ) -> Result<T, DataSetError> {
        let mut table = self.context.table();
        let mut new = table.clone();
        let batch = self.context.volume.begin()?;
        let result = change(&mut new, &batch)?;
        batch.replace(CATALOG_PAGE, PageKind::DataSetTable, &new.encode())?;
        batch.commit()?;
        *table = new;
        Ok(result)
    }
}

impl Drop for DataSetVolume {
    fn drop(&mut self) {
        // There is no caller left to report to.
        let _ = self.sync();
    }
}

/// Whether a caller still has it.
fn is_in_use(set: &Arc<DataSet>) -> bool {
    Arc::strong_count(set) > 1
}

/// Adds a data set to a table, and its head to the batch. The head gets its id.
fn add_set<'a>(
    table: &'a mut DataSetTable,
    batch: &WriteBatch,
    name: &str,
    properties: DataSetProperties,
    head: DataSetHead,
) -> Result<&'a mut DataSetDefinition, DataSetError> {
    check_set_name(name)?;
    check_properties(&properties)?;
    if let Some(parent) = parent_of(name) {
        find(table, parent)?;
    }
    let place = table
        .sets
        .binary_search_by(|set| set.name.as_str().cmp(name));
    let Err(place) = place else {
        let name = name.to_owned();
        return Err(DataSetError::Exists { name });
    };
    let id = table.next_id;
    table.next_id += 1;
    let head = DataSetHead { id, ..head };
    let set = DataSetDefinition {
        name: name.to_owned(),
        id,
        is_dying: false,
        head: batch.write(PageKind::DataSetHead, &head.encode())?,
        properties,
        origin: None,
        snapshots: Vec::new(),
    };
    table.sets.insert(place, set);
    Ok(&mut table.sets[place])
}

fn check_properties(properties: &DataSetProperties) -> Result<(), DataSetError> {
    let sizes = RECORD_BYTES_MIN..=RECORD_BYTES_MAX;
    let is_size = |bytes: u32| bytes.is_power_of_two() && sizes.contains(&bytes);
    if !properties.record_bytes.is_none_or(is_size) {
        return Err(DataSetError::InvalidProperty {
            what: "records have a power of two of bytes, from 4 KiB to 1 MiB",
        });
    }
    if properties.gain_per_mille.is_some_and(|gain| gain > 1000) {
        return Err(DataSetError::InvalidProperty {
            what: "the gain is in thousandths: at most 1,000",
        });
    }
    Ok(())
}

/// What holds for a data set.
fn effective(table: &DataSetTable, name: &str) -> EffectiveProperties {
    let above = parent_of(name).map_or_else(EffectiveProperties::default, |parent| {
        effective(table, parent)
    });
    match find(table, name) {
        Ok(set) => above.with(&set.properties),
        Err(_) => above,
    }
}

/// A data set that is not being removed.
fn find<'a>(table: &'a DataSetTable, name: &str) -> Result<&'a DataSetDefinition, DataSetError> {
    let mut sets = table.sets.iter();
    let set = sets.find(|set| set.name == name && !set.is_dying);
    set.ok_or_else(|| not_found(name))
}

fn find_mut<'a>(
    table: &'a mut DataSetTable,
    name: &str,
) -> Result<&'a mut DataSetDefinition, DataSetError> {
    let mut sets = table.sets.iter_mut();
    let set = sets.find(|set| set.name == name && !set.is_dying);
    set.ok_or_else(|| not_found(name))
}

/// The same by its id, whatever becomes of it.
fn set_of(table: &mut DataSetTable, id: u64) -> Result<&mut DataSetDefinition, DataSetError> {
    let found = table.sets.iter_mut().find(|set| set.id == id);
    found.ok_or_else(|| not_found(&format!("number {id}")))
}

fn not_found(name: &str) -> DataSetError {
    let name = name.to_owned();
    DataSetError::NotFound { name }
}
