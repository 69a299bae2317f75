//! Huffman codes: words of the least total length for symbols of some weights, in canonical order, so that their lengths say all.
//!
//! Words are compared as if they were fractions, the first bit highest. Every bit pattern is a word, or several, and the beginning of one.

/// The longest word that a code can have, in bits.
pub const WORD_BITS_MAX: u32 = 31;

/// Lengths of words of least total for symbols of these weights. Where the best code has words longer than `bits_max`, the weights are
/// brought closer together until it has none.
fn word_lengths(mut weights: Vec<u64>, bits_max: u32) -> Vec<u8> {
    loop {
        let lengths = best_lengths(&weights);
        if lengths.iter().all(|&length| u32::from(length) <= bits_max) {
            return lengths;
        }
        for weight in &mut weights {
            *weight = *weight / 2 + 1;
        }
    }
}

/// Huffman's algorithm with two queues: the symbols by weight, and the inner nodes in the order they are made,
/// which is by weight too.
fn best_lengths(weights: &[u64]) -> Vec<u8> {
    let leaves = weights.len();
    let mut order: Vec<usize> = (0..leaves).collect();
    order.sort_by_key(|&symbol| weights[symbol]);
    let inner = leaves.saturating_sub(1);
    let mut inner_weight = vec![0u64; inner];
    let mut leaf_parent = vec![0usize; leaves];
    let mut inner_parent = vec![0usize; inner];
    let (mut next_leaf, mut next_inner) = (0, 0);
    for node in 0..inner {
        for _ in 0..2 {
            let leaf = order.get(next_leaf).map(|&symbol| weights[symbol]);
            let ready = (next_inner < node).then(|| inner_weight[next_inner]);
            match (leaf, ready) {
                (Some(leaf), ready) if ready.is_none_or(|ready| leaf <= ready) => {
                    inner_weight[node] += leaf;
                    leaf_parent[next_leaf] = node;
                    next_leaf += 1;
                }
                _ => {
                    inner_weight[node] += inner_weight[next_inner];
                    inner_parent[next_inner] = node;
                    next_inner += 1;
                }
            }
        }
    }
    // The last node made is the root; every other comes before its parent.
    let mut depth = vec![0u8; inner];
    for node in (0..inner.saturating_sub(1)).rev() {
        depth[node] = depth[inner_parent[node]] + 1;
    }
    let mut lengths = vec![0; leaves];
    for (place, &symbol) in order.iter().enumerate() {
        lengths[symbol] = depth[leaf_parent[place]] + 1;
    }
    lengths
}

/// A canonical code: words ascend with their lengths, and with the symbol within one length.
///
/// ```
/// use quire_codec::huffman::{CanonicalCode, WORD_BITS_MAX};
///
/// let code = CanonicalCode::of_weights(&[5, 1, 9, 1], WORD_BITS_MAX);
/// assert_eq!(code.lengths(), [2, 3, 1, 3]);
/// assert_eq!(code.words(), [0b10, 0b110, 0b0, 0b111]);
/// // Bits 10 are the word of symbol 0, whatever follows.
/// let (place, bits) = code.look_up(0b10 << 30, 1);
/// assert_eq!((code.symbols()[place as usize], bits), (0, 2));
/// assert!(CanonicalCode::new(vec![1, 2, 3]).is_none());
/// ```
#[derive(Clone, Debug)]
pub struct CanonicalCode {
    /// By symbol.
    lengths: Vec<u8>,
    /// In the order of their words.
    symbols: Vec<u32>,
    /// By length: the first word of that length, in the upper bits of 32.
    first_word: [u64; 33],
    /// By length: place in `symbols` of the first word of that length.
    first_place: [u32; 33],
}

impl CanonicalCode {
    /// The best code for symbols of these weights, all above 0, with words of at most `bits_max` bits, which are at most
    /// [`WORD_BITS_MAX`]. Where the limit changes lengths, the code is close to the best. There are at least 2 weights, and at most a
    /// quarter of the words of `bits_max` bits.
    #[must_use]
    pub fn of_weights(weights: &[u64], bits_max: u32) -> Self {
        Self::of(word_lengths(weights.to_vec(), bits_max))
    }

    /// The code whose words have these lengths; `None` when there is no code of them in which every bit pattern stands for something: 1 to
    /// [`WORD_BITS_MAX`], of which the powers 2^-length sum to 1.
    #[must_use]
    pub fn new(lengths: Vec<u8>) -> Option<Self> {
        let known = 1..=WORD_BITS_MAX as u8;
        if !lengths.iter().all(|length| known.contains(length)) {
            return None;
        }
        let code = Self::of(lengths);
        (code.first_word[32] == 1 << 32).then_some(code)
    }

