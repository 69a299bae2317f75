//! Dictionaries for zstd, learnt from samples of the blocks.
//!
//! Follows K. Liao, M. Petri, A. Moffat, A. Wirth, *Effective Construction of Relative Lempel-Ziv
//! Dictionaries* (WWW 2016): the samples are cut into as many epochs as the dictionary has segments, and each
//! epoch gives the segment that covers the most eight-byte strings which are frequent in the samples and not
//! in the dictionary yet. Several lengths of segment are tried on samples that were kept aside.

use super::dictionary::{DICTIONARY_BYTES_MAX, STRING_BYTES, ZstdDictionary};
use super::{BlockCodec, zstd_frame::Zstd};

/// What zstd takes a dictionary with entropy tables by; ours are content only.
const FORMATTED: [u8; 4] = 0xEC30_A437u32.to_le_bytes();
const HASH_BITS: u32 = 20;
const SEGMENT_BYTES: [usize; 3] = [64, 256, 1024];
/// One sample in this many is kept aside to judge by.
const JUDGED: usize = 8;
const TRAINING_BYTES_MAX: usize = 16 << 20;
const TRIAL_LEVEL: i32 = 3;

impl ZstdDictionary {
    /// Learns a dictionary of at most `dictionary_bytes` from samples, each a typical block; a hundred times as
    /// many bytes of samples as of dictionary are enough. Samples beyond 16 MiB are not looked at. `None` when
    /// the samples that were kept aside are not smaller with it, the dictionary itself not counted.
    pub fn train(samples: &[&[u8]], dictionary_bytes: usize) -> Option<Self> {
        let dictionary_bytes = dictionary_bytes.min(DICTIONARY_BYTES_MAX);
        let (mut learnt, mut judged, mut total) = (Vec::new(), Vec::new(), 0);
        for (index, &sample) in samples.iter().enumerate() {
            total += sample.len();
            if total > TRAINING_BYTES_MAX {
                break;
            }
            if index % JUDGED == JUDGED - 1 {
                judged.push(sample);
            } else {
                learnt.push(sample);
            }
        }
        let strings = SampleStrings::count(&learnt);
        let candidates = SEGMENT_BYTES.iter().filter_map(|&segment_bytes| {
            let bytes = strings.clone().select(segment_bytes, dictionary_bytes);
            let dictionary = Self::from_bytes(bytes).ok()?;
            let size = compressed_bytes(&judged, Some(dictionary.clone()))?;
            Some((size, dictionary))
        });
        let (size, best) = candidates.min_by_key(|(size, _)| *size)?;
        (size < compressed_bytes(&judged, None)?).then_some(best)
    }
}

/// What the blocks take together; those that do not shrink count as they are.
fn compressed_bytes(blocks: &[&[u8]], dictionary: Option<ZstdDictionary>) -> Option<usize> {
    let mut codec = Zstd::new(TRIAL_LEVEL, dictionary).ok()?;
    let mut output = Vec::new();
    let sizes = blocks.iter().map(|block| {
        output.resize(block.len(), 0);
        let compressed = codec.compress(block, &mut output, block.len());
        compressed.unwrap_or(block.len())
    });
    Some(sizes.sum())
}

/// The samples laid end to end, and in how many of them each string of eight bytes occurs.
#[derive(Clone)]
struct SampleStrings {
    text: Vec<u8>,
    /// By hash. One less than the samples the string occurs in; 0 once it is in the dictionary.
    others: Vec<u32>,
}

fn hash(string: &[u8; STRING_BYTES]) -> usize {
    let mixed = u64::from_le_bytes(*string).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - HASH_BITS)) as usize
}

impl SampleStrings {
    fn count(samples: &[&[u8]]) -> Self {
        let mut text = Vec::new();
        let mut seen_in = vec![0u32; 1 << HASH_BITS];
        let mut occurrences = vec![0u32; 1 << HASH_BITS];
        for (number, sample) in (1..).zip(samples) {
            text.extend_from_slice(sample);
            for string in sample.array_windows() {
                let slot = hash(string);
                if seen_in[slot] != number {
                    seen_in[slot] = number;
                    occurrences[slot] += 1;
                }
            }
        }
        let others = occurrences
            .into_iter()
            .map(|count| count.saturating_sub(1))
            .collect();
        Self { text, others }
    }

    /// The best segments, as many as fit, the most useful last: zstd reaches the end of a dictionary with the
    /// shortest codes.
    fn select(mut self, segment_bytes: usize, dictionary_bytes: usize) -> Vec<u8> {
        let wanted = dictionary_bytes / segment_bytes;
        let epochs = wanted.min(self.text.len() / (2 * segment_bytes)).max(1);
        let epoch_bytes = self.text.len() / epochs;
        let mut in_window = vec![0u16; 1 << HASH_BITS];
        let mut chosen: Vec<(u64, usize)> = Vec::new();
        while chosen.len() < wanted {
            let before = chosen.len();
            for epoch in 0..epochs.min(wanted - before) {
                let start = epoch * epoch_bytes;
                let best =
                    self.best_segment(start, start + epoch_bytes, segment_bytes, &mut in_window);
                if best.0 > 0 {
                    self.forget(best.1, segment_bytes);
                    chosen.push(best);
                }
            }
            if chosen.len() == before {
                break;
            }
        }
        chosen.sort();
        let segments = chosen
            .iter()
            .map(|&(_, at)| &self.text[at..at + segment_bytes]);
        let content = segments.collect::<Vec<_>>().concat();
        if content.starts_with(&FORMATTED) {
            return content[1..].to_vec();
        }
        content
    }

    /// Score and place of the segment of `start..end` whose different strings occur in the most samples.
    fn best_segment(
        &self,
        start: usize,
        end: usize,
        segment_bytes: usize,
        in_window: &mut [u16],
    ) -> (u64, usize) {
        let slots: Vec<usize> = self.text[start..end].array_windows().map(hash).collect();
        let window = segment_bytes - STRING_BYTES + 1;
        let (mut score, mut best) = (0u64, (0, start));
        for (index, &slot) in slots.iter().enumerate() {
            if in_window[slot] == 0 {
                score += u64::from(self.others[slot]);
            }
            in_window[slot] += 1;
            if let Some(left) = index.checked_sub(window) {
                let gone = slots[left];
                in_window[gone] -= 1;
                if in_window[gone] == 0 {
                    score -= u64::from(self.others[gone]);
                }
            }
            if index + 1 >= window && score > best.0 {
                best = (score, start + index + 1 - window);
            }
        }
        for slot in slots {
            in_window[slot] = 0;
        }
        best
    }

    fn forget(&mut self, start: usize, segment_bytes: usize) {
        for string in self.text[start..start + segment_bytes].array_windows() {
            self.others[hash(string)] = 0;
        }
    }
}
