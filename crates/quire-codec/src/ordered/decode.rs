//! Keys become strings again.

use super::OrderedCode;
use super::code::CODE_BITS_MAX;
use super::intervals::{SYMBOL_BYTES_MAX, point_of};
use crate::Corrupt;

/// Bytes of room that are made for symbols at a time.
const ROOM_BYTES: usize = 64;

impl OrderedCode {
    /// Appends the string that `key` was encoded from. A byte of `key` stands for at most 64.
    ///
    /// # Errors
    /// [`Corrupt`] when `key` has bits that are no code; `out` is then as it was. Other wrong keys give another
    /// string: keys carry no checksum.
    pub fn decode(&self, key: &[u8], out: &mut Vec<u8>) -> Result<(), Corrupt> {
        let start = out.len();
        match self.append(key, out) {
            Ok(end) => {
                out.truncate(end);
                Ok(())
            }
            Err(corrupt) => {
                out.truncate(start);
                Err(corrupt)
            }
        }
    }

    /// Writes the string after the end of `out`, and anything after that; returns where the string ends.
    fn append(&self, key: &[u8], out: &mut Vec<u8>) -> Result<usize, Corrupt> {
        let mut end = out.len();
        let (mut bit, bit_count) = (0, 8 * key.len());
        loop {
            let rest = key.get(bit / 8..).unwrap_or_default();
            let bits = point_of(rest) << (bit % 8);
            let left = bit_count - bit;
            if left < 8 && bits == 0 {
                return Ok(end);
            }
            let leaf = self.leaf_of_code((bits >> (u64::BITS - CODE_BITS_MAX)) as u32);
            let Some(leaf) = leaf.filter(|leaf| usize::from(leaf.code_bits) <= left) else {
                return Err(Corrupt::new("key has bits that are no code", bit / 8));
            };
            if out.len() < end + SYMBOL_BYTES_MAX {
                out.resize(end + ROOM_BYTES, 0);
            }
            if let Some(room) = out.get_mut(end..).and_then(<[u8]>::first_chunk_mut) {
                *room = leaf.text;
            }
            end += usize::from(leaf.symbol_bytes);
            bit += usize::from(leaf.code_bits);
        }
    }
}
