//! Which codec a file is compressed with when that is measured.
//!
//! A sample of the records that are to be written is compressed with LZ4 and with zstd. zstd is read three times as slowly, so it
//! has to save an eighth of what LZ4 leaves; when neither saves what is asked for, records stay as they are. Lengths
//! decide, not times: the same file is compressed alike on every machine.

use quire_codec::block::{BlockCodecId, MinimumGain, estimated_bytes};
use quire_format::data_set::FileSpace;

use super::coder::RecordCoder;
use crate::error::DeviceStorageError;

/// Records of a sample.
pub(crate) const SAMPLED_RECORDS: usize = 8;

/// Whether a file is to be measured before its next records are written: at first, and whenever as many records have been written
/// again as before.
pub(crate) fn should_measure(space: &FileSpace) -> bool {
    match space.measured {
        None => true,
        Some((_, _, sampled_at)) => space.written >= 2 * sampled_at.max(SAMPLED_RECORDS as u64),
    }
}

/// The codec for records like these.
pub(crate) fn measured_codec(
    coder: &mut RecordCoder,
    sample: &[&[u8]],
    gain: MinimumGain,
) -> Result<(BlockCodecId, i32), DeviceStorageError> {
    let raw_bytes: usize = sample.iter().map(|record| record.len()).sum();
    let mut bytes_with = |codec: BlockCodecId| {
        let opened = coder.codec(codec, codec.default_level())?;
        Ok::<_, DeviceStorageError>(estimated_bytes(
            opened.as_mut(),
            sample,
            gain,
            SAMPLED_RECORDS,
        ))
    };
    let (lz4, zstd) = (
        bytes_with(BlockCodecId::Lz4)?,
        bytes_with(BlockCodecId::Zstd)?,
    );
    let limit = gain.limit(raw_bytes);
    let codec = if lz4.min(zstd) > limit {
        BlockCodecId::None
    } else if zstd <= lz4 - lz4 / 8 {
        BlockCodecId::Zstd
    } else {
        BlockCodecId::Lz4
    };
    Ok((codec, codec.default_level()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(record: &[u8]) -> BlockCodecId {
        let sample = [record; SAMPLED_RECORDS];
        let mut coder = RecordCoder::default();
        measured_codec(&mut coder, &sample, MinimumGain::EIGHTH)
            .unwrap()
            .0
    }

    #[test]
    fn the_sample_decides() {
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u8
        };
        let noise: Vec<u8> = (0..8192).map(|_| random()).collect();
        assert_eq!(chosen(&noise), BlockCodecId::None);
        // Digits have no repeats and 3.3 bits each: only entropy coding helps.
        let digits: Vec<u8> = (0..8192).map(|_| b'0' + random() % 10).collect();
        assert_eq!(chosen(&digits), BlockCodecId::Zstd);
        // Noise twice: both find the repeat, and nothing else.
        let twice = [&noise[..4096], &noise[..4096]].concat();
        assert_eq!(chosen(&twice), BlockCodecId::Lz4);
    }

    #[test]
    fn a_file_is_measured_again_when_it_has_doubled() {
        let mut space = FileSpace::default();
        assert!(should_measure(&space));
        space.measured = Some((BlockCodecId::Lz4, 1, 100));
        space.written = 199;
        assert!(!should_measure(&space));
        space.written = 200;
        assert!(should_measure(&space));
    }
}
