//! Groups of rows by hashing, and what their aggregates come to.
//!
//! Three programs, as in paper 1 §4.1.2: one computes the keys of a row, one takes the row into the slots of its group, and one makes
//! the row of a group at the end. The keys of all groups are in one buffer, bytes that are alike when the keys are.

use hashbrown::HashTable;

use super::{RegisterIterator, Step};
use crate::avm::{Program, Register, RegisterSet, Target, TextPlace, Trap};

/// What a group-by is made of.
#[derive(Debug)]
pub struct GroupPrograms {
    /// Computes the keys of a row; rows that it rejects belong to no group.
    pub keys: Program,
    /// The registers that have the keys then, and of each group again when the last program runs.
    pub key_registers: Vec<Register>,
    /// Takes a row into the slots of its group.
    pub accumulate: Program,
    /// Makes the row of a group from its slots; one that it rejects is left out.
    pub results: Program,
}

/// A group: where its key is, and its first slot.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u32,
    bytes: u32,
    hash: u64,
    /// Where its slots start. Those of other group-bys may lie between.
    first_slot: usize,
}

/// Rows of its input by groups. Without keys there is one group, also of no rows.
pub struct HashGroup<I> {
    input: I,
    keys: Step,
    key_registers: Vec<Register>,
    accumulate: Step,
    results: Step,
    table: HashTable<u32>,
    groups: Vec<Group>,
    /// The buffer of the registers that has the keys.
    buffer: u16,
    /// The slots of a group without rows.
    initial: Vec<i128>,
    /// The next group to give; none before all input is read.
    next: Option<usize>,
    key: Vec<u8>,
}

impl<I: RegisterIterator> HashGroup<I> {
    /// Groups of what `input` makes.
    ///
    /// # Errors
    /// Constants of the programs that are too long.
    pub fn new(
        input: I,
        programs: GroupPrograms,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let initial = programs.accumulate.initial_slots();
        Ok(Self {
            input,
            keys: Step::new(programs.keys, registers)?,
            key_registers: programs.key_registers,
            accumulate: Step::new(programs.accumulate, registers)?,
            results: Step::new(programs.results, registers)?,
            table: HashTable::new(),
            groups: Vec::new(),
            buffer: registers.add_buffer(),
            initial,
            next: None,
            key: Vec::new(),
        })
    }

    fn read_input(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        if self.key_registers.is_empty() {
            self.add_group(0, registers)?;
        }
        while self.input.next(registers)? {
            if !self.keys.run(registers)? {
                continue;
            }
            let group = self.group(registers)?;
            let first_slot = self.groups.get(group).map_or(0, |group| group.first_slot);
            registers.set_group(first_slot);
            self.accumulate.run(registers)?;
        }
        self.table = HashTable::new();
        Ok(())
    }

    /// The group whose keys the registers have.
    #[inline]
    fn group(&mut self, registers: &mut RegisterSet) -> Result<usize, Trap> {
        if self.key_registers.is_empty() {
            return Ok(0);
        }
        self.key.clear();
        for register in &self.key_registers {
            push_key(registers, *register, &mut self.key);
        }
        let hash = hash_of(&self.key);
        let known = registers.buffer(self.buffer);
        let (groups, key) = (&self.groups, &self.key);
        let found = self.table.find(hash, |number| {
            let group = groups.get(*number as usize);
            group.is_some_and(|group| group.key(known) == key.as_slice())
        });
        match found {
            Some(number) => Ok(*number as usize),
            None => self.add_group(hash, registers),
        }
    }

    #[cold]
    fn add_group(&mut self, hash: u64, registers: &mut RegisterSet) -> Result<usize, Trap> {
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::text_too_long());
        let number = self.groups.len();
        let first_slot = registers.slot_total();
        registers.add_slots(&self.initial);
        let Some(keys) = registers.buffer_mut(self.buffer) else {
            return Err(Trap::slot());
        };
        self.groups.push(Group {
            start: place(keys.len())?,
            bytes: place(self.key.len())?,
            hash,
            first_slot,
        });
        keys.extend_from_slice(&self.key);
        let groups = &self.groups;
        let rehash = |number: &u32| groups.get(*number as usize).map_or(0, |group| group.hash);
        self.table.insert_unique(hash, place(number)?, rehash);
        Ok(number)
    }

    /// Gives the registers of the keys what a group has.
    fn restore(&self, group: Group, registers: &mut RegisterSet) {
        let mut at = group.start;
        for register in &self.key_registers {
            at = restore_key(registers, *register, self.buffer, at);
        }
    }
}

