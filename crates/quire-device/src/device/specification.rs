//! What a device is, as text.

use std::fmt;
use std::str::FromStr;

use quire_format::data_set::{
    DataSetCodec, DataSetProperties, RECORD_BYTES_MIN, SectorRounding, SynchronousWrites,
};
use quire_store::disk::DeviceProfile;
use thiserror::Error;

use crate::properties::{parse_record_bytes, parse_sectors, sectors_text, size_text};

const DRIVE: &str = "csd";
const FILE_SYSTEM: &str = "zfs";
/// What paper 3 calls the codec that is `gzip` for ZFS.
const ZLIB: &str = "zlib";
const GZIP: &str = "gzip";

/// What a device that compresses is like: `csd:zlib`, `zfs:lzjb:128k:512`, `csd:lz4@csd-2021`.
///
/// - `csd:CODEC`: the drive of paper 3. Each block of 4 KiB is compressed by itself, if that saves anything, and they follow each other without gaps.
/// - `zfs:CODEC:RECORDSIZE[:SECTORS]`: the file system of paper 5, with records of 4k to 1m in sectors of 4096 bytes (or 512, or none) that
///   must save an eighth. Synchronous writes are logged first.
/// - `…@PROFILE`: as slow as [`DeviceProfile::from_typed_name`] says. A drive is reached over its connection, so what is not compressed takes that
///   time; a file system lies on a disk, so what is compressed does.
///
/// ```
/// use quire_device::DeviceSpecification;
///
/// let specification: DeviceSpecification = "zfs:lzjb:128K".parse()?;
/// assert_eq!(specification.to_string(), "zfs:lzjb:128k:4096");
/// let error = "zfs:lzjb".parse::<DeviceSpecification>().unwrap_err();
/// assert!(error.to_string().contains("zfs:CODEC:RECORDSIZE"));
/// # Ok::<(), quire_device::DeviceSpecificationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceSpecification {
    /// What is stored, and how.
    pub kind: DeviceKind,
    /// The device whose times it keeps.
    pub throttle: Option<DeviceProfile>,
}

/// What a device stores, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A drive that compresses each block.
    Drive {
        /// One for all blocks.
        codec: DataSetCodec,
    },
    /// A file system that compresses records.
    FileSystem {
        /// Of its records.
        codec: DataSetCodec,
        /// Length of its records.
        record_bytes: u32,
        /// Of the disk below.
        sectors: SectorRounding,
    },
}

/// Why text is no device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} is no device: {what}; write csd:CODEC or zfs:CODEC:RECORDSIZE[:SECTORS], and @PROFILE behind it if it is to be slow"
)]
pub struct DeviceSpecificationError {
    /// What was written.
    pub text: String,
    /// What is wrong with it, and what is allowed.
    pub what: String,
}

impl DeviceKind {
    /// What its data set is called, by which it is recognized.
    pub(super) fn set_name(&self) -> &'static str {
        match self {
            Self::Drive { .. } => DRIVE,
            Self::FileSystem { .. } => FILE_SYSTEM,
        }
    }

    /// The kind of a data set, by its name; `None` if it is no device's.
    pub(super) fn of_set(
        name: &str,
        codec: DataSetCodec,
        record_bytes: u32,
        sectors: SectorRounding,
    ) -> Option<Self> {
        match name {
            DRIVE => Some(Self::Drive { codec }),
            FILE_SYSTEM => Some(Self::FileSystem {
                codec,
                record_bytes,
                sectors,
            }),
            _ => None,
        }
    }

    /// What is set for its data set.
    pub(super) fn properties(&self) -> DataSetProperties {
        let common = DataSetProperties::default();
        match *self {
            Self::Drive { codec } => DataSetProperties {
                compression: Some(codec),
                record_bytes: Some(RECORD_BYTES_MIN),
                sectors: Some(SectorRounding::Tight),
                gain_per_mille: Some(0),
                synchronous: Some(SynchronousWrites::Compressed),
                ..common
            },
            Self::FileSystem {
                codec,
                record_bytes,
                sectors,
            } => DataSetProperties {
                compression: Some(codec),
                record_bytes: Some(record_bytes),
                sectors: Some(sectors),
                gain_per_mille: Some(125),
                synchronous: Some(SynchronousWrites::Logged),
                ..common
            },
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            [DRIVE, codec] => match parse_codec(codec)? {
                DataSetCodec::Auto => Err("a drive has one codec; name it".to_owned()),
                codec => Ok(Self::Drive { codec }),
            },
            [FILE_SYSTEM, codec, record_size] => Self::file_system(codec, record_size, "4096"),
            [FILE_SYSTEM, codec, record_size, sectors] => {
                Self::file_system(codec, record_size, sectors)
            }
            [DRIVE | FILE_SYSTEM, ..] => Err("it has too few parts, or too many".to_owned()),
            _ => Err("it begins with csd or zfs".to_owned()),
        }
    }

    fn file_system(codec: &str, record_size: &str, sectors: &str) -> Result<Self, String> {
        Ok(Self::FileSystem {
            codec: parse_codec(codec)?,
            record_bytes: parse_record_bytes(record_size).ok_or_else(|| {
                format!("records of {record_size:?}, and not of a power of two from 4k to 1m")
            })?,
            sectors: parse_sectors(sectors)
                .ok_or_else(|| format!("sectors of {sectors:?}, and not of none, 512 or 4096"))?,
        })
    }
}

