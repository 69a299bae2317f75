//! An FSST table that is kept, and values that are coded with it one at a time: strings in the tuples of row tables.
//!
//! The table is trained by the crate `fsst-rs`. Coding is ours, because a table may come from a file, and the crate's coder
//! panics where a table is not one of its own. It takes the longest symbol at each place, as Boncz, Neumann and Leis do (PVLDB 13,
//! §4).

use std::fmt;

use super::fsst_symbols::{ESCAPE, FsstSymbols, SYMBOL_BYTES_MAX};
use crate::{Corrupt, ImageCursor};
use ::fsst::Compressor;

/// Symbols that stand for frequent parts of some strings.
///
/// ```
/// use quire_codec::text::FsstTable;
///
/// let sample: Vec<String> = (0..500).map(|n| format!("furiously ironic deposits nag {n}")).collect();
/// let table = FsstTable::train(&sample.iter().map(String::as_bytes).collect::<Vec<_>>());
/// let (mut codes, mut text) = (Vec::new(), Vec::new());
/// assert!(table.encode_if_shorter(b"ironic deposits", &mut codes));
/// table.decode(&codes, &mut text)?;
/// assert_eq!(text, b"ironic deposits");
/// let again = FsstTable::from_bytes(&table.to_bytes())?;
/// assert_eq!(again, table);
/// # Ok::<(), quire_codec::Corrupt>(())
/// ```
#[derive(Clone)]
pub struct FsstTable {
    symbols: Box<FsstSymbols>,
    /// The symbols by their first bytes, the longest first.
    matches: Vec<SymbolMatch>,
    /// Where those that begin with each byte start in `matches`; one more, the end.
    starts: [u8; 257],
}

/// A symbol as the first bytes of a word, and which bits of the word it has.
#[derive(Clone, Copy)]
struct SymbolMatch {
    word: u64,
    mask: u64,
    length: u8,
    code: u8,
}

impl PartialEq for FsstTable {
    fn eq(&self, other: &Self) -> bool {
        self.symbols == other.symbols
    }
}

impl Eq for FsstTable {}

impl fmt::Debug for FsstTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FsstTable")
            .field("symbols", &self.matches.len())
            .finish_non_exhaustive()
    }
}

impl FsstTable {
    /// The table for strings like those of `sample`: the same sample gives the same table.
    #[must_use]
    pub fn train(sample: &[&[u8]]) -> Self {
        Self::of(FsstSymbols::of(&Compressor::train(&sample.to_vec())))
    }

    /// Reads what [`Self::to_bytes`] has written.
    ///
    /// # Errors
    /// Bytes that are cut short, symbols that are not of 1 to 8 bytes, and bytes behind the last symbol.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(bytes, 0..bytes.len())?;
        let symbols = FsstSymbols::read(&mut cursor)?;
        cursor.finish("symbols")?;
        Ok(Self::of(symbols))
    }

    fn of(symbols: Box<FsstSymbols>) -> Self {
        let all = symbols.iter().map(|(code, symbol)| SymbolMatch {
            word: first_word(symbol),
            mask: u64::MAX >> (64 - 8 * symbol.len()),
            length: symbol.len() as u8,
            code,
        });
        let mut matches: Vec<SymbolMatch> = all.collect();
        let first = |one: &SymbolMatch| one.word as u8;
        matches.sort_by_key(|one| (first(one), u8::MAX - one.length, one.code));
        let mut starts = [0; 257];
        for (byte, start) in starts.iter_mut().enumerate() {
            let before = matches.partition_point(|one| usize::from(first(one)) < byte);
            // There are at most 255 symbols.
            *start = before as u8;
        }
        Self {
            symbols,
            matches,
            starts,
        }
    }

    /// The table as bytes: its number of symbols (1), their lengths (1 each), their bytes. At most 2,296.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.symbols.write(&mut bytes);
        bytes
    }

    /// Appends the codes of `value` to `codes`, if they are fewer than its bytes; says whether they are.
    pub fn encode_if_shorter(&self, value: &[u8], codes: &mut Vec<u8>) -> bool {
        let start = codes.len();
        let limit = start + value.len();
        let mut rest = value;
        while let Some(&first) = rest.first() {
            let length = match self.longest(first, rest) {
                Some(symbol) => {
                    codes.push(symbol.code);
                    usize::from(symbol.length)
                }
                None => {
                    codes.extend([ESCAPE, first]);
                    1
                }
            };
            if codes.len() >= limit {
                break;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        let is_shorter = codes.len() < limit;
        if !is_shorter {
            codes.truncate(start);
        }
        is_shorter
    }

    /// The longest symbol that `rest` begins with; `first` is its first byte.
    #[inline]
    fn longest(&self, first: u8, rest: &[u8]) -> Option<&SymbolMatch> {
        let first = usize::from(first);
        let range = usize::from(self.starts[first])..usize::from(self.starts[first + 1]);
        let word = first_word(rest);
        let with_first = self.matches.get(range).unwrap_or_default();
        with_first
            .iter()
            .find(|one| (word ^ one.word) & one.mask == 0 && usize::from(one.length) <= rest.len())
    }

    /// Appends the string that `codes` stand for, which [`Self::encode_if_shorter`] has written. A byte of them stands for at most 8.
    ///
    /// # Errors
    /// A code without a symbol, or an escape without a byte; `text` is then as it was.
    #[inline]
    pub fn decode(&self, codes: &[u8], text: &mut Vec<u8>) -> Result<(), Corrupt> {
        let start = text.len();
        text.resize(start + FsstSymbols::room_bytes(codes.len()), 0);
        let end = self.symbols.decode(codes, text, start, 0);
        text.truncate(*end.as_ref().unwrap_or(&start));
        end.map(|_| ())
    }
}

/// The first eight bytes, or those there are and zeros.
#[inline]
fn first_word(bytes: &[u8]) -> u64 {
    if let Some(whole) = bytes.first_chunk() {
        return u64::from_le_bytes(*whole);
    }
    let mut padded = [0; SYMBOL_BYTES_MAX];
    for (target, byte) in padded.iter_mut().zip(bytes) {
        *target = *byte;
    }
    u64::from_le_bytes(padded)
}
