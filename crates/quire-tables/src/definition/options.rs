//! How the pages of a row table are kept, and the blocks of a PAX table.

use std::fmt;

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;
use quire_format::row_page::{PAGE_BYTES_ALLOWED, PAGE_BYTES_DEFAULT, PageTransform};
use quire_store::pool::PageTarget;

const PAGE_BYTES: u8 = 1;
const PAGE_CODEC: u8 = 2;
const PAGE_CODEC_LEVEL: u8 = 3;
const STORAGE_FORMAT: u8 = 4;
const TUPLE_COMPRESSION: u8 = 5;
/// This and what follows are stored of tables that have a target.
const PAGE_TARGET_BYTES: u8 = 6;
const PAGE_PADDING: u8 = 7;
const ADVANCE_SPLIT: u8 = 8;
/// Stored of PAX tables.
const BLOCK_BYTES: u8 = 9;
/// Stored of tables whose keys are compressed.
const KEY_COMPRESSION: u8 = 10;
/// Stored of tables that say what the device does.
const DEVICE_CODEC: u8 = 11;
/// The last one that this program knows. A new option gets the next number, and none is used again: one that is above this has been stored by a later
/// program, and what it means for the table's bytes is not known here. An option that does not matter to who does not know it must not be stored like this.
const NEWEST_OPTION: u8 = DEVICE_CODEC;
/// Stored in place of a transform's number.
const CHOSEN: i64 = 255;

/// Options of a table (`WITH (…)`). A column table has those of rows too, unused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableOptions {
    /// Length of a page in memory, in bytes.
    pub page_bytes: usize,
    /// Block codec of stored pages.
    pub page_codec: BlockCodecId,
    /// Its level; its default if absent.
    pub page_codec_level: Option<i32>,
    /// How the bytes of a page are arranged before they are compressed.
    pub storage_format: StorageFormat,
    /// Whether fields of rows are compressed one by one.
    pub compresses_tuples: bool,
    /// Whether strings of keys may have order-preserving codes.
    pub compresses_keys: bool,
    /// Fixed sizes of the images of leaves; `None`: any size.
    pub page_target: Option<PageTarget>,
    /// What the device compresses blocks with, if pages are not compressed before: a format that is chosen suits it.
    pub device_codec: Option<BlockCodecId>,
    /// Of a PAX table: length that a block, the segments of all columns of a row group, is to have, in bytes. `None`: a column table
    /// keeps each segment in pages of its own (DSM).
    pub block_bytes: Option<usize>,
}

/// Length of a block of a PAX table that says nothing about it, in bytes.
pub const BLOCK_BYTES_DEFAULT: usize = 1 << 20;

/// Lengths that blocks can be given, in bytes.
const BLOCK_BYTES_ALLOWED: std::ops::RangeInclusive<usize> = 16 << 10..=16 << 20;

/// The sizes that stored leaves can be given, in bytes (paper 4, §III).
const PAGE_TARGET_BYTES_ALLOWED: [usize; 4] = [1 << 10, 2 << 10, 4 << 10, 8 << 10];

/// What a device can be said to compress blocks with.
const DEVICE_CODECS: [BlockCodecId; 3] =
    [BlockCodecId::Lz4, BlockCodecId::Zlib, BlockCodecId::Zstd];

/// How the bytes of a row page lie on storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageFormat {
    /// As a sample of the table says.
    Auto,
    /// Always so.
    Fixed(PageTransform),
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions {
            page_bytes: PAGE_BYTES_DEFAULT,
            page_codec: BlockCodecId::Lz4,
            page_codec_level: None,
            storage_format: StorageFormat::Auto,
            compresses_tuples: true,
            compresses_keys: false,
            page_target: None,
            device_codec: None,
            block_bytes: None,
        }
    }
}

impl StorageFormat {
    /// The format of that name: `auto`, `none`, `r2c`, `rlt`, `clt`, `xor`, `xor_rlt`, `xor_clt`, `packed`, `packed_text`, those
    /// from `rlt` to `xor_clt` also with `r2c_` before them; in any letter case, with `-` or `_`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase().replace('-', "_");
        match name.as_str() {
            "auto" => Some(StorageFormat::Auto),
            "none" => Some(StorageFormat::Fixed(PageTransform::ROWS)),
            name => PageTransform::from_name(name.strip_prefix("r2c_").unwrap_or(name))
                .map(StorageFormat::Fixed),
        }
    }
}

