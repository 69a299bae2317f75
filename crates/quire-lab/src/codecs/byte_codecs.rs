//! General codecs of figure 6.2, which compress bytes by the block.

use super::codec_speed::{CodecSpeed, speed};
use super::lzrw1;
use crate::{Lab, LabError};
use bzip2::{Action, Compress, Compression, Decompress, Status};
use quire_codec::Corrupt;
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use std::hint::black_box;

/// Bytes that a codec compresses together.
pub(super) const BLOCK_BYTES: usize = 64 << 10;
/// bzip2's level for blocks of up to 100,000 bytes. A higher one makes no difference to 64 KiB.
const BZIP2_LEVEL: u32 = 1;
/// What bzip2 does before it falls back to its slower sorting; its own default.
const BZIP2_WORK_FACTOR: u32 = 30;

/// Compresses bytes and undoes it.
pub(super) trait ByteCodec {
    /// As the laboratory prints it.
    fn name(&self) -> &'static str;

    /// Replaces `out` by `block` compressed. False if that does not make it smaller.
    fn compress(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool;

    /// Undoes it; `out` has the raw length.
    fn decompress(&mut self, payload: &[u8], out: &mut [u8]) -> Result<(), Corrupt>;
}

/// The paper's zlib, bzip2 and LZRW1, and Quire's page codecs. LZO is left out: its implementations are under the GPL.
pub(super) fn byte_codecs() -> Result<Vec<Box<dyn ByteCodec>>, LabError> {
    const PAGE_CODECS: [BlockCodecId; 5] = [
        BlockCodecId::Zlib,
        BlockCodecId::Lzjb,
        BlockCodecId::Lz4,
        BlockCodecId::Lz4Hc,
        BlockCodecId::Zstd,
    ];
    let mut codecs: Vec<Box<dyn ByteCodec>> = vec![Box::new(Lzrw1Codec), Box::new(Bzip2Codec)];
    for id in PAGE_CODECS {
        codecs.push(Box::new(PageByteCodec::open(id)?));
    }
    Ok(codecs)
}

/// Ratio and speeds of one of Quire's page codecs on `bytes`, in pages of `page_bytes`, at most [`BLOCK_BYTES`].
pub(crate) fn page_codec_speed(
    lab: &Lab,
    id: BlockCodecId,
    bytes: &[u8],
    page_bytes: usize,
) -> Result<CodecSpeed, LabError> {
    block_speed(lab, &mut PageByteCodec::open(id)?, bytes, page_bytes)
}

/// Ratio and speeds of a codec on `bytes`, in blocks of `block_bytes`, at most [`BLOCK_BYTES`]. A block that does not shrink is copied.
pub(super) fn block_speed(
    lab: &Lab,
    codec: &mut dyn ByteCodec,
    bytes: &[u8],
    block_bytes: usize,
) -> Result<CodecSpeed, LabError> {
    let blocks: Vec<&[u8]> = bytes.chunks(block_bytes).collect();
    let mut payload = Vec::with_capacity(2 * BLOCK_BYTES);
    let mut stored = Vec::new();
    for block in &blocks {
        let smaller = codec.compress(block, &mut payload);
        stored.push(smaller.then(|| payload.clone()));
    }
    let mut room = vec![0; BLOCK_BYTES];
    for (stored, block) in stored.iter().zip(&blocks) {
        let out = &mut room[..block.len()];
        restore(codec, stored.as_deref(), block, out)?;
        if out != *block {
            let codec = codec.name().to_owned();
            return Err(LabError::NotRestored { codec });
        }
    }
    let encode_ns = lab.nanoseconds_of(|| {
        for block in &blocks {
            black_box(codec.compress(black_box(block), &mut payload));
        }
    });
    let decode_ns = lab.nanoseconds(|| {
        for (stored, block) in stored.iter().zip(&blocks) {
            let out = &mut room[..block.len()];
            restore(codec, stored.as_deref(), block, out)?;
            black_box(out);
        }
        Ok::<(), Corrupt>(())
    })?;
    let stored_bytes = stored.iter().zip(&blocks);
    let stored_bytes: usize = stored_bytes
        .map(|(stored, block)| stored.as_ref().map_or(block.len(), Vec::len))
        .sum();
    let name = codec.name();
    Ok(speed(name, bytes.len(), stored_bytes, encode_ns, decode_ns))
}

/// Decompresses, or copies what did not shrink.
fn restore(
    codec: &mut dyn ByteCodec,
    stored: Option<&[u8]>,
    block: &[u8],
    out: &mut [u8],
) -> Result<(), Corrupt> {
    match stored {
        Some(payload) => codec.decompress(payload, out),
        None => {
            out.copy_from_slice(block);
            Ok(())
        }
    }
}

struct Lzrw1Codec;

impl ByteCodec for Lzrw1Codec {
    fn name(&self) -> &'static str {
        "lzrw1"
    }

