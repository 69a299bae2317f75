//! Blocks of every shape the codecs treat differently.

use crate::random::Random;

const WORDS: [&str; 12] = [
    "furiously ",
    "the ",
    "quick ",
    "deposits ",
    "final ",
    "a ",
    "requests ",
    "haggle ",
    "blithely ",
    "packages ",
    "ironic ",
    "accounts ",
];

/// Where a token, a match, a word or a chunk is full, and one less and more.
const BOUNDARIES: [usize; 15] = [
    31, 32, 33, 63, 64, 65, 66, 67, 127, 128, 129, 139, 191, 192, 193,
];

pub struct Page {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

fn text(random: &mut Random, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < length {
        bytes.extend_from_slice(WORDS[random.below(WORDS.len())].as_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Rows of a key, a small number and a name, padded with zeros.
fn rows(random: &mut Random, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for key in 0u64.. {
        bytes.extend_from_slice(&key.to_le_bytes());
        bytes.extend_from_slice(&(random.below(1000) as u32).to_le_bytes());
        let name = WORDS[random.below(WORDS.len())].as_bytes();
        bytes.extend_from_slice(name);
        bytes.resize(bytes.len() + 20 - name.len(), 0);
        if bytes.len() >= length {
            break;
        }
    }
    bytes.truncate(length);
    bytes
}

/// Random bytes, each zero with a chance of `zeros` in 16.
fn sparse(random: &mut Random, length: usize, zeros: usize) -> Vec<u8> {
    let byte = |random: &mut Random| {
        if random.below(16) < zeros {
            0
        } else {
            random.next() as u8
        }
    };
    (0..length).map(|_| byte(random)).collect()
}

/// Stretches of earlier bytes, repeated at all distances and lengths.
fn repeats(random: &mut Random, length: usize) -> Vec<u8> {
    let mut bytes = random.bytes(8);
    while bytes.len() < length {
        if random.below(3) == 0 {
            let count = random.below(20);
            bytes.extend(random.bytes(count));
        } else {
            let longest = if random.below(4) == 0 { 1100 } else { 24 };
            let distance = 1 + random.below(longest.min(bytes.len()));
            for _ in 0..random.below(150) {
                bytes.push(bytes[bytes.len() - distance]);
            }
        }
    }
    bytes.truncate(length);
    bytes
}

/// Pages of many kinds and lengths.
pub fn pages() -> Vec<Page> {
    let mut random = Random(11);
    let mut all = Vec::new();
    let mut add = |name, bytes| all.push(Page { name, bytes });
    for length in (0..20)
        .chain(BOUNDARIES)
        .chain([1000, 4096, 16_384, 70_001])
    {
        add("zeros", vec![0; length]);
        add("ones", vec![1; length]);
        add("random", random.bytes(length));
        add("text", text(&mut random, length));
        add("rows", rows(&mut random, length));
        add("half zeros", sparse(&mut random, length, 8));
        add("mostly zeros", sparse(&mut random, length, 15));
        add("repeats", repeats(&mut random, length));
    }
    all
}

/// A few pages of 16 KiB.
pub fn full_pages() -> Vec<Page> {
    let all = pages().into_iter();
    all.filter(|page| page.bytes.len() == 16_384).collect()
}
