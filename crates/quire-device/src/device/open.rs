//! Opening a file as a device.

use std::path::Path;
use std::sync::Arc;

use quire_format::data_set::ROOT_INODE;
use quire_store::disk::ThrottledDisk;
use quire_store::{DirectFileDisk, Disk, FileDisk, OpenMode, Volume, VolumeOptions};

use super::error::DeviceOpenError;
use super::monitor::DeviceMonitor;
use super::specification::{DeviceKind, DeviceSpecification};
use super::whole::WholeDevice;
use crate::disk::DataSetDisk;
use crate::error::{DataSetError, FileError};
use crate::options::DeviceOptions;
use crate::set::{DataSet, NewInode};
use crate::volume::DataSetVolume;

/// Name of the file that is the disk.
const FILE_NAME: &[u8] = b"disk";

/// How a device is opened.
#[derive(Clone, Debug)]
pub struct DeviceOpenOptions {
    /// For writing, a file that is missing is made.
    pub mode: OpenMode,
    /// Without the page cache of the system.
    pub is_direct: bool,
    /// Of the volume that the device is.
    pub volume: VolumeOptions,
    /// Memory and threads.
    pub device: DeviceOptions,
}

impl Default for DeviceOpenOptions {
    /// For writing, through the page cache; the volume discards what it frees.
    fn default() -> Self {
        Self {
            mode: OpenMode::ReadWrite,
            is_direct: false,
            volume: VolumeOptions {
                discards: true,
                ..VolumeOptions::default()
            },
            device: DeviceOptions::default(),
        }
    }
}

/// A device that is open.
#[derive(Clone)]
pub struct OpenedDevice {
    /// The disk. When the last of its clones is dropped, the device is closed.
    pub disk: Arc<dyn Disk>,
    /// Tells what it stores.
    pub monitor: DeviceMonitor,
}

/// Opens a file as a device that compresses what a database writes, and makes it one if it is empty or missing.
///
/// ```
/// use quire_device::{DeviceOpenOptions, open_device};
/// # let directory = std::env::temp_dir().join(format!("quire-device-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("compressing.drive");
/// let device = open_device(&path, &"csd:zlib".parse()?, DeviceOpenOptions::default())?;
/// device.disk.write_at(&[7; 1 << 20], 0)?;
/// device.disk.sync()?;
/// let statistics = device.monitor.statistics().unwrap();
/// assert_eq!(statistics.logical_bytes(), 1 << 20);
/// assert!(statistics.compression_ratio() > 50.0);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DeviceOpenError::Database`], [`DeviceOpenError::NoDevice`] and [`DeviceOpenError::OtherDevice`] when the file is something else,
/// and is left as it is; the others when it cannot be read or written.
pub fn open_device(
    path: impl AsRef<Path>,
    specification: &DeviceSpecification,
    options: DeviceOpenOptions,
) -> Result<OpenedDevice, DeviceOpenError> {
    let path = path.as_ref();
    let disk: Arc<dyn Disk> = match (options.mode, options.is_direct) {
        (OpenMode::ReadWrite, false) => Arc::new(FileDisk::open_or_create(path)?),
        (OpenMode::ReadWrite, true) => Arc::new(DirectFileDisk::open_or_create(path)?),
        (mode, false) => Arc::new(FileDisk::open(path, mode)?),
        (mode, true) => Arc::new(DirectFileDisk::open(path, mode)?),
    };
    open_device_on(disk, specification, options)
}

/// The same on any disk.
///
/// # Errors
/// As [`open_device`].
pub fn open_device_on(
    disk: Arc<dyn Disk>,
    specification: &DeviceSpecification,
    options: DeviceOpenOptions,
) -> Result<OpenedDevice, DeviceOpenError> {
    let kind = specification.kind;
    let is_drive = matches!(kind, DeviceKind::Drive { .. });
    let below = specification.throttle.filter(|_| !is_drive);
    let above = specification.throttle.filter(|_| is_drive);
    let slow_below = below.map(|profile| Arc::new(ThrottledDisk::new(Arc::clone(&disk), profile)));
    let disk = match &slow_below {
        Some(slow) => Arc::clone(slow) as Arc<dyn Disk>,
        None => disk,
    };
    let sets = open_sets(disk, kind, options)?;
    let file = open_file(&sets, kind)?;
    let device = WholeDevice::new(file, sets, kind.set_name(), slow_below);
    let device = Arc::new(device);
    let mut monitor = DeviceMonitor {
        device: Arc::downgrade(&device),
        slow_above: None,
    };
    let disk: Arc<dyn Disk> = match above {
        None => device,
        Some(profile) => {
            let slow = Arc::new(ThrottledDisk::new(device, profile));
            monitor.slow_above = Some(Arc::downgrade(&slow));
            slow
        }
    };
    Ok(OpenedDevice { disk, monitor })
}

