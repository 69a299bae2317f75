//! Rows of a leaf, copied out of it: nothing is latched while programs run.

use crate::avm::{RegisterSet, Tuple, TuplePlace};

/// Keys and tuples in a buffer of the registers, to be pointed to one after the other.
#[derive(Debug)]
pub(super) struct CopiedRows {
    register: Tuple,
    buffer: u16,
    /// Whether programs read columns of the key.
    with_key: bool,
    places: Vec<TuplePlace>,
    next: usize,
    /// All rows that were copied, and their bytes.
    copied: (u64, u64),
}

impl CopiedRows {
    pub(super) fn new(register: Tuple, with_key: bool, registers: &mut RegisterSet) -> Self {
        Self {
            register,
            buffer: registers.add_buffer(),
            with_key,
            places: Vec::new(),
            next: 0,
            copied: (0, 0),
        }
    }

    /// The register that points to the rows.
    pub(super) fn register(&self) -> Tuple {
        self.register
    }

    /// Forgets the rows.
    pub(super) fn forget(&mut self) {
        self.places.clear();
        self.next = 0;
    }

    /// Forgets the rows; where the next go.
    pub(super) fn start(&mut self, registers: &mut RegisterSet) -> Vec<u8> {
        self.forget();
        let buffer = registers.buffer_mut(self.buffer);
        let mut bytes = buffer.map(std::mem::take).unwrap_or_default();
        bytes.clear();
        bytes
    }

    /// Copies a row. False when it would begin behind what a place can say: no leaf has so many bytes.
    #[inline]
    pub(super) fn push(&mut self, bytes: &mut Vec<u8>, key: &[u8], tuple: &[u8]) -> bool {
        let key = if self.with_key { key } else { &[] };
        let Ok(start) = u32::try_from(bytes.len()) else {
            return false;
        };
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(tuple);
        self.places.push(TuplePlace {
            buffer: self.buffer,
            start,
            // Keys and tuples are shorter than a page.
            key_bytes: key.len() as u32,
            tuple_bytes: tuple.len() as u32,
        });
        true
    }

    /// Gives the rows to the registers.
    pub(super) fn finish(&mut self, mut bytes: Vec<u8>, registers: &mut RegisterSet) {
        self.copied.0 += self.places.len() as u64;
        self.copied.1 += bytes.len() as u64;
        // Machine code loads more than it needs, also of the last tuple.
        bytes.extend_from_slice(&[0; 16]);
        if let Some(buffer) = registers.buffer_mut(self.buffer) {
            *buffer = bytes;
        }
    }

    /// How many rows there are, those included that have been pointed to.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many rows were copied, and their bytes.
    pub(super) fn copied(&self) -> (u64, u64) {
        self.copied
    }

    /// Points to the next row.
    #[inline]
    pub(super) fn next(&mut self, registers: &mut RegisterSet) -> bool {
        let Some(place) = self.places.get(self.next) else {
            return false;
        };
        self.next += 1;
        registers.set_tuple(self.register, *place);
        true
    }
}
