//! LZRW1, the general codec of figure 6.2 that Sybase IQ uses.
//!
//! After R. N. Williams, *An Extremely Fast Ziv-Lempel Data Compression Algorithm*, DCC 1991. For the laboratory: no page is
//! stored with it.
//!
//! A compressed block is a sequence of groups: a control word of 16 bits, little endian, and an item for each of its bits from
//! the lowest on. 0 is a literal, one byte. 1 is a copy, two bytes: the upper four bits of the offset and the length less 3,
//! then the lower eight bits of the offset. Lengths are 3 to 18, as in the author's revision LZRW1-A; in the first version they
//! end at 16. Offsets are 1 to 4,095 back. The last group can have fewer than 16 items; control bits without item are 0. The
//! raw length is not stored.
//!
//! Earlier text is found by a hash of three bytes in a table of 4,096 places without chains: only the last place of equal
//! hashes is known.

use quire_codec::Corrupt;

const LENGTH_MIN: usize = 3;
const LENGTH_MAX: usize = 18;
const OFFSET_MAX: usize = 4_095;
const TABLE_ENTRIES: usize = 4_096;
const GROUP_ITEMS: usize = 16;

/// Replaces `out` by `source` compressed. False, with nothing of use in `out`, if that does not make it smaller.
pub(super) fn compress(source: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    // One more than the place; 0 is none.
    let mut table = [0u32; TABLE_ENTRIES];
    let mut place = 0;
    while place < source.len() {
        let control_at = out.len();
        out.extend([0; 2]);
        let mut control = 0u16;
        for item in 0..GROUP_ITEMS {
            let Some(&literal) = source.get(place) else {
                break;
            };
            match earlier(source, place, &mut table) {
                Some((offset, length)) => {
                    control |= 1 << item;
                    out.push(((offset >> 8) << 4) as u8 | (length - LENGTH_MIN) as u8);
                    out.push(offset as u8);
                    place += length;
                }
                None => {
                    out.push(literal);
                    place += 1;
                }
            }
        }
        if out.len() >= source.len() {
            return false;
        }
        out[control_at..control_at + 2].copy_from_slice(&control.to_le_bytes());
    }
    true
}

/// Offset and length of a copy that stands for the text at `place`; enters the place into the table.
#[inline]
fn earlier(
    source: &[u8],
    place: usize,
    table: &mut [u32; TABLE_ENTRIES],
) -> Option<(usize, usize)> {
    let rest = source.get(place..)?;
    let &[first, second, third, ..] = rest else {
        return None;
    };
    let key = (((u32::from(first) << 4) ^ u32::from(second)) << 4) ^ u32::from(third);
    let hash = (key.wrapping_mul(40_543) >> 4) & 0xFFF;
    let entry = std::mem::replace(&mut table[hash as usize], place as u32 + 1);
    let before = (entry as usize).checked_sub(1)?;
    let offset = place - before;
    if offset > OFFSET_MAX {
        return None;
    }
    let equal = rest
        .iter()
        .zip(&source[before..])
        .take(LENGTH_MAX)
        .take_while(|(one, other)| one == other)
        .count();
    (equal >= LENGTH_MIN).then_some((offset, equal))
}

/// Undoes [`compress`]; `out` has the raw length.
///
/// # Errors
/// [`Corrupt`], at an offset within `payload`, when its bytes do not decompress to exactly that length.
pub(super) fn decompress(payload: &[u8], out: &mut [u8]) -> Result<(), Corrupt> {
    let (mut at, mut place) = (0, 0);
    while place < out.len() {
        let Some(&[low, high]) = payload.get(at..at + 2) else {
            return Err(Corrupt::new("a control word is missing", at));
        };
        let mut control = u16::from_le_bytes([low, high]);
        at += 2;
        for _ in 0..GROUP_ITEMS {
            if place == out.len() {
                break;
            }
            if control & 1 == 0 {
                let Some(&literal) = payload.get(at) else {
                    return Err(Corrupt::new("a literal is missing", at));
                };
                out[place] = literal;
                (at, place) = (at + 1, place + 1);
            } else {
                place = copy(payload, at, out, place)?;
                at += 2;
            }
            control >>= 1;
        }
        if place == out.len() && control != 0 {
            return Err(Corrupt::new("an item is behind the end of the block", at));
        }
    }
    if at != payload.len() {
        return Err(Corrupt::new("bytes are behind the end of the block", at));
    }
    Ok(())
}

