//! Bytes as text, in the alphabet of RFC 4648, section 4, padded.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of bytes.
pub fn encode_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = ALPHABET.get((group >> (18 - 6 * place)) as usize % 64);
            let is_padding = place > chunk.len();
            text.push(
                digit
                    .filter(|_| !is_padding)
                    .map_or('=', |digit| char::from(*digit)),
            );
        }
    }
    text
}

/// The bytes of a text; nothing if no bytes are spelled so. Each has one spelling.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut bit_count) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = ALPHABET.iter().position(|known| *known == digit)?;
        group = group << 6 | value as u32;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((group >> bit_count) as u8);
            group &= (1 << bit_count) - 1;
        }
    }
    (encode_base64(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_examples_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode_base64(bytes.as_bytes()), text);
            assert_eq!(decode_base64(text).unwrap(), bytes.as_bytes());
        }
        for wrong in [
            "Zg", "Zg=", "Zh==", "Zg===", "Z===", "Z", "Zm9v\n", "Zm-v", "=", "====",
        ] {
            assert_eq!(decode_base64(wrong), None, "{wrong}");
        }
    }
}
