//! Bit packing.
use crate::Corrupt;

/// Bytes of 1,024 values packed at `width` bits.
pub const fn packed_bytes(width: usize) -> usize {
    128 * width
}

/// Appends `values` packed at `width` ≤ 32 bits, `packed_bytes(width)` bytes. Higher bits are cut off.
pub fn pack_u32(width: usize, values: &[u32; 1024], out: &mut Vec<u8>) {
    let _ = (width, values, out);
}

/// Undoes [`pack_u32`]; `packed` must have `packed_bytes(width)` bytes and `width` be ≤ 32.
pub fn unpack_u32(width: usize, packed: &[u8], out: &mut [u32; 1024]) -> Result<(), Corrupt> {
    let _ = (width, packed, out);
    Ok(())
}

/// Value `index` of a vector packed by [`pack_u32`], the others not touched.
pub fn unpack_one_u32(width: usize, packed: &[u8], index: usize) -> Result<u32, Corrupt> {
    let _ = (width, packed, index);
    Ok(0)
}
