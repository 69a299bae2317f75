//! The bytes of a trained code.
//!
//! | field | bytes |
//! |---|---|
//! | version, 1 | 1 |
//! | number of symbols of several bytes | 2 |
//! | each of them, ascending: how many bytes it shares with the one before in the high four bits, how many follow in the low four; then these | 2 to 9 |
//! | the bits of each interval's code, in the order of the intervals | 1 each |
//!
//! Intervals and codes follow from these: the symbols cut the axis of all strings ([`super::intervals`]), and codes
//! are given out from the highest downwards in the order of the intervals.

use super::code::check;
use super::intervals::{Intervals, SYMBOL_BYTES_MAX, Symbol};
use super::{OrderedCode, SYMBOLS_MAX};
use crate::{Corrupt, ImageCursor};

const VERSION: u8 = 1;

fn shared_bytes(a: Symbol, b: Symbol) -> usize {
    let equal = ((a.point ^ b.point).leading_zeros() / 8) as u8;
    usize::from(equal.min(a.length).min(b.length))
}

fn read_symbol(cursor: &mut ImageCursor<'_>, before: Option<Symbol>) -> Result<Symbol, Corrupt> {
    let header = usize::from(cursor.u8("lengths of a symbol")?);
    let (shared, own) = (header >> 4, header & 15);
    let shared_max = before.map_or(0, |before| usize::from(before.length));
    if shared > shared_max || !(2..=SYMBOL_BYTES_MAX).contains(&(shared + own)) {
        return Err(cursor.corrupt("symbol is not of 2 to 8 bytes, or shares more than there is"));
    }
    let beginning = before.map_or([0; SYMBOL_BYTES_MAX], Symbol::bytes);
    let mut bytes = beginning[..shared].to_vec();
    bytes.extend_from_slice(cursor.bytes(own, "symbol")?);
    let symbol = Symbol::of(&bytes);
    if symbol.ends_with_zero() {
        return Err(cursor.corrupt("symbol ends with a zero byte"));
    }
    if before.is_some_and(|before| before >= symbol) {
        return Err(cursor.corrupt("symbols do not ascend"));
    }
    if before.is_some_and(|before| shared_bytes(before, symbol) != shared) {
        return Err(cursor.corrupt("symbol shares more with the one before than it says"));
    }
    Ok(symbol)
}

impl OrderedCode {
    /// The table, for [`Self::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut longer: Vec<Symbol> = self.intervals.symbols().to_vec();
        longer.retain(|symbol| symbol.length > 1);
        longer.sort_unstable();
        longer.dedup();
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&(longer.len() as u16).to_le_bytes());
        let mut before = None;
        for symbol in longer {
            let shared = before.map_or(0, |before| shared_bytes(before, symbol));
            let length = usize::from(symbol.length);
            bytes.push((shared << 4 | (length - shared)) as u8);
            bytes.extend_from_slice(&symbol.bytes()[shared..length]);
            before = Some(symbol);
        }
        bytes.extend(self.leaves.iter().map(|leaf| leaf.code_bits));
        bytes
    }

    /// Reads a table. Takes about 140 KB of memory, and 40 bytes for each interval.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not those of a table: symbols that do not ascend, codes that are not in the
    /// order of the intervals or share a beginning, another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(bytes, 0..bytes.len())?;
        let version = cursor.u8("version of an ordered code")?;
        if version != VERSION {
            return Err(Corrupt::new(
                format!("ordered code has version {version}, and {VERSION} can be read"),
                0,
            ));
        }
        let count = usize::from(cursor.u16("number of symbols")?);
        if count > SYMBOLS_MAX {
            return Err(cursor.corrupt("more symbols than a table can have"));
        }
        let mut symbols = Vec::with_capacity(count);
        for _ in 0..count {
            symbols.push(read_symbol(&mut cursor, symbols.last().copied())?);
        }
        let intervals = Intervals::new(&symbols);
        let at = cursor.position();
        let lengths = cursor.bytes(intervals.len(), "lengths of codes")?;
        cursor.finish("lengths of codes")?;
        check(lengths).map_err(|what| Corrupt::new(what, at))?;
        Ok(Self::new(intervals, lengths))
    }
}
