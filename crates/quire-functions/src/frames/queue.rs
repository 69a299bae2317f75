//! A queue of values and the total of them.

use std::collections::VecDeque;

use datafusion::arrow::array::{ArrowNativeTypeOp, ArrowPrimitiveType};
use datafusion::common::Result;

use crate::float_totals::{SummableFloat, added};

/// The values of a frame.
#[derive(Debug)]
pub(super) struct TotalQueue<T: ArrowPrimitiveType> {
    /// Totals of a row and all behind it in the front; the last is that of the oldest row.
    front: Vec<T::Native>,
    /// Rows behind those of the front, oldest first.
    back: VecDeque<T::Native>,
    back_total: T::Native,
}

impl<T: ArrowPrimitiveType> Default for TotalQueue<T> {
    fn default() -> Self {
        Self {
            front: Vec::new(),
            back: VecDeque::new(),
            back_total: T::Native::ZERO,
        }
    }
}

impl<T: SummableFloat> TotalQueue<T> {
    pub(super) fn len(&self) -> usize {
        self.front.len() + self.back.len()
    }

    pub(super) fn push(&mut self, value: T::Native) -> Result<()> {
        self.back_total = if self.back.is_empty() {
            value
        } else {
            added::<T>(self.back_total, value)?
        };
        self.back.push_back(value);
        Ok(())
    }

    /// Takes out the oldest value, if there is one.
    pub(super) fn pop(&mut self) -> Result<()> {
        if self.front.is_empty() {
            self.turn_over()?;
        }
        self.front.pop();
        Ok(())
    }

    fn turn_over(&mut self) -> Result<()> {
        let mut total = None;
        while let Some(value) = self.back.pop_back() {
            let with_value = match total {
                Some(total) => added::<T>(value, total)?,
                None => value,
            };
            total = Some(with_value);
            self.front.push(with_value);
        }
        Ok(())
    }

    /// The total; `None` of no values.
    pub(super) fn total(&self) -> Result<Option<T::Native>> {
        Ok(match (self.front.last(), self.back.is_empty()) {
            (Some(front), true) => Some(*front),
            (Some(front), false) => Some(added::<T>(*front, self.back_total)?),
            (None, false) => Some(self.back_total),
            (None, true) => None,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        (self.front.capacity() + self.back.capacity()) * size_of::<T::Native>()
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::Float64Type;

    use super::*;

    #[test]
    fn totals_are_those_of_the_values_in_the_frame() -> Result<()> {
        let values = [
            1e20,
            f64::NAN,
            1.0,
            f64::INFINITY,
            2.0,
            f64::NEG_INFINITY,
            -3.0,
            4.0,
            0.5,
        ];
        for width in 1..=values.len() {
            let mut queue = TotalQueue::<Float64Type>::default();
            for (row, value) in values.iter().enumerate() {
                queue.push(*value)?;
                if row >= width {
                    queue.pop()?;
                }
                let frame = &values[(row + 1).saturating_sub(width)..=row];
                let expected: f64 = frame.iter().sum();
                let found = queue.total()?.unwrap_or(0.0);
                let are_equal = found == expected || (found.is_nan() && expected.is_nan());
                assert!(are_equal, "{frame:?}: {found}");
                assert_eq!(queue.len(), frame.len());
            }
            (0..width).try_for_each(|_| queue.pop())?;
            assert_eq!(queue.total()?, None);
        }
        Ok(())
    }
}
