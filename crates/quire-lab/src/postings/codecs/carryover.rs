//! Carryover-12: V. N. Anh, A. Moffat, *Inverted Index Compression Using Word-Aligned Binary Codes*,
//! Information Retrieval 8(1), 2005.
//!
//! A list is a sequence of 32-bit words (little endian), each of which holds as many equally wide numbers as fit.
//! How they are laid out is one of twelve rows of a table, and is told by a selector of two bits, relative to
//! the row of the word before. The selector is in the two lowest bits of its own word, with the numbers in the
//! 30 bits above it, or, where the word before had two bits left over, in the two highest bits of that one: it
//! is carried over, and the word has all 32 bits for numbers.
//!
//! | row | a | b | c | d | e | f | g | h | i | j | k | l |
//! |---|---|---|---|---|---|---|---|---|---|---|---|---|
//! | width in 30 bits | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 9 | 10 | 14 | 15 | 28 |
//! | numbers | 30 | 15 | 10 | 7\* | 6 | 5 | 4\* | 3\* | 3 | 2\* | 2 | 1\* |
//! | width in 32 bits | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 15 | 16 | 30 |
//! | numbers | 32 | 16 | 10\* | 8 | 6\* | 5\* | 4\* | 4 | 3\* | 2\* | 2 | 1\* |
//!
//! \* leaves two bits or more. A selector of 0, 1 or 2 is the row before, the same, the row behind (a is
//! followed by a, b, c; k by i, j, k; l by f, i, k); 3 is always row l. Numbers fill a word from its lowest
//! bits; places behind the last number of a list are 0. The row before the first word is l, with nothing carried
//! over. Every number is below 2^28: that much fits into any state. The writer takes the narrowest of the four
//! rows into which the next numbers fit.

use super::{GAPS_MAX, GapsError, PostingsCodec};
use quire_codec::Corrupt;

/// The word-aligned codec. It keeps no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carryover12;

const LARGEST: u32 = (1 << 28) - 1;
/// Row l: one number a word.
const ROW_SINGLE: u8 = 11;
const WIDTHS: [[u8; 12]; 2] = [
    [1, 2, 3, 4, 5, 6, 7, 9, 10, 14, 15, 28],
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 16, 30],
];
/// Rows a word may have, by the row of the word before and the selector.
const FOLLOWING: [[u8; 4]; 12] = following();

const fn following() -> [[u8; 4]; 12] {
    let mut table = [[ROW_SINGLE; 4]; 12];
    let mut row = 0;
    while row < 11 {
        let first = match row {
            0 => 0,
            10 => 8,
            _ => row - 1,
        };
        table[row as usize] = [first, first + 1, first + 2, ROW_SINGLE];
        row += 1;
    }
    table[11] = [5, 8, 10, ROW_SINGLE];
    table
}

/// What is known before a word is read: the row of the one before, and the selector if it was carried over.
#[derive(Clone, Copy)]
struct CarryoverState {
    row: u8,
    carried: bool,
}

const START: CarryoverState = CarryoverState {
    row: ROW_SINGLE,
    carried: false,
};

/// How the numbers of a word are laid out.
#[derive(Clone, Copy)]
struct CarryoverLayout {
    width: u32,
    count: usize,
    /// Two bits are left for the next selector.
    carries: bool,
}

const fn layout(row: u8, carried: bool) -> CarryoverLayout {
    let (widths, bits) = if carried {
        (WIDTHS[1], 32)
    } else {
        (WIDTHS[0], 30)
    };
    let width = widths[row as usize] as u32;
    let count = bits / width;
    CarryoverLayout {
        width,
        count: count as usize,
        carries: bits - width * count >= 2,
    }
}

