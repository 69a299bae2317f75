//! The registers of a query: what its iterators pass to each other, and what its programs compute with.
//!
//! Paper 1 §4.1.1 has one array of a union type. Here there is a bank for each size of value, so that an instruction knows where its
//! operands are without a look at their types. Constants and parameters are in registers, too: both kinds of operands cost the same.
//! A register number has eight bits and a bank 256 registers, so an access is checked by the type of its number.

use std::sync::Arc;

use quire_format::tuple::TupleLayout;
use quire_tables::RowTable;

use super::cancellation::Cancellation;
use super::native::ProgramCompiler;
use super::operand::{Attribute, TargetRegister, TextRegister, Tuple, Wide, WordRegister};
use super::tally::Tally;
use super::trap::Trap;

/// Registers of one kind.
pub(crate) const REGISTERS_MAX: usize = 256;

/// Where the bytes of a string are: in a buffer of tuples, or in one of those that programs made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextPlace {
    buffer: u16,
    is_made: bool,
    start: u32,
    bytes: u32,
}

impl TextPlace {
    #[inline(always)]
    pub(crate) fn in_buffer(buffer: u16, start: u32, bytes: u32) -> Self {
        Self {
            buffer,
            is_made: false,
            start,
            bytes,
        }
    }

    /// Bytes that a program made.
    pub(super) fn made(buffer: u16, start: usize, end: usize) -> Result<Self, Trap> {
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::text_too_long());
        Ok(Self {
            buffer,
            is_made: true,
            start: place(start)?,
            bytes: place(end - start)?,
        })
    }
}

/// Where a tuple and its key are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TuplePlace {
    /// The buffer that has both.
    pub buffer: u16,
    /// The first byte of the key; the tuple follows it.
    pub start: u32,
    pub key_bytes: u32,
    pub tuple_bytes: u32,
}

impl TuplePlace {
    /// No tuple: every column of it is NULL, as outer joins need it.
    pub const NULLS: Self = Self {
        buffer: u16::MAX,
        start: 0,
        key_bytes: 0,
        tuple_bytes: 0,
    };

    #[inline(always)]
    pub(super) fn has_only_nulls(self) -> bool {
        self.buffer == Self::NULLS.buffer
    }
}

/// How the columns of a register's tuples are found.
#[derive(Debug, Clone, Default)]
pub enum TupleSource {
    /// The register has no tuples.
    #[default]
    None,
    /// Rows of a table, compressed as that is.
    Rows(Arc<RowTable>),
    /// Tuples of a temporary.
    Temporary(Arc<TupleLayout>),
}

/// The registers themselves, where machine code finds them too: in this order.
#[derive(Debug)]
#[repr(C)]
pub struct Banks {
    /// Values of 8 bytes: floats are their bits.
    pub words: [i64; REGISTERS_MAX],
    /// Values of 16 bytes.
    pub wides: [i128; REGISTERS_MAX],
    pub(super) texts: [TextPlace; REGISTERS_MAX],
    pub(super) tuples: [TuplePlace; REGISTERS_MAX],
    /// Whether a register is NULL.
    pub word_nulls: [bool; REGISTERS_MAX],
    pub wide_nulls: [bool; REGISTERS_MAX],
    pub text_nulls: [bool; REGISTERS_MAX],
}

/// The registers of a query and the bytes that they point to.
#[derive(Debug)]
pub struct RegisterSet {
    banks: Box<Banks>,
    /// How the tuples of each tuple register are read.
    pub(super) sources: Vec<TupleSource>,
    /// Tuples, where iterators put them.
    pub(super) buffers: Vec<Vec<u8>>,
    /// Strings that are in no tuple: one buffer for each program, and the first for constants.
    made: Vec<Vec<u8>>,
    /// Where strings go now.
    pub(super) making: u16,
    pub(super) key_scratch: Vec<u8>,
    text_scratch: Vec<u8>,
    pub(super) states: States,
    /// Who compiles programs that run often.
    pub(super) compiler: Option<Arc<dyn ProgramCompiler>>,
    /// Whether iterators take the time of what they do.
    pub(crate) is_counted: bool,
    /// What programs and iterators have done, but for its time.
    pub(crate) tally: Tally,
    /// What the inputs of the iterator that runs have done since it was asked for a row.
    pub(crate) of_inputs: Tally,
    pub(crate) cancellation: Cancellation,
}

