//! Other names for data sets and snapshots. Clones know their origins by number, so nothing else changes.

use std::collections::BTreeSet;

use super::names::{check_set_name, is_below, parent_of, split_snapshot};
use super::{DataSetVolume, OpenedSets, find, find_mut, is_in_use, not_found};
use crate::error::DataSetError;

impl DataSetVolume {
    /// Gives a data set another name, and those below it with it: `a/b` becomes `c/b` when `a` becomes `c`. Below another data set they
    /// inherit from that.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`] also for the data set above the new name; [`DataSetError::Exists`], [`DataSetError::InvalidName`],
    /// [`DataSetError::InvalidRename`], [`DataSetError::Busy`] when one of them, or a snapshot of one, is open;
    /// [`DataSetError::Storage`].
    pub fn rename_set(&self, from: &str, to: &str) -> Result<(), DataSetError> {
        check_set_name(to)?;
        if is_below(to, from) {
            return Err(DataSetError::InvalidRename {
                from: from.to_owned(),
                to: to.to_owned(),
                why: "it would be below itself; choose a name elsewhere",
            });
        }
        let mut opened = self.lock_opened();
        let table = self.context.table();
        find(&table, from)?;
        if let Some(parent) = parent_of(to) {
            find(&table, parent)?;
        }
        let moves = |name: &str| name == from || is_below(name, from);
        let moved = table.sets.iter().filter(|set| moves(&set.name));
        let ids: BTreeSet<u64> = moved.clone().map(|set| set.id).collect();
        for set in moved {
            let name = renamed(&set.name, from, to);
            check_set_name(&name)?;
            if table.sets.iter().any(|other| other.name == name) {
                return Err(DataSetError::Exists { name });
            }
        }
        drop(table);
        close_unused(&mut opened, |(id, _)| ids.contains(&id))?;
        self.change_table(|table, _| {
            for set in table.sets.iter_mut().filter(|set| ids.contains(&set.id)) {
                set.name = renamed(&set.name, from, to);
            }
            table.sets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            Ok(())
        })
    }

    /// Gives a snapshot another name: `set@from` becomes `set@to`.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`], [`DataSetError::Exists`], [`DataSetError::InvalidName`], [`DataSetError::InvalidRename`] when it is to
    /// be a snapshot of another data set, [`DataSetError::Busy`] when it is open; [`DataSetError::Storage`].
    pub fn rename_snapshot(&self, from: &str, to: &str) -> Result<(), DataSetError> {
        let (set_name, old_name) = split_snapshot(from)?;
        let (new_set, new_name) = split_snapshot(to)?;
        if set_name != new_set {
            return Err(DataSetError::InvalidRename {
                from: from.to_owned(),
                to: to.to_owned(),
                why: "a snapshot stays with its data set; change what is behind the @",
            });
        }
        let mut opened = self.lock_opened();
        let definition = find(&self.context.table(), set_name)?.clone();
        let mut snapshots = definition.snapshots.iter();
        let snapshot = snapshots.find(|one| one.name == old_name && !one.is_dying);
        let boundary = snapshot.ok_or_else(|| not_found(from))?.boundary;
        if definition.snapshots.iter().any(|one| one.name == new_name) {
            let name = to.to_owned();
            return Err(DataSetError::Exists { name });
        }
        let key = (definition.id, Some(boundary));
        close_unused(&mut opened, |opened| opened == key)?;
        self.change_table(|table, _| {
            let mut snapshots = find_mut(table, set_name)?.snapshots.iter_mut();
            let snapshot = snapshots.find(|one| one.boundary == boundary);
            snapshot.ok_or_else(|| not_found(from))?.name = new_name.to_owned();
            Ok(())
        })
    }
}

fn renamed(name: &str, from: &str, to: &str) -> String {
    format!("{to}{}", name.strip_prefix(from).unwrap_or_default())
}

/// Closes what nobody has, so that it gets its new name when it is opened again.
pub(super) fn close_unused(
    opened: &mut OpenedSets,
    is_meant: impl Fn((u64, Option<u64>)) -> bool,
) -> Result<(), DataSetError> {
    let meant: Vec<_> = opened
        .keys()
        .copied()
        .filter(|key| is_meant(*key))
        .collect();
    for key in &meant {
        if let Some(set) = opened.get(key).filter(|set| is_in_use(set)) {
            let name = set.name().to_owned();
            return Err(DataSetError::Busy { name });
        }
    }
    for key in meant {
        if let Some(set) = opened.get(&key) {
            set.sync()?;
        }
        opened.remove(&key);
    }
    Ok(())
}
