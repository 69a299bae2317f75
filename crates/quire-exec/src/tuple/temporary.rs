//! Rows that are kept for a while (paper 1 §3.1, §4.2): tuples as they are, compressed if their table is, and values in a layout of their own, each
//! of whose columns is null-suppressed or not. Attributes read both like any others.
//!
//! | bytes of a kept row | what |
//! |---|---|
//! | 1 or 5 for each tuple that is kept as it is | its bytes and one more, as [`super::short_length`] writes them; 0 for one of NULLs |
//! | 1 or 5, if its key is kept | the bytes of its key |
//! | … | key and tuple; the next tuple follows |
//! | the rest | the tuple of the values |

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::tuple::{TupleColumn, TupleLayout};

use super::kept_shape::{KeptRowShape, KeptTuple, KeptValue};
use super::short_length::{push_length, take_length};
use crate::avm::{Register, RegisterSet, Trap, Tuple, TuplePlace, TupleSource};

/// Machine code loads so many bytes more than a tuple has.
pub(super) const SLACK_BYTES: usize = 16;

/// Rows in memory, and the tuple registers that point to them.
#[derive(Debug)]
pub(super) struct Temporary {
    layout: Arc<TupleLayout>,
    columns: Vec<Register>,
    register: Tuple,
    tuples: Vec<KeptTuple>,
    buffer: u16,
}

impl Temporary {
    /// For the values of `columns`, which attributes of `register` read by their positions. `is_compressed` says whether they are
    /// null-suppressed: smaller, and dearer to write.
    pub(super) fn new(
        columns: &[Register],
        register: Tuple,
        is_compressed: bool,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let shape = KeptRowShape::of_values(columns, register, is_compressed);
        Self::of(shape, registers)
    }

    /// For rows of a shape. The registers that its tuples come from are known to have tuples already.
    pub(super) fn of(shape: KeptRowShape, registers: &mut RegisterSet) -> Result<Self, Trap> {
        let KeptRowShape {
            values,
            register,
            tuples,
        } = shape;
        let layout: Vec<TupleColumn> = values.iter().map(KeptValue::column).collect();
        let layout = Arc::new(TupleLayout::new(&layout)?);
        registers.set_source(register, TupleSource::Temporary(Arc::clone(&layout)));
        for tuple in &tuples {
            registers.set_source(tuple.to, registers.source(tuple.from));
        }
        Ok(Self {
            layout,
            columns: values.iter().map(|value| value.register).collect(),
            register,
            tuples,
            buffer: registers.add_buffer(),
        })
    }

    /// Keeps the row that the registers have; where it is.
    pub(super) fn push(&self, registers: &mut RegisterSet) -> Result<TuplePlace, Trap> {
        let mut bytes = registers.take_buffer(self.buffer);
        let start = bytes.len();
        let appended = self.append(registers, &mut bytes);
        let end = bytes.len();
        registers.put_buffer(self.buffer, bytes);
        appended?;
        self.place(start, end)
    }

    fn append(&self, registers: &RegisterSet, bytes: &mut Vec<u8>) -> Result<(), Trap> {
        for kept in &self.tuples {
            let place = registers.tuple(kept.from);
            if place == TuplePlace::NULLS {
                push_length(0, bytes)?;
                continue;
            }
            let (key, tuple) = registers.tuple_bytes(place);
            push_length(tuple.len() + 1, bytes)?;
            if kept.with_key {
                push_length(key.len(), bytes)?;
                bytes.extend_from_slice(key);
            }
            bytes.extend_from_slice(tuple);
        }
        if self.columns.is_empty() {
            return Ok(());
        }
        let values = self.columns.iter();
        let values: Vec<_> = values
            .map(|column| registers.tuple_value(*column))
            .collect();
        Ok(self.layout.encode(&values, bytes)?)
    }

