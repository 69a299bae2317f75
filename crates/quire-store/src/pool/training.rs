//! Which leaves a dictionary is learnt from, and whether it pays.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, ZstdDictionary, open};

use super::codec::PageCodec;

/// Leaves after which a dictionary is learnt for the first time.
const FIRST_LEAVES: u64 = 128;

/// It is learnt again when there are so many times as many.
const GROWTH: u64 = 8;

/// Leaves of a sample at most, and at least.
const SAMPLE_LEAVES: usize = 1_024;
const SAMPLE_LEAVES_MIN: usize = 64;

/// Bytes of a sample at most.
const SAMPLE_BYTES: usize = 8 << 20;

/// One leaf in so many is set aside to judge by.
const JUDGED: usize = 8;

/// The dictionary's share of its sample, its bytes for each leaf that there is, and its length at most.
const DICTIONARY_PARTS: usize = 16;
const DICTIONARY_LEAF_BYTES: u64 = 64;
const DICTIONARY_BYTES: u64 = 256 << 10;

/// The first dictionary must save one byte in so many of the images; a newer one, one in so many of what the one before left.
const GAIN_PARTS: usize = 64;
const NEWER_GAIN_PARTS: usize = 256;

/// And so many times its own bytes, on as many leaves as there have been.
const GAIN_DICTIONARIES: u64 = 2;

/// What has been seen of the leaves of a tree since the last training.
#[derive(Default)]
pub(super) struct TrainingSample {
    is_wanted: bool,
    seen_leaves: u64,
    /// Leaves at which the sample is complete.
    target_leaves: u64,
    leaves: Vec<SampledLeaf>,
    raw_bytes: usize,
    /// Hashed: the same leaf twice would be a dictionary of itself.
    first_keys: HashSet<u64>,
    hasher: RandomState,
}

struct SampledLeaf {
    raw: Vec<u8>,
    /// Bytes of the image besides what the codec made of `raw`.
    other_bytes: usize,
}

impl TrainingSample {
    /// Begins, if dictionaries are wanted at all. One that is there already is judged when there are more leaves.
    pub(super) fn begin(&mut self, is_wanted: bool, has_dictionary: bool) {
        self.is_wanted = is_wanted;
        self.target_leaves = if has_dictionary {
            FIRST_LEAVES * GROWTH
        } else {
            FIRST_LEAVES
        };
    }

    /// A leaf is about to be compressed: is it to be added? They are taken evenly from the later half of those up to the target.
    pub(super) fn note_leaf(&mut self) -> bool {
        self.seen_leaves += 1;
        let first = match self.target_leaves {
            FIRST_LEAVES => 0,
            target => target / 2,
        };
        let step = ((self.target_leaves - first) / SAMPLE_LEAVES as u64).max(1);
        let Some(behind) = self.seen_leaves.checked_sub(first + 1) else {
            return false;
        };
        self.is_wanted && behind % step == 0
    }

    /// Adds a leaf; returns the sample when it is complete, and begins the next.
    pub(super) fn add(
        &mut self,
        first_key: &[u8],
        raw: Vec<u8>,
        other_bytes: usize,
    ) -> Option<Self> {
        if !self.first_keys.insert(self.hasher.hash_one(first_key)) {
            return None;
        }
        self.raw_bytes += raw.len();
        self.leaves.push(SampledLeaf { raw, other_bytes });
        let is_full = self.leaves.len() >= SAMPLE_LEAVES || self.raw_bytes >= SAMPLE_BYTES;
        let is_due =
            self.leaves.len() >= SAMPLE_LEAVES_MIN && self.seen_leaves >= self.target_leaves;
        if !is_full && !is_due {
            return None;
        }
        let next = Self {
            is_wanted: self.is_wanted,
            seen_leaves: self.seen_leaves,
            target_leaves: self.target_leaves.saturating_mul(GROWTH),
            ..Self::default()
        };
        Some(std::mem::replace(self, next))
    }

    /// The dictionary that is better than the one before, if it is by enough.
    pub(super) fn train(
        &self,
        codec: PageCodec,
        before: Option<ZstdDictionary>,
    ) -> Option<ZstdDictionary> {
        let (mut learnt, mut judged) = (Vec::new(), Vec::new());
        for (number, leaf) in self.leaves.iter().enumerate() {
            match number % JUDGED {
                0 => judged.push(leaf),
                _ => learnt.push(leaf.raw.as_slice()),
            }
        }
        let bytes = DICTIONARY_BYTES.min(DICTIONARY_LEAF_BYTES * self.seen_leaves) as usize;
        let bytes = bytes.min(self.raw_bytes / DICTIONARY_PARTS);
        let dictionary = ZstdDictionary::train(&learnt, bytes)?;
        let gain_parts = match before {
            None => GAIN_PARTS,
            Some(_) => NEWER_GAIN_PARTS,
        };
        let size = |dictionary| image_bytes(&judged, codec, dictionary);
        let (without, with) = (size(before)?, size(Some(dictionary.clone()))?);
        let saved = without.checked_sub(with)?;
        let saved_in_all = saved as u64 * self.seen_leaves / judged.len().max(1) as u64;
        let pays = saved > without / gain_parts
            && saved_in_all > GAIN_DICTIONARIES * dictionary.bytes().len() as u64;
        pays.then_some(dictionary)
    }
}

/// Bytes of the images of these leaves.
fn image_bytes(
    leaves: &[&SampledLeaf],
    codec: PageCodec,
    dictionary: Option<ZstdDictionary>,
) -> Option<usize> {
    let options = BlockOptions {
        level: Some(codec.level()),
        dictionary,
    };
    let mut codec = open(codec.id(), &options).ok()?;
    let (mut total, mut room) = (0, Vec::new());
    for leaf in leaves {
        room.resize(leaf.raw.len(), 0);
        let bytes = codec.compress(&leaf.raw, &mut room, leaf.raw.len());
        total += leaf.other_bytes + bytes.unwrap_or(leaf.raw.len());
    }
    Some(total)
}

/// A codec that keeps what it was given last.
#[derive(Debug)]
pub(super) struct Recorder<'a> {
    codec: &'a mut dyn BlockCodec,
    pub(super) raw: Vec<u8>,
    pub(super) compressed_bytes: usize,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(codec: &'a mut dyn BlockCodec) -> Self {
        Self {
            codec,
            raw: Vec::new(),
            compressed_bytes: 0,
        }
    }
}

impl BlockCodec for Recorder<'_> {
    fn id(&self) -> BlockCodecId {
        self.codec.id()
    }

    fn dictionary_id(&self) -> u64 {
        self.codec.dictionary_id()
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        self.raw.clear();
        self.raw.extend_from_slice(input);
        let bytes = self.codec.compress(input, output, limit);
        self.compressed_bytes = bytes.unwrap_or(input.len());
        bytes
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), quire_codec::Corrupt> {
        self.codec.decompress(input, output)
    }
}
