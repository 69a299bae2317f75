//! What a user may set for a data set.

use std::fmt;

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;

use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

/// Shortest records.
pub const RECORD_BYTES_MIN: u32 = 4 << 10;
/// Longest records.
pub const RECORD_BYTES_MAX: u32 = 1 << 20;

/// Stored in the place of a codec.
const AUTO: u8 = 255;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Properties of a data set",
    about: "\
Part of the table of data sets. What is absent is inherited from the data set whose name is the longest beginning of this one's, up to a slash; \
the quota is not.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(
            0,
            "1",
            "present",
            "bit 0 compression, 1 record_bytes, 2 sectors, 3 gain, 4 synchronous, 5 quota; of those that are set follow:",
        ),
        StructureField::next("1", "codec", "of blocks; 255: measured per file"),
        StructureField::next(
            "signed",
            "level",
            "only behind a codec other than 255; LZJB: 0 the search of ZFS",
        ),
        StructureField::next("1", "record_bytes", "as a power of two: 12 to 20"),
        StructureField::next("1", "sectors", "0 none, 1 512 bytes, 2 4,096 bytes"),
        StructureField::next(
            "varint",
            "gain",
            "thousandths of a record that must be saved for it to be stored compressed, at most 1,000",
        ),
        StructureField::next("1", "synchronous", "0 compressed at once, 1 logged first"),
        StructureField::next("varint", "quota", "bytes"),
    ],
};

/// How the records of a data set are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataSetCodec {
    /// Measured for each file on a sample of its records.
    Auto,
    /// Always this one.
    Fixed {
        /// The codec.
        codec: BlockCodecId,
        /// One of its levels.
        level: i32,
    },
}

impl DataSetCodec {
    /// No compression.
    pub const OFF: Self = Self::Fixed {
        codec: BlockCodecId::None,
        level: 1,
    };

    /// A codec with its default level.
    #[must_use]
    pub const fn of(codec: BlockCodecId) -> Self {
        let level = codec.default_level();
        Self::Fixed { codec, level }
    }

    /// The codec of a name: `off`, `zle`, `lzjb`, `lzjb-zfs` (the search of ZFS), `lz4`, `lz4hc`, `lz4hc-3` to
    /// `lz4hc-12`, `gzip`, `gzip-1` to `gzip-9`, `zstd`, `zstd-1` to `zstd-22`, `zstd-fast-1` to `zstd-fast-7`, `auto`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => return Some(Self::Auto),
            "off" => return Some(Self::OFF),
            "lzjb-zfs" => {
                let (codec, level) = (BlockCodecId::Lzjb, 0);
                return Some(Self::Fixed { codec, level });
            }
            _ => {}
        }
        let (family, number) = match name.rsplit_once('-') {
            Some((family, number)) => (family, Some(number.parse::<i32>().ok()?)),
            None => (name, None),
        };
        let (codec, levels, sign) = match family {
            "zle" => (BlockCodecId::Zle, None, 1),
            "lzjb" => (BlockCodecId::Lzjb, None, 1),
            "lz4" => (BlockCodecId::Lz4, None, 1),
            "lz4hc" => (BlockCodecId::Lz4Hc, Some(3..=12), 1),
            "gzip" => (BlockCodecId::Zlib, Some(1..=9), 1),
            "zstd" => (BlockCodecId::Zstd, Some(1..=22), 1),
            "zstd-fast" => (BlockCodecId::Zstd, Some(1..=7), -1),
            _ => return None,
        };
        match number {
            None if sign < 0 => None,
            None => Some(Self::of(codec)),
            Some(number) => levels?.contains(&number).then_some(Self::Fixed {
                codec,
                level: sign * number,
            }),
        }
    }

    fn write(self, writer: &mut WireItemWriter) {
        match self {
            Self::Auto => writer.byte(AUTO),
            Self::Fixed { codec, level } => {
                writer.byte(codec as u8);
                writer.signed(i128::from(level));
            }
        }
    }

    fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let number = reader.byte()?;
        if number == AUTO {
            return Ok(Self::Auto);
        }
        let codec = read_codec(number, reader)?;
        let level = reader.signed_i64()?;
        match i32::try_from(level) {
            Ok(level) if codec.levels().contains(&level) => Ok(Self::Fixed { codec, level }),
            _ => Err(reader.corrupt(format!("{codec} has no level {level}"))),
        }
    }
}

/// The codec of a stored number.
pub(super) fn read_codec(number: u8, reader: &WireItemReader<'_>) -> Result<BlockCodecId, Corrupt> {
    let codec = BlockCodecId::from_u8(number);
    codec.ok_or_else(|| reader.corrupt(format!("there is no block codec {number}")))
}