/// What the aggregates of groups know. The states of one group follow each other.
#[derive(Debug, Default)]
pub(super) struct States {
    pub(super) values: Vec<i128>,
    /// Strings, by the number that the state of a slot has.
    pub(super) texts: Vec<Vec<u8>>,
    /// Numbers of strings that no state has any more.
    pub(super) free_texts: Vec<usize>,
    /// About what the strings take.
    pub(super) text_bytes: usize,
    /// The first state of the present group.
    pub(super) group: usize,
}

/// A value that an operand has.
pub(super) trait ReadOperand<V>: Copy {
    /// `None` for NULL; registers are never asked for one (see [`super::verify`]).
    fn read(self, registers: &mut RegisterSet) -> Result<Option<V>, Trap>;
}

/// A register that takes values of a type.
pub(super) trait WriteRegister<V>: Copy {
    fn write(self, registers: &mut RegisterSet, value: V);
    fn write_null(self, registers: &mut RegisterSet);
}

/// A value that a word holds.
pub(super) trait InWord: Copy {
    fn to_word(self) -> i64;
    fn of_word(word: i64) -> Self;
    fn of_attribute(
        registers: &mut RegisterSet,
        attribute: Attribute,
    ) -> Result<Option<Self>, Trap>;
}

impl InWord for i64 {
    #[inline(always)]
    fn to_word(self) -> i64 {
        self
    }
    #[inline(always)]
    fn of_word(word: i64) -> Self {
        word
    }
    #[inline(always)]
    fn of_attribute(
        registers: &mut RegisterSet,
        attribute: Attribute,
    ) -> Result<Option<Self>, Trap> {
        registers.integer(attribute)
    }
}

impl InWord for f64 {
    #[inline(always)]
    fn to_word(self) -> i64 {
        self.to_bits() as i64
    }
    #[inline(always)]
    fn of_word(word: i64) -> Self {
        Self::from_bits(word as u64)
    }
    #[inline(always)]
    fn of_attribute(
        registers: &mut RegisterSet,
        attribute: Attribute,
    ) -> Result<Option<Self>, Trap> {
        registers.double(attribute)
    }
}

impl InWord for f32 {
    #[inline(always)]
    fn to_word(self) -> i64 {
        i64::from(self.to_bits())
    }
    #[inline(always)]
    fn of_word(word: i64) -> Self {
        Self::from_bits(word as u32)
    }
    #[inline(always)]
    fn of_attribute(
        registers: &mut RegisterSet,
        attribute: Attribute,
    ) -> Result<Option<Self>, Trap> {
        registers.real(attribute)
    }
}

impl<V: InWord> ReadOperand<V> for WordRegister {
    #[inline(always)]
    fn read(self, registers: &mut RegisterSet) -> Result<Option<V>, Trap> {
        Ok(Some(V::of_word(registers.word(self))))
    }
}

impl ReadOperand<i128> for Wide {
    #[inline(always)]
    fn read(self, registers: &mut RegisterSet) -> Result<Option<i128>, Trap> {
        Ok(Some(registers.wide(self)))
    }
}

impl ReadOperand<TextPlace> for TextRegister {
    #[inline(always)]
    fn read(self, registers: &mut RegisterSet) -> Result<Option<TextPlace>, Trap> {
        Ok(Some(registers.place(self)))
    }
}

impl<V: InWord> ReadOperand<V> for Attribute {
    #[inline(always)]
    fn read(self, registers: &mut RegisterSet) -> Result<Option<V>, Trap> {
        V::of_attribute(registers, self)
    }
}

impl ReadOperand<i128> for Attribute {
    #[inline(always)]
    fn read(self, registers: &mut RegisterSet) -> Result<Option<i128>, Trap> {
        registers.decimal(self)
    }
}

impl ReadOperand<TextPlace> for Attribute {
    #[inline(always)]
    fn read(self, registers: &mut RegisterSet) -> Result<Option<TextPlace>, Trap> {
        registers.locate(self)
    }
}

impl<V: InWord> WriteRegister<V> for TargetRegister<WordRegister> {
    #[inline(always)]
    fn write(self, registers: &mut RegisterSet, value: V) {
        let Self(WordRegister(number)) = self;
        registers.banks.words[usize::from(number)] = value.to_word();
        registers.banks.word_nulls[usize::from(number)] = false;
    }
    #[inline(always)]
    fn write_null(self, registers: &mut RegisterSet) {
        registers.banks.word_nulls[usize::from(self.0.0)] = true;
    }
}

