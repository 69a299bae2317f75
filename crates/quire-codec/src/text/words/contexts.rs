//! Grouping words by what follows them.
//!
//! Frequencies after every single word would be a better model, and a far larger one: it would have to
//! be stored with each payload, and its tables would not fit a cache. Words that are followed alike
//! (verbs, adjectives, the last words of values) share a context instead. Groups are found as k-means does,
//! with the bits that a word's successors cost under a group's frequencies as the distance.

use super::model::{CONTEXTS, END, ESCAPE, GENERAL};

/// Pairs of neighbours looked at, in pieces of [`PIECE`].
const PAIRS_MAX: usize = 1 << 18;
const PIECE: usize = 4096;
const ROUNDS: usize = 5;
/// Added to every count, so that no successor costs infinitely many bits.
const SMOOTHING: f32 = 0.02;

/// One number for each context.
type ByContext = [f32; CONTEXTS];

/// How often `after` follows a word.
struct Successor {
    after: u16,
    count: f32,
}

/// A word and what follows it.
struct WordContext {
    symbol: u16,
    total: f32,
    successors: Vec<Successor>,
}

fn words(symbols: &[u16]) -> Vec<WordContext> {
    let apart = PIECE * symbols.len().div_ceil(PAIRS_MAX).max(1);
    let mut pairs: Vec<u32> = Vec::with_capacity(symbols.len().min(PAIRS_MAX + PIECE));
    for start in (0..symbols.len()).step_by(apart) {
        let mut before = if start == 0 { END } else { symbols[start - 1] };
        for &symbol in &symbols[start..symbols.len().min(start + PIECE)] {
            pairs.push(u32::from(before) << 16 | u32::from(symbol));
            before = symbol;
        }
    }
    pairs.sort_unstable();
    let mut words: Vec<WordContext> = Vec::new();
    for run in pairs.chunk_by(|left, right| left == right) {
        let (symbol, after) = ((run[0] >> 16) as u16, run[0] as u16);
        if words.last().is_none_or(|word| word.symbol != symbol) {
            words.push(WordContext {
                symbol,
                total: 0.0,
                successors: Vec::new(),
            });
        }
        if let Some(word) = words.last_mut() {
            word.total += run.len() as f32;
            word.successors.push(Successor {
                after,
                count: run.len() as f32,
            });
        }
    }
    words
}

/// Bits that each successor costs in each context.
fn costs(words: &[WordContext], assigned: &[usize], symbol_count: usize) -> Vec<ByContext> {
    let mut counts = vec![[SMOOTHING; CONTEXTS]; symbol_count];
    let mut totals = [SMOOTHING * symbol_count as f32; CONTEXTS];
    for (word, &context) in words.iter().zip(assigned) {
        totals[context] += word.total;
        for successor in &word.successors {
            counts[usize::from(successor.after)][context] += successor.count;
        }
    }
    let log_totals = totals.map(f32::log2);
    for row in &mut counts {
        for (count, log_total) in row.iter_mut().zip(log_totals) {
            *count = log_total - count.log2();
        }
    }
    counts
}

/// The context in which the word's successors cost least, and what they cost.
fn cheapest(word: &WordContext, costs: &[ByContext]) -> (usize, f32) {
    let mut sums = [0f32; CONTEXTS];
    for successor in &word.successors {
        for (sum, cost) in sums.iter_mut().zip(costs[usize::from(successor.after)]) {
            *sum += successor.count * cost;
        }
    }
    let mut best = (usize::from(GENERAL) + 1, f32::INFINITY);
    for (context, &sum) in sums.iter().enumerate().skip(usize::from(GENERAL) + 1) {
        if sum < best.1 {
            best = (context, sum);
        }
    }
    best
}

/// Gives every context that lost all its words the word that costs most where it is.
fn refill_empty(assigned: &mut [usize], costs_of_words: &mut [f32]) {
    for context in usize::from(GENERAL) + 1..CONTEXTS {
        if assigned.contains(&context) {
            continue;
        }
        let dearest = costs_of_words
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1));
        if let Some(word) = dearest.map(|(word, _)| word) {
            assigned[word] = context;
            costs_of_words[word] = 0.0;
        }
    }
}

/// The context after each of `symbol_count` symbols, for a text of `symbols`.
pub(super) fn group(symbols: &[u16], symbol_count: usize) -> Vec<u8> {
    let words = words(symbols);
    let mut by_total: Vec<usize> = (0..words.len()).collect();
    by_total.sort_by(|left, right| words[*right].total.total_cmp(&words[*left].total));
    // The most frequent words start a context each.
    let seeds = by_total.len().min(CONTEXTS - 1);
    let unassigned = usize::from(GENERAL);
    let mut assigned = vec![unassigned; words.len()];
    for (context, &word) in by_total[..seeds].iter().enumerate() {
        assigned[word] = context + 1;
    }
    for _ in 0..ROUNDS {
        let costs = costs(&words, &assigned, symbol_count);
        let chosen: Vec<(usize, f32)> = words.iter().map(|word| cheapest(word, &costs)).collect();
        assigned = chosen.iter().map(|one| one.0).collect();
        let mut costs_of_words: Vec<f32> = chosen.iter().map(|one| one.1).collect();
        refill_empty(&mut assigned, &mut costs_of_words);
    }
    // A word that the pairs did not show goes with the ends of values: a cut word seldom goes on.
    let end = words.iter().position(|word| word.symbol == END);
    let fallback = end.map_or(1, |word| assigned[word]);
    let mut context_after = vec![fallback as u8; symbol_count];
    for (word, context) in words.iter().zip(assigned) {
        context_after[usize::from(word.symbol)] = context as u8;
    }
    context_after[usize::from(ESCAPE)] = GENERAL;
    context_after
}
