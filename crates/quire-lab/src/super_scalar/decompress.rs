//! Decompression (§6.2.4): PATCHED for linked exceptions, NAIVE for escaped ones.
//!
//! Lengths are checked once for all rows asked for. The loops over all values have no test for exceptions
//! (PATCHED) and none for wrong bytes; the walk along a list checks each place, because it came from the bytes,
//! and takes as many steps as the entry points announce.

use super::bit_pack::{UNROLLED_CODES, code_mask};
use super::layout::{GroupExceptions, group_exceptions};
use super::parts::SegmentSections;
use super::word::{Integer, UnsignedWord};
use super::{GROUP_VALUES, Marking, SuperScalarScheme};
use quire_codec::Corrupt;

/// `rows` values from the start of group `group` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecompressRows {
    pub(super) group: usize,
    pub(super) rows: usize,
}

/// Decodes values that exist, through a buffer for their codes.
pub(super) fn decode<T: Integer>(
    parts: &SegmentSections<'_, T>,
    rows: DecompressRows,
    codes: &mut [T::Bits],
    out: &mut [T::Bits],
) -> Result<(), Corrupt> {
    let codes = unpack(parts, rows, codes)?;
    let out = &mut out[..rows.rows];
    let base = T::Bits::truncate(parts.header.base);
    match (parts.header.scheme, &parts.dictionary) {
        (SuperScalarScheme::Pfor, _) => recover(parts, rows, codes, out, |code| base.plus(code)),
        (SuperScalarScheme::PforDelta, _) => {
            recover(parts, rows, codes, out, |code| base.plus(code))?;
            running_totals(parts, rows, out)
        }
        (SuperScalarScheme::Pdict, Some(dictionary)) => {
            let table = dictionary.table();
            if table.is_empty() {
                return Err(Corrupt::new("no values in the dictionary", 32));
            }
            // The table has a power of two of entries, so no code leaves it.
            let last = table.len() - 1;
            let count = dictionary.count() as u64;
            let mut beyond_count = 0;
            recover(parts, rows, codes, out, |code| {
                beyond_count += usize::from(code.wide() >= count);
                table[code.wide() as usize & last]
            })?;
            if beyond_count == links_beyond(parts, rows, codes, count, beyond_count)? {
                Ok(())
            } else {
                Err(Corrupt::new(
                    "a code is not in the dictionary",
                    parts.sections.codes.start,
                ))
            }
        }
        (SuperScalarScheme::Pdict, None) => Err(Corrupt::new("no dictionary", 36)),
    }
}

/// The codes of the rows.
fn unpack<'b, T: Integer>(
    parts: &SegmentSections<'_, T>,
    rows: DecompressRows,
    codes: &'b mut [T::Bits],
) -> Result<&'b [T::Bits], Corrupt> {
    let width = parts.header.width;
    let padded = rows.rows.next_multiple_of(UNROLLED_CODES);
    let start = rows.group * (GROUP_VALUES / 8) * width;
    let packed = parts.codes.get(start..start + padded / 8 * width);
    match (packed, codes.get_mut(..padded)) {
        (Some(packed), Some(codes)) => {
            T::Bits::unpack(width, packed, codes);
            Ok(&codes[..rows.rows])
        }
        _ => Err(Corrupt::new(
            "codes are missing",
            parts.sections.codes.start,
        )),
    }
}

/// Values, or differences, from codes and exceptions.
fn recover<T: Integer>(
    parts: &SegmentSections<'_, T>,
    rows: DecompressRows,
    codes: &[T::Bits],
    out: &mut [T::Bits],
    mut decode: impl FnMut(T::Bits) -> T::Bits,
) -> Result<(), Corrupt> {
    if parts.header.marking == Marking::Linked {
        // LOOP1: decode regardless of exceptions.
        for (out, code) in out.iter_mut().zip(codes) {
            *out = decode(*code);
        }
    }
    let escape = T::Bits::truncate(code_mask(parts.header.width));
    let groups = codes.chunks(GROUP_VALUES).zip(out.chunks_mut(GROUP_VALUES));
    for (group, (codes, out)) in (rows.group..).zip(groups) {
        let exceptions = group_exceptions(&parts.header, parts.entries, group)?;
        let bytes = exception_bytes(parts, &exceptions);
        let right = match parts.header.marking {
            Marking::Linked => patch(codes, exceptions.place, bytes, out),
            Marking::Escaped => unescape(codes, escape, bytes, out, &mut decode),
        };
        if !right {
            let place =
                parts.sections.codes.start + group * (GROUP_VALUES / 8) * parts.header.width;
            return Err(Corrupt::new(
                "codes and exceptions of a group disagree",
                place,
            ));
        }
    }
    Ok(())
}

