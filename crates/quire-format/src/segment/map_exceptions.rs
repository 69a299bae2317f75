//! The rows of a map that do not have the value of their key.

use quire_codec::{Corrupt, PhysicalType, VECTOR_VALUES};

use super::map_image::integers;
use super::plain::PlainSegment;

/// Where the exceptions of a map are, and the numbers of their values.
#[derive(Debug, Default)]
pub(super) struct MapExceptions {
    /// Ascending.
    rows: Vec<u32>,
    /// The number of the first one's value.
    first: u32,
    /// How much higher the number of the next one is: 0 if all are NULL, which is one value.
    step: u32,
}

impl MapExceptions {
    /// Exceptions at these positions, below `row_count`, whose values have the numbers from `first` on, or all that one if they `are_null`.
    pub(super) fn new(
        positions: &mut PlainSegment,
        row_count: usize,
        first: usize,
        are_null: bool,
    ) -> Result<Self, Corrupt> {
        let positions = integers(positions, PhysicalType::Int32)?;
        let mut next = 0;
        let mut ascend = true;
        let mut rows = Vec::with_capacity(positions.len());
        for position in positions {
            ascend &= position >= next;
            next = position + 1;
            rows.push(position as u32);
        }
        if !ascend || next > row_count as i64 {
            let what = "exceptions of a map do not ascend, or lie beyond the rows";
            return Err(Corrupt::new(what, 0));
        }
        Ok(Self {
            rows,
            first: first as u32,
            step: u32::from(!are_null),
        })
    }

    /// The exceptions in a vector: their rows there, and the numbers of their values.
    pub(super) fn of_vector(&self, vector: usize) -> impl Iterator<Item = (usize, u32)> {
        let start = vector * VECTOR_VALUES;
        let before = |end: usize| self.rows.partition_point(|&row| (row as usize) < end);
        let places = match self.rows.is_empty() {
            true => 0..0,
            false => before(start)..before(start + VECTOR_VALUES),
        };
        let rows = self.rows.get(places.clone()).unwrap_or_default();
        rows.iter().zip(places).map(move |(&row, place)| {
            let number = self.first + self.step * place as u32;
            (row as usize - start, number)
        })
    }
}
