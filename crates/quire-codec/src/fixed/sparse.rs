//! One value for most rows; the others are kept aside.
//!
//! | size | field |
//! |---|---|
//! | 4 | number of rows kept aside |
//! | type | the value of all other rows |
//! | … | the rows kept aside ([`super::aside`]) |

use super::aside::{Aside, RowsAside};
use crate::int::element::Element;
use crate::{Corrupt, GROUP_VALUES, ImageCursor, RowMask, VECTOR_VALUES, vector_rows};
use std::ops::Range;
use std::sync::Arc;

/// Values looked at to find the one that dominates.
const SAMPLE_VALUES: usize = 1024;

/// The value that most of about a thousand rows have; if most have no value in common, any.
pub(crate) fn dominant<E: Element>(values: &[E]) -> E {
    // An odd step, because what repeats often does so every power of two.
    let step = (values.len() / SAMPLE_VALUES) | 1;
    let (mut candidate, mut lead) = (E::default(), 0usize);
    // Each other value cancels one of the candidate; what outweighs all others is left (Boyer and Moore).
    for &value in values.iter().step_by(step) {
        match (value == candidate, lead) {
            (true, _) => lead += 1,
            (false, 0) => (candidate, lead) = (value, 1),
            (false, _) => lead -= 1,
        }
    }
    candidate
}

fn plan<E: Element>(values: &[E]) -> (E, RowsAside<E>) {
    let dominant = dominant(values);
    (
        dominant,
        RowsAside::of(values, values, |value| value != dominant),
    )
}

/// Size of what [`encode`] writes.
pub(crate) fn encoded_bytes<E: Element>(values: &[E]) -> usize {
    4 + E::BYTES + plan(values).1.encoded_bytes()
}

pub(crate) fn encode<E: Element>(values: &[E], out: &mut Vec<u8>) {
    let (dominant, aside) = plan(values);
    out.extend_from_slice(&(aside.len() as u32).to_le_bytes());
    dominant.append(out);
    aside.append(out);
}

/// Decoder of a sparse payload.
#[derive(Clone, Debug)]
pub(crate) struct SparseDecoder<E: Element> {
    row_count: usize,
    dominant: E,
    aside: Option<Aside<E>>,
}

impl<E: Element> SparseDecoder<E> {
    pub(crate) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let end = payload.end;
        let mut cursor = ImageCursor::new(&image, payload)?;
        let aside_count = cursor.u32("number of rows kept aside")? as usize;
        if aside_count > row_count {
            return Err(cursor.corrupt("more rows kept aside than rows"));
        }
        let dominant = E::read(cursor.bytes(E::BYTES, "value of most rows")?)
            .ok_or_else(|| cursor.corrupt("value of most rows is cut short"))?;
        let rest = cursor.position()..end;
        Ok(Self {
            row_count,
            dominant,
            aside: Aside::open(image, rest, row_count, aside_count)?,
        })
    }

    pub(crate) fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<(), Corrupt> {
        out.fill(self.dominant);
        match &mut self.aside {
            Some(aside) => aside.patch(vector, out),
            None => Ok(()),
        }
    }

    pub(crate) fn decode_group(
        &mut self,
        group: usize,
        out: &mut [E; GROUP_VALUES],
    ) -> Result<usize, Corrupt> {
        out.fill(self.dominant);
        if let Some(aside) = &mut self.aside {
            aside.patch_group(group, out)?;
        }
        let before = group.saturating_mul(GROUP_VALUES);
        Ok(self.row_count.saturating_sub(before).min(GROUP_VALUES))
    }

    /// Marks the rows whose values are from `low` to `high`.
    pub(crate) fn select_range(
        &mut self,
        vector: usize,
        low: E,
        high: E,
        mask: &mut RowMask,
    ) -> Result<(), Corrupt> {
        let most = (low..=high).contains(&self.dominant);
        mask.fill(if most { u64::MAX } else { 0 });
        match &mut self.aside {
            Some(aside) => aside.mark(vector, low, high, mask),
            None => Ok(()),
        }
    }

    /// How many rows of a vector have the value of most rows, and the values of the others.
    fn parts(&mut self, vector: usize) -> Result<(usize, &[E]), Corrupt> {
        let rows = vector_rows(self.row_count, vector);
        let others = match &mut self.aside {
            Some(aside) => aside.vector(vector)?.1,
            None => &[],
        };
        Ok((rows.saturating_sub(others.len()), others))
    }

    /// The sum of a vector; `None` if the values must be added one by one.
    pub(crate) fn sum(&mut self, vector: usize) -> Result<Option<i128>, Corrupt> {
        // Wider values can pass 128 bits on the way to a sum that does not.
        if E::BYTES > 8 {
            return Ok(None);
        }
        let dominant = self.dominant.wide();
        let (count, others) = self.parts(vector)?;
        Ok(E::sum(others).and_then(|sum| sum.checked_add(dominant * count as i128)))
    }

    /// The smallest and the largest value of a vector.
    pub(crate) fn extremes(&mut self, vector: usize) -> Result<(E, E), Corrupt> {
        let dominant = self.dominant;
        let (count, others) = self.parts(vector)?;
        let start = match count {
            0 => (E::RANGE.1, E::RANGE.0),
            _ => (dominant, dominant),
        };
        Ok(others.iter().fold(start, |(least, most), &value| {
            (least.min(value), most.max(value))
        }))
    }

    pub(crate) fn value(&mut self, row: usize) -> Result<E, Corrupt> {
        let aside = match &mut self.aside {
            Some(aside) => aside.value(row)?,
            None => None,
        };
        Ok(aside.unwrap_or(self.dominant))
    }
}
