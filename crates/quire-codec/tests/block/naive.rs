//! Decoders written from the descriptions of the formats alone, a byte or a bit at a time.

/// ZLE: tokens of a length and literals, or of zeros.
pub fn zle(block: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    let mut bytes = block.iter();
    while let Some(&token) = bytes.next() {
        if token < 64 {
            for _ in 0..=token {
                raw.push(*bytes.next().unwrap());
            }
        } else {
            raw.resize(raw.len() + usize::from(token - 63), 0);
        }
    }
    raw
}

/// LZJB: eight items behind a byte of flags.
pub fn lzjb(block: &[u8]) -> Vec<u8> {
    let mut raw: Vec<u8> = Vec::new();
    let mut bytes = block.iter().copied();
    while let Some(flags) = bytes.next() {
        for item in 0..8 {
            let Some(first) = bytes.next() else {
                break;
            };
            if flags >> item & 1 == 0 {
                raw.push(first);
                continue;
            }
            let length = first / 4 + 3;
            let distance = usize::from(first % 4) * 256 + usize::from(bytes.next().unwrap());
            for _ in 0..length {
                raw.push(raw[raw.len() - distance]);
            }
        }
    }
    raw
}

/// A length of LZ4: 15 is continued by bytes, the last of which is not 255.
fn lz4_length(start: u8, bytes: &mut impl Iterator<Item = u8>) -> usize {
    let mut length = usize::from(start);
    if start == 15 {
        loop {
            let more = bytes.next().unwrap();
            length += usize::from(more);
            if more != 255 {
                break;
            }
        }
    }
    length
}

/// LZ4: token, literals, distance, match; the last sequence has no match.
pub fn lz4(block: &[u8]) -> Vec<u8> {
    let mut raw: Vec<u8> = Vec::new();
    let mut bytes = block.iter().copied();
    while let Some(token) = bytes.next() {
        for _ in 0..lz4_length(token >> 4, &mut bytes) {
            raw.push(bytes.next().unwrap());
        }
        let Some(low) = bytes.next() else {
            break;
        };
        let distance = usize::from(u16::from_le_bytes([low, bytes.next().unwrap()]));
        for _ in 0..lz4_length(token & 15, &mut bytes) + 4 {
            raw.push(raw[raw.len() - distance]);
        }
    }
    raw
}
