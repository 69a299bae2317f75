//! Text for those who name none: made-up words with the frequencies of words, in lines.

use crate::random::LabRandom;

const WORDS: usize = 20_000;
const SYLLABLES: [&str; 24] = [
    "ba", "ce", "di", "fo", "gu", "ha", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu",
    "an", "el", "in", "or", "un", "sta", "tre", "pli",
];

/// At least `bytes` bytes of lines of 5 to 60 words. The r-th most frequent of 20,000 words occurs about 1/r as
/// often as the first, as in natural languages. The same seed gives the same text.
pub fn made_up_text(seed: u64, bytes: usize) -> String {
    let mut random = LabRandom(seed);
    let words: Vec<String> = (0..WORDS).map(|rank| word(rank, &mut random)).collect();
    let mut text = String::with_capacity(bytes + 1024);
    while text.len() < bytes {
        for place in 0..5 + random.below(56) {
            if place > 0 {
                text.push(' ');
            }
            let rank = (WORDS as f64).powf(random.fraction()) as usize - 1;
            text.push_str(&words[rank.min(WORDS - 1)]);
        }
        text.push('\n');
    }
    text
}

/// Frequent words are short.
fn word(rank: usize, random: &mut LabRandom) -> String {
    let syllables = 1 + (rank + 1).ilog10() as u64 / 2 + random.below(3);
    (0..syllables)
        .map(|_| SYLLABLES[random.below(SYLLABLES.len() as u64) as usize])
        .collect()
}