    fn place(&self, start: usize, end: usize) -> Result<TuplePlace, Trap> {
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::too_large());
        Ok(TuplePlace {
            buffer: self.buffer,
            start: place(start)?,
            key_bytes: 0,
            tuple_bytes: place(end - start)?,
        })
    }

    /// Keeps a row that was kept before, by its bytes.
    pub(super) fn push_tuple(
        &self,
        row: &[u8],
        registers: &mut RegisterSet,
    ) -> Result<TuplePlace, Trap> {
        self.check(row)?;
        let mut bytes = registers.take_buffer(self.buffer);
        let start = bytes.len();
        bytes.extend_from_slice(row);
        let end = bytes.len();
        registers.put_buffer(self.buffer, bytes);
        self.place(start, end)
    }

    /// Whether a row that comes from a file has its tuples.
    fn check(&self, row: &[u8]) -> Result<(), Trap> {
        let mut at = 0;
        for kept in &self.tuples {
            let found = Self::next_tuple(row, &mut at, kept.with_key, self.buffer);
            found.ok_or_else(|| Trap::temporary(Corrupt::new("a kept row is cut short", at)))?;
        }
        Ok(())
    }

    /// The tuple that is kept at `at` of the buffer's bytes, which then is behind it; nothing where the bytes end before.
    #[inline]
    fn next_tuple(bytes: &[u8], at: &mut usize, with_key: bool, buffer: u16) -> Option<TuplePlace> {
        let Some(tuple_bytes) = take_length(bytes, at)?.checked_sub(1) else {
            return Some(TuplePlace::NULLS);
        };
        let key_bytes = if with_key { take_length(bytes, at)? } else { 0 };
        let start = u32::try_from(*at).ok()?;
        let end = at.checked_add(key_bytes as usize)?;
        let end = end.checked_add(tuple_bytes as usize)?;
        *at = end;
        (end <= bytes.len()).then_some(TuplePlace {
            buffer,
            start,
            key_bytes,
            tuple_bytes,
        })
    }

    /// The row that the registers have as bytes; no other row is kept.
    pub(super) fn encoded<'r>(&self, registers: &'r mut RegisterSet) -> Result<&'r [u8], Trap> {
        self.clear(registers);
        self.push(registers)?;
        Ok(registers.buffer(self.buffer))
    }

    /// Keeps one row by its bytes, and no other row; the registers point to it.
    pub(super) fn hold(&self, row: &[u8], registers: &mut RegisterSet) -> Result<(), Trap> {
        self.clear(registers);
        let place = self.push_tuple(row, registers)?;
        if let Some(bytes) = registers.buffer_mut(self.buffer) {
            bytes.extend_from_slice(&[0; SLACK_BYTES]);
        }
        self.point_to(place, registers);
        Ok(())
    }

    /// Keeps no rows.
    pub(super) fn clear(&self, registers: &mut RegisterSet) {
        if let Some(bytes) = registers.buffer_mut(self.buffer) {
            bytes.clear();
        }
    }

    /// Keeps these rows, and no others.
    pub(super) fn replace(&self, rows: Vec<u8>, registers: &mut RegisterSet) {
        registers.put_buffer(self.buffer, rows);
    }

    /// Bytes of all rows.
    pub(super) fn len_bytes(&self, registers: &RegisterSet) -> usize {
        registers.buffer(self.buffer).len()
    }

    /// How the values of rows are read.
    pub(super) fn layout(&self) -> &Arc<TupleLayout> {
        &self.layout
    }

    /// Lets the registers point to a row, or to one whose columns are all NULL.
    #[inline]
    pub(super) fn point_to(&self, place: TuplePlace, registers: &mut RegisterSet) {
        if self.tuples.is_empty() {
            registers.set_tuple(self.register, place);
            return;
        }
        self.point_to_tuples(place, registers);
    }

    /// The register of the values points to a row that comes from a file: lets all point into it.
    pub(super) fn point_into(&self, registers: &mut RegisterSet) -> Result<(), Trap> {
        if self.tuples.is_empty() {
            return Ok(());
        }
        let place = registers.tuple(self.register);
        self.check(registers.tuple_bytes(place).1)?;
        self.point_to_tuples(place, registers);
        Ok(())
    }

    fn point_to_tuples(&self, place: TuplePlace, registers: &mut RegisterSet) {
        let is_there = place != TuplePlace::NULLS;
        let start = place.start as usize;
        let end = start + place.tuple_bytes as usize;
        let mut at = start;
        for kept in &self.tuples {
            let bytes = registers
                .buffer(place.buffer)
                .get(..end)
                .unwrap_or_default();
            // A row that came from a file was checked when it was kept.
            let with_key = kept.with_key;
            let found = is_there.then(|| Self::next_tuple(bytes, &mut at, with_key, place.buffer));
            let found = found.flatten().unwrap_or(TuplePlace::NULLS);
            registers.set_tuple(kept.to, found);
        }
        let values = if is_there {
            TuplePlace {
                // Places in the buffer have 32 bits.
                start: at as u32,
                tuple_bytes: end.saturating_sub(at) as u32,
                ..place
            }
        } else {
            place
        };
        registers.set_tuple(self.register, values);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use quire_format::tuple::{TupleType, TupleValue};

    use super::*;
    use crate::avm::{RegisterPool, TargetRegister};
    use crate::plan::ValueKind;

    /// The registers of an input of two tuples and a number, and a temporary that keeps all.
    struct KeptPair {
        registers: RegisterSet,
        inputs: [Temporary; 2],
        number: Register,
        temporary: Temporary,
    }

    impl KeptPair {
        fn new(with_key: bool) -> Self {
            let mut pool = RegisterPool::default();
            let mut registers = RegisterSet::new();
            let number = pool.fresh(ValueKind::Integer).unwrap();
            let inputs = [0, 1].map(|_| {
                let tuple = pool.tuple().unwrap();
                Temporary::new(&[number], tuple, true, &mut registers).unwrap()
            });
            let tuples = inputs.each_ref().map(|input| KeptTuple {
                from: input.register,
                to: pool.tuple().unwrap(),
                with_key,
            });
            let value = KeptValue {
                name: "number".to_owned(),
                register: number,
                column_type: TupleType::Int16,
                is_suppressed: false,
            };
            let shape = KeptRowShape {
                values: vec![value],
                register: pool.tuple().unwrap(),
                tuples: tuples.to_vec(),
            };
            let temporary = Temporary::of(shape, &mut registers).unwrap();
            Self {
                registers,
                inputs,
                number,
                temporary,
            }
        }

        fn set(&mut self, value: Option<i64>) {
            match (self.number, value) {
                (Register::Integer(word), Some(value)) => {
                    self.registers.set_word(TargetRegister(word), value);
                }
                (register, _) => self.registers.set_null(register),
            }
        }

        /// Keeps a row of these; a tuple that is not there is one of NULLs.
        fn keep(&mut self, [first, second, value]: [Option<i64>; 3]) -> TuplePlace {
            for (at, number) in [first, second].into_iter().enumerate() {
                self.set(number);
                let place = match number {
                    Some(_) => self.inputs[at].push(&mut self.registers).unwrap(),
                    None => TuplePlace::NULLS,
                };
                self.registers.set_tuple(self.inputs[at].register, place);
            }
            self.set(value);
            self.temporary.push(&mut self.registers).unwrap()
        }

        /// What attributes read of a kept row.
        fn read(&mut self, place: TuplePlace) -> [Option<i64>; 3] {
            self.temporary.point_to(place, &mut self.registers);
            let tuples = self.temporary.tuples.iter().map(|kept| kept.to);
            let tuples: Vec<Tuple> = tuples.chain([self.temporary.register]).collect();
            let temporaries = [&self.inputs[0], &self.inputs[1], &self.temporary];
            [0, 1, 2].map(|at| {
                let place = self.registers.tuple(tuples[at]);
                if place == TuplePlace::NULLS {
                    return None;
                }
                let (_, tuple) = self.registers.tuple_bytes(place);
                match temporaries[at].layout.field(tuple, 0).unwrap() {
                    TupleValue::Integer(number) => Some(number),
                    _ => None,
                }
            })
        }
    }

    #[test]
    fn tuples_and_values_of_kept_rows_are_read_again_in_any_order() {
        for with_key in [false, true] {
            let mut pair = KeptPair::new(with_key);
            let rows: Vec<[Option<i64>; 3]> = (0..200_i64)
                .map(|at| {
                    let number =
                        |of: i64| ((at + of) % 5 != 0).then_some((at * 7919 * of) % 30_000);
                    [number(1), number(2), number(3)]
                })
                .collect();
            let places: Vec<TuplePlace> = rows.iter().map(|row| pair.keep(*row)).collect();
            for (row, place) in rows.iter().zip(&places).rev() {
                assert_eq!(pair.read(*place), *row);
            }
            assert_eq!(pair.read(TuplePlace::NULLS), [None; 3]);
        }
    }

    #[test]
    fn a_row_is_the_same_after_it_was_spilled_and_a_cut_one_is_an_error() {
        let mut pair = KeptPair::new(true);
        let row = [Some(300), Some(-70_000), Some(-1)];
        let place = pair.keep(row);
        let bytes = pair.registers.tuple_bytes(place).1.to_vec();
        pair.temporary.hold(&bytes, &mut pair.registers).unwrap();
        let held = TuplePlace { start: 0, ..place };
        assert_eq!(pair.read(held), row);
        // The value of two bytes is read, and found short, when it is asked for.
        let tuples_bytes = bytes.len() - 3;
        for length in 0..tuples_bytes {
            let cut = pair
                .temporary
                .push_tuple(&bytes[..length], &mut pair.registers);
            assert!(cut.is_err(), "{length} of {} bytes", bytes.len());
        }
    }
}
