//! The rows of the build side of a join, by the number of their key.

use super::NO_KEY;

/// For each number of a key the rows that have it, in ascending order.
#[derive(Debug)]
pub struct RowLists {
    /// Where the rows of each number begin, and where those of the last one end. `None` if each number has one row.
    starts: Option<Vec<u32>>,
    /// The rows, number by number. `None` if the row of each number is the number itself.
    rows: Option<Vec<u32>>,
}

/// How far the rows of a batch of the probe side have been matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchCursor {
    /// The row of the probe side whose matches come next.
    pub row: usize,
    /// How many of its matches have come.
    matched: usize,
}

impl MatchCursor {
    /// Whether some matches of its row have come, and others have not.
    pub fn is_within_row(&self) -> bool {
        self.matched > 0
    }
}

impl RowLists {
    /// The lists of rows with these numbers, all below `number_count` or [`NO_KEY`]. Each number below it has a row.
    ///
    /// # Panics
    ///
    /// If a number is not below the count, or if there are 2^32 rows.
    pub fn new(numbers: &[u32], number_count: usize) -> Self {
        assert!(
            numbers.len() < NO_KEY as usize,
            "rows have numbers of 32 bits"
        );
        let are_numbered = |(row, number): (usize, &u32)| *number as usize == row;
        if numbers.len() == number_count && numbers.iter().enumerate().all(are_numbered) {
            return Self {
                starts: None,
                rows: None,
            };
        }
        let mut ends = vec![0_u32; number_count + 1];
        for number in numbers.iter().filter(|number| **number != NO_KEY) {
            ends[*number as usize + 1] += 1;
        }
        let is_unique = ends.iter().all(|count| *count <= 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        // Behind the loop, what was the start of each number is its end: the start of the next.
        let mut rows = vec![0; sum as usize];
        for (row, number) in numbers.iter().enumerate() {
            if *number != NO_KEY {
                let place = &mut ends[*number as usize];
                rows[*place as usize] = row as u32;
                *place += 1;
            }
        }
        ends.rotate_right(1);
        ends[0] = 0;
        Self {
            starts: (!is_unique).then_some(ends),
            rows: Some(rows),
        }
    }

    /// Whether each number has one row.
    pub fn are_unique(&self) -> bool {
        self.starts.is_none()
    }

    pub fn allocated_bytes(&self) -> usize {
        let bytes = |words: &Option<Vec<u32>>| words.as_ref().map_or(0, Vec::capacity);
        (bytes(&self.starts) + bytes(&self.rows)) * size_of::<u32>()
    }

    /// The rows of a number.
    pub fn rows_of(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let (start, end) = match &self.starts {
            None => (number, number + 1),
            Some(starts) => (starts[number as usize], starts[number as usize + 1]),
        };
        (start..end).map(|place| match &self.rows {
            None => place,
            Some(rows) => rows[place as usize],
        })
    }

    /// Appends pairs of matching rows, those of the build side to `build` and those of the probe side to `probe`, from the cursor on, until there
    /// are `limit` of them or the numbers of the probe side's rows end.
    pub fn matches(
        &self,
        numbers: &[u32],
        cursor: &mut MatchCursor,
        limit: usize,
        build: &mut Vec<u32>,
        probe: &mut Vec<u32>,
    ) {
        let Some(starts) = &self.starts else {
            return self.unique_matches(numbers, cursor, limit, build, probe);
        };
        let rows = self.rows.as_deref().unwrap_or_default();
        let end = build.len() + limit;
        while cursor.row < numbers.len() && build.len() < end {
            let number = numbers[cursor.row];
            if number != NO_KEY {
                let (start, list_end) = (starts[number as usize], starts[number as usize + 1]);
                let list = &rows[start as usize..list_end as usize][cursor.matched..];
                let fitting = end - build.len();
                if list.len() > fitting {
                    build.extend_from_slice(&list[..fitting]);
                    probe.resize(build.len(), cursor.row as u32);
                    cursor.matched += fitting;
                    return;
                }
                build.extend_from_slice(list);
                probe.resize(build.len(), cursor.row as u32);
            }
            *cursor = MatchCursor {
                row: cursor.row + 1,
                matched: 0,
            };
        }
    }

    fn unique_matches(
        &self,
        numbers: &[u32],
        cursor: &mut MatchCursor,
        limit: usize,
        build: &mut Vec<u32>,
        probe: &mut Vec<u32>,
    ) {
        let end = numbers.len().min(cursor.row.saturating_add(limit));
        let of_rows = &numbers[cursor.row..end];
        // Without a branch on each row: half of them may match.
        let (old, first) = (build.len(), cursor.row as u32);
        build.resize(old + of_rows.len(), 0);
        probe.resize(old + of_rows.len(), 0);
        let (builds, probes) = (&mut build[old..], &mut probe[old..]);
        let mut count = 0;
        for (row, number) in of_rows.iter().enumerate() {
            builds[count] = *number;
            probes[count] = first + row as u32;
            count += usize::from(*number != NO_KEY);
        }
        build.truncate(old + count);
        probe.truncate(old + count);
        if let Some(rows) = &self.rows {
            for number in &mut build[old..] {
                *number = rows[*number as usize];
            }
        }
        cursor.row = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of rows, of which all below their count occur.
    fn numbered(keys: &[Option<u8>]) -> (Vec<u32>, usize) {
        let mut known = Vec::new();
        let mut numbers = Vec::new();
        for key in keys {
            numbers.push(key.map_or(NO_KEY, |key| {
                let found = known.iter().position(|known| *known == key);
                found.unwrap_or_else(|| {
                    known.push(key);
                    known.len() - 1
                }) as u32
            }));
        }
        (numbers, known.len())
    }

    proptest! {
        #[test]
        fn matches_are_those_of_nested_loops(
            build_keys in proptest::collection::vec(proptest::option::weighted(0.9, 0_u8..30), 0..60),
            probe_keys in proptest::collection::vec(proptest::option::weighted(0.9, 0_u8..40), 0..60),
            limit in 1_usize..20,
            is_reversed in any::<bool>(),
        ) {
            let (mut numbers, count) = numbered(&build_keys);
            if is_reversed {
                // As ranks are: not in the order in which keys come.
                for number in numbers.iter_mut().filter(|number| **number != NO_KEY) {
                    *number = count as u32 - 1 - *number;
                }
            }
            let number_of = |key: &Option<u8>| {
                let row = key.and_then(|_| build_keys.iter().position(|build| build == key));
                row.map_or(NO_KEY, |row| numbers[row])
            };
            let probes: Vec<u32> = probe_keys.iter().map(number_of).collect();
            let lists = RowLists::new(&numbers, count);
            let (mut cursor, mut found) = (MatchCursor::default(), Vec::new());
            while cursor.row < probes.len() {
                let (mut build, mut probe) = (vec![7], vec![8]);
                let from = cursor;
                lists.matches(&probes, &mut cursor, limit, &mut build, &mut probe);
                prop_assert!(cursor != from && build.len() == probe.len());
                prop_assert!(build.len() <= 1 + limit);
                found.extend(build.into_iter().zip(probe).skip(1));
            }
            let mut expected = Vec::new();
            for (probe, key) in probe_keys.iter().enumerate() {
                for (build, _) in build_keys.iter().enumerate().filter(|(_, build)| *build == key && key.is_some()) {
                    expected.push((build as u32, probe as u32));
                }
            }
            prop_assert_eq!(found, expected);
            for (row, number) in numbers.iter().enumerate().filter(|(_, number)| **number != NO_KEY) {
                prop_assert!(lists.rows_of(*number).any(|of_number| of_number as usize == row));
            }
            let rows: usize = (0..count).map(|number| lists.rows_of(number as u32).count()).sum();
            prop_assert_eq!(rows, build_keys.iter().flatten().count());
        }
    }

    #[test]
    fn rows_that_are_numbered_as_they_come_take_no_memory() {
        let lists = RowLists::new(&[0, 1, 2], 3);
        assert!(lists.are_unique());
        assert_eq!(lists.allocated_bytes(), 0);
        assert!(RowLists::new(&[1, 0], 2).are_unique());
        assert!(!RowLists::new(&[0, 0], 1).are_unique());
    }
}
