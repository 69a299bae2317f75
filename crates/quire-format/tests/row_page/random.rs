//! Numbers and keys with a seed.

use quire_format::row_page::space;

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}

/// How keys look.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    /// Big-endian numbers of eight bytes, which differ in the last ones.
    Numbers,
    /// Short strings of few letters, the empty one and zeros among them.
    Short,
    /// Long strings that share long beginnings, up to the longest a page permits.
    Long,
}

impl Keys {
    pub const ALL: [Self; 3] = [Self::Numbers, Self::Short, Self::Long];

    pub fn any(self, random: &mut Random, page_bytes: usize) -> Vec<u8> {
        match self {
            Self::Numbers => (random.below(4_000) as u64 * 3).to_be_bytes().to_vec(),
            Self::Short => {
                let length = random.below(8);
                (0..length)
                    .map(|_| [0, 0, b'a', 0xFF][random.below(4)])
                    .collect()
            }
            Self::Long => {
                let most = space::key_bytes_max(page_bytes);
                let mut key = vec![b'k'; random.below(4) * most / 4];
                key.extend((0..random.below(6)).map(|_| b"klm"[random.below(3)]));
                key.resize(key.len() + random.below(2) * random.below(most / 4), b'z');
                key.truncate(most);
                key
            }
        }
    }
}
