//! Data sets as they were: snapshots, and clones of them.

use quire_format::data_set::{DataSetHead, DataSetProperties, SnapshotDefinition, SnapshotOrigin};
use quire_store::{Durability, PageKind};

use super::names::split_snapshot;
use super::{DataSetVolume, add_set, find, find_mut, not_found};
use crate::error::{DataSetError, DeviceStorageError};

impl DataSetVolume {
    /// Keeps a data set as it is now under the name `set@snapshot`. What is in memory is written first.
    ///
    /// # Errors
    /// [`DataSetError::InvalidName`], [`DataSetError::NotFound`], [`DataSetError::Exists`], [`DataSetError::Storage`].
    pub fn snapshot(&self, name: &str) -> Result<(), DataSetError> {
        let (set_name, snapshot_name) = split_snapshot(name)?;
        let mut opened = self.lock_opened();
        let definition = find(&self.context.table(), set_name)?.clone();
        let set = self.live(&mut opened, &definition)?;
        let turn = set.take_sole_turn();
        set.flush_in_turn(&turn.batches, Durability::Synced)?;
        let head = set.lock().head.clone();
        // No page has this number: all that are there are below it, and all that come are above.
        let boundary = self.context.volume.allocate_page();
        let file = self.context.volume.file();
        let boundary = boundary.ok_or(DeviceStorageError::NumbersUsedUp { file })?;
        let emptied = DataSetHead {
            dead: Vec::new(),
            ..head.clone()
        };
        let taken = (self.context.options.clock)();
        self.change_table(|table, batch| {
            let set = find_mut(table, set_name)?;
            if set.snapshots.iter().any(|one| one.name == snapshot_name) {
                let name = name.to_owned();
                return Err(DataSetError::Exists { name });
            }
            set.snapshots.push(SnapshotDefinition {
                name: snapshot_name.to_owned(),
                boundary: boundary.get(),
                is_dying: false,
                root: head.root,
                taken,
                totals: head.totals,
                dead: head.dead,
            });
            batch.replace(set.head, PageKind::DataSetHead, &emptied.encode())?;
            Ok(())
        })?;
        let mut state = set.lock();
        state.head = emptied;
        state.boundaries.snapshot = boundary.get();
        Ok(())
    }

    /// Makes a data set that begins as a snapshot is. Both share what neither changes; the snapshot cannot be removed before the clone.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`] for the snapshot; otherwise as [`DataSetVolume::create_set`].
    pub fn clone_snapshot(
        &self,
        snapshot: &str,
        name: &str,
        properties: DataSetProperties,
    ) -> Result<(), DataSetError> {
        let (set_name, snapshot_name) = split_snapshot(snapshot)?;
        let mut opened = self.lock_opened();
        let definition = find(&self.context.table(), set_name)?.clone();
        // Numbers of inodes that the snapshot has are below that.
        let live = self.live(&mut opened, &definition)?;
        let (next_inode, has_dictionaries) = {
            let state = live.lock();
            (state.next_inode, state.head.has_dictionaries)
        };
        self.change_table(|table, batch| {
            let set = find(table, set_name)?;
            let mut snapshots = set.snapshots.iter();
            let of = snapshots.find(|one| one.name == snapshot_name && !one.is_dying);
            let of = of.ok_or_else(|| not_found(snapshot))?;
            let origin = SnapshotOrigin {
                set: set.id,
                boundary: of.boundary,
            };
            let head = DataSetHead {
                id: 0,
                has_dictionaries,
                root: of.root,
                next_inode,
                used_bytes: 0,
                totals: of.totals,
                log: Vec::new(),
                dead: Vec::new(),
            };
            add_set(table, batch, name, properties, head)?.origin = Some(origin);
            Ok(())
        })
    }
}
