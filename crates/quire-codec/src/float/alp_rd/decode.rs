//! Reading an ALP-RD payload.

use super::super::Floating;
use super::{AlpRdCut, LEFT_BITS_MAX, LEFTS_MAX, code_bits};
use crate::int::bitstream::{self, BitstreamReader, stream_bytes};
use crate::int::element::{Element, PackedLane};
use crate::int::frame::POSITION_BITS;
use crate::kernel::bits;
use crate::{Corrupt, ImageCursor, ROWS_MAX, VECTOR_VALUES, vector_count, vector_rows};
use std::ops::Range;
use std::sync::Arc;

/// One vector of an open payload.
#[derive(Clone, Copy, Debug)]
struct AlpRdVector {
    exception_count: usize,
    /// Offset of the codes in the image.
    offset: usize,
}

/// The parts of a vector.
struct AlpRdParts<'a> {
    codes: &'a [u8],
    rights: &'a [u8],
    positions: &'a [u8],
    lefts: &'a [[u8; 2]],
}

/// An open payload.
#[derive(Clone, Debug)]
struct StoredAlpRd<L> {
    image: Arc<[u8]>,
    row_count: usize,
    cut: AlpRdCut,
    /// The left parts in their place.
    lefts: Vec<L>,
    entries: Vec<AlpRdVector>,
}

/// Decoder of an ALP-RD payload.
#[derive(Clone, Debug)]
pub struct AlpRdDecoder<F: Floating> {
    stored: StoredAlpRd<F::Bits>,
    codes: Box<[i32; VECTOR_VALUES]>,
    rights: Box<[F::Bits; VECTOR_VALUES]>,
}

fn read_cut<L: PackedLane>(cursor: &mut ImageCursor<'_>) -> Result<AlpRdCut, Corrupt> {
    let right_bits = usize::from(cursor.u8("bits of the right parts")?);
    if !(L::BITS - LEFT_BITS_MAX..L::BITS).contains(&right_bits) {
        return Err(cursor.corrupt("values are cut outside their bits"));
    }
    let count = usize::from(cursor.u8("number of left parts")?);
    if !(1..=LEFTS_MAX).contains(&count) {
        return Err(cursor.corrupt("dictionary has not 1 to 8 left parts"));
    }
    let lefts = cursor.bytes(2 * count, "left parts")?.as_chunks().0;
    let lefts: Vec<u16> = lefts.iter().map(|left| u16::from_le_bytes(*left)).collect();
    let too_wide = |left: &u16| u32::from(*left) >> (L::BITS - right_bits) != 0;
    if lefts.iter().any(too_wide) {
        return Err(cursor.corrupt("left part is wider than the cut leaves it"));
    }
    Ok(AlpRdCut { right_bits, lefts })
}

fn read_counts<'a>(cursor: &mut ImageCursor<'a>, vectors: usize) -> Result<&'a [[u8; 2]], Corrupt> {
    match cursor.u8("exception flag")? {
        0 => Ok(&[]),
        1 => Ok(cursor.bytes(2 * vectors, "exception counts")?.as_chunks().0),
        _ => Err(cursor.corrupt("exception flag is neither 0 nor 1")),
    }
}

impl<F: Floating> AlpRdDecoder<F> {
    pub(crate) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        Ok(Self {
            stored: StoredAlpRd::open(image, payload, row_count)?,
            codes: Box::new([0; VECTOR_VALUES]),
            rights: Box::new([F::Bits::default(); VECTOR_VALUES]),
        })
    }

    pub(crate) fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut [F; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let stored = &self.stored;
        let out: &mut [F::Bits; VECTOR_VALUES] = bytemuck::cast_mut(out);
        let entry = stored.entry(vector)?;
        let rows = vector_rows(stored.row_count, vector);
        let parts = stored.parts(entry, rows)?;
        stored.unpack(&parts, rows, &mut self.codes, &mut self.rights);
        if !F::Bits::gather(&stored.lefts, &self.codes, out) {
            return Err(beyond(entry));
        }
        F::add_low(&self.rights, out);
        if entry.exception_count > 0 {
            stored.patch(entry, &parts, &self.rights, &mut out[..rows])?;
        }
        Ok(rows)
    }

    /// The value of row `row`, no other read.
    pub(crate) fn value(&self, row: usize) -> Result<F, Corrupt> {
        let stored = &self.stored;
        let (vector, index) = (row / VECTOR_VALUES, row % VECTOR_VALUES);
        let entry = stored.entry(vector)?;
        let rows = vector_rows(stored.row_count, vector);
        if index >= rows {
            return Err(Corrupt::new("row is beyond the segment", 0));
        }
        let parts = stored.parts(entry, rows)?;
        let (code, right) = stored.unpack_one(&parts, rows, index);
        let left = match parts.left_of(index) {
            Some(left) => stored.in_place(left),
            None => *stored.lefts.get(code).ok_or_else(|| beyond(entry))?,
        };
        Ok(bytemuck::cast(left.plus(right)))
    }
}

