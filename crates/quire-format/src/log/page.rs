//! One page of redo records.

use std::borrow::Cow;

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodecId, BlockOptions, MinimumGain, open};

use crate::document::{DiskStructure, StructureField};
use crate::volume::MAX_PAYLOAD_BYTES;

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 20;

const KIND: usize = 1;
const CODEC: usize = 2;
const FLAGS: usize = 3;
const COUNT: usize = 4;
const FIRST: usize = 8;
const RAW_BYTES: usize = 16;

const COMMITS: u8 = 1;
const PART: u8 = 2;

const ENDS_LARGE: u8 = 1;

/// Most bytes of redo that one commit, or one part of a large one, may have: with every header it is still a page.
pub const RECORDS_BYTES_MAX: usize = MAX_PAYLOAD_BYTES - 64;

/// A shorter body fits into the block that its run takes anyway, so nothing is gained by compressing it.
const COMPRESSED_BYTES_MIN: usize = 3 << 10;

/// Longest varint of 64 bits.
const VARINT_BYTES_MAX: u32 = 10;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Log page (payload of page kind 5)",
    about: "\
Redo records of row transactions; what they mean is the engine's. A page of commits has `count` of them in the
body, one after the other: varint `large`, 0 or the number of the large transaction that this commit ends; if it
is not 0, varint `part_count`; varint `records_bytes`; the records. Their sequences are `first`, `first` + 1 …; the
next page of commits goes on without a gap. A part holds records of a transaction too large for memory. Parts have
no sequence of their own: they count, in the order of their ordinals, just before the commit that ends their
transaction, and not at all when there is none. The number of a large transaction is the sequence of the volume's
batch that wrote its first part.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::at(KIND, "1", "kind", "1 commits, 2 part of a large transaction"),
        StructureField::at(CODEC, "1", "codec", "block codec of the body: 0 none, 3 LZ4"),
        StructureField::at(FLAGS, "1", "flags", "bit 0: a commit of the page ends a large transaction; others 0"),
        StructureField::at(COUNT, "4", "count", "commits in the page, at least 1; of a part: its ordinal, from 0"),
        StructureField::at(FIRST, "8", "first", "sequence of the first commit; of a part: number of the transaction"),
        StructureField::at(RAW_BYTES, "4", "raw_bytes", "length of the body when it is not compressed"),
        StructureField::at(HEADER_BYTES, "rest", "body", "entries, or the records of the part"),
    ],
};

/// What a log page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogContent {
    /// Transactions that were committed.
    Commits {
        /// Sequence of the first, at least 1.
        first: u64,
        /// How many, at least 1.
        count: u32,
        /// One of them ends a large transaction.
        ends_large: bool,
    },
    /// Records of a transaction that is not finished within the page.
    Part {
        /// Number of the transaction, not 0.
        large: u64,
        /// Position among its parts, from 0.
        ordinal: u32,
    },
}

/// A log page whose header has been read.
#[derive(Clone, Copy, Debug)]
pub struct LogPage<'a> {
    /// What the body holds.
    pub content: LogContent,
    codec: BlockCodecId,
    raw_bytes: usize,
    stored: &'a [u8],
}

impl<'a> LogPage<'a> {
    /// The payload of a page with that body.
    ///
    /// # Panics
    /// When the content is none that [`LogPage::decode`] accepts, or the body is longer than a payload may be.
    #[must_use]
    pub fn encode(content: LogContent, body: &[u8]) -> Vec<u8> {
        assert!(
            body.len() <= MAX_PAYLOAD_BYTES - HEADER_BYTES,
            "a log page is too long"
        );
        let (kind, flags, count, first) = match content {
            LogContent::Commits {
                first,
                count,
                ends_large,
            } => {
                assert!(count > 0, "a log page without a commit");
                (COMMITS, u8::from(ends_large) * ENDS_LARGE, count, first)
            }
            LogContent::Part { large, ordinal } => (PART, 0, ordinal, large),
        };
        assert!(first > 0, "sequences and numbers begin with 1");
        let mut payload = vec![0; HEADER_BYTES + body.len()];
        payload[0] = VERSION;
        payload[KIND] = kind;
        payload[FLAGS] = flags;
        payload[COUNT..FIRST].copy_from_slice(&count.to_le_bytes());
        payload[FIRST..RAW_BYTES].copy_from_slice(&first.to_le_bytes());
        payload[RAW_BYTES..HEADER_BYTES].copy_from_slice(&(body.len() as u32).to_le_bytes());
        match compress(body, &mut payload[HEADER_BYTES..]) {
            Some(stored_bytes) => {
                payload[CODEC] = BlockCodecId::Lz4 as u8;
                payload.truncate(HEADER_BYTES + stored_bytes);
            }
            None => payload[HEADER_BYTES..].copy_from_slice(body),
        }
        payload
    }

