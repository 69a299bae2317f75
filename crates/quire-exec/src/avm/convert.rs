//! Values of one kind become values of another.

use std::io::Write as _;

use super::operand::{TargetRegister, TextRegister, Wide, WordRegister};
use super::registers::{RegisterSet, WriteRegister};
use super::trap::Trap;

/// The nearest double of an integer.
#[inline(always)]
pub(super) fn integer_to_double(
    registers: &mut RegisterSet,
    value: WordRegister,
    target: TargetRegister<WordRegister>,
) -> Result<(), Trap> {
    let value = registers.word(value);
    target.write(registers, value as f64);
    Ok(())
}

/// The double of a real, exactly.
#[inline(always)]
pub(super) fn real_to_double(
    registers: &mut RegisterSet,
    value: WordRegister,
    target: TargetRegister<WordRegister>,
) -> Result<(), Trap> {
    let value = f32::from_bits(registers.word(value) as u32);
    target.write(registers, f64::from(value));
    Ok(())
}

/// The decimal without digits behind its point.
#[inline(always)]
pub(super) fn integer_to_decimal(
    registers: &mut RegisterSet,
    value: WordRegister,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    let value = registers.word(value);
    target.write(registers, i128::from(value));
    Ok(())
}

/// Multiplies a decimal by a factor if its absolute value stays below a limit; whether to branch: it does not.
#[inline(always)]
pub(super) fn rescale(
    registers: &mut RegisterSet,
    value: Wide,
    factor: Wide,
    limit: Wide,
    target: TargetRegister<Wide>,
) -> Result<bool, Trap> {
    let limit = registers.wide(limit);
    let product = registers.wide(value).checked_mul(registers.wide(factor));
    match product {
        Some(product) if -limit < product && product < limit => {
            target.write(registers, product);
            Ok(false)
        }
        _ => Ok(true),
    }
}

/// The digits of an integer.
pub(super) fn integer_to_text(
    registers: &mut RegisterSet,
    value: WordRegister,
    target: TargetRegister<TextRegister>,
) -> Result<(), Trap> {
    let place = registers.make(|registers, text| {
        // Writing to a vector cannot fail.
        let _ = write!(text, "{}", registers.word(value));
        Ok(())
    })?;
    target.write(registers, place);
    Ok(())
}

/// The same value in another register, NULL or not.
#[inline(always)]
pub(super) fn move_word(
    registers: &mut RegisterSet,
    value: WordRegister,
    target: TargetRegister<WordRegister>,
) -> Result<(), Trap> {
    if registers.is_null_word(value) {
        WriteRegister::<i64>::write_null(target, registers)
    } else {
        target.write(registers, registers.word(value))
    }
    Ok(())
}

/// The same value in another register, NULL or not.
#[inline(always)]
pub(super) fn move_wide(
    registers: &mut RegisterSet,
    value: Wide,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    if registers.is_null_wide(value) {
        target.write_null(registers)
    } else {
        target.write(registers, registers.wide(value))
    }
    Ok(())
}

/// The same value in another register, NULL or not.
#[inline(always)]
pub(super) fn move_text(
    registers: &mut RegisterSet,
    value: TextRegister,
    target: TargetRegister<TextRegister>,
) -> Result<(), Trap> {
    if registers.is_null_text(value) {
        target.write_null(registers)
    } else {
        target.write(registers, registers.place(value))
    }
    Ok(())
}

/// The same tuple in another register.
#[inline(always)]
pub(super) fn move_tuple(
    registers: &mut RegisterSet,
    from: super::operand::Tuple,
    target: TargetRegister<super::operand::Tuple>,
) -> Result<(), Trap> {
    let place = registers.tuple(from);
    registers.set_tuple(target.0, place);
    Ok(())
}

/// Makes a register NULL.
#[inline(always)]
pub(super) fn set_null<V, T>(
    registers: &mut RegisterSet,
    target: TargetRegister<T>,
) -> Result<(), Trap>
where
    TargetRegister<T>: WriteRegister<V>,
{
    target.write_null(registers);
    Ok(())
}
