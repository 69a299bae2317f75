//! The bits of one vector in the smallest of a few forms.

use super::bits::{VECTOR_WORDS, clear_beyond};
use crate::int::bitstream::{self, stream_bytes};
use crate::int::frame::POSITION_BITS;
use crate::{Corrupt, ImageCursor, VECTOR_VALUES};

/// Form of a vector, and what is needed to know its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    /// All rows alike.
    Uniform(bool),
    /// One bit per row, `bytes` in all.
    Bitmap { bytes: usize },
    /// Positions of the rows that are `value`.
    Positions { value: bool, count: usize },
    /// Positions where the value changes; the first row is `first`.
    Changes { first: bool, count: usize },
}

impl Container {
    /// The smallest form of the first `rows` bits; those beyond must be clear.
    pub(super) fn choose(bits: &[u64; VECTOR_WORDS], rows: usize) -> Self {
        let ones = ones(bits);
        if ones == 0 || ones == rows {
            return Self::Uniform(ones != 0);
        }
        let candidates = [
            Self::Bitmap {
                bytes: rows.div_ceil(8),
            },
            Self::Positions {
                value: true,
                count: ones,
            },
            Self::Positions {
                value: false,
                count: rows - ones,
            },
            Self::Changes {
                first: bits[0] & 1 != 0,
                count: self::ones(&changes(bits, rows)),
            },
        ];
        candidates
            .into_iter()
            .min_by_key(Self::bytes)
            .unwrap_or(candidates[0])
    }

    /// Bytes of the directory entry and the data.
    pub(super) fn bytes(&self) -> usize {
        let entry = match self {
            Self::Uniform(_) | Self::Bitmap { .. } => 1,
            Self::Positions { .. } | Self::Changes { .. } => 3,
        };
        entry + self.data_bytes()
    }

    /// Bytes of the data.
    pub(super) fn data_bytes(&self) -> usize {
        match *self {
            Self::Uniform(_) => 0,
            Self::Bitmap { bytes } => bytes,
            Self::Positions { count, .. } | Self::Changes { count, .. } => {
                stream_bytes(count, POSITION_BITS)
            }
        }
    }

    /// Appends the directory entry and the data of `bits`.
    pub(super) fn append(
        &self,
        bits: &[u64; VECTOR_WORDS],
        rows: usize,
        directory: &mut Vec<u8>,
        data: &mut Vec<u8>,
    ) {
        let (kind, count) = match *self {
            Self::Uniform(value) => (u8::from(value), None),
            Self::Bitmap { .. } => (2, None),
            Self::Positions { value, count } => (if value { 3 } else { 4 }, Some(count)),
            Self::Changes { first, count } => (5 + u8::from(first), Some(count)),
        };
        directory.push(kind);
        if let Some(count) = count {
            directory.extend_from_slice(&(count as u16).to_le_bytes());
        }
        let marked = match self {
            Self::Uniform(_) => return,
            Self::Bitmap { bytes } => {
                let all = bits.iter().flat_map(|word| word.to_le_bytes());
                data.extend(all.take(*bytes));
                return;
            }
            Self::Positions { value: true, .. } => *bits,
            Self::Positions { value: false, .. } => inverted(bits, rows),
            Self::Changes { .. } => changes(bits, rows),
        };
        bitstream::append(positions(&marked), POSITION_BITS, data);
    }

    /// Reads a directory entry of a vector of `rows` rows.
    pub(super) fn read(cursor: &mut ImageCursor<'_>, rows: usize) -> Result<Self, Corrupt> {
        let kind = cursor.u8("kind of a container")?;
        let count = match kind {
            3..=6 => usize::from(cursor.u16("count of a container")?),
            _ => 0,
        };
        if count > rows {
            return Err(cursor.corrupt("container has more positions than rows"));
        }
        match kind {
            0 | 1 => Ok(Self::Uniform(kind == 1)),
            2 => Ok(Self::Bitmap {
                bytes: rows.div_ceil(8),
            }),
            3 | 4 => Ok(Self::Positions {
                value: kind == 3,
                count,
            }),
            5 | 6 => Ok(Self::Changes {
                first: kind == 6,
                count,
            }),
            _ => Err(cursor.corrupt("unknown kind of container")),
        }
    }

