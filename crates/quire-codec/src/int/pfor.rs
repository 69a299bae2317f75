//! Payloads of patched frame-of-reference vectors, over values (PFOR) or over differences (PFOR-DELTA).
//!
//! | size | field |
//! |---|---|
//! | … | base of each vector ([`references`]) |
//! | … | PFOR-DELTA: start of each vector, its entry point ([`references`]) |
//! | vectors | code width of each vector, in bits |
//! | 1 | 1 if some vector has exceptions, else 0 |
//! | 3 · vectors | only if so: width of the high bits (1 byte) and number of exceptions (2 bytes) of each vector |
//! | … | the vectors, one after the other: codes, exception positions of 10 bits, exception high bits |
//!
//! Codes of a full vector are packed in FastLanes order ([`crate::kernel::bits`]), in lanes of 8 bits for
//! 8-bit and of 16 bits for 16-bit values, of 64 bits for 64-bit values of more than 32 code bits, and of 32 bits
//! otherwise. Codes of a partial last vector, positions and high bits are bit streams ([`bitstream`]), so that a
//! table of a few rows takes a few bytes.
//!
//! PFOR-DELTA: code `i` stands for the difference of value `i` from the value before it, and value `i` is the
//! start plus the sum of differences 0 to `i`. The first difference repeats the second, so that it costs no
//! more than the others; the start makes up for it. A base of values is the smallest in the order of their type; one
//! of differences is so in the signed order, whatever the type of the values.

use super::bitstream::{self, stream_bytes};
use super::element::{Packed, PackedLane};
use super::frame::{IntFrame, POSITION_BITS};
use super::line::LinearVector;
use super::{exceptions, references};
use crate::kernel::exceptions::Lists;
use crate::kernel::packed_select;
use crate::{
    Corrupt, GROUP_VALUES, ImageCursor, RowMask, VECTOR_VALUES, vector_count, vector_rows,
};
use std::ops::Range;
use std::sync::Arc;

const VECTOR_GROUPS: usize = VECTOR_VALUES / GROUP_VALUES;

/// A vector as it will be stored.
struct PlannedPforVector<L> {
    frame: IntFrame<L>,
    /// Added to the running sum of the differences; unused without delta.
    start: L,
}

/// Turns values into differences, all but the start.
fn to_differences<L: PackedLane>(
    values: &[L; VECTOR_VALUES],
    rows: usize,
) -> ([L; VECTOR_VALUES], L) {
    let mut differences = [L::default(); VECTOR_VALUES];
    L::differences(values, &mut differences);
    if rows > 1 {
        differences[0] = differences[1];
    }
    (differences, values[0].minus(differences[0]))
}

/// Calls `each` with every vector, the last filled up with zeros, and its number of rows.
fn for_each_vector<L: PackedLane>(
    values: &[L],
    delta: bool,
    mut each: impl FnMut(&[L; VECTOR_VALUES], usize, PlannedPforVector<L>),
) {
    let mut visit = |vector: &[L; VECTOR_VALUES], rows: usize| {
        if delta {
            let (differences, start) = to_differences(vector, rows);
            each(
                &differences,
                rows,
                PlannedPforVector {
                    frame: IntFrame::choose(L::as_differences(&differences[..rows])).on_bits(),
                    start,
                },
            );
        } else {
            let frame = IntFrame::choose(&vector[..rows]);
            each(
                vector,
                rows,
                PlannedPforVector {
                    frame,
                    start: L::default(),
                },
            );
        }
    };
    let (full, rest) = values.as_chunks::<VECTOR_VALUES>();
    full.iter().for_each(|vector| visit(vector, VECTOR_VALUES));
    if !rest.is_empty() {
        let mut last = [L::default(); VECTOR_VALUES];
        last[..rest.len()].copy_from_slice(rest);
        visit(&last, rest.len());
    }
}

fn bases<L: PackedLane>(planned: &[PlannedPforVector<L>]) -> Vec<L> {
    planned.iter().map(|one| one.frame.base).collect()
}

