//! The properties by their names, and their values as text.

use std::fmt;
use std::str::FromStr;

use quire_format::data_set::{
    DataSetCodec, DataSetProperties, RECORD_BYTES_MAX, RECORD_BYTES_MIN, SectorRounding,
    SynchronousWrites,
};

use thiserror::Error;

use super::size_text::{parse_size, size_text};
use crate::options::EffectiveProperties;

/// What stands for "not set, inherited".
const INHERIT: &str = "inherit";
const NONE: &str = "none";

/// A property of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyName {
    /// [`DataSetProperties::compression`].
    Compression,
    /// [`DataSetProperties::record_bytes`].
    RecordSize,
    /// [`DataSetProperties::sectors`].
    Sectors,
    /// [`DataSetProperties::gain_per_mille`].
    Gain,
    /// [`DataSetProperties::synchronous`].
    Sync,
    /// [`DataSetProperties::quota_bytes`].
    Quota,
}

impl PropertyName {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Compression,
        Self::RecordSize,
        Self::Sectors,
        Self::Gain,
        Self::Sync,
        Self::Quota,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compression => "compression",
            Self::RecordSize => "recordsize",
            Self::Sectors => "sectors",
            Self::Gain => "gain",
            Self::Sync => "sync",
            Self::Quota => "quota",
        }
    }

    /// The values that it can have, for messages and help.
    #[must_use]
    pub const fn allowed_values(self) -> &'static str {
        match self {
            Self::Compression => {
                "off, zle, lzjb, lzjb-zfs, lz4, lz4hc, lz4hc-3 to lz4hc-12, gzip, gzip-1 to gzip-9, zstd, zstd-1 to \
                 zstd-22, zstd-fast-1 to zstd-fast-7, or auto"
            }
            Self::RecordSize => "a power of two from 4k to 1m",
            Self::Sectors => "none, 512 or 4096",
            Self::Gain => {
                "thousandths of a record that compression must save, from 0 to 1000; an eighth is 125"
            }
            Self::Sync => {
                "compressed (a synchronous write waits until its records are compressed) or logged (it waits for a \
                 log of what was written)"
            }
            Self::Quota => "a size such as 10g, or none",
        }
    }

    /// Whether a data set has what is set for the one above it, unless something is set for it.
    #[must_use]
    pub const fn is_inherited(self) -> bool {
        !matches!(self, Self::Quota)
    }

    /// What is set, as text; `None` if nothing is.
    #[must_use]
    pub fn get(self, properties: &DataSetProperties) -> Option<String> {
        Some(match self {
            Self::Compression => properties.compression?.to_string(),
            Self::RecordSize => size_text(u64::from(properties.record_bytes?)),
            Self::Sectors => sectors_text(properties.sectors?).to_owned(),
            Self::Gain => properties.gain_per_mille?.to_string(),
            Self::Sync => sync_text(properties.synchronous?).to_owned(),
            Self::Quota => size_text(properties.quota_bytes?),
        })
    }

    /// What holds, as text.
    #[must_use]
    pub fn effective(self, properties: &EffectiveProperties) -> String {
        let all = DataSetProperties {
            compression: Some(properties.compression),
            record_bytes: Some(properties.record_bytes),
            sectors: Some(properties.sectors),
            gain_per_mille: Some(properties.gain_per_mille),
            synchronous: Some(properties.synchronous),
            quota_bytes: properties.quota_bytes,
        };
        self.get(&all).unwrap_or_else(|| NONE.to_owned())
    }

    /// Sets a value given as text. `inherit` takes back what is set.
    ///
    /// # Errors
    /// [`PropertyError::InvalidValue`]; then nothing is changed.
    pub fn set(self, properties: &mut DataSetProperties, value: &str) -> Result<(), PropertyError> {
        let invalid = || PropertyError::InvalidValue {
            property: self,
            value: value.to_owned(),
        };
        if value == INHERIT {
            self.clear(properties);
            return Ok(());
        }
        match self {
            Self::Compression => {
                properties.compression = Some(DataSetCodec::from_name(value).ok_or_else(invalid)?);
            }
            Self::RecordSize => {
                properties.record_bytes = Some(parse_record_bytes(value).ok_or_else(invalid)?);
            }
            Self::Sectors => properties.sectors = Some(parse_sectors(value).ok_or_else(invalid)?),
            Self::Gain => {
                let gain = value.parse().ok().filter(|gain| *gain <= 1000);
                properties.gain_per_mille = Some(gain.ok_or_else(invalid)?);
            }
            Self::Sync => {
                let modes = [SynchronousWrites::Compressed, SynchronousWrites::Logged];
                let mode = modes.into_iter().find(|mode| sync_text(*mode) == value);
                properties.synchronous = Some(mode.ok_or_else(invalid)?);
            }
            // As in ZFS, 0 is none.
            Self::Quota if value == NONE => properties.quota_bytes = None,
            Self::Quota => {
                let bytes = parse_size(value).ok_or_else(invalid)?;
                properties.quota_bytes = (bytes > 0).then_some(bytes);
            }
        }
        Ok(())
    }

    /// Takes back what is set.
    pub fn clear(self, properties: &mut DataSetProperties) {
        match self {
            Self::Compression => properties.compression = None,
            Self::RecordSize => properties.record_bytes = None,
            Self::Sectors => properties.sectors = None,
            Self::Gain => properties.gain_per_mille = None,
            Self::Sync => properties.synchronous = None,
            Self::Quota => properties.quota_bytes = None,
        }
    }
}

impl fmt::Display for PropertyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for PropertyName {
    type Err = PropertyError;

    fn from_str(name: &str) -> Result<Self, PropertyError> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| PropertyError::UnknownName {
            name: name.to_owned(),
        })
    }
}

/// Why text is not the property of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PropertyError {
    /// Not `name=value`.
    #[error("{text:?} is no property; write name=value, such as compression=zstd-3")]
    NotAnAssignment {
        /// What was written.
        text: String,
    },
    /// No such property.
    #[error(
        "there is no property {name:?}; there are compression, recordsize, sectors, gain, sync and quota"
    )]
    UnknownName {
        /// What was written.
        name: String,
    },
    /// The property cannot have this value.
    #[error("{property} cannot be {value:?}; it is {}", property.allowed_values())]
    InvalidValue {
        /// The property.
        property: PropertyName,
        /// What was written.
        value: String,
    },
}

/// The length of records.
pub(crate) fn parse_record_bytes(text: &str) -> Option<u32> {
    let bytes = u32::try_from(parse_size(text)?).ok()?;
    let sizes = RECORD_BYTES_MIN..=RECORD_BYTES_MAX;
    (bytes.is_power_of_two() && sizes.contains(&bytes)).then_some(bytes)
}

pub(crate) fn parse_sectors(text: &str) -> Option<SectorRounding> {
    let all = [
        SectorRounding::Tight,
        SectorRounding::Bytes512,
        SectorRounding::Bytes4096,
    ];
    all.into_iter().find(|one| sectors_text(*one) == text)
}

pub(crate) fn sectors_text(sectors: SectorRounding) -> &'static str {
    match sectors {
        SectorRounding::Tight => NONE,
        SectorRounding::Bytes512 => "512",
        SectorRounding::Bytes4096 => "4096",
    }
}

fn sync_text(mode: SynchronousWrites) -> &'static str {
    match mode {
        SynchronousWrites::Compressed => "compressed",
        SynchronousWrites::Logged => "logged",
    }
}
