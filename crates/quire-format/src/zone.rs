//! Zones: the least and greatest value and the number of NULLs of some consecutive rows.
//!
//! A bound is a true bound of all values that are not NULL, in the order of the type: numbers
//! by value, floats by IEEE 754 total order, text and bytes byte by byte. It need not be reached by a value;
//! a flag says when it is. Text longer than [`BOUND_BYTES`] is cut, the upper bound rounded up; when that
//! is impossible, or a NaN makes the order a matter of opinion, the bound is absent: unknown.
//!
//! The layout is in `STRUCTURE` below.
//! The reference of min is the min of the enclosing zone, that of max is the zone's own min.

use std::cmp::Ordering;

use quire_codec::{CodecScalar, Corrupt, PhysicalType};

use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

/// Longest bound that is kept of a text or byte string.
pub const BOUND_BYTES: usize = 32;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Zone",
    about: "Bounds and NULLs of consecutive rows of one column. Part of table roots and row groups. A bound is written \
            relative to a reference: the reference of `min` is given by what the zone is part of, that of `max` is \
            the zone's own `min`.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(
            0,
            "1",
            "flags",
            "bit 0: `min` follows; 1: `max` follows; 2: a value equals `min`; \
            3: a value equals `max`",
        ),
        StructureField::next("varint", "null_count", ""),
        StructureField::next(
            "bound",
            "min",
            "integers: varint of the distance from the reference, *signed* without one; \
            booleans: 1 byte; floats: their bits; bytes: length shared with the reference (varint), \
            then the length (varint) and bytes of the rest, at most 32 in all",
        ),
        StructureField::next("bound", "max", "likewise"),
    ],
};

/// Bounds of the values of some consecutive rows of a column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ZoneBounds {
    /// No value is less; `None` when unknown or when there are no values.
    pub min: Option<CodecScalar>,
    /// No value is greater; `None` when unknown or when there are no values.
    pub max: Option<CodecScalar>,
    /// Whether a value equals `min`.
    pub min_exact: bool,
    /// Whether a value equals `max`.
    pub max_exact: bool,
    /// Number of NULLs.
    pub null_count: u64,
}

/// Compares two scalars of one physical type in the order of zones; `None` for unequal types.
pub fn compare(left: &CodecScalar, right: &CodecScalar) -> Option<Ordering> {
    Some(match (left, right) {
        (CodecScalar::Bool(left), CodecScalar::Bool(right)) => left.cmp(right),
        (CodecScalar::Int16(left), CodecScalar::Int16(right)) => left.cmp(right),
        (CodecScalar::Int32(left), CodecScalar::Int32(right)) => left.cmp(right),
        (CodecScalar::Int64(left), CodecScalar::Int64(right)) => left.cmp(right),
        (CodecScalar::Int128(left), CodecScalar::Int128(right)) => left.cmp(right),
        (CodecScalar::Float32(left), CodecScalar::Float32(right)) => left.total_cmp(right),
        (CodecScalar::Float64(left), CodecScalar::Float64(right)) => left.total_cmp(right),
        (CodecScalar::Bytes(left), CodecScalar::Bytes(right)) => left.cmp(right),
        _ => return None,
    })
}

const HAS_MIN: u8 = 1;
const HAS_MAX: u8 = 2;
const MIN_EXACT: u8 = 4;
const MAX_EXACT: u8 = 8;

impl ZoneBounds {
    /// Whether `value` lies within the bounds, as far as they are known.
    pub fn contains(&self, value: &CodecScalar) -> bool {
        let above = self.min.as_ref().is_none_or(|min| {
            matches!(compare(min, value), Some(Ordering::Less | Ordering::Equal))
        });
        let below = self.max.as_ref().is_none_or(|max| {
            matches!(compare(value, max), Some(Ordering::Less | Ordering::Equal))
        });
        above && below
    }

    /// Widens this zone, that of `self_values` values that are not NULL, to also cover `other`, that of
    /// `other_values` of them.
    pub fn merge(&mut self, self_values: u64, other: &ZoneBounds, other_values: u64) {
        self.null_count += other.null_count;
        if other_values == 0 {
            return;
        }
        if self_values == 0 {
            *self = ZoneBounds {
                null_count: self.null_count,
                ..other.clone()
            };
            return;
        }
        let min = (&self.min, self.min_exact, &other.min, other.min_exact);
        (self.min, self.min_exact) = outer_bound(min, Ordering::Less);
        let max = (&self.max, self.max_exact, &other.max, other.max_exact);
        (self.max, self.max_exact) = outer_bound(max, Ordering::Greater);
    }

