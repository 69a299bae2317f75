//! Which symbols a sample asks for, and which codes.
//!
//! Symbols grow in rounds. The sample is cut with the symbols there are; a pair of neighbours that would save the most
//! bits as one symbol becomes one, and a symbol that saves less than others falls out. How many bits a symbol takes
//! is estimated from how often it is used; at last, the code is optimal for the intervals.

use super::alphabetic::code_lengths;
use super::code::{CODE_BITS_MAX, check};
use super::intervals::{Intervals, Symbol, point_of};
use super::{OrderedCode, SYMBOLS_MAX};
use std::cmp::Reverse;

const ROUNDS: usize = 6;
/// Bits that a symbol must save in the sample to be worth its place in the table, in 256ths of a bit.
const SAVING_MIN: i64 = 40 * 256;
/// What one use counts, where intervals that are never used count 1.
const USE_WEIGHT: u64 = 4;

/// The binary logarithm in 256ths, straight between powers of two.
fn log2(number: u64) -> i64 {
    let whole = number.max(1).ilog2();
    let fraction = ((u128::from(number) << 8) >> whole) as i64 & 0xFF;
    i64::from(whole) << 8 | fraction
}

/// The intervals that `string` is cut into.
fn parse(intervals: &Intervals, string: &[u8], mut take: impl FnMut(usize)) {
    let mut rest = string;
    while !rest.is_empty() {
        let interval = intervals.find(point_of(rest));
        take(interval);
        let length = usize::from(intervals.symbols()[interval].length);
        rest = rest.get(length..).unwrap_or_default();
    }
}

/// How often symbols are used, and follow each other, in a sample.
struct Uses {
    /// Ascending.
    symbols: Vec<Symbol>,
    counts: Vec<u64>,
    total: u64,
    /// A pair that could be a symbol, and how often it occurs.
    pairs: Vec<(Symbol, Symbol, u64)>,
}

impl Uses {
    fn count(sample: &[&[u8]], intervals: &Intervals) -> Self {
        let mut symbols = intervals.symbols().to_vec();
        symbols.sort_unstable();
        symbols.dedup();
        let of_interval: Vec<u32> = intervals
            .symbols()
            .iter()
            .map(|symbol| symbols.partition_point(|other| other < symbol) as u32)
            .collect();
        let mut counts = vec![0; symbols.len()];
        let mut keys: Vec<(u32, u32)> = Vec::new();
        for string in sample {
            let mut before = None;
            parse(intervals, string, |interval| {
                let now = of_interval[interval];
                counts[now as usize] += 1;
                keys.extend(before.map(|before| (before, now)));
                before = Some(now);
            });
        }
        keys.sort_unstable();
        let pairs = keys.chunk_by(|a, b| a == b).map(|chunk| {
            let (a, b) = chunk[0];
            (symbols[a as usize], symbols[b as usize], chunk.len() as u64)
        });
        Self {
            pairs: pairs.collect(),
            total: counts.iter().sum(),
            symbols,
            counts,
        }
    }

    /// Bits of a symbol that is used `count` times.
    fn bits(&self, count: u64) -> i64 {
        log2(self.total) - log2(count.max(1))
    }

    fn bits_of(&self, symbol: Symbol) -> i64 {
        let at = self.symbols.binary_search(&symbol);
        self.bits(
            at.ok()
                .and_then(|at| self.counts.get(at))
                .copied()
                .unwrap_or(0),
        )
    }

    /// Bits that `symbol` saves where it stands for what the others would be cut into.
    fn saving(&self, symbol: Symbol, count: u64, intervals: &Intervals) -> i64 {
        let bytes = symbol.bytes();
        let bytes = &bytes[..usize::from(symbol.length)];
        let beginning = (1..bytes.len())
            .rev()
            .map(|length| Symbol::of(&bytes[..length]))
            .find(|shorter| self.symbols.binary_search(shorter).is_ok());
        let beginning = beginning.unwrap_or(Symbol::of(&bytes[..1]));
        let mut bits = self.bits_of(beginning);
        parse(
            intervals,
            &bytes[usize::from(beginning.length)..],
            |interval| {
                bits += self.bits_of(intervals.symbols()[interval]);
            },
        );
        (bits - self.bits(count)) * count as i64
    }

    /// The symbols of several bytes to go on with: at most `limit`, those that save the most.
    fn best(&self, limit: usize, intervals: &Intervals) -> Vec<Symbol> {
        let known = self.symbols.iter().zip(&self.counts);
        let mut scored: Vec<(Reverse<i64>, Symbol)> = known
            .filter(|(symbol, _)| symbol.length > 1)
            .map(|(&symbol, &count)| (Reverse(self.saving(symbol, count, intervals)), symbol))
            .collect();
        for &(left, right, count) in &self.pairs {
            let joined = left.followed_by(right);
            let bits = self.bits_of(left) + self.bits_of(right) - self.bits(count);
            if let Some(symbol) = joined.filter(|symbol| !symbol.ends_with_zero()) {
                scored.push((Reverse(bits * count as i64), symbol));
            }
        }
        scored.retain(|(Reverse(saving), _)| *saving >= SAVING_MIN);
        scored.sort_unstable();
        let mut best: Vec<Symbol> = Vec::with_capacity(limit);
        let mut seen = std::collections::BTreeSet::new();
        let fresh = scored.into_iter().map(|(_, symbol)| symbol);
        best.extend(fresh.filter(|symbol| seen.insert(*symbol)).take(limit));
        best.sort_unstable();
        best
    }
}

/// Lengths of the codes of intervals used so often, none longer than a code can be.
fn lengths(uses: &[u64]) -> Vec<u8> {
    let mut least = 1;
    loop {
        // The first leaf stays without an interval: no code consists of zeros.
        let weights: Vec<u64> = std::iter::once(least)
            .chain(uses.iter().map(|uses| (uses * USE_WEIGHT + 1).max(least)))
            .collect();
        let lengths = code_lengths(&weights);
        if lengths.iter().all(|length| *length <= CODE_BITS_MAX) {
            return lengths
                .into_iter()
                .skip(1)
                .map(|length| length as u8)
                .collect();
        }
        least *= 2;
    }
}

impl OrderedCode {
    /// Trains a code for strings such as those of `sample`, with at most `symbol_limit` symbols of several bytes and
    /// never more than [`SYMBOLS_MAX`]. With 0, each byte has a code of its own.
    ///
    /// Any string can be encoded, whatever the sample. A sample of 1 MB spread over the column is enough;
    /// training takes about 16 bytes of memory for each of its bytes. The same sample gives the same code.
    pub fn train<'a>(sample: impl IntoIterator<Item = &'a [u8]>, symbol_limit: usize) -> Self {
        let sample: Vec<&[u8]> = sample.into_iter().collect();
        let limit = symbol_limit.min(SYMBOLS_MAX);
        let mut intervals = Intervals::new(&[]);
        for round in 1..=ROUNDS {
            if limit == 0 {
                break;
            }
            let uses = Uses::count(&sample, &intervals);
            intervals = Intervals::new(&uses.best(limit * round / ROUNDS, &intervals));
        }
        let mut uses = vec![0; intervals.len()];
        for string in &sample {
            parse(&intervals, string, |interval| uses[interval] += 1);
        }
        let lengths = lengths(&uses);
        assert_eq!(
            check(&lengths),
            Ok(()),
            "optimal lengths must be those of a tree"
        );
        Self::new(intervals, &lengths)
    }
}