    /// Decodes `rows` bits from the data, clearing those beyond.
    pub(super) fn decode(
        &self,
        data: &[u8],
        rows: usize,
        out: &mut [u64; VECTOR_WORDS],
    ) -> Result<(), &'static str> {
        match *self {
            Self::Uniform(value) => out.fill(if value { u64::MAX } else { 0 }),
            Self::Bitmap { .. } => read_words(data, out),
            Self::Positions { value, count } => {
                out.fill(0);
                mark(data, count, rows, out)?;
                if !value {
                    out.iter_mut().for_each(|word| *word = !*word);
                }
            }
            Self::Changes { first, count } => {
                out.fill(0);
                mark(data, count, rows, out)?;
                out[0] ^= u64::from(first);
                running_parity(out);
            }
        }
        clear_beyond(out, rows);
        Ok(())
    }

    /// How many of the rows are true.
    pub(super) fn true_count(&self, data: &[u8], rows: usize) -> Result<usize, &'static str> {
        Ok(match *self {
            Self::Uniform(value) => rows * usize::from(value),
            Self::Positions { value: true, count } => count,
            Self::Positions {
                value: false,
                count,
            } => rows - count,
            Self::Bitmap { .. } | Self::Changes { .. } => {
                let mut words = [0; VECTOR_WORDS];
                self.decode(data, rows, &mut words)?;
                ones(&words)
            }
        })
    }

    /// Writes the positions of the true rows to the front of `out`, ascending, and returns their number.
    pub(super) fn true_positions(
        &self,
        data: &[u8],
        rows: usize,
        out: &mut [u16; VECTOR_VALUES],
    ) -> Result<usize, &'static str> {
        if let Self::Positions { value: true, count } = *self {
            read_positions(data, count, rows, out)?;
            return Ok(count);
        }
        let mut words = [0; VECTOR_WORDS];
        self.decode(data, rows, &mut words)?;
        let mut count = 0;
        for (position, out) in positions(&words).zip(&mut *out) {
            *out = position as u16;
            count += 1;
        }
        Ok(count)
    }
}

/// Reads `count` positions, at most 1,024: four from every five bytes.
fn read_positions(
    data: &[u8],
    count: usize,
    rows: usize,
    out: &mut [u16; VECTOR_VALUES],
) -> Result<(), &'static str> {
    let fours = out.as_chunks_mut::<4>().0.iter_mut();
    for (index, four) in fours.take(count.div_ceil(4)).enumerate() {
        *four = four_positions(data, index).map(|position| position as u16);
    }
    let found = &out[..count];
    let ascend = found
        .windows(2)
        .fold(true, |ascend, pair| ascend & (pair[0] < pair[1]));
    if ascend && found.last().is_none_or(|&last| usize::from(last) < rows) {
        Ok(())
    } else {
        Err(NOT_ASCENDING)
    }
}

/// Positions `4 · index` to `4 · index + 3`, each below 1,024.
fn four_positions(data: &[u8], index: usize) -> [usize; 4] {
    let rest = data.get(5 * index..).unwrap_or_default();
    let word = match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let mut whole = [0; 8];
            whole[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(whole)
        }
    };
    std::array::from_fn(|place| (word >> (POSITION_BITS * place)) as usize % VECTOR_VALUES)
}

const _: () = assert!(4 * POSITION_BITS == 8 * 5 && 1 << POSITION_BITS == VECTOR_VALUES);

const NOT_ASCENDING: &str = "positions of a container do not ascend within the vector";

fn ones(bits: &[u64; VECTOR_WORDS]) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}

/// Bits that differ from the bit before, among the first `rows`; the first never does.
fn changes(bits: &[u64; VECTOR_WORDS], rows: usize) -> [u64; VECTOR_WORDS] {
    let mut before = bits[0] & 1;
    let mut out = bits.map(|word| {
        let shifted = word << 1 | before;
        before = word >> 63;
        word ^ shifted
    });
    clear_beyond(&mut out, rows);
    out
}

/// Undoes [`changes`]: each bit becomes the parity of the bits up to it.
fn running_parity(words: &mut [u64; VECTOR_WORDS]) {
    let mut carried = 0;
    for word in words {
        for shift in [1, 2, 4, 8, 16, 32] {
            *word ^= *word << shift;
        }
        *word ^= carried;
        carried = if *word >> 63 == 1 { u64::MAX } else { 0 };
    }
}

fn inverted(bits: &[u64; VECTOR_WORDS], rows: usize) -> [u64; VECTOR_WORDS] {
    let mut out = bits.map(|word| !word);
    clear_beyond(&mut out, rows);
    out
}

/// Positions of the set bits, ascending.
fn positions(bits: &[u64; VECTOR_WORDS]) -> impl Iterator<Item = u64> {
    let words = bits.iter().enumerate();
    words.flat_map(|(index, &word)| {
        let rest = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
        let set = rest.take_while(|rest| *rest != 0);
        set.map(move |rest| index as u64 * 64 + u64::from(rest.trailing_zeros()))
    })
}

/// Sets the bits at `count` positions, four from every five bytes.
fn mark(
    data: &[u8],
    count: usize,
    rows: usize,
    out: &mut [u64; VECTOR_WORDS],
) -> Result<(), &'static str> {
    let (mut earliest, mut ascend) = (0, true);
    let mut set = |position: usize| {
        ascend &= position >= earliest;
        earliest = position + 1;
        out[position / 64 % VECTOR_WORDS] |= 1 << (position % 64);
    };
    for index in 0..count / 4 {
        four_positions(data, index).into_iter().for_each(&mut set);
    }
    let rest = four_positions(data, count / 4).into_iter();
    rest.take(count % 4).for_each(&mut set);
    if ascend && earliest <= rows {
        Ok(())
    } else {
        Err(NOT_ASCENDING)
    }
}

/// Reads bits, least significant first; words beyond the bytes become 0.
pub(super) fn read_words(bytes: &[u8], out: &mut [u64; VECTOR_WORDS]) {
    out.fill(0);
    for (word, bytes) in out.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
}
