//! Removing snapshots and data sets, in steps of bounded size that a crash may interrupt anywhere: what is being removed is
//! marked first, and opening the volume completes it.

use quire_format::data_set::{DataSetDefinition, DataSetHead, SnapshotOrigin};
use quire_store::PageKind;

use super::names::{is_below, split_snapshot};
use super::{DataSetVolume, effective, find, is_in_use, not_found, set_of};
use crate::dead::sift;
use crate::error::DataSetError;
use crate::set::DataSet;

impl DataSetVolume {
    /// Removes a snapshot (`set@snapshot`), and what only it has.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`], [`DataSetError::Busy`] when it is open, [`DataSetError::HasDependents`] when there are clones of it,
    /// [`DataSetError::Storage`].
    pub fn destroy_snapshot(&self, name: &str) -> Result<(), DataSetError> {
        let (set_name, snapshot_name) = split_snapshot(name)?;
        let mut opened = self.lock_opened();
        let definition = find(&self.context.table(), set_name)?.clone();
        let mut snapshots = definition.snapshots.iter();
        let snapshot = snapshots.find(|one| one.name == snapshot_name && !one.is_dying);
        let boundary = snapshot.ok_or_else(|| not_found(name))?.boundary;
        let key = (definition.id, Some(boundary));
        if opened.get(&key).is_some_and(is_in_use) {
            let name = name.to_owned();
            return Err(DataSetError::Busy { name });
        }
        let origin = Some(SnapshotOrigin {
            set: definition.id,
            boundary,
        });
        // A clone that is being removed still has pages of it.
        let table = self.context.table();
        let clone = table.sets.iter().find(|set| set.origin == origin);
        let clone = clone.map(|set| set.name.clone());
        drop(table);
        if let Some(dependent) = clone {
            let name = name.to_owned();
            return Err(DataSetError::HasDependents { name, dependent });
        }
        opened.remove(&key);
        let set = self.live(&mut opened, &definition)?;
        self.remove_snapshot(&set, boundary)
    }

    /// Removes a data set without snapshots, and its files.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`], [`DataSetError::Busy`] when it is open, [`DataSetError::HasDependents`] when it has snapshots, or
    /// there are data sets below it; [`DataSetError::Storage`].
    pub fn destroy_set(&self, name: &str) -> Result<(), DataSetError> {
        let mut opened = self.lock_opened();
        let table = self.context.table();
        let definition = find(&table, name)?.clone();
        let below = table.sets.iter().find(|set| is_below(&set.name, name));
        let below = below.map(|set| set.name.clone());
        drop(table);
        let snapshot = definition.snapshots.first();
        let snapshot = snapshot.map(|snapshot| format!("{name}@{}", snapshot.name));
        let name = name.to_owned();
        if let Some(dependent) = below.or(snapshot) {
            return Err(DataSetError::HasDependents { name, dependent });
        }
        let key = (definition.id, None);
        if opened.get(&key).is_some_and(is_in_use) {
            return Err(DataSetError::Busy { name });
        }
        self.change_table(|table, batch| {
            batch.use_reserve();
            set_of(table, definition.id)?.is_dying = true;
            Ok(())
        })?;
        // What has changed in it is of no use any more.
        opened.remove(&key);
        self.remove_set(&definition)
    }

    /// Ends the removals that have been interrupted.
    pub(super) fn finish_removals(&self) -> Result<(), DataSetError> {
        let sets = self.context.table().sets.clone();
        for set in &sets {
            if set.is_dying {
                self.remove_set(set)?;
                continue;
            }
            for snapshot in set.snapshots.iter().filter(|snapshot| snapshot.is_dying) {
                let live = self.live(&mut self.lock_opened(), set)?;
                self.remove_snapshot(&live, snapshot.boundary)?;
            }
        }
        Ok(())
    }

    fn remove_set(&self, definition: &DataSetDefinition) -> Result<(), DataSetError> {
        let properties = effective(&self.context.table(), &definition.name);
        let set = DataSet::open_live(&self.context, definition, properties)?;
        set.erase()?;
        let DataSetHead { log, dead, .. } = set.lock().head.clone();
        self.change_table(|table, batch| {
            batch.use_reserve();
            batch.free(definition.head)?;
            for page in log.into_iter().chain(dead) {
                batch.free(page)?;
            }
            table.sets.retain(|set| set.id != definition.id);
            Ok(())
        })
    }

    /// See [`crate::dead`]: what only the snapshot has is on the list of its successor.
    fn remove_snapshot(&self, set: &DataSet, boundary: u64) -> Result<(), DataSetError> {
        let _turn = set.take_sole_turn();
        self.change_table(|table, batch| {
            batch.use_reserve();
            let definition = set_of(table, set.id())?;
            let place = place_of(definition, boundary)?;
            definition.snapshots[place].is_dying = true;
            Ok(())
        })?;
        let mut sifted = 0;
        while self.remove_snapshot_step(set, boundary, &mut sifted)? {}
        Ok(())
    }

    /// Looks at one list of dead pages; the step after the last list removes the snapshot. True if there is another step.
    fn remove_snapshot_step(
        &self,
        set: &DataSet,
        boundary: u64,
        sifted: &mut usize,
    ) -> Result<bool, DataSetError> {
        let reader = self.context.reader();
        let mut head = set.lock().head.clone();
        let boundaries = set.lock().boundaries;
        let (is_left, newest) = self.change_table(|table, batch| {
            batch.use_reserve();
            let definition = set_of(table, set.id())?;
            let place = place_of(definition, boundary)?;
            let before = place.checked_sub(1);
            let before = before.and_then(|before| definition.snapshots.get(before));
            let before = before.map_or(boundaries.origin, |before| before.boundary);
            let mut own = std::mem::take(&mut definition.snapshots[place].dead);
            let successor = definition.snapshots.get_mut(place + 1);
            let lists = match successor {
                Some(next) => &mut next.dead,
                None => &mut head.dead,
            };
            let is_left = if let Some(list) = lists.get(*sifted).copied() {
                let (has_pages, freed_bytes) = sift(&reader, batch, list, before)?;
                if has_pages {
                    *sifted += 1;
                } else {
                    lists.remove(*sifted);
                }
                head.used_bytes = head.used_bytes.saturating_sub(freed_bytes);
                definition.snapshots[place].dead = own;
                true
            } else {
                own.append(lists);
                *lists = own;
                definition.snapshots.remove(place);
                false
            };
            batch.replace(definition.head, PageKind::DataSetHead, &head.encode())?;
            let newest = definition.snapshots.last();
            Ok((is_left, newest.map(|newest| newest.boundary)))
        })?;
        let mut state = set.lock();
        state.head = head;
        state.boundaries.snapshot = newest.unwrap_or(boundaries.origin);
        Ok(is_left)
    }
}

fn place_of(set: &DataSetDefinition, boundary: u64) -> Result<usize, DataSetError> {
    let place = set
        .snapshots
        .iter()
        .position(|one| one.boundary == boundary);
    place.ok_or_else(|| not_found(&format!("{}@(before page {boundary})", set.name)))
}