    fn compress(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool {
        lzrw1::compress(block, out)
    }

    fn decompress(&mut self, payload: &[u8], out: &mut [u8]) -> Result<(), Corrupt> {
        lzrw1::decompress(payload, out)
    }
}

/// A stream for each block.
struct Bzip2Codec;

impl ByteCodec for Bzip2Codec {
    fn name(&self) -> &'static str {
        "bzip2"
    }

    fn compress(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool {
        out.clear();
        out.resize(block.len(), 0);
        let mut stream = Compress::new(Compression::new(BZIP2_LEVEL), BZIP2_WORK_FACTOR);
        let ended = matches!(
            stream.compress(block, out, Action::Finish),
            Ok(Status::StreamEnd)
        );
        out.truncate(stream.total_out() as usize);
        ended && out.len() < block.len()
    }

    fn decompress(&mut self, payload: &[u8], out: &mut [u8]) -> Result<(), Corrupt> {
        let mut stream = Decompress::new(false);
        match stream.decompress(payload, out) {
            Ok(Status::StreamEnd) if stream.total_out() == out.len() as u64 => Ok(()),
            _ => Err(Corrupt::new("bzip2 does not restore the block", 0)),
        }
    }
}

/// A codec that pages of Quire can have.
struct PageByteCodec {
    codec: Box<dyn BlockCodec>,
}

impl PageByteCodec {
    /// With its default level.
    fn open(id: BlockCodecId) -> Result<Self, LabError> {
        Ok(Self {
            codec: open(id, &BlockOptions::default())?,
        })
    }
}

impl ByteCodec for PageByteCodec {
    fn name(&self) -> &'static str {
        self.codec.id().name()
    }

    fn compress(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool {
        // Some codecs need room beyond the limit to find out that they pass it.
        out.resize(2 * BLOCK_BYTES, 0);
        let length = self.codec.compress(block, out, block.len());
        out.truncate(length.unwrap_or_default());
        length.is_some_and(|length| length < block.len())
    }

    fn decompress(&mut self, payload: &[u8], out: &mut [u8]) -> Result<(), Corrupt> {
        self.codec.decompress(payload, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::LabRandom;
    use crate::sample_text::made_up_text;

    #[test]
    fn all_codecs_restore_texts_and_refuse_noise() {
        let text = made_up_text(8, BLOCK_BYTES).into_bytes();
        let mut random = LabRandom(8);
        let noise: Vec<u8> = (0..BLOCK_BYTES).map(|_| random.next() as u8).collect();
        for mut codec in byte_codecs().unwrap() {
            let mut payload = Vec::new();
            for block in [&text[..BLOCK_BYTES], &text[..1_000]] {
                assert!(codec.compress(block, &mut payload), "{}", codec.name());
                assert!(payload.len() < block.len());
                let mut out = vec![0; block.len()];
                codec.decompress(&payload, &mut out).unwrap();
                assert_eq!(out, block, "{}", codec.name());
                let shorter = &payload[..payload.len() / 2];
                assert!(codec.decompress(shorter, &mut out).is_err());
            }
            assert!(!codec.compress(&noise, &mut payload), "{}", codec.name());
        }
    }
}