impl<L: PackedLane> StoredAlpRd<L> {
    fn open(image: Arc<[u8]>, payload: Range<usize>, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(&image, payload)?;
        if row_count > ROWS_MAX {
            return Err(cursor.corrupt("more rows than a segment can hold"));
        }
        let cut = read_cut::<L>(&mut cursor)?;
        let counts = read_counts(&mut cursor, vector_count(row_count))?;
        let mut entries = Vec::with_capacity(vector_count(row_count));
        for vector in 0..vector_count(row_count) {
            let rows = vector_rows(row_count, vector);
            let count = counts.get(vector).copied().unwrap_or_default();
            let exception_count = usize::from(u16::from_le_bytes(count));
            if exception_count > rows {
                return Err(cursor.corrupt("more exceptions than rows"));
            }
            let bytes = cut.vector_bytes(rows, exception_count);
            entries.push(AlpRdVector {
                exception_count,
                offset: cursor.take(bytes, "vector of two parts")?.start,
            });
        }
        cursor.finish("vectors of two parts")?;
        let mut stored = Self {
            image,
            row_count,
            cut,
            lefts: Vec::new(),
            entries,
        };
        let lefts = stored.cut.lefts.iter();
        stored.lefts = lefts.map(|&left| stored.in_place(left)).collect();
        Ok(stored)
    }

    /// A left part, and zeros in place of the right.
    fn in_place(&self, left: u16) -> L {
        L::from_bits(u64::from(left) << self.cut.right_bits)
    }

    fn entry(&self, vector: usize) -> Result<AlpRdVector, Corrupt> {
        let entry = self.entries.get(vector).copied();
        entry.ok_or_else(|| Corrupt::new("vector is beyond the segment", 0))
    }

    fn parts(&self, entry: AlpRdVector, rows: usize) -> Result<AlpRdParts<'_>, Corrupt> {
        let (code_bytes, right_bytes) = self.cut.packed_bytes(rows);
        let bytes = self.cut.vector_bytes(rows, entry.exception_count);
        let all = self.image.get(entry.offset..entry.offset + bytes);
        let all = all.ok_or_else(|| Corrupt::new("vector leaves the image", entry.offset))?;
        let (codes, rest) = all.split_at(code_bytes);
        let (rights, rest) = rest.split_at(right_bytes);
        let position_bytes = stream_bytes(entry.exception_count, POSITION_BITS);
        let (positions, lefts) = rest.split_at(position_bytes);
        Ok(AlpRdParts {
            codes,
            rights,
            positions,
            lefts: lefts.as_chunks().0,
        })
    }

    /// Unpacks codes and right parts; those beyond the rows become 0.
    fn unpack(
        &self,
        parts: &AlpRdParts<'_>,
        rows: usize,
        codes: &mut [i32; VECTOR_VALUES],
        rights: &mut [L; VECTOR_VALUES],
    ) {
        let (code_bits, right_bits) = (code_bits(self.lefts.len()), self.cut.right_bits);
        if rows == VECTOR_VALUES {
            bits::of_i32::unpack(code_bits, parts.codes, 0, codes);
            L::unpack(right_bits, parts.rights, L::default(), rights);
            return;
        }
        codes.fill(0);
        rights.fill(L::default());
        let mut packed = BitstreamReader::new(parts.codes, code_bits);
        let all = codes[..rows].iter_mut();
        all.for_each(|code| *code = packed.read() as i32);
        let mut packed = BitstreamReader::new(parts.rights, right_bits);
        let all = rights[..rows].iter_mut();
        all.for_each(|right| *right = L::from_bits(packed.read()));
    }

    /// Code and right part of one row.
    fn unpack_one(&self, parts: &AlpRdParts<'_>, rows: usize, index: usize) -> (usize, L) {
        let (code_bits, right_bits) = (code_bits(self.lefts.len()), self.cut.right_bits);
        if rows == VECTOR_VALUES {
            let code = bits::of_i32::unpack_one(code_bits, parts.codes, 0, index);
            let right = L::unpack_one(right_bits, parts.rights, L::default(), index);
            return (code as u32 as usize, right);
        }
        let code = bitstream::get(parts.codes, code_bits, index) as usize;
        let right = bitstream::get(parts.rights, right_bits, index);
        (code, L::from_bits(right))
    }

    /// Puts the exceptions together with their own left parts.
    fn patch(
        &self,
        entry: AlpRdVector,
        parts: &AlpRdParts<'_>,
        rights: &[L; VECTOR_VALUES],
        out: &mut [L],
    ) -> Result<(), Corrupt> {
        let mut positions = BitstreamReader::new(parts.positions, POSITION_BITS);
        let mut earliest = 0;
        for left in parts.lefts {
            let row = positions.read() as usize;
            let value = out.get_mut(row).filter(|_| row >= earliest);
            let value = value.ok_or_else(|| {
                let what = "exception positions do not ascend within the vector";
                Corrupt::new(what, entry.offset)
            })?;
            *value = self.in_place(u16::from_le_bytes(*left)).plus(rights[row]);
            earliest = row + 1;
        }
        Ok(())
    }
}

fn beyond(entry: AlpRdVector) -> Corrupt {
    Corrupt::new("code is beyond the left parts", entry.offset)
}

impl AlpRdParts<'_> {
    /// The left part of the exception at position `index`, if it is one.
    fn left_of(&self, index: usize) -> Option<u16> {
        let mut positions = BitstreamReader::new(self.positions, POSITION_BITS);
        let found = self.lefts.iter().find(|_| positions.read() == index as u64);
        found.map(|left| u16::from_le_bytes(*left))
    }
}
