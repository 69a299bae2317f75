//! A data set as its newest snapshot is.

use quire_format::data_set::DataSetHead;
use quire_store::PageKind;

use super::names::split_snapshot;
use super::{DataSetVolume, find, is_in_use, not_found};
use crate::error::DataSetError;

impl DataSetVolume {
    /// Makes a data set what its newest snapshot (`set@snapshot`) is. What has changed since is gone; its space is free. Takes time and memory
    /// in proportion to that.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`]; [`DataSetError::NotNewest`], also while the removal of a newer one is interrupted;
    /// [`DataSetError::Busy`] when the data set is open; [`DataSetError::Storage`].
    pub fn rollback(&self, name: &str) -> Result<(), DataSetError> {
        let (set_name, snapshot_name) = split_snapshot(name)?;
        let mut opened = self.lock_opened();
        let definition = find(&self.context.table(), set_name)?.clone();
        let mut snapshots = definition.snapshots.iter();
        let snapshot = snapshots.find(|one| one.name == snapshot_name && !one.is_dying);
        let snapshot = snapshot.ok_or_else(|| not_found(name))?;
        if let Some(newest) = definition.snapshots.last()
            && newest.boundary != snapshot.boundary
        {
            let name = name.to_owned();
            let newest = format!("{set_name}@{}", newest.name);
            return Err(DataSetError::NotNewest { name, newest });
        }
        let key = (definition.id, None);
        if opened.get(&key).is_some_and(is_in_use) {
            let name = set_name.to_owned();
            return Err(DataSetError::Busy { name });
        }
        // Nobody has it open, and nobody can open it meanwhile: the head is that of its newest batch.
        let reader = self.context.reader();
        let head = reader.decoded(definition.head, DataSetHead::decode)?;
        let mut freed = Vec::new();
        reader.walk_pages(head.root, &mut |page| {
            let is_newer = page.get() >= snapshot.boundary;
            if is_newer {
                freed.push(page);
            }
            is_newer
        })?;
        let bytes = freed.iter().map(|page| reader.pin.payload_bytes(*page));
        let bytes: u64 = bytes.map(|bytes| u64::from(bytes.unwrap_or(0))).sum();
        let DataSetHead {
            log,
            dead,
            used_bytes,
            ..
        } = head;
        let rolled_back = DataSetHead {
            root: snapshot.root,
            totals: snapshot.totals,
            used_bytes: used_bytes.saturating_sub(bytes),
            log: Vec::new(),
            // The data set has all that the snapshot has.
            dead: Vec::new(),
            ..head
        };
        self.change_table(|_, batch| {
            batch.use_reserve();
            for page in freed.into_iter().chain(log).chain(dead) {
                batch.free(page)?;
            }
            batch.replace(
                definition.head,
                PageKind::DataSetHead,
                &rolled_back.encode(),
            )?;
            Ok(())
        })?;
        // What has changed in memory is gone as well.
        opened.remove(&key);
        Ok(())
    }
}