impl fmt::Display for StorageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StorageFormat::Auto => "auto",
            StorageFormat::Fixed(PageTransform::ROWS) => "none",
            StorageFormat::Fixed(transform) => transform.name(),
        })
    }
}

impl TableOptions {
    /// What is wrong, if anything.
    pub(super) fn error(&self) -> Option<String> {
        if !PAGE_BYTES_ALLOWED.contains(&self.page_bytes) {
            return Some(format!(
                "a page of {} bytes; use 4096, 8192, 16384, 32768 or 65536",
                self.page_bytes
            ));
        }
        if let Some(bytes) = self.block_bytes
            && !BLOCK_BYTES_ALLOWED.contains(&bytes)
        {
            return Some(format!(
                "a block of {bytes} bytes; use {} to {}",
                BLOCK_BYTES_ALLOWED.start(),
                BLOCK_BYTES_ALLOWED.end()
            ));
        }
        let target = self.page_target;
        target
            .and_then(|target| self.target_error(target.slot_bytes))
            .or_else(|| self.device_error())
            .or_else(|| self.level_error())
    }

    fn device_error(&self) -> Option<String> {
        let device = self.device_codec?;
        if !DEVICE_CODECS.contains(&device) {
            return Some(format!(
                "a device that compresses with {device}; use lz4, zlib, zstd or none"
            ));
        }
        // The device finds nothing in what is compressed.
        (self.page_codec != BlockCodecId::None).then(|| {
            format!(
                "a device that compresses with {device}, and pages that {} has compressed before; use page_codec = none",
                self.page_codec
            )
        })
    }

    fn target_error(&self, bytes: usize) -> Option<String> {
        if self.page_codec == BlockCodecId::None {
            return self.whole_page_error(bytes);
        }
        if !PAGE_TARGET_BYTES_ALLOWED.contains(&bytes) {
            return Some(format!(
                "a stored page of {bytes} bytes; use 1024, 2048, 4096 or 8192, or 0 for any size"
            ));
        }
        let page_bytes = self.page_bytes;
        (bytes >= page_bytes).then(|| {
            format!(
                "a stored page of {bytes} bytes for a page of {page_bytes}; use a smaller page_target_bytes, or a larger page_size"
            )
        })
    }

    /// Pages that are not compressed take a whole page: in less, half of what a page holds would not fit.
    fn whole_page_error(&self, bytes: usize) -> Option<String> {
        let page_bytes = self.page_bytes;
        (bytes != page_bytes).then(|| {
            format!(
                "a stored page of {bytes} bytes, and pages are not compressed; use {page_bytes}, the page_size, 0 for any size, or another \
                 page_codec"
            )
        })
    }

    fn level_error(&self) -> Option<String> {
        let levels = self.page_codec.levels();
        match self.page_codec_level {
            Some(level) if !levels.contains(&level) => Some(format!(
                "codec {} has no level {level}; use {} to {}",
                self.page_codec,
                levels.start(),
                levels.end()
            )),
            _ => None,
        }
    }

    /// All options as the catalog stores them, so that other defaults do not change tables that are there.
    pub(super) fn to_record(self) -> Vec<(u8, i64)> {
        let mut options = vec![
            (PAGE_BYTES, self.page_bytes as i64),
            (PAGE_CODEC, i64::from(self.page_codec as u8)),
        ];
        options.extend(
            self.page_codec_level
                .map(|level| (PAGE_CODEC_LEVEL, i64::from(level))),
        );
        let format = match self.storage_format {
            StorageFormat::Auto => CHOSEN,
            StorageFormat::Fixed(transform) => i64::from(transform.number()),
        };
        options.push((STORAGE_FORMAT, format));
        options.push((TUPLE_COMPRESSION, i64::from(self.compresses_tuples)));
        if let Some(target) = self.page_target {
            options.extend([
                (PAGE_TARGET_BYTES, target.slot_bytes as i64),
                (PAGE_PADDING, i64::from(target.has_adaptive_padding)),
                (ADVANCE_SPLIT, i64::from(target.splits_in_advance)),
            ]);
        }
        options.extend(self.block_bytes.map(|bytes| (BLOCK_BYTES, bytes as i64)));
        options.extend(self.compresses_keys.then_some((KEY_COMPRESSION, 1)));
        let device = self.device_codec.map(|codec| i64::from(codec as u8));
        options.extend(device.map(|codec| (DEVICE_CODEC, codec)));
        options
    }

