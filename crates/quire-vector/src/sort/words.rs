//! Keys of rows as words.

use std::cmp::Ordering;

/// Which way a key is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortDirection {
    pub is_descending: bool,
    pub nulls_first: bool,
}

/// The keys of rows, the first key in the highest bits of the first word.
#[derive(Debug)]
pub struct SortWords {
    row_count: usize,
    words: Vec<Vec<u64>>,
    /// Of the last word.
    free_bits: u32,
}

impl SortWords {
    pub fn new(row_count: usize) -> Self {
        Self {
            row_count,
            words: Vec::new(),
            free_bits: 0,
        }
    }

    /// The words, one vector with an entry for each row for each of them.
    pub fn words(&self) -> &[Vec<u64>] {
        &self.words
    }

    /// The words of these rows, in this order.
    ///
    /// # Panics
    ///
    /// If a row does not exist.
    pub fn of_rows(&self, rows: &[u32]) -> Self {
        let of_rows = |word: &Vec<u64>| rows.iter().map(|row| word[*row as usize]).collect();
        Self {
            row_count: rows.len(),
            words: self.words.iter().map(of_rows).collect(),
            free_bits: self.free_bits,
        }
    }

    /// Compares a row with one of other rows whose keys were appended with the same bounds.
    ///
    /// # Panics
    ///
    /// If a row does not exist.
    pub fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        let pairs = self.words.iter().zip(&other.words);
        for (word, other_word) in pairs {
            let order = word[row].cmp(&other_word[other_row]);
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Appends a key. `codes` has one for each row, at most `code_max`, in the order of the values; `None` stands for NULL.
    ///
    /// # Panics
    ///
    /// If there are not as many codes as rows, or in debug builds if a code is too large.
    pub fn push(
        &mut self,
        codes: impl ExactSizeIterator<Item = Option<u64>>,
        code_max: u64,
        has_nulls: bool,
        direction: SortDirection,
    ) {
        assert_eq!(codes.len(), self.row_count, "each row has a code");
        if has_nulls && code_max == u64::MAX {
            self.push_null_and_code(codes, direction);
            return;
        }
        // NULL takes one more code, below or above all others.
        let largest = code_max + u64::from(has_nulls);
        let bits = u64::BITS - largest.leading_zeros();
        if bits == 0 {
            return;
        }
        let below = u64::from(has_nulls && direction.nulls_first);
        let null = if direction.nulls_first { 0 } else { largest };
        let place = |code: Option<u64>| match code {
            None => null,
            Some(code) => {
                debug_assert!(code <= code_max);
                below
                    + if direction.is_descending {
                        code_max - code
                    } else {
                        code
                    }
            }
        };
        self.append(codes.map(place), bits);
    }

    /// Of keys that take all codes, whether they are NULL comes first.
    fn push_null_and_code(
        &mut self,
        codes: impl ExactSizeIterator<Item = Option<u64>>,
        direction: SortDirection,
    ) {
        let codes: Vec<Option<u64>> = codes.collect();
        let is_last = |code: &Option<u64>| u64::from(code.is_none() != direction.nulls_first);
        self.append(codes.iter().map(is_last), 1);
        let place = |code: &Option<u64>| match code {
            Some(code) if direction.is_descending => !code,
            Some(code) => *code,
            None => 0,
        };
        self.append(codes.iter().map(place), u64::BITS);
    }

    /// Puts values of so many bits, 1 to 64, behind those of the last word, or into the next one.
    fn append(&mut self, values: impl Iterator<Item = u64>, bits: u32) {
        match self.words.last_mut() {
            Some(word) if bits <= self.free_bits => {
                for (word, value) in word.iter_mut().zip(values) {
                    *word = *word << bits | value;
                }
                self.free_bits -= bits;
            }
            _ => {
                self.words.push(values.collect());
                self.free_bits = u64::BITS - bits;
            }
        }
    }
}
