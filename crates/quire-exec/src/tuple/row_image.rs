//! The row that registers hold, as bytes: what is spilled, and put back into the same registers.
//!
//! Tuples are taken as they are: what is compressed in its table is compressed in the file, and decoded when it is asked for. Of integers and
//! decimals in registers only the bytes that matter are written.
//!
//! | bytes of a tuple | what |
//! |---|---|
//! | 1 | 1; 0 for a tuple of NULLs, of which nothing follows |
//! | 1 or 5, twice | lengths of key and tuple, as [`super::short_length`] writes them |
//! | … | key and tuple |
//!
//! | bytes of a register | what |
//! |---|---|
//! | 1 | bytes of the number; 1 for a float or a string; 0 for NULL, of which nothing follows |
//! | 1 or 5 | of a string, its length |
//! | … | the value, numbers little endian |

use quire_codec::Corrupt;

use super::short_length::{push_length, take_length};
use super::temporary::SLACK_BYTES;
use crate::avm::{Register, RegisterSet, TargetRegister, TextPlace, Trap, Tuple, TuplePlace};

const ABSENT: u8 = 0;
const PRESENT: u8 = 1;

/// Registers that a row is in.
#[derive(Debug)]
pub(super) struct RowImage {
    columns: Vec<Register>,
    tuples: Vec<Tuple>,
    /// Where the bytes of a row are that was put back.
    buffer: u16,
}

impl RowImage {
    pub(super) fn new(
        columns: Vec<Register>,
        tuples: Vec<Tuple>,
        registers: &mut RegisterSet,
    ) -> Self {
        Self {
            columns,
            tuples,
            buffer: registers.add_buffer(),
        }
    }

    /// Appends the row.
    pub(super) fn save(&self, registers: &RegisterSet, bytes: &mut Vec<u8>) -> Result<(), Trap> {
        for tuple in &self.tuples {
            let place = registers.tuple(*tuple);
            if place == TuplePlace::NULLS {
                bytes.push(ABSENT);
                continue;
            }
            bytes.push(PRESENT);
            let (key, tuple) = registers.tuple_bytes(place);
            push_length(key.len(), bytes)?;
            push_length(tuple.len(), bytes)?;
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(tuple);
        }
        for column in &self.columns {
            if registers.is_null(*column) {
                bytes.push(ABSENT);
                continue;
            }
            match *column {
                Register::Boolean(word) | Register::Integer(word) => {
                    push_number(registers.word(word).into(), bytes);
                }
                Register::Decimal(wide) => push_number(registers.wide(wide), bytes),
                Register::Real(word) | Register::Double(word) => {
                    bytes.push(PRESENT);
                    bytes.extend_from_slice(&registers.word(word).to_le_bytes());
                }
                Register::Text(text) => {
                    let text = registers.text(text);
                    bytes.push(PRESENT);
                    push_length(text.len(), bytes)?;
                    bytes.extend_from_slice(text);
                }
            }
        }
        Ok(())
    }

    /// Puts a row back. What was put back before is gone.
    pub(super) fn restore(&self, row: &[u8], registers: &mut RegisterSet) -> Result<(), Trap> {
        let mut bytes = registers.take_buffer(self.buffer);
        bytes.clear();
        bytes.extend_from_slice(row);
        let restored = self.point_into(&bytes, registers);
        bytes.extend_from_slice(&[0; SLACK_BYTES]);
        registers.put_buffer(self.buffer, bytes);
        restored
    }

    fn point_into(&self, bytes: &[u8], registers: &mut RegisterSet) -> Result<(), Trap> {
        let mut left = Left { bytes, at: 0 };
        for tuple in &self.tuples {
            let mut place = TuplePlace::NULLS;
            if left.mark()? != ABSENT {
                let (key_bytes, tuple_bytes) = (left.length()?, left.length()?);
                place = TuplePlace {
                    buffer: self.buffer,
                    start: left.place()?,
                    key_bytes,
                    tuple_bytes,
                };
                left.skip(key_bytes)?;
                left.skip(tuple_bytes)?;
            }
            registers.set_tuple(*tuple, place);
        }
        for column in &self.columns {
            let mark = left.mark()?;
            if mark == ABSENT {
                registers.set_null(*column);
                continue;
            }
            match *column {
                Register::Boolean(word) | Register::Integer(word) => {
                    let number = i64::try_from(left.number(mark)?);
                    let number = number.map_err(|_| left.damaged())?;
                    registers.set_word(TargetRegister(word), number);
                }
                Register::Real(word) | Register::Double(word) => {
                    registers.set_word(TargetRegister(word), i64::from_le_bytes(left.chunk()?));
                }
                Register::Decimal(wide) => {
                    registers.set_wide(TargetRegister(wide), left.number(mark)?);
                }
                Register::Text(text) => {
                    let text_bytes = left.length()?;
                    let place = TextPlace::in_buffer(self.buffer, left.place()?, text_bytes);
                    left.skip(text_bytes)?;
                    registers.set_text(TargetRegister(text), place);
                }
            }
        }
        Ok(())
    }
}

