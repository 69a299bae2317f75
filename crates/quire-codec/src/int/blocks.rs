//! Integers in blocks of 8,192, each compressed with zstd: for what repeats at a distance.
//!
//! Rows that come in rounds (the same hundred provinces every day) have codes that no frame of reference can narrow,
//! but that a window of the last few thousand sees again and again. Blocks are as long as what a scan reads at a time,
//! so nothing is decompressed in vain.
//!
//! | size | field |
//! |---|---|
//! | 4 · ⌈values / 8,192⌉ | size of each block |
//! | … | the blocks: one zstd frame each, without magic number and content size |
//!
//! A block holds the first bytes of all its values, then all second bytes, and so on: the high bytes of small numbers
//! cost nothing. The raw size of a block is never taken from its bytes.

use super::element::Element;
use crate::{Corrupt, ImageCursor, VECTOR_VALUES};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use zstd::bulk::{Compressor, Decompressor};

/// Values of a block.
const BLOCK_VALUES: usize = 8 * VECTOR_VALUES;
const LEVEL: i32 = 3;

/// The quickest level, to see whether it is worth the other.
const PROBE_LEVEL: i32 = 1;

/// That level may need this many per cent of what the other may.
const PROBE_PERCENT: usize = 115;

/// Compressed integers must take at most this part of what they take packed: they are slower to decode.
const SHARE_MAX: (usize, usize) = (3, 4);

/// Fewer are not worth a frame.
const VALUES_MIN: usize = 256;

thread_local! {
    // A context is some hundred kilobytes; one serves all columns of a thread.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The blocks of `values`, if they take so much less than `packed_bytes` that it pays. What the first block says is
/// believed, so that what does not compress costs little.
pub(super) fn encode<E: Element>(values: &[E], packed_bytes: usize) -> Option<Vec<u8>> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let limit = |bytes: usize| bytes / SHARE_MAX.1 * SHARE_MAX.0;
    let mut out = vec![0; 4 * values.len().div_ceil(BLOCK_VALUES)];
    let mut planes = Vec::new();
    for (index, block) in values.chunks(BLOCK_VALUES).enumerate() {
        split(block, &mut planes);
        // Packed sizes are nearly even over the blocks.
        let share = packed_bytes * block.len() / values.len();
        if index == 0 && compress(&planes, PROBE_LEVEL)?.len() > limit(share) * PROBE_PERCENT / 100
        {
            return None;
        }
        let frame = compress(&planes, LEVEL)?;
        out[4 * index..4 * index + 4].copy_from_slice(&(frame.len() as u32).to_le_bytes());
        out.extend_from_slice(&frame);
        if index == 0 && frame.len() > limit(share) {
            return None;
        }
    }
    (out.len() <= limit(packed_bytes)).then_some(out)
}

fn compress(raw: &[u8], level: i32) -> Option<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => {
                let mut fresh = Compressor::new(LEVEL).ok()?;
                fresh.include_magicbytes(false).ok()?;
                fresh.include_contentsize(false).ok()?;
                fresh.include_checksum(false).ok()?;
                slot.insert(fresh)
            }
        };
        compressor.set_compression_level(level).ok()?;
        compressor.compress(raw).ok()
    })
}

fn decompress(frame: &[u8], raw: &mut [u8]) -> std::io::Result<usize> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => {
                let mut fresh = Decompressor::new()?;
                fresh.include_magicbytes(false)?;
                slot.insert(fresh)
            }
        };
        decompressor.decompress_to_buffer(frame, raw)
    })
}

/// Byte `i` of every value, for each `i` in turn.
fn split<E: Element>(values: &[E], planes: &mut Vec<u8>) {
    let mut bytes = Vec::with_capacity(values.len() * E::BYTES);
    values.iter().for_each(|value| value.append(&mut bytes));
    planes.clear();
    planes.resize(bytes.len(), 0);
    for (index, plane) in planes.chunks_exact_mut(values.len()).enumerate() {
        for (byte, value) in plane.iter_mut().zip(bytes.chunks_exact(E::BYTES)) {
            *byte = value[index];
        }
    }
}

/// Undoes [`split`].
fn join<E: Element>(planes: &[u8], values: &mut [E]) {
    let mut bytes = vec![0; planes.len()];
    for (index, plane) in planes.chunks_exact(values.len()).enumerate() {
        for (byte, value) in plane.iter().zip(bytes.chunks_exact_mut(E::BYTES)) {
            value[index] = *byte;
        }
    }
    E::read_all(&bytes, values);
}

/// Open blocks. Keeps the one that was decompressed last.
#[derive(Clone, Debug)]
pub(super) struct IntBlocks<E> {
    image: Arc<[u8]>,
    /// Where each block is in the image.
    places: Vec<Range<usize>>,
    length: usize,
    held: RefCell<(Option<usize>, Vec<E>)>,
}

