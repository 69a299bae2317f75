//! The reference volumes of data sets: what is in them, and how they were made.

use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;

use quire_device::{
    DataSetCodec, DataSetProperties, DataSetVolume, DeviceOptions, ExtendedMode, FileTime,
    NewInode, ROOT_INODE, SectorRounding, SynchronousWrites,
};
use quire_store::{MemDisk, Volume, VolumeOptions};

/// `first`, its snapshot `first@one`, and the clone `second` of that.
pub const SETS: [&str; 3] = ["first", "first@one", "second"];

/// The file `text` of each of [`SETS`].
pub fn text_of(set: &str) -> Vec<u8> {
    let lines = (0..800).map(|number| format!("line {number}\n"));
    let mut text = lines.collect::<String>().into_bytes();
    match set {
        // Written after the snapshot, and logged.
        "first" => {
            text[5000..5006].copy_from_slice(b"change");
            text.extend(b"logged");
        }
        "second" => text.truncate(4500),
        _ => {}
    }
    text
}

/// The file `sparse`: 100,000 zeros, with a 1 at byte 50,000.
pub fn sparse() -> Vec<u8> {
    let mut sparse = vec![0; 100_000];
    sparse[50_000] = 1;
    sparse
}

/// The options of the volumes with which it was made.
pub fn options() -> DeviceOptions {
    DeviceOptions {
        dirty_bytes: 1 << 20,
        record_cache_bytes: 1 << 20,
        dictionary_from_bytes: 32 << 10,
        compression_threads: NonZero::<usize>::MIN,
        clock: || FileTime {
            seconds: 1_700_000_000,
            nanoseconds: 7,
        },
    }
}

fn create(disk: &Arc<MemDisk>) -> Result<DataSetVolume, Box<dyn Error>> {
    let volume_options = VolumeOptions {
        growth_bytes: 64 << 10,
        salt_seed: Some(1),
        ..VolumeOptions::default()
    };
    let volume = Volume::create(disk.clone(), volume_options)?;
    Ok(DataSetVolume::create(volume, options())?)
}

/// The file `orders` of the data set `learnt`, and of its snapshot without the last line: names that records share, and hardly repeat.
pub fn orders() -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = |limit: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % limit
    };
    let mut name = |_| (0..32).map(|_| char::from(b'a' + next(26) as u8)).collect();
    let names: Vec<String> = (0..100).map(&mut name).collect();
    let lines = (0..3000).map(|_| format!("{}\n", names[next(100) as usize]));
    lines.collect::<String>().into_bytes()
}

/// A volume of version 2: its data set `learnt` has a file with a dictionary, and the snapshot `learnt@one`.
pub fn make_with_dictionary() -> Result<Vec<u8>, Box<dyn Error>> {
    let disk = Arc::new(MemDisk::new());
    let sets = create(&disk)?;
    let properties = DataSetProperties {
        compression: Some(DataSetCodec::Auto),
        record_bytes: Some(4096),
        ..DataSetProperties::default()
    };
    sets.create_set("learnt", properties)?;
    let set = sets.open_set("learnt")?;
    let file = set.create(ROOT_INODE, b"orders", &NewInode::file(0o644))?;
    let orders = orders();
    set.write(file, 0, &orders)?;
    sets.snapshot("learnt@one")?;
    set.write(file, orders.len() as u64, b"the end\n")?;
    set.sync()?;
    Ok(disk.to_bytes())
}

/// Makes that of version 1, and leaves it as a killed process does.
pub fn make() -> Result<Vec<u8>, Box<dyn Error>> {
    let disk = Arc::new(MemDisk::new());
    let sets = create(&disk)?;
    let properties = DataSetProperties {
        compression: DataSetCodec::from_name("zstd-5"),
        record_bytes: Some(4096),
        sectors: Some(SectorRounding::Bytes512),
        gain_per_mille: Some(100),
        synchronous: Some(SynchronousWrites::Logged),
        quota_bytes: Some(1 << 30),
    };
    sets.create_set("first", properties)?;
    let first = sets.open_set("first")?;
    let text = first.create(ROOT_INODE, b"text", &NewInode::file(0o644))?;
    first.write(text, 0, &text_of("first@one"))?;
    let sparse = first.create(ROOT_INODE, b"sparse", &NewInode::file(0o600))?;
    first.write(sparse, 50_000, &[1])?;
    first.allocate(sparse, 0, 100_000, false)?;
    let folder = first.create(ROOT_INODE, b"folder", &NewInode::directory(0o700))?;
    first.link(text, folder, b"also text")?;
    first.create_link(folder, b"link", b"../text", (1, 2))?;
    first.set_extended(folder, b"user.color", b"blue", ExtendedMode::Create)?;
    sets.snapshot("first@one")?;
    sets.clone_snapshot("first@one", "second", DataSetProperties::default())?;
    let second = sets.open_set("second")?;
    let shorter = quire_device::AttributeChange {
        size: Some(4500),
        ..quire_device::AttributeChange::default()
    };
    second.set_attributes(text, &shorter)?;
    second.sync()?;
    first.write(text, 5000, b"change")?;
    first.write_back()?;
    let end = first.attributes(text)?.size;
    first.write(text, end, b"logged")?;
    first.sync()?;
    Ok(disk.to_bytes())
}
