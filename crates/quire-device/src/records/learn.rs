//! Dictionaries: what the records of a file have in common, so that none has to say it again.
//!
//! A record is compressed by itself, so it repeats what the others have said. With `auto` and zstd, a dictionary is learnt from the records of a
//! file that are to be written, if there are enough of them. It is kept if it saves its own bytes and 1/64 of what the records take
//! without it, judged by the records of the measured sample, which it has not seen. Another one is learnt when eight times as
//! many records have been written, and takes the place of the first for what is written from then on. ZFS has no dictionaries;
//! those of row tables ([`quire_store`]'s pool) follow the same rules.

use quire_codec::block::ZstdDictionary;
use quire_format::data_set::FileSpace;

use super::coder::RecordCodec;
use super::measure::{SAMPLED_RECORDS, SampledCodec};

/// Dictionaries of one file. One that has so many keeps its newest.
const DICTIONARIES_MAX: u32 = 8;
/// Longest dictionary. Twice as much saves 1 % more of lineitem in records of 128 KiB.
const DICTIONARY_BYTES_MAX: usize = 112 << 10;
/// A dictionary is no longer than this part of what it is learnt for.
const DICTIONARY_SHARE: usize = 64;
/// Highest level of zstd with a dictionary. On lineitem in records of 128 KiB, level 8 with one is as fast as level 9 without (35 and 38 MB/s)
/// and saves 4 % more; level 9 with one saves another 2 %, and takes a third longer.
const LEVEL_MAX: i32 = 8;
/// A dictionary is learnt from at most so many bytes: that takes a fifth of a second.
const LEARNT_BYTES_MAX: usize = 4 << 20;

/// The records of a file that are to be written.
pub(crate) struct RecordSample<'a> {
    /// From all parts of the file: the beginning is often unlike the rest.
    pub(crate) measured: Vec<&'a [u8]>,
    others: Vec<&'a [u8]>,
    /// All together.
    bytes: usize,
}

