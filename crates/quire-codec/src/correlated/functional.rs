//! Does one column determine another, and where not?

/// Which row holds the value that belongs to each key, and which rows hold another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionalMap {
    /// For each key a row that has the value most rows of the key have; any row for a key that no row has.
    pub entries: Vec<u32>,
    /// Rows whose value is not that of their key, ascending.
    pub exceptions: Vec<u32>,
}

/// A key that no row has been seen of.
const NONE: u32 = u32::MAX;

/// The map from `keys`, which are below `key_count`, one per row, to a column whose rows `same` compares; `None`
/// with more than `exceptions_max` exceptions, or a key beyond the count.
///
/// Without exceptions one pass suffices. With some, the value of a key is that of a majority of its rows if there is one
/// (Boyer and Moore, *MJRTY*, 1981), in a second pass; a third finds the exceptions.
///
/// ```
/// use quire_codec::correlated::functional_map;
///
/// let provinces = [0, 1, 0, 1, 2];
/// let regions = ["Lazio", "Sicilia", "Lazio", "Sicilia", "Lazio"];
/// let map = functional_map(&provinces, 3, 0, |left, right| regions[left] == regions[right]);
/// assert_eq!(map.map(|map| map.entries), Some(vec![0, 1, 4]));
/// ```
pub fn functional_map(
    keys: &[u32],
    key_count: usize,
    exceptions_max: usize,
    same: impl Fn(usize, usize) -> bool,
) -> Option<FunctionalMap> {
    let mut entries = vec![NONE; key_count];
    let mut is_exact = true;
    for (row, &key) in keys.iter().enumerate() {
        let entry = entries.get_mut(key as usize)?;
        if *entry == NONE {
            *entry = row as u32;
        } else if !same(*entry as usize, row) {
            is_exact = false;
            break;
        }
    }
    let mut exceptions = Vec::new();
    if !is_exact {
        if exceptions_max == 0 || keys.iter().any(|&key| key as usize >= key_count) {
            return None;
        }
        entries = majorities(keys, key_count, &same);
        for (row, &key) in keys.iter().enumerate() {
            if !same(entries[key as usize] as usize, row) {
                exceptions.push(row as u32);
                if exceptions.len() > exceptions_max {
                    return None;
                }
            }
        }
    }
    // A key of no row takes the value of its neighbour, which costs least.
    let mut last = 0;
    for entry in &mut entries {
        *entry = if *entry == NONE { last } else { *entry };
        last = *entry;
    }
    Some(FunctionalMap {
        entries,
        exceptions,
    })
}

fn majorities(keys: &[u32], key_count: usize, same: impl Fn(usize, usize) -> bool) -> Vec<u32> {
    let mut leading = vec![(NONE, 0_u32); key_count];
    for (row, &key) in keys.iter().enumerate() {
        let (entry, lead) = &mut leading[key as usize];
        if *lead == 0 {
            (*entry, *lead) = (row as u32, 1);
        } else if same(*entry as usize, row) {
            *lead += 1;
        } else {
            *lead -= 1;
        }
    }
    leading.into_iter().map(|(entry, _)| entry).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_key_beyond_the_count_or_too_many_exceptions_make_no_map() {
        let same = |_: usize, _: usize| true;
        assert_eq!(functional_map(&[0, 1], 1, 9, same), None);
        assert_eq!(functional_map(&[0, 0], 1, 0, |_, _| false), None);
        let values = [7, 8, 7, 7];
        let same = |left: usize, right: usize| values[left] == values[right];
        assert_eq!(functional_map(&[0; 4], 1, 0, same), None);
        let map = functional_map(&[0; 4], 1, 1, same).unwrap();
        assert_eq!(map.exceptions, [1]);
    }

    proptest! {
        /// The twin counts the rows of each key that have each value.
        #[test]
        fn the_map_and_its_exceptions_are_the_column(
            rows in prop::collection::vec((0_u32..6, 0_u8..3, 0_u8..12), 0..200),
        ) {
            let keys: Vec<u32> = rows.iter().map(|row| row.0).collect();
            // A rule, which few rows break.
            let values: Vec<u8> = rows
                .iter()
                .map(|&(key, value, breaks)| if breaks == 0 { value } else { key as u8 })
                .collect();
            let same = |left: usize, right: usize| values[left] == values[right];
            let map = functional_map(&keys, 6, rows.len(), same).unwrap();
            prop_assert_eq!(map.entries.len(), 6);
            for (row, &key) in keys.iter().enumerate() {
                let entry = map.entries[key as usize] as usize;
                let is_exception = map.exceptions.binary_search(&(row as u32)).is_ok();
                prop_assert_eq!(values[entry] != values[row], is_exception);
            }
            let mut counts: HashMap<(u32, u8), usize> = HashMap::new();
            for (&key, &value) in keys.iter().zip(&values) {
                *counts.entry((key, value)).or_default() += 1;
            }
            for (&(key, value), &count) in &counts {
                let of_key = keys.iter().filter(|&&other| other == key).count();
                if 2 * count > of_key {
                    prop_assert_eq!(values[map.entries[key as usize] as usize], value);
                }
            }
            let without = functional_map(&keys, 6, 0, same);
            prop_assert_eq!(without.is_some(), map.exceptions.is_empty());
        }
    }
}
