//! LZJB: literals and matches of 3 to 66 bytes within the last 1,023, eight of them behind a byte of flags.
//!
//! A block is a sequence of groups: one byte of flags, then up to eight items, the lowest flag first. A flag
//! of 0 is one literal byte. A flag of 1 is a match of two bytes, high byte first: length - 3 in the upper six
//! bits, distance in the lower ten (1 to 1,023). A match may overlap what it writes. Only the last group may
//! have fewer than eight items; its flags that are left over are 0.
//!
//! The format is that of ZFS, written from its description; the search is ours. It looks at every position
//! through a table of the last place of each hash of three bytes, takes the match unless the next position
//! has a longer one, and takes longer steps through data in which nothing has matched for a while. The search
//! of ZFS is in [`super::lzjb_greedy`].

use super::{BlockCodec, BlockCodecId, block_bounds};
use crate::Corrupt;

const MATCH_BYTES_MIN: usize = 3;
pub(super) const MATCH_BYTES_MAX: usize = 66;
pub(super) const DISTANCE_MAX: usize = 1023;
const HASH_BITS: u32 = 12;
/// Positions without a match before the step grows by one.
const PATIENCE_LOG2: u32 = 5;
/// A match this long is taken without looking at the next position.
const GOOD_MATCH_BYTES: usize = 16;
/// Most bytes a group can stand for.
const GROUP_RAW_BYTES_MAX: usize = 8 * MATCH_BYTES_MAX;
/// Copies of whole words write at most this much beyond the end of an item.
const SLACK_BYTES: usize = 16;

/// The codec with its table of hashes.
#[derive(Clone)]
pub(super) struct Lzjb {
    /// Position of the last three bytes of each hash, modulo 65,536.
    last: Box<[u16; 1 << HASH_BITS]>,
}

impl Default for Lzjb {
    fn default() -> Self {
        let last = Box::new([0; 1 << HASH_BITS]);
        Self { last }
    }
}

impl std::fmt::Debug for Lzjb {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lzjb").finish_non_exhaustive()
    }
}

impl BlockCodec for Lzjb {
    fn id(&self) -> BlockCodecId {
        BlockCodecId::Lzjb
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        let mut writer = LzjbWriter::new(block_bounds(input, output, limit)?);
        self.last.fill(0);
        let (mut position, mut anchor) = (0, 0);
        // The hash reads four bytes.
        while position + 4 <= input.len() {
            let mut found = self.search(input, position, MATCH_BYTES_MIN - 1);
            if found.bytes == 0 {
                position += 1 + ((position - anchor) >> PATIENCE_LOG2);
                continue;
            }
            if found.bytes < GOOD_MATCH_BYTES && position + 5 <= input.len() {
                let next = self.search(input, position + 1, found.bytes);
                if next.bytes > 0 {
                    position += 1;
                    found = next;
                }
            }
            writer.literals(input, anchor..position)?;
            writer.found(found)?;
            position += found.bytes;
            anchor = position;
            self.remember(input, position - 1);
            if !writer.has_room_for(input.len() - position) {
                return None;
            }
        }
        writer.literals(input, anchor..input.len())?;
        Some(writer.written)
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
        let (read, written) = decode_groups(input, output)?;
        decode_last_groups(input, read, output, written)
    }
}

/// Equal bytes at a distance back.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) bytes: usize,
    pub(super) distance: usize,
}

impl Lzjb {
    /// The match at `position` if it has more than `beyond` bytes, else one of 0, and remembers the position.
    #[inline]
    fn search(&mut self, input: &[u8], position: usize, beyond: usize) -> Match {
        let none = Match {
            bytes: 0,
            distance: 0,
        };
        let Some(four) = input[position..].first_chunk::<4>() else {
            return none;
        };
        let slot = &mut self.last[hash(*four)];
        let distance = usize::from((position as u16).wrapping_sub(*slot));
        *slot = position as u16;
        if distance == 0 || distance > DISTANCE_MAX.min(position) {
            return none;
        }
        // Most places are told apart by the byte that a longer match would need.
        let (earlier, later) = (&input[position - distance..], &input[position..]);
        if later.get(beyond) != earlier.get(beyond) {
            return none;
        }
        match equal_bytes(earlier, later) {
            bytes if bytes > beyond => Match { bytes, distance },
            _ => none,
        }
    }

    #[inline]
    fn remember(&mut self, input: &[u8], position: usize) {
        if let Some(four) = input[position..].first_chunk::<4>() {
            self.last[hash(*four)] = position as u16;
        }
    }
}

/// A number below the length of the table, from the first three bytes.
#[inline]
fn hash(four: [u8; 4]) -> usize {
    let three = u32::from_le_bytes(four) << 8;
    (three.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

/// How many bytes `earlier` and `later` have in common at their start, at most [`MATCH_BYTES_MAX`].
#[inline]
pub(super) fn equal_bytes(earlier: &[u8], later: &[u8]) -> usize {
    let limit = later.len().min(MATCH_BYTES_MAX);
    let later = &later[..limit];
    let words = earlier
        .as_chunks::<8>()
        .0
        .iter()
        .zip(later.as_chunks::<8>().0);
    let mut equal = 0;
    for (a, b) in words {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return equal + difference.trailing_zeros() as usize / 8;
        }
        equal += 8;
    }
    let tails = earlier[equal..].iter().zip(&later[equal..]);
    equal + tails.take_while(|(a, b)| a == b).count()
}

/// Writes items into groups; `None` as soon as the output is full.
pub(super) struct LzjbWriter<'a> {
    output: &'a mut [u8],
    pub(super) written: usize,
    /// Where the flags of the open group are, and how many of its items are written.
    flags: usize,
    items: usize,
}

