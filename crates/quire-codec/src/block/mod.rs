//! Which bytes stand for this block of bytes, and is it worth it?
//!
//! A *block* is any run of bytes that is stored and read as a whole: a page image, a record of a volume. The
//! codecs of this module know nothing about what is in it. Whoever stores a block keeps the number of its codec
//! and its raw length beside it; level and gain are not needed to read it, a dictionary is.
//!
//! ```
//! use quire_codec::block::{BlockCodecId, BlockOptions, MinimumGain, open};
//!
//! let page = b"one page is much like another ".repeat(500);
//! let mut codec = open(BlockCodecId::Lz4, &BlockOptions::default())?;
//! let mut room = vec![0; page.len()];
//! let length = codec.compress(&page, &mut room, MinimumGain::EIGHTH.limit(page.len()));
//! let stored = &room[..length.ok_or("not worth it")?];
//!
//! let mut again = vec![0; page.len()];
//! codec.decompress(stored, &mut again)?;
//! assert_eq!(again, page);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dictionary;
mod dictionary_training;
mod estimate;
mod gain;
mod id;
mod lz4_block;
mod lz4_hc;
mod lzjb;
mod lzjb_greedy;
mod probe;
mod stored;
mod zle;
mod zlib;
mod zstd_frame;

pub use dictionary::{DICTIONARY_BYTES_MAX, ZstdDictionary};
pub use estimate::estimated_bytes;
pub use gain::MinimumGain;
pub use id::BlockCodecId;

use crate::Corrupt;
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// The longest block: 1 GiB. Longer ones are not compressed, and none decompresses to more.
pub const BLOCK_BYTES_MAX: usize = 1 << 30;

/// Compresses blocks and undoes it. A codec owns the contexts and tables it works with, so one is made per
/// thread and used for many blocks; no block depends on those before it.
pub trait BlockCodec: Debug + Send {
    /// The number to store beside a block.
    fn id(&self) -> BlockCodecId;

    /// The name of its dictionary ([`ZstdDictionary::with_id`]); 0 if it has none, or one without a name.
    fn dictionary_id(&self) -> u64 {
        0
    }

    /// Writes `input`, compressed, to the start of `output`, and returns how many bytes it took.
    ///
    /// `None` when it would take more than `limit` bytes, more than `output` holds, or more time than the
    /// gain looks worth; the codec gives up as early as it can tell, and `output` holds nothing of use. Equal
    /// input and limit give equal bytes.
    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize>;

    /// Undoes `compress`. `output` has exactly the raw length; after an error its content is of no use.
    ///
    /// Bytes that do not decompress to exactly that length are [`Corrupt`], at an offset within `input`. What
    /// it allocates does not depend on what `input` claims.
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt>;
}

/// How to compress. None of it is needed to decompress, except for the dictionary.
#[derive(Clone, Debug, Default)]
pub struct BlockOptions {
    /// One of [`BlockCodecId::levels`]; its default if absent.
    pub level: Option<i32>,
    /// What blocks have in common; for zstd only.
    pub dictionary: Option<ZstdDictionary>,
}

/// Why a codec cannot be had with these options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecOpenError {
    #[error(
        "codec {codec} has no level {level}; choose one from {} to {}",
        .codec.levels().start(),
        .codec.levels().end()
    )]
    Level { codec: BlockCodecId, level: i32 },
    #[error("codec {codec} uses no dictionary; use zstd or leave the dictionary out")]
    NoDictionary { codec: BlockCodecId },
    #[error("a dictionary of {bytes} bytes is outside of 8 bytes to 1 MiB; train another")]
    DictionaryLength { bytes: usize },
    #[error("zstd refuses the dictionary; it is damaged, or memory is short")]
    DictionaryRefused,
}

/// The codec of that number.
pub fn open(
    id: BlockCodecId,
    options: &BlockOptions,
) -> Result<Box<dyn BlockCodec>, CodecOpenError> {
    let level = options.level.unwrap_or(id.default_level());
    let levels: RangeInclusive<i32> = id.levels();
    let wrong_level = CodecOpenError::Level { codec: id, level };
    if !levels.contains(&level) {
        return Err(wrong_level);
    }
    if options.dictionary.is_some() && id != BlockCodecId::Zstd {
        return Err(CodecOpenError::NoDictionary { codec: id });
    }
    Ok(match id {
        BlockCodecId::None => Box::new(stored::StoredCodec),
        BlockCodecId::Zle => Box::new(zle::Zle),
        BlockCodecId::Lzjb if level == id::LZJB_GREEDY_LEVEL => {
            Box::new(lzjb_greedy::LzjbGreedy::default())
        }
        BlockCodecId::Lzjb => Box::new(lzjb::Lzjb::default()),
        BlockCodecId::Lz4 => Box::new(lz4_block::Lz4),
        BlockCodecId::Lz4Hc => Box::new(lz4_hc::Lz4Hc::new(level)),
        BlockCodecId::Zlib => {
            let level = libdeflater::CompressionLvl::new(level).map_err(|_| wrong_level)?;
            Box::new(zlib::Zlib::new(level))
        }
        BlockCodecId::Zstd => Box::new(zstd_frame::Zstd::new(level, options.dictionary.clone())?),
    })
}

/// The part of `output` a codec may write to; `None` for a block it must not compress.
fn block_bounds<'a>(input: &[u8], output: &'a mut [u8], limit: usize) -> Option<&'a mut [u8]> {
    let room = limit.min(output.len());
    (input.len() <= BLOCK_BYTES_MAX).then(|| &mut output[..room])
}
