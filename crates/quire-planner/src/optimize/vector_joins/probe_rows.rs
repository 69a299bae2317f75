//! Rows of the probe side, from the pairs that some of them have: these are in the order of the probe side.

use std::ops::Range;

use datafusion::arrow::array::UInt32Array;
use datafusion::arrow::array::builder::UInt32Builder;

/// The pairs, and each of `rows` without one beside a NULL, in the order of the rows.
pub(super) fn with_unmatched(
    build: &UInt32Array,
    probe: &UInt32Array,
    rows: Range<u32>,
) -> (UInt32Array, UInt32Array) {
    if probe.len() == rows.len() && with_match(probe).len() == rows.len() {
        return (build.clone(), probe.clone());
    }
    let capacity = probe.len() + rows.len();
    let mut builds = UInt32Builder::with_capacity(capacity);
    let mut probes = Vec::with_capacity(capacity);
    let mut pairs = build.values().iter().zip(probe.values()).peekable();
    for row in rows {
        let before = probes.len();
        while let Some((build, _)) = pairs.next_if(|(_, probe)| **probe == row) {
            builds.append_value(*build);
            probes.push(row);
        }
        if probes.len() == before {
            builds.append_null();
            probes.push(row);
        }
    }
    (builds.finish(), probes.into())
}

/// The rows that have a pair, each once.
pub(super) fn with_match(probe: &UInt32Array) -> UInt32Array {
    let mut rows = probe.values().to_vec();
    rows.dedup();
    rows.into()
}

/// Those of `rows` that have no pair.
pub(super) fn unmatched(probe: &UInt32Array, rows: Range<u32>) -> UInt32Array {
    let mut matched = probe.values().iter().peekable();
    let mut is_unmatched = |row: &u32| {
        let mut pairs = 0;
        while matched.next_if(|matched| *matched == row).is_some() {
            pairs += 1;
        }
        pairs == 0
    };
    let rows: Vec<u32> = rows.filter(|row| is_unmatched(row)).collect();
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_pair_stand_between_those_with_one() {
        let (build, probe) = (
            UInt32Array::from(vec![7, 8, 9]),
            UInt32Array::from(vec![4, 4, 6]),
        );
        let (builds, probes) = with_unmatched(&build, &probe, 3..8);
        let expected = [None, Some(7), Some(8), None, Some(9), None];
        assert_eq!(builds, UInt32Array::from(expected.to_vec()));
        assert_eq!(probes, UInt32Array::from(vec![3, 4, 4, 5, 6, 7]));
        assert_eq!(with_match(&probe), UInt32Array::from(vec![4, 6]));
        assert_eq!(unmatched(&probe, 3..8), UInt32Array::from(vec![3, 5, 7]));
        let (builds, probes) = with_unmatched(&build, &probe, 4..5);
        assert_eq!((builds.len(), probes.len()), (2, 2));
    }
}
