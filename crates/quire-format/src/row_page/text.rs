//! How the strings of one column of a leaf are stored: as they are, or by alphabets.
//!
//! Strings that programs make (numbers and codes as text, UUIDs, digests) have few different bytes, and at the same place of each string
//! the same few, or always the same one. Nothing repeats in them, so codecs that look for what repeats leave them as they
//! are, and those that code single bytes do not know the places. Here the bytes that are the same in all strings are stored
//! once, and the others in as many bits as their alphabet needs (see [`super::alphabet`]). What a block codec is expected to make smaller is left
//! to it.

use quire_codec::Corrupt;

use super::alphabet::{Alphabet, ByteSet};
use super::packed::{PackedBitReader, PackedBitWriter};
use crate::wire::{WireItemReader, WireItemWriter};

#[cfg(test)]
mod tests;

/// Most alphabets of a column.
const ALPHABETS_MAX: usize = 8;

/// Bits that a run takes in the mode, and an alphabet without its symbols.
const RUN_BITS: f32 = 16.0;
const ALPHABET_BITS: f32 = 8.0;

/// How a column of strings is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextMode {
    /// As they are, for the block codec.
    Plain,
    /// All bytes are of one alphabet.
    Free(Alphabet),
    /// Strings that are not empty have one length, and the same runs.
    Pattern(Pattern),
}

/// The runs of strings of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    alphabets: Vec<Alphabet>,
    runs: Vec<TextColumnRun>,
}

/// Neighbouring bytes of each string.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TextColumnRun {
    /// The same in all strings.
    Same(Vec<u8>),
    /// `byte_count` of an alphabet.
    Symbols { alphabet: usize, byte_count: usize },
}

const PLAIN: u8 = 0;
const FREE: u8 = 1;
const PATTERN: u8 = 2;

/// In place of the number of an alphabet: bytes that are the same in all strings.
const SAME: u8 = u8::MAX;

impl TextMode {
    /// What is expected to be smallest of strings of these lengths.
    pub(super) fn choose(strings: &[u8], lengths: &[usize], has_entropy_coding: bool) -> Self {
        let mode = match common_length(lengths) {
            Some(length) => Pattern::of(strings, length).map(Self::Pattern),
            None => alphabet_of(strings).map(Self::Free),
        };
        let Some(mode) = mode else {
            return Self::Plain;
        };
        let mut stored = WireItemWriter::default();
        mode.write(&mut stored);
        let bits = mode.packed_bits(lengths) + 8 * stored.len();
        if super::repeats::left_bits(strings, has_entropy_coding) > bits {
            mode
        } else {
            Self::Plain
        }
    }

    pub(super) fn write(&self, writer: &mut WireItemWriter) {
        match self {
            Self::Plain => writer.byte(PLAIN),
            Self::Free(alphabet) => {
                writer.byte(FREE);
                writer.bytes(alphabet.symbols());
            }
            Self::Pattern(pattern) => {
                writer.byte(PATTERN);
                pattern.write(writer);
            }
        }
    }

    pub(super) fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        match reader.byte()? {
            PLAIN => Ok(Self::Plain),
            FREE => Ok(Self::Free(read_alphabet(reader)?)),
            PATTERN => Ok(Self::Pattern(Pattern::read(reader)?)),
            _ => Err(reader.corrupt("mode of a column of strings")),
        }
    }

    /// Bits that strings of these lengths take.
    pub(super) fn packed_bits(&self, lengths: &[usize]) -> usize {
        match self {
            Self::Plain => 0,
            Self::Free(alphabet) => alphabet.packed_bits(lengths.iter().sum()),
            Self::Pattern(pattern) => {
                let count = string_count(lengths);
                let numbered = pattern.alphabets.iter().enumerate();
                let bits = numbered.map(|(number, alphabet)| {
                    alphabet.packed_bits(count * pattern.symbols_of(number))
                });
                bits.sum()
            }
        }
    }

    /// Appends strings whose mode this is.
    pub(super) fn pack(&self, strings: &[u8], packed: &mut PackedBitWriter) {
        match self {
            Self::Plain => {}
            Self::Free(alphabet) => alphabet.pack(strings, packed),
            Self::Pattern(pattern) => pattern.pack(strings, packed),
        }
    }

    /// The strings of these lengths, one behind the other. Of plain ones there are none.
    pub(super) fn unpack(
        &self,
        lengths: &[usize],
        packed: &mut PackedBitReader<'_>,
    ) -> Result<Vec<u8>, Corrupt> {
        match self {
            Self::Plain => Ok(Vec::new()),
            Self::Free(alphabet) => {
                let byte_count = lengths.iter().sum();
                let mut strings = alphabet.unpack(byte_count, packed)?;
                strings.truncate(byte_count);
                Ok(strings)
            }
            Self::Pattern(pattern) => {
                if common_length(lengths) != Some(pattern.string_bytes()) {
                    return Err(Corrupt::new("lengths of packed strings", 0));
                }
                pattern.unpack(string_count(lengths), packed)
            }
        }
    }
}

