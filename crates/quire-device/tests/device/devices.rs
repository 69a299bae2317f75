//! Files that are devices.

use std::path::PathBuf;
use std::sync::Arc;

use quire_device::{
    DataSetVolume, DeviceKind, DeviceOpenError, DeviceOpenOptions, DeviceSpecification, NewInode,
    OpenedDevice, ROOT_INODE, open_device, open_device_on,
};
use quire_store::disk::CrashImages;
use quire_store::{
    Disk, FileDisk, MemDisk, OpenMode, PageKind, SimDisk, Volume, VolumeOpenError, VolumeOptions,
};

use crate::random::Random;
use crate::volumes::{check, create_on, device_options, open_on, volume_options};

/// A directory that is gone when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("quire-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn specification(text: &str) -> DeviceSpecification {
    text.parse().unwrap()
}

fn options() -> DeviceOpenOptions {
    DeviceOpenOptions {
        volume: VolumeOptions {
            discards: true,
            ..volume_options()
        },
        device: device_options(1 << 20),
        ..DeviceOpenOptions::default()
    }
}

fn open(disk: Arc<dyn Disk>, text: &str) -> Result<OpenedDevice, DeviceOpenError> {
    open_device_on(disk, &specification(text), options())
}

/// Text that compresses.
fn text(length: usize) -> Vec<u8> {
    let words = (0..).map(|number| format!("row {number}, ").into_bytes());
    words.flatten().take(length).collect()
}

#[test]
fn what_a_database_writes_is_there_when_the_device_is_opened_again() {
    let directory = Directory::new("devices");
    for (number, text) in [
        "csd:zlib",
        "csd:lz4@nvme-ssd",
        "zfs:lzjb:16k",
        "zfs:zstd-3:128k:512@nvme-ssd",
    ]
    .into_iter()
    .enumerate()
    {
        let path = directory.0.join(format!("{number}.device"));
        let device = open_device(&path, &specification(text), options()).unwrap();
        let volume = Volume::create(Arc::clone(&device.disk), volume_options()).unwrap();
        let payload = self::text(100_000);
        let batch = volume.begin().unwrap();
        let page = batch.write(PageKind::Segment, &payload).unwrap();
        batch.commit().unwrap();
        let statistics = device.monitor.statistics().unwrap();
        assert!(
            statistics.logical_bytes() >= 100_000,
            "{text}: {statistics:?}"
        );
        assert!(
            statistics.compression_ratio() > 1.5,
            "{text}: {statistics:?}"
        );
        assert_eq!(statistics.throttle.is_some(), text.contains('@'));
        assert!(
            statistics.throttle.is_none_or(|one| one.writes > 0),
            "{text}"
        );
        let monitor = device.monitor.clone();
        drop((volume, device));
        assert!(monitor.statistics().is_none(), "it is closed");
        // Closed for good: the volume has no log to read, and nobody has the file.
        let below = Arc::new(FileDisk::open(&path, OpenMode::ReadOnly).unwrap());
        let below = Volume::open(below, OpenMode::ReadOnly).unwrap();
        assert_eq!(below.stats().log_bytes, 0);
        drop(below);
        let read_only = DeviceOpenOptions {
            mode: OpenMode::ReadOnly,
            ..options()
        };
        let device = open_device(&path, &specification(text), read_only).unwrap();
        assert!(device.disk.write_at(b"x", 0).is_err());
        let volume = Volume::open(Arc::clone(&device.disk), OpenMode::ReadOnly).unwrap();
        assert_eq!(&*volume.read(page).unwrap(), payload);
        drop((volume, device));
        // It can be slow at one time and not at another.
        let kind = specification(text).kind;
        let other = DeviceSpecification {
            kind,
            throttle: None,
        };
        assert!(open_device(&path, &other, options()).is_ok());
    }
}