fn starts<L: PackedLane>(planned: &[PlannedPforVector<L>]) -> Vec<L> {
    planned.iter().map(|one| one.start).collect()
}

fn directory_bytes<L: PackedLane>(planned: &[PlannedPforVector<L>], delta: bool) -> usize {
    let bases = bases(planned);
    let mut bytes = planned.len() + 1;
    if delta {
        bytes += references::encoded_bytes(L::as_differences(&bases));
        bytes += references::encoded_bytes(&starts(planned));
    } else {
        bytes += references::encoded_bytes(&bases);
    }
    if has_exceptions(planned) {
        bytes += 3 * planned.len();
    }
    bytes
}

fn has_exceptions<L: PackedLane>(planned: &[PlannedPforVector<L>]) -> bool {
    planned.iter().any(|one| one.frame.exception_count > 0)
}

fn append_directory<L: PackedLane>(
    planned: &[PlannedPforVector<L>],
    delta: bool,
    out: &mut Vec<u8>,
) {
    let bases = bases(planned);
    if delta {
        references::append(L::as_differences(&bases), out);
        references::append(&starts(planned), out);
    } else {
        references::append(&bases, out);
    }
    out.extend(planned.iter().map(|one| one.frame.width));
    out.push(u8::from(has_exceptions(planned)));
    if has_exceptions(planned) {
        for one in planned {
            out.push(one.frame.high_width);
            out.extend_from_slice(&one.frame.exception_count.to_le_bytes());
        }
    }
}

fn append_vector<L: PackedLane>(
    values: &[L; VECTOR_VALUES],
    rows: usize,
    frame: &IntFrame<L>,
    out: &mut Vec<u8>,
) {
    let width = usize::from(frame.width);
    let distance = |value: &L| value.minus(frame.base).bits();
    if rows == VECTOR_VALUES {
        let start = out.len();
        out.resize(start + frame.code_bytes(rows), 0);
        L::pack(width, values, frame.base, &mut out[start..]);
    } else {
        bitstream::append(values[..rows].iter().map(distance), width, out);
    }
    if frame.exception_count == 0 {
        return;
    }
    let code_max = u64::MAX.checked_shr(64 - width as u32).unwrap_or(0);
    let near = L::select(values, frame.base, frame.base.plus(L::from_bits(code_max)));
    let mut exceptions = [0u16; VECTOR_VALUES];
    let mut count = 0;
    for (word, near) in near.iter().enumerate() {
        let mut far = !near;
        while far != 0 {
            let row = word * 64 + far.trailing_zeros() as usize;
            far &= far - 1;
            if row < rows {
                exceptions[count] = row as u16;
                count += 1;
            }
        }
    }
    assert_eq!(
        count,
        usize::from(frame.exception_count),
        "exceptions of a vector"
    );
    let exceptions = &exceptions[..count];
    let high = |&row: &u16| distance(&values[usize::from(row)]) >> width;
    bitstream::append(exceptions.iter().map(|&row| row.into()), POSITION_BITS, out);
    bitstream::append(exceptions.iter().map(high), frame.high_width.into(), out);
}

/// One vector of an open payload.
#[derive(Clone, Copy, Debug)]
struct PforVector<L> {
    frame: IntFrame<L>,
    start: L,
    /// Offset of the codes in the image.
    offset: usize,
    /// A full vector of values without exceptions: its codes and its frame are all there is.
    direct: bool,
}

/// Decoder of PFOR and PFOR-DELTA payloads of 8, 16, 32 and 64-bit integers.
#[derive(Clone, Debug)]
pub struct PforDecoder<L> {
    image: Arc<[u8]>,
    row_count: usize,
    delta: bool,
    entries: Vec<PforVector<L>>,
}