impl<'a> RecordSample<'a> {
    pub(crate) fn of(records: &[&'a [u8]]) -> Self {
        let step = records.len().div_ceil(SAMPLED_RECORDS).max(1);
        let mut sample = Self {
            measured: Vec::new(),
            others: Vec::new(),
            bytes: records.iter().map(|record| record.len()).sum(),
        };
        for (index, record) in records.iter().enumerate() {
            let is_measured = index.is_multiple_of(step);
            let part = if is_measured {
                &mut sample.measured
            } else {
                &mut sample.others
            };
            part.push(record);
        }
        sample
    }
}

/// Whether a dictionary is to be learnt from records of a file, which has been measured, before they are written.
pub(crate) fn should_learn(
    space: &FileSpace,
    sample: &RecordSample<'_>,
    from_bytes: usize,
) -> bool {
    let known = space.dictionaries;
    let is_unlike = known.count == 0 || space.written >= known.trained_at.saturating_mul(8);
    known.count < DICTIONARIES_MAX && is_unlike && sample.bytes >= from_bytes
}

/// A dictionary without a name, learnt from the records that are not measured. `None` if it would be of no use.
pub(crate) fn learnt_dictionary(sample: &RecordSample<'_>) -> Option<ZstdDictionary> {
    let dictionary_bytes = (sample.bytes / DICTIONARY_SHARE).min(DICTIONARY_BYTES_MAX);
    let step = sample.bytes.div_ceil(LEARNT_BYTES_MAX).max(1);
    let learnt: Vec<&[u8]> = sample.others.iter().copied().step_by(step).collect();
    ZstdDictionary::train(&learnt, dictionary_bytes)
}

/// The codec for records that have a dictionary, where `plain` is the best without.
pub(crate) fn with_dictionary(plain: &RecordCodec, dictionary: ZstdDictionary) -> RecordCodec {
    RecordCodec {
        level: plain.level.min(LEVEL_MAX),
        ..plain.with_dictionary(Some(dictionary))
    }
}

/// Whether `with`, of which the dictionary takes `added_bytes` that are not stored yet, is better than `without`.
pub(crate) fn pays(
    without: &SampledCodec,
    with: &SampledCodec,
    added_bytes: usize,
    sample: &RecordSample<'_>,
) -> bool {
    let measured_bytes: usize = sample.measured.iter().map(|record| record.len()).sum();
    let (before, after) = (without.sample_bytes, with.sample_bytes);
    let wanted = before - before / 64;
    // The sample stands for all records.
    let saved = wanted.saturating_sub(after) as u128 * sample.bytes as u128;
    after <= wanted && saved >= added_bytes as u128 * measured_bytes as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::records::RecordCoder;
    use quire_codec::block::{BlockCodecId, MinimumGain};
    use quire_format::data_set::FileDictionaries;

    /// Records that repeat in other records, and hardly in themselves.
    fn records(count: usize) -> Vec<Vec<u8>> {
        let mut random = Random(5);
        let mut phrase =
            |_| -> Vec<u8> { (0..24).map(|_| b'a' + random.below(26) as u8).collect() };
        let phrases: Vec<Vec<u8>> = (0..64).map(&mut phrase).collect();
        let step = |record: usize, part: usize| (record * 7 + part * 11) % phrases.len();
        let record = |record: usize| {
            let parts = (0..16).flat_map(|part| phrases[step(record, part)].iter().copied());
            parts.chain(record.to_le_bytes()).collect()
        };
        (0..count).map(record).collect()
    }

    #[test]
    fn a_dictionary_that_saves_more_than_it_takes_is_worth_it() {
        let records = records(1_000);
        let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        let sample = RecordSample::of(&records);
        assert_eq!(sample.measured.len(), SAMPLED_RECORDS);
        assert_eq!(sample.measured.len() + sample.others.len(), 1_000);
        let dictionary = learnt_dictionary(&sample).unwrap();
        assert!(dictionary.bytes().len() <= sample.bytes / DICTIONARY_SHARE);
        let without = RecordCodec::new(BlockCodecId::Zstd, 3);
        let added_bytes = dictionary.bytes().len();
        let with = without.with_dictionary(Some(dictionary.with_id(16)));
        let mut coder = RecordCoder::default();
        let [without, with] = [without, with].map(|codec| {
            let gain = MinimumGain::EIGHTH;
            SampledCodec::measure(&mut coder, codec, &sample.measured, gain).unwrap()
        });
        assert!(pays(&without, &with, added_bytes, &sample));
        assert!(!pays(&without, &with, sample.bytes, &sample));
        // The other way round it is worse, and it is not better than itself.
        assert!(!pays(&with, &without, 0, &sample));
        assert!(!pays(&with, &with, 0, &sample));
    }

    #[test]
    fn one_is_learnt_from_enough_records_and_again_when_there_are_eight_times_as_many() {
        let records = records(100);
        let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        let sample = RecordSample::of(&records);
        let mut space = FileSpace::default();
        assert!(should_learn(&space, &sample, sample.bytes));
        assert!(!should_learn(&space, &sample, sample.bytes + 1));
        space.dictionaries = FileDictionaries {
            count: 1,
            trained_at: 100,
        };
        for (written, count, is_expected) in [(799, 1, false), (800, 1, true), (800, 8, false)] {
            space.written = written;
            space.dictionaries.count = count;
            assert_eq!(should_learn(&space, &sample, 0), is_expected, "{written}");
        }
    }

    #[test]
    fn nothing_is_learnt_from_noise() {
        let mut random = Random(9);
        let noise: Vec<Vec<u8>> = (0..100).map(|_| random.bytes(1000)).collect();
        let noise: Vec<&[u8]> = noise.iter().map(Vec::as_slice).collect();
        assert_eq!(learnt_dictionary(&RecordSample::of(&noise)), None);
        assert_eq!(learnt_dictionary(&RecordSample::of(&noise[..1])), None);
        assert_eq!(learnt_dictionary(&RecordSample::of(&[])), None);
    }
}
