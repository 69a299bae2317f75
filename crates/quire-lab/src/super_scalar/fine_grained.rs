//! One value through its entry point (§6.2.6).

use super::bit_pack::{code_at, code_mask};
use super::layout::group_exceptions;
use super::parts::SegmentSections;
use super::word::{Integer, UnsignedWord};
use super::{GROUP_VALUES, Marking, SuperScalarScheme};
use quire_codec::Corrupt;

/// Value `position` of a PFOR or PDICT segment that has it.
pub(super) fn value<T: Integer>(
    parts: &SegmentSections<'_, T>,
    position: usize,
) -> Result<T::Bits, Corrupt> {
    match exception_number(parts, position)? {
        Some(number) => Ok(exception(parts, number)),
        None => decoded(parts, position),
    }
}

/// The number of the exception at `position`, if there is one.
fn exception_number<T: Integer>(
    parts: &SegmentSections<'_, T>,
    position: usize,
) -> Result<Option<usize>, Corrupt> {
    let width = parts.header.width;
    let (group, place) = (position / GROUP_VALUES, position % GROUP_VALUES);
    let mut exceptions = group_exceptions(&parts.header, parts.entries, group)?;
    let code = |place| code_at(parts.codes, width, group * GROUP_VALUES + place);
    match parts.header.marking {
        Marking::Linked => {
            // Each step goes forward, and there are no more of them than exceptions.
            let mut at = exceptions.place;
            for number in exceptions.numbers {
                if at >= place {
                    return Ok((at == place).then_some(number));
                }
                at = at.saturating_add(T::Bits::truncate(code(at)).index() + 1);
            }
            Ok(None)
        }
        Marking::Escaped => {
            if code(place) != code_mask(width) {
                return Ok(None);
            }
            let before = (0..place).filter(|&one| code(one) == code_mask(width));
            let number = exceptions.numbers.nth(before.count());
            let corrupt =
                || Corrupt::new("more escapes than exceptions", parts.sections.codes.start);
            number.map(Some).ok_or_else(corrupt)
        }
    }
}

fn exception<T: Integer>(parts: &SegmentSections<'_, T>, number: usize) -> T::Bits {
    let from_end = parts.exceptions.rchunks_exact(T::Bits::BYTES);
    from_end
        .clone()
        .nth(number)
        .map(T::Bits::read)
        .unwrap_or_default()
}

/// The value of the code at `position`.
fn decoded<T: Integer>(
    parts: &SegmentSections<'_, T>,
    position: usize,
) -> Result<T::Bits, Corrupt> {
    let code = T::Bits::truncate(code_at(parts.codes, parts.header.width, position));
    if parts.header.scheme == SuperScalarScheme::Pfor {
        return Ok(T::Bits::truncate(parts.header.base).plus(code));
    }
    let dictionary = parts
        .dictionary
        .as_ref()
        .map(|dictionary| dictionary.value_bits());
    let value = dictionary.and_then(|values| values.get(code.index()));
    value.copied().ok_or_else(|| {
        Corrupt::new(
            "a code is not in the dictionary",
            parts.sections.codes.start,
        )
    })
}