#[test]
fn what_a_file_is_has_to_be_known() {
    let disk = Arc::new(MemDisk::new());
    drop(open(disk.clone(), "zfs:lz4:8k").unwrap());
    let before = disk.to_bytes();
    for other in ["csd:lz4", "zfs:lz4:16k", "zfs:lz4:8k:512", "zfs:lzjb:8k"] {
        let error = open(disk.clone(), other).err().unwrap();
        let DeviceOpenError::OtherDevice { found, asked, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*asked, specification(other).kind);
        assert_eq!(found.to_string(), "zfs:lz4:8k:4096");
        assert!(error.to_string().contains("open it as zfs:lz4:8k:4096"));
    }
    assert!(disk.to_bytes() == before, "it has been changed");
    // A database without a device.
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), volume_options()).unwrap();
    let batch = volume.begin().unwrap();
    let catalog = batch.replace(quire_store::CATALOG_PAGE, PageKind::Catalog, &[6; 9]);
    catalog.unwrap();
    batch.commit().unwrap();
    drop(volume);
    let before = disk.to_bytes();
    let error = open(disk.clone(), "csd:lz4").err().unwrap();
    assert!(matches!(error, DeviceOpenError::Database { .. }), "{error}");
    assert!(disk.to_bytes() == before, "it has been changed");
    // Somebody's files, even in a data set of that name.
    for names in [&["a", "csd"][..], &["a"], &["csd"]] {
        let disk = Arc::new(MemDisk::new());
        let sets = create_on(disk.clone(), 1 << 20);
        for name in names {
            sets.create_set(name, Default::default()).unwrap();
            let set = sets.open_set(name).unwrap();
            set.create(ROOT_INODE, b"mine", &NewInode::file(0o600))
                .unwrap();
        }
        drop(sets);
        let error = open(disk, "csd:lz4").err().unwrap();
        assert!(matches!(error, DeviceOpenError::NoDevice { .. }), "{error}");
    }
    let disk = Arc::new(MemDisk::from_bytes(vec![b'x'; 20_000]));
    let error = open(disk, "csd:lz4").err().unwrap();
    let is_foreign = matches!(
        error,
        DeviceOpenError::Volume(VolumeOpenError::NotQuire { .. })
    );
    assert!(is_foreign, "{error}");
}

#[test]
fn a_device_is_no_database() {
    let disk = Arc::new(MemDisk::new());
    drop(open(disk.clone(), "csd:lz4").unwrap());
    let volume = Volume::open(disk, OpenMode::ReadOnly).unwrap();
    let payload = volume.read(quire_store::CATALOG_PAGE).unwrap();
    let error = quire_format::catalog::CatalogRecord::decode(&payload).unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");
}

#[test]
fn another_codec_is_for_what_is_written_from_then_on() {
    let disk = Arc::new(MemDisk::new());
    let device = open(disk.clone(), "csd:lz4").unwrap();
    let text = text(400_000);
    let write = |device: &OpenedDevice, offset: u64| {
        device.disk.write_at(&text, offset).unwrap();
        device.disk.sync().unwrap();
        device.monitor.statistics().unwrap().stored_bytes()
    };
    let first = write(&device, 0);
    let codec = quire_device::DataSetCodec::from_name("off").unwrap();
    device.monitor.set_compression(codec).unwrap();
    let both = write(&device, 1 << 20);
    assert_eq!(both - first, 400_000 - 400_000 % 4096 + 400_000 % 4096);
    let statistics = device.monitor.statistics().unwrap();
    let totals = statistics.data_set.totals;
    assert_eq!(totals.raw_bytes(), 800_000);
    drop(device);
    assert!(open(disk.clone(), "csd:lz4").is_err());
    let device = open(disk, "csd:off").unwrap();
    let mut bytes = vec![0; 400_000];
    for offset in [0, 1 << 20] {
        device.disk.read_at(&mut bytes, offset).unwrap();
        assert!(bytes == text);
    }
    let kind = DeviceKind::Drive { codec };
    assert_eq!(specification("csd:off").kind, kind);
}

#[test]
fn what_a_database_frees_is_not_stored_any_more() {
    let device = open(Arc::new(MemDisk::new()), "csd:lz4").unwrap();
    let volume = Volume::create(Arc::clone(&device.disk), volume_options()).unwrap();
    let batch = volume.begin().unwrap();
    let noise = Random(3).bytes(1 << 20);
    let gone = batch.write(PageKind::Segment, &noise).unwrap();
    batch.commit().unwrap();
    let batch = volume.begin().unwrap();
    let stays = batch.write(PageKind::Segment, &noise).unwrap();
    batch.commit().unwrap();
    let logical = || device.monitor.statistics().unwrap().logical_bytes();
    assert!(logical() > 2 << 20);
    let batch = volume.begin().unwrap();
    batch.free(gone).unwrap();
    batch.commit().unwrap();
    volume.checkpoint().unwrap();
    device.disk.sync().unwrap();
    assert!(logical() < (1 << 20) + (256 << 10), "{}", logical());
    assert_eq!(&*volume.read(stays).unwrap(), noise);
}

/// Wherever its creation stops, the device can be opened, and is what it was to be.
#[test]
fn a_creation_that_is_interrupted_is_ended_later() {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    drop(open(disk.clone(), "zfs:lzjb:8k").unwrap());
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut random = Random(7);
    while crashes.advance() {
        let position = crashes.position();
        let image = crashes.image(random.next_u64());
        let disk = Arc::new(MemDisk::from_bytes(image));
        let opened = open(disk.clone(), "zfs:lzjb:8k");
        let device = opened.unwrap_or_else(|error| panic!("after operation {position}: {error}"));
        device.disk.write_at(b"works", 0).unwrap();
        drop(device);
        let sets: DataSetVolume = open_on(disk, 1 << 20).unwrap();
        assert_eq!(check(&sets), Ok(()), "after operation {position}");
    }
}
