//! The text form of byte strings, as PostgreSQL reads and writes BYTEA.

/// Text that stands for no bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct NotBytes;

/// Appends the bytes of `\x` and pairs of hexadecimal digits (blanks between pairs allowed), or
/// of the older form where `\\` is a backslash and `\ooo` an octal byte.
pub fn parse(text: &[u8], out: &mut Vec<u8>) -> Result<(), NotBytes> {
    match text.strip_prefix(b"\\x") {
        Some(digits) => parse_hexadecimal(digits, out),
        None => parse_escapes(text, out),
    }
}

fn parse_hexadecimal(digits: &[u8], out: &mut Vec<u8>) -> Result<(), NotBytes> {
    let mut digits = digits.iter();
    while let Some(&first) = digits.next() {
        if first.is_ascii_whitespace() {
            continue;
        }
        let second = digits.next().copied().and_then(digit).ok_or(NotBytes)?;
        out.push(digit(first).ok_or(NotBytes)? << 4 | second);
    }
    Ok(())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Appends the bytes of the form where `\\\\` is a backslash and `\ooo` an octal byte.
pub fn parse_escapes(mut text: &[u8], out: &mut Vec<u8>) -> Result<(), NotBytes> {
    while let Some((&byte, rest)) = text.split_first() {
        if byte != b'\\' {
            out.push(byte);
            text = rest;
            continue;
        }
        text = match rest {
            [b'\\', rest @ ..] => {
                out.push(b'\\');
                rest
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            _ => return Err(NotBytes),
        };
    }
    Ok(())
}

/// Appends `\x` and two hexadecimal digits a byte.
pub fn write(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\x");
    for byte in bytes {
        out.extend_from_slice(&[
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::{NotBytes, parse, write};

    fn parsed(text: &str) -> Result<Vec<u8>, NotBytes> {
        let mut bytes = Vec::new();
        parse(text.as_bytes(), &mut bytes).map(|()| bytes)
    }

    // Input and value from the examples of PostgreSQL's manual, section 8.4.
    #[test]
    fn both_forms_are_read() {
        assert_eq!(parsed(r"\xDEADBEEF"), Ok(vec![0xde, 0xad, 0xbe, 0xef]));
        assert_eq!(parsed(r"\x1234 5678"), Ok(vec![0x12, 0x34, 0x56, 0x78]));
        assert_eq!(
            parsed(r"abc \153\154\155 \052\251\124"),
            Ok(b"abc klm *\xa9T".to_vec())
        );
        assert_eq!(parsed(r"a\\b"), Ok(b"a\\b".to_vec()));
        assert_eq!(parsed(r"ab\\\001"), Ok(b"ab\\\x01".to_vec()));
        assert_eq!(parsed(r"\x"), Ok(vec![]));
        assert_eq!(parsed(""), Ok(vec![]));
    }

    #[test]
    fn the_hexadecimal_form_is_written() {
        let mut text = Vec::new();
        write(&[0xde, 0xad, 0xbe, 0xef, 0x0f], &mut text);
        assert_eq!(text, br"\xdeadbeef0f");
    }

    #[test]
    fn wrong_text_is_an_error() {
        for text in [r"\x1", r"\xzz", r"\x0g", r"\9", r"\400", r"a\", r"\"] {
            assert_eq!(parsed(text), Err(NotBytes), "{text}");
        }
    }
}
