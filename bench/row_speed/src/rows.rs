//! The rows: like those of sysbench, with text that can be compressed to about half.

/// A row of table `t (id BIGINT PRIMARY KEY, k INTEGER, c TEXT, pad TEXT)`.
#[derive(Default)]
pub struct Row {
    pub id: i64,
    pub k: i64,
    pub c: String,
    pub pad: String,
}

/// splitmix64
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

const WORDS: [&str; 32] = [
    "account",
    "balance",
    "carefully",
    "deposit",
    "express",
    "final",
    "foxes",
    "furiously",
    "ideas",
    "instructions",
    "ironic",
    "packages",
    "pending",
    "platelets",
    "quickly",
    "quietly",
    "regular",
    "requests",
    "silent",
    "sleep",
    "slyly",
    "special",
    "theodolites",
    "unusual",
    "blithely",
    "bold",
    "courts",
    "dependencies",
    "even",
    "excuses",
    "across",
    "above",
];

impl Row {
    /// The row with that id; always the same. `c` has 60 bytes of words and 59 of digits, `pad` 59 of words.
    pub fn fill(&mut self, id: i64) {
        let mut random = Random(id as u64);
        self.id = id;
        self.k = random.below(1 << 20) as i64;
        self.c.clear();
        words(&mut self.c, 60, &mut random);
        while self.c.len() < 119 {
            let digits = random.next();
            let rest = 119 - self.c.len();
            let text = format!("{digits:020}-");
            self.c.push_str(&text[..rest.min(text.len())]);
        }
        self.pad.clear();
        words(&mut self.pad, 59, &mut random);
    }
}

fn words(text: &mut String, length: usize, random: &mut Random) {
    while text.len() < length {
        text.push_str(WORDS[random.below(WORDS.len() as u64) as usize]);
        text.push(' ');
    }
    text.truncate(length);
}
