//! Data sets, snapshots and clones as they should be, and random changes of them.

use std::collections::BTreeMap;

use quire_device::{DataSetError, DataSetProperties, DataSetVolume};

use crate::model::Model;
use crate::operations::{any_operation, perform_both};
use crate::random::Random;
use crate::volumes::check;

/// A data set as it was.
#[derive(Clone)]
pub struct WorldSnapshot {
    /// Those that are older have lower numbers.
    birth: u64,
    model: Model,
}

/// Data sets and snapshots as they should be.
#[derive(Clone, Default)]
pub struct World {
    pub sets: BTreeMap<String, Model>,
    /// By `set@snapshot`.
    pub snapshots: BTreeMap<String, WorldSnapshot>,
    /// Of each clone its snapshot.
    origins: BTreeMap<String, String>,
    count: u64,
}

fn told(error: DataSetError) -> String {
    error.to_string()
}

fn set_of(snapshot: &str) -> &str {
    snapshot.split_once('@').unwrap().0
}

fn is_below(name: &str, above: &str) -> bool {
    name.strip_prefix(above)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Both agree on whether it can be done; true if it can.
fn agree<T>(
    result: Result<T, DataSetError>,
    is_expected: bool,
    what: &str,
) -> Result<bool, String> {
    match result {
        Ok(_) if is_expected => Ok(true),
        Err(_) if !is_expected => Ok(false),
        Ok(_) => Err(format!("{what}: done")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}

impl World {
    /// With one empty data set.
    pub fn with_set(name: &str) -> Self {
        let mut world = Self::default();
        world.sets.insert(name.to_owned(), Model::new());
        world
    }

    /// Of a data set, the oldest first.
    fn snapshots_of(&self, set: &str) -> Vec<String> {
        let all = self.snapshots.iter();
        let mut found: Vec<_> = all.filter(|(name, _)| set_of(name) == set).collect();
        found.sort_by_key(|(_, snapshot)| snapshot.birth);
        found.into_iter().map(|(name, _)| name.clone()).collect()
    }

    fn new_name(&mut self, before: &str) -> String {
        self.count += 1;
        format!("{before}{}", self.count)
    }

    /// The name of a new data set, perhaps below another.
    fn new_set_name(&mut self, random: &mut Random, before: &str) -> String {
        let names: Vec<String> = self.sets.keys().cloned().collect();
        if random.chance(40) {
            let above = random.pick(&names);
            self.new_name(&format!("{above}/{before}"))
        } else {
            self.new_name(before)
        }
    }

    /// Files, snapshots, clones and removals.
    pub fn change(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        let names: Vec<String> = self.sets.keys().cloned().collect();
        let name = random.pick(&names);
        match random.below(10) {
            0..5 => self.change_files(sets, random, &name),
            5..7 => {
                let snapshot = self.new_name(&format!("{name}@"));
                sets.snapshot(&snapshot).map_err(told)?;
                let model = self.sets[&name].clone();
                let birth = self.count;
                self.snapshots
                    .insert(snapshot, WorldSnapshot { birth, model });
                Ok(())
            }
            7 => self.clone_one(sets, random),
            8 => self.destroy_snapshot(sets, random),
            _ => self.destroy_set(sets, &name),
        }
    }

    /// Names and roles: renaming, promoting, rolling back.
    pub fn administer(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        match random.below(4) {
            0 => self.rename_set(sets, random),
            1 => self.rename_snapshot(sets, random),
            2 => self.promote(sets, random),
            _ => self.roll_back(sets, random),
        }
    }

    fn change_files(
        &mut self,
        sets: &DataSetVolume,
        random: &mut Random,
        name: &str,
    ) -> Result<(), String> {
        let set = sets.open_set(name).map_err(told)?;
        let model = self.sets.get_mut(name).unwrap();
        for _ in 0..12 {
            let operation = any_operation(random, model);
            perform_both(&set, model, &operation)?;
        }
        Ok(())
    }

    fn any_snapshot(&self, random: &mut Random) -> Option<String> {
        let snapshots: Vec<String> = self.snapshots.keys().cloned().collect();
        (!snapshots.is_empty()).then(|| random.pick(&snapshots))
    }

    fn clone_one(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        let Some(snapshot) = self.any_snapshot(random) else {
            return Ok(());
        };
        let clone = self.new_set_name(random, "clone");
        let properties = DataSetProperties::default();
        sets.clone_snapshot(&snapshot, &clone, properties)
            .map_err(told)?;
        let model = self.snapshots[&snapshot].model.reopened();
        self.sets.insert(clone.clone(), model);
        self.origins.insert(clone, snapshot);
        Ok(())
    }

    /// What a list says that it uses becomes free.
    fn destroy_snapshot(
        &mut self,
        sets: &DataSetVolume,
        random: &mut Random,
    ) -> Result<(), String> {
        let Some(name) = self.any_snapshot(random) else {
            return Ok(());
        };
        sets.sync().map_err(|error| error.to_string())?;
        let used = |sets: &DataSetVolume| -> Result<(u64, u64), String> {
            let list = sets.list().map_err(told)?;
            let set = list.iter().find(|set| set.name == set_of(&name)).unwrap();
            let mut snapshots = set.snapshots.iter();
            let of = snapshots.find(|one| name.ends_with(&format!("@{}", one.name)));
            Ok((
                set.statistics.used_bytes,
                of.map_or(0, |one| one.used_bytes),
            ))
        };
        let (before, of_snapshot) = used(sets)?;
        let has_clone = self.origins.values().any(|origin| *origin == name);
        if agree(sets.destroy_snapshot(&name), !has_clone, &name)? {
            self.snapshots.remove(&name);
            let (after, _) = used(sets)?;
            if before - after != of_snapshot {
                return Err(format!(
                    "{name}: {before} bytes less {of_snapshot} are {after}"
                ));
            }
        }
        Ok(())
    }

    fn destroy_set(&mut self, sets: &DataSetVolume, name: &str) -> Result<(), String> {
        if self.sets.len() == 1 {
            return Ok(());
        }
        let has_sets = self.sets.keys().any(|other| is_below(other, name));
        let is_alone = !has_sets && self.snapshots_of(name).is_empty();
        if agree(sets.destroy_set(name), is_alone, name)? {
            self.sets.remove(name);
            self.origins.remove(name);
        }
        Ok(())
    }

    fn rename_set(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        let names: Vec<String> = self.sets.keys().cloned().collect();
        let from = random.pick(&names);
        let to = if random.chance(15) {
            random.pick(&names)
        } else {
            self.new_set_name(random, "set")
        };
        let is_possible = !self.sets.contains_key(&to) && !is_below(&to, &from);
        if !agree(
            sets.rename_set(&from, &to),
            is_possible,
            &format!("{from} to {to}"),
        )? {
            return Ok(());
        }
        let renamed = |name: &str| {
            let (set, rest) = match name.split_once('@') {
                Some((set, snapshot)) => (set, format!("@{snapshot}")),
                None => (name, String::new()),
            };
            match set.strip_prefix(&*from) {
                Some(below) if below.is_empty() || below.starts_with('/') => {
                    format!("{to}{below}{rest}")
                }
                _ => name.to_owned(),
            }
        };
        // They have been closed.
        let reopened = |(name, model): (String, Model)| {
            let new = renamed(&name);
            let model = if new == name { model } else { model.reopened() };
            (new, model)
        };
        self.sets = std::mem::take(&mut self.sets)
            .into_iter()
            .map(reopened)
            .collect();
        let snapshots = std::mem::take(&mut self.snapshots).into_iter();
        self.snapshots = snapshots.map(|(name, one)| (renamed(&name), one)).collect();
        let origins = std::mem::take(&mut self.origins).into_iter();
        let both = origins.map(|(name, origin)| (renamed(&name), renamed(&origin)));
        self.origins = both.collect();
        Ok(())
    }

    fn rename_snapshot(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        let Some(from) = self.any_snapshot(random) else {
            return Ok(());
        };
        // Few names, so that some are taken, also when a clone is promoted.
        let to = format!("{}@r{}", set_of(&from), random.below(4));
        let is_free = !self.snapshots.contains_key(&to);
        if agree(
            sets.rename_snapshot(&from, &to),
            is_free,
            &format!("{from} to {to}"),
        )? {
            self.move_snapshot(&from, &to);
        }
        Ok(())
    }

    fn move_snapshot(&mut self, from: &str, to: &str) {
        let snapshot = self.snapshots.remove(from).unwrap();
        self.snapshots.insert(to.to_owned(), snapshot);
        for origin in self.origins.values_mut().filter(|origin| *origin == from) {
            *origin = to.to_owned();
        }
    }

    fn promote(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        let names: Vec<String> = self.sets.keys().cloned().collect();
        let clones: Vec<String> = self.origins.keys().cloned().collect();
        let name = match clones.is_empty() || random.chance(5) {
            true => random.pick(&names),
            false => random.pick(&clones),
        };
        let Some(origin) = self.origins.get(&name).cloned() else {
            agree(sets.promote(&name), false, &name)?;
            return Ok(());
        };
        let parent = set_of(&origin).to_owned();
        let birth = self.snapshots[&origin].birth;
        let mut moved = self.snapshots_of(&parent);
        moved.retain(|snapshot| self.snapshots[snapshot].birth <= birth);
        let renamed = |snapshot: &str| format!("{name}@{}", snapshot.split_once('@').unwrap().1);
        let is_free = moved
            .iter()
            .all(|one| !self.snapshots.contains_key(&renamed(one)));
        if !agree(sets.promote(&name), is_free, &format!("promote {name}"))? {
            return Ok(());
        }
        for snapshot in &moved {
            self.move_snapshot(snapshot, &renamed(snapshot));
        }
        let older = self.origins.remove(&parent);
        self.origins.insert(parent, renamed(&origin));
        match older {
            Some(older) => self.origins.insert(name, older),
            None => self.origins.remove(&name),
        };
        Ok(())
    }

    fn roll_back(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        let Some(picked) = self.any_snapshot(random) else {
            return Ok(());
        };
        let name = set_of(&picked).to_owned();
        let newest = self.snapshots_of(&name).pop().unwrap();
        let picked = if random.chance(30) {
            picked
        } else {
            newest.clone()
        };
        if agree(
            sets.rollback(&picked),
            picked == newest,
            &format!("rollback {picked}"),
        )? {
            let model = self.snapshots[&picked].model.reopened();
            self.sets.insert(name, model);
        }
        Ok(())
    }

    /// What differs in the volume: which data sets there are, their origins and files.
    pub fn compare(&self, sets: &DataSetVolume) -> Result<(), String> {
        let list = sets.list().map_err(told)?;
        let found: BTreeMap<&str, Option<&str>> = list
            .iter()
            .map(|set| (set.name.as_str(), set.origin.as_deref()))
            .collect();
        let origin = |name: &String| self.origins.get(name).map(String::as_str);
        let expected = self.sets.keys().map(|name| (name.as_str(), origin(name)));
        let expected: BTreeMap<&str, Option<&str>> = expected.collect();
        if found != expected {
            return Err(format!("data sets {found:?}, expected {expected:?}"));
        }
        for set in &list {
            let names = set
                .snapshots
                .iter()
                .map(|one| format!("{}@{}", set.name, one.name));
            let names: Vec<String> = names.collect();
            let expected = self.snapshots_of(&set.name);
            if names != expected {
                return Err(format!("snapshots {names:?}, expected {expected:?}"));
            }
        }
        let snapshots = self.snapshots.iter().map(|(name, one)| (name, &one.model));
        for (name, model) in self.sets.iter().chain(snapshots) {
            let set = sets.open_set(name).map_err(told)?;
            model
                .compare(&set)
                .map_err(|what| format!("{name}: {what}"))?;
        }
        Ok(())
    }

    pub fn nobody_has_anything_open(&mut self) {
        for model in self.sets.values_mut() {
            *model = model.reopened();
        }
    }

    /// Removes everything, what depends on others first. A promoted clone may be below the data set that has become its clone: then none of both can go
    /// before one has another name.
    pub fn destroy_all(sets: &DataSetVolume) -> Result<(), String> {
        let mut names: Vec<String> = sets
            .list()
            .map_err(told)?
            .into_iter()
            .map(|set| set.name)
            .collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        for (number, name) in names
            .iter()
            .enumerate()
            .filter(|(_, name)| name.contains('/'))
        {
            sets.rename_set(name, &format!("flat{number}"))
                .map_err(told)?;
        }
        loop {
            let list = sets.list().map_err(told)?;
            if list.is_empty() {
                return Ok(());
            }
            let mut has_removed = false;
            for set in list {
                for snapshot in &set.snapshots {
                    let name = format!("{}@{}", set.name, snapshot.name);
                    has_removed |= sets.destroy_snapshot(&name).is_ok();
                }
                has_removed |= sets.destroy_set(&set.name).is_ok();
            }
            if !has_removed {
                return Err("what is left cannot be removed".to_owned());
            }
            check(sets)?;
        }
    }
}
