//! Numbers by seed (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*, 2014).

pub struct SourceTestRandom(pub u64);

impl SourceTestRandom {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// `None` once in eight times.
    pub fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(8) > 0).then(|| make(self))
    }

    pub fn text(&mut self, length_max: u64) -> String {
        const LETTERS: [char; 10] = ['a', 'Z', '0', ' ', '\'', '"', '\n', 'ä', '€', '🦀'];
        let length = self.below(length_max + 1);
        (0..length)
            .map(|_| LETTERS[self.below(10) as usize])
            .collect()
    }

    pub fn bytes(&mut self, length_max: u64) -> Vec<u8> {
        let length = self.below(length_max + 1);
        (0..length).map(|_| self.next() as u8).collect()
    }
}

/// The seed of a test: `QUIRE_SEED`, or one of its own.
pub fn seed(own: u64) -> u64 {
    let given = std::env::var("QUIRE_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok()).unwrap_or(own);
    println!("QUIRE_SEED={seed}");
    seed
}
