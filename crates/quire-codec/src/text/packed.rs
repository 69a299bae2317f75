//! Small unsigned numbers, bit-packed vector by vector against a base.
//!
//! The codes of a dictionary and the lengths of strings are packed here and not in the transposed order
//! of [`crate::int::bitpack`], because that order costs a partial vector as much as a full one, and most
//! tables of a database are smaller than a vector.
//!
//! Layout, `v` = number of vectors (at most 128):
//!
//! | bytes | field |
//! |---|---|
//! | 1 | width of a base in bits, 0 to 32 |
//! | ⌈v · width / 8⌉ | bases: the smallest value of each vector |
//! | v | width of the packed values of each vector in bits, 0 to 32 |
//! | rest | for each vector ⌈rows · width / 8⌉ bytes: value − base, first value in the lowest bits |

use crate::{Corrupt, ImageCursor, VECTOR_VALUES, vector_count, vector_rows};
use std::ops::Range;

/// Widest number that can be packed, in bits.
const WIDTH_MAX: u8 = 32;

/// Bits that `value` needs.
pub(super) fn width_of(value: u32) -> u8 {
    (u32::BITS - value.leading_zeros()) as u8
}

/// Bytes that `count` numbers of `width` bits take.
pub(super) fn packed_bytes(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(8)
}

/// Appends `values − base` at `width` bits, lowest bits first.
pub(super) fn pack(values: &[u32], base: u32, width: u8, out: &mut Vec<u8>) {
    let (mut pending, mut pending_bits) = (0u64, 0u32);
    for &value in values {
        pending |= u64::from(value - base) << pending_bits;
        pending_bits += u32::from(width);
        if pending_bits >= 32 {
            out.extend_from_slice(&(pending as u32).to_le_bytes());
            pending >>= 32;
            pending_bits -= 32;
        }
    }
    let rest = pending_bits.div_ceil(8) as usize;
    out.extend_from_slice(&pending.to_le_bytes()[..rest]);
}

/// Eight bytes from `position`, zeros beyond the end.
fn load(packed: &[u8], position: usize) -> u64 {
    let mut word = [0u8; 8];
    let rest = packed.get(position..).unwrap_or_default();
    let length = rest.len().min(8);
    word[..length].copy_from_slice(&rest[..length]);
    u64::from_le_bytes(word)
}

/// Number `index` of those packed at `width` bits.
pub(super) fn unpack_one(packed: &[u8], width: u8, index: usize) -> u32 {
    let bit = index * usize::from(width);
    let word = load(packed, bit / 8) >> (bit % 8);
    (word & ((1u64 << width) - 1)) as u32
}

/// Unpacks as many values as `out` has room for, eight at a time: eight values fill `WIDTH` whole bytes,
/// so every shift below is a constant.
fn unpack_width<const WIDTH: usize>(packed: &[u8], base: u32, out: &mut [u32]) {
    let mask = (1u64 << WIDTH) - 1;
    let eights = out.len() / 8;
    // The last value of a group is loaded with eight bytes that may pass its end by at most 7.
    let safe = packed
        .len()
        .saturating_sub(7)
        .checked_div(WIDTH)
        .unwrap_or(eights)
        .min(eights);
    let (fast, slow) = out.split_at_mut(safe * 8);
    for (group, eight) in fast.chunks_exact_mut(8).enumerate() {
        let Some(bytes) = packed.get(group * WIDTH..group * WIDTH + WIDTH + 7) else {
            return;
        };
        for (lane, value) in eight.iter_mut().enumerate() {
            let bit = lane * WIDTH;
            let mut word = [0u8; 8];
            word.copy_from_slice(&bytes[bit / 8..bit / 8 + 8]);
            *value = base.wrapping_add(((u64::from_le_bytes(word) >> (bit % 8)) & mask) as u32);
        }
    }
    for (index, value) in slow.iter_mut().enumerate() {
        *value = base.wrapping_add(unpack_one(packed, WIDTH as u8, safe * 8 + index));
    }
}

/// Unpacks as many numbers of `width` bits as `out` has room for, and adds `base`, wrapping.
pub(super) fn unpack(packed: &[u8], width: u8, base: u32, out: &mut [u32]) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                0 => out.fill(base),
                $($width => unpack_width::<$width>(packed, base, out),)*
                _ => {}
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

/// Base and width of each vector.
fn frames(values: &[u32]) -> impl Iterator<Item = (u32, u8)> + '_ {
    values.chunks(VECTOR_VALUES).map(|vector| {
        let low = vector.iter().copied().min().unwrap_or(0);
        let high = vector.iter().copied().max().unwrap_or(0);
        (low, width_of(high - low))
    })
}

