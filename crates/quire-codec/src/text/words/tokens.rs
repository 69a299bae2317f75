//! Cutting text into words.
//!
//! A token is a run of letters, together with one space before it, or any other single byte. Letters are
//! `A`–`Z`, `a`–`z`, the apostrophe and every byte from 0x80 up, so that words of any script stay whole.
//! A run is cut after [`TOKEN_BYTES_MAX`] bytes.

/// Longest token, space included; a decoder copies so many bytes for each.
pub(super) const TOKEN_BYTES_MAX: usize = 16;

/// `byte` in all sixteen places.
const fn sixteen(byte: u8) -> u128 {
    u128::from_le_bytes([byte; TOKEN_BYTES_MAX])
}

const HIGH_BITS: u128 = sixteen(0x80);

/// The high bit of each byte of `text` that is a letter. No addition below carries into the next byte,
/// since both sides are at most 0x7f.
fn letters(text: u128) -> u128 {
    let low = text & !HIGH_BITS;
    let lower_case = low | sixteen(0x20);
    let from_a = lower_case + sixteen(0x80 - b'a');
    let beyond_z = lower_case + sixteen(0x80 - b'z' - 1);
    let not_apostrophe = (low ^ sixteen(b'\'')) + sixteen(0x7f);
    ((from_a & !beyond_z) | !not_apostrophe | text) & HIGH_BITS
}

/// The token that starts at `start` of a value that ends at `end` of `data`: its bytes as a number, lowest
/// first, padded with zeros, and its length. Words hold no zero byte, so no two words share a number.
#[inline]
pub(super) fn token_at(data: &[u8], start: usize, end: usize) -> (u128, usize) {
    let mut bytes = [0u8; TOKEN_BYTES_MAX];
    match data.get(start..start + TOKEN_BYTES_MAX) {
        Some(window) => bytes.copy_from_slice(window),
        None => {
            let rest = data.get(start..).unwrap_or_default();
            bytes[..rest.len()].copy_from_slice(rest);
        }
    }
    let text = u128::from_le_bytes(bytes);
    let space = u128::from(bytes[0] == b' ') << 7;
    let others = !(letters(text) | space) & HIGH_BITS;
    let run = (others.trailing_zeros() / 8) as usize;
    let length = run.clamp(1, (end - start).clamp(1, TOKEN_BYTES_MAX));
    (
        text & (u128::MAX >> (8 * (TOKEN_BYTES_MAX - length))),
        length,
    )
}

/// Bytes of the word that [`token_at`] made a number of.
pub(super) fn word_bytes(key: u128) -> ([u8; TOKEN_BYTES_MAX], usize) {
    let length = TOKEN_BYTES_MAX - (key.leading_zeros() / 8) as usize;
    (key.to_le_bytes(), length)
}

/// Open-addressed table from words to numbers below 2¹⁶. Runs of occupied slots are cut short: a word that
/// finds no slot nearby is treated as unknown, so no choice of words makes the table slow.
pub(super) struct WordTable {
    slots: Vec<(u128, u16)>,
    shift: u32,
}

const PROBES_MAX: usize = 24;

impl WordTable {
    /// A table with 2^`log2` slots, `log2` ≥ 5.
    pub(super) fn new(log2: u32) -> Self {
        Self {
            slots: vec![(0, 0); (1 << log2) + PROBES_MAX],
            shift: 64 - log2,
        }
    }

    fn home(&self, key: u128) -> usize {
        let folded = (key as u64)
            ^ ((key >> 64) as u64)
                .rotate_left(31)
                .wrapping_mul(0xff51_afd7_ed55_8ccd);
        (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The number of `key`, if it has one.
    pub(super) fn get(&self, key: u128) -> Option<u16> {
        let home = self.home(key);
        for (stored, number) in &self.slots[home..home + PROBES_MAX] {
            if *stored == key {
                return Some(*number);
            }
            if *stored == 0 {
                return None;
            }
        }
        None
    }

    /// The number of `key`; gives it `number` if it has none. `None` if there is no slot for it.
    pub(super) fn get_or_insert(&mut self, key: u128, number: u16) -> Option<u16> {
        let home = self.home(key);
        for slot in &mut self.slots[home..home + PROBES_MAX] {
            if slot.0 == key {
                return Some(slot.1);
            }
            if slot.0 == 0 {
                *slot = (key, number);
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &[u8]) -> Vec<Vec<u8>> {
        let (mut tokens, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let (key, length) = token_at(text, start, text.len());
            assert_eq!(key.to_le_bytes()[..length], text[start..start + length]);
            assert_eq!(key >> (8 * (length - 1)) >> 8, 0);
            tokens.push(text[start..start + length].to_vec());
            start += length;
        }
        tokens
    }

    #[test]
    fn words_keep_the_space_before_them() {
        let expected: Vec<&[u8]> = vec![
            b"ly", b" final", b".", b" ", b" re", b"-", b"1", b"2", b"'s", b" ",
        ];
        assert_eq!(cut(b"ly final.  re-12's "), expected);
        assert_eq!(
            cut(b"abcdefghijklmnopqr"),
            [&b"abcdefghijklmnop"[..], b"qr"]
        );
        assert_eq!(
            cut(b" abcdefghijklmnopqr"),
            [&b" abcdefghijklmno"[..], b"pqr"]
        );
    }

    #[test]
    fn letters_are_letters() {
        for byte in 0..=255u8 {
            let is_letter = byte.is_ascii_alphabetic() || byte == b'\'' || byte >= 0x80;
            let text = [b'a', byte, b'a', byte];
            let expected = if is_letter { 4 } else { 1 };
            assert_eq!(token_at(&text, 0, 4).1, expected, "byte {byte:#x}");
        }
    }

    #[test]
    fn tokens_end_with_their_value() {
        assert_eq!(
            token_at(b"one two three four five", 4, 6),
            (u128::from(u16::from_le_bytes(*b"tw")), 2)
        );
        let key = u128::from(b'a');
        assert_eq!(token_at(b"a", 0, 1), (key, 1));
        assert_eq!(word_bytes(key).1, 1);
    }
}
