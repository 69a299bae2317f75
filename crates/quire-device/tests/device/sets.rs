use std::sync::Arc;

use quire_device::{
    DataSetCodec, DataSetError, DataSetProperties, DataSetVolume, FileError, NewInode, ROOT_INODE,
    SectorRounding, open_or_create_data_sets,
};
use quire_store::{MemDisk, OpenMode, PageKind, Volume};

use crate::volumes::{create_on, device_options, in_memory, volume_options};

fn compression(name: &str) -> DataSetProperties {
    DataSetProperties {
        compression: DataSetCodec::from_name(name),
        ..DataSetProperties::default()
    }
}

#[test]
fn properties_are_inherited_from_the_data_set_above() {
    let sets = create_on(Arc::new(MemDisk::new()), 1 << 20);
    sets.create_set("a", compression("zstd-9")).unwrap();
    sets.create_set("a/b", DataSetProperties::default())
        .unwrap();
    sets.create_set("a/b/c", compression("off")).unwrap();
    let open = sets.open_set("a/b").unwrap();
    let named = |name: &str| {
        let list = sets.list().unwrap();
        let found = list.into_iter().find(|set| set.name == name).unwrap();
        found.effective
    };
    assert_eq!(named("a/b").compression.to_string(), "zstd-9");
    assert_eq!(named("a/b/c").compression, DataSetCodec::OFF);
    let change = |properties: &mut DataSetProperties| {
        properties.compression = DataSetCodec::from_name("gzip");
        properties.quota_bytes = Some(1 << 30);
        properties.sectors = Some(SectorRounding::Bytes512);
    };
    sets.set_properties("a", change).unwrap();
    assert_eq!(open.properties(), named("a/b"));
    assert_eq!(named("a/b").compression.to_string(), "gzip");
    assert_eq!(named("a/b/c").sectors, SectorRounding::Bytes512);
    assert_eq!(named("a").quota_bytes, Some(1 << 30));
    assert_eq!(named("a/b").quota_bytes, None);
    sets.set_properties("a", |properties| properties.compression = None)
        .unwrap();
    assert_eq!(named("a/b").compression.to_string(), "lz4");
}

#[test]
fn what_is_not_allowed_is_an_error_that_changes_nothing() {
    let sets = in_memory();
    let default = DataSetProperties::default();
    let error = |result: Result<(), DataSetError>| result.unwrap_err().to_string();
    assert!(error(sets.create_set("data", default)).contains("exists"));
    assert!(error(sets.create_set("no/set", default)).contains("no data set no"));
    assert!(error(sets.create_set("a b", default)).contains("no name"));
    assert!(error(sets.snapshot("data@")).contains("no name"));
    assert!(error(sets.snapshot("other@x")).contains("no data set other"));
    for record_bytes in [0, 2048, 5000, 2 << 20] {
        let wrong = DataSetProperties {
            record_bytes: Some(record_bytes),
            ..default
        };
        assert!(error(sets.create_set("new", wrong)).contains("power of two"));
    }
    let wrong = |properties: &mut DataSetProperties| properties.gain_per_mille = Some(1001);
    assert!(error(sets.set_properties("data", wrong)).contains("1,000"));
    assert_eq!(sets.properties("data").unwrap(), default);
    sets.snapshot("data@one").unwrap();
    assert!(error(sets.snapshot("data@one")).contains("exists"));
    assert!(error(sets.destroy_set("data")).contains("data@one"));
    sets.clone_snapshot("data@one", "data/clone", default)
        .unwrap();
    assert!(error(sets.destroy_snapshot("data@one")).contains("data/clone"));
    let clone = sets.open_set("data/clone").unwrap();
    assert!(error(sets.destroy_set("data/clone")).contains("is open"));
    drop(clone);
    sets.destroy_set("data/clone").unwrap();
    let snapshot = sets.open_set("data@one").unwrap();
    assert!(error(sets.destroy_snapshot("data@one")).contains("is open"));
    let refused = snapshot.create(ROOT_INODE, b"x", &NewInode::file(0o600));
    assert!(matches!(refused, Err(FileError::ReadOnly { .. })));
    drop(snapshot);
    sets.destroy_snapshot("data@one").unwrap();
    assert!(error(sets.destroy_snapshot("data@one")).contains("no data set"));
    let names: Vec<String> = sets
        .list()
        .unwrap()
        .into_iter()
        .map(|set| set.name)
        .collect();
    assert_eq!(names, ["data"]);
}

