//! The integers that a column of residuals is added to: those of one other column, or of two combined.

use quire_codec::correlated::{self, Combination, Residual, is_supported};
use quire_codec::{Corrupt, PhysicalType};

use super::plain::PlainSegment;

/// The references of a column and what they say together.
#[derive(Debug)]
pub(super) struct Combined {
    combination: Combination,
    first: PlainSegment,
    second: Option<PlainSegment>,
}

impl Combined {
    /// What is wrong with references that cannot be.
    pub(super) const WRONG_REFERENCES: &'static str =
        "segment of residuals has references of other rows or types";

    /// Checks that the references belong to a column of `row_count` rows.
    pub(super) fn new(
        combination: Combination,
        first: PlainSegment,
        second: Option<PlainSegment>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let leads = |reference: &PlainSegment| {
            is_supported(reference.physical_type()) && reference.row_count() == row_count
        };
        let found = 1 + usize::from(second.is_some());
        if combination.reference_count() != found
            || !leads(&first)
            || second.as_ref().is_some_and(|second| !leads(second))
        {
            return Err(Corrupt::new(Self::WRONG_REFERENCES, 0));
        }
        Ok(Self {
            combination,
            first,
            second,
        })
    }

    /// Adds what is expected of the rows of a vector to what is left of them; beyond them it is arbitrary.
    pub(super) fn add_to<T: Residual>(
        &mut self,
        vector: usize,
        values: &mut [T; 1024],
    ) -> Result<(), Corrupt> {
        // Sums that wrap need no more bits than the values have, and can be taken one reference after the other.
        match (self.combination, &mut self.second) {
            (Combination::Same, _) => apply_one(&mut self.first, vector, values, true),
            (Combination::Sum | Combination::Difference, Some(second)) => {
                apply_one(&mut self.first, vector, values, true)?;
                let is_sum = self.combination == Combination::Sum;
                apply_one(second, vector, values, is_sum)
            }
            _ => {
                let mut expected = [0; 1024];
                self.expected(vector, &mut expected)?;
                correlated::add(values, &expected);
                Ok(())
            }
        }
    }

    /// What is expected of the rows of a vector; beyond them it is arbitrary.
    fn expected(&mut self, vector: usize, out: &mut [i64; 1024]) -> Result<(), Corrupt> {
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

/// Adds a vector of a reference to what is left, or subtracts it; in its own type, not widened.
fn apply_one<T: Residual>(
    reference: &mut PlainSegment,
    vector: usize,
    values: &mut [T; 1024],
    is_sum: bool,
) -> Result<(), Corrupt> {
    fn of<T: Residual, E: Copy + Default + Into<i64>>(
        reference: &mut PlainSegment,
        vector: usize,
        values: &mut [T; 1024],
        is_sum: bool,
        decode: impl Fn(&mut PlainSegment, usize, &mut [E; 1024]) -> Result<usize, Corrupt>,
    ) -> Result<(), Corrupt> {
        let mut expected = [E::default(); 1024];
        decode(reference, vector, &mut expected)?;
        clear_nulls(reference, vector, &mut expected)?;
        if is_sum {
            correlated::add(values, &expected)
        } else {
            correlated::subtract(values, &expected)
        }
        Ok(())
    }
    match reference.physical_type() {
        PhysicalType::Int16 => of(reference, vector, values, is_sum, PlainSegment::decode_i16),
        PhysicalType::Int32 => of(reference, vector, values, is_sum, PlainSegment::decode_i32),
        _ => of(reference, vector, values, is_sum, PlainSegment::decode_i64),
    }
}

/// A vector of a reference; NULLs count as 0.
fn wide_or_zero(
    reference: &mut PlainSegment,
    vector: usize,
    out: &mut [i64; 1024],
) -> Result<(), Corrupt> {
    reference.decode_wide(vector, out)?;
    clear_nulls(reference, vector, out)
}

fn clear_nulls<E: Default>(
    reference: &mut PlainSegment,
    vector: usize,
    values: &mut [E; 1024],
) -> Result<(), Corrupt> {
    if reference.null_count() > 0 {
        let mut valid = [0; 16];
        reference.validity(vector, &mut valid)?;
        for (values, valid) in values.chunks_exact_mut(64).zip(valid) {
            let mut nulls = !valid;
            while nulls != 0 {
                values[nulls.trailing_zeros() as usize] = E::default();
                nulls &= nulls - 1;
            }
        }
    }
    Ok(())
}

fn one_or_zero(reference: &mut PlainSegment, row: usize) -> Result<i64, Corrupt> {
    let Some(value) = reference.value(row)? else {
        return Ok(0);
    };
    let value = value.as_integer().and_then(|value| value.try_into().ok());
    value.ok_or_else(|| Corrupt::new("reference of another type", 1))
}