/// The bytes of a group's exceptions, the last of which comes first.
fn exception_bytes<'a, T: Integer>(
    parts: &SegmentSections<'a, T>,
    group: &GroupExceptions,
) -> &'a [u8] {
    let end = parts.exceptions.len();
    let from = end.saturating_sub(group.numbers.end * T::Bits::BYTES);
    let to = end.saturating_sub(group.numbers.start * T::Bits::BYTES);
    parts.exceptions.get(from..to).unwrap_or_default()
}

/// LOOP2: walks the list and puts each exception where it belongs; false if the list leaves the group.
fn patch<U: UnsignedWord>(codes: &[U], first: usize, exceptions: &[u8], out: &mut [U]) -> bool {
    let out = &mut out[..codes.len()];
    let mut place = first;
    for exception in exceptions.chunks_exact(U::BYTES).rev() {
        // An index is at most 2³¹, so a place never overflows, and never goes back.
        let (Some(code), Some(out)) = (codes.get(place), out.get_mut(place)) else {
            return false;
        };
        *out = U::read(exception);
        place += code.index() + 1;
    }
    true
}

/// The if-then-else of the paper; false unless there are as many escapes as exceptions.
fn unescape<U: UnsignedWord>(
    codes: &[U],
    escape: U,
    exceptions: &[u8],
    out: &mut [U],
    decode: &mut impl FnMut(U) -> U,
) -> bool {
    let mut exceptions = exceptions.chunks_exact(U::BYTES).rev();
    for (out, code) in out.iter_mut().zip(codes) {
        if *code < escape {
            *out = decode(*code);
        } else if let Some(exception) = exceptions.next() {
            *out = U::read(exception);
        } else {
            return false;
        }
    }
    exceptions.next().is_none()
}

/// Sums differences up, each group from its own running total, which must be where the group before ended.
fn running_totals<T: Integer>(
    parts: &SegmentSections<'_, T>,
    rows: DecompressRows,
    out: &mut [T::Bits],
) -> Result<(), Corrupt> {
    let totals = parts.totals.chunks_exact(T::Bits::BYTES).skip(rows.group);
    let mut totals = totals.map(T::Bits::read).peekable();
    for out in out.chunks_mut(GROUP_VALUES) {
        let mut total = totals.next().unwrap_or_default();
        for value in out {
            total = total.plus(*value);
            *value = total;
        }
        if totals.peek().is_some_and(|next| *next != total) {
            let start = parts.sections.totals.start;
            return Err(Corrupt::new(
                "a running total is not what precedes it",
                start,
            ));
        }
    }
    Ok(())
}

/// How many of the decoded codes are beyond a dictionary of `count` values because they are links, and at most
/// `limit`. Escapes are not decoded.
fn links_beyond<T: Integer>(
    parts: &SegmentSections<'_, T>,
    rows: DecompressRows,
    codes: &[T::Bits],
    count: u64,
    limit: usize,
) -> Result<usize, Corrupt> {
    if limit == 0 || parts.header.marking == Marking::Escaped {
        return Ok(0);
    }
    let mut links_beyond = 0;
    for (group, codes) in (rows.group..).zip(codes.chunks(GROUP_VALUES)) {
        let exceptions = group_exceptions(&parts.header, parts.entries, group)?;
        let mut place = exceptions.place;
        let links = exceptions.numbers.map_while(|_| {
            let code = *codes.get(place)?;
            place += code.index() + 1;
            Some(code)
        });
        links_beyond += links.filter(|code| code.wide() >= count).count();
    }
    Ok(links_beyond)
}
