//! zlib and lz4hc on this machine: table III, measured on pages of text.

use super::access_time::MIB_BYTES;
use super::page_codec::{COMPRESSED_PAGE_BYTES, PageCodecSpeed, UNCOMPRESSED_PAGE_BYTES};
use super::paper::{LZ4HC, ZLIB};
use crate::codecs::page_codec_speed;
use crate::sample_text::made_up_text;
use crate::sectors::ZLIB_NOTE;
use crate::{Lab, LabError};
use quire_codec::block::BlockCodecId;

const SEED: u64 = 4;

/// What was measured of both codecs.
#[derive(Clone, Debug)]
pub(super) struct CodecsHere {
    pub(super) zlib: PageCodecSpeed,
    pub(super) lz4hc: PageCodecSpeed,
    /// Of what.
    pub(super) pages: String,
}

impl CodecsHere {
    /// Compresses and decompresses the first pages of `text`, or of one that is made up.
    pub(super) fn measure(lab: &Lab, text: Option<&[u8]>) -> Result<Self, LabError> {
        let sample_bytes = lab.size(64, 4) * UNCOMPRESSED_PAGE_BYTES;
        let made_up = text.is_none().then(|| made_up_text(SEED, sample_bytes));
        let text = text.or(made_up.as_ref().map(String::as_bytes));
        let text = text.unwrap_or_default();
        if text.is_empty() {
            return Err(LabError::EmptyText);
        }
        let sample = &text[..text.len().min(sample_bytes)];
        let page_count = sample.len().div_ceil(UNCOMPRESSED_PAGE_BYTES);
        let whose = if made_up.is_some() {
            "a made-up text"
        } else {
            "the text"
        };
        Ok(Self {
            zlib: measured(lab, BlockCodecId::Zlib, sample)?,
            lz4hc: measured(lab, BlockCodecId::Lz4Hc, sample)?,
            pages: format!("{page_count} pages of 16 KiB of {whose}"),
        })
    }

    /// What was measured, in words.
    pub(super) fn notes(&self) -> Vec<String> {
        let of = |name: &str, codec: &PageCodecSpeed| {
            format!(
                "{name} {:.2} MiB/s, {:.2} MiB/s, r = {:.2}",
                codec.compression_mib_s, codec.decompression_mib_s, codec.compression_fraction
            )
        };
        let mut notes = vec![
            format!(
                "this machine's codecs, zlib of level {} and lz4hc of level {}, measured on {}: compression, decompression and what is left of the \
                 bytes: {}; {} (table III: {}; {}); the SSD is the paper's",
                BlockCodecId::Zlib.default_level(),
                BlockCodecId::Lz4Hc.default_level(),
                self.pages,
                of("zlib", &self.zlib),
                of("lz4hc", &self.lz4hc),
                of("zlib", &ZLIB.codec),
                of("lz4hc", &LZ4HC.codec)
            ),
            ZLIB_NOTE.to_owned(),
        ];
        let target = COMPRESSED_PAGE_BYTES as f64 / UNCOMPRESSED_PAGE_BYTES as f64;
        for (name, codec) in [("zlib", &self.zlib), ("lz4hc", &self.lz4hc)] {
            if codec.compression_fraction > target {
                notes.push(format!(
                    "a full page of this text does not fit into 8 KiB with {name}: the model reads and writes 8 KiB all the same, and \
                     favours its curve"
                ));
            }
        }
        notes
    }
}

/// One codec, in the paper's units.
fn measured(lab: &Lab, id: BlockCodecId, bytes: &[u8]) -> Result<PageCodecSpeed, LabError> {
    let speed = page_codec_speed(lab, id, bytes, UNCOMPRESSED_PAGE_BYTES)?;
    let mib_s = |mb_s: f64| mb_s * 1e6 / MIB_BYTES;
    Ok(PageCodecSpeed {
        compression_mib_s: mib_s(speed.compression_mb_s),
        decompression_mib_s: mib_s(speed.decompression_mb_s),
        compression_fraction: 1.0 / speed.ratio,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeasureEffort;
    use crate::random::LabRandom;

    #[test]
    fn text_shrinks_and_noise_does_not() {
        let lab = Lab::new(MeasureEffort::Quick);
        let here = CodecsHere::measure(&lab, None).unwrap();
        for codec in [here.zlib, here.lz4hc] {
            assert!(codec.compression_fraction > 0.1 && codec.compression_fraction < 0.9);
            assert!(codec.compression_mib_s > 0.0 && codec.decompression_mib_s > 0.0);
        }
        // Entropy coding comes on top of repetitions.
        assert!(here.zlib.compression_fraction < here.lz4hc.compression_fraction);
        let mut random = LabRandom(4);
        let noise: Vec<u8> = (0..40_000).map(|_| random.next() as u8).collect();
        let here = CodecsHere::measure(&lab, Some(&noise)).unwrap();
        assert_eq!(here.lz4hc.compression_fraction, 1.0);
        assert_eq!(here.pages, "3 pages of 16 KiB of the text");
        assert!(here.notes().iter().any(|note| note.contains("favours")));
    }

    #[test]
    fn an_empty_text_is_refused() {
        let lab = Lab::new(MeasureEffort::Quick);
        let refused = CodecsHere::measure(&lab, Some(b""));
        assert!(matches!(refused, Err(LabError::EmptyText)));
    }
}