    /// Of lengths of 1 to [`WORD_BITS_MAX`]. Whether they are those of a code is not checked.
    fn of(lengths: Vec<u8>) -> Self {
        let mut counts = [0u32; 33];
        for &length in &lengths {
            counts[usize::from(length)] += 1;
        }
        let (mut first_word, mut first_place) = ([0u64; 33], [0u32; 33]);
        for length in 1..33 {
            let words = u64::from(counts[length - 1]);
            // At length 1 nothing is shorter: `counts[0]` is 0.
            first_word[length] = first_word[length - 1] + (words << (33 - length));
            first_place[length] = first_place[length - 1] + counts[length - 1];
        }
        let mut symbols: Vec<u32> = (0..lengths.len() as u32).collect();
        symbols.sort_by_key(|&symbol| lengths[symbol as usize]);
        Self {
            lengths,
            symbols,
            first_word,
            first_place,
        }
    }

    /// By symbol: the bits of its word.
    #[must_use]
    pub fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// The symbols in the order of their words.
    #[must_use]
    pub fn symbols(&self) -> &[u32] {
        &self.symbols
    }

    /// By symbol: its word, in the lowest bits.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![0; self.lengths.len()];
        for (place, &symbol) in (0..).zip(&self.symbols) {
            let length = usize::from(self.lengths[symbol as usize]);
            let first = self.first_word[length] >> (32 - length);
            words[symbol as usize] = (first as u32) + (place - self.first_place[length]);
        }
        words
    }

    /// Place in [`Self::symbols`] and bits of the word that `window` begins with, which has at least `shortest` bits. The first bit of the
    /// word is the highest.
    #[inline]
    #[must_use]
    pub fn look_up(&self, window: u32, shortest: u32) -> (u32, u32) {
        let mut length = shortest;
        while length < WORD_BITS_MAX && u64::from(window) >= self.first_word[length as usize + 1] {
            length += 1;
        }
        let beyond = u64::from(window) - self.first_word[length as usize];
        let place = self.first_place[length as usize] + (beyond >> (32 - length)) as u32;
        (place, length)
    }
}

#[cfg(test)]
mod tests {
    use super::{CanonicalCode, WORD_BITS_MAX};

    /// Fibonacci numbers: the best code has a word of every length.
    fn fibonacci(count: usize) -> Vec<u64> {
        let mut numbers = vec![1, 1];
        while numbers.len() < count {
            numbers.push(numbers[numbers.len() - 1] + numbers[numbers.len() - 2]);
        }
        numbers
    }

    fn code_of(weights: &[u64]) -> CanonicalCode {
        CanonicalCode::of_weights(weights, WORD_BITS_MAX)
    }

    #[test]
    fn words_are_as_long_as_they_must() {
        assert_eq!(code_of(&[1, 1]).lengths(), [1, 1]);
        assert_eq!(code_of(&[5, 1, 9, 1]).lengths(), [2, 3, 1, 3]);
        assert_eq!(code_of(&fibonacci(6)).lengths(), [5, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn words_that_would_be_too_long_are_not() {
        for (count, bits_max) in [(46, WORD_BITS_MAX), (32, 15), (32, 7)] {
            let code = CanonicalCode::of_weights(&fibonacci(count), bits_max);
            let mut lengths = code.lengths().iter();
            assert!(lengths.all(|&length| u32::from(length) <= bits_max));
            assert!(CanonicalCode::new(code.lengths().to_vec()).is_some());
        }
    }

    #[test]
    fn every_word_is_found_by_its_bits() {
        for count in [2, 3, 20, 32] {
            let code = code_of(&fibonacci(count));
            for (symbol, word) in code.words().into_iter().enumerate() {
                let length = u32::from(code.lengths()[symbol]);
                let first = word << (32 - length);
                for window in [first, first | (u32::MAX >> length)] {
                    let (place, found) = code.look_up(window, 1);
                    assert_eq!(
                        (code.symbols()[place as usize] as usize, found),
                        (symbol, length)
                    );
                }
            }
        }
    }

    #[test]
    fn lengths_of_no_code_are_refused() {
        for lengths in [&[0, 1][..], &[1], &[1, 2], &[1, 1, 1], &[1, 1, 32], &[255]] {
            assert!(
                CanonicalCode::new(lengths.to_vec()).is_none(),
                "{lengths:?}"
            );
        }
    }
}