/// The data sets of the file, of which one is the device. What a creation has left that was interrupted is made whole.
fn open_sets(
    disk: Arc<dyn Disk>,
    kind: DeviceKind,
    options: DeviceOpenOptions,
) -> Result<DataSetVolume, DeviceOpenError> {
    let DeviceOpenOptions {
        mode,
        volume,
        device,
        ..
    } = options;
    let is_writable = mode == OpenMode::ReadWrite;
    let volume = if is_writable {
        Volume::open_or_create(disk, volume)?
    } else {
        Volume::open_with(disk, mode, volume)?
    };
    let file = volume.file().to_string();
    let is_empty = volume.stats().page_count == 0;
    let sets = if is_empty && is_writable {
        DataSetVolume::create(volume, device)?
    } else {
        DataSetVolume::open(volume, device).map_err(|error| match error {
            DataSetError::NotDataSets { .. } if is_empty => {
                DeviceOpenError::Unfinished { file: file.clone() }
            }
            DataSetError::NotDataSets { .. } => DeviceOpenError::Database { file: file.clone() },
            other => other.into(),
        })?
    };
    let names: Vec<String> = sets.list()?.into_iter().map(|set| set.name).collect();
    match &names[..] {
        [] if is_writable => {
            sets.create_set(kind.set_name(), kind.properties())?;
            Ok(sets)
        }
        [] => Err(DeviceOpenError::Unfinished { file }),
        [name] => {
            let found = found_kind(&sets, name)?;
            match found {
                Some(found) if found != kind => Err(DeviceOpenError::OtherDevice {
                    file,
                    found,
                    asked: kind,
                }),
                Some(_) => Ok(sets),
                None => Err(DeviceOpenError::NoDevice { file }),
            }
        }
        _ => Err(DeviceOpenError::NoDevice { file }),
    }
}

/// What a data set is as a device. Its file says how long records are; before there is one, the properties do.
fn found_kind(sets: &DataSetVolume, name: &str) -> Result<Option<DeviceKind>, DeviceOpenError> {
    let set = sets.open_set(name)?;
    let properties = set.properties();
    let record_bytes = match inode_of_file(&set)? {
        Some(inode) => set.attributes(inode)?.record_bytes,
        // Somebody's files.
        None if !set.read_directory(ROOT_INODE, None, 1)?.is_empty() => return Ok(None),
        None => properties.record_bytes,
    };
    let (codec, sectors) = (properties.compression, properties.sectors);
    Ok(DeviceKind::of_set(name, codec, record_bytes, sectors))
}

fn inode_of_file(set: &DataSet) -> Result<Option<u64>, FileError> {
    match set.lookup(ROOT_INODE, FILE_NAME) {
        Ok(inode) => Ok(Some(inode)),
        Err(FileError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The file of the device, made if it is missing.
fn open_file(sets: &DataSetVolume, kind: DeviceKind) -> Result<DataSetDisk, DeviceOpenError> {
    let set = sets.open_set(kind.set_name())?;
    let inode = match inode_of_file(&set)? {
        Some(inode) => inode,
        None if set.is_read_only() => {
            let file = sets.volume().file().to_string();
            return Err(DeviceOpenError::Unfinished { file });
        }
        None => {
            let inode = set.create(ROOT_INODE, FILE_NAME, &NewInode::file(0o600))?;
            set.sync().map_err(FileError::from)?;
            inode
        }
    };
    Ok(DataSetDisk::open(set, inode)?)
}
