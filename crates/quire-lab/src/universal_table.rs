//! The universal decoding table: all offsets for all length bytes at once (paper 1, §3.3.3).
//!
//! The database has a decoding table for each length byte ([`quire_codec::field`]). This one is faster where all fields are decoded, and
//! slower for one, since it leaves the first-level cache: the README of that module has the figures.

use quire_codec::Corrupt;
use quire_codec::field::{FieldLayout, FieldSpan, FieldType, FieldValue, TupleField};

/// Most bits of length codes that a universal table is made for. Its size is two to the power of the bits used,
/// times one byte more than there are fields: at most 17 * 65,536 bytes.
const UNIVERSAL_BITS_MAX: u32 = 16;

/// Ends of an entry for codes that no encoder writes. Sixteen bits are sixteen doubles at most, of 128 bytes.
const CORRUPT: u8 = u8::MAX;

/// One table for all length bytes of a layout: a field is found by one look-up, not by one for each byte.
///
/// ```
/// use quire_codec::field::{FieldType, TupleField};
/// use quire_lab::UniversalTable;
///
/// let table = UniversalTable::new(&[TupleField { field_type: FieldType::Int32, nullable: false }; 5]);
/// let table = table.ok_or("more than 16 bits of length codes")?;
/// // Four lengths of 1 byte, then one of 2.
/// let place = table.place(&[0b00_00_00_00, 0b01], 4)?;
/// assert_eq!((place.offset, place.length), (4, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct UniversalTable {
    types: Vec<FieldType>,
    /// Bits used of each length byte.
    used_bits: Vec<u32>,
    /// For each combination of length bytes: 0, then where each field ends.
    ends: Vec<u8>,
}

impl UniversalTable {
    /// The table of the layout of these fields; none if their length codes have more than 16 bits.
    pub fn new(fields: &[TupleField]) -> Option<Self> {
        let layout = FieldLayout::new(fields);
        let used_bits = used_bits(fields);
        let total_bits: u32 = used_bits.iter().sum();
        if total_bits > UNIVERSAL_BITS_MAX {
            return None;
        }
        let mut ends = Vec::with_capacity((fields.len() + 1) << total_bits);
        let mut codes = vec![0; used_bits.len()];
        for index in 0..1u32 << total_bits {
            let mut unread_bits = total_bits;
            for (code, bits) in codes.iter_mut().zip(&used_bits) {
                unread_bits -= bits;
                *code = ((index >> unread_bits) & ((1 << bits) - 1)) as u8;
            }
            push_ends(&layout, &codes, &mut ends);
        }
        Some(Self {
            types: fields.iter().map(|field| field.field_type).collect(),
            used_bits,
            ends,
        })
    }

    /// Bytes of memory that the table takes.
    pub fn table_bytes(&self) -> usize {
        self.ends.len()
    }

    /// 0, then where each field ends.
    #[inline]
    fn entry(&self, codes: &[u8]) -> Result<&[u8], Corrupt> {
        if codes.len() != self.used_bits.len() {
            return Err(Corrupt::new("other length bytes than the layout has", 0));
        }
        let (mut index, mut unused) = (0, 0);
        for (&code, &bits) in codes.iter().zip(&self.used_bits) {
            index = index << bits | usize::from(code);
            unused |= u32::from(code) >> bits;
        }
        let stride = self.types.len() + 1;
        let entry = self.ends.get(index * stride..(index + 1) * stride);
        match entry {
            Some(ends) if unused == 0 && ends.last() != Some(&CORRUPT) => Ok(ends),
            _ => Err(Corrupt::new("length codes have no meaning", 0)),
        }
    }

    /// Where the value of field `field` is.
    ///
    /// # Errors
    /// [`Corrupt`] when `codes` are not length codes of the layout, or when there is no such field.
    #[inline]
    pub fn place(&self, codes: &[u8], field: usize) -> Result<FieldSpan, Corrupt> {
        match self.entry(codes)?.get(field..) {
            Some([start, end, ..]) => Ok(place(*start, *end)),
            _ => Err(Corrupt::new(format!("there is no field {field}"), 0)),
        }
    }

    /// The value of field `field` alone, as [`FieldLayout::value`].
    ///
    /// # Errors
    /// As [`Self::place`], and when the value leaves `values`.
    #[inline]
    pub fn value(&self, codes: &[u8], values: &[u8], field: usize) -> Result<FieldValue, Corrupt> {
        let place = self.place(codes, field)?;
        check_room(place.offset + usize::from(place.length), values)?;
        Ok(self.types[field].read(values, place))
    }

    /// Writes the values of all fields to `row` and returns how many bytes they take, as
    /// [`FieldLayout::decode`].
    ///
    /// # Errors
    /// As [`FieldLayout::decode`].
    #[inline]
    pub fn decode(
        &self,
        codes: &[u8],
        values: &[u8],
        row: &mut [FieldValue],
    ) -> Result<usize, Corrupt> {
        let ends = self.entry(codes)?;
        let total = ends.last().map_or(0, |&end| usize::from(end));
        check_room(total, values)?;
        if row.len() != self.types.len() {
            return Err(Corrupt::new("room for another number of fields", 0));
        }
        for ((pair, field_type), value) in ends.windows(2).zip(&self.types).zip(row) {
            *value = field_type.read(values, place(pair[0], pair[1]));
        }
        Ok(total)
    }
}

#[inline]
fn check_room(end: usize, values: &[u8]) -> Result<(), Corrupt> {
    if end > values.len() {
        return Err(Corrupt::new("values are cut short", values.len()));
    }
    Ok(())
}

#[inline]
fn place(start: u8, end: u8) -> FieldSpan {
    FieldSpan {
        offset: usize::from(start),
        length: end.wrapping_sub(start),
    }
}

/// How many bits of each length byte are used: no code crosses a byte.
fn used_bits(fields: &[TupleField]) -> Vec<u32> {
    let mut used: Vec<u32> = Vec::new();
    for bits in fields.iter().map(|field| field.code_bits()) {
        match used.last_mut() {
            Some(last) if *last + bits <= u8::BITS => *last += bits,
            _ => used.push(bits),
        }
    }
    used
}

/// Appends the entry of `codes`.
fn push_ends(layout: &FieldLayout, codes: &[u8], ends: &mut Vec<u8>) {
    let fields = layout.field_count();
    if layout.value_bytes(codes).is_err() {
        ends.extend(std::iter::repeat_n(CORRUPT, fields + 1));
        return;
    }
    ends.push(0);
    for field in 0..fields {
        let end = layout
            .place(codes, field)
            .map_or(CORRUPT, |place| place.offset as u8 + place.length);
        ends.push(end);
    }
}
