//! Tables 1 and 2 of paper 1: which code stands for which length.

use super::{FieldType, TupleField};

/// Longest value in bytes, and the unit its lengths are counted in: lengths are multiples of it.
fn lengths(field_type: FieldType) -> (u8, u8) {
    match field_type {
        FieldType::Int32 | FieldType::UInt32 | FieldType::Date { .. } => (4, 1),
        FieldType::Int16 => (2, 1),
        FieldType::Int64 => (8, 1),
        FieldType::Int128 => (16, 1),
        FieldType::Double => (8, 4),
    }
}

impl TupleField {
    /// Bits of the length code. NOT NULL: 1 for integers of two bytes and for doubles, 2 for integers of four and
    /// dates, 3 for integers of eight, 4 for those of sixteen. Nullable: one more.
    ///
    /// ```
    /// use quire_codec::field::{TupleField, FieldType};
    ///
    /// let field = TupleField { field_type: FieldType::Int32, nullable: true };
    /// assert_eq!(field.code_bits(), 3);
    /// ```
    pub fn code_bits(self) -> u32 {
        let (longest, unit) = lengths(self.field_type);
        (longest / unit).ilog2() + u32::from(self.nullable)
    }

    /// The code of a value of `length` bytes, which the field must be able to have.
    #[inline]
    pub(super) fn code_of(self, length: u8) -> u8 {
        let (_, unit) = lengths(self.field_type);
        length / unit - u8::from(!self.nullable)
    }

    /// Bytes of the longest value.
    pub fn bytes_max(self) -> usize {
        lengths(self.field_type).0.into()
    }

    /// The length in bytes that `code` stands for, 0 for NULL; none when there is no such code.
    pub fn length_of(self, code: u8) -> Option<u8> {
        let (longest, unit) = lengths(self.field_type);
        let length = (code + u8::from(!self.nullable)) * unit;
        (length <= longest).then_some(length)
    }
}