impl<L: PackedLane> Packed<L> for PforDecoder<L> {
    fn encoded_bytes(values: &[L], delta: bool) -> usize {
        let mut planned = Vec::with_capacity(vector_count(values.len()));
        let mut bytes = 0;
        for_each_vector(values, delta, |_, rows, plan| {
            bytes += plan.frame.bytes(rows);
            planned.push(plan);
        });
        bytes + directory_bytes(&planned, delta)
    }

    fn encode(values: &[L], delta: bool, out: &mut Vec<u8>) {
        let mut planned = Vec::with_capacity(vector_count(values.len()));
        let mut vectors = Vec::new();
        for_each_vector(values, delta, |vector, rows, plan| {
            append_vector(vector, rows, &plan.frame, &mut vectors);
            planned.push(plan);
        });
        append_directory(&planned, delta, out);
        out.extend_from_slice(&vectors);
    }

    fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
        delta: bool,
    ) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(&image, payload)?;
        let entries = read_directory(&mut cursor, row_count, delta)?;
        cursor.finish("packed vectors")?;
        Ok(Self {
            image,
            row_count,
            delta,
            entries,
        })
    }

    #[inline]
    fn decode_vector(&self, vector: usize, out: &mut [L; VECTOR_VALUES]) -> Result<usize, Corrupt> {
        match self.direct(vector) {
            Some((frame, codes)) => {
                L::unpack(frame.width.into(), codes, frame.base, out);
                Ok(VECTOR_VALUES)
            }
            None => self.decode_further(vector, out),
        }
    }

    #[inline]
    fn value(&self, row: usize) -> Result<L, Corrupt> {
        match self.direct(row / VECTOR_VALUES) {
            Some((frame, codes)) => {
                let index = row % VECTOR_VALUES;
                Ok(L::unpack_one(frame.width.into(), codes, frame.base, index))
            }
            None => self.value_further(row),
        }
    }

    #[inline]
    fn decode_group(&self, group: usize, out: &mut [L; GROUP_VALUES]) -> Result<usize, Corrupt> {
        match self.direct(group / VECTOR_GROUPS) {
            Some((frame, codes)) => {
                let group = group % VECTOR_GROUPS;
                L::unpack_group(frame.width.into(), codes, frame.base, group, out);
                Ok(GROUP_VALUES)
            }
            None => self.decode_group_further(group, out),
        }
    }

    fn select(&self, vector: usize, low: L, high: L, mask: &mut RowMask) -> Result<bool, Corrupt> {
        let Some((frame, codes)) = self.direct(vector) else {
            return Ok(false);
        };
        Ok(select_codes(frame, codes, low, high, mask))
    }

    fn line(&self, vector: usize) -> Result<Option<LinearVector<'_>>, Corrupt> {
        let entry = self.entry(vector)?;
        let rows = vector_rows(self.row_count, vector);
        if self.delta || rows < VECTOR_VALUES || entry.frame.exception_count > 0 {
            return Ok(None);
        }
        let width = usize::from(entry.frame.width);
        let line = LinearVector {
            first: entry.frame.base.wide(),
            unit: 1,
            width,
            packed: self.codes(entry, rows)?,
            lane_bits: L::lane_bits(width),
        };
        Ok(line.within((L::RANGE.0.wide(), L::RANGE.1.wide())))
    }
}

impl<L: PackedLane> PforDecoder<L> {
    /// Frame and codes of a vector that is no more than those: full, without exceptions, no differences.
    #[inline]
    fn direct(&self, vector: usize) -> Option<(&IntFrame<L>, &[u8])> {
        let entry = self.entries.get(vector).filter(|entry| entry.direct)?;
        let codes = self.image.get(entry.offset..)?;
        let codes = codes.get(..VECTOR_VALUES / 8 * usize::from(entry.frame.width))?;
        Some((&entry.frame, codes))
    }

