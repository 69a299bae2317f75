//! One number per vector (bases, first values), in as few whole bytes as their spread needs.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | `n`, bytes per number, at most the bytes of the type |
//! | 1 | type | the smallest number |
//! | … | n · vectors | each number less the smallest, little endian |

use super::element::PackedLane;
use super::frame::bit_length;
use crate::{Corrupt, ImageCursor};

/// Bytes per number that `references` need.
fn width_bytes<L: PackedLane>(references: &[L]) -> (L, usize) {
    let (low, high) = L::extremes(references);
    if references.is_empty() {
        return (L::default(), 0);
    }
    (low, bit_length(high.minus(low).bits()).div_ceil(8))
}

/// Size of what [`append`] writes.
pub(crate) fn encoded_bytes<L: PackedLane>(references: &[L]) -> usize {
    1 + L::BYTES + width_bytes(references).1 * references.len()
}

/// Appends the numbers.
pub(crate) fn append<L: PackedLane>(references: &[L], out: &mut Vec<u8>) {
    let (low, width) = width_bytes(references);
    out.push(width as u8);
    low.append(out);
    for reference in references {
        out.extend_from_slice(&reference.minus(low).bits().to_le_bytes()[..width]);
    }
}

/// Reads `count` numbers; the caller has bounded `count`.
pub(crate) fn read<L: PackedLane>(
    cursor: &mut ImageCursor<'_>,
    count: usize,
) -> Result<Vec<L>, Corrupt> {
    let width = usize::from(cursor.u8("width of the vector references")?);
    if width > L::BYTES {
        return Err(cursor.corrupt("vector references are wider than the type"));
    }
    let low = L::read(cursor.bytes(L::BYTES, "smallest vector reference")?)
        .ok_or_else(|| cursor.corrupt("smallest vector reference is cut short"))?;
    let bytes = cursor.bytes(width * count, "vector references")?;
    if width == 0 {
        return Ok(vec![low; count]);
    }
    let number = |bytes: &[u8]| {
        let mut whole = [0u8; 8];
        whole[..width].copy_from_slice(bytes);
        low.plus(L::from_bits(u64::from_le_bytes(whole)))
    };
    Ok(bytes.chunks_exact(width).map(number).collect())
}