    pub(crate) fn encode(&self, reference: Option<&CodecScalar>, writer: &mut WireItemWriter) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        writer.byte(
            flag(self.min.is_some(), HAS_MIN)
                | flag(self.max.is_some(), HAS_MAX)
                | flag(self.min_exact, MIN_EXACT)
                | flag(self.max_exact, MAX_EXACT),
        );
        writer.varint(self.null_count);
        if let Some(min) = &self.min {
            encode_bound(min, reference, writer);
        }
        if let Some(max) = &self.max {
            encode_bound(max, self.min.as_ref(), writer);
        }
    }

    /// Reads the zone of `row_count` rows.
    pub(crate) fn decode(
        physical_type: PhysicalType,
        row_count: u64,
        reference: Option<&CodecScalar>,
        reader: &mut WireItemReader<'_>,
    ) -> Result<Self, Corrupt> {
        let flags = reader.byte()?;
        let mut zone = ZoneBounds {
            min: None,
            max: None,
            min_exact: flags & MIN_EXACT != 0,
            max_exact: flags & MAX_EXACT != 0,
            null_count: reader.varint()?,
        };
        if flags & HAS_MIN != 0 {
            zone.min = Some(decode_bound(physical_type, reference, reader)?);
        }
        if flags & HAS_MAX != 0 {
            zone.max = Some(decode_bound(physical_type, zone.min.as_ref(), reader)?);
        }
        let crossed = match (&zone.min, &zone.max) {
            (Some(min), Some(max)) => compare(min, max) == Some(Ordering::Greater),
            _ => false,
        };
        let unfounded = (zone.min_exact && zone.min.is_none())
            || (zone.max_exact && zone.max.is_none())
            || flags >= 16;
        if crossed || unfounded || zone.null_count > row_count {
            return Err(reader.corrupt("zone contradicts itself"));
        }
        Ok(zone)
    }
}

/// The bound of two zones that lies further out in direction `outward`; unknown if one is unknown.
fn outer_bound(
    (left, left_exact, right, right_exact): (
        &Option<CodecScalar>,
        bool,
        &Option<CodecScalar>,
        bool,
    ),
    outward: Ordering,
) -> (Option<CodecScalar>, bool) {
    let (Some(one), Some(other)) = (left, right) else {
        return (None, false);
    };
    match compare(one, other) {
        Some(Ordering::Equal) => (left.clone(), left_exact || right_exact),
        Some(order) if order == outward => (left.clone(), left_exact),
        Some(_) => (right.clone(), right_exact),
        None => (None, false),
    }
}

fn encode_bound(value: &CodecScalar, reference: Option<&CodecScalar>, writer: &mut WireItemWriter) {
    match value {
        CodecScalar::Bool(value) => writer.byte(u8::from(*value)),
        CodecScalar::Float32(value) => writer.raw(&value.to_bits().to_le_bytes()),
        CodecScalar::Float64(value) => writer.raw(&value.to_bits().to_le_bytes()),
        CodecScalar::Bytes(value) => {
            let shared = match reference {
                Some(CodecScalar::Bytes(reference)) => reference
                    .iter()
                    .zip(value)
                    .take_while(|(left, right)| left == right)
                    .count(),
                _ => 0,
            };
            writer.varint(shared as u64);
            writer.bytes(&value[shared..]);
        }
        integers => {
            let value = integers.as_integer().unwrap_or_default();
            match reference.and_then(CodecScalar::as_integer) {
                // The reference is a lower bound, so the distance fits 128 unsigned bits.
                Some(reference) => {
                    assert!(reference <= value, "zone bound below its reference");
                    writer.varint_wide(value.wrapping_sub(reference) as u128);
                }
                None => writer.signed(value),
            }
        }
    }
}

