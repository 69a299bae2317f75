//! The symbols of an FSST table, and values decoded with them.
//!
//! Layout: number of symbols `s` (one byte, at most 255), `s` lengths of one byte each (1 to 8), the bytes of all symbols.

use crate::{Corrupt, ImageCursor};
use ::fsst::Compressor;

/// Code that announces a literal byte.
pub(super) const ESCAPE: u8 = 255;
pub(super) const SYMBOL_BYTES_MAX: usize = 8;

/// Symbols padded to eight bytes with zeros, and their lengths. Codes without a symbol have length 0.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct FsstSymbols {
    symbols: [[u8; SYMBOL_BYTES_MAX]; 256],
    lengths: [u8; 256],
}

impl FsstSymbols {
    /// Without symbols.
    pub(super) const fn empty() -> Self {
        Self {
            symbols: [[0; 8]; 256],
            lengths: [0; 256],
        }
    }

    /// Those of a trained table, which has at most 255.
    pub(super) fn of(compressor: &Compressor) -> Box<Self> {
        let mut table = Box::new(Self::empty());
        let trained = compressor.symbol_table().iter();
        let trained = trained.zip(compressor.symbol_lengths());
        for (code, (symbol, &length)) in trained.enumerate() {
            let bytes = usize::from(length);
            assert!(
                code < usize::from(ESCAPE) && (1..=SYMBOL_BYTES_MAX).contains(&bytes),
                "symbol {code} of {bytes} bytes"
            );
            table.symbols[code][..bytes].copy_from_slice(&symbol.to_u64().to_le_bytes()[..bytes]);
            table.lengths[code] = length;
        }
        table
    }

    pub(super) fn read(cursor: &mut ImageCursor<'_>) -> Result<Box<Self>, Corrupt> {
        let count = usize::from(cursor.u8("number of symbols")?);
        let symbol_lengths = cursor.bytes(count, "lengths of symbols")?;
        let mut table = Box::new(Self::empty());
        for (code, &length) in symbol_lengths.iter().enumerate() {
            if !(1..=SYMBOL_BYTES_MAX as u8).contains(&length) {
                return Err(cursor.corrupt("symbol is not of 1 to 8 bytes"));
            }
            let symbol = cursor.bytes(usize::from(length), "symbol")?;
            table.symbols[code][..symbol.len()].copy_from_slice(symbol);
            table.lengths[code] = length;
        }
        Ok(table)
    }

    pub(super) fn write(&self, image: &mut Vec<u8>) {
        let symbols = || self.iter().map(|(_, symbol)| symbol);
        image.push(symbols().count() as u8);
        image.extend(symbols().map(|symbol| symbol.len() as u8));
        symbols().for_each(|symbol| image.extend_from_slice(symbol));
    }

    /// Each code that has a symbol, with it. They are the first codes there are.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        let symbols = self.symbols.iter().zip(&self.lengths);
        let symbols = symbols.map(|(symbol, &length)| &symbol[..usize::from(length)]);
        let with_code = (0..=u8::MAX).zip(symbols);
        with_code.take_while(|(_, symbol)| !symbol.is_empty())
    }

    /// Room for whatever `code_count` codes stand for: a code stands for eight bytes at most, and the last is written with
    /// eight.
    pub(super) const fn room_bytes(code_count: usize) -> usize {
        (code_count + 1) * SYMBOL_BYTES_MAX
    }

    /// Writes what `codes` stand for to position `position` of `target`, and returns the end. `offset` is where the codes are,
    /// for errors.
    pub(super) fn decode(
        &self,
        codes: &[u8],
        target: &mut [u8],
        position: usize,
        offset: usize,
    ) -> Result<usize, Corrupt> {
        let mut position = position;
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            let Some(room) = target.get_mut(position..position + SYMBOL_BYTES_MAX) else {
                return Err(Corrupt::new(
                    "codes stand for more bytes than they can",
                    offset,
                ));
            };
            if code == ESCAPE {
                let literal = codes
                    .next()
                    .ok_or(Corrupt::new("escape without a byte", offset))?;
                room[0] = *literal;
                position += 1;
                continue;
            }
            let length = self.lengths[usize::from(code)];
            if length == 0 {
                return Err(no_symbol(code, offset));
            }
            room.copy_from_slice(&self.symbols[usize::from(code)]);
            position += usize::from(length);
        }
        Ok(position)
    }
}

#[cold]
fn no_symbol(code: u8, offset: usize) -> Corrupt {
    Corrupt::new(format!("code {code} has no symbol"), offset)
}