#[test]
fn only_an_empty_volume_becomes_one_of_data_sets_and_only_such_a_one_is_opened() {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), volume_options()).unwrap();
    let refused = DataSetVolume::open(volume.clone(), device_options(1 << 20)).err();
    assert!(matches!(refused, Some(DataSetError::NotDataSets { .. })));
    let batch = volume.begin().unwrap();
    batch
        .replace(quire_store::CATALOG_PAGE, PageKind::Catalog, &[5; 20])
        .unwrap();
    batch.commit().unwrap();
    let refused = DataSetVolume::open(volume.clone(), device_options(1 << 20)).err();
    assert!(matches!(refused, Some(DataSetError::NotDataSets { .. })));
    let refused = DataSetVolume::create(volume, device_options(1 << 20)).err();
    assert!(matches!(refused, Some(DataSetError::NotEmpty { .. })));
}

#[test]
fn a_volume_that_is_open_read_only_shows_its_files() {
    let disk = Arc::new(MemDisk::new());
    let sets = create_on(disk.clone(), 1 << 20);
    sets.create_set("data", DataSetProperties::default())
        .unwrap();
    let set = sets.open_set("data").unwrap();
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o600))
        .unwrap();
    set.write(file, 0, b"content").unwrap();
    drop(set);
    drop(sets);
    let volume = Volume::open_with(disk, OpenMode::ReadOnly, volume_options()).unwrap();
    let sets = DataSetVolume::open(volume, device_options(1 << 20)).unwrap();
    let set = sets.open_set("data").unwrap();
    assert_eq!(set.read(file, 0, 100).unwrap(), b"content");
    assert!(matches!(
        set.write(file, 0, b"x"),
        Err(FileError::ReadOnly { .. })
    ));
    assert!(set.sync().is_ok());
    let refused = sets.create_set("other", DataSetProperties::default());
    assert!(refused.unwrap_err().to_string().contains("read-only"));
}

#[test]
fn what_is_closed_is_there_when_it_is_opened_again() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o600))
        .unwrap();
    assert!(matches!(
        sets.close_set("data"),
        Err(DataSetError::Busy { .. })
    ));
    drop(set);
    sets.close_set("data").unwrap();
    assert!(matches!(
        sets.close_set("data"),
        Err(DataSetError::NotFound { .. })
    ));
    let set = sets.open_set("data").unwrap();
    assert_eq!(set.lookup(ROOT_INODE, b"file").unwrap(), file);
}

#[test]
fn a_name_that_cannot_be_leaves_no_file() {
    let folder = std::env::temp_dir().join(format!("quire-names-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("new.quire");
    for name in ["bad name", "no/parent", ""] {
        let refused = open_or_create_data_sets(&path, name).err().unwrap();
        let refused = refused.to_string();
        assert!(
            refused.contains("name") || refused.contains("no data set"),
            "{refused}"
        );
        assert!(!path.exists(), "{name}");
    }
    let sets = open_or_create_data_sets(&path, "a").unwrap();
    sets.create_set("a", DataSetProperties::default()).unwrap();
    drop(sets);
    // Who makes it finds out.
    let sets = open_or_create_data_sets(&path, "a/b").unwrap();
    sets.create_set("a/b", DataSetProperties::default())
        .unwrap();
    drop(sets);
    std::fs::remove_dir_all(&folder).unwrap();
}