impl<E: Element> IntBlocks<E> {
    /// Opens the blocks of `length` values in `image[range]`. The caller bounds the length.
    pub(super) fn open(
        image: Arc<[u8]>,
        range: Range<usize>,
        length: usize,
    ) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(&image, range)?;
        let mut sizes = Vec::new();
        for _ in 0..length.div_ceil(BLOCK_VALUES) {
            sizes.push(cursor.u32("size of a block")? as usize);
        }
        let mut places = Vec::with_capacity(sizes.len());
        for size in sizes {
            places.push(cursor.take(size, "block of integers")?);
        }
        cursor.finish("blocks of integers")?;
        Ok(Self {
            image,
            places,
            length,
            held: RefCell::new((None, Vec::new())),
        })
    }

    /// Copies the values of a vector and returns their number.
    pub(super) fn decode_vector(
        &self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let start = vector * VECTOR_VALUES;
        self.with_block(start / BLOCK_VALUES, |values| {
            let rest = values.get(start % BLOCK_VALUES..).unwrap_or_default();
            let count = rest.len().min(VECTOR_VALUES);
            out[..count].copy_from_slice(&rest[..count]);
            count
        })
    }

    /// The value at `index`.
    pub(super) fn value(&self, index: usize) -> Result<E, Corrupt> {
        let value = self.with_block(index / BLOCK_VALUES, |values| {
            values.get(index % BLOCK_VALUES).copied()
        })?;
        value.ok_or_else(|| Corrupt::new("value is beyond its sequence", 0))
    }

    fn with_block<R>(&self, index: usize, read: impl FnOnce(&[E]) -> R) -> Result<R, Corrupt> {
        let mut held = self.held.borrow_mut();
        let (held_index, values) = &mut *held;
        if *held_index != Some(index) {
            *held_index = None;
            self.decompress(index, values)?;
            *held_index = Some(index);
        }
        Ok(read(values))
    }

    fn decompress(&self, index: usize, values: &mut Vec<E>) -> Result<(), Corrupt> {
        let place = self.places.get(index).cloned();
        let place = place.ok_or_else(|| Corrupt::new("vector is beyond its sequence", 0))?;
        let offset = place.start;
        let frame = self.image.get(place).unwrap_or_default();
        let count = (self.length - index * BLOCK_VALUES).min(BLOCK_VALUES);
        let mut planes = vec![0; count * E::BYTES];
        match decompress(frame, &mut planes) {
            Ok(written) if written == planes.len() => {}
            _ => {
                let what = format!("block {index} of integers does not decompress to its size");
                return Err(Corrupt::new(what, offset));
            }
        }
        values.resize(count, E::default());
        join(&planes, values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Rounds of 107 codes in no order, 20,000 of them: three blocks, the last not full.
    fn rounds() -> Vec<i32> {
        let round: Vec<i32> = (0..107).map(|place| place * 61 % 107).collect();
        round.iter().copied().cycle().take(20_000).collect()
    }

    fn opened<E: Element>(payload: &[u8], length: usize) -> Result<IntBlocks<E>, Corrupt> {
        IntBlocks::open(payload.into(), 0..payload.len(), length)
    }

    #[test]
    fn rounds_are_small_and_come_back() {
        let values = rounds();
        // 7 bits a value, packed.
        let payload = encode(&values, 20_000 * 7 / 8).unwrap();
        assert!(payload.len() < 1_500, "{}", payload.len());
        let blocks = opened::<i32>(&payload, values.len()).unwrap();
        let mut out = [0; VECTOR_VALUES];
        for vector in [19, 0, 7, 8, 3] {
            let count = blocks.decode_vector(vector, &mut out).unwrap();
            let start = vector * VECTOR_VALUES;
            assert_eq!(
                out[..count],
                values[start..values.len().min(start + VECTOR_VALUES)]
            );
        }
        for index in [0, 8_191, 8_192, 19_999] {
            assert_eq!(blocks.value(index).unwrap(), values[index]);
        }
        assert!(blocks.value(20_000).is_err());
        assert!(blocks.decode_vector(24, &mut out).is_err());
    }

    #[test]
    fn wide_values_come_back() {
        let values: Vec<i128> = (0..9_000)
            .map(|row| (row % 13) << 100 | -(row % 7))
            .collect();
        let payload = encode(&values, 9_000 * 16).unwrap();
        let blocks = opened::<i128>(&payload, values.len()).unwrap();
        assert_eq!(blocks.value(8_999).unwrap(), values[8_999]);
        assert_eq!(blocks.value(1).unwrap(), values[1]);
    }

    #[test]
    fn what_does_not_repeat_or_is_little_stays_packed() {
        // The multiples of the golden ratio alone would come in rounds.
        let scrambled = |row: u64| {
            let once = (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((once ^ once >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 57) as i32
        };
        let values: Vec<i32> = (0..20_000).map(scrambled).collect();
        assert_eq!(encode(&values, 20_000 * 7 / 8), None);
        assert_eq!(encode(&[5; VALUES_MIN - 1], 1_000_000), None);
    }

    #[test]
    fn damage_is_noticed_or_gives_other_values() {
        let values = rounds();
        let payload = encode(&values, 20_000 * 7 / 8).unwrap();
        for cut in 0..payload.len() {
            assert!(
                opened::<i32>(&payload[..cut], values.len()).is_err(),
                "{cut}"
            );
        }
        for bit in 0..payload.len() * 8 {
            let mut damaged = payload.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Ok(blocks) = opened::<i32>(&damaged, values.len()) else {
                continue;
            };
            let mut out = [0; VECTOR_VALUES];
            for vector in 0..20 {
                // Any values will do; a panic will not.
                if blocks.decode_vector(vector, &mut out).is_err() {
                    break;
                }
            }
        }
    }
}
