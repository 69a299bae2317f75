//! What a device that compresses each sector by itself makes of an image (paper 3, §II-B).

use crate::LabError;
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};

/// Bytes of a sector: storage compresses each by itself (§II-B).
pub const SECTOR_BYTES: usize = 4 * 1024;

/// Said wherever zlib is a series.
pub(crate) const ZLIB_NOTE: &str =
    "zlib is its format, as libdeflate writes it; zlib itself finds slightly other matches";

/// A block codec with room for whatever it writes.
pub(crate) struct SectorCodec {
    codec: Box<dyn BlockCodec>,
    room: Vec<u8>,
}

impl SectorCodec {
    /// The codec with its default level.
    pub(crate) fn open(id: BlockCodecId) -> Result<Self, LabError> {
        Ok(Self {
            codec: open(id, &BlockOptions::default())?,
            room: Vec::new(),
        })
    }

    /// Bytes the codec makes of a block; those of the block where it does not shrink.
    pub(crate) fn block_bytes(&mut self, block: &[u8]) -> usize {
        self.room.resize(2 * block.len() + 1024, 0);
        let limit = self.room.len();
        let written = self.codec.compress(block, &mut self.room, limit);
        written.unwrap_or(block.len()).min(block.len())
    }

    /// Bytes a device makes of an image, each sector by itself.
    pub(crate) fn device_bytes(&mut self, image: &[u8]) -> usize {
        let sectors = image.chunks(SECTOR_BYTES);
        sectors.map(|sector| self.block_bytes(sector)).sum()
    }

    /// Bytes of a compressed page in a file with holes punched into it: whole sectors, at most those of the page (§IV-B).
    pub(crate) fn hole_punched_bytes(&mut self, page: &[u8]) -> usize {
        self.block_bytes(page).next_multiple_of(SECTOR_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::LabRandom;

    #[test]
    fn holes_are_whole_sectors_and_a_device_packs_tightly() -> Result<(), LabError> {
        let mut random = LabRandom(3);
        let mut page = vec![0; 4 * SECTOR_BYTES];
        // 9 KiB that do not compress, as in the paper's example: 12 KiB on storage.
        for byte in &mut page[..9 * 1024] {
            *byte = random.next() as u8;
        }
        for id in [BlockCodecId::Lz4, BlockCodecId::Zlib] {
            let mut codec = SectorCodec::open(id)?;
            assert_eq!(codec.hole_punched_bytes(&page), 12 * 1024);
            let device_bytes = codec.device_bytes(&page);
            assert!(
                (9 * 1024..10 * 1024).contains(&device_bytes),
                "{id}: {device_bytes}"
            );
        }
        Ok(())
    }
}
