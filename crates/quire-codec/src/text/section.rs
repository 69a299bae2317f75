//! A part of a payload that all vectors share, compressed when that pays: a dictionary, a model.
//!
//! Layout: `u32` raw bytes, `u32` stored bytes, the stored bytes. Equal numbers mean stored as it is,
//! otherwise one zstd frame.

use crate::{Corrupt, ImageCursor};
use std::borrow::Cow;

/// Longest section that is compressed, so that few bytes can never ask for more memory than this.
pub(super) const COMPRESSED_RAW_BYTES_MAX: usize = 16 << 20;
/// A small section is worth more effort than the data.
const SMALL_BYTES: usize = 64 << 10;
const SMALL_LEVEL: i32 = 12;
const LEVEL: i32 = 3;

/// Appends `raw`, compressed when that saves an eighth or more.
pub(super) fn write(raw: &[u8], out: &mut Vec<u8>) {
    let worth_it = raw.len() - raw.len() / 8;
    let level = if raw.len() <= SMALL_BYTES {
        SMALL_LEVEL
    } else {
        LEVEL
    };
    let compressed = match raw.len() {
        0..=COMPRESSED_RAW_BYTES_MAX => zstd::bulk::compress(raw, level).ok(),
        _ => None,
    };
    let stored = match &compressed {
        Some(frame) if frame.len() < worth_it => frame,
        _ => raw,
    };
    out.extend_from_slice(&(raw.len() as u32).to_le_bytes());
    out.extend_from_slice(&(stored.len() as u32).to_le_bytes());
    out.extend_from_slice(stored);
}

/// Reads a section written by [`write()`], which has at most `limit` raw bytes if it is compressed.
pub(super) fn read<'a>(
    cursor: &mut ImageCursor<'a>,
    limit: usize,
    what: &'static str,
) -> Result<Cow<'a, [u8]>, Corrupt> {
    let raw_bytes = cursor.u32(what)? as usize;
    let stored_bytes = cursor.u32(what)? as usize;
    let start = cursor.position();
    let stored = cursor.bytes(stored_bytes, what)?;
    if raw_bytes == stored_bytes {
        return Ok(Cow::Borrowed(stored));
    }
    if raw_bytes > limit {
        return Err(Corrupt::new(
            format!("{what} declares {raw_bytes} bytes"),
            start,
        ));
    }
    match zstd::bulk::decompress(stored, raw_bytes) {
        Ok(raw) if raw.len() == raw_bytes => Ok(Cow::Owned(raw)),
        _ => Err(Corrupt::new(format!("{what} does not decompress"), start)),
    }
}