    /// Decodes a vector that is partial, has exceptions or holds differences.
    #[inline(never)]
    fn decode_further(
        &self,
        vector: usize,
        out: &mut [L; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let entry = self.entry(vector)?;
        let rows = vector_rows(self.row_count, vector);
        let codes = self.codes(entry, rows)?;
        let (base, width) = (entry.frame.base, usize::from(entry.frame.width));
        if rows == VECTOR_VALUES {
            if self.delta
                && entry.frame.exception_count == 0
                && L::running_sum_of_packed(width, codes, base, entry.start, out)
            {
                return Ok(rows);
            }
            L::unpack(width, codes, base, out);
        } else {
            let mut codes = bitstream::BitstreamReader::new(codes, width);
            for value in &mut out[..rows] {
                *value = base.plus(L::from_bits(codes.read()));
            }
        }
        if entry.frame.exception_count > 0
            && !exceptions::patch(&self.exceptions(entry, rows)?, rows, out)
        {
            return Err(Corrupt::new(
                "exception positions do not ascend within the vector",
                entry.offset,
            ));
        }
        if self.delta {
            L::running_sum(entry.start, out);
        }
        Ok(rows)
    }

    /// The value of a row of such a vector.
    #[inline(never)]
    fn value_further(&self, row: usize) -> Result<L, Corrupt> {
        if row >= self.row_count {
            return Err(Corrupt::new("row is beyond the segment", 0));
        }
        let (vector, index) = (row / VECTOR_VALUES, row % VECTOR_VALUES);
        if self.delta {
            let mut values = [L::default(); VECTOR_VALUES];
            self.decode_vector(vector, &mut values)?;
            return Ok(values[index]);
        }
        let entry = self.entry(vector)?;
        let rows = vector_rows(self.row_count, vector);
        let codes = self.codes(entry, rows)?;
        let (base, width) = (entry.frame.base, usize::from(entry.frame.width));
        let low = if rows == VECTOR_VALUES {
            L::unpack_one(width, codes, base, index)
        } else {
            base.plus(L::from_bits(bitstream::get(codes, width, index)))
        };
        if entry.frame.exception_count == 0 {
            return Ok(low);
        }
        Ok(low.plus(exceptions::high_bits(&self.exceptions(entry, rows)?, index)))
    }

    /// A group of such a vector.
    #[inline(never)]
    fn decode_group_further(
        &self,
        group: usize,
        out: &mut [L; GROUP_VALUES],
    ) -> Result<usize, Corrupt> {
        let (vector, group) = (group / VECTOR_GROUPS, group % VECTOR_GROUPS);
        let entry = self.entry(vector)?;
        let rows = vector_rows(self.row_count, vector);
        if self.delta || rows < VECTOR_VALUES {
            let mut values = [L::default(); VECTOR_VALUES];
            self.decode_vector(vector, &mut values)?;
            out.copy_from_slice(&values[group * GROUP_VALUES..][..GROUP_VALUES]);
            return Ok(rows.saturating_sub(group * GROUP_VALUES).min(GROUP_VALUES));
        }
        let codes = self.codes(entry, rows)?;
        let width = entry.frame.width.into();
        L::unpack_group(width, codes, entry.frame.base, group, out);
        if entry.frame.exception_count > 0 {
            exceptions::patch_group(&self.exceptions(entry, rows)?, group, out);
        }
        Ok(GROUP_VALUES)
    }

    #[inline]
    fn entry(&self, vector: usize) -> Result<&PforVector<L>, Corrupt> {
        self.entries
            .get(vector)
            .ok_or_else(|| Corrupt::new("vector is beyond the segment", 0))
    }

    /// The packed codes of a vector of `rows` values.
    #[inline]
    fn codes(&self, entry: &PforVector<L>, rows: usize) -> Result<&[u8], Corrupt> {
        self.image
            .get(entry.offset..entry.offset + entry.frame.code_bytes(rows))
            .ok_or_else(|| outside(entry.offset))
    }

    /// The exceptions of a vector of `rows` values, whose lists were found to lie within the payload when it was
    /// opened.
    fn exceptions(&self, entry: &PforVector<L>, rows: usize) -> Result<Lists<'_>, Corrupt> {
        let frame = &entry.frame;
        let start = entry.offset + frame.code_bytes(rows);
        let (position_bytes, _) = frame.exception_bytes();
        let positions = self.image.get(start..).ok_or_else(|| outside(start))?;
        let highs = positions
            .get(position_bytes..)
            .ok_or_else(|| outside(start))?;
        Ok(Lists {
            positions,
            highs,
            count: frame.exception_count.into(),
            width: frame.width.into(),
            high_width: frame.high_width.into(),
        })
    }
}

