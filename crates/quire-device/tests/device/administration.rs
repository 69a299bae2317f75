//! Renaming, promoting and rolling back: a crash after each operation of the disk, and what is refused.

use std::sync::Arc;

use quire_device::{
    DataSetCodec, DataSetError, DataSetProperties, DataSetVolume, NewInode, ROOT_INODE,
};
use quire_store::disk::CrashImages;
use quire_store::{MemDisk, SimDisk};

use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, in_memory, open_on};
use crate::world::World;

/// More than any run changes: batches are written only when a test asks for it.
const DIRTY_BYTES: usize = 64 << 20;

fn small_records() -> DataSetProperties {
    DataSetProperties {
        record_bytes: Some(4096),
        ..DataSetProperties::default()
    }
}

/// Each change is durable, as a whole, when it is done: after a crash the volume is as one of the two moments around it says.
fn crash_everywhere(seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let sets = create_on(disk.clone(), DIRTY_BYTES);
    let properties = DataSetProperties {
        compression: seed.is_multiple_of(2).then_some(DataSetCodec::Auto),
        ..small_records()
    };
    sets.create_set("first", properties).unwrap();
    let mut world = World::with_set("first");
    let mut moments: Vec<(usize, World)> = Vec::new();
    for step in 0..40 {
        let changed = if step >= 12 && random.chance(60) {
            world.administer(&sets, &mut random)
        } else {
            world.change(&sets, &mut random)
        };
        changed.map_err(|what| format!("step {step}: {what}"))?;
        sets.sync().map_err(|error| error.to_string())?;
        let mut after_crash = world.clone();
        after_crash.nobody_has_anything_open();
        moments.push((disk.journal_len(), after_crash));
    }
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    while crashes.advance() {
        let position = crashes.position();
        let past = moments.partition_point(|(journal, _)| *journal <= position);
        if past == 0 {
            continue;
        }
        let image = crashes.image(random.next_u64());
        let after = |what| format!("after operation {position}: {what}");
        let sets = open_on(Arc::new(MemDisk::from_bytes(image)), DIRTY_BYTES).map_err(after)?;
        let allowed = &moments[past - 1..moments.len().min(past + 1)];
        let compared = allowed.iter().map(|(_, world)| world.compare(&sets));
        let failures: Vec<String> = compared.filter_map(Result::err).collect();
        if failures.len() == allowed.len() {
            return Err(after(failures.join("; ")));
        }
        sets.sync().map_err(|error| after(error.to_string()))?;
        check(&sets).map_err(after)?;
    }
    Ok(())
}

#[test]
fn a_crash_leaves_names_and_roles_as_they_were_or_as_they_become() {
    for seed in seeds(3) {
        if let Err(what) = crash_everywhere(seed) {
            panic!("QUIRE_SEED={seed} QUIRE_CASES=1: {what}");
        }
    }
}

fn write(sets: &DataSetVolume, name: &str, content: &[u8]) {
    let set = sets.open_set(name).unwrap();
    let file = match set.lookup(ROOT_INODE, b"file") {
        Ok(file) => file,
        Err(_) => set
            .create(ROOT_INODE, b"file", &NewInode::file(0o600))
            .unwrap(),
    };
    set.write(file, 0, content).unwrap();
    set.sync().unwrap();
}

fn content(sets: &DataSetVolume, name: &str) -> Vec<u8> {
    let set = sets.open_set(name).unwrap();
    let file = set.lookup(ROOT_INODE, b"file").unwrap();
    set.read(file, 0, usize::MAX).unwrap()
}

