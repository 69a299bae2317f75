//! Finding the words of a payload, and grouping them by what follows them.

use super::model::{CONTEXTS, END, ESCAPE, Frequency, GENERAL, Model, SYMBOLS_MAX, TOTAL, Token};
use super::tokens::{WordTable, token_at, word_bytes};
use super::{LANE_ROWS, contexts};
use crate::BytesSlice;
use crate::text::contiguous;

/// The model is trained on about this many bytes, on all of a payload that has fewer.
const SAMPLE_BYTES: usize = 4 << 20;
/// Of one value no more than this is looked at.
const SAMPLE_VALUE_BYTES: usize = 1 << 16;
/// A word seen less often is spelled out.
const WORD_COUNT_MIN: u32 = 6;

/// Provisional symbols while words are counted: bytes, the end of a value, words.
const FIRST_WORD: u16 = 257;
const END_OF_VALUE: u16 = 256;

/// Provisional symbols of the sample, and how often each occurs.
struct SymbolSample {
    symbols: Vec<u16>,
    counts: Vec<u32>,
    words: Vec<u128>,
}

/// Rows of the sample: runs of [`LANE_ROWS`] rows, evenly spread.
fn sample_runs<'a>(values: &BytesSlice<'a>) -> impl Iterator<Item = BytesSlice<'a>> + use<'a> {
    let values = *values;
    let apart = values.data_bytes().div_ceil(SAMPLE_BYTES).max(1);
    let runs = (0..values.len()).step_by(LANE_ROWS * apart);
    let mut budget = 2 * SAMPLE_BYTES;
    runs.map(move |start| values.slice(start..start + LANE_ROWS))
        .take_while(move |run| {
            let enough = budget == 0;
            budget = budget.saturating_sub(run.data_bytes());
            !enough
        })
}

fn read_sample(values: &BytesSlice) -> SymbolSample {
    let mut table = WordTable::new(16);
    let mut sample = SymbolSample {
        symbols: Vec::new(),
        counts: vec![0; 257],
        words: Vec::new(),
    };
    for value in sample_runs(values).flat_map(|run| run.iter()) {
        let value = &value[..value.len().min(SAMPLE_VALUE_BYTES)];
        let mut start = 0;
        while start < value.len() {
            let (word, length) = token_at(value, start, value.len());
            match length {
                1 => sample.count(u16::from(value[start])),
                _ => sample.count_word(&mut table, word),
            }
            start += length;
        }
        sample.count(END_OF_VALUE);
    }
    sample
}

impl SymbolSample {
    fn count(&mut self, symbol: u16) {
        self.counts[usize::from(symbol)] += 1;
        self.symbols.push(symbol);
    }

    /// Counts a word; when there are too many to number, its bytes.
    fn count_word(&mut self, table: &mut WordTable, word: u128) {
        let next = u16::try_from(self.counts.len()).ok();
        let number = match next {
            Some(next) => table.get_or_insert(word, next),
            None => table.get(word),
        };
        match number {
            Some(number) => {
                if Some(number) == next && self.counts.len() == usize::from(number) {
                    self.counts.push(0);
                    self.words.push(word);
                }
                self.count(number);
            }
            None => {
                let (bytes, length) = word_bytes(word);
                bytes[..length]
                    .iter()
                    .for_each(|byte| self.count(u16::from(*byte)));
            }
        }
    }

    /// Numbers of the words worth a symbol: the most frequent, at most `limit`.
    fn frequent_words(&self, limit: usize) -> Vec<u16> {
        let counted = self.counts.iter().enumerate().skip(usize::from(FIRST_WORD));
        let mut words: Vec<(u32, u16)> = counted
            .filter(|(_, count)| **count >= WORD_COUNT_MIN)
            .map(|(number, count)| (*count, number as u16))
            .collect();
        words.sort_unstable_by(|left, right| right.0.cmp(&left.0).then(left.1.cmp(&right.1)));
        words.truncate(limit);
        words.into_iter().map(|(_, number)| number).collect()
    }

    /// The sample in the symbols of the model; words that have none are spelled out.
    fn translate(&self, symbol_of: &[u16]) -> Vec<u16> {
        let mut symbols = Vec::with_capacity(self.symbols.len() + self.symbols.len() / 4);
        for &provisional in &self.symbols {
            let symbol = symbol_of[usize::from(provisional)];
            if symbol != END || provisional == END_OF_VALUE {
                symbols.push(symbol);
            } else {
                let word = self.words[usize::from(provisional - FIRST_WORD)];
                let (bytes, length) = word_bytes(word);
                symbols.extend(
                    bytes[..length]
                        .iter()
                        .map(|byte| symbol_of[usize::from(*byte)]),
                );
            }
        }
        symbols
    }
}

/// A model for `values`, and their symbols if the sample is all of them.
pub(super) struct TrainedModel {
    pub model: Model,
    pub symbols: Option<Vec<u16>>,
}