impl<I: RegisterIterator> RegisterIterator for HashGroup<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let mut next = match self.next {
            Some(next) => next,
            None => {
                self.read_input(registers)?;
                0
            }
        };
        while let Some(group) = self.groups.get(next) {
            let first_slot = group.first_slot;
            self.restore(*group, registers);
            registers.set_group(first_slot);
            next += 1;
            self.next = Some(next);
            if self.results.run(registers)? {
                return Ok(true);
            }
        }
        self.next = Some(next);
        Ok(false)
    }
}

impl Group {
    fn key(self, keys: &[u8]) -> &[u8] {
        let start = self.start as usize;
        keys.get(start..start + self.bytes as usize)
            .unwrap_or_default()
    }
}

const NULL: u8 = 0;
const VALUE: u8 = 1;

/// Appends a key so that equal values have equal bytes: one zero, one NaN.
pub(super) fn push_key(registers: &RegisterSet, register: Register, key: &mut Vec<u8>) {
    let mut push = |is_null: bool, bytes: &[u8]| {
        key.push(if is_null { NULL } else { VALUE });
        if !is_null {
            key.extend_from_slice(bytes);
        }
    };
    match register {
        Register::Boolean(word) | Register::Integer(word) => {
            push(
                registers.is_null_word(word),
                &registers.word(word).to_le_bytes(),
            );
        }
        Register::Double(word) => {
            let value = f64::from_bits(registers.word(word) as u64);
            let value = if value.is_nan() {
                f64::NAN
            } else {
                value + 0.0
            };
            push(registers.is_null_word(word), &value.to_bits().to_le_bytes());
        }
        Register::Real(word) => {
            let value = f32::from_bits(registers.word(word) as u32);
            let value = if value.is_nan() {
                f32::NAN
            } else {
                value + 0.0
            };
            push(
                registers.is_null_word(word),
                &u64::from(value.to_bits()).to_le_bytes(),
            );
        }
        Register::Decimal(wide) => {
            push(
                registers.is_null_wide(wide),
                &registers.wide(wide).to_le_bytes(),
            );
        }
        Register::Text(text) => {
            let bytes = registers.text(text);
            // A text has less than 4 GiB.
            push(
                registers.is_null_text(text),
                &(bytes.len() as u32).to_le_bytes(),
            );
            if !registers.is_null_text(text) {
                key.extend_from_slice(bytes);
            }
        }
    }
}

/// Sets a register to the key at a place of a buffer; the place behind it.
fn restore_key(registers: &mut RegisterSet, register: Register, buffer: u16, at: u32) -> u32 {
    let bytes = registers
        .buffer(buffer)
        .get(at as usize..)
        .unwrap_or_default();
    let Some((&VALUE, bytes)) = bytes.split_first() else {
        registers.set_null(register);
        return at + 1;
    };
    let word = bytes
        .first_chunk()
        .map_or(0, |bytes| i64::from_le_bytes(*bytes));
    let wide = bytes
        .first_chunk()
        .map_or(0, |bytes| i128::from_le_bytes(*bytes));
    let text_bytes = bytes
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes));
    match register {
        Register::Boolean(register)
        | Register::Integer(register)
        | Register::Double(register)
        | Register::Real(register) => {
            registers.set_word(Target(register), word);
            at + 9
        }
        Register::Decimal(register) => {
            registers.set_wide(Target(register), wide);
            at + 17
        }
        Register::Text(register) => {
            let place = TextPlace::in_buffer(buffer, at + 5, text_bytes);
            registers.set_text(Target(register), place);
            at + 5 + text_bytes
        }
    }
}

/// A hash of some bytes: multiplied and folded, eight at a time.
#[inline]
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = bytes.len() as u64 ^ FACTOR;
    let mut chunks = bytes.chunks_exact(8);
    let mut fold = |word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        hash = (product as u64) ^ ((product >> 64) as u64);
    };
    for chunk in &mut chunks {
        fold(
            chunk
                .first_chunk()
                .map_or(0, |chunk| u64::from_le_bytes(*chunk)),
        );
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        fold(
            rest.iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte)),
        );
    }
    hash
}