    /// Reads the header of a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is not one.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Corrupt> {
        let header: &[u8; HEADER_BYTES] = payload
            .first_chunk()
            .ok_or_else(|| Corrupt::new("log page is cut off", 0))?;
        if header[0] != VERSION {
            return Err(Corrupt::new(
                format!("log page has version {}", header[0]),
                0,
            ));
        }
        let codec = match header[CODEC] {
            0 => BlockCodecId::None,
            3 => BlockCodecId::Lz4,
            other => {
                return Err(Corrupt::new(format!("log page of codec {other}"), CODEC));
            }
        };
        let page = Self {
            content: decode_content(header)?,
            codec,
            raw_bytes: number(header, RAW_BYTES, 4) as usize,
            stored: &payload[HEADER_BYTES..],
        };
        page.validate()?;
        Ok(page)
    }

    fn validate(&self) -> Result<(), Corrupt> {
        let is_possible = match self.codec {
            BlockCodecId::None => self.raw_bytes == self.stored.len(),
            _ => self.raw_bytes <= MAX_PAYLOAD_BYTES,
        };
        if !is_possible {
            return Err(Corrupt::new("log page has an impossible length", RAW_BYTES));
        }
        Ok(())
    }

    /// The body: records of a part, or the entries of a page of commits.
    ///
    /// # Errors
    /// [`Corrupt`] when it cannot be decompressed.
    pub fn body(&self) -> Result<Cow<'a, [u8]>, Corrupt> {
        if self.codec == BlockCodecId::None {
            return Ok(Cow::Borrowed(self.stored));
        }
        let codec = open(self.codec, &BlockOptions::default());
        let mut codec = codec.map_err(|error| Corrupt::new(error.to_string(), CODEC))?;
        let mut body = vec![0; self.raw_bytes];
        codec.decompress(self.stored, &mut body)?;
        Ok(Cow::Owned(body))
    }
}

fn decode_content(header: &[u8; HEADER_BYTES]) -> Result<LogContent, Corrupt> {
    let (kind, flags) = (header[KIND], header[FLAGS]);
    let count = number(header, COUNT, 4) as u32;
    let first = number(header, FIRST, 8);
    if first == 0 || first > u64::MAX >> 8 {
        return Err(Corrupt::new("log page has an impossible sequence", FIRST));
    }
    match (kind, flags) {
        (COMMITS, 0 | ENDS_LARGE) if count > 0 => Ok(LogContent::Commits {
            first,
            count,
            ends_large: flags == ENDS_LARGE,
        }),
        (PART, 0) => Ok(LogContent::Part {
            large: first,
            ordinal: count,
        }),
        _ => Err(Corrupt::new(
            format!("log page of unknown kind {kind}, flags {flags}, count {count}"),
            KIND,
        )),
    }
}

fn number(header: &[u8; HEADER_BYTES], offset: usize, bytes: usize) -> u64 {
    let field = header[offset..offset + bytes].iter().rev();
    field.fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Compresses where that makes the volume's run shorter. Returns the length.
fn compress(body: &[u8], room: &mut [u8]) -> Option<usize> {
    if body.len() < COMPRESSED_BYTES_MIN {
        return None;
    }
    let mut codec = open(BlockCodecId::Lz4, &BlockOptions::default()).ok()?;
    codec.compress(body, room, MinimumGain::EIGHTH.limit(body.len()))
}

/// A commit in the body of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry<'a> {
    /// The large transaction that it ends, and the number of its parts.
    pub ends: Option<(u64, u32)>,
    /// Its records, the last ones of a large transaction.
    pub records: &'a [u8],
}

/// Appends an entry to the body of a page of commits.
pub fn push_entry(body: &mut Vec<u8>, entry: &LogEntry<'_>) {
    let (large, part_count) = entry.ends.unwrap_or_default();
    push_varint(body, large);
    if large > 0 {
        push_varint(body, u64::from(part_count));
    }
    push_varint(body, entry.records.len() as u64);
    body.extend_from_slice(entry.records);
}

fn push_varint(body: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        body.push(value as u8 | 0x80);
        value >>= 7;
    }
    body.push(value as u8);
}

/// The commits in the body of a page, in order.
#[derive(Clone, Debug)]
pub struct LogEntries<'a> {
    body: &'a [u8],
    position: usize,
    left: u32,
}

impl<'a> LogEntries<'a> {
    /// The `count` entries of `body`.
    #[must_use]
    pub fn new(body: &'a [u8], count: u32) -> Self {
        Self {
            body,
            position: 0,
            left: count,
        }
    }

    fn varint(&mut self) -> Result<u64, Corrupt> {
        let mut value = 0;
        for step in 0..VARINT_BYTES_MAX {
            let byte = self.body.get(self.position).copied();
            let byte = byte.ok_or_else(|| Corrupt::new("log entry is cut off", self.position))?;
            if step + 1 == VARINT_BYTES_MAX && byte > 1 {
                break;
            }
            self.position += 1;
            value |= u64::from(byte & 0x7f) << (7 * step);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Corrupt::new("integer of more than 64 bits", self.position))
    }

    fn entry(&mut self) -> Result<LogEntry<'a>, Corrupt> {
        let large = self.varint()?;
        let ends = if large == 0 {
            None
        } else {
            let part_count = u32::try_from(self.varint()?);
            let part_count =
                part_count.map_err(|_| Corrupt::new("too many parts", self.position))?;
            Some((large, part_count))
        };
        let length = self.varint()?;
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| self.position.checked_add(length));
        let records = end.and_then(|end| self.body.get(self.position..end));
        let records = records.ok_or_else(|| Corrupt::new("log entry is cut off", self.position))?;
        self.position += records.len();
        Ok(LogEntry { ends, records })
    }
}

impl<'a> Iterator for LogEntries<'a> {
    type Item = Result<LogEntry<'a>, Corrupt>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            let rest = self.position < self.body.len();
            let found = Corrupt::new("bytes follow the last log entry", self.position);
            self.position = self.body.len();
            return rest.then_some(Err(found));
        }
        self.left -= 1;
        let entry = self.entry();
        if entry.is_err() {
            // Nothing behind it can be told apart.
            self.left = 0;
            self.position = self.body.len();
        }
        Some(entry)
    }
}
