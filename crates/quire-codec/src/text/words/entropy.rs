//! Tabled asymmetric numeral systems (Duda, arXiv 1311.2540): a symbol of frequency f of 4,096 costs
//! 12 − log2 f bits, fractions included.
//!
//! The coder is a state of 12 bits. Each context has a table of 4,096 states; the states that belong to a
//! symbol are spread over it, as many as its frequency. Decoding reads the symbol that the state belongs
//! to, and the next state from the table and a few bits of the stream. Encoding goes the same way
//! backwards, last symbol first.
//!
//! The place of a state in all tables together, context · 4,096 + state, fits 16 bits. So a decoder finds
//! the next place, context included, in one look-up of four bytes, and no place can be out of bounds.

use super::model::{CONTEXTS, Frequency, Model, TOTAL, TOTAL_LOG2};
use crate::kernel::word_lanes::place_entry;

const STATES: usize = TOTAL as usize;
/// Places in the tables of all contexts.
pub(super) const PLACES: usize = CONTEXTS * STATES;

/// Which symbol each state of a context belongs to. Walks the states in steps of 2,563, which is odd and
/// near 5/8 of their number, so that the states of a symbol lie far apart.
fn spread(list: &[Frequency]) -> [u16; STATES] {
    let mut owners = [0u16; STATES];
    let mut state = 0;
    for one in list {
        for _ in 0..one.frequency {
            owners[state] = one.symbol;
            state = (state + (STATES >> 1) + (STATES >> 3) + 3) % STATES;
        }
    }
    owners
}

/// For each place what the kernel looks up there.
pub(super) fn decode_table(model: &Model) -> Box<[u32; PLACES]> {
    let mut table = vec![0u32; PLACES];
    for (list, places) in model.frequencies.iter().zip(table.chunks_exact_mut(STATES)) {
        if list.is_empty() {
            continue;
        }
        let mut next = vec![0u32; model.tokens.len()];
        list.iter()
            .for_each(|one| next[usize::from(one.symbol)] = u32::from(one.frequency));
        for (place, symbol) in places.iter_mut().zip(spread(list)) {
            let number = next[usize::from(symbol)];
            next[usize::from(symbol)] += 1;
            let bits = TOTAL_LOG2 - number.ilog2();
            let state = (number << bits) - TOTAL;
            let context = u32::from(model.context_after[usize::from(symbol)]);
            *place = place_entry(symbol, bits, (context << TOTAL_LOG2 | state) as u16);
        }
    }
    table.try_into().unwrap_or_else(|_| Box::new([0; PLACES]))
}

/// How a symbol changes the state in one context.
#[derive(Clone, Copy, Debug)]
struct EntropyStep {
    /// (state + this) >> 16 is the number of bits that leave the state.
    bits: u32,
    /// What is left of the state plus this is the place in `states` of the next state.
    places: i32,
}

/// A symbol that the context does not have. No frequency makes this step.
const ABSENT: EntropyStep = EntropyStep {
    bits: u32::MAX,
    places: 0,
};

/// Tables to encode with.
pub(super) struct EncodeTables {
    steps: Vec<EntropyStep>,
    states: Vec<u16>,
    symbols: usize,
}

impl EncodeTables {
    pub(super) fn new(model: &Model) -> Self {
        let symbols = model.tokens.len();
        let mut steps = vec![ABSENT; CONTEXTS * symbols];
        let mut states = vec![0u16; PLACES];
        for (context, list) in model.frequencies.iter().enumerate() {
            let mut next = vec![0usize; symbols];
            let mut start = context * STATES;
            for one in list {
                let frequency = u32::from(one.frequency);
                let most_bits = TOTAL_LOG2 - frequency.ilog2();
                steps[context * symbols + usize::from(one.symbol)] = EntropyStep {
                    bits: (most_bits << 16).wrapping_sub(frequency << most_bits),
                    places: start as i32 - frequency as i32,
                };
                next[usize::from(one.symbol)] = start;
                start += usize::from(one.frequency);
            }
            if !list.is_empty() {
                for (state, symbol) in spread(list).into_iter().enumerate() {
                    let place = &mut next[usize::from(symbol)];
                    states[*place] = state as u16;
                    *place += 1;
                }
            }
        }
        Self {
            steps,
            states,
            symbols,
        }
    }

    /// Whether the context has the symbol.
    pub(super) fn has(&self, context: u8, symbol: u16) -> bool {
        self.step(context, symbol).bits != ABSENT.bits
    }

    fn step(&self, context: u8, symbol: u16) -> EntropyStep {
        self.steps[usize::from(context) * self.symbols + usize::from(symbol)]
    }
}

/// Encodes symbols from the last to the first. The stream is one long number: every symbol shifts it up
/// and puts its bits below, so that a decoder takes first, from the lowest end, what was put last.
pub(super) struct StateEncoder<'a> {
    tables: &'a EncodeTables,
    /// 4,096 plus the state.
    state: u32,
    pending: u64,
    pending_bits: u32,
    words: Vec<u32>,
}

impl<'a> StateEncoder<'a> {
    pub(super) fn new(tables: &'a EncodeTables) -> Self {
        Self {
            tables,
            state: TOTAL,
            pending: 0,
            pending_bits: 0,
            words: Vec::new(),
        }
    }

    fn put(&mut self, value: u32, bits: u32) {
        self.pending = self.pending << bits | u64::from(value);
        self.pending_bits += bits;
        if self.pending_bits >= 32 {
            self.pending_bits -= 32;
            self.words.push((self.pending >> self.pending_bits) as u32);
        }
    }

    /// Puts `symbol` in front of what was encoded so far. The context must have it.
    pub(super) fn encode(&mut self, context: u8, symbol: u16) {
        let step = self.tables.step(context, symbol);
        assert!(
            step.bits != ABSENT.bits,
            "symbol {symbol} has no frequency in context {context}"
        );
        let bits = self.state.wrapping_add(step.bits) >> 16;
        self.put(self.state & ((1 << bits) - 1), bits);
        let place = (self.state >> bits) as i32 + step.places;
        self.state = TOTAL + u32::from(self.tables.states[place as usize]);
    }

    /// Appends the stream to `out` and starts afresh. Its first byte holds zeros and then a one, from the
    /// lowest bit up; the first state and the bits of the symbols follow.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.put(self.state - TOTAL, TOTAL_LOG2);
        let bits = self.pending_bits + 1;
        let low = (self.pending & ((1 << self.pending_bits) - 1)) << 1 | 1;
        let bytes = bits.div_ceil(8);
        let aligned = low << (8 * bytes - bits);
        out.extend_from_slice(&aligned.to_le_bytes()[..bytes as usize]);
        for word in self.words.drain(..).rev() {
            out.extend_from_slice(&word.to_le_bytes());
        }
        (self.state, self.pending, self.pending_bits) = (TOTAL, 0, 0);
    }
}