/// Strings that are not empty.
fn string_count(lengths: &[usize]) -> usize {
    lengths.iter().filter(|length| **length > 0).count()
}

/// The length of all strings that are not empty.
fn common_length(lengths: &[usize]) -> Option<usize> {
    let mut lengths = lengths.iter().copied().filter(|length| *length > 0);
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}

fn alphabet_of(strings: &[u8]) -> Option<Alphabet> {
    let mut set = ByteSet::default();
    strings.iter().for_each(|byte| set.insert(*byte));
    Alphabet::of(&set)
}

fn read_alphabet(reader: &mut WireItemReader<'_>) -> Result<Alphabet, Corrupt> {
    let symbols = reader.bytes()?.to_vec();
    Alphabet::new(symbols).ok_or_else(|| reader.corrupt("alphabet of a column of strings"))
}

/// Alphabets while they are being put together from places.
#[derive(Default)]
struct Drafts {
    /// Each with the number of its places.
    sets: Vec<(ByteSet, usize)>,
}

impl Drafts {
    /// The alphabet for one more place, at the least cost: one there is, with the symbols it lacks, or a new one.
    fn place(&mut self, set: &ByteSet, string_count: usize) -> Option<usize> {
        // What is there already costs least.
        if let Some(number) = self.sets.iter().position(|(known, _)| known == set) {
            self.sets[number].1 += 1;
            return Some(number);
        }
        let count = string_count as f32;
        let new = ALPHABET_BITS + 8.0 * set.len() as f32 + RUN_BITS + set.symbol_bits()? * count;
        let mut best = if self.sets.len() < ALPHABETS_MAX {
            (new, self.sets.len(), *set)
        } else {
            (f32::INFINITY, 0, *set)
        };
        for (number, (known, places)) in self.sets.iter().enumerate() {
            let both = known.union(set);
            let (Some(before), Some(after)) = (known.symbol_bits(), both.symbol_bits()) else {
                continue;
            };
            let symbols = 8.0 * (both.len() - known.len()) as f32;
            let cost = symbols + count * (after + (after - before) * *places as f32);
            if cost < best.0 {
                best = (cost, number, both);
            }
        }
        let (cost, number, set) = best;
        match self.sets.get_mut(number) {
            _ if cost == f32::INFINITY => return None,
            Some((known, places)) => {
                *known = set;
                *places += 1;
            }
            None => self.sets.push((set, 1)),
        }
        Some(number)
    }
}

/// The bytes at each place of strings of `length`.
fn sets_by_place(strings: &[u8], length: usize) -> Vec<ByteSet> {
    let mut sets = vec![ByteSet::default(); length];
    for string in strings.chunks_exact(length) {
        for (set, byte) in sets.iter_mut().zip(string) {
            set.insert(*byte);
        }
    }
    sets
}

impl Pattern {
    /// None if a place has too many different bytes.
    fn of(strings: &[u8], length: usize) -> Option<Self> {
        let first = strings.get(..length)?;
        let (mut drafts, mut runs) = (Drafts::default(), Vec::new());
        for (set, byte) in sets_by_place(strings, length).iter().zip(first) {
            let alphabet = match set.len() {
                1 => None,
                _ => Some(drafts.place(set, strings.len() / length)?),
            };
            match (runs.last_mut(), alphabet) {
                (Some(TextColumnRun::Same(bytes)), None) => bytes.push(*byte),
                (
                    Some(TextColumnRun::Symbols {
                        alphabet,
                        byte_count,
                    }),
                    Some(number),
                ) if *alphabet == number => {
                    *byte_count += 1;
                }
                (_, None) => runs.push(TextColumnRun::Same(vec![*byte])),
                (_, Some(alphabet)) => runs.push(TextColumnRun::Symbols {
                    alphabet,
                    byte_count: 1,
                }),
            }
        }
        let alphabets = drafts.sets.iter().map(|(set, _)| Alphabet::of(set));
        Some(Self {
            alphabets: alphabets.collect::<Option<_>>()?,
            runs,
        })
    }

    fn write(&self, writer: &mut WireItemWriter) {
        writer.varint(self.alphabets.len() as u64);
        for alphabet in &self.alphabets {
            writer.bytes(alphabet.symbols());
        }
        writer.varint(self.runs.len() as u64);
        for run in &self.runs {
            match run {
                TextColumnRun::Same(bytes) => {
                    writer.byte(SAME);
                    writer.bytes(bytes);
                }
                TextColumnRun::Symbols {
                    alphabet,
                    byte_count,
                } => {
                    writer.byte(*alphabet as u8);
                    writer.varint(*byte_count as u64);
                }
            }
        }
    }

    fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let alphabet_count = reader.count(1)?;
        if alphabet_count > ALPHABETS_MAX {
            return Err(reader.corrupt("alphabets of a column of strings"));
        }
        let alphabets = (0..alphabet_count).map(|_| read_alphabet(reader));
        let alphabets = alphabets.collect::<Result<Vec<_>, _>>()?;
        let run_count = reader.count(2)?;
        let mut runs = Vec::with_capacity(run_count);
        for _ in 0..run_count {
            runs.push(match reader.byte()? {
                SAME => TextColumnRun::Same(reader.bytes()?.to_vec()),
                number if usize::from(number) < alphabet_count => TextColumnRun::Symbols {
                    alphabet: number.into(),
                    byte_count: reader.varint_u32()? as usize,
                },
                _ => return Err(reader.corrupt("alphabet of a run")),
            });
        }
        Ok(Self { alphabets, runs })
    }

    fn string_bytes(&self) -> usize {
        self.runs.iter().map(TextColumnRun::byte_count).sum()
    }

    /// How many bytes of a string are of this alphabet.
    fn symbols_of(&self, number: usize) -> usize {
        let mine = |run: &&TextColumnRun| matches!(run, TextColumnRun::Symbols { alphabet, .. } if *alphabet == number);
        self.runs
            .iter()
            .filter(mine)
            .map(TextColumnRun::byte_count)
            .sum()
    }

    fn pack(&self, strings: &[u8], packed: &mut PackedBitWriter) {
        let mut columns = vec![Vec::with_capacity(strings.len()); self.alphabets.len()];
        for mut string in strings.chunks_exact(self.string_bytes().max(1)) {
            for run in &self.runs {
                let Some((bytes, rest)) = string.split_at_checked(run.byte_count()) else {
                    break;
                };
                if let TextColumnRun::Symbols { alphabet, .. } = run
                    && let Some(column) = columns.get_mut(*alphabet)
                {
                    column.extend_from_slice(bytes);
                }
                string = rest;
            }
        }
        for (alphabet, column) in self.alphabets.iter().zip(&columns) {
            alphabet.pack(column, packed);
        }
    }

    fn unpack(&self, count: usize, packed: &mut PackedBitReader<'_>) -> Result<Vec<u8>, Corrupt> {
        let (mut columns, string_bytes) = (Vec::new(), self.string_bytes());
        for (number, alphabet) in self.alphabets.iter().enumerate() {
            let symbols = alphabet.unpack(count * self.symbols_of(number), packed)?;
            columns.push((symbols, 0));
        }
        let places = self.places();
        let mut strings = vec![0; count * string_bytes + COPY_BYTES];
        for start in (0..count).map(|number| number * string_bytes) {
            for (place, alphabet, byte_count) in &places.symbols {
                let Some((symbols, at)) = columns.get_mut(*alphabet) else {
                    continue;
                };
                copy(&mut strings, start + place, symbols, *at, *byte_count);
                *at += byte_count;
            }
            for (place, byte) in &places.same {
                if let Some(target) = strings.get_mut(start + place) {
                    *target = *byte;
                }
            }
        }
        strings.truncate(count * string_bytes);
        Ok(strings)
    }

    fn places(&self) -> TextBytePositions {
        let (mut places, mut at) = (TextBytePositions::default(), 0);
        for run in &self.runs {
            match run {
                TextColumnRun::Same(bytes) => {
                    let bytes = bytes.iter().enumerate();
                    let same = bytes.map(|(place, byte)| (at + place, *byte));
                    places.same.extend(same);
                }
                TextColumnRun::Symbols {
                    alphabet,
                    byte_count,
                } => places.symbols.push((at, *alphabet, *byte_count)),
            }
            at += run.byte_count();
        }
        places
    }
}

/// Where the runs of a string are.
#[derive(Default)]
struct TextBytePositions {
    /// Place, alphabet and bytes of each.
    symbols: Vec<(usize, usize, usize)>,
    /// Place and byte of what is the same in all strings.
    same: Vec<(usize, u8)>,
}

/// Bytes that are copied at once.
const COPY_BYTES: usize = 16;

/// Copies `byte_count` bytes from one place to another, and what follows them, which is overwritten by what comes next.
#[inline]
fn copy(to: &mut [u8], to_at: usize, from: &[u8], from_at: usize, byte_count: usize) {
    for done in (0..byte_count).step_by(COPY_BYTES) {
        let source = from.get(from_at + done..).unwrap_or_default();
        let target = to.get_mut(to_at + done..).unwrap_or_default();
        let chunks = (
            source.first_chunk::<COPY_BYTES>(),
            target.first_chunk_mut::<COPY_BYTES>(),
        );
        match chunks {
            (Some(source), Some(target)) => *target = *source,
            _ => {
                let bytes = (byte_count - done).min(source.len()).min(target.len());
                target[..bytes].copy_from_slice(&source[..bytes]);
            }
        }
    }
}

impl TextColumnRun {
    fn byte_count(&self) -> usize {
        match self {
            Self::Same(bytes) => bytes.len(),
            Self::Symbols { byte_count, .. } => *byte_count,
        }
    }
}
