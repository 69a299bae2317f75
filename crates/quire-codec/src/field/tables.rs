//! Decoding tables, one per byte of length codes (paper 1 §3.3.3, figures 2 and 3).
//!
//! An entry of the paper has a total, and for each field of the byte an offset and a length. Here it is the eight
//! ends of the fields in one word, which says the same: a field starts where the one before it ends, and the last
//! end is the total.

use super::TupleField;

/// Where the value of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpan {
    /// Bytes before it.
    pub offset: usize,
    /// Its bytes; 0 means NULL.
    pub length: u8,
}

/// An entry: byte `k` is where field `k` of the length byte ends, counted from the start of the byte's first
/// field. Bytes beyond the last field repeat the total. No end passes 64, so the highest bit of each byte is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldEnds(u64);

impl FieldEnds {
    /// Entry of a byte that no encoder writes.
    pub(super) const CORRUPT: Self = Self(u64::MAX);
    pub(super) const NONE: Self = Self(0);

    /// The entry as [`super::FieldSteps`] has it.
    pub(super) fn word(self) -> u64 {
        self.0
    }

    /// An entry that is corrupt when this one or `other` is.
    #[inline]
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(super) fn is_corrupt(self) -> bool {
        self.0 >> 63 != 0
    }

    /// Bytes of all fields of the length byte.
    #[inline]
    pub(super) fn total(self) -> usize {
        (self.0 >> 56) as usize
    }

    /// Where field `within` of the length byte is.
    #[inline]
    pub(super) fn place(self, within: u8) -> FieldSpan {
        let shift = 8 * u32::from(within & 7);
        let offset = ((self.0 << 8) >> shift) as u8;
        let end = (self.0 >> shift) as u8;
        FieldSpan {
            offset: usize::from(offset),
            length: end.wrapping_sub(offset),
        }
    }
}

/// An entry for each of the 256 bytes: those that have an unused bit set are corrupt.
pub(super) type DecodingTable = [FieldEnds; 256];

/// The table of a byte that packs the codes of `fields`, the last of which has the lowest bits.
pub(super) fn decoding_table(fields: &[TupleField]) -> DecodingTable {
    let mut table = [FieldEnds::CORRUPT; 256];
    for (entry, byte) in table.iter_mut().zip(0..=u8::MAX) {
        *entry = ends(fields, byte).unwrap_or(FieldEnds::CORRUPT);
    }
    table
}

fn ends(fields: &[TupleField], byte: u8) -> Option<FieldEnds> {
    let mut unread_bits: u32 = fields.iter().map(|field| field.code_bits()).sum();
    if u32::from(byte) >> unread_bits != 0 {
        return None;
    }
    let (mut bytes, mut end) = ([0; 8], 0);
    for (within, field) in fields.iter().enumerate() {
        unread_bits -= field.code_bits();
        let code = (u32::from(byte) >> unread_bits) & ((1 << field.code_bits()) - 1);
        end += field.length_of(code as u8)?;
        bytes.get_mut(within..)?.fill(end);
    }
    Some(FieldEnds(u64::from_le_bytes(bytes)))
}