fn decode_bound(
    physical_type: PhysicalType,
    reference: Option<&CodecScalar>,
    reader: &mut WireItemReader<'_>,
) -> Result<CodecScalar, Corrupt> {
    Ok(match physical_type {
        PhysicalType::Bool => match reader.byte()? {
            value @ 0..=1 => CodecScalar::Bool(value == 1),
            _ => return Err(reader.corrupt("boolean bound is neither 0 nor 1")),
        },
        PhysicalType::Float32 => CodecScalar::Float32(f32::from_le_bytes(reader.array()?)),
        PhysicalType::Float64 => CodecScalar::Float64(f64::from_le_bytes(reader.array()?)),
        PhysicalType::Bytes => decode_bytes_bound(reference, reader)?,
        PhysicalType::Int16 | PhysicalType::Int32 | PhysicalType::Int64 | PhysicalType::Int128 => {
            let value = match reference.and_then(CodecScalar::as_integer) {
                Some(reference) => {
                    let distance = reader.varint_wide()?;
                    let value = reference.wrapping_add(distance as i128);
                    if value < reference {
                        return Err(reader.corrupt("zone bound passes 128 bits"));
                    }
                    value
                }
                None => reader.signed()?,
            };
            narrow(physical_type, value).ok_or_else(|| {
                reader.corrupt(format!("zone bound {value} is no {physical_type}"))
            })?
        }
    })
}

fn narrow(physical_type: PhysicalType, value: i128) -> Option<CodecScalar> {
    match physical_type {
        PhysicalType::Int16 => i16::try_from(value).ok().map(CodecScalar::Int16),
        PhysicalType::Int32 => i32::try_from(value).ok().map(CodecScalar::Int32),
        PhysicalType::Int64 => i64::try_from(value).ok().map(CodecScalar::Int64),
        _ => Some(CodecScalar::Int128(value)),
    }
}

fn decode_bytes_bound(
    reference: Option<&CodecScalar>,
    reader: &mut WireItemReader<'_>,
) -> Result<CodecScalar, Corrupt> {
    let shared = reader.varint()?;
    let prefix = match reference {
        Some(CodecScalar::Bytes(reference)) => reference.as_slice(),
        _ => &[],
    };
    let shared = usize::try_from(shared)
        .ok()
        .and_then(|shared| prefix.get(..shared));
    let shared = shared.ok_or_else(|| reader.corrupt("bound shares more than there is"))?;
    let rest = reader.bytes()?;
    if shared.len() + rest.len() > BOUND_BYTES {
        return Err(reader.corrupt(format!("bound of more than {BOUND_BYTES} bytes")));
    }
    Ok(CodecScalar::Bytes([shared, rest].concat()))
}

/// Bounds of the text or byte strings from `min` to `max`, cut to [`BOUND_BYTES`]. `is_text` keeps
/// both valid UTF-8, given that `min` and `max` are. No upper bound remains when it cannot be
/// rounded up.
pub fn bytes_bounds(min: &[u8], max: &[u8], is_text: bool, null_count: u64) -> ZoneBounds {
    let min_cut = cut(min, is_text);
    let (max_bound, max_exact) = if max.len() <= BOUND_BYTES {
        (Some(max.to_vec()), true)
    } else {
        (successor(cut(max, is_text), is_text), false)
    };
    ZoneBounds {
        min: Some(CodecScalar::Bytes(min_cut.to_vec())),
        min_exact: min_cut.len() == min.len(),
        max: max_bound.map(CodecScalar::Bytes),
        max_exact,
        null_count,
    }
}

/// The longest prefix of at most [`BOUND_BYTES`], of whole characters if it is text.
fn cut(value: &[u8], is_text: bool) -> &[u8] {
    let mut length = value.len().min(BOUND_BYTES);
    while is_text && length < value.len() && length > 0 && value[length] & 0xc0 == 0x80 {
        length -= 1;
    }
    &value[..length]
}

/// A string of at most [`BOUND_BYTES`] that is greater than everything that starts with `prefix`: the last
/// byte (character for text, whose order by code point is that of its bytes) that can grow, grows.
fn successor(prefix: &[u8], is_text: bool) -> Option<Vec<u8>> {
    if !is_text {
        let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
        return Some([&prefix[..last], &[prefix[last] + 1]].concat());
    }
    let text = std::str::from_utf8(prefix).ok()?;
    for (position, character) in text.char_indices().rev() {
        let next = match character {
            '\u{d7ff}' => Some('\u{e000}'),
            other => char::from_u32(other as u32 + 1),
        };
        let bound = next.map(|next| format!("{}{next}", &text[..position]));
        if let Some(bound) = bound.filter(|bound| bound.len() <= BOUND_BYTES) {
            return Some(bound.into_bytes());
        }
    }
    None
}

#[cfg(test)]
mod tests;
