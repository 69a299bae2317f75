//! `mount VOLUME DIR [create] [CODEC]`: mounts the data set `data` of a volume; with `create` it is made first, compressed as CODEC says
//! (`lz4`, `zstd-3`, `off`, …).
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use quire_device::{DataSetCodec, DataSetProperties, DataSetVolume, DeviceOptions};
use quire_mount::{MountOptions, MountedDataSet};
use quire_store::{FileDisk, OpenMode, Volume, VolumeOptions};

type AnyError = Box<dyn std::error::Error>;

fn open(path: &str, codec: Option<DataSetCodec>) -> Result<DataSetVolume, AnyError> {
    let disk = Arc::new(FileDisk::open_or_create(path)?);
    let Some(compression) = codec else {
        let volume = Volume::open(disk, OpenMode::ReadWrite)?;
        return Ok(DataSetVolume::open(volume, DeviceOptions::default())?);
    };
    let volume = Volume::create(disk, VolumeOptions::default())?;
    let sets = DataSetVolume::create(volume, DeviceOptions::default())?;
    let properties = DataSetProperties {
        compression: Some(compression),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties)?;
    Ok(sets)
}

fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [volume, directory, more @ ..] = &arguments[..] else {
        return Err("usage: mount VOLUME DIR [create] [CODEC] [writeback]".into());
    };
    let has = |word: &str| more.iter().any(|one| one == word);
    let codec = more.iter().find_map(|word| DataSetCodec::from_name(word));
    let codec = codec.unwrap_or(
        DataSetProperties::default()
            .compression
            .unwrap_or(DataSetCodec::Auto),
    );
    let sets = open(volume, has("create").then_some(codec))?;
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
