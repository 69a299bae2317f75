//! Promoting a clone: it and the data set it comes from change places.

use std::collections::BTreeSet;

use quire_format::data_set::{DataSetDefinition, DataSetHead, SnapshotDefinition, SnapshotOrigin};
use quire_store::{Durability, PageId, PageKind};

use super::renaming::close_unused;
use super::{DataSetVolume, find, set_of};
use crate::dead::{Boundaries, disown, listed_bytes, write_lists};
use crate::error::{DataSetError, DeviceStorageError};
use crate::set::DataSet;
use crate::tree::PageReader;

/// What a promotion changes, found out before.
struct Promotion {
    /// Id of the data set that has the snapshots now.
    parent: u64,
    clone: u64,
    /// The snapshot that the clone was made of.
    boundary: u64,
    /// What each tree of the clone has lost of the pages that were the parent's own: of each of its snapshots, and then of the data set.
    lost: Vec<Vec<PageId>>,
    /// What the parent's snapshots up to that one take.
    moved_bytes: u64,
    parent_head: DataSetHead,
    clone_head: DataSetHead,
}

impl DataSetVolume {
    /// The snapshots of the origin up to the one that the clone was made of become the clone's own, and the data set that had them becomes a
    /// clone of that one: then it can be removed, and the promoted one stays. Takes time and memory in proportion to what the clone and its snapshots
    /// have changed since that snapshot, and to the lists of dead pages of the other one. Quotas are not looked at.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`], [`DataSetError::NotClone`], [`DataSetError::Exists`] when both have a snapshot of one name,
    /// [`DataSetError::Busy`] when a snapshot that moves is open, [`DataSetError::BeingRemoved`], [`DataSetError::Storage`].
    pub fn promote(&self, name: &str) -> Result<(), DataSetError> {
        let mut opened = self.lock_opened();
        let table = self.context.table().clone();
        let clone = find(&table, name)?;
        let not_clone = || DataSetError::NotClone {
            name: name.to_owned(),
        };
        let origin = clone.origin.ok_or_else(not_clone)?;
        let parent = table.sets.iter().find(|set| set.id == origin.set);
        let parent = parent.ok_or_else(not_clone)?;
        refuse_unfinished([parent, clone])?;
        let moved: Vec<&SnapshotDefinition> = moved(parent, origin).collect();
        for snapshot in &moved {
            if clone.snapshots.iter().any(|own| own.name == snapshot.name) {
                let name = format!("{name}@{}", snapshot.name);
                return Err(DataSetError::Exists { name });
            }
        }
        close_unused(&mut opened, |(id, boundary)| {
            id == parent.id && boundary.is_some_and(|boundary| boundary <= origin.boundary)
        })?;
        let parent_set = self.live(&mut opened, parent)?;
        let clone_set = self.live(&mut opened, clone)?;
        // Nobody else takes two turns: that is done with the data sets that are open locked.
        let turns = (parent_set.take_sole_turn(), clone_set.take_sole_turn());
        parent_set.flush_in_turn(&turns.0.batches, Durability::Synced)?;
        clone_set.flush_in_turn(&turns.1.batches, Durability::Synced)?;
        let promotion = self.promotion((parent, &parent_set), (clone, &clone_set), &moved)?;
        self.change_places(promotion, &parent_set, &clone_set)
    }

    fn promotion(
        &self,
        (parent, parent_set): (&DataSetDefinition, &DataSet),
        (clone, clone_set): (&DataSetDefinition, &DataSet),
        moved: &[&SnapshotDefinition],
    ) -> Result<Promotion, DeviceStorageError> {
        let reader = self.context.reader();
        let clone_head = clone_set.lock().head.clone();
        let below = parent.origin.map_or(0, |origin| origin.boundary);
        let newest = moved.last().copied();
        let root = newest.and_then(|snapshot| snapshot.root);
        let boundary = newest.map_or(0, |snapshot| snapshot.boundary);
        let roots = clone.snapshots.iter().map(|snapshot| snapshot.root);
        let mut lost = Vec::with_capacity(clone.snapshots.len() + 1);
        let mut before = root;
        for root in roots.chain([clone_head.root]) {
            lost.push(lost_pages(&reader, (before, root), below, boundary)?);
            before = root;
        }
        let mut moved_bytes = newest.map_or(Ok(0), |newest| own_bytes(&reader, newest, below))?;
        // Each page that one of them has and the newest has not was lost once.
        for snapshot in moved {
            moved_bytes += listed_bytes(&reader, &snapshot.dead, below)?;
        }
        Ok(Promotion {
            parent: parent.id,
            clone: clone.id,
            boundary,
            lost,
            moved_bytes,
            parent_head: parent_set.lock().head.clone(),
            clone_head,
        })
    }

