//! What text is like English to a compressor, without being anyone's?

use crate::SeededRandom;

/// Common words, the most common first; they are drawn with a probability in proportion to 1 / rank (G. K. Zipf).
const WORDS: [&str; 160] = [
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "is",
    "that",
    "it",
    "was",
    "for",
    "as",
    "with",
    "on",
    "be",
    "by",
    "which",
    "or",
    "from",
    "an",
    "not",
    "are",
    "this",
    "but",
    "at",
    "have",
    "one",
    "so",
    "their",
    "all",
    "who",
    "more",
    "when",
    "some",
    "other",
    "such",
    "any",
    "into",
    "than",
    "its",
    "time",
    "only",
    "made",
    "water",
    "very",
    "out",
    "then",
    "part",
    "these",
    "used",
    "like",
    "up",
    "man",
    "about",
    "body",
    "form",
    "upon",
    "place",
    "act",
    "word",
    "being",
    "having",
    "great",
    "small",
    "state",
    "power",
    "kind",
    "under",
    "long",
    "plant",
    "over",
    "light",
    "same",
    "stone",
    "set",
    "hand",
    "name",
    "between",
    "law",
    "sense",
    "certain",
    "person",
    "house",
    "line",
    "ground",
    "work",
    "plants",
    "cause",
    "point",
    "side",
    "without",
    "large",
    "order",
    "leaves",
    "tree",
    "use",
    "bring",
    "figure",
    "matter",
    "head",
    "mind",
    "fish",
    "animal",
    "piece",
    "iron",
    "common",
    "heat",
    "land",
    "ship",
    "wood",
    "round",
    "metal",
    "white",
    "bird",
    "action",
    "species",
    "color",
    "surface",
    "money",
    "death",
    "fire",
    "salt",
    "flower",
    "earth",
    "blood",
    "strong",
    "quality",
    "several",
    "machine",
    "horse",
    "paper",
    "glass",
    "genus",
    "method",
    "measure",
    "number",
    "church",
    "soft",
    "motion",
    "pressure",
    "vessel",
    "liquid",
    "member",
    "ancient",
    "formerly",
    "especially",
    "consisting",
    "according",
    "pertaining",
    "containing",
    "instrument",
    "condition",
    "resembling",
    "separate",
    "quantity",
    "substance",
    "supposed",
    "direction",
    "character",
    "knowledge",
];

/// `bytes` bytes of sentences, in ASCII.
pub fn sentences(bytes: usize, random: &mut SeededRandom) -> String {
    let ranks = crate::workloads::key_distribution::ZipfRanks::new(WORDS.len() as u64, 1.0);
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        let words = random.between(4, 16);
        for word in 0..words {
            let next = WORDS[ranks.draw(random) as usize - 1];
            if word == 0 {
                text.push(next.as_bytes()[0].to_ascii_uppercase() as char);
                text.push_str(&next[1..]);
            } else {
                let comma = word > 2 && random.happens(0.08);
                text.push_str(if comma { ", " } else { " " });
                text.push_str(next);
            }
        }
        text.push_str(". ");
    }
    text.truncate(bytes);
    text
}

#[cfg(test)]
mod tests {
    use super::sentences;
    use crate::SeededRandom;

    #[test]
    fn sentences_have_the_asked_length_and_common_words_most_often() {
        let text = sentences(100_000, &mut SeededRandom::new(1));
        assert_eq!(text.len(), 100_000);
        assert!(text.is_ascii());
        let words: Vec<String> = text
            .split(|c: char| !c.is_ascii_alphabetic())
            .map(str::to_ascii_lowercase)
            .collect();
        let share = |word: &str| {
            words.iter().filter(|one| *one == word).count() as f64 / words.len() as f64
        };
        assert!(share("the") > 1.5 * share("of"));
        assert!(share("of") > 1.2 * share("and"));
    }
}