/// `zlib` is `gzip`.
fn parse_codec(text: &str) -> Result<DataSetCodec, String> {
    let name = match text.strip_prefix(ZLIB) {
        Some(level) => format!("{GZIP}{level}"),
        None => text.to_owned(),
    };
    DataSetCodec::from_name(&name).ok_or_else(|| {
        format!("there is no codec {text:?}; some are off, lzjb, lz4, zlib, zlib-9 and zstd-3")
    })
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.set_name();
        match self {
            Self::Drive { codec } => {
                let codec = codec.to_string();
                match codec.strip_prefix(GZIP) {
                    Some(level) => write!(formatter, "{name}:{ZLIB}{level}"),
                    None => write!(formatter, "{name}:{codec}"),
                }
            }
            Self::FileSystem {
                codec,
                record_bytes,
                sectors,
            } => {
                let record_size = size_text(u64::from(*record_bytes));
                let sectors = sectors_text(*sectors);
                write!(formatter, "{name}:{codec}:{record_size}:{sectors}")
            }
        }
    }
}

impl fmt::Display for DeviceSpecification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.kind)?;
        match &self.throttle {
            None => Ok(()),
            Some(profile) => {
                let name = profile.typed_name().unwrap_or(profile.name);
                write!(formatter, "@{name}")
            }
        }
    }
}

impl FromStr for DeviceSpecification {
    type Err = DeviceSpecificationError;

    fn from_str(text: &str) -> Result<Self, DeviceSpecificationError> {
        let (kind, profile) = match text.split_once('@') {
            Some((kind, profile)) => (kind, Some(profile)),
            None => (text, None),
        };
        let parsed = DeviceKind::parse(kind).and_then(|kind| {
            let throttle = profile.map(parse_profile).transpose()?;
            Ok(Self { kind, throttle })
        });
        parsed.map_err(|what| DeviceSpecificationError {
            text: text.to_owned(),
            what,
        })
    }
}

fn parse_profile(name: &str) -> Result<DeviceProfile, String> {
    DeviceProfile::from_typed_name(name).ok_or_else(|| {
        let names: Vec<&str> = DeviceProfile::TYPED_NAMES
            .iter()
            .map(|(name, _)| *name)
            .collect();
        format!(
            "there is no profile {name:?}; there are {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_read_as_it_is_written() {
        for (text, written) in [
            ("csd:zlib", "csd:zlib"),
            ("csd:gzip-9", "csd:zlib-9"),
            ("csd:lz4", "csd:lz4"),
            ("csd:zstd-3", "csd:zstd"),
            ("csd:zstd-5@CSD_2021", "csd:zstd-5@csd-2021"),
            ("csd:off", "csd:off"),
            ("zfs:lzjb:128k", "zfs:lzjb:128k:4096"),
            ("zfs:zlib:1024k:512", "zfs:gzip:1m:512"),
            ("zfs:auto:4k:none@raid-12", "zfs:auto:4k:none@raid-12"),
        ] {
            let read: DeviceSpecification = text.parse().unwrap();
            assert_eq!(read.to_string(), written);
            assert_eq!(written.parse(), Ok(read));
        }
    }

    #[test]
    fn what_is_no_device_is_an_error_that_says_what_is() {
        for (text, part) in [
            ("", "begins with csd or zfs"),
            ("lz4", "begins with csd or zfs"),
            ("csd", "too few"),
            ("csd:lz4:4k", "too many"),
            ("csd:auto", "one codec"),
            ("csd:lz5", "\"lz5\""),
            ("zfs:lz4", "too few"),
            ("zfs:lz4:3k", "power of two"),
            ("zfs:lz4:2m", "\"2m\""),
            ("zfs:lz4:4k:1024", "512 or 4096"),
            ("csd:lz4@tape", "csd-2021"),
            ("csd:lz4@", "no profile"),
        ] {
            let error = text.parse::<DeviceSpecification>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
            assert!(error.contains("csd:CODEC"), "{text}: {error}");
        }
    }
}
