//! A slow reading of the documented table: intervals as sorted strings, codes as strings of bits.

use std::collections::BTreeSet;

pub struct Naive {
    symbols: BTreeSet<Vec<u8>>,
    starts: Vec<Vec<u8>>,
    codes: Vec<String>,
}

/// The least string after all that start with `prefix`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut successor = prefix.to_vec();
    while successor.pop_if(|last| *last == 255).is_some() {}
    *successor.last_mut()? += 1;
    Some(successor)
}

impl Naive {
    pub fn read(table: &[u8]) -> Self {
        assert_eq!(table[0], 1);
        let count = u16::from_le_bytes([table[1], table[2]]);
        let mut symbols: BTreeSet<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut starts = symbols.clone();
        let (mut at, mut symbol) = (3, Vec::new());
        for _ in 0..count {
            let (shared, own) = (usize::from(table[at] >> 4), usize::from(table[at] & 15));
            symbol.truncate(shared);
            symbol.extend(&table[at + 1..at + 1 + own]);
            at += 1 + own;
            symbols.insert(symbol.clone());
            starts.insert(symbol.clone());
            starts.extend(successor(&symbol));
        }
        let lengths = &table[at..];
        assert_eq!(lengths.len(), starts.len());
        let given: u64 = lengths.iter().map(|length| 1 << (24 - length)).sum();
        let mut next = (1 << 24) - given;
        let codes = lengths.iter().map(|&length| {
            let code = format!("{next:024b}");
            next += 1 << (24 - length);
            code[..usize::from(length)].to_owned()
        });
        Self {
            codes: codes.collect(),
            symbols,
            starts: starts.into_iter().collect(),
        }
    }

    /// The codes of the intervals that `string` falls into, with zeros up to a byte.
    pub fn key(&self, string: &[u8]) -> Vec<u8> {
        let (mut rest, mut bits) = (string, String::new());
        while !rest.is_empty() {
            let interval = self
                .starts
                .iter()
                .rposition(|start| start.as_slice() <= rest)
                .unwrap();
            let start = &self.starts[interval];
            let symbols = (1..=start.len()).rev().map(|length| &start[..length]);
            let symbol = symbols
                .into_iter()
                .find(|symbol| self.symbols.contains(*symbol))
                .unwrap();
            bits.push_str(&self.codes[interval]);
            rest = rest.strip_prefix(symbol).unwrap();
        }
        while !bits.len().is_multiple_of(8) {
            bits.push('0');
        }
        let bytes = bits.as_bytes().chunks(8);
        let byte = |bits: &[u8]| u8::from_str_radix(std::str::from_utf8(bits).unwrap(), 2).unwrap();
        bytes.map(byte).collect()
    }
}
