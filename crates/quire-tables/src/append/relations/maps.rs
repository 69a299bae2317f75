//! Columns that have one value for each value of another, in nearly all rows.

use quire_codec::PhysicalType;
use quire_codec::correlated::is_supported;
use quire_format::relation::ColumnRelation;

use super::sample::{RelationSample, RowGroupSample, bits_of, entries_bits};
use super::{Proposal, SAVED_PERCENT_MIN};
use crate::definition::TableDefinition;

/// One sampled row of so many may break the rule; a full look may find fewer or more.
const ROWS_PER_EXCEPTION_MIN: usize = 16;

/// A column whose values appear less than twice says nothing of its rows.
const DISTINCT_PERCENT_MAX: usize = 60;

/// A number per row that the sample has not seen.
const NONE: u32 = u32::MAX;

pub(super) fn proposals(definition: &TableDefinition, sample: &RowGroupSample) -> Vec<Proposal> {
    let columns = || sample.columns.iter().zip(&definition.columns).enumerate();
    let references: Vec<(usize, &RelationSample)> = columns()
        .filter(|(_, (sample, column))| can_lead(sample, column.sql_type.physical_type()))
        .map(|(index, (sample, _))| (index, sample))
        .collect();
    let mut proposals = Vec::new();
    for (column, (follower, defined)) in columns() {
        // What the user asked for is done. Half a bit a row is not worth a look.
        let is_worth_it = 2 * follower.alone_bits > sample.rows as u64 && follower.distinct > 1;
        if defined.compression.is_some() || !is_worth_it {
            continue;
        }
        for &(reference, leader) in &references {
            if reference != column
                && let Some(saved_bits) = saved_bits(follower, leader, sample)
            {
                proposals.push(Proposal {
                    column,
                    relation: ColumnRelation::Map(reference),
                    saved_bits,
                });
            }
        }
    }
    proposals
}

fn can_lead(sample: &RelationSample, physical_type: PhysicalType) -> bool {
    let has_type = physical_type == PhysicalType::Bytes || is_supported(physical_type);
    let repeats = sample.distinct * 100 <= sample.numbers.len() * DISTINCT_PERCENT_MAX;
    has_type && repeats && sample.distinct > 1
}

fn saved_bits(
    follower: &RelationSample,
    leader: &RelationSample,
    sample: &RowGroupSample,
) -> Option<u64> {
    let exceptions_max = sample.rows / ROWS_PER_EXCEPTION_MIN;
    if follower.distinct > leader.distinct + exceptions_max {
        return None;
    }
    let exceptions = exceptions(
        &leader.numbers,
        leader.distinct,
        &follower.numbers,
        exceptions_max,
    )?;
    let code_bits = bits_of(follower.distinct);
    let map_bits = entries_bits(leader.distinct, code_bits, sample.rows, sample.row_count)
        + entries_bits(
            follower.distinct,
            follower.value_bits,
            sample.rows,
            sample.row_count,
        )
        + exceptions as u64 * (code_bits + bits_of(ROWS_PER_EXCEPTION_MIN));
    let saved = follower.alone_bits.checked_sub(map_bits)?;
    (saved * 100 >= follower.alone_bits * SAVED_PERCENT_MIN).then_some(saved)
}

/// Rows that break the rule, as far as neighbours of the same key tell; `None` when they are more than `max`.
fn exceptions(keys: &[u32], key_count: usize, values: &[u32], max: usize) -> Option<usize> {
    let mut last = vec![NONE; key_count];
    let mut changes = 0;
    for (&key, &value) in keys.iter().zip(values) {
        let last = &mut last[key as usize];
        if *last != value && *last != NONE {
            changes += 1;
            // An exception among others of its key is two changes.
            if changes > 2 * max {
                return None;
            }
        }
        *last = value;
    }
    Some(changes / 2)
}