/// Appends `values`.
pub(super) fn write(values: &[u32], out: &mut Vec<u8>) {
    let frames: Vec<(u32, u8)> = frames(values).collect();
    let base_width = frames
        .iter()
        .map(|frame| width_of(frame.0))
        .max()
        .unwrap_or(0);
    out.push(base_width);
    let bases: Vec<u32> = frames.iter().map(|frame| frame.0).collect();
    pack(&bases, 0, base_width, out);
    out.extend(frames.iter().map(|frame| frame.1));
    for (vector, (base, width)) in values.chunks(VECTOR_VALUES).zip(frames) {
        pack(vector, base, width, out);
    }
}

/// Bytes that [`write()`] appends.
pub(super) fn written_bytes(values: &[u32]) -> usize {
    let vectors = vector_count(values.len());
    let base_width = frames(values)
        .map(|frame| width_of(frame.0))
        .max()
        .unwrap_or(0);
    let rows = values.chunks(VECTOR_VALUES).map(<[u32]>::len);
    let packed: usize = rows
        .zip(frames(values))
        .map(|(rows, frame)| packed_bytes(rows, frame.1))
        .sum();
    1 + packed_bytes(vectors, base_width) + vectors + packed
}

/// Where the packed numbers of one vector are.
#[derive(Clone, Debug)]
struct PackedFrame {
    base: u32,
    width: u8,
    range: Range<usize>,
}

/// Numbers written by [`write()`], within an image.
#[derive(Clone, Debug)]
pub(super) struct PackedNumbers {
    frames: Vec<PackedFrame>,
    count: usize,
}

impl PackedNumbers {
    /// Reads the directory of `count` numbers and skips the numbers.
    pub(super) fn open(cursor: &mut ImageCursor<'_>, count: usize) -> Result<Self, Corrupt> {
        let vectors = vector_count(count);
        let base_width = cursor.u8("width of the bases")?;
        if base_width > WIDTH_MAX {
            return Err(cursor.corrupt("bases are wider than 32 bits"));
        }
        let bases = cursor.bytes(packed_bytes(vectors, base_width), "bases of the vectors")?;
        let widths = cursor.bytes(vectors, "widths of the vectors")?;
        let mut frames = Vec::with_capacity(vectors);
        for (vector, &width) in widths.iter().enumerate() {
            if width > WIDTH_MAX {
                return Err(cursor.corrupt("packed numbers are wider than 32 bits"));
            }
            let bytes = packed_bytes(vector_rows(count, vector), width);
            let range = cursor.take(bytes, "packed numbers")?;
            frames.push(PackedFrame {
                base: unpack_one(bases, base_width, vector),
                width,
                range,
            });
        }
        Ok(Self { frames, count })
    }

    /// Numbers of vector `vector`; returns how many there are, 0 beyond the end. Numbers that would pass
    /// 32 bits wrap, so that what they mean must be checked by the caller.
    pub(super) fn unpack(
        &self,
        image: &[u8],
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> usize {
        let rows = vector_rows(self.count, vector);
        if let Some(frame) = self.frames.get(vector) {
            let packed = image.get(frame.range.clone()).unwrap_or_default();
            unpack(packed, frame.width, frame.base, &mut out[..rows]);
        }
        rows
    }

    /// All numbers; bounded by the count, which the caller bounds.
    pub(super) fn to_vec(&self, image: &[u8]) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.count);
        let mut vector_out = [0u32; VECTOR_VALUES];
        for vector in 0..self.frames.len() {
            let rows = self.unpack(image, vector, &mut vector_out);
            all.extend_from_slice(&vector_out[..rows]);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_come_back() {
        for width in 0..=32u32 {
            for count in [0usize, 1, 7, 8, 9, 1023, 1024, 1025, 2500] {
                let mask = ((1u64 << width) - 1) as u32;
                let mut state = 0x9e37_79b9_u32;
                let values: Vec<u32> = (0..count)
                    .map(|_| {
                        state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                        state.rotate_left(9) & mask
                    })
                    .collect();
                let mut image = Vec::new();
                write(&values, &mut image);
                assert_eq!(image.len(), written_bytes(&values));
                let mut cursor = ImageCursor::new(&image, 0..image.len()).unwrap();
                let numbers = PackedNumbers::open(&mut cursor, count).unwrap();
                cursor.finish("numbers").unwrap();
                assert_eq!(numbers.to_vec(&image), values);
            }
        }
    }

    #[test]
    fn layout_is_lowest_bits_first() {
        let mut image = Vec::new();
        write(&[10, 11, 13, 17], &mut image);
        // Base 10 in four bits, then 0, 1, 3 and 7 in three bits each.
        assert_eq!(image, [4, 10, 3, 0b1100_1000, 0b0000_1110]);
    }
}
