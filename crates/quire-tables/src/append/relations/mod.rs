//! Which columns of a row group to store as what is left of other columns, or as a map from another.
//!
//! A sample of rows tells what a column takes alone, and beside others ([`arithmetic`], [`maps`]). Of what would save much,
//! those columns are taken as references that save most together. Whether it pays is settled when the column is
//! encoded ([`super::follow`]).

mod arithmetic;
mod maps;
mod numbers;
mod sample;

use std::collections::BTreeMap;

use quire_format::relation::ColumnRelation;

use super::cutter::RowGroupRows;
use crate::definition::TableDefinition;
use sample::RowGroupSample;

/// A reference costs the decoder another column: it has to save a fifth of the bits.
const SAVED_PERCENT_MIN: u64 = 20;

/// A column does not take a relation that saves less than so much of what its best one saves.
const OF_BEST_PERCENT_MIN: u64 = 75;

/// What saves more by less than this part of it is taken for equal: so the row groups of a table agree.
const NEARLY_EQUAL_PART: u64 = 16;

/// A relation that would save much.
#[derive(Debug, Clone, Copy)]
struct Proposal {
    column: usize,
    relation: ColumnRelation,
    /// Bits of the sampled rows.
    saved_bits: u64,
}

/// How each column of a row group may be told by others. A column that is followed follows none.
#[derive(Debug)]
pub(super) struct ColumnRelations(Vec<Option<ColumnRelation>>);

impl ColumnRelations {
    /// Looks at a sample of the rows.
    pub(super) fn find(definition: &TableDefinition, rows: &RowGroupRows) -> Self {
        let column_count = definition.columns.len();
        if column_count < 2 {
            return ColumnRelations(vec![None; column_count]);
        }
        let sample = RowGroupSample::take(definition, rows);
        let mut proposals = arithmetic::proposals(definition, &sample);
        proposals.extend(maps::proposals(definition, &sample));
        ColumnRelations(choose(&proposals, column_count))
    }

    pub(super) fn of(&self, column: usize) -> Option<ColumnRelation> {
        self.0[column]
    }

    /// The columns that are maps from a column, which is encoded before them.
    pub(super) fn mapped_from(&self, column: usize) -> impl Iterator<Item = usize> {
        let columns = self.0.iter().enumerate();
        let is_mapped =
            move |relation: &Option<ColumnRelation>| *relation == Some(ColumnRelation::Map(column));
        columns.filter_map(move |(index, relation)| is_mapped(relation).then_some(index))
    }

    /// Whether a column is encoded after another.
    pub(super) fn is_map(&self, column: usize) -> bool {
        matches!(self.0[column], Some(ColumnRelation::Map(_)))
    }
}

/// Takes, again and again, the references whose followers save most together.
fn choose(proposals: &[Proposal], column_count: usize) -> Vec<Option<ColumnRelation>> {
    let mut relations: Vec<Option<ColumnRelation>> = vec![None; column_count];
    let mut is_followed = vec![false; column_count];
    loop {
        let is_free = |proposal: &&Proposal| {
            let (first, second) = proposal.relation.references();
            relations[proposal.column].is_none()
                && !is_followed[proposal.column]
                && relations[first].is_none()
                && second.is_none_or(|second| relations[second].is_none())
        };
        let free: Vec<&Proposal> = proposals.iter().filter(is_free).collect();
        let Some((references, followers)) = best_references(&free) else {
            return relations;
        };
        for proposal in followers {
            relations[proposal.column] = Some(proposal.relation);
        }
        is_followed[references.0] = true;
        is_followed[references.1] = true;
    }
}

/// Two columns, or one twice.
type References = (usize, usize);

/// The references that save most, and what follows them. Of nearly equal ones the first in the table: they are more likely to
/// be read alone.
fn best_references<'p>(free: &[&'p Proposal]) -> Option<(References, Vec<&'p Proposal>)> {
    let mut best_of: BTreeMap<usize, u64> = BTreeMap::new();
    for proposal in free {
        let best = best_of.entry(proposal.column).or_default();
        *best = proposal.saved_bits.max(*best);
    }
    let mut groups: BTreeMap<References, BTreeMap<usize, &Proposal>> = BTreeMap::new();
    for &proposal in free {
        let best = best_of.get(&proposal.column).copied().unwrap_or_default();
        if proposal.saved_bits * 100 < best * OF_BEST_PERCENT_MIN {
            continue;
        }
        let (first, second) = proposal.relation.references();
        let second = second.unwrap_or(first);
        let references = (first.min(second), first.max(second));
        let followers = groups.entry(references).or_default();
        let follower = followers.entry(proposal.column).or_insert(proposal);
        if proposal.saved_bits > follower.saved_bits {
            *follower = proposal;
        }
    }
    let mut best: Option<(u64, References)> = None;
    for (references, followers) in &groups {
        let saved: u64 = followers.values().map(|one| one.saved_bits).sum();
        if best.is_none_or(|(most, _)| saved > most + most / NEARLY_EQUAL_PART) {
            best = Some((saved, *references));
        }
    }
    let (_, references) = best?;
    let followers = groups.remove(&references)?;
    Some((references, followers.into_values().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(column: usize, relation: ColumnRelation, saved_bits: u64) -> Proposal {
        Proposal {
            column,
            relation,
            saved_bits,
        }
    }

    #[test]
    fn the_column_that_tells_most_others_is_followed() {
        // 1 tells 0, 2 and 3; 0 and 2 tell each other and some more, which 1 tells as well.
        let proposals = [
            proposal(0, ColumnRelation::Map(2), 110),
            proposal(2, ColumnRelation::Map(0), 110),
            proposal(0, ColumnRelation::Map(1), 100),
            proposal(2, ColumnRelation::Map(1), 100),
            proposal(3, ColumnRelation::Map(1), 90),
            proposal(1, ColumnRelation::Same(3), 120),
        ];
        let map = Some(ColumnRelation::Map(1));
        assert_eq!(choose(&proposals, 4), [map, None, map, map]);
    }

    #[test]
    fn a_total_does_not_follow_one_of_its_terms_only() {
        let proposals = [
            proposal(1, ColumnRelation::Same(0), 50),
            proposal(2, ColumnRelation::Same(0), 30),
            proposal(2, ColumnRelation::Sum(0, 3), 70),
        ];
        let expected = [
            None,
            Some(ColumnRelation::Same(0)),
            Some(ColumnRelation::Sum(0, 3)),
            None,
        ];
        assert_eq!(choose(&proposals, 4), expected);
    }
}
