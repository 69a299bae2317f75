use std::collections::BTreeMap;
use std::sync::Arc;

use quire_device::{DataSetProperties, DataSetVolume, ROOT_INODE};
use quire_store::MemDisk;

use crate::model::Model;
use crate::operations::{any_operation, perform_both};
use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, in_memory, open_on};

/// Data sets and snapshots as they should be.
#[derive(Default)]
struct World {
    sets: BTreeMap<String, Model>,
    snapshots: BTreeMap<String, Model>,
    /// Of each clone its snapshot.
    origins: BTreeMap<String, String>,
    count: u64,
}

impl World {
    fn snapshots_of(&self, set: &str) -> Vec<String> {
        let mut prefix = set.to_owned();
        prefix.push('@');
        let names = self
            .snapshots
            .keys()
            .filter(|name| name.starts_with(&prefix));
        names.cloned().collect()
    }

    fn new_name(&mut self, before: &str) -> String {
        self.count += 1;
        format!("{before}{}", self.count)
    }

    fn change(&mut self, sets: &DataSetVolume, random: &mut Random) -> Result<(), String> {
        let told = |error: quire_device::DataSetError| error.to_string();
        let names: Vec<String> = self.sets.keys().cloned().collect();
        let name = random.pick(&names);
        match random.below(10) {
            0..5 => {
                let set = sets.open_set(&name).map_err(told)?;
                let model = self.sets.get_mut(&name).unwrap();
                for _ in 0..12 {
                    let operation = any_operation(random, model);
                    perform_both(&set, model, &operation)?;
                }
            }
            5..7 => {
                let snapshot = self.new_name(&format!("{name}@"));
                sets.snapshot(&snapshot).map_err(told)?;
                self.snapshots.insert(snapshot, self.sets[&name].clone());
            }
            7 => {
                let snapshots: Vec<String> = self.snapshots.keys().cloned().collect();
                if !snapshots.is_empty() {
                    let snapshot = random.pick(&snapshots);
                    let clone = self.new_name("clone");
                    let properties = DataSetProperties::default();
                    sets.clone_snapshot(&snapshot, &clone, properties)
                        .map_err(told)?;
                    self.sets
                        .insert(clone.clone(), self.snapshots[&snapshot].reopened());
                    self.origins.insert(clone, snapshot);
                }
            }
            8 => {
                let snapshots: Vec<String> = self.snapshots.keys().cloned().collect();
                if !snapshots.is_empty() {
                    let snapshot = random.pick(&snapshots);
                    let has_clone = self.origins.values().any(|origin| *origin == snapshot);
                    let removed = sets.destroy_snapshot(&snapshot);
                    if removed.is_err() != has_clone {
                        return Err(format!("{snapshot}: {removed:?}"));
                    }
                    if !has_clone {
                        self.snapshots.remove(&snapshot);
                    }
                }
            }
            _ => {
                let has_snapshots = !self.snapshots_of(&name).is_empty();
                if self.sets.len() > 1 {
                    let removed = sets.destroy_set(&name);
                    if removed.is_err() != has_snapshots {
                        return Err(format!("{name}: {removed:?}"));
                    }
                    if !has_snapshots {
                        self.sets.remove(&name);
                        self.origins.remove(&name);
                    }
                }
            }
        }
        Ok(())
    }

    fn compare(&self, sets: &DataSetVolume) -> Result<(), String> {
        for (name, model) in self.sets.iter().chain(&self.snapshots) {
            let set = sets.open_set(name).map_err(|error| error.to_string())?;
            model
                .compare(&set)
                .map_err(|what| format!("{name}: {what}"))?;
        }
        Ok(())
    }

    fn nobody_has_anything_open(&mut self) {
        for model in self.sets.values_mut() {
            *model = model.reopened();
        }
    }

    /// Removes everything, what depends on others first.
    fn destroy_all(&mut self, sets: &DataSetVolume) -> Result<(), String> {
        while !self.sets.is_empty() {
            for name in self.snapshots.keys().cloned().collect::<Vec<_>>() {
                if sets.destroy_snapshot(&name).is_ok() {
                    self.snapshots.remove(&name);
                }
            }
            for name in self.sets.keys().cloned().collect::<Vec<_>>() {
                if sets.destroy_set(&name).is_ok() {
                    self.sets.remove(&name);
                }
            }
            check(sets)?;
        }
        Ok(())
    }
}

fn run(seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let disk = Arc::new(MemDisk::new());
    let dirty_bytes = if seed.is_multiple_of(2) {
        32 << 10
    } else {
        64 << 20
    };
    let mut sets = create_on(disk.clone(), dirty_bytes);
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        ..DataSetProperties::default()
    };
    sets.create_set("first", properties).unwrap();
    let mut world = World::default();
    world.sets.insert("first".to_owned(), Model::new());
    for step in 0..150 {
        let changed = world.change(&sets, &mut random);
        changed.map_err(|what| format!("step {step}: {what}"))?;
        if random.chance(10) {
            world
                .compare(&sets)
                .map_err(|what| format!("step {step}: {what}"))?;
            sets.sync().map_err(|error| error.to_string())?;
            check(&sets).map_err(|what| format!("step {step}: {what}"))?;
        }
        if random.chance(5) {
            drop(sets);
            sets = open_on(disk.clone(), dirty_bytes)?;
            world.nobody_has_anything_open();
            world
                .compare(&sets)
                .map_err(|what| format!("reopened after {step}: {what}"))?;
            check(&sets).map_err(|what| format!("reopened after {step}: {what}"))?;
        }
    }
    world.destroy_all(&sets)?;
    let left = sets.volume().stats().page_count;
    if left != 1 {
        return Err(format!("{left} pages are left when all is removed"));
    }
    Ok(())
}

#[test]
fn snapshots_and_clones_stay_as_they_are_and_space_is_free_when_nobody_has_it() {
    for seed in seeds(10) {
        if let Err(what) = run(seed) {
            panic!("QUIRE_SEED={seed} QUIRE_CASES=1: {what}");
        }
    }
}

#[test]
fn snapshots_and_clones_cost_nothing_when_they_are_made() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    let new = quire_device::NewInode::file(0o644);
    let file = set.create(ROOT_INODE, b"file", &new).unwrap();
    let noise = Random(1).bytes(1 << 20);
    set.write(file, 0, &noise).unwrap();
    set.sync().unwrap();
    let before = sets.volume().stats().live_bytes;
    sets.snapshot("data@one").unwrap();
    let properties = DataSetProperties::default();
    sets.clone_snapshot("data@one", "clone", properties)
        .unwrap();
    let after = sets.volume().stats().live_bytes;
    assert!(after < before + 2000, "{before} bytes became {after}");
    let clone = sets.open_set("clone").unwrap();
    assert_eq!(clone.read(file, 0, 1 << 20).unwrap(), noise);
    assert_eq!(clone.statistics().used_bytes, 0);
    assert_eq!(clone.statistics().totals, set.statistics().totals);
    clone.write(file, 5, b"other").unwrap();
    clone.sync().unwrap();
    assert_eq!(set.read(file, 0, 1 << 20).unwrap(), noise);
    assert_eq!(check(&sets), Ok(()));
}
