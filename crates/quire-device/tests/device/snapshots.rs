use std::sync::Arc;

use quire_device::{DataSetCodec, DataSetProperties, ROOT_INODE};
use quire_store::MemDisk;

use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, dictionary_pages, in_memory, open_on};
use crate::world::World;

/// Returns how many dictionaries there were at most.
fn run(seed: u64) -> Result<usize, String> {
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
        // With dictionaries, where `dirty_bytes` is enough for them.
        compression: (seed % 4 < 2).then_some(DataSetCodec::Auto),
        ..DataSetProperties::default()
    };
    sets.create_set("first", properties).unwrap();
    let mut world = World::with_set("first");
    let mut dictionaries = 0;
    for step in 0..150 {
        let changed = if random.chance(20) {
            world.administer(&sets, &mut random)
        } else {
            world.change(&sets, &mut random)
        };
        changed.map_err(|what| format!("step {step}: {what}"))?;
        if random.chance(10) {
            world
                .compare(&sets)
                .map_err(|what| format!("step {step}: {what}"))?;
            sets.sync().map_err(|error| error.to_string())?;
            check(&sets).map_err(|what| format!("step {step}: {what}"))?;
            dictionaries = dictionaries.max(dictionary_pages(&sets));
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
    World::destroy_all(&sets)?;
    let left = sets.volume().stats().page_count;
    if left != 1 {
        return Err(format!("{left} pages are left when all is removed"));
    }
    Ok(dictionaries)
}

#[test]
fn snapshots_and_clones_stay_as_they_are_and_space_is_free_when_nobody_has_it() {
    let mut dictionaries = 0;
    let seeds = seeds(10);
    for seed in seeds.clone() {
        match run(seed) {
            Ok(at_most) => dictionaries += at_most,
            Err(what) => panic!("QUIRE_SEED={seed} QUIRE_CASES=1: {what}"),
        }
    }
    // With one seed there may be none.
    assert!(dictionaries > 0 || seeds.count() < 10);
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