/// Appends how many bytes of a number matter, and these: those above repeat its sign.
fn push_number(number: i128, bytes: &mut Vec<u8>) {
    let without_sign = number ^ (number >> (i128::BITS - 1));
    let bits = i128::BITS - without_sign.leading_zeros() + 1;
    let byte_count = bits.div_ceil(u8::BITS) as usize;
    // At most 16.
    bytes.push(byte_count as u8);
    bytes.extend(number.to_le_bytes().iter().take(byte_count));
}

/// What is left of the bytes of a row.
struct Left<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Left<'_> {
    fn damaged(&self) -> Trap {
        Trap::temporary(Corrupt::new("a row is cut short", self.at))
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], Trap> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let chunk = *rest.first_chunk().ok_or_else(|| self.damaged())?;
        self.at += N;
        Ok(chunk)
    }

    fn mark(&mut self) -> Result<u8, Trap> {
        let [mark] = self.chunk()?;
        Ok(mark)
    }

    fn length(&mut self) -> Result<u32, Trap> {
        let length = take_length(self.bytes, &mut self.at);
        length.ok_or_else(|| self.damaged())
    }

    /// A number of which so many bytes were written.
    fn number(&mut self, byte_count: u8) -> Result<i128, Trap> {
        let end = self.at + usize::from(byte_count);
        let written = self.bytes.get(self.at..end);
        let written = written.ok_or_else(|| self.damaged())?;
        let is_negative = written.last().is_some_and(|highest| *highest >= 0x80);
        let mut number = [if is_negative { 0xFF } else { 0 }; size_of::<i128>()];
        let places = number.get_mut(..written.len());
        places
            .ok_or_else(|| self.damaged())?
            .copy_from_slice(written);
        self.at = end;
        Ok(i128::from_le_bytes(number))
    }

    fn place(&self) -> Result<u32, Trap> {
        u32::try_from(self.at).map_err(|_| Trap::too_large())
    }

    fn skip(&mut self, bytes: u32) -> Result<(), Trap> {
        self.at += bytes as usize;
        if self.at <= self.bytes.len() {
            Ok(())
        } else {
            Err(self.damaged())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::avm::RegisterPool;
    use crate::plan::{PlanScalar, ValueKind};

    const KINDS: [ValueKind; 5] = [
        ValueKind::Integer,
        ValueKind::Decimal,
        ValueKind::Double,
        ValueKind::Bytes,
        ValueKind::Boolean,
    ];

    #[test]
    fn rows_come_back_as_they_were_and_cut_ones_are_errors() {
        let mut pool = RegisterPool::default();
        let mut registers = RegisterSet::new();
        let columns = KINDS.map(|kind| pool.fresh(kind).unwrap());
        let image = RowImage::new(columns.to_vec(), Vec::new(), &mut registers);
        let powers = (0..127).flat_map(|shift| [1_i128 << shift, -(1_i128 << shift)]);
        let numbers = powers.flat_map(|number| [number - 1, number, number + 1]);
        for number in numbers.chain([i128::MIN, i128::MAX]) {
            let integer = i64::try_from(number).map(PlanScalar::Integer);
            let text = vec![b'x'; (number & 511) as usize];
            let row = [
                integer.unwrap_or(PlanScalar::Null),
                PlanScalar::Decimal(number),
                PlanScalar::Double(number as f64),
                PlanScalar::Bytes(text.as_slice().into()),
                PlanScalar::Boolean(number & 1 == 1),
            ];
            for (column, value) in columns.iter().zip(&row) {
                registers.set_value(*column, value).unwrap();
            }
            let mut bytes = Vec::new();
            image.save(&registers, &mut bytes).unwrap();
            for column in columns {
                registers.set_null(column);
            }
            image.restore(&bytes, &mut registers).unwrap();
            let found = columns.map(|column| registers.value(column));
            assert_eq!(found, row);
            let cut = bytes.get(..bytes.len() - 1).unwrap();
            assert!(image.restore(cut, &mut registers).is_err());
        }
    }
}
