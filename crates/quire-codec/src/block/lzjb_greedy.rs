//! The format of [`super::lzjb`], searched as ZFS does, to repeat what paper 5 measures.
//!
//! Greedy: one table with the last place of each hash of three bytes, looked at and changed once an item; a match
//! is taken as it is found, and its inner positions are not remembered. The table has 1,024 places, and distances are
//! taken modulo 1,024, so that an old place may still be compared. No match begins in the last 65 bytes.

use super::lzjb::{DISTANCE_MAX, Lzjb, LzjbWriter, MATCH_BYTES_MAX, Match, equal_bytes};
use super::{BlockCodec, BlockCodecId, block_bounds};
use crate::Corrupt;

const MATCH_BYTES_MIN: usize = 3;
const HASH_BITS: u32 = 10;

/// The codec with its table of hashes.
#[derive(Clone, Debug)]
pub(super) struct LzjbGreedy {
    /// Position of the last three bytes of each hash, modulo 65,536.
    last: Box<[u16; 1 << HASH_BITS]>,
    reader: Lzjb,
}

impl Default for LzjbGreedy {
    fn default() -> Self {
        Self {
            last: Box::new([0; 1 << HASH_BITS]),
            reader: Lzjb::default(),
        }
    }
}

impl BlockCodec for LzjbGreedy {
    fn id(&self) -> BlockCodecId {
        BlockCodecId::Lzjb
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        let mut writer = LzjbWriter::new(block_bounds(input, output, limit)?);
        self.last.fill(0);
        let (mut position, mut anchor) = (0, 0);
        while position + MATCH_BYTES_MAX <= input.len() {
            let Some(found) = self.search(input, position) else {
                position += 1;
                continue;
            };
            writer.literals(input, anchor..position)?;
            writer.found(found)?;
            position += found.bytes;
            anchor = position;
            if !writer.has_room_for(input.len() - position) {
                return None;
            }
        }
        writer.literals(input, anchor..input.len())?;
        Some(writer.written)
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
        self.reader.decompress(input, output)
    }
}

impl LzjbGreedy {
    /// The match at `position`, which is remembered.
    #[inline]
    fn search(&mut self, input: &[u8], position: usize) -> Option<Match> {
        let later = &input[position..];
        let slot = &mut self.last[hash(*later.first_chunk::<3>()?)];
        let distance = usize::from((position as u16).wrapping_sub(*slot)) & DISTANCE_MAX;
        *slot = position as u16;
        if distance == 0 || distance > position {
            return None;
        }
        let bytes = equal_bytes(&input[position - distance..], later);
        (bytes >= MATCH_BYTES_MIN).then_some(Match { bytes, distance })
    }
}

/// A number below the length of the table.
#[inline]
fn hash(three: [u8; 3]) -> usize {
    let number = u32::from_be_bytes([0, three[0], three[1], three[2]]);
    (number.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}