    fn change_places(
        &self,
        promotion: Promotion,
        parent_set: &DataSet,
        clone_set: &DataSet,
    ) -> Result<(), DataSetError> {
        let Promotion {
            parent: parent_id,
            clone: clone_id,
            boundary,
            lost,
            moved_bytes,
            mut parent_head,
            mut clone_head,
        } = promotion;
        let of_clone = SnapshotOrigin {
            set: clone_id,
            boundary,
        };
        let reader = self.context.reader();
        let (parent_boundaries, clone_boundaries) = self.change_table(|table, batch| {
            let parent = set_of(table, parent_id)?;
            let behind = parent
                .snapshots
                .partition_point(|one| one.boundary <= boundary);
            let mut moved: Vec<SnapshotDefinition> = parent.snapshots.drain(..behind).collect();
            let old_origin = parent.origin.replace(of_clone);
            for lists in lists_of(parent, &mut parent_head) {
                disown(&reader, batch, lists, boundary)?;
            }
            parent_head.used_bytes = parent_head.used_bytes.saturating_sub(moved_bytes);
            batch.replace(parent.head, PageKind::DataSetHead, &parent_head.encode())?;
            let parent_boundaries = Boundaries::of(parent);
            for set in &mut table.sets {
                if let Some(origin) = &mut set.origin
                    && origin.set == parent_id
                    && origin.boundary <= boundary
                {
                    origin.set = clone_id;
                }
            }
            let clone = set_of(table, clone_id)?;
            clone.origin = old_origin;
            for (lists, lost) in lists_of(clone, &mut clone_head).zip(&lost) {
                lists.append(&mut write_lists(batch, lost)?);
            }
            moved.append(&mut clone.snapshots);
            clone.snapshots = moved;
            clone_head.used_bytes = clone_head.used_bytes.saturating_add(moved_bytes);
            batch.replace(clone.head, PageKind::DataSetHead, &clone_head.encode())?;
            Ok((parent_boundaries, Boundaries::of(clone)))
        })?;
        for (set, head, boundaries) in [
            (parent_set, parent_head, parent_boundaries),
            (clone_set, clone_head, clone_boundaries),
        ] {
            let mut state = set.lock();
            state.head = head;
            state.boundaries = boundaries;
        }
        Ok(())
    }
}

/// The snapshots up to the origin.
fn moved(
    parent: &DataSetDefinition,
    origin: SnapshotOrigin,
) -> impl Iterator<Item = &SnapshotDefinition> {
    let snapshots = parent.snapshots.iter();
    snapshots.take_while(move |snapshot| snapshot.boundary <= origin.boundary)
}

/// The lists of dead pages of each snapshot, and then of the data set.
fn lists_of<'a>(
    set: &'a mut DataSetDefinition,
    head: &'a mut DataSetHead,
) -> impl Iterator<Item = &'a mut Vec<PageId>> {
    let snapshots = set.snapshots.iter_mut();
    snapshots
        .map(|snapshot| &mut snapshot.dead)
        .chain([&mut head.dead])
}

/// Lists of a snapshot that is being removed are half done.
fn refuse_unfinished(sets: [&DataSetDefinition; 2]) -> Result<(), DataSetError> {
    for set in sets {
        if let Some(dying) = set.snapshots.iter().find(|snapshot| snapshot.is_dying) {
            let name = format!("{}@{}", set.name, dying.name);
            return Err(DataSetError::BeingRemoved { name });
        }
    }
    Ok(())
}

/// What the tree of a snapshot takes that is not below `boundary`.
fn own_bytes(
    reader: &PageReader,
    snapshot: &SnapshotDefinition,
    boundary: u64,
) -> Result<u64, DeviceStorageError> {
    if boundary == 0 {
        return Ok(snapshot.totals.stored_bytes() + snapshot.totals.node_bytes);
    }
    let mut bytes = 0;
    reader.walk_pages(snapshot.root, &mut |page| {
        let is_own = page.get() >= boundary;
        if is_own {
            bytes += u64::from(reader.pin.payload_bytes(page).unwrap_or(0));
        }
        is_own
    })?;
    Ok(bytes)
}

/// The pages from `below` on and below `boundary` that an old tree has and a newer one has not, which comes from it. Both come from that
/// of the snapshot with this boundary; so what a page below it leads to is the same in both, and is not walked over.
fn lost_pages(
    reader: &PageReader,
    (old, newer): (Option<PageId>, Option<PageId>),
    below: u64,
    boundary: u64,
) -> Result<Vec<PageId>, DeviceStorageError> {
    let mut shared = BTreeSet::new();
    reader.walk_pages(newer, &mut |page| {
        let is_new = page.get() >= boundary;
        if !is_new {
            shared.insert(page);
        }
        is_new
    })?;
    let mut lost = Vec::new();
    reader.walk_pages(old, &mut |page| {
        if page.get() >= boundary {
            return true;
        }
        let is_lost = page.get() >= below && !shared.contains(&page);
        if is_lost {
            lost.push(page);
        }
        is_lost
    })?;
    Ok(lost)
}
