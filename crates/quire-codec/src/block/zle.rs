//! ZLE, zero-length encoding: runs of zero bytes are shortened and everything else is copied.
//!
//! A block is a sequence of tokens, each begun by one byte `b`:
//!
//! | b | what follows | what it stands for |
//! |---|---|---|
//! | 0 to 63 | b + 1 bytes | these bytes |
//! | 64 to 255 | nothing | b - 63 zeros |
//!
//! These are the tokens ZFS writes for its parameter 64. A literal is ended by two zeros in a row and not by
//! one, because then no other choice of tokens is shorter.

use super::{BlockCodec, BlockCodecId, block_bounds};
use crate::Corrupt;

const LITERAL_BYTES_MAX: usize = 64;
const ZEROS_MAX: usize = 192;

/// The codec of runs of zeros. It keeps no state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Zle;

impl BlockCodec for Zle {
    fn id(&self) -> BlockCodecId {
        BlockCodecId::Zle
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        let output = block_bounds(input, output, limit)?;
        let (mut position, mut written) = (0, 0);
        while position < input.len() {
            // Not even zeros alone could satisfy the limit any more.
            if written + (input.len() - position).div_ceil(ZEROS_MAX) > output.len() {
                return None;
            }
            if input[position] == 0 {
                let zeros = zero_run(&input[position..]);
                position += zeros;
                written += write_zeros(zeros, output.get_mut(written..)?)?;
            } else {
                let literal = literal_run(&input[position..]);
                write_literal(&input[position..], literal, output.get_mut(written..)?)?;
                position += literal;
                written += literal + 1;
            }
        }
        Some(written)
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
        let (mut position, mut written) = (0, 0);
        while let Some(&token) = input.get(position) {
            let literal = usize::from(token) + 1;
            let room = &mut output[written..];
            if literal <= LITERAL_BYTES_MAX {
                let source = &input[position + 1..];
                copy_literal(source, literal, room)
                    .ok_or_else(|| Corrupt::new("ZLE literal leaves the block", position))?;
                position += 1 + literal;
                written += literal;
            } else {
                let zeros = literal - LITERAL_BYTES_MAX;
                fill_zeros(zeros, room)
                    .ok_or_else(|| Corrupt::new("ZLE zeros leave the block", position))?;
                position += 1;
                written += zeros;
            }
        }
        if written != output.len() {
            return Err(Corrupt::new("ZLE block is cut short", position));
        }
        Ok(())
    }
}

/// Bit i is set when byte i is zero. Exact for every byte: no carry passes from one byte to the next.
#[inline]
fn zero_bits(bytes: &[u8; 64]) -> u64 {
    const LOW_SEVEN: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let mut bits = 0;
    for (index, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let zero = !(((word & LOW_SEVEN) + LOW_SEVEN) | word | LOW_SEVEN);
        // The top bit of each byte is moved into the top byte of the product, byte 0 lowest.
        let gathered = (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * index);
    }
    bits
}

/// Zeros at the start of `rest`.
#[inline]
fn zero_run(rest: &[u8]) -> usize {
    let (chunks, tail) = rest.as_chunks::<64>();
    for (index, chunk) in chunks.iter().enumerate() {
        let other = !zero_bits(chunk);
        if other != 0 {
            return 64 * index + other.trailing_zeros() as usize;
        }
    }
    64 * chunks.len() + tail.iter().take_while(|&&byte| byte == 0).count()
}

/// Bytes of the literal at the start of `rest`: up to two zeros in a row.
#[inline]
fn literal_run(rest: &[u8]) -> usize {
    let zeros = match rest.first_chunk::<64>() {
        Some(chunk) => zero_bits(chunk),
        None => {
            let mut padded = [1; 64];
            padded[..rest.len()].copy_from_slice(rest);
            zero_bits(&padded)
        }
    };
    let after = u64::from(rest.get(64) == Some(&0)) << 63;
    let pairs = zeros & (zeros >> 1 | after);
    (pairs.trailing_zeros() as usize).min(rest.len())
}

#[inline]
fn write_zeros(zeros: usize, output: &mut [u8]) -> Option<usize> {
    let tokens = zeros.div_ceil(ZEROS_MAX);
    let (last, full) = output.get_mut(..tokens)?.split_last_mut()?;
    full.fill(255);
    *last = (LITERAL_BYTES_MAX + (zeros - 1) % ZEROS_MAX) as u8;
    Some(tokens)
}

#[inline]
fn write_literal(source: &[u8], literal: usize, output: &mut [u8]) -> Option<()> {
    let (token, room) = output.split_first_mut()?;
    *token = (literal - 1) as u8;
    copy_literal(source, literal, room)
}

/// Copies `literal` bytes, or 64 where both sides have them: what is too much is overwritten by what follows.
#[inline]
fn copy_literal(source: &[u8], literal: usize, room: &mut [u8]) -> Option<()> {
    if let (Some(from), Some(to)) = (source.first_chunk::<64>(), room.first_chunk_mut::<64>()) {
        *to = *from;
    } else {
        room.get_mut(..literal)?
            .copy_from_slice(source.get(..literal)?);
    }
    Some(())
}

#[inline]
fn fill_zeros(zeros: usize, room: &mut [u8]) -> Option<()> {
    match room.first_chunk_mut::<64>() {
        Some(chunk) if zeros <= 64 => *chunk = [0; 64],
        _ => room.get_mut(..zeros)?.fill(0),
    }
    Some(())
}