#[test]
fn a_promoted_clone_stays_when_its_origin_is_removed() {
    let sets = in_memory();
    write(&sets, "data", b"one");
    sets.snapshot("data@one").unwrap();
    write(&sets, "data", b"two");
    sets.clone_snapshot("data@one", "clone", small_records())
        .unwrap();
    write(&sets, "clone", b"three");
    assert!(matches!(
        sets.promote("data"),
        Err(DataSetError::NotClone { .. })
    ));
    sets.snapshot("clone@one").unwrap();
    assert!(matches!(
        sets.promote("clone"),
        Err(DataSetError::Exists { .. })
    ));
    sets.rename_snapshot("clone@one", "clone@two").unwrap();
    let old = sets.open_set("data@one").unwrap();
    assert!(matches!(
        sets.promote("clone"),
        Err(DataSetError::Busy { .. })
    ));
    drop(old);
    // Who has the data sets open goes on.
    let (data, clone) = (
        sets.open_set("data").unwrap(),
        sets.open_set("clone").unwrap(),
    );
    sets.promote("clone").unwrap();
    drop((data, clone));
    write(&sets, "data", b"four");
    write(&sets, "clone", b"five");
    assert_eq!(check(&sets), Ok(()));
    let list = sets.list().unwrap();
    let data = list.iter().find(|set| set.name == "data").unwrap();
    assert_eq!(data.origin.as_deref(), Some("clone@one"));
    sets.destroy_set("data").unwrap();
    assert_eq!(content(&sets, "clone@one"), b"one");
    assert_eq!(content(&sets, "clone@two"), b"three");
    assert_eq!(content(&sets, "clone"), b"fivee");
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_data_set_goes_back_to_its_newest_snapshot() {
    let sets = in_memory();
    write(&sets, "data", b"one");
    sets.snapshot("data@one").unwrap();
    let used = |sets: &DataSetVolume| sets.list().unwrap()[0].statistics.used_bytes;
    let before = used(&sets);
    write(&sets, "data", &Random(1).bytes(300_000));
    assert!(used(&sets) > before + 300_000);
    let open = sets.open_set("data").unwrap();
    assert!(matches!(
        sets.rollback("data@one"),
        Err(DataSetError::Busy { .. })
    ));
    drop(open);
    sets.rollback("data@one").unwrap();
    assert_eq!(content(&sets, "data"), b"one");
    assert_eq!(used(&sets), before);
    sets.snapshot("data@two").unwrap();
    assert!(matches!(
        sets.rollback("data@one"),
        Err(DataSetError::NotNewest { .. })
    ));
    assert!(matches!(
        sets.rollback("data@three"),
        Err(DataSetError::NotFound { .. })
    ));
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn data_sets_take_those_below_and_their_clones_along() {
    let sets = in_memory();
    sets.create_set("data/a", small_records()).unwrap();
    sets.create_set("data/a/b", small_records()).unwrap();
    sets.create_set("data-b", small_records()).unwrap();
    write(&sets, "data/a/b", b"here");
    sets.snapshot("data/a/b@one").unwrap();
    sets.clone_snapshot("data/a/b@one", "clone", small_records())
        .unwrap();
    let error = |result: Result<(), DataSetError>| result.unwrap_err().to_string();
    assert!(error(sets.rename_set("data", "data/a/c")).contains("below itself"));
    assert!(error(sets.rename_set("data", "data-b")).contains("exists"));
    assert!(error(sets.rename_set("data", "none/c")).contains("no data set none"));
    assert!(error(sets.rename_set("none", "c")).contains("no data set none"));
    assert!(error(sets.rename_set("data", "c d")).contains("no name"));
    assert!(error(sets.rename_snapshot("data/a/b@one", "clone@one")).contains("stays"));
    let deep = format!("data-b/{}", "x".repeat(248));
    assert!(error(sets.rename_set("data", &deep)).contains("no name"));
    let open = sets.open_set("data/a/b").unwrap();
    assert!(error(sets.rename_set("data", "c")).contains("data/a/b is open"));
    drop(open);
    sets.rename_set("data/a", "data-b/c").unwrap();
    let list = sets.list().unwrap();
    let names: Vec<&str> = list.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(names, ["clone", "data", "data-b", "data-b/c", "data-b/c/b"]);
    assert_eq!(list[0].origin.as_deref(), Some("data-b/c/b@one"));
    assert_eq!(content(&sets, "data-b/c/b@one"), b"here");
    assert_eq!(sets.open_set("data-b/c/b").unwrap().name(), "data-b/c/b");
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_list_says_what_snapshots_take() {
    let sets = in_memory();
    let noise = Random(1).bytes(1 << 20);
    write(&sets, "data", &noise);
    for name in ["data@one", "data@two"] {
        sets.snapshot(name).unwrap();
    }
    write(&sets, "data", &Random(2).bytes(1 << 20));
    sets.snapshot("data@three").unwrap();
    let list = sets.list().unwrap();
    let [one, two, three] = &list[0].snapshots[..] else {
        panic!("{list:?}");
    };
    assert_eq!(one.logical_bytes(), 1 << 20);
    assert!(one.referenced_bytes() > 1 << 20);
    assert!((0.9..1.1).contains(&one.compression_ratio()));
    // Two snapshots share it, and so does the data set with the third.
    assert_eq!((one.used_bytes, three.used_bytes), (0, 0));
    assert_eq!(two.used_bytes, 0);
    assert!(list[0].statistics.used_bytes > 2 << 20);
    assert!(list[0].referenced_bytes() < 2 << 20);
    sets.destroy_snapshot("data@one").unwrap();
    let list = sets.list().unwrap();
    assert!(list[0].snapshots[0].used_bytes > 1 << 20);
}
