//! The integers that a column of residuals is added to: those of one other column, or of two combined.

use quire_codec::correlated::{Combination, is_supported};
use quire_codec::{Corrupt, Scalar};

use super::SegmentReader;

/// The references of a column and what they say together.
#[derive(Debug)]
pub(super) struct Combined {
    combination: Combination,
    first: SegmentReader,
    second: Option<SegmentReader>,
}

impl Combined {
    /// Checks that the references belong to a column of `row_count` rows.
    pub(super) fn new(
        combination: Combination,
        first: SegmentReader,
        second: Option<SegmentReader>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let leads = |reference: &SegmentReader| {
            is_supported(reference.physical_type())
                && reference.row_count() == row_count
                && !reference.has_relation()
        };
        let found = 1 + usize::from(second.is_some());
        if combination.reference_count() != found
            || !leads(&first)
            || second.as_ref().is_some_and(|second| !leads(second))
        {
            let what = "segment of residuals has references of other rows or types";
            return Err(Corrupt::new(what, 0));
        }
        Ok(Self {
            combination,
            first,
            second,
        })
    }

    /// What is expected of the rows of a vector; beyond them it is arbitrary.
    pub(super) fn expected(&mut self, vector: usize, out: &mut [i64; 1024]) -> Result<(), Corrupt> {
        wide_or_zero(&mut self.first, vector, out)?;
        if let Some(second) = &mut self.second {
            let mut other = [0; 1024];
            wide_or_zero(second, vector, &mut other)?;
            self.combination.apply(out, &other);
        }
        Ok(())
    }

    /// What is expected of one row.
    pub(super) fn expected_value(&mut self, row: usize) -> Result<i64, Corrupt> {
        let mut first = [one_or_zero(&mut self.first, row)?];
        if let Some(second) = &mut self.second {
            let second = one_or_zero(second, row)?;
            self.combination.apply(&mut first, &[second]);
        }
        Ok(first[0])
    }
}

/// A vector of a reference; NULLs count as 0.
fn wide_or_zero(
    reference: &mut SegmentReader,
    vector: usize,
    out: &mut [i64; 1024],
) -> Result<(), Corrupt> {
    reference.decode_wide(vector, out)?;
    if reference.null_count() > 0 {
        let mut valid = [0; 16];
        reference.validity(vector, &mut valid)?;
        for (row, value) in out.iter_mut().enumerate() {
            *value *= (valid[row / 64] >> (row % 64) & 1) as i64;
        }
    }
    Ok(())
}

fn one_or_zero(reference: &mut SegmentReader, row: usize) -> Result<i64, Corrupt> {
    match reference.value(row)? {
        None => Ok(0),
        Some(Scalar::Int16(value)) => Ok(value.into()),
        Some(Scalar::Int32(value)) => Ok(value.into()),
        Some(Scalar::Int64(value)) => Ok(value),
        Some(_) => Err(Corrupt::new("reference of another type", 1)),
    }
}
