//! Repeatable random numbers. `QUIRE_SEED` names the first seed, `QUIRE_CASES` how many there are.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// Below `limit`; 0 when that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next_u64() % limit.max(1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    /// Noise.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next_u64() as u8).collect()
    }

    /// Zeros, text or noise.
    pub fn content(&mut self, length: usize) -> Vec<u8> {
        match self.below(4) {
            0 => vec![0; length],
            1 => self.bytes(length),
            2 => vec![self.next_u64() as u8; length],
            _ => {
                let word = format!("word {} ", self.below(100));
                word.bytes().cycle().take(length).collect()
            }
        }
    }
}

/// The seeds of a test that has `count` cases unless the environment says otherwise.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default| match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    };
    let first = number("QUIRE_SEED", 1);
    first..first + number("QUIRE_CASES", count)
}
