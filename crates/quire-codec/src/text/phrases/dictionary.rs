//! The phrases as they are stored, and as they are looked up.

use super::{PHRASE_BYTES_MAX, Phrase};
use crate::text::section;
use crate::{Corrupt, ImageCursor};

/// Bytes of the raw section: a number, and a byte and a phrase for every code.
const RAW_BYTES_MAX: usize = 4 + (1 << 16) * (1 + PHRASE_BYTES_MAX);

/// Appends the section of `phrases`, which ascend.
pub(super) fn write(phrases: &[Phrase], out: &mut Vec<u8>) {
    let mut raw = (phrases.len() as u32).to_le_bytes().to_vec();
    let mut suffixes = Vec::new();
    let mut before: &[u8] = &[];
    for phrase in phrases {
        let bytes = phrase.bytes();
        assert!(before < bytes, "phrases ascend");
        let pairs = before.iter().zip(bytes);
        let shared = pairs.take_while(|(left, right)| left == right).count();
        raw.push(shared as u8 | ((bytes.len() - shared - 1) as u8) << 4);
        suffixes.extend_from_slice(&bytes[shared..]);
        before = bytes;
    }
    raw.extend_from_slice(&suffixes);
    section::write(&raw, out);
}

/// Phrases padded to 16 bytes, one for every code of the width; those that stand for none have length 0.
pub(super) struct PhraseTable {
    phrases: Vec<[u8; PHRASE_BYTES_MAX]>,
    lengths: Vec<u8>,
}

impl PhraseTable {
    /// Reads a section written by [`write()`], of at most 2 to the `width` phrases.
    pub(super) fn read(cursor: &mut ImageCursor<'_>, width: u8) -> Result<Self, Corrupt> {
        let offset = cursor.position();
        let raw = section::read(cursor, RAW_BYTES_MAX, "phrases")?;
        Self::parse(&raw, width).map_err(|error| Corrupt { offset, ..error })
    }

    fn parse(raw: &[u8], width: u8) -> Result<Self, Corrupt> {
        let codes = 1usize << width;
        let mut cursor = ImageCursor::new(raw, 0..raw.len())?;
        let count = cursor.u32("number of phrases")? as usize;
        if count > codes {
            return Err(cursor.corrupt("more phrases than codes"));
        }
        let heads = cursor.bytes(count, "heads of phrases")?;
        let mut phrases = vec![[0; PHRASE_BYTES_MAX]; codes];
        let mut lengths = vec![0u8; codes];
        let (mut before, mut before_bytes) = ([0; PHRASE_BYTES_MAX], 0);
        for (code, head) in heads.iter().enumerate() {
            let (shared, others) = (usize::from(head & 15), usize::from(head >> 4) + 1);
            let bytes = cursor.bytes(others, "phrase")?;
            if shared > before_bytes || shared + others > PHRASE_BYTES_MAX {
                return Err(cursor.corrupt("phrase of more than 16 bytes"));
            }
            let mut phrase = [0; PHRASE_BYTES_MAX];
            phrase[..shared].copy_from_slice(&before[..shared]);
            phrase[shared..shared + others].copy_from_slice(bytes);
            let length = shared + others;
            if code > 0 && before[..before_bytes] >= phrase[..length] {
                return Err(cursor.corrupt("phrases do not ascend"));
            }
            phrases[code] = phrase;
            lengths[code] = length as u8;
            (before, before_bytes) = (phrase, length);
        }
        cursor.finish("phrases")?;
        Ok(Self { phrases, lengths })
    }

    /// Bytes that `codes` stand for together; `None` if a code stands for nothing.
    pub(super) fn text_bytes(&self, codes: &[u32]) -> Option<usize> {
        let (mut bytes, mut shortest) = (0usize, u8::MAX);
        for code in codes {
            let length = self.lengths.get(*code as usize).copied().unwrap_or(0);
            bytes += usize::from(length);
            shortest = shortest.min(length);
        }
        (shortest > 0).then_some(bytes)
    }

    /// Copies the phrases of `codes` to `text[end..]`, 16 bytes each, and returns where they end. The codes must
    /// have passed [`Self::text_bytes`], and `text` must have 16 bytes more than they need.
    #[inline]
    pub(super) fn copy(&self, codes: &[u32], end: usize, text: &mut [u8]) -> usize {
        let mut end = end;
        for code in codes {
            let code = *code as usize;
            text[end..end + PHRASE_BYTES_MAX].copy_from_slice(&self.phrases[code]);
            end += usize::from(self.lengths[code]);
        }
        end
    }
}
