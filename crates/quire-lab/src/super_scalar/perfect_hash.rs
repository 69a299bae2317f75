//! From a value to its code in one probe and without a branch, for encoding with PDICT.
//!
//! The paper (§6.2.10) probes a hash table whose collisions were resolved while it was built, so that a look-up
//! needs no loop: "memorized probing". Values of 8 and 16 bits need no hash at all, a table of all of them
//! does. For wider ones this is hash and displace: a first hash chooses a bucket, the bucket's displacement
//! alters the hash, and what results is the slot. Buckets get their displacements largest first, each the first
//! that sends all its values to free slots. A look-up reads one displacement and one slot and compares the
//! value there.

use super::word::UnsignedWord;

/// What a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PerfectHashProbe {
    pub(super) code: u32,
    pub(super) found: bool,
}

/// Maps the values of a dictionary to their codes.
#[derive(Clone, Debug)]
pub(super) enum PerfectHash<U> {
    /// By value, of types up to 16 bits.
    Direct(DirectTable),
    Displaced(DisplacedTable<U>),
}

impl<U: UnsignedWord> PerfectHash<U> {
    /// Of two equal values the first has the code.
    pub(super) fn new(values: &[U]) -> Self {
        match U::BITS {
            0..=16 => Self::Direct(DirectTable::new(values)),
            _ => Self::Displaced(DisplacedTable::new(values, &PerfectHashEffort::DEFAULT)),
        }
    }
}

/// The code of every value of the type.
#[derive(Clone, Debug)]
pub(super) struct DirectTable(Vec<u32>);

impl DirectTable {
    const ABSENT: u32 = u32::MAX;

    fn new<U: UnsignedWord>(values: &[U]) -> Self {
        let mut codes = vec![Self::ABSENT; 1 << U::BITS];
        for (code, value) in values.iter().enumerate().rev() {
            codes[value.index()] = code as u32;
        }
        Self(codes)
    }

