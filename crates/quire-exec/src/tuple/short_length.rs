//! Lengths in kept and in spilled rows: one byte, and four more behind [`LONG`] where that is too short.

use crate::avm::Trap;

/// In place of a length of one byte: four bytes follow, little endian.
const LONG: u8 = u8::MAX;

/// Appends a length.
pub(super) fn push_length(length: usize, bytes: &mut Vec<u8>) -> Result<(), Trap> {
    match u8::try_from(length) {
        Ok(short) if short < LONG => bytes.push(short),
        _ => {
            let long = u32::try_from(length).map_err(|_| Trap::too_large())?;
            bytes.push(LONG);
            bytes.extend_from_slice(&long.to_le_bytes());
        }
    }
    Ok(())
}

/// The length at `at`, which then is behind it; nothing where the bytes end before.
#[inline]
pub(super) fn take_length(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let short = *bytes.get(*at)?;
    *at += 1;
    if short < LONG {
        return Some(short.into());
    }
    let long = bytes.get(*at..)?.first_chunk()?;
    *at += size_of::<u32>();
    Some(u32::from_le_bytes(*long))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lengths_are_read_as_they_were_written_and_cut_ones_not_at_all() {
        for length in [0, 1, 254, 255, 256, 70_000, u32::MAX as usize] {
            let mut bytes = vec![7];
            push_length(length, &mut bytes).unwrap();
            let mut at = 1;
            assert_eq!(take_length(&bytes, &mut at), u32::try_from(length).ok());
            assert_eq!(at, bytes.len());
            bytes.pop();
            assert_eq!(take_length(&bytes, &mut 1), None);
        }
        assert!(push_length(u32::MAX as usize + 1, &mut Vec::new()).is_err());
    }
}
