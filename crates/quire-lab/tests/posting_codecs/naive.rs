//! Decoders written from the descriptions of the formats alone, a byte or a bit at a time.

/// Carryover-12, with the table of the paper as widths and followers by name of the row.
pub fn carryover(payload: &[u8], count: usize) -> Vec<u32> {
    const IN_30_BITS: [(char, u32); 12] = [
        ('a', 1),
        ('b', 2),
        ('c', 3),
        ('d', 4),
        ('e', 5),
        ('f', 6),
        ('g', 7),
        ('h', 9),
        ('i', 10),
        ('j', 14),
        ('k', 15),
        ('l', 28),
    ];
    const IN_32_BITS: [(char, u32); 12] = [
        ('a', 1),
        ('b', 2),
        ('c', 3),
        ('d', 4),
        ('e', 5),
        ('f', 6),
        ('g', 7),
        ('h', 8),
        ('i', 10),
        ('j', 15),
        ('k', 16),
        ('l', 30),
    ];
    const FOLLOWERS: [(char, &str); 12] = [
        ('a', "abcl"),
        ('b', "abcl"),
        ('c', "bcdl"),
        ('d', "cdel"),
        ('e', "defl"),
        ('f', "efgl"),
        ('g', "fghl"),
        ('h', "ghil"),
        ('i', "hijl"),
        ('j', "ijkl"),
        ('k', "ijkl"),
        ('l', "fikl"),
    ];
    let mut numbers = Vec::new();
    let (mut row, mut carried) = ('l', None);
    for word in payload.chunks(4) {
        let word = u32::from_le_bytes(word.try_into().unwrap());
        let (selector, mut bits, size, table) = match carried {
            Some(selector) => (selector, word, 32, IN_32_BITS),
            None => (word % 4, word / 4, 30, IN_30_BITS),
        };
        let followers = FOLLOWERS.iter().find(|one| one.0 == row).unwrap().1;
        row = followers.chars().nth(selector as usize).unwrap();
        let width = table.iter().find(|one| one.0 == row).unwrap().1;
        let fitting = size / width;
        for _ in 0..fitting {
            if numbers.len() < count {
                numbers.push((u64::from(bits) % (1 << width)) as u32);
            }
            bits = (u64::from(bits) >> width) as u32;
        }
        carried = (size - fitting * width >= 2).then_some(word >> 30);
    }
    numbers
}

/// Semi-static Huffman, as strings of the digits 0 and 1.
pub fn huffman(payload: &[u8], count: usize) -> Vec<u32> {
    let different = u32::from_le_bytes(payload[..4].try_into().unwrap());
    let digits: Vec<u8> = payload[4..]
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    let mut position = 0;
    let mut number = |bits: usize| {
        let digits = &digits[position..position + bits];
        position += bits;
        digits
            .iter()
            .fold(0u64, |number, &digit| 2 * number + u64::from(digit))
    };
    let mut symbols = Vec::new();
    let mut next = 0;
    for _ in 0..different {
        let mut behind = 0;
        while number(1) == 0 {
            behind += 1;
        }
        next += (1 << behind) + number(behind);
        let length = if different > 1 { number(5) as usize } else { 0 };
        symbols.push((length, (next - 1) as u32));
    }
    // Canonical: by length, then by gap; each word is the one before plus one, with zeros up to its length.
    symbols.sort();
    let mut words = std::collections::HashMap::new();
    let (mut word, mut before) = (0u64, 0);
    for &(length, gap) in &symbols {
        word <<= length - before;
        words.insert((length, word), gap);
        (word, before) = (word + 1, length);
    }
    let mut gaps = Vec::new();
    for _ in 0..count {
        let (mut length, mut word) = (0, 0);
        while !words.contains_key(&(length, word)) {
            word = 2 * word + number(1);
            length += 1;
        }
        gaps.push(words[&(length, word)]);
    }
    gaps
}