/// Marks the values from `low` to `high` by comparing codes; false if the values must be looked at.
fn select_codes<L: PackedLane>(
    frame: &IntFrame<L>,
    codes: &[u8],
    low: L,
    high: L,
    mask: &mut RowMask,
) -> bool {
    let (base, width) = (frame.base, usize::from(frame.width));
    let code_max = u64::MAX.checked_shr(64 - width as u32).unwrap_or(0);
    if code_max > L::RANGE.1.minus(base).bits() {
        // Values wrap, and have not the order of their codes.
        return false;
    }
    // Where a bound is below the base, so is its code below all.
    let code = |bound: L| bound.minus(base).bits();
    let code_low = if low < base { 0 } else { code(low) };
    if high < base || code_low > code_max {
        *mask = [0; 16];
        return true;
    }
    let span = code(high).min(code_max) - code_low;
    if span == code_max {
        *mask = [u64::MAX; 16];
        return true;
    }
    packed_select::select(L::lane_bits(width), width, codes, code_low, span, mask)
}

fn outside(offset: usize) -> Corrupt {
    Corrupt::new("packed vector leaves the image", offset)
}

/// Reads the directory and steps over the vectors.
fn read_directory<L: PackedLane>(
    cursor: &mut ImageCursor<'_>,
    row_count: usize,
    delta: bool,
) -> Result<Vec<PforVector<L>>, Corrupt> {
    let count = vector_count(row_count);
    let bases: Vec<L> = references::read(cursor, count)?;
    let starts: Vec<L> = if delta {
        references::read(cursor, count)?
    } else {
        vec![L::default(); count]
    };
    let widths = cursor.bytes(count, "vector widths")?;
    let exceptions = match cursor.u8("exception flag")? {
        0 => None,
        1 => Some(
            cursor
                .bytes(3 * count, "exception counts")?
                .as_chunks::<3>()
                .0,
        ),
        _ => return Err(cursor.corrupt("exception flag is neither 0 nor 1")),
    };
    let mut entries = Vec::with_capacity(count);
    for (vector, ((base, start), width)) in bases.into_iter().zip(starts).zip(widths).enumerate() {
        let [high_width, low, high] = exceptions
            .and_then(|all| all.get(vector))
            .copied()
            .unwrap_or_default();
        let exception_count = u16::from_le_bytes([low, high]);
        let frame = IntFrame {
            base,
            width: *width,
            high_width,
            exception_count,
        };
        let rows = vector_rows(row_count, vector);
        check_frame(&frame, rows).map_err(|what| cursor.corrupt(what))?;
        let offset = cursor.position();
        cursor.take(frame.bytes(rows), "packed vector")?;
        entries.push(PforVector {
            frame,
            start,
            offset,
            direct: rows == VECTOR_VALUES && exception_count == 0 && !delta,
        });
    }
    Ok(entries)
}

fn check_frame<L: PackedLane>(frame: &IntFrame<L>, rows: usize) -> Result<(), &'static str> {
    let (width, high_width) = (usize::from(frame.width), usize::from(frame.high_width));
    if width + high_width > L::BITS {
        return Err("code width and high width pass the type");
    }
    if (frame.exception_count == 0) != (high_width == 0) {
        return Err("exceptions without high bits, or the reverse");
    }
    if usize::from(frame.exception_count) > rows {
        return Err("more exceptions than rows");
    }
    Ok(())
}

const _: () = assert!(
    stream_bytes(VECTOR_VALUES, 7) == 128 * 7,
    "a full vector has whole bytes"
);
