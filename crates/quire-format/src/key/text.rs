//! Strings with marked ends whose bytes compare as they do.

use quire_codec::Corrupt;

use super::number::cut_short;

pub(super) const END: u8 = 0x01;
/// Followed by 1 to 3: the bytes 0 to 2.
const LOW: u8 = 0x02;
/// Followed by 1 or 2: the bytes 254 and 255.
const HIGH: u8 = 0xFE;

/// Whether `byte` stands for itself.
fn is_plain(byte: u8) -> bool {
    (LOW + 1..HIGH).contains(&byte)
}

/// Appends `bytes` without a mark of their end.
pub(super) fn push(bytes: &[u8], key: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| !is_plain(byte)) {
        let (plain, others) = rest.split_at(at);
        key.extend_from_slice(plain);
        let Some((&byte, others)) = others.split_first() else {
            break;
        };
        let pair = match byte {
            0..=LOW => [LOW, byte + 1],
            _ => [HIGH, byte - HIGH + 1],
        };
        key.extend_from_slice(&pair);
        rest = others;
    }
    key.extend_from_slice(rest);
}

/// The string at the start of `bytes`, which ends with a mark if it `has_end`, and how many bytes it takes. It is
/// taken from `bytes` if it is there as it is, else written to the start of `room`, which becomes what is left of it.
pub(super) fn string<'a>(
    bytes: &'a [u8],
    mask: u8,
    has_end: bool,
    room: &mut &'a mut [u8],
) -> Result<(&'a [u8], usize), Corrupt> {
    if mask == 0 {
        let plain = bytes.iter().position(|&byte| !is_plain(byte));
        let (found, rest) = bytes.split_at(plain.unwrap_or(bytes.len()));
        match rest.first() {
            Some(&END) if has_end => return Ok((found, found.len() + 1)),
            None if !has_end => return Ok((found, found.len())),
            _ => {}
        }
    }
    let whole = std::mem::take(room);
    let (read, written) = unescape(bytes, mask, has_end, whole)?;
    let (string, others) = whole.split_at_mut(written);
    *room = others;
    Ok((string, read))
}

/// Writes the string at the start of `bytes` to `room`, and says how many bytes were read and written.
fn unescape(
    bytes: &[u8],
    mask: u8,
    has_end: bool,
    room: &mut [u8],
) -> Result<(usize, usize), Corrupt> {
    let (mut read, mut written) = (0, 0);
    loop {
        let Some(first) = bytes.get(read).map(|byte| byte ^ mask) else {
            return if has_end {
                Err(cut_short())
            } else {
                Ok((read, written))
            };
        };
        read += 1;
        let byte = match first {
            END if has_end => return Ok((read, written)),
            LOW | HIGH => {
                let second = bytes.get(read).ok_or_else(cut_short)? ^ mask;
                read += 1;
                escaped(first, second)?
            }
            plain if is_plain(plain) => plain,
            _ => return Err(Corrupt::new("key has a byte that no string has", read - 1)),
        };
        *room.get_mut(written).ok_or_else(cut_short)? = byte;
        written += 1;
    }
}

fn escaped(first: u8, second: u8) -> Result<u8, Corrupt> {
    match (first, second) {
        (LOW, 1..=3) => Ok(second - 1),
        (HIGH, 1 | 2) => Ok(HIGH + (second - 1)),
        _ => Err(Corrupt::new("key has an escape that stands for no byte", 0)),
    }
}
