//! The documented layouts, written bit by bit without regard for speed, as an oracle.

/// Appends the lowest `width` bits of `value`, lowest first.
pub fn push_bits(bits: &mut Vec<bool>, value: u64, width: u32) {
    bits.extend((0..width).map(|bit| value >> bit & 1 == 1));
}

/// Bits as bytes, first bit lowest.
pub fn to_bytes(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8)
        .map(|byte| {
            byte.iter()
                .enumerate()
                .map(|(bit, set)| u8::from(*set) << bit)
                .sum()
        })
        .collect()
}

fn width_of(value: u32) -> u32 {
    (0..=32)
        .find(|width| u64::from(value) < 1 << width)
        .unwrap()
}

/// Numbers against a base, vector by vector.
pub fn packed(values: &[u32]) -> Vec<u8> {
    let vectors: Vec<&[u32]> = values.chunks(1024).collect();
    let bases: Vec<u32> = vectors
        .iter()
        .map(|vector| *vector.iter().min().unwrap())
        .collect();
    let base_width = bases.iter().copied().map(width_of).max().unwrap_or(0);
    let mut out = vec![base_width as u8];
    let mut bits = Vec::new();
    bases
        .iter()
        .for_each(|base| push_bits(&mut bits, u64::from(*base), base_width));
    out.extend(to_bytes(&bits));
    let widths: Vec<u32> = vectors
        .iter()
        .zip(&bases)
        .map(|(vector, base)| width_of(vector.iter().max().unwrap() - base))
        .collect();
    out.extend(widths.iter().map(|width| *width as u8));
    for ((vector, base), width) in vectors.iter().zip(&bases).zip(&widths) {
        let mut bits = Vec::new();
        vector
            .iter()
            .for_each(|value| push_bits(&mut bits, u64::from(value - base), *width));
        out.extend(to_bytes(&bits));
    }
    out
}

/// The table of lengths.
pub fn lengths(lengths: &[u32]) -> Vec<u8> {
    let sums: Vec<u32> = lengths
        .chunks(1024)
        .map(|vector| vector.iter().sum())
        .collect();
    [packed(lengths), packed(&sums)].concat()
}

/// A section stored as it is.
pub fn section(raw: &[u8]) -> Vec<u8> {
    let length = (raw.len() as u32).to_le_bytes();
    [&length, &length, raw].concat()
}

/// One context of the words codec: frequencies of symbols that add up to 4,096.
pub type Context = Vec<(u16, u32)>;

/// What state `state` of a context decodes to: symbol, bits to read, state that they are added to.
fn decode_state(context: &Context, state: usize) -> (u16, u32, u32) {
    let mut owners = vec![u16::MAX; 4096];
    let mut place = 0;
    for (symbol, frequency) in context {
        for _ in 0..*frequency {
            assert_eq!(owners[place], u16::MAX);
            owners[place] = *symbol;
            place = (place + 2563) % 4096;
        }
    }
    let symbol = owners[state];
    let frequency = context.iter().find(|one| one.0 == symbol).unwrap().1;
    let earlier = owners[..state]
        .iter()
        .filter(|owner| **owner == symbol)
        .count() as u32;
    let number = frequency + earlier;
    let bits = (0..=12).find(|bits| number << bits >= 4096).unwrap();
    (symbol, bits, (number << bits) - 4096)
}

/// The stream that decodes to `symbols`, each in its context: found by trying every state.
pub fn stream(symbols: &[(u16, &Context)]) -> Vec<u8> {
    let mut state = 0u32;
    let mut reads = Vec::new();
    for (symbol, context) in symbols.iter().rev() {
        let (before, bits, value) = (0..4096)
            .find_map(|before| {
                let (decoded, bits, base) = decode_state(context, before);
                let reaches = decoded == *symbol && (base..base + (1 << bits)).contains(&state);
                reaches.then(|| (before as u32, bits, state - base))
            })
            .unwrap();
        reads.push((value, bits));
        state = before;
    }
    let mut tail = vec![true];
    push_bits(&mut tail, u64::from(state), 12);
    reads
        .iter()
        .rev()
        .for_each(|(value, bits)| push_bits(&mut tail, u64::from(*value), *bits));
    let padding = vec![false; (8 - tail.len() % 8) % 8];
    to_bytes(&[padding, tail].concat())
}

/// Integers as the codecs of integers store them, of which the tests are elsewhere.
pub fn sequence<E: quire_codec::int::Element>(values: &[E]) -> Vec<u8> {
    let mut out = Vec::new();
    quire_codec::int::sequence::append(values, &mut out);
    out
}

/// Phrases that ascend: each shares with the one before what it can.
pub fn phrases(phrases: &[&str]) -> Vec<u8> {
    let (mut heads, mut others) = (Vec::new(), Vec::new());
    let mut before = "";
    for phrase in phrases {
        let shared = (0..=before.len().min(phrase.len()))
            .rfind(|length| before[..*length] == phrase[..*length])
            .unwrap();
        heads.push((16 * (phrase.len() - shared - 1) + shared) as u8);
        others.extend(phrase[shared..].bytes());
        before = phrase;
    }
    section(&[&(phrases.len() as u32).to_le_bytes(), &heads[..], &others].concat())
}

/// A payload of values of two shapes and of none, and the values.
pub fn shapes() -> (Vec<u8>, Vec<&'static [u8]>) {
    let values: [&[u8]; 6] = [
        b"ID-0042/7",
        b"zxyyz007",
        b"what else",
        b"ID-9999/120",
        b"",
        b"xxxxx5",
    ];
    let mut described = vec![2];
    // Text, four digits, text, a number of at most three digits.
    described.extend([4, 0, 3, b'I', b'D', b'-', 1, 4, 0, 1, b'/', 2, 3]);
    // Five symbols, digits that are counted.
    described.extend([2, 4, 5, 3, b'x', b'y', b'z', 3, 10]);
    let rest = [&lengths(&[9, 0])[..], b"what else"].concat();
    let sequences = [
        sequence::<i16>(&[0, 1, 2, 0, 2, 1]),
        sequence::<i64>(&[42, 9999]),
        sequence::<i64>(&[7, 120]),
        sequence::<i64>(&[0b10_00_01_01_10, 0]),
        sequence::<i64>(&[7, 5]),
        sequence::<i64>(&[3, 1]),
        rest,
    ];
    let sizes: Vec<u32> = sequences.iter().map(|one| one.len() as u32).collect();
    let payload = [
        vec![1],
        section(&described),
        vec![0],
        packed(&[2, 2, 2]),
        packed(&sizes),
        sequences.concat(),
    ];
    (payload.concat(), values.to_vec())
}