/// Carries out the copy at `at` and returns the place behind it.
#[inline]
fn copy(payload: &[u8], at: usize, out: &mut [u8], place: usize) -> Result<usize, Corrupt> {
    let Some(&[high, low]) = payload.get(at..at + 2) else {
        return Err(Corrupt::new("a copy is missing", at));
    };
    let offset = (usize::from(high >> 4) << 8) | usize::from(low);
    let length = usize::from(high & 15) + LENGTH_MIN;
    let before = place.checked_sub(offset);
    let Some(before) = before.filter(|_| offset > 0) else {
        return Err(Corrupt::new("a copy is from before the block", at));
    };
    let end = place + length;
    if end > out.len() {
        return Err(Corrupt::new("a copy passes the end of the block", at));
    }
    if offset >= length {
        out.copy_within(before..before + length, place);
    } else {
        // What is copied is partly what the copy itself writes.
        for step in 0..length {
            out[place + step] = out[before + step];
        }
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::LabRandom;
    use crate::sample_text::made_up_text;
    use proptest::prelude::*;

    fn restored(source: &[u8]) -> Option<Vec<u8>> {
        let mut payload = Vec::new();
        compress(source, &mut payload).then(|| {
            assert!(payload.len() < source.len());
            let mut out = vec![0xA5; source.len()];
            decompress(&payload, &mut out).unwrap();
            out
        })
    }

    /// The format read as the head of this file describes it, bit by bit and byte by byte.
    fn naive(payload: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = payload.iter().copied();
        let mut out = Vec::new();
        while let Some(low) = bytes.next() {
            let control = [low, bytes.next()?];
            for item in 0..16 {
                let is_copy = (control[item / 8] >> (item % 8)) & 1 == 1;
                let Some(first) = bytes.next() else {
                    return (!is_copy).then_some(out);
                };
                if !is_copy {
                    out.push(first);
                    continue;
                }
                let offset = first as usize / 16 * 256 + bytes.next()? as usize;
                for _ in 0..first % 16 + 3 {
                    out.push(*out.get(out.len().checked_sub(offset)?)?);
                }
            }
        }
        Some(out)
    }

    #[test]
    fn a_block_written_by_hand_is_read() {
        // "abc", a copy of 9 bytes from 3 back, "d".
        let payload = [0b0000_1000, 0, b'a', b'b', b'c', 6, 3, b'd'];
        let mut out = [0; 13];
        decompress(&payload, &mut out).unwrap();
        assert_eq!(&out, b"abcabcabcabcd");
        let mut again = Vec::new();
        assert!(compress(&out, &mut again));
        assert_eq!(again, payload);
        // A copy over more than 256 bytes has its upper bits in the first byte.
        let mut far = vec![0u8; 0];
        for byte in 0..=255u8 {
            far.extend([byte, byte ^ 0x5A]);
        }
        far.extend_from_within(0..18);
        assert!(naive(&[0, 0]).unwrap().is_empty());
        let mut payload = Vec::new();
        if compress(&far, &mut payload) {
            assert_eq!(naive(&payload).unwrap(), far);
        }
    }

    #[test]
    fn texts_of_all_kinds_come_back() {
        let text = made_up_text(3, 40_000).into_bytes();
        assert_eq!(restored(&text).unwrap(), text);
        for length in [19, 20, 37, 5_000] {
            let same = vec![7; length];
            assert_eq!(restored(&same).unwrap(), same, "{length}");
        }
        let mut random = LabRandom(9);
        let noise: Vec<u8> = (0..5_000).map(|_| random.next() as u8).collect();
        assert_eq!(restored(&noise), None);
        for short in [&b""[..], b"a", b"ab", b"abc", b"aaaa"] {
            let mut payload = Vec::new();
            let smaller = compress(short, &mut payload);
            assert!(!smaller || short.is_empty());
        }
    }

    #[test]
    fn every_truncation_is_refused() {
        let text = made_up_text(4, 3_000).into_bytes();
        let mut payload = Vec::new();
        assert!(compress(&text, &mut payload));
        let mut out = vec![0; text.len()];
        for length in 0..payload.len() {
            assert!(
                decompress(&payload[..length], &mut out).is_err(),
                "{length}"
            );
        }
        payload.push(0);
        assert!(decompress(&payload, &mut out).is_err());
        assert!(decompress(&[1, 0, 0, 0], &mut out).is_err());
        assert!(decompress(&[1, 0, 0, 9], &mut out).is_err());
    }

    proptest! {
        #[test]
        fn what_is_compressed_is_what_a_naive_reader_reads(
            source in proptest::collection::vec(0u8..4, 0..6_000)
        ) {
            let mut payload = Vec::new();
            if compress(&source, &mut payload) {
                prop_assert_eq!(naive(&payload).unwrap(), source.clone());
                let mut out = vec![0; source.len()];
                decompress(&payload, &mut out).unwrap();
                prop_assert_eq!(out, source);
            }
        }

        #[test]
        fn wrong_bytes_are_an_error_or_what_a_naive_reader_reads(
            payload in proptest::collection::vec(any::<u8>(), 0..300),
            raw_bytes in 0usize..2_000
        ) {
            let mut out = vec![0; raw_bytes];
            if decompress(&payload, &mut out).is_ok() {
                prop_assert_eq!(naive(&payload).unwrap(), out);
            }
        }
    }
}
