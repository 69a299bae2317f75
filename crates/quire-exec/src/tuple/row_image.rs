//! The row that registers hold, as bytes: what is spilled, and put back into the same registers.
//!
//! Tuples are taken as they are: what is compressed in its table is compressed in the file, and decoded when it is asked for.

use quire_codec::Corrupt;

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
        let length = |part: &[u8]| u32::try_from(part.len()).map_err(|_| Trap::too_large());
        for tuple in &self.tuples {
            let place = registers.tuple(*tuple);
            if place == TuplePlace::NULLS {
                bytes.push(ABSENT);
                continue;
            }
            bytes.push(PRESENT);
            let (key, tuple) = registers.tuple_bytes(place);
            bytes.extend_from_slice(&length(key)?.to_le_bytes());
            bytes.extend_from_slice(&length(tuple)?.to_le_bytes());
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(tuple);
        }
        for column in &self.columns {
            if registers.is_null(*column) {
                bytes.push(ABSENT);
                continue;
            }
            bytes.push(PRESENT);
            match *column {
                Register::Boolean(word)
                | Register::Integer(word)
                | Register::Real(word)
                | Register::Double(word) => {
                    bytes.extend_from_slice(&registers.word(word).to_le_bytes());
                }
                Register::Decimal(wide) => {
                    bytes.extend_from_slice(&registers.wide(wide).to_le_bytes());
                }
                Register::Text(text) => {
                    let text = registers.text(text);
                    bytes.extend_from_slice(&length(text)?.to_le_bytes());
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
        registers.put_buffer(self.buffer, bytes);
        restored
    }

    fn point_into(&self, bytes: &[u8], registers: &mut RegisterSet) -> Result<(), Trap> {
        let mut left = Left { bytes, at: 0 };
        for tuple in &self.tuples {
            let mut place = TuplePlace::NULLS;
            if left.is_present()? {
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
            if !left.is_present()? {
                registers.set_null(*column);
                continue;
            }
            match *column {
                Register::Boolean(word)
                | Register::Integer(word)
                | Register::Real(word)
                | Register::Double(word) => {
                    registers.set_word(TargetRegister(word), i64::from_le_bytes(left.chunk()?));
                }
                Register::Decimal(wide) => {
                    registers.set_wide(TargetRegister(wide), i128::from_le_bytes(left.chunk()?));
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

    fn is_present(&mut self) -> Result<bool, Trap> {
        let [mark] = self.chunk()?;
        Ok(mark == PRESENT)
    }

    fn length(&mut self) -> Result<u32, Trap> {
        self.chunk().map(u32::from_le_bytes)
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
