//! Files from which dictionaries can be learnt.

use crate::random::Random;

/// Text of phrases that texts of all seeds have: a dictionary learnt from some of it helps with the rest.
pub fn phrases(random: &mut Random, length: usize) -> Vec<u8> {
    let mut shared = Random(3);
    let mut letters = |_| {
        (0..32)
            .map(|_| b'a' + (shared.next_u64() % 26) as u8)
            .collect()
    };
    let phrases: Vec<Vec<u8>> = (0..100).map(&mut letters).collect();
    let mut text = Vec::with_capacity(length + 32);
    while text.len() < length {
        text.extend(random.pick(&phrases));
    }
    text.truncate(length);
    text
}