/// A model for `values` that can code them all: every byte that occurs is a symbol.
pub(super) fn train(values: &BytesSlice) -> TrainedModel {
    let sample = read_sample(values);
    let mut occurs = [false; 256];
    contiguous(values)
        .iter()
        .for_each(|byte| occurs[usize::from(*byte)] = true);
    let bytes = (0..=255u16).filter(|byte| occurs[usize::from(*byte)]);
    let mut provisional: Vec<(Token, u16)> = bytes
        .map(|byte| (Token::new(&[byte as u8]), byte))
        .collect();
    for number in sample.frequent_words(SYMBOLS_MAX - 2 - provisional.len()) {
        let (bytes, length) = word_bytes(sample.words[usize::from(number - FIRST_WORD)]);
        provisional.push((Token::new(&bytes[..length]), number));
    }
    // Sorted, so that the section compressor finds the neighbours alike.
    provisional.sort_unstable_by(|left, right| left.0.as_slice().cmp(right.0.as_slice()));
    let mut tokens = vec![Token::default(); 2];
    let mut symbol_of = vec![END; sample.counts.len()];
    for (token, number) in provisional {
        symbol_of[usize::from(number)] = tokens.len() as u16;
        tokens.push(token);
    }
    let symbols = sample.translate(&symbol_of);
    let context_after = contexts::group(&symbols, tokens.len());
    let frequencies = frequencies(&symbols, &context_after);
    let complete = values.data_bytes() <= SAMPLE_BYTES
        && values.iter().all(|value| value.len() <= SAMPLE_VALUE_BYTES);
    let model = Model {
        tokens,
        context_after,
        frequencies,
    };
    TrainedModel {
        model,
        symbols: complete.then_some(symbols),
    }
}

/// The frequencies in each context, counted over the sample.
fn frequencies(symbols: &[u16], context_after: &[u8]) -> [Vec<Frequency>; CONTEXTS] {
    let count = context_after.len();
    let mut counts = vec![0u32; CONTEXTS * count];
    let mut before = END;
    for &symbol in symbols {
        let context = usize::from(context_after[usize::from(before)]);
        counts[context * count + usize::from(symbol)] += 1;
        before = symbol;
    }
    let mut lists = [const { Vec::new() }; CONTEXTS];
    let mut escaped = vec![1u32; count];
    escaped[usize::from(ESCAPE)] = 0;
    let used = |context: usize| {
        context_after
            .iter()
            .any(|after| usize::from(*after) == context)
    };
    for context in (usize::from(GENERAL) + 1..CONTEXTS).filter(|context| used(*context)) {
        let counts = &mut counts[context * count..(context + 1) * count];
        escape_rare(counts, &mut escaped);
        lists[context] = normalize(counts);
    }
    lists[usize::from(GENERAL)] = normalize(&escaped);
    lists
}

/// Moves what is too rare to have a share in its context to the escape, and counts it as escaped.
fn escape_rare(counts: &mut [u32], escaped: &mut [u32]) {
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let least = (total / (2 * u64::from(TOTAL))).max(1) as u32;
    // At least one: symbols beyond the sample may follow.
    let mut escapes = 1;
    for (count, escaped) in counts.iter_mut().zip(escaped) {
        if *count <= least {
            escapes += *count;
            *escaped += *count;
            *count = 0;
        }
    }
    counts[usize::from(ESCAPE)] = escapes;
}

/// Scales `counts`, at least one of which is not zero, to frequencies of at least 1 that add up to
/// [`TOTAL`].
fn normalize(counts: &[u32]) -> Vec<Frequency> {
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let mut list: Vec<Frequency> = Vec::new();
    for (symbol, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let share = (u64::from(count) * u64::from(TOTAL) + total / 2) / total.max(1);
        let frequency = share.clamp(1, u64::from(TOTAL)) as u16;
        list.push(Frequency {
            symbol: symbol as u16,
            frequency,
        });
    }
    loop {
        let sum: u32 = list.iter().map(|one| u32::from(one.frequency)).sum();
        let Some(largest) = list.iter_mut().max_by_key(|one| one.frequency) else {
            return list;
        };
        match sum.cmp(&TOTAL) {
            std::cmp::Ordering::Equal => return list,
            std::cmp::Ordering::Less => largest.frequency += (TOTAL - sum) as u16,
            std::cmp::Ordering::Greater => {
                let most = (largest.frequency / 8).max(1);
                largest.frequency -= most.min((sum - TOTAL).min(u32::from(u16::MAX)) as u16);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_add_up_whatever_the_counts() {
        let cases: [&[u32]; 5] = [
            &[1],
            &[0, 7],
            &[u32::MAX, 1, 1],
            &[1; 3072],
            &[5, 0, 100_000, 3, 3, 3, 3, 70_000],
        ];
        for counts in cases {
            let list = normalize(counts);
            assert_eq!(
                list.iter().map(|one| u32::from(one.frequency)).sum::<u32>(),
                TOTAL
            );
            assert!(list.iter().all(|one| one.frequency > 0));
            assert_eq!(
                list.len(),
                counts.iter().filter(|count| **count > 0).count()
            );
        }
    }
}