impl fmt::Display for DataSetCodec {
    /// The name that [`DataSetCodec::from_name`] reads.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (codec, level) = match *self {
            Self::Auto => return formatter.write_str("auto"),
            Self::Fixed { codec, level } => (codec, level),
        };
        let family = match codec {
            BlockCodecId::None => "off",
            BlockCodecId::Zlib => "gzip",
            other => other.name(),
        };
        match (codec, level) {
            (BlockCodecId::Lzjb, 0) => formatter.write_str("lzjb-zfs"),
            _ if level == codec.default_level() => formatter.write_str(family),
            _ if level < 0 => write!(formatter, "{family}-fast-{}", -level),
            _ => write!(formatter, "{family}-{level}"),
        }
    }
}

/// To what the length of a stored record is rounded up, as a file system with sectors does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SectorRounding {
    /// Not at all.
    Tight = 0,
    /// Multiples of 512 bytes.
    Bytes512 = 1,
    /// Multiples of 4,096 bytes.
    Bytes4096 = 2,
}

impl SectorRounding {
    /// Bytes of a sector.
    #[must_use]
    pub const fn sector_bytes(self) -> usize {
        match self {
            Self::Tight => 1,
            Self::Bytes512 => 512,
            Self::Bytes4096 => 4096,
        }
    }

    /// `bytes` in whole sectors.
    #[must_use]
    pub const fn rounded(self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.sector_bytes())
    }
}

/// What a synchronous write waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SynchronousWrites {
    /// Records are compressed, and then written.
    Compressed = 0,
    /// The bytes that were written go to a log; records are compressed and written later.
    Logged = 1,
}

/// What is set for a data set; the rest is inherited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSetProperties {
    /// For records that are written from now on.
    pub compression: Option<DataSetCodec>,
    /// Of files that are made from now on: a power of two from [`RECORD_BYTES_MIN`] to [`RECORD_BYTES_MAX`].
    pub record_bytes: Option<u32>,
    /// For records that are written from now on.
    pub sectors: Option<SectorRounding>,
    /// Thousandths that compression must save.
    pub gain_per_mille: Option<u16>,
    /// What a synchronous write waits for.
    pub synchronous: Option<SynchronousWrites>,
    /// Most bytes that the data set and its snapshots may take. Not inherited.
    pub quota_bytes: Option<u64>,
}

impl DataSetProperties {
    pub(super) fn write(&self, writer: &mut WireItemWriter) {
        let present = [
            self.compression.is_some(),
            self.record_bytes.is_some(),
            self.sectors.is_some(),
            self.gain_per_mille.is_some(),
            self.synchronous.is_some(),
            self.quota_bytes.is_some(),
        ];
        let bits = (0..).zip(present).map(|(bit, is)| u8::from(is) << bit);
        writer.byte(bits.sum());
        if let Some(codec) = self.compression {
            codec.write(writer);
        }
        if let Some(bytes) = self.record_bytes {
            writer.byte(bytes.ilog2() as u8);
        }
        if let Some(sectors) = self.sectors {
            writer.byte(sectors as u8);
        }
        if let Some(gain) = self.gain_per_mille {
            writer.varint(u64::from(gain));
        }
        if let Some(synchronous) = self.synchronous {
            writer.byte(synchronous as u8);
        }
        if let Some(quota) = self.quota_bytes {
            writer.varint(quota);
        }
    }

    pub(super) fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let present = reader.byte()?;
        if present >= 1 << 6 {
            return Err(reader.corrupt("properties that this program does not know"));
        }
        let has = |bit: u8| present >> bit & 1 == 1;
        let mut properties = Self::default();
        if has(0) {
            properties.compression = Some(DataSetCodec::read(reader)?);
        }
        if has(1) {
            properties.record_bytes = Some(read_record_bytes(reader)?);
        }
        if has(2) {
            properties.sectors = Some(match reader.byte()? {
                0 => SectorRounding::Tight,
                1 => SectorRounding::Bytes512,
                2 => SectorRounding::Bytes4096,
                other => return Err(reader.corrupt(format!("sectors of kind {other}"))),
            });
        }
        if has(3) {
            let gain = u16::try_from(reader.varint()?).ok();
            let gain = gain.filter(|gain| *gain <= 1000);
            let gain = gain.ok_or_else(|| reader.corrupt("gain of more than 1,000 thousandths"))?;
            properties.gain_per_mille = Some(gain);
        }
        if has(4) {
            properties.synchronous = Some(match reader.byte()? {
                0 => SynchronousWrites::Compressed,
                1 => SynchronousWrites::Logged,
                other => return Err(reader.corrupt(format!("synchronous writes of kind {other}"))),
            });
        }
        if has(5) {
            properties.quota_bytes = Some(reader.varint()?);
        }
        Ok(properties)
    }
}

/// The length of records, stored as a power of two.
pub(super) fn read_record_bytes(reader: &mut WireItemReader<'_>) -> Result<u32, Corrupt> {
    let power = reader.byte()?;
    if (RECORD_BYTES_MIN.ilog2()..=RECORD_BYTES_MAX.ilog2()).contains(&u32::from(power)) {
        Ok(1 << power)
    } else {
        Err(reader.corrupt(format!("records of 2^{power} bytes")))
    }
}
