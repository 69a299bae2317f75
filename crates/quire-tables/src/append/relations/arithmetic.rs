//! Integers that lie close to another column, or to two combined.
//!
//! Every column is tried with every other, and with every two of the first few, on some rows: nearly all pairs fail
//! within a dozen rows. The others are measured on the sample.

use quire_codec::correlated::{Combination, DIVISOR_DIGITS_MAX};
use quire_format::relation::ColumnRelation;

use super::sample::{RelationSample, RowGroupSample, patched_bits};
use super::{Proposal, SAVED_PERCENT_MIN};
use crate::definition::TableDefinition;
use crate::types::SqlType;

/// Rows that decide whether a pair is measured, and how many of them may fail.
const TRIED_ROWS: usize = 32;
const FAILED_ROWS_MAX: usize = 8;

/// Columns of integers that are combined by two: the first so many.
const PAIRED_COLUMNS_MAX: usize = 24;

/// A relation to two columns has to save so much more than one to a single column.
const SECOND_REFERENCE_PERCENT: u64 = 10;

/// A column of integers of the sample.
struct Integers<'s> {
    column: usize,
    sql_type: SqlType,
    sample: &'s RelationSample,
    values: &'s [i64],
    /// Whether it may follow: what the user asked for is done, and there has to be something to save.
    may_follow: bool,
}

/// Values that a column may lie close to.
struct LinearPrediction<'s> {
    combination: Combination,
    first: &'s Integers<'s>,
    second: Option<&'s Integers<'s>>,
}

pub(super) fn proposals(definition: &TableDefinition, sample: &RowGroupSample) -> Vec<Proposal> {
    let integers: Vec<Integers<'_>> = integers(definition, sample);
    let mut proposals = Vec::new();
    for first in &integers {
        let expected = LinearPrediction {
            combination: Combination::Same,
            first,
            second: None,
        };
        expected.propose(&integers, &mut proposals);
    }
    let paired = &integers[..integers.len().min(PAIRED_COLUMNS_MAX)];
    for (index, first) in paired.iter().enumerate() {
        for second in &paired[index..] {
            for (combination, first, second) in combinations(first, second) {
                let expected = LinearPrediction {
                    combination,
                    first,
                    second: Some(second),
                };
                expected.propose(paired, &mut proposals);
            }
        }
    }
    proposals
}

fn integers<'s>(definition: &TableDefinition, sample: &'s RowGroupSample) -> Vec<Integers<'s>> {
    let columns = sample.columns.iter().zip(&definition.columns).enumerate();
    let integers = columns.filter_map(|(column, (sample, defined))| {
        let values = sample.integers.as_deref()?;
        let is_worth_it = sample.alone_bits > values.len() as u64;
        Some(Integers {
            column,
            sql_type: defined.sql_type,
            sample,
            values,
            may_follow: is_worth_it && defined.compression.is_none(),
        })
    });
    integers.collect()
}

/// What two columns can say together; products of numbers only, whose divisor depends on the column that follows.
fn combinations<'s>(
    first: &'s Integers<'s>,
    second: &'s Integers<'s>,
) -> Vec<(Combination, &'s Integers<'s>, &'s Integers<'s>)> {
    let mut combinations = vec![(Combination::Sum, first, second)];
    if first.column != second.column {
        combinations.push((Combination::Difference, first, second));
        combinations.push((Combination::Difference, second, first));
    }
    let digits = decimals(first.sql_type).zip(decimals(second.sql_type));
    for divisor_digits in digits.map_or(0..0, |(first, second)| 0..first + second + 1) {
        if divisor_digits <= DIVISOR_DIGITS_MAX {
            let product = Combination::Product { divisor_digits };
            combinations.push((product, first, second));
        }
    }
    combinations
}

/// Digits behind the point of a number; `None` for dates and times.
fn decimals(sql_type: SqlType) -> Option<u8> {
    match sql_type {
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => Some(0),
        SqlType::Decimal { scale, .. } => Some(scale),
        _ => None,
    }
}

impl LinearPrediction<'_> {
    /// Proposes the columns that lie close.
    fn propose(&self, followers: &[Integers<'_>], proposals: &mut Vec<Proposal>) {
        let rows = self.first.values.len();
        let tried: Vec<usize> = (0..TRIED_ROWS.min(rows))
            .map(|one| one * rows / TRIED_ROWS.min(rows))
            .collect();
        let tried_values = self.values(Some(&tried));
        let mut all_values = None;
        for follower in followers.iter().filter(|one| self.can_tell(one)) {
            if !seems_close(follower, &tried, &tried_values) {
                continue;
            }
            let expected = all_values.get_or_insert_with(|| self.values(None));
            proposals.extend(self.measure(follower, expected));
        }
    }

    fn can_tell(&self, follower: &Integers<'_>) -> bool {
        let is_other = |reference: &Integers<'_>| reference.column != follower.column;
        let has_scale = match (self.combination, self.second) {
            (Combination::Product { divisor_digits }, Some(second)) => {
                let sum = decimals(self.first.sql_type).zip(decimals(second.sql_type));
                let own = decimals(follower.sql_type);
                sum.zip(own)
                    .is_some_and(|((first, second), own)| first + second == own + divisor_digits)
            }
            _ => true,
        };
        follower.may_follow && is_other(self.first) && self.second.is_none_or(is_other) && has_scale
    }

    /// The expected values of some rows, or of all.
    fn values(&self, rows: Option<&[usize]>) -> Vec<i64> {
        let of = |integers: &Integers<'_>| match rows {
            Some(rows) => rows.iter().map(|&row| integers.values[row]).collect(),
            None => integers.values.to_vec(),
        };
        let mut values: Vec<i64> = of(self.first);
        if let Some(second) = self.second {
            self.combination.apply(&mut values, &of(second));
        }
        values
    }

    fn measure(&self, follower: &Integers<'_>, expected: &[i64]) -> Option<Proposal> {
        let left = patched_bits(follower.sample.valid_integers(expected)?);
        let alone = follower.sample.alone_bits;
        let saved = alone.checked_sub(left)?;
        let saved_min = alone * SAVED_PERCENT_MIN / 100;
        let saved_bits = match self.second {
            None => saved,
            Some(_) => saved * (100 - SECOND_REFERENCE_PERCENT) / 100,
        };
        let second = self.second.unwrap_or(self.first).column;
        (saved_bits >= saved_min.max(1)).then(|| Proposal {
            column: follower.column,
            relation: ColumnRelation::combined(self.combination, self.first.column, second),
            saved_bits,
        })
    }
}

/// Whether most of the tried rows lie as far from what is expected as the first, up to the bits that would be saved.
fn seems_close(follower: &Integers<'_>, rows: &[usize], expected: &[i64]) -> bool {
    let per_row = follower.sample.alone_bits as f64 / follower.values.len().max(1) as f64;
    let width_max = (per_row * (100 - SAVED_PERCENT_MIN) as f64 / 100.0) as u32;
    let mut first = None;
    let mut failed_rows = 0;
    for (&row, &expected) in rows.iter().zip(expected) {
        if !follower.sample.is_valid(row) {
            continue;
        }
        let left = follower.values[row].wrapping_sub(expected);
        let distance = left.wrapping_sub(*first.get_or_insert(left)).unsigned_abs();
        if u64::BITS - distance.leading_zeros() > width_max {
            failed_rows += 1;
            if failed_rows > FAILED_ROWS_MAX {
                return false;
            }
        }
    }
    first.is_some()
}