    #[inline(always)]
    pub(super) fn probe<U: UnsignedWord>(&self, value: U) -> PerfectHashProbe {
        let code = self.0.get(value.index()).copied().unwrap_or(Self::ABSENT);
        PerfectHashProbe {
            code,
            found: code != Self::ABSENT,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct PerfectHashSlot<U> {
    value: U,
    code: u32,
}

/// How long to search before values are given up.
struct PerfectHashEffort {
    seeds: u64,
    displacements: u32,
}

impl PerfectHashEffort {
    /// At most half of the slots are taken, so a search fails about never.
    const DEFAULT: Self = Self {
        seeds: 8,
        displacements: 1 << 16,
    };
}

/// Hash and displace.
#[derive(Clone, Debug)]
pub(super) struct DisplacedTable<U> {
    seed: u64,
    /// One for each bucket; a power of two of them.
    displacements: Vec<u32>,
    /// A power of two of them, at least two.
    slots: Vec<PerfectHashSlot<U>>,
    slot_shift: u32,
}

/// Odd numbers without structure: digits of the golden ratio and of π.
const MULTIPLIERS: [u64; 3] = [
    0x9E37_79B9_7F4A_7C15,
    0x243F_6A88_85A3_08D3,
    0x1319_8A2E_0370_7345,
];

impl<U: UnsignedWord> DisplacedTable<U> {
    /// Tries several seeds. Values the last one finds no slot for are left out, and so become exceptions.
    fn new(values: &[U], effort: &PerfectHashEffort) -> Self {
        let mut distinct: Vec<PerfectHashSlot<U>> = values
            .iter()
            .zip(0..)
            .map(|(&value, code)| PerfectHashSlot { value, code })
            .collect();
        distinct.sort_by_key(|slot| (slot.value, slot.code));
        distinct.dedup_by_key(|slot| slot.value);
        let mut seed = 1;
        loop {
            let (table, complete) = Self::with_seed(&distinct, seed, effort);
            if complete || seed >= effort.seeds {
                return table;
            }
            seed += 1;
        }
    }

    /// The table, and whether all values are in it.
    fn with_seed(
        distinct: &[PerfectHashSlot<U>],
        seed: u64,
        effort: &PerfectHashEffort,
    ) -> (Self, bool) {
        let slot_count = (2 * distinct.len()).next_power_of_two().max(2);
        let bucket_count = distinct.len().div_ceil(4).next_power_of_two();
        // A slot nobody has may hold any true pair: who finds its value there finds its code.
        let filler = distinct.first().copied().unwrap_or(PerfectHashSlot {
            value: U::default(),
            code: 0,
        });
        let mut table = Self {
            seed: seed.wrapping_mul(MULTIPLIERS[0]),
            displacements: vec![0; bucket_count],
            slots: vec![filler; slot_count],
            slot_shift: 64 - slot_count.trailing_zeros(),
        };
        let mut keyed: Vec<(usize, PerfectHashSlot<U>)> = distinct
            .iter()
            .map(|slot| (table.bucket(table.hash(slot.value)), *slot))
            .collect();
        keyed.sort_by_key(|(bucket, _)| *bucket);
        let mut buckets: Vec<&[(usize, PerfectHashSlot<U>)]> =
            keyed.chunk_by(|one, other| one.0 == other.0).collect();
        buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.len()));
        let mut taken = vec![false; slot_count];
        let mut complete = true;
        for bucket in buckets {
            complete &= table.place(bucket, &mut taken, effort);
        }
        (table, complete)
    }

    /// Finds the displacement of a bucket; false if there is none.
    fn place(
        &mut self,
        bucket: &[(usize, PerfectHashSlot<U>)],
        taken: &mut [bool],
        effort: &PerfectHashEffort,
    ) -> bool {
        let mut places = Vec::with_capacity(bucket.len());
        for displacement in 0..effort.displacements {
            places.clear();
            for (_, slot) in bucket {
                let place = self.slot(self.hash(slot.value), displacement);
                if taken[place] || places.contains(&place) {
                    break;
                }
                places.push(place);
            }
            if places.len() == bucket.len() {
                for (&place, (index, slot)) in places.iter().zip(bucket) {
                    taken[place] = true;
                    self.slots[place] = *slot;
                    self.displacements[*index] = displacement;
                }
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn hash(&self, value: U) -> u64 {
        let spread = (value.wide() ^ self.seed).wrapping_mul(MULTIPLIERS[1]);
        (spread ^ spread >> 32).wrapping_mul(MULTIPLIERS[2])
    }

    #[inline(always)]
    fn bucket(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.displacements.len() - 1)
    }

    #[inline(always)]
    fn slot(&self, hash: u64, displacement: u32) -> usize {
        let displaced = (hash ^ u64::from(displacement)).wrapping_mul(MULTIPLIERS[0]);
        (displaced >> self.slot_shift) as usize & (self.slots.len() - 1)
    }

    #[inline(always)]
    pub(super) fn probe(&self, value: U) -> PerfectHashProbe {
        let hash = self.hash(value);
        let slot = &self.slots[self.slot(hash, self.displacements[self.bucket(hash)])];
        PerfectHashProbe {
            code: slot.code,
            found: slot.value == value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(table: &DisplacedTable<u64>, values: &[u64]) -> usize {
        let right = |(value, code): (&u64, u32)| match table.probe(*value) {
            PerfectHashProbe { code: other, found } if found => {
                assert_eq!(other, code, "the code of {value}");
                true
            }
            _ => false,
        };
        values.iter().zip(0..).filter(|&pair| right(pair)).count()
    }

    #[test]
    fn every_value_is_found_and_no_other() {
        let strides = [1, 3, 1 << 20, 1 << 44, 0x0123_4567_89AB_CDEF];
        for count in [1u64, 2, 3, 7, 255, 256, 5_000, 70_000] {
            for stride in strides {
                let values: Vec<u64> = (0..count).map(|i| i.wrapping_mul(stride)).collect();
                let table = DisplacedTable::new(&values, &PerfectHashEffort::DEFAULT);
                assert_eq!(found(&table, &values), values.len(), "{count} by {stride}");
                let others = (count..2 * count).map(|i| i.wrapping_mul(stride));
                assert!(others.into_iter().all(|other| !table.probe(other).found));
            }
        }
    }

    #[test]
    fn values_without_a_slot_are_not_found_and_the_others_are() {
        let values: Vec<u64> = (0..4_000).map(|i| i * i).collect();
        let effort = PerfectHashEffort {
            seeds: 2,
            displacements: 1,
        };
        let table = DisplacedTable::new(&values, &effort);
        let found = found(&table, &values);
        assert!((1..values.len()).contains(&found), "{found} found");
    }

    #[test]
    fn of_equal_values_the_first_has_the_code() {
        let at = |code| PerfectHashProbe { code, found: true };
        let displaced = DisplacedTable::new(&[9u32, 4, 9, 4], &PerfectHashEffort::DEFAULT);
        assert_eq!(displaced.probe(9), at(0));
        assert_eq!(displaced.probe(4), at(1));
        let direct = DirectTable::new(&[9u8, 4, 9, 4]);
        assert_eq!(direct.probe(4u8), at(1));
        assert!(!direct.probe(5u8).found);
    }
}
