//! Processes and their descendants.

use super::proc_text::{ProcessIo, ProcessStat};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

/// Processes that start or end while all are listed would be missed, or counted in themselves and in their parent: such a list is made again.
const LISTINGS_MAX: usize = 5;

/// Times in clock ticks, and bytes, of a group of processes and of those of their children that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupSum {
    pub(super) user: u64,
    pub(super) system: u64,
    /// `None` if those of a process must not be read.
    pub(super) io: Option<ProcessIo>,
}

/// All processes of the machine at a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessTable(BTreeMap<u32, ProcessStat>);

impl ProcessTable {
    /// Empty where there is no `/proc`.
    pub(super) fn read() -> Self {
        let mut table = Self::listed();
        for _ in 1..LISTINGS_MAX {
            let again = Self::listed();
            let is_same = again.starts().eq(table.starts());
            table = again;
            if is_same {
                break;
            }
        }
        table
    }

    fn listed() -> Self {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Self::default();
        };
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let processes = numbers.filter_map(|number: u32| {
            // One that has ended since has no text.
            let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            Some((number, ProcessStat::parse(&text)?))
        });
        Self(processes.collect())
    }

    fn starts(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().map(|(number, stat)| (*number, stat.started))
    }

    /// Those of `roots` that exist, and their descendants; never one of `without`, nor what descends from it.
    pub(super) fn family(&self, roots: &[u32], without: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (number, stat) in &self.0 {
            children.entry(stat.parent).or_default().push(*number);
        }
        let mut family = BTreeSet::new();
        let mut waiting: Vec<u32> = roots.to_vec();
        while let Some(number) = waiting.pop() {
            let is_new = self.0.contains_key(&number) && !without.contains(&number);
            if is_new && family.insert(number) {
                waiting.extend(children.get(&number).into_iter().flatten());
            }
        }
        family
    }

    /// Times of the processes, with those of their children that have ended.
    pub(super) fn sum(&self, family: &BTreeSet<u32>) -> GroupSum {
        let mut sum = GroupSum::default();
        for stat in family.iter().filter_map(|number| self.0.get(number)) {
            sum.user += stat.user + stat.children_user;
            sum.system += stat.system + stat.children_system;
        }
        sum
    }
}

/// Bytes of the processes, with those of their children that have ended; `None` if one must not be read.
pub(super) fn io_of(family: &BTreeSet<u32>) -> Option<ProcessIo> {
    let mut sum = ProcessIo::default();
    for number in family {
        let text = match fs::read_to_string(format!("/proc/{number}/io")) {
            Ok(text) => text,
            // It has ended since: its bytes are its parent's now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        let io = ProcessIo::parse(&text)?;
        sum.read_bytes += io.read_bytes;
        sum.written_bytes += io.written_bytes;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Process, parent, own ticks, ticks of ended children.
    fn table(processes: &[(u32, u32, u64, u64)]) -> ProcessTable {
        let stat = |&(number, parent, user, children_user)| {
            let stat = ProcessStat {
                parent,
                user,
                system: 0,
                children_user,
                children_system: 0,
                started: 1,
            };
            (number, stat)
        };
        ProcessTable(processes.iter().map(stat).collect())
    }

    #[test]
    fn a_family_has_each_descendant_once() {
        let table = table(&[
            (1, 0, 0, 0),
            (2, 1, 0, 0),
            (3, 2, 0, 0),
            (4, 3, 0, 0),
            (5, 1, 0, 0),
        ]);
        let family = |roots: &[u32], without: &[u32]| -> Vec<u32> {
            let without = without.iter().copied().collect();
            table.family(roots, &without).into_iter().collect()
        };
        assert_eq!(family(&[2, 4, 9], &[]), [2, 3, 4]);
        assert_eq!(family(&[1], &[3]), [1, 2, 5]);
        assert!(family(&[], &[]).is_empty());
    }

    #[test]
    fn a_parent_that_is_its_own_child_ends() {
        let table = table(&[(7, 8, 0, 0), (8, 7, 0, 0)]);
        assert_eq!(table.family(&[7], &BTreeSet::new()).len(), 2);
    }

    #[test]
    fn the_time_of_a_child_that_ends_stays_in_the_sum() {
        let sum = |processes: &[(u32, u32, u64, u64)]| {
            let table = table(processes);
            table.sum(&table.family(&[1], &BTreeSet::new())).user
        };
        let before = sum(&[(1, 0, 10, 0), (2, 1, 5, 3)]);
        // 2 worked for 4 ticks more and ended; 3 came and worked for 6.
        let after = sum(&[(1, 0, 10, 12), (3, 1, 6, 0)]);
        assert_eq!(after - before, 4 + 6);
    }

    #[test]
    fn this_process_is_in_the_table_of_all() {
        let own = std::process::id();
        if cfg!(target_os = "linux") {
            let family = ProcessTable::read().family(&[own], &BTreeSet::new());
            assert!(family.contains(&own));
        }
    }
}