impl PostingsCodec for Carryover12 {
    fn name(&self) -> &'static str {
        "carryover-12"
    }

    fn encode(&self, gaps: &[u32], payload: &mut Vec<u8>) -> Result<(), GapsError> {
        let count = gaps.len();
        if count > GAPS_MAX {
            return Err(GapsError::TooMany { count });
        }
        if let Some(index) = gaps.iter().position(|&gap| gap > LARGEST) {
            return Err(GapsError::TooLarge {
                gap: gaps[index],
                index,
                largest: LARGEST,
            });
        }
        let (mut state, mut rest) = (START, gaps);
        let mut before: Option<u32> = None;
        while !rest.is_empty() {
            let (selector, row) = narrowest(state, rest);
            let layout = layout(row, state.carried);
            let (now, later) = rest.split_at(layout.count.min(rest.len()));
            let mut word = pack(now, layout.width);
            match &mut before {
                Some(before) if state.carried => *before |= selector << 30,
                _ => word = word << 2 | selector,
            }
            payload.extend(before.map(u32::to_le_bytes).into_iter().flatten());
            before = Some(word);
            state = CarryoverState {
                row,
                carried: layout.carries,
            };
            rest = later;
        }
        payload.extend(before.map(u32::to_le_bytes).into_iter().flatten());
        Ok(())
    }

    fn decode(&self, payload: &[u8], gaps: &mut [u32]) -> Result<(), Corrupt> {
        let (words, odd) = payload.as_chunks::<4>();
        if !odd.is_empty() {
            return Err(Corrupt::new(
                "carryover-12 word is cut short",
                4 * words.len(),
            ));
        }
        let (mut state, mut carried, mut filled) = (START, 0, 0);
        for (index, word) in words.iter().enumerate() {
            let word = u32::from_le_bytes(*word);
            let (selector, bits) = if state.carried {
                (carried, word)
            } else {
                (word & 3, word >> 2)
            };
            let row = FOLLOWING[usize::from(state.row)][selector as usize];
            let room = &mut gaps[filled..];
            if room.is_empty() {
                return Err(Corrupt::new(
                    "words follow the carryover-12 list",
                    4 * index,
                ));
            }
            filled += match room.first_chunk_mut::<32>() {
                Some(room) => unpack(row, state.carried, bits, room),
                None => {
                    let mut all = [0; 32];
                    let count = unpack(row, state.carried, bits, &mut all).min(room.len());
                    room[..count].copy_from_slice(&all[..count]);
                    count
                }
            };
            let layout = layout(row, state.carried);
            carried = word >> 30;
            state = CarryoverState {
                row,
                carried: layout.carries,
            };
        }
        if filled != gaps.len() {
            return Err(Corrupt::new(
                "carryover-12 list is cut short",
                payload.len(),
            ));
        }
        Ok(())
    }
}

/// Selector and row of the first row into which the next numbers fit.
fn narrowest(state: CarryoverState, rest: &[u32]) -> (u32, u8) {
    for (selector, row) in (0..).zip(FOLLOWING[usize::from(state.row)]) {
        let layout = layout(row, state.carried);
        let mut next = rest.iter().take(layout.count);
        if next.all(|gap| gap >> layout.width == 0) {
            return (selector, row);
        }
    }
    // Row l holds every number that `encode` has let through.
    (3, ROW_SINGLE)
}

fn pack(numbers: &[u32], width: u32) -> u32 {
    let wide = numbers
        .iter()
        .rev()
        .fold(0u64, |word, &number| word << width | u64::from(number));
    wide as u32
}

/// Writes the numbers of a word and returns how many they are. What is behind them in `out` is not kept.
#[inline]
fn unpack(row: u8, carried: bool, bits: u32, out: &mut [u32; 32]) -> usize {
    /// One word of a layout that is known when compiling, so that the loop is unrolled.
    #[inline]
    fn numbers<const ROW: u8, const CARRIED: bool>(bits: u32, out: &mut [u32; 32]) -> usize {
        let CarryoverLayout { width, count, .. } = const { layout(ROW, CARRIED) };
        let mask = const { ((1u64 << layout(ROW, CARRIED).width) - 1) as u32 };
        for (index, number) in (0..).zip(&mut out[..count]) {
            *number = bits >> (index * width) & mask;
        }
        count
    }
    match (row, carried) {
        (0, false) => numbers::<0, false>(bits, out),
        (1, false) => numbers::<1, false>(bits, out),
        (2, false) => numbers::<2, false>(bits, out),
        (3, false) => numbers::<3, false>(bits, out),
        (4, false) => numbers::<4, false>(bits, out),
        (5, false) => numbers::<5, false>(bits, out),
        (6, false) => numbers::<6, false>(bits, out),
        (7, false) => numbers::<7, false>(bits, out),
        (8, false) => numbers::<8, false>(bits, out),
        (9, false) => numbers::<9, false>(bits, out),
        (10, false) => numbers::<10, false>(bits, out),
        (_, false) => numbers::<11, false>(bits, out),
        (0, true) => numbers::<0, true>(bits, out),
        (1, true) => numbers::<1, true>(bits, out),
        (2, true) => numbers::<2, true>(bits, out),
        (3, true) => numbers::<3, true>(bits, out),
        (4, true) => numbers::<4, true>(bits, out),
        (5, true) => numbers::<5, true>(bits, out),
        (6, true) => numbers::<6, true>(bits, out),
        (7, true) => numbers::<7, true>(bits, out),
        (8, true) => numbers::<8, true>(bits, out),
        (9, true) => numbers::<9, true>(bits, out),
        (10, true) => numbers::<10, true>(bits, out),
        (_, true) => numbers::<11, true>(bits, out),
    }
}
