//! Text like that of TPC-H's comments.
//!
//! §4.2.2.14 of the specification makes comments of a grammar over weighted lists of words: a pool of sentences is written
//! once, and a comment is a stretch of it from any place. The grammar and its weights are the specification's; of the lists
//! those words are here that occur most, with their weights.

use crate::random::LabRandom;

/// Bytes of the pool. dbgen's has 300 MiB; a comment has 10 to 43 bytes, so this is as varied.
const POOL_BYTES: usize = 4 << 20;

/// Words or forms, each with its weight.
type Weighted<T> = [(T, u64)];

const NOUNS: &Weighted<&str> = &[
    ("packages", 40),
    ("requests", 40),
    ("accounts", 40),
    ("deposits", 40),
    ("foxes", 20),
    ("ideas", 20),
    ("theodolites", 20),
    ("pinto beans", 20),
    ("instructions", 20),
    ("dependencies", 10),
    ("excuses", 10),
    ("platelets", 10),
    ("asymptotes", 10),
    ("courts", 5),
    ("dolphins", 5),
    ("multipliers", 1),
    ("sauternes", 1),
    ("warthogs", 1),
    ("frets", 1),
    ("attainments", 1),
    ("patterns", 1),
    ("epitaphs", 1),
    ("sentiments", 1),
    ("hockey players", 1),
];
const VERBS: &Weighted<&str> = &[
    ("sleep", 20),
    ("wake", 20),
    ("are", 20),
    ("cajole", 20),
    ("haggle", 20),
    ("nag", 10),
    ("use", 10),
    ("boost", 10),
    ("affix", 5),
    ("detect", 5),
    ("integrate", 5),
    ("maintain", 1),
    ("nod", 1),
    ("was", 1),
    ("lose", 1),
    ("solve", 1),
    ("thrash", 1),
    ("promise", 1),
    ("engage", 1),
    ("believe", 1),
];
const ADVERBS: &Weighted<&str> = &[
    ("furiously", 50),
    ("slyly", 50),
    ("carefully", 50),
    ("blithely", 40),
    ("quickly", 30),
    ("fluffily", 20),
    ("sometimes", 1),
    ("always", 1),
    ("never", 1),
    ("ruthlessly", 1),
    ("stealthily", 1),
    ("finally", 1),
];
const ADJECTIVES: &Weighted<&str> = &[
    ("regular", 50),
    ("final", 40),
    ("ironic", 40),
    ("even", 30),
    ("special", 20),
    ("pending", 20),
    ("unusual", 20),
    ("express", 20),
    ("bold", 20),
    ("silent", 10),
    ("furious", 1),
    ("sly", 1),
    ("careful", 1),
    ("daring", 1),
    ("idle", 1),
];
const PREPOSITIONS: &Weighted<&str> = &[
    ("about", 50),
    ("above", 50),
    ("according to", 50),
    ("across", 50),
    ("after", 50),
    ("against", 40),
    ("along", 40),
    ("alongside of", 30),
    ("among", 30),
    ("around", 20),
    ("at", 10),
    ("before", 1),
    ("beneath", 1),
    ("during", 1),
    ("in place of", 1),
    ("instead of", 1),
    ("throughout", 1),
    ("within", 1),
];
const AUXILIARIES: &Weighted<&str> = &[
    ("do", 1),
    ("may", 1),
    ("might", 1),
    ("will", 1),
    ("can", 1),
    ("could", 1),
    ("ought to", 1),
    ("will have to", 1),
    ("need to", 1),
    ("try to", 1),
];
const TERMINATORS: &Weighted<&str> =
    &[(".", 50), (";", 1), (":", 1), ("?", 1), ("!", 1), ("--", 1)];
/// N: noun phrase, V: verb phrase, P: prepositional phrase, T: terminator.
const SENTENCES: &Weighted<&str> = &[
    ("N V T", 3),
    ("N V P T", 3),
    ("N V N T", 3),
    ("N P V N T", 1),
    ("N P V P T", 1),
];
/// n: noun, j: adjective, d: adverb; a comma stands behind the word before it.
const NOUN_PHRASES: &Weighted<&str> = &[("n", 10), ("j n", 20), ("j, j n", 10), ("d j n", 50)];
/// v: verb, x: auxiliary.
const VERB_PHRASES: &Weighted<&str> = &[("v", 30), ("x v", 1), ("v d", 40), ("x v d", 1)];

/// The sentences that comments are cut from.
#[derive(Debug)]
pub(super) struct CommentPool {
    text: String,
}

impl CommentPool {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = LabRandom(seed);
        let mut text = String::with_capacity(POOL_BYTES + 256);
        while text.len() < POOL_BYTES {
            let form = pick(&mut random, SENTENCES);
            write_form(&mut text, &mut random, form);
        }
        Self { text }
    }

    /// A stretch of `shortest` to `longest` bytes, both less than the pool has.
    pub(super) fn cut(&self, random: &mut LabRandom, shortest: u64, longest: u64) -> &str {
        let length = (shortest + random.below(longest - shortest + 1)) as usize;
        let place = random.below((self.text.len() - length) as u64) as usize;
        &self.text[place..place + length]
    }
}

fn pick<'a>(random: &mut LabRandom, list: &Weighted<&'a str>) -> &'a str {
    let total: u64 = list.iter().map(|(_, weight)| weight).sum();
    let mut rest = random.below(total);
    for (word, weight) in list {
        match rest.checked_sub(*weight) {
            Some(less) => rest = less,
            None => return word,
        }
    }
    ""
}

/// Writes each part of a form; a form of a higher level is written by its own parts.
fn write_form(text: &mut String, random: &mut LabRandom, form: &str) {
    for part in form.chars() {
        let words = match part {
            'N' => {
                let phrase = pick(random, NOUN_PHRASES);
                write_form(text, random, phrase);
                continue;
            }
            'V' => {
                let phrase = pick(random, VERB_PHRASES);
                write_form(text, random, phrase);
                continue;
            }
            'P' => {
                text.push_str(pick(random, PREPOSITIONS));
                text.push_str(" the ");
                let phrase = pick(random, NOUN_PHRASES);
                write_form(text, random, phrase);
                continue;
            }
            'T' => {
                // The terminator takes the place of the space behind the last word.
                text.pop();
                TERMINATORS
            }
            ',' => {
                text.pop();
                text.push_str(", ");
                continue;
            }
            'n' => NOUNS,
            'v' => VERBS,
            'j' => ADJECTIVES,
            'd' => ADVERBS,
            'x' => AUXILIARIES,
            _ => continue,
        };
        text.push_str(pick(random, words));
        text.push(' ');
    }
}
