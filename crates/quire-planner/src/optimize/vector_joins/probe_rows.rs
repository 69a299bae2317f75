//! Rows of the probe side, from the pairs that some of them have: these are in the order of the probe side.

use std::ops::Range;

use datafusion::arrow::array::builder::UInt32Builder;
use datafusion::arrow::array::{BooleanArray, UInt32Array};

/// Rows of a batch of the probe side, all of whose pairs have come, with these or before. The row behind them may have some pairs, too.
pub(super) struct ProbeRows {
    pub(super) complete: Range<u32>,
    /// The row, if any, that had a pair before.
    pub(super) seen: Option<u32>,
}

impl ProbeRows {
    /// The pairs, and each complete row without one beside a NULL, in the order of the rows.
    pub(super) fn with_unmatched(
        &self,
        build: &UInt32Array,
        probe: &UInt32Array,
    ) -> (UInt32Array, UInt32Array) {
        let unmatched = self.unmatched(probe);
        if unmatched.is_empty() {
            return (build.clone(), probe.clone());
        }
        let capacity = probe.len() + unmatched.len();
        let mut builds = UInt32Builder::with_capacity(capacity);
        let mut probes = Vec::with_capacity(capacity);
        let mut unmatched = unmatched.values().iter().copied().peekable();
        for (build, probe) in build.values().iter().zip(probe.values()) {
            while let Some(row) = unmatched.next_if(|row| row < probe) {
                builds.append_null();
                probes.push(row);
            }
            builds.append_value(*build);
            probes.push(*probe);
        }
        for row in unmatched {
            builds.append_null();
            probes.push(row);
        }
        (builds.finish(), probes.into())
    }

    /// The rows that have a pair for the first time, each once.
    pub(super) fn matched(&self, probe: &UInt32Array) -> UInt32Array {
        let mut rows = probe.values().to_vec();
        rows.dedup();
        if rows.first().is_some_and(|row| self.seen == Some(*row)) {
            rows.remove(0);
        }
        rows.into()
    }

    /// The rows of both kinds in their order, and whether each has a pair.
    pub(super) fn marked(&self, probe: &UInt32Array) -> (UInt32Array, BooleanArray) {
        let (matched, unmatched) = (self.matched(probe), self.unmatched(probe));
        let matched = matched.values().iter().map(|row| (*row, true));
        let unmatched = unmatched.values().iter().map(|row| (*row, false));
        let mut rows: Vec<(u32, bool)> = matched.chain(unmatched).collect();
        rows.sort_unstable();
        let (rows, marks): (Vec<u32>, Vec<bool>) = rows.into_iter().unzip();
        (rows.into(), marks.into())
    }

    /// The complete rows that have no pair.
    pub(super) fn unmatched(&self, probe: &UInt32Array) -> UInt32Array {
        let mut matched = probe.values().iter().peekable();
        let mut is_unmatched = |row: &u32| {
            let mut is_matched = self.seen == Some(*row);
            while matched.next_if(|matched| *matched == row).is_some() {
                is_matched = true;
            }
            !is_matched
        };
        let rows: Vec<u32> = self
            .complete
            .clone()
            .filter(|row| is_unmatched(row))
            .collect();
        rows.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_pair_stand_between_those_with_one() {
        let build = UInt32Array::from(vec![7, 8, 9]);
        let probe = UInt32Array::from(vec![4, 4, 6]);
        let rows = ProbeRows {
            complete: 3..8,
            seen: None,
        };
        let (builds, probes) = rows.with_unmatched(&build, &probe);
        let expected = [None, Some(7), Some(8), None, Some(9), None];
        assert_eq!(builds, UInt32Array::from(expected.to_vec()));
        assert_eq!(probes, UInt32Array::from(vec![3, 4, 4, 5, 6, 7]));
        assert_eq!(rows.matched(&probe), UInt32Array::from(vec![4, 6]));
        let marks = vec![false, true, false, true, false];
        let expected = (UInt32Array::from(vec![3, 4, 5, 6, 7]), marks.into());
        assert_eq!(rows.marked(&probe), expected);
        assert_eq!(rows.unmatched(&probe), UInt32Array::from(vec![3, 5, 7]));
    }

    /// Row 3 had a pair before; row 6 is not complete.
    #[test]
    fn rows_whose_pairs_come_in_several_parts_count_once() {
        let build = UInt32Array::from(vec![7, 8]);
        let probe = UInt32Array::from(vec![3, 6]);
        let rows = ProbeRows {
            complete: 3..6,
            seen: Some(3),
        };
        let (builds, probes) = rows.with_unmatched(&build, &probe);
        let expected = [Some(7), None, None, Some(8)];
        assert_eq!(builds, UInt32Array::from(expected.to_vec()));
        assert_eq!(probes, UInt32Array::from(vec![3, 4, 5, 6]));
        assert_eq!(rows.matched(&probe), UInt32Array::from(vec![6]));
        assert_eq!(rows.unmatched(&probe), UInt32Array::from(vec![4, 5]));
        let none = UInt32Array::from(Vec::<u32>::new());
        assert_eq!(rows.unmatched(&none), UInt32Array::from(vec![4, 5]));
    }
}