impl WriteRegister<i128> for TargetRegister<Wide> {
    #[inline(always)]
    fn write(self, registers: &mut RegisterSet, value: i128) {
        let Self(Wide(number)) = self;
        registers.banks.wides[usize::from(number)] = value;
        registers.banks.wide_nulls[usize::from(number)] = false;
    }
    #[inline(always)]
    fn write_null(self, registers: &mut RegisterSet) {
        registers.banks.wide_nulls[usize::from(self.0.0)] = true;
    }
}

impl WriteRegister<TextPlace> for TargetRegister<TextRegister> {
    #[inline(always)]
    fn write(self, registers: &mut RegisterSet, value: TextPlace) {
        let Self(TextRegister(number)) = self;
        registers.banks.texts[usize::from(number)] = value;
        registers.banks.text_nulls[usize::from(number)] = false;
    }
    #[inline(always)]
    fn write_null(self, registers: &mut RegisterSet) {
        registers.banks.text_nulls[usize::from(self.0.0)] = true;
    }
}

impl Default for RegisterSet {
    fn default() -> Self {
        Self::new()
    }
}

impl RegisterSet {
    /// Registers that hold nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            banks: Box::new(Banks {
                words: [0; REGISTERS_MAX],
                wides: [0; REGISTERS_MAX],
                texts: [TextPlace::default(); REGISTERS_MAX],
                tuples: [TuplePlace::default(); REGISTERS_MAX],
                word_nulls: [true; REGISTERS_MAX],
                wide_nulls: [true; REGISTERS_MAX],
                text_nulls: [true; REGISTERS_MAX],
            }),
            sources: Vec::new(),
            buffers: Vec::new(),
            made: vec![Vec::new()],
            making: 0,
            key_scratch: Vec::new(),
            text_scratch: Vec::new(),
            states: States::default(),
            compiler: None,
            is_counted: false,
            tally: Tally::default(),
            of_inputs: Tally::default(),
            cancellation: Cancellation::default(),
        }
    }

    /// What machine code works on.
    #[inline(always)]
    pub(super) fn native_parts(&mut self) -> (&mut Banks, &[Vec<u8>], &mut States) {
        (&mut self.banks, &self.buffers, &mut self.states)
    }

    /// The value of a register, whether or not it is NULL.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, register: WordRegister) -> i64 {
        self.banks.words[usize::from(register.0)]
    }

    /// The value of a register, whether or not it is NULL.
    #[inline(always)]
    #[must_use]
    pub fn wide(&self, register: Wide) -> i128 {
        self.banks.wides[usize::from(register.0)]
    }

    /// The bytes of the string of a register, whether or not it is NULL.
    #[inline(always)]
    #[must_use]
    pub fn text(&self, register: TextRegister) -> &[u8] {
        self.bytes(self.place(register))
    }

    #[inline(always)]
    pub(super) fn place(&self, register: TextRegister) -> TextPlace {
        self.banks.texts[usize::from(register.0)]
    }

    /// The bytes of a string.
    #[inline(always)]
    pub(super) fn bytes(&self, place: TextPlace) -> &[u8] {
        let buffers = if place.is_made {
            &self.made
        } else {
            &self.buffers
        };
        let start = place.start as usize;
        let buffer = buffers.get(usize::from(place.buffer));
        let bytes = buffer.and_then(|buffer| buffer.get(start..start + place.bytes as usize));
        bytes.unwrap_or_default()
    }

    /// The bytes of a buffer.
    #[must_use]
    pub(crate) fn buffer(&self, buffer: u16) -> &[u8] {
        self.buffers
            .get(usize::from(buffer))
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn set_word(&mut self, target: TargetRegister<WordRegister>, value: i64) {
        target.write(self, value);
    }

    pub(crate) fn set_wide(&mut self, target: TargetRegister<Wide>, value: i128) {
        target.write(self, value);
    }

    pub(crate) fn set_text(&mut self, target: TargetRegister<TextRegister>, value: TextPlace) {
        target.write(self, value);
    }

    /// Gives a register a double.
    pub fn set_double(&mut self, register: WordRegister, value: f64) {
        TargetRegister(register).write(self, value);
    }

    /// Where the tuple of a register is.
    #[inline(always)]
    #[must_use]
    pub fn tuple(&self, register: Tuple) -> TuplePlace {
        self.banks.tuples[usize::from(register.0)]
    }

    /// Lets a register point to a tuple.
    #[inline(always)]
    pub fn set_tuple(&mut self, register: Tuple, place: TuplePlace) {
        self.banks.tuples[usize::from(register.0)] = place;
    }

    /// Says how the tuples of a register are read.
    pub fn set_source(&mut self, register: Tuple, source: TupleSource) {
        let number = usize::from(register.0);
        if self.sources.len() <= number {
            self.sources.resize(number + 1, TupleSource::None);
        }
        if let Some(place) = self.sources.get_mut(number) {
            *place = source;
        }
    }

    /// How the tuples of a register are read.
    pub(crate) fn source(&self, register: Tuple) -> TupleSource {
        let source = self.sources.get(usize::from(register.0));
        source.cloned().unwrap_or_default()
    }

    /// A new buffer for tuples; its number.
    pub fn add_buffer(&mut self) -> u16 {
        self.buffers.push(Vec::new());
        u16::try_from(self.buffers.len() - 1).unwrap_or(u16::MAX)
    }

    /// The bytes of a buffer, for whoever puts tuples there.
    pub fn buffer_mut(&mut self, buffer: u16) -> Option<&mut Vec<u8>> {
        self.buffers.get_mut(usize::from(buffer))
    }

    /// The bytes of a buffer, which is empty until they are put back.
    pub(crate) fn take_buffer(&mut self, buffer: u16) -> Vec<u8> {
        self.buffer_mut(buffer)
            .map(std::mem::take)
            .unwrap_or_default()
    }

    pub(crate) fn put_buffer(&mut self, buffer: u16, bytes: Vec<u8>) {
        if let Some(place) = self.buffer_mut(buffer) {
            *place = bytes;
        }
    }

    /// The key and the bytes of a tuple.
    #[must_use]
    pub(crate) fn tuple_bytes(&self, place: TuplePlace) -> (&[u8], &[u8]) {
        tuple_bytes(&self.buffers, place)
    }

    /// A new buffer for the strings that a program makes; its number.
    pub(super) fn add_made(&mut self) -> u16 {
        self.made.push(Vec::new());
        u16::try_from(self.made.len() - 1).unwrap_or(u16::MAX)
    }

    /// Strings go to the constants from now on.
    pub(super) fn make_constants(&mut self) {
        self.making = 0;
    }

    /// Strings go to this buffer from now on, and what it had is forgotten.
    #[inline(always)]
    pub(super) fn make_in(&mut self, buffer: u16) {
        self.making = buffer;
        if let Some(made) = self.made.get_mut(usize::from(buffer)) {
            made.clear();
        }
    }

    /// A string that is put together; `make` appends its bytes.
    pub(super) fn make(
        &mut self,
        make: impl FnOnce(&Self, &mut Vec<u8>) -> Result<(), Trap>,
    ) -> Result<TextPlace, Trap> {
        // Beside what was made before: the new string may be put together of that.
        let mut text = std::mem::take(&mut self.text_scratch);
        text.clear();
        let result = make(self, &mut text);
        let mut made = self.take_made();
        let start = made.len();
        made.extend_from_slice(&text);
        let end = made.len();
        self.put_made(made);
        self.text_scratch = text;
        result?;
        TextPlace::made(self.making, start, end)
    }

    /// What the program has made so far, for a while.
    #[inline]
    pub(super) fn take_made(&mut self) -> Vec<u8> {
        let made = self.made.get_mut(usize::from(self.making));
        made.map(std::mem::take).unwrap_or_default()
    }

    #[inline]
    pub(super) fn put_made(&mut self, bytes: Vec<u8>) {
        if let Some(made) = self.made.get_mut(usize::from(self.making)) {
            *made = bytes;
        }
    }

    /// Whether the value of a register is NULL.
    #[inline(always)]
    #[must_use]
    pub fn is_null_word(&self, register: WordRegister) -> bool {
        self.banks.word_nulls[usize::from(register.0)]
    }

    /// Whether the value of a register is NULL.
    #[inline(always)]
    #[must_use]
    pub(crate) fn is_null_wide(&self, register: Wide) -> bool {
        self.banks.wide_nulls[usize::from(register.0)]
    }

    /// Whether the value of a register is NULL.
    #[inline(always)]
    #[must_use]
    pub(crate) fn is_null_text(&self, register: TextRegister) -> bool {
        self.banks.text_nulls[usize::from(register.0)]
    }
}

#[inline(always)]
pub(super) fn tuple_bytes(buffers: &[Vec<u8>], place: TuplePlace) -> (&[u8], &[u8]) {
    let buffer = buffers.get(usize::from(place.buffer));
    let bytes = buffer.and_then(|buffer| buffer.get(place.start as usize..));
    let split = bytes.and_then(|bytes| bytes.split_at_checked(place.key_bytes as usize));
    let (key, rest) = split.unwrap_or_default();
    (
        key,
        rest.get(..place.tuple_bytes as usize).unwrap_or_default(),
    )
}
