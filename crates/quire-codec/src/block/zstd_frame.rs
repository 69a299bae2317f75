//! zstd, one frame a block without magic number, content size and checksum, with or without a dictionary.

use super::probe::BlockProbe;
use super::{BlockCodec, BlockCodecId, CodecOpenError, ZstdDictionary, block_bounds};
use crate::Corrupt;
use zstd::bulk::{Compressor, Decompressor};

/// zstd with its contexts, which are made when they are first needed.
pub(super) struct Zstd {
    level: i32,
    dictionary: Option<ZstdDictionary>,
    probe: BlockProbe,
    compressor: Option<Compressor<'static>>,
    decompressor: Option<Decompressor<'static>>,
}

impl Zstd {
    /// A dictionary is digested at once, so that one that is damaged is refused here.
    pub(super) fn new(
        level: i32,
        dictionary: Option<ZstdDictionary>,
    ) -> Result<Self, CodecOpenError> {
        let decompressor = match &dictionary {
            Some(some) => {
                let context = new_decompressor(some.bytes());
                Some(context.ok_or(CodecOpenError::DictionaryRefused)?)
            }
            None => None,
        };
        let (probe, compressor) = (BlockProbe::default(), None);
        Ok(Self {
            level,
            dictionary,
            probe,
            compressor,
            decompressor,
        })
    }
}

impl std::fmt::Debug for Zstd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Zstd")
            .field("level", &self.level)
            .field("dictionary", &self.dictionary)
            .finish_non_exhaustive()
    }
}

fn new_compressor(level: i32, dictionary: &[u8]) -> Option<Compressor<'static>> {
    let mut compressor = Compressor::with_dictionary(level, dictionary).ok()?;
    compressor.include_magicbytes(false).ok()?;
    compressor.include_contentsize(false).ok()?;
    compressor.include_checksum(false).ok()?;
    compressor.include_dictid(false).ok()?;
    Some(compressor)
}

fn new_decompressor(dictionary: &[u8]) -> Option<Decompressor<'static>> {
    let mut decompressor = Decompressor::with_dictionary(dictionary).ok()?;
    decompressor.include_magicbytes(false).ok()?;
    Some(decompressor)
}

/// The context in `place`, made if there is none; none when there is no memory for it.
fn context<T>(place: &mut Option<T>, make: impl FnOnce() -> Option<T>) -> Option<&mut T> {
    if place.is_none() {
        *place = make();
    }
    place.as_mut()
}

impl BlockCodec for Zstd {
    fn id(&self) -> BlockCodecId {
        BlockCodecId::Zstd
    }

    fn dictionary_id(&self) -> u64 {
        self.dictionary.as_ref().map_or(0, ZstdDictionary::id)
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        let output = block_bounds(input, output, limit)?;
        // Without a dictionary only: a block may repeat what is in the dictionary, but nothing of itself.
        if self.dictionary.is_none() && !self.probe.finds_redundancy(input, output.len()) {
            return None;
        }
        let dictionary = self
            .dictionary
            .as_ref()
            .map_or(&[][..], ZstdDictionary::bytes);
        let level = self.level;
        context(&mut self.compressor, || new_compressor(level, dictionary))?
            .compress_to_buffer(input, output)
            .ok()
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
        let refused = |what: &'static str| Corrupt::new(what, 0);
        let dictionary = self
            .dictionary
            .as_ref()
            .map_or(&[][..], ZstdDictionary::bytes);
        let written = context(&mut self.decompressor, || new_decompressor(dictionary))
            .ok_or_else(|| refused("no memory for a zstd context"))?
            .decompress_to_buffer(input, output)
            .map_err(|_| refused("zstd block does not decompress to its size"))?;
        if written != output.len() {
            return Err(refused("zstd block is shorter than its raw length"));
        }
        Ok(())
    }
}