impl<'a> LzjbWriter<'a> {
    pub(super) fn new(output: &'a mut [u8]) -> Self {
        let (written, flags, items) = (0, 0, 8);
        Self {
            output,
            written,
            flags,
            items,
        }
    }

    /// Whether `rest` bytes, all in the longest matches, could still be written.
    #[inline]
    pub(super) fn has_room_for(&self, rest: usize) -> bool {
        self.written + rest / MATCH_BYTES_MAX * 2 <= self.output.len()
    }

    #[inline]
    fn open_group(&mut self) -> Option<()> {
        *self.output.get_mut(self.written)? = 0;
        self.flags = self.written;
        self.written += 1;
        self.items = 0;
        Some(())
    }

    #[inline]
    pub(super) fn literals(&mut self, input: &[u8], range: std::ops::Range<usize>) -> Option<()> {
        let mut rest = input.get(range)?;
        while !rest.is_empty() {
            if self.items == 8 {
                self.open_group()?;
            }
            let count = rest.len().min(8 - self.items);
            let (now, later) = rest.split_at(count);
            let room = self.output.get_mut(self.written..)?;
            match (rest.first_chunk::<8>(), room.first_chunk_mut::<8>()) {
                (Some(from), Some(to)) => *to = *from,
                _ => room.get_mut(..count)?.copy_from_slice(now),
            }
            self.written += count;
            self.items += count;
            rest = later;
        }
        Some(())
    }

    #[inline]
    pub(super) fn found(&mut self, found: Match) -> Option<()> {
        if self.items == 8 {
            self.open_group()?;
        }
        let code = ((found.bytes - MATCH_BYTES_MIN) << 10 | found.distance) as u16;
        let room = self.output.get_mut(self.written..)?;
        *room.first_chunk_mut::<2>()? = code.to_be_bytes();
        self.output[self.flags] |= 1 << self.items;
        self.written += 2;
        self.items += 1;
        Some(())
    }
}

/// Decodes whole groups while input and output have room to copy whole words. Returns the bytes read and
/// written.
fn decode_groups(input: &[u8], output: &mut [u8]) -> Result<(usize, usize), Corrupt> {
    let (mut read, mut written) = (0, 0);
    while read + 1 + 16 + SLACK_BYTES <= input.len()
        && written + GROUP_RAW_BYTES_MAX + SLACK_BYTES <= output.len()
    {
        // The bit above the eight flags ends the group.
        let mut flags = u32::from(input[read]) | 0x100;
        read += 1;
        loop {
            let literals = flags.trailing_zeros() as usize;
            output[written..written + 8].copy_from_slice(&input[read..read + 8]);
            read += literals;
            written += literals;
            flags >>= literals;
            if flags == 1 {
                break;
            }
            let Match { bytes, distance } =
                decode_match([input[read], input[read + 1]], written)
                    .ok_or_else(|| Corrupt::new("LZJB match leaves the block", read))?;
            copy_match(output, written, distance, bytes);
            read += 2;
            written += bytes;
            flags >>= 1;
        }
    }
    Ok((read, written))
}

/// The match of a code, if that many bytes are written.
#[inline]
fn decode_match(code: [u8; 2], written: usize) -> Option<Match> {
    let code = usize::from(u16::from_be_bytes(code));
    let distance = code & DISTANCE_MAX;
    let bytes = (code >> 10) + MATCH_BYTES_MIN;
    (distance != 0 && distance <= written).then_some(Match { bytes, distance })
}

/// Copies a match, in whole words: the output has room for [`SLACK_BYTES`] behind it.
#[inline]
fn copy_match(output: &mut [u8], start: usize, distance: usize, bytes: usize) {
    let end = start + bytes;
    let mut at = start;
    if distance >= 16 {
        while at < end {
            output.copy_within(at - distance..at - distance + 16, at);
            at += 16;
        }
        return;
    }
    let mut period = distance;
    if period < 8 {
        for index in start..start + 8 {
            output[index] = output[index - distance];
        }
        at += 8;
        // A multiple of the distance is a distance as well.
        period *= 8usize.div_ceil(distance);
    }
    while at < end {
        output.copy_within(at - period..at - period + 8, at);
        at += 8;
    }
}

/// Decodes the rest, from the start of a group, byte by byte.
fn decode_last_groups(
    input: &[u8],
    mut read: usize,
    output: &mut [u8],
    mut written: usize,
) -> Result<(), Corrupt> {
    let cut = |read| Corrupt::new("LZJB block is cut short", read);
    while written < output.len() {
        let mut flags = *input.get(read).ok_or_else(|| cut(read))?;
        read += 1;
        for _ in 0..8 {
            if written == output.len() {
                break;
            }
            if flags & 1 == 0 {
                output[written] = *input.get(read).ok_or_else(|| cut(read))?;
                read += 1;
                written += 1;
            } else {
                let code = input.get(read..).and_then(<[u8]>::first_chunk::<2>);
                let found = decode_match(*code.ok_or_else(|| cut(read))?, written);
                let Match { bytes, distance } = found
                    .filter(|found| found.bytes <= output.len() - written)
                    .ok_or_else(|| Corrupt::new("LZJB match leaves the block", read))?;
                for index in written..written + bytes {
                    output[index] = output[index - distance];
                }
                read += 2;
                written += bytes;
            }
            flags >>= 1;
        }
        if written == output.len() && flags != 0 {
            return Err(Corrupt::new("LZJB flags without items", read));
        }
    }
    match input.len() - read {
        0 => Ok(()),
        extra => Err(Corrupt::new(
            format!("{extra} bytes follow the LZJB block"),
            read,
        )),
    }
}
