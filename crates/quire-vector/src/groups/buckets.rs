//! The hash table itself: the halves of hashes, and the numbers of groups.

use quire_codec::dispatch;

use super::touch::touch;

/// Entries of a bucket, which together fill a cache line.
const BUCKET_ENTRIES: usize = 8;
/// Buckets of a new table.
const BUCKETS_MIN: usize = 1 << 7;
/// Entries that are taken of those of a bucket, on average: above it, there are twice as many buckets.
const TAKEN_MAX: usize = 5;

/// In place of a candidate: no group has the hash.
pub(super) const ABSENT: u32 = u32::MAX;

/// Buckets of entries. The upper bits of a hash are the number of its bucket; what does not fit into that is in the next one with a free entry.
#[derive(Debug)]
pub(super) struct Buckets {
    buckets: Vec<Bucket>,
    /// What a hash is shifted by to be the number of a bucket.
    shift: u32,
    taken: usize,
}

/// Entries are taken from the first on.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket {
    /// The upper halves of hashes.
    tags: [u32; BUCKET_ENTRIES],
    /// One more than the number of a group; 0 for a free entry.
    groups: [u32; BUCKET_ENTRIES],
}

/// Where the groups with the tag of a hash may be.
pub(super) struct Probe {
    bucket: usize,
    entry: usize,
    tag: u32,
}

impl Bucket {
    fn fill(&mut self, entry: usize, tag: u32, group: u32) {
        self.tags[entry] = tag;
        self.groups[entry] = group;
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Self {
            buckets: vec![Bucket::default(); BUCKETS_MIN],
            shift: u64::BITS - BUCKETS_MIN.trailing_zeros(),
            taken: 0,
        }
    }
}

impl Buckets {
    pub(super) fn allocated_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    /// For each hash one more than the number of a group with its tag, in its own bucket. If there is none, [`ABSENT`] where no other bucket can
    /// have one either, and 0 where it is full, so that the next one may.
    pub(super) fn candidates(&self, hashes: &[u64], groups: &mut [u32]) {
        candidates(&self.buckets, self.shift, hashes, groups);
    }

    pub(super) fn probe(&self, hash: u64) -> Probe {
        Probe {
            bucket: (hash >> self.shift) as usize,
            entry: 0,
            tag: tag_of(hash),
        }
    }

    /// The next group with the tag; `None` if there is no other, and the probe is at a free entry.
    pub(super) fn next(&self, probe: &mut Probe) -> Option<usize> {
        loop {
            if probe.entry == BUCKET_ENTRIES {
                probe.entry = 0;
                probe.bucket = (probe.bucket + 1) & (self.buckets.len() - 1);
            }
            let bucket = &self.buckets[probe.bucket];
            let group = bucket.groups[probe.entry].checked_sub(1)?;
            let is_same = bucket.tags[probe.entry] == probe.tag;
            probe.entry += 1;
            if is_same {
                return Some(group as usize);
            }
        }
    }

    /// Takes the free entry that a probe has come to.
    pub(super) fn insert(&mut self, probe: &Probe, group: u32) {
        self.buckets[probe.bucket].fill(probe.entry, probe.tag, group + 1);
        self.taken += 1;
        if self.taken > TAKEN_MAX * self.buckets.len() {
            self.grow();
        }
    }

    /// Doubles the buckets. Their order stays that of the hashes, so that both are gone through from one end to the other.
    #[cold]
    fn grow(&mut self) {
        self.shift -= 1;
        assert!(self.shift >= u32::BITS, "a tag has 32 bits of a hash");
        let doubled = vec![Bucket::default(); 2 * self.buckets.len()];
        let old = std::mem::replace(&mut self.buckets, doubled);
        for bucket in old {
            for (tag, group) in bucket.tags.into_iter().zip(bucket.groups) {
                if group != 0 {
                    self.put(tag, group);
                }
            }
        }
    }

    fn put(&mut self, tag: u32, group: u32) {
        let mask = self.buckets.len() - 1;
        let mut number = (tag >> (self.shift - u32::BITS)) as usize;
        loop {
            let bucket = &mut self.buckets[number];
            if let Some(free) = bucket.groups.iter().position(|group| *group == 0) {
                return bucket.fill(free, tag, group);
            }
            number = (number + 1) & mask;
        }
    }
}

dispatch! {
    fn candidates(buckets: &[Bucket], shift: u32, hashes: &[u64], groups: &mut [u32])
        = |buckets: &[Bucket], shift: u32, hashes: &[u64], groups: &mut [u32]| {
            touch(hashes.iter().map(|hash| u64::from(buckets[(hash >> shift) as usize].tags[0])));
            for (hash, group) in hashes.iter().zip(groups) {
                let bucket = &buckets[(hash >> shift) as usize];
                let tag = tag_of(*hash);
                // One bit for each entry with the tag. Should two have it, the other one is found by probing.
                let mut same = 0;
                for (entry, known) in bucket.tags.iter().enumerate() {
                    same |= u32::from(*known == tag) << entry;
                }
                let first = bucket.groups[same.trailing_zeros() as usize % BUCKET_ENTRIES];
                let is_full = bucket.groups[BUCKET_ENTRIES - 1] != 0;
                let none = if is_full { 0 } else { ABSENT };
                *group = if same != 0 { first } else { none };
            }
        }
}

#[inline(always)]
fn tag_of(hash: u64) -> u32 {
    (hash >> u32::BITS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The groups that a probe comes by.
    fn found(buckets: &Buckets, hash: u64) -> Vec<usize> {
        let mut probe = buckets.probe(hash);
        std::iter::from_fn(|| buckets.next(&mut probe)).collect()
    }

    fn insert(buckets: &mut Buckets, hash: u64, group: u32) {
        let mut probe = buckets.probe(hash);
        while buckets.next(&mut probe).is_some() {}
        buckets.insert(&probe, group);
    }

    #[test]
    fn groups_are_found_by_their_hashes_however_large_the_table_grows() {
        let mut buckets = Buckets::default();
        let hash = |group: u32| u64::from(group).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for group in 0..20_000 {
            assert!(!found(&buckets, hash(group)).contains(&(group as usize)));
            insert(&mut buckets, hash(group), group);
        }
        assert!(buckets.buckets.len() * TAKEN_MAX >= 20_000);
        for group in 0..20_000 {
            assert!(found(&buckets, hash(group)).contains(&(group as usize)));
        }
    }

    /// More groups of one hash than a bucket has entries, in the last bucket: they go on in the first.
    #[test]
    fn groups_with_one_hash_are_all_found() {
        let mut buckets = Buckets::default();
        for group in 0..100 {
            insert(&mut buckets, u64::MAX, group);
            insert(&mut buckets, 0, 1000 + group);
        }
        assert_eq!(found(&buckets, u64::MAX), (0..100).collect::<Vec<_>>());
        assert_eq!(found(&buckets, 0), (1000..1100).collect::<Vec<_>>());
        assert_eq!(found(&buckets, 1 << 40), []);
        // The candidate is one of its own bucket. The first bucket is full, one in between has none.
        let mut groups = [7; 3];
        buckets.candidates(&[u64::MAX, 1 << 40, 1 << 63], &mut groups);
        assert!((1..=8).contains(&groups[0]), "{groups:?}");
        assert_eq!(groups[1..], [0, ABSENT]);
    }
}