    /// The number of an option that a later program has stored, if there is one.
    pub(crate) fn newer_option(record: &[(u8, i64)]) -> Option<u8> {
        let mut numbers = record.iter().map(|(number, _)| *number);
        numbers.find(|number| *number > NEWEST_OPTION)
    }

    pub(super) fn from_record(record: &[(u8, i64)]) -> Result<Self, Corrupt> {
        let mut options = TableOptions::default();
        for &(number, value) in record {
            let is_known = match number {
                PAGE_BYTES => set(&mut options.page_bytes, usize::try_from(value).ok()),
                PAGE_CODEC => {
                    let codec = u8::try_from(value).ok().and_then(BlockCodecId::from_u8);
                    set(&mut options.page_codec, codec)
                }
                PAGE_CODEC_LEVEL => {
                    let level = i32::try_from(value).ok();
                    set(&mut options.page_codec_level, level.map(Some))
                }
                STORAGE_FORMAT if value == CHOSEN => {
                    options.storage_format = StorageFormat::Auto;
                    true
                }
                STORAGE_FORMAT => {
                    let number = u8::try_from(value).ok();
                    let transform = number.and_then(PageTransform::from_number);
                    set(
                        &mut options.storage_format,
                        transform.map(StorageFormat::Fixed),
                    )
                }
                TUPLE_COMPRESSION => set(&mut options.compresses_tuples, flag(value)),
                PAGE_TARGET_BYTES => {
                    let bytes = usize::try_from(value).ok();
                    let bytes = bytes.filter(|bytes| {
                        PAGE_TARGET_BYTES_ALLOWED.contains(bytes)
                            || PAGE_BYTES_ALLOWED.contains(bytes)
                    });
                    let target = bytes.map(PageTarget::new);
                    set(&mut options.page_target, target.map(Some))
                }
                PAGE_PADDING => (options.page_target.as_mut())
                    .is_some_and(|target| set(&mut target.has_adaptive_padding, flag(value))),
                ADVANCE_SPLIT => (options.page_target.as_mut())
                    .is_some_and(|target| set(&mut target.splits_in_advance, flag(value))),
                BLOCK_BYTES => {
                    let bytes = usize::try_from(value).ok();
                    set(&mut options.block_bytes, bytes.map(Some))
                }
                KEY_COMPRESSION => set(&mut options.compresses_keys, flag(value)),
                DEVICE_CODEC => {
                    let codec = u8::try_from(value).ok().and_then(BlockCodecId::from_u8);
                    let codec = codec.filter(|codec| DEVICE_CODECS.contains(codec));
                    set(&mut options.device_codec, codec.map(Some))
                }
                _ => false,
            };
            if !is_known {
                let what = format!("unknown table option {number} with the value {value}");
                return Err(Corrupt::new(what, 0));
            }
        }
        Ok(options)
    }
}

fn flag(value: i64) -> Option<bool> {
    [false, true]
        .into_iter()
        .find(|one| i64::from(*one) == value)
}

