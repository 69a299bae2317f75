//! Vectors of 1,024 small numbers at a fixed width, in FastLanes order.

use crate::kernel::bits;
use crate::{Corrupt, VECTOR_VALUES};

/// Bytes of 1,024 values packed at `width` bits.
pub const fn packed_bytes(width: usize) -> usize {
    VECTOR_VALUES / 8 * width
}

/// Bits needed for every value up to `highest`; 0 for 0.
pub const fn width_of(highest: u32) -> usize {
    (u32::BITS - highest.leading_zeros()) as usize
}

/// Appends `values` packed at `width` ≤ 32 bits, [`packed_bytes`] bytes. Higher bits are cut off, and a
/// width above 32 packs as 32.
pub fn pack_u32(width: usize, values: &[u32; VECTOR_VALUES], out: &mut Vec<u8>) {
    let width = width.min(32);
    let start = out.len();
    out.resize(start + packed_bytes(width), 0);
    bits::of_i32::pack(width, bytemuck::cast_ref(values), 0, &mut out[start..]);
}

/// Undoes [`pack_u32`]. Corrupt when `width` is above 32 or `packed` has another length than such a vector.
pub fn unpack_u32(
    width: usize,
    packed: &[u8],
    out: &mut [u32; VECTOR_VALUES],
) -> Result<(), Corrupt> {
    check(width, packed)?;
    bits::of_i32::unpack(width, packed, 0, bytemuck::cast_mut(out));
    Ok(())
}

/// Value `index` of a vector packed by [`pack_u32`], the others not touched. Corrupt as in [`unpack_u32`].
pub fn unpack_one_u32(width: usize, packed: &[u8], index: usize) -> Result<u32, Corrupt> {
    check(width, packed)?;
    if index >= VECTOR_VALUES {
        return Err(Corrupt::new("row is beyond the vector", 0));
    }
    Ok(bits::of_i32::unpack_one(width, packed, 0, index) as u32)
}

fn check(width: usize, packed: &[u8]) -> Result<(), Corrupt> {
    if width > 32 {
        return Err(Corrupt::new("bit width above 32", 0));
    }
    if packed.len() != packed_bytes(width) {
        return Err(Corrupt::new("packed vector has the wrong length", 0));
    }
    Ok(())
}
