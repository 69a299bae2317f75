//! What the words of a payload are and how often each follows another: the part all vectors share.

use super::tokens::TOKEN_BYTES_MAX;
use crate::{Corrupt, ImageCursor};

/// Ends a value. Stands for no bytes.
pub(super) const END: u16 = 0;
/// Says that the next symbol is coded in the [`GENERAL`] context. Stands for no bytes.
pub(super) const ESCAPE: u16 = 1;
/// Contexts; the one after each symbol is stored in four bits.
pub(super) const CONTEXTS: usize = 16;
/// The context after [`ESCAPE`], in which every symbol but the escape itself can be coded.
pub(super) const GENERAL: u8 = 0;
/// Symbols, [`END`] and [`ESCAPE`] included: well below [`TOTAL`], in which each has a share.
pub(super) const SYMBOLS_MAX: usize = 3072;
/// Frequencies of a context add up to this.
pub(super) const TOTAL: u32 = 1 << TOTAL_LOG2;
pub(super) const TOTAL_LOG2: u32 = 12;
/// A model is never larger, before its section is compressed.
pub(super) const MODEL_BYTES_MAX: usize = 2 + SYMBOLS_MAX * (TOKEN_BYTES_MAX + 2 + 4 * CONTEXTS);

/// Bytes that a symbol stands for; none for [`END`] and [`ESCAPE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    pub bytes: [u8; TOKEN_BYTES_MAX],
    pub length: u8,
}

impl Token {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut token = Self {
            bytes: [0; TOKEN_BYTES_MAX],
            length: bytes.len() as u8,
        };
        token.bytes[..bytes.len()].copy_from_slice(bytes);
        token
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Frequency of a symbol in a context, of [`TOTAL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frequency {
    pub symbol: u16,
    pub frequency: u16,
}

/// Symbols, the context after each, and the frequencies in each context. The frequencies of a context
/// ascend by symbol and add up to [`TOTAL`]; a context that follows no symbol has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub tokens: Vec<Token>,
    pub context_after: Vec<u8>,
    pub frequencies: [Vec<Frequency>; CONTEXTS],
}

fn write_varint(value: u16, out: &mut Vec<u8>) {
    if value < 0x80 {
        out.push(value as u8);
    } else if value < 0x4000 {
        out.extend([value as u8 & 0x7f | 0x80, (value >> 7) as u8]);
    } else {
        out.extend([
            value as u8 & 0x7f | 0x80,
            (value >> 7) as u8 | 0x80,
            (value >> 14) as u8,
        ]);
    }
}

fn read_varint(cursor: &mut ImageCursor<'_>, what: &'static str) -> Result<u16, Corrupt> {
    let mut value = 0u32;
    for shift in [0, 7, 14] {
        let byte = cursor.u8(what)?;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u16::try_from(value).map_err(|_| cursor.corrupt("number passes 16 bits"));
        }
    }
    Err(cursor.corrupt("number passes 16 bits"))
}

impl Model {
    /// The model as bytes: `u16` number of symbols; from the third symbol on, the length of each in one
    /// byte, then the bytes of each; the context after each symbol in one byte; then for each context the
    /// number of its frequencies, the differences between their symbols, and the frequencies less one,
    /// as base-128 numbers, lowest bits first.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = (self.tokens.len() as u16).to_le_bytes().to_vec();
        let tokens = &self.tokens[usize::from(ESCAPE) + 1..];
        out.extend(tokens.iter().map(|token| token.length));
        tokens
            .iter()
            .for_each(|token| out.extend_from_slice(token.as_slice()));
        out.extend_from_slice(&self.context_after);
        for list in &self.frequencies {
            write_varint(list.len() as u16, &mut out);
            let mut before = 0;
            for one in list {
                write_varint(one.symbol - before, &mut out);
                before = one.symbol;
            }
            list.iter()
                .for_each(|one| write_varint(one.frequency - 1, &mut out));
        }
        assert!(out.len() <= MODEL_BYTES_MAX, "model of {} bytes", out.len());
        out
    }

    /// The model that [`Self::to_bytes`] wrote.
    pub(super) fn from_bytes(raw: &[u8]) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(raw, 0..raw.len())?;
        let count = usize::from(cursor.u16("number of symbols")?);
        if !(2..=SYMBOLS_MAX).contains(&count) {
            return Err(cursor.corrupt("model has too few or too many symbols"));
        }
        let mut tokens = vec![Token::default(); 2];
        for &length in cursor.bytes(count - 2, "lengths of words")? {
            tokens.push(Token {
                length,
                ..Token::default()
            });
        }
        for token in &mut tokens[2..] {
            if !(1..=TOKEN_BYTES_MAX as u8).contains(&token.length) {
                return Err(cursor.corrupt("word is not of 1 to 16 bytes"));
            }
            *token = Token::new(cursor.bytes(usize::from(token.length), "word")?);
        }
        let context_after = cursor.bytes(count, "contexts")?.to_vec();
        let mut frequencies = [const { Vec::new() }; CONTEXTS];
        for list in &mut frequencies {
            *list = read_frequencies(&mut cursor, count)?;
        }
        cursor.finish("model")?;
        let model = Self {
            tokens,
            context_after,
            frequencies,
        };
        model.check().map_err(|what| Corrupt::new(what, 0))?;
        Ok(model)
    }

    /// What decoding relies on, so that every symbol leads to a context with frequencies, and at most
    /// every second symbol stands for nothing without ending a value.
    fn check(&self) -> Result<(), &'static str> {
        for &context in &self.context_after {
            if self
                .frequencies
                .get(usize::from(context))
                .is_none_or(Vec::is_empty)
            {
                return Err("a word leads to a context that does not exist");
            }
        }
        if self.context_after.get(usize::from(ESCAPE)) != Some(&GENERAL) {
            return Err("the escape does not lead to the general context");
        }
        if self.frequencies[usize::from(GENERAL)]
            .iter()
            .any(|one| one.symbol == ESCAPE)
        {
            return Err("the general context escapes");
        }
        Ok(())
    }
}

fn read_frequencies(
    cursor: &mut ImageCursor<'_>,
    symbols: usize,
) -> Result<Vec<Frequency>, Corrupt> {
    let count = usize::from(read_varint(cursor, "number of frequencies")?);
    if count > symbols {
        return Err(cursor.corrupt("context has more frequencies than symbols"));
    }
    let mut list = Vec::with_capacity(count);
    let mut symbol = 0u16;
    for index in 0..count {
        let gap = read_varint(cursor, "symbol")?;
        symbol = symbol.saturating_add(gap);
        if usize::from(symbol) >= symbols || (index > 0 && gap == 0) {
            return Err(cursor.corrupt("symbols of a context do not ascend"));
        }
        list.push(Frequency {
            symbol,
            frequency: 0,
        });
    }
    let mut total = 0;
    for one in &mut list {
        one.frequency = read_varint(cursor, "frequency")?.saturating_add(1);
        total += u32::from(one.frequency);
    }
    match total {
        TOTAL => Ok(list),
        0 => Ok(list),
        _ => Err(cursor.corrupt("frequencies do not add up to 4,096")),
    }
}
