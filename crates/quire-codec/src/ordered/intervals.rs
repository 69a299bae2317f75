//! Symbols cut the axis of all strings into intervals: every string lies in one, and starts with its symbol.
//!
//! The symbols are the 256 single bytes and chosen strings of 2 to 8 bytes. The strings that start with a symbol, less
//! those that start with a longer one, are what the longer ones leave of an interval: `a` and `an` give
//! `[a, an)` of `a`, `[an, ao)` of `an` and `[ao, b)` of `a` again.
//!
//! Strings and ends of intervals are compared as *points*: their first eight bytes as one big-endian number, zeros
//! beyond the end. That is exact although `x` and `x\0` are the same point: an interval starts at `\0`, or at a
//! string that does not end with a zero byte, and a string reaches such an end exactly if its point does.

/// Bytes of the longest symbol.
pub(super) const SYMBOL_BYTES_MAX: usize = 8;

/// A string of 1 to 8 bytes that an interval's strings start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Symbol {
    /// The bytes, first in the highest.
    pub(super) point: u64,
    /// How many they are.
    pub(super) length: u8,
}

impl Symbol {
    /// The symbol of these bytes, of which there are at most eight.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self {
            point: point_of(bytes),
            length: bytes.len() as u8,
        }
    }

    pub(super) fn bytes(self) -> [u8; SYMBOL_BYTES_MAX] {
        self.point.to_be_bytes()
    }

    /// Whether the last byte is zero, which that of a longer symbol must not be.
    pub(super) fn ends_with_zero(self) -> bool {
        self.point >> self.unused_bits() & 0xFF == 0
    }

    fn unused_bits(self) -> u32 {
        u64::BITS - 8 * u32::from(self.length)
    }

    fn starts(self, other: Self) -> bool {
        self.length <= other.length && (self.point ^ other.point) >> self.unused_bits() == 0
    }

    /// The point after all strings that start with this symbol; none at the end of the axis.
    fn successor(self) -> Option<u64> {
        self.point.checked_add(1 << self.unused_bits())
    }

    /// This symbol followed by another, if a symbol can be as long.
    pub(super) fn followed_by(self, next: Self) -> Option<Self> {
        let length = self.length + next.length;
        (usize::from(length) <= SYMBOL_BYTES_MAX).then(|| Self {
            point: self.point | next.point >> (8 * self.length),
            length,
        })
    }
}

/// The first eight bytes of a string as a number that is ordered as they are.
#[inline]
pub(super) fn point_of(string: &[u8]) -> u64 {
    match string.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let all = string
                .iter()
                .fold(0, |point, &byte| point << 8 | u64::from(byte));
            all.checked_shl(64 - 8 * string.len() as u32).unwrap_or(0)
        }
    }
}

/// All intervals in ascending order.
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    starts: Vec<u64>,
    symbols: Vec<Symbol>,
    /// For each pair of first bytes, the last interval that starts no later than it; one more for the end.
    by_two_bytes: Vec<u16>,
}

impl Intervals {
    /// The intervals of the single bytes and of `longer` symbols, which ascend, have 2 to 8 bytes, do not end with
    /// a zero byte, and are at most [`super::SYMBOLS_MAX`].
    pub(super) fn new(longer: &[Symbol]) -> Self {
        let mut all: Vec<Symbol> = (0..=u8::MAX).map(|byte| Symbol::of(&[byte])).collect();
        all.extend_from_slice(longer);
        all.sort_unstable();
        let (starts, symbols): (Vec<u64>, Vec<Symbol>) = cut(&all).into_iter().unzip();
        let mut by_two_bytes = Vec::with_capacity((1 << 16) + 1);
        let mut interval = 0;
        for pair in 0..=1u128 << 16 {
            while starts
                .get(interval + 1)
                .is_some_and(|&start| u128::from(start) <= pair << 48)
            {
                interval += 1;
            }
            by_two_bytes.push(interval as u16);
        }
        Self {
            starts,
            symbols,
            by_two_bytes,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// The symbol of each interval.
    pub(super) fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The interval of the strings at `point`, which are not empty.
    #[inline]
    pub(super) fn find(&self, point: u64) -> usize {
        let pair = (point >> 48) as usize;
        let first = usize::from(self.by_two_bytes[pair]);
        let last = usize::from(self.by_two_bytes[pair + 1]);
        first + self.starts[first + 1..=last].partition_point(|&start| start <= point)
    }
}

/// Starts and symbols of the intervals of `symbols`, which ascend, so that a symbol comes before those that continue it.
fn cut(symbols: &[Symbol]) -> Vec<(u64, Symbol)> {
    let mut intervals: Vec<(u64, Symbol)> = Vec::with_capacity(2 * symbols.len());
    // The symbols that the present point starts with, each continuing the one before.
    let mut open: Vec<Symbol> = Vec::with_capacity(SYMBOL_BYTES_MAX);
    let close = |open: &mut Vec<Symbol>, intervals: &mut Vec<(u64, Symbol)>| {
        let closed = open.pop();
        let rest = open.last().zip(closed.and_then(Symbol::successor));
        if let Some((&outer, start)) = rest
            && outer.successor().is_none_or(|end| start < end)
        {
            intervals.push((start, outer));
        }
    };
    for &symbol in symbols {
        while open.last().is_some_and(|last| !last.starts(symbol)) {
            close(&mut open, &mut intervals);
        }
        // Where a longer symbol follows another at once, nothing is left of the outer one between them.
        intervals.pop_if(|(start, _)| *start == symbol.point);
        intervals.push((symbol.point, symbol));
        open.push(symbol);
    }
    while !open.is_empty() {
        close(&mut open, &mut intervals);
    }
    intervals
}
