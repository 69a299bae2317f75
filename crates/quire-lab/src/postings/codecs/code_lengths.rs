//! Lengths of a Huffman code, and the canonical code they stand for.

/// The longest code word, in bits.
pub(super) const CODE_BITS_MAX: u32 = 31;

/// Lengths of a code of least total for symbols of these frequencies, all above 0, of which there are 2 to 2^31.
/// Where the best code has words longer than [`CODE_BITS_MAX`], the
/// frequencies are brought closer together until it has none.
pub(super) fn code_lengths(frequencies: &[u32]) -> Vec<u8> {
    let mut weights: Vec<u64> = frequencies.iter().copied().map(u64::from).collect();
    loop {
        let lengths = best_lengths(&weights);
        if lengths
            .iter()
            .all(|&length| u32::from(length) <= CODE_BITS_MAX)
        {
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

/// The canonical code of a set of lengths: words ascend with their length, and with the symbol within one
/// length. Words are compared as if they were fractions, the first bit highest.
#[derive(Debug)]
pub(super) struct CanonicalCode {
    /// Symbols in the order of their code words, as indices into the lengths.
    pub(super) symbols: Vec<u32>,
    /// By length: the first word of that length, in the upper bits of 32.
    first_word: [u64; 33],
    /// By length: place in `symbols` of the first word of that length.
    first_place: [u32; 33],
}

impl CanonicalCode {
    /// `None` when the lengths are not those of a code in which every bit pattern stands for something: 1 to
    /// [`CODE_BITS_MAX`], of which the powers 2^-length sum to 1.
    pub(super) fn new(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0u32; 33];
        for &length in lengths {
            if length == 0 || u32::from(length) > CODE_BITS_MAX {
                return None;
            }
            counts[usize::from(length)] += 1;
        }
        let (mut first_word, mut first_place) = ([0u64; 33], [0u32; 33]);
        for length in 1..33 {
            let words = u64::from(counts[length - 1]);
            // At length 1 nothing is shorter: `counts[0]` is 0.
            first_word[length] = first_word[length - 1] + (words << (33 - length));
            first_place[length] = first_place[length - 1] + counts[length - 1];
        }
        if first_word[32] != 1 << 32 {
            return None;
        }
        let mut symbols: Vec<u32> = (0..lengths.len() as u32).collect();
        symbols.sort_by_key(|&symbol| lengths[symbol as usize]);
        Some(Self {
            symbols,
            first_word,
            first_place,
        })
    }

    /// By symbol: its word, in the lowest bits.
    pub(super) fn words(&self, lengths: &[u8]) -> Vec<u32> {
        let mut words = vec![0; lengths.len()];
        for (place, &symbol) in (0..).zip(&self.symbols) {
            let length = usize::from(lengths[symbol as usize]);
            let first = self.first_word[length] >> (32 - length);
            words[symbol as usize] = (first as u32) + (place - self.first_place[length]);
        }
        words
    }

    /// Place in `symbols` and length of the word that `window` begins with, which has at least `shortest` bits.
    #[inline]
    pub(super) fn look_up(&self, window: u32, shortest: u32) -> (u32, u32) {
        let mut length = shortest;
        while length < CODE_BITS_MAX && u64::from(window) >= self.first_word[length as usize + 1] {
            length += 1;
        }
        let beyond = u64::from(window) - self.first_word[length as usize];
        let place = self.first_place[length as usize] + (beyond >> (32 - length)) as u32;
        (place, length)
    }
}

#[cfg(test)]
mod tests {
    use super::{CODE_BITS_MAX, CanonicalCode, code_lengths};

    /// Fibonacci numbers: the best code has a word of every length.
    fn fibonacci(count: usize) -> Vec<u32> {
        let mut numbers = vec![1, 1];
        while numbers.len() < count {
            numbers.push(numbers[numbers.len() - 1] + numbers[numbers.len() - 2]);
        }
        numbers
    }

    #[test]
    fn words_are_as_long_as_they_must() {
        assert_eq!(code_lengths(&[1, 1]), [1, 1]);
        assert_eq!(code_lengths(&[5, 1, 9, 1]), [2, 3, 1, 3]);
        assert_eq!(code_lengths(&fibonacci(6)), [5, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn words_that_would_be_too_long_are_not() {
        let lengths = code_lengths(&fibonacci(46));
        assert!(
            lengths
                .iter()
                .all(|&length| u32::from(length) <= CODE_BITS_MAX)
        );
        assert!(CanonicalCode::new(&lengths).is_some());
    }

    #[test]
    fn every_word_is_found_by_its_bits() {
        for count in [2, 3, 20, 32] {
            let lengths = code_lengths(&fibonacci(count));
            let code = CanonicalCode::new(&lengths).unwrap();
            for (symbol, word) in code.words(&lengths).into_iter().enumerate() {
                let length = u32::from(lengths[symbol]);
                let first = word << (32 - length);
                for window in [first, first | (u32::MAX >> length)] {
                    let (place, found) = code.look_up(window, 1);
                    assert_eq!(
                        (code.symbols[place as usize] as usize, found),
                        (symbol, length)
                    );
                }
            }
        }
    }

    #[test]
    fn lengths_of_no_code_are_refused() {
        for lengths in [&[0, 1][..], &[1], &[1, 2], &[1, 1, 1], &[1, 1, 32]] {
            assert!(CanonicalCode::new(lengths).is_none(), "{lengths:?}");
        }
    }
}