fn set<T>(place: &mut T, value: Option<T>) -> bool {
    value.is_some_and(|value| {
        *place = value;
        true
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn options_are_read_as_they_were_written() {
        let formats = PageTransform::ALL.map(StorageFormat::Fixed);
        for storage_format in formats.into_iter().chain([StorageFormat::Auto]) {
            let options = TableOptions {
                page_bytes: 4096,
                page_codec: BlockCodecId::Zstd,
                page_codec_level: Some(-3),
                storage_format,
                compresses_tuples: false,
                compresses_keys: true,
                page_target: Some(PageTarget {
                    splits_in_advance: false,
                    ..PageTarget::new(2048)
                }),
                device_codec: None,
                block_bytes: Some(65_536),
            };
            assert_eq!(options.error(), None);
            let record = options.to_record();
            assert!(record.is_sorted_by(|left, right| left.0 < right.0));
            assert_eq!(TableOptions::newer_option(&record), None);
            assert_eq!(TableOptions::from_record(&record).unwrap(), options);
            let name = storage_format.to_string();
            assert_eq!(StorageFormat::from_name(&name), Some(storage_format));
        }
        for name in ["R2C-XOR-RLT", "r2c_xor_rlt", "xor-rlt"] {
            let xor_rlt = PageTransform::from_name("xor_rlt").unwrap();
            let expected = Some(StorageFormat::Fixed(xor_rlt));
            assert_eq!(StorageFormat::from_name(name), expected);
        }
        let xor_clt = StorageFormat::from_name("r2c-xor-clt").unwrap();
        assert_eq!(xor_clt.to_string(), "xor_clt");
        assert_eq!(StorageFormat::from_name("zigzag"), None);
        for unknown in [9, 254, 256, -1] {
            assert!(TableOptions::from_record(&[(STORAGE_FORMAT, unknown)]).is_err());
        }
    }

    #[test]
    fn pages_for_a_device_that_compresses_are_whole_and_say_which_it_is() {
        for device_codec in DEVICE_CODECS {
            let options = TableOptions {
                page_codec: BlockCodecId::None,
                page_target: Some(PageTarget::new(PAGE_BYTES_DEFAULT)),
                device_codec: Some(device_codec),
                ..TableOptions::default()
            };
            assert_eq!(options.error(), None);
            let record = options.to_record();
            assert_eq!(TableOptions::from_record(&record).unwrap(), options);
        }
        // Tables that say nothing of a device are stored as before there was the option.
        let record = TableOptions::default().to_record();
        assert!(record.iter().all(|(number, _)| *number < DEVICE_CODEC));
    }

    #[test]
    fn options_above_the_newest_are_those_of_a_later_program() {
        let mut record = TableOptions::default().to_record();
        for number in [NEWEST_OPTION + 1, u8::MAX] {
            record.push((number, 1));
            assert_eq!(TableOptions::newer_option(&record), Some(number));
            record.pop();
        }
        // Damage, whatever program it was.
        assert_eq!(TableOptions::newer_option(&[(0, 0), (2, 99)]), None);
    }

    #[test]
    fn strange_options_are_refused() {
        for strange in [
            (0, 0),
            (6, -1),
            (6, 0),
            (6, 31),
            (6, 1 << 40),
            (7, 1),
            (9, -1),
            (10, 2),
            (11, 0),
            (11, 99),
            (12, 1),
            (2, 99),
            (4, 99),
            (5, 2),
            (1, -1),
            (3, 1 << 40),
        ] {
            assert!(
                TableOptions::from_record(&[strange]).is_err(),
                "{strange:?}"
            );
        }
        let odd = TableOptions {
            page_bytes: 5000,
            ..TableOptions::default()
        };
        assert!(odd.error().unwrap().contains("5000"));
        for bytes in [0, 16_383, (16 << 20) + 1] {
            let options = TableOptions {
                block_bytes: Some(bytes),
                ..TableOptions::default()
            };
            let error = options.error().unwrap();
            assert!(error.contains(&bytes.to_string()), "{error}");
        }
        for (page_bytes, page_codec, slot_bytes, what) in [
            (16_384, BlockCodecId::Lz4, 3_000, "3000"),
            (16_384, BlockCodecId::Lz4, 16_384, "16384"),
            (8_192, BlockCodecId::Lz4, 8_192, "larger page_size"),
            (16_384, BlockCodecId::None, 8_192, "use 16384"),
            (4_096, BlockCodecId::None, 16_384, "use 4096"),
        ] {
            let options = TableOptions {
                page_bytes,
                page_codec,
                page_target: Some(PageTarget::new(slot_bytes)),
                ..TableOptions::default()
            };
            assert!(options.error().unwrap().contains(what));
        }
        for (page_codec, device_codec, what) in [
            (BlockCodecId::None, BlockCodecId::Zle, "lz4, zlib, zstd"),
            (BlockCodecId::Lz4, BlockCodecId::Zlib, "page_codec = none"),
        ] {
            let options = TableOptions {
                page_codec,
                device_codec: Some(device_codec),
                ..TableOptions::default()
            };
            assert!(options.error().unwrap().contains(what));
        }
        let level = TableOptions {
            page_codec_level: Some(40),
            ..TableOptions::default()
        };
        assert!(level.error().unwrap().contains("level 40"));
    }
}
