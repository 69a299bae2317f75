//! `mount VOLUME DIR [create] [CODEC]`: mounts the data set `data` of a volume; with `create` it is made first, compressed as CODEC says
//! (`lz4`, `zstd-3`, `off`, …), with records of a size (`8k`) and logged synchronous writes (`logged`) if asked for.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use quire_device::{
    DataSetCodec, DataSetProperties, DataSetVolume, DeviceOptions, SynchronousWrites,
};
use quire_mount::{MountOptions, MountedDataSet};
use quire_store::{FileDisk, OpenMode, Volume, VolumeOptions};

type AnyError = Box<dyn std::error::Error>;

/// The properties that words ask for.
fn asked(words: &[String]) -> DataSetProperties {
    let has = |word: &str| words.iter().any(|one| one == word);
    let kibibytes = |word: &String| word.strip_suffix('k')?.parse::<u32>().ok();
    DataSetProperties {
        compression: words.iter().find_map(|word| DataSetCodec::from_name(word)),
        record_bytes: words.iter().find_map(kibibytes).map(|kib| kib << 10),
        synchronous: has("logged").then_some(SynchronousWrites::Logged),
        ..DataSetProperties::default()
    }
}

fn open(path: &str, created: Option<DataSetProperties>) -> Result<DataSetVolume, AnyError> {
    let disk = Arc::new(FileDisk::open_or_create(path)?);
    let Some(properties) = created else {
        let volume = Volume::open(disk, OpenMode::ReadWrite)?;
        return Ok(DataSetVolume::open(volume, DeviceOptions::default())?);
    };
    let volume = Volume::create(disk, VolumeOptions::default())?;
    let sets = DataSetVolume::create(volume, DeviceOptions::default())?;
    sets.create_set("data", properties)?;
    Ok(sets)
}

fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [volume, directory, more @ ..] = &arguments[..] else {
        return Err(
            "usage: mount VOLUME DIR [create] [CODEC] [RECORDk] [logged] [writeback]".into(),
        );
    };
    let has = |word: &str| more.iter().any(|one| one == word);
    let sets = open(volume, has("create").then(|| asked(more)))?;
    let options = MountOptions {
        allow_other: true,
        writeback_cache: has("writeback"),
        volume_file: Some(volume.into()),
        ..MountOptions::default()
    };
    let mounted = MountedDataSet::mount(sets.open_set("data")?, Path::new(directory), options)?;
    println!(
        "{} is mounted on {directory}; `umount {directory}` ends it",
        volume
    );
    mounted.wait()?;
    Ok(())
}
