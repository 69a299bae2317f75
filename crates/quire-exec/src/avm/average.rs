//! Means of what slots have come to, rounded once.

use super::accumulate::NOTHING;
use super::operand::{AggregateSlot, TargetRegister, Wide, WordRegister};
use super::registers::{RegisterSet, WriteRegister};
use super::trap::Trap;
use crate::plan::{EvaluationError, nearest_double, nearest_mean};

/// The sum and the number of the values of a group; nothing of no values.
#[inline(always)]
fn sum_and_count(
    registers: &mut RegisterSet,
    sum: AggregateSlot,
    count: AggregateSlot,
) -> Result<Option<(i128, i128)>, Trap> {
    let count = *registers.states.of(count)?;
    let sum = *registers.states.of(sum)?;
    Ok((sum != NOTHING && count > 0).then_some((sum, count)))
}

/// The double nearest to the mean of integers.
pub(super) fn of_integers(
    registers: &mut RegisterSet,
    sum: AggregateSlot,
    count: AggregateSlot,
    target: TargetRegister<WordRegister>,
) -> Result<(), Trap> {
    match sum_and_count(registers, sum, count)? {
        Some((sum, count)) => {
            target.write(registers, nearest_double(sum, count.unsigned_abs()));
        }
        None => WriteRegister::<f64>::write_null(target, registers),
    }
    Ok(())
}

/// The mean of decimals times a factor, rounded to the nearest and below a limit.
pub(super) fn of_decimals(
    registers: &mut RegisterSet,
    sum: AggregateSlot,
    count: AggregateSlot,
    factor: Wide,
    limit: Wide,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    let (factor, limit) = (registers.wide(factor), registers.wide(limit));
    let Some((sum, count)) = sum_and_count(registers, sum, count)? else {
        target.write_null(registers);
        return Ok(());
    };
    match nearest_mean(sum, factor, count) {
        Some(mean) if mean.unsigned_abs() < limit.unsigned_abs() => {
            target.write(registers, mean);
            Ok(())
        }
        _ => Err(EvaluationError::DecimalOutOfRange.into()),
    }
}
