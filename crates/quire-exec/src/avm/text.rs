//! Strings.

use super::operand::{
    Pattern, TargetRegister, TextRegister, TextSet, Wide, WideSet, WordRegister, WordSet,
};
use super::program::Asides;
use super::registers::{RegisterSet, WriteRegister};
use super::trap::Trap;
use crate::plan::{EvaluationError, VALUE_BYTES_MAX};

/// One string behind the other.
pub(super) fn concatenate(
    registers: &mut RegisterSet,
    left: TextRegister,
    right: TextRegister,
    target: TargetRegister<TextRegister>,
) -> Result<(), Trap> {
    let place = registers.make(|registers, text| {
        let (left, right) = (registers.text(left), registers.text(right));
        if left.len().saturating_add(right.len()) > VALUE_BYTES_MAX {
            return Err(EvaluationError::TooLarge.into());
        }
        text.extend_from_slice(left);
        text.extend_from_slice(right);
        Ok(())
    })?;
    target.write(registers, place);
    Ok(())
}

/// Whether to branch: the string is like the pattern.
#[inline]
pub(super) fn is_like(
    registers: &mut RegisterSet,
    asides: &Asides,
    value: TextRegister,
    pattern: Pattern,
) -> Result<bool, Trap> {
    let pattern = asides.patterns.get(usize::from(pattern.0));
    Ok(pattern.is_some_and(|pattern| pattern.matches(registers.text(value))))
}

/// Whether to branch: the value is in the set.
#[inline]
pub(super) fn is_word_in(
    registers: &mut RegisterSet,
    asides: &Asides,
    value: WordRegister,
    set: WordSet,
) -> Result<bool, Trap> {
    let set = asides.word_sets.get(usize::from(set.0));
    Ok(set.is_some_and(|set| set.binary_search(&registers.word(value)).is_ok()))
}

/// Whether to branch: the value is in the set.
#[inline]
pub(super) fn is_wide_in(
    registers: &mut RegisterSet,
    asides: &Asides,
    value: Wide,
    set: WideSet,
) -> Result<bool, Trap> {
    let set = asides.wide_sets.get(usize::from(set.0));
    Ok(set.is_some_and(|set| set.binary_search(&registers.wide(value)).is_ok()))
}

/// Whether to branch: the value is in the set.
#[inline]
pub(super) fn is_text_in(
    registers: &mut RegisterSet,
    asides: &Asides,
    value: TextRegister,
    set: TextSet,
) -> Result<bool, Trap> {
    let text = registers.text(value);
    let set = asides.text_sets.get(usize::from(set.0));
    Ok(set.is_some_and(|set| set.binary_search_by(|known| (**known).cmp(text)).is_ok()))
}
