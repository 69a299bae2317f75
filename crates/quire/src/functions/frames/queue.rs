//! A queue of values and the total of them.

use std::collections::VecDeque;

/// The values of a frame. Values are added with `+` of the caller.
#[derive(Debug, Default)]
pub(super) struct TotalQueue {
    /// Totals of a row and all behind it in the front; the last is that of the oldest row.
    front: Vec<f64>,
    /// Rows behind those of the front, oldest first.
    back: VecDeque<f64>,
    back_total: f64,
}

impl TotalQueue {
    pub(super) fn len(&self) -> usize {
        self.front.len() + self.back.len()
    }

    pub(super) fn push(&mut self, value: f64) {
        self.back_total = match self.back.is_empty() {
            true => value,
            false => self.back_total + value,
        };
        self.back.push_back(value);
    }

    /// Takes out the oldest value, if there is one.
    pub(super) fn pop(&mut self) {
        if self.front.is_empty() {
            self.turn_over();
        }
        self.front.pop();
    }

    fn turn_over(&mut self) {
        let mut total = None;
        while let Some(value) = self.back.pop_back() {
            let with_value = total.map_or(value, |total| value + total);
            total = Some(with_value);
            self.front.push(with_value);
        }
    }

    /// The total; `None` of no values.
    pub(super) fn total(&self) -> Option<f64> {
        match (self.front.last(), self.back.is_empty()) {
            (Some(front), true) => Some(*front),
            (Some(front), false) => Some(front + self.back_total),
            (None, false) => Some(self.back_total),
            (None, true) => None,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        (self.front.capacity() + self.back.capacity()) * size_of::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_those_of_the_values_in_the_frame() {
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
            let mut queue = TotalQueue::default();
            for (row, value) in values.iter().enumerate() {
                queue.push(*value);
                if row >= width {
                    queue.pop();
                }
                let frame = &values[(row + 1).saturating_sub(width)..=row];
                let expected: f64 = frame.iter().sum();
                let found = queue.total().unwrap_or(0.0);
                let are_equal = found == expected || (found.is_nan() && expected.is_nan());
                assert!(are_equal, "{frame:?}: {found}");
                assert_eq!(queue.len(), frame.len());
            }
            (0..width).for_each(|_| queue.pop());
            assert_eq!(queue.total(), None);
        }
    }
}
