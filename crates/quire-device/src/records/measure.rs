//! Which codec a file is compressed with when that is measured.
//!
//! A sample of the records that are to be written is compressed with LZ4 and with zstd at two levels. zstd is read three times as slowly
//! as LZ4 (through a mount 373 beside 618 MB/s), so it has to save a sixteenth of what LZ4 leaves. With an eighth a DuckDB file of TPC-H, of
//! which the parts differ, had a ratio of 1.293 instead of 1.353. Its higher level is read as fast as the default and written five times
//! as slowly (lineitem of TPC-H, records of 128 KiB: 38 MB/s and 209 MB/s), so it has to save 1/32 more. When no record of the sample
//! saves what is asked for, records stay as they are. Lengths decide, not times: the same file is compressed alike on every machine.

use quire_codec::block::{BlockCodecId, MinimumGain, estimated_bytes};
use quire_format::data_set::FileSpace;

use super::coder::{RecordCodec, RecordCoder};
use crate::error::DeviceStorageError;

/// Records of a sample.
pub(crate) const SAMPLED_RECORDS: usize = 8;
/// Level of zstd for what is read more often than it is written.
const THOROUGH_LEVEL: i32 = 9;

/// Whether a file is to be measured before its next records are written: at first, and whenever as many records have been written
/// again as before.
pub(crate) fn should_measure(space: &FileSpace) -> bool {
    match space.measured {
        None => true,
        Some(measured) => space.written >= 2 * measured.sampled_at.max(SAMPLED_RECORDS as u64),
    }
}

/// A codec, and what the records of a sample take with it.
#[derive(Clone, Debug)]
pub(crate) struct SampledCodec {
    pub(crate) codec: RecordCodec,
    pub(crate) sample_bytes: usize,
}

impl SampledCodec {
    /// Compresses the records of a sample. Those that save less than `gain` are counted as they are.
    pub(crate) fn measure(
        coder: &mut RecordCoder,
        codec: RecordCodec,
        sample: &[&[u8]],
        gain: MinimumGain,
    ) -> Result<Self, DeviceStorageError> {
        let sample_bytes = estimated_bytes(coder.codec(&codec)?, sample, gain, SAMPLED_RECORDS);
        Ok(Self {
            codec,
            sample_bytes,
        })
    }
}

/// The codec for records like these.
pub(crate) fn measured_codec(
    coder: &mut RecordCoder,
    sample: &[&[u8]],
    gain: MinimumGain,
) -> Result<SampledCodec, DeviceStorageError> {
    let raw_bytes: usize = sample.iter().map(|record| record.len()).sum();
    let mut measured = |codec: BlockCodecId, level: i32| {
        SampledCodec::measure(coder, RecordCodec::new(codec, level), sample, gain)
    };
    let lz4 = measured(BlockCodecId::Lz4, BlockCodecId::Lz4.default_level())?;
    let zstd = measured(BlockCodecId::Zstd, BlockCodecId::Zstd.default_level())?;
    if lz4.sample_bytes.min(zstd.sample_bytes) >= raw_bytes {
        let level = BlockCodecId::None.default_level();
        return Ok(SampledCodec {
            codec: RecordCodec::new(BlockCodecId::None, level),
            sample_bytes: raw_bytes,
        });
    }
    if zstd.sample_bytes > lz4.sample_bytes - lz4.sample_bytes / 16 {
        return Ok(lz4);
    }
    let thorough = measured(BlockCodecId::Zstd, THOROUGH_LEVEL)?;
    let saves_enough = thorough.sample_bytes <= zstd.sample_bytes - zstd.sample_bytes / 32;
    Ok(if saves_enough { thorough } else { zstd })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use quire_format::data_set::MeasuredCodec;

    fn chosen_for(sample: &[&[u8]]) -> (BlockCodecId, i32) {
        let mut coder = RecordCoder::default();
        let chosen = measured_codec(&mut coder, sample, MinimumGain::EIGHTH).unwrap();
        (chosen.codec.codec, chosen.codec.level)
    }

    fn chosen(record: &[u8]) -> BlockCodecId {
        chosen_for(&[record; SAMPLED_RECORDS]).0
    }

    #[test]
    fn the_sample_decides() {
        let mut random = Random(1);
        let noise = random.bytes(8192);
        assert_eq!(chosen(&noise), BlockCodecId::None);
        // Digits have no repeats and 3.3 bits each: only entropy coding helps.
        let digits: Vec<u8> = (0..8192).map(|_| b'0' + random.below(10) as u8).collect();
        assert_eq!(chosen(&digits), BlockCodecId::Zstd);
        // Noise twice: both find the repeat, and nothing else.
        let twice = [&noise[..4096], &noise[..4096]].concat();
        assert_eq!(chosen(&twice), BlockCodecId::Lz4);
        // The same with 7.1 and 7.6 bits a byte: zstd leaves about 8 % and 3 % less than LZ4.
        let mut twice_of = |symbols: u64| {
            let once: Vec<u8> = (0..4096).map(|_| random.below(symbols) as u8).collect();
            once.repeat(2)
        };
        assert_eq!(chosen(&twice_of(140)), BlockCodecId::Zstd);
        assert_eq!(chosen(&twice_of(190)), BlockCodecId::Lz4);
        // One record of eight saves something, so it is worth trying with each.
        let mut mixed = [noise.as_slice(); SAMPLED_RECORDS];
        mixed[5] = &twice;
        assert_eq!(chosen_for(&mixed).0, BlockCodecId::Lz4);
    }

    #[test]
    fn the_higher_level_has_to_save_something() {
        // Rows of a table as text: many short matches, of which a longer search finds better ones.
        let mut random = Random(7);
        let mut below = |limit: u64| random.below(limit) as usize;
        let words = [
            "quickly",
            "final",
            "deposits",
            "accounts",
            "sleep",
            "carefully",
            "ironic",
            "packages",
        ];
        let text: String = (0..2_500)
            .map(|row| {
                let (price, day) = (below(1_000_000), below(28) + 1);
                let (month, word, other) = (below(12) + 1, below(8), below(8));
                let flag = ["N|O", "R|F", "A|F"][below(3)];
                format!(
                    "{row}|{price}|{flag}|199{}-{month:02}-{day:02}|{} {}\n",
                    row % 8,
                    words[word],
                    words[other]
                )
            })
            .collect();
        let text = text.as_bytes();
        assert_eq!(chosen_for(&[text]), (BlockCodecId::Zstd, THOROUGH_LEVEL));
        // Digits have no matches, so there is nothing to search for.
        let digits: Vec<u8> = (0..8192).map(|_| b'0' + below(10) as u8).collect();
        let default = BlockCodecId::Zstd.default_level();
        assert_eq!(chosen_for(&[&digits]), (BlockCodecId::Zstd, default));
    }

    #[test]
    fn a_file_is_measured_again_when_it_has_doubled() {
        let mut space = FileSpace::default();
        assert!(should_measure(&space));
        space.measured = Some(MeasuredCodec {
            codec: BlockCodecId::Lz4,
            level: 1,
            sampled_at: 100,
            dictionary: None,
        });
        space.written = 199;
        assert!(!should_measure(&space));
        space.written = 200;
        assert!(should_measure(&space));
    }
}
