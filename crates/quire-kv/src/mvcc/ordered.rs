//! New values by key, in memory.
//!
//! Keys and values lie one behind the other in one piece of memory; what is kept in order is where they are, in blocks that follow each
//! other. So a change costs no allocation of its own, a copy of all is three copies of memory, and a key above all others, which is
//! what most that are inserted have, needs one comparison.

/// Places in a block.
const BLOCK_PLACES_MAX: usize = 256;

/// New values by key; `None`: the key is removed.
#[derive(Clone, Default)]
pub(super) struct OrderedChanges {
    /// Keys, each with its value behind it; those that were replaced by longer ones among them.
    bytes: Vec<u8>,
    /// By ascending key. No block is empty.
    blocks: Vec<Vec<ChangeLocation>>,
    /// Memory for the first block.
    spare: Vec<ChangeLocation>,
    count: usize,
}

/// Where a key and its value are.
#[derive(Clone, Copy)]
struct ChangeLocation {
    start: usize,
    key_bytes: u32,
    value_bytes: Option<u32>,
}

/// Where a key is among the others, or would be.
#[derive(Clone, Copy, Default)]
struct Spot {
    block: usize,
    index: usize,
}

impl OrderedChanges {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Nothing, in the memory of what there was; `None` if that is more than so many bytes.
    pub(super) fn into_memory(mut self, bytes_max: usize) -> Option<Self> {
        if self.bytes.capacity() > bytes_max {
            return None;
        }
        self.bytes.clear();
        self.blocks.truncate(1);
        if let Some(block) = self.blocks.pop() {
            self.spare = block;
            self.spare.clear();
        }
        self.count = 0;
        Some(self)
    }

    /// The change of a key, if there is one.
    pub(super) fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        let spot = self.find(key).ok()?;
        Some(self.value(self.place(spot)?))
    }

    /// Adds a change, or replaces it.
    pub(super) fn set(&mut self, key: &[u8], value: Option<&[u8]>) {
        let found = self.find(key);
        if let Ok(spot) = found
            && self.overwrite(spot, value)
        {
            return;
        }
        let place = ChangeLocation {
            start: self.bytes.len(),
            key_bytes: key.len() as u32,
            value_bytes: value.map(|value| value.len() as u32),
        };
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value.unwrap_or_default());
        match found {
            Ok(spot) => self.blocks[spot.block][spot.index] = place,
            Err(spot) => self.insert(spot, place),
        }
    }

    /// Forgets the change of a key.
    pub(super) fn remove(&mut self, key: &[u8]) {
        let Ok(Spot { block, index }) = self.find(key) else {
            return;
        };
        self.blocks[block].remove(index);
        if self.blocks[block].is_empty() {
            self.blocks.remove(block);
        }
        self.count -= 1;
    }

    /// All changes by ascending key.
    pub(super) fn iter(&self) -> Iter<'_> {
        self.iter_from(Spot::default())
    }

    /// Those of keys from `low` up to, without, `high`. A high bound of no bytes is none.
    pub(super) fn range<'a>(
        &'a self,
        low: &[u8],
        high: &'a [u8],
    ) -> impl Iterator<Item = Change<'a>> {
        let (Ok(spot) | Err(spot)) = self.find(low);
        self.iter_from(spot)
            .take_while(move |(key, _)| high.is_empty() || *key < high)
    }

    /// Of keys and values, replaced ones among them.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn iter_from(&self, spot: Spot) -> Iter<'_> {
        Iter {
            changes: self,
            spot,
        }
    }

    /// Where a key is; or where it would be, behind the last of a block if need be.
    fn find(&self, key: &[u8]) -> Result<Spot, Spot> {
        let Some((last, places)) = self
            .blocks
            .split_last()
            .map(|(last, before)| (before.len(), last))
        else {
            return Err(Spot::default());
        };
        let is_above_all = places.last().is_some_and(|place| self.key(place) < key);
        if is_above_all {
            let index = places.len();
            return Err(Spot { block: last, index });
        }
        let begins_below = |places: &Vec<ChangeLocation>| {
            places.first().is_some_and(|first| self.key(first) <= key)
        };
        let block = self.blocks.partition_point(begins_below).saturating_sub(1);
        let found = self.blocks[block].binary_search_by(|place| self.key(place).cmp(key));
        match found {
            Ok(index) => Ok(Spot { block, index }),
            Err(index) => Err(Spot { block, index }),
        }
    }

    fn place(&self, spot: Spot) -> Option<&ChangeLocation> {
        self.blocks.get(spot.block)?.get(spot.index)
    }

    fn key(&self, place: &ChangeLocation) -> &[u8] {
        &self.bytes[place.start..][..place.key_bytes as usize]
    }

    fn value(&self, place: &ChangeLocation) -> Option<&[u8]> {
        let bytes = place.value_bytes? as usize;
        Some(&self.bytes[place.start + place.key_bytes as usize..][..bytes])
    }

    /// Puts a value where the one before it is, if it is no longer.
    fn overwrite(&mut self, spot: Spot, value: Option<&[u8]>) -> bool {
        let place = &mut self.blocks[spot.block][spot.index];
        let new = value.unwrap_or_default();
        if new.len() > place.value_bytes.unwrap_or(0) as usize {
            return false;
        }
        place.value_bytes = value.map(|value| value.len() as u32);
        let start = place.start + place.key_bytes as usize;
        self.bytes[start..][..new.len()].copy_from_slice(new);
        true
    }

    fn insert(&mut self, spot: Spot, place: ChangeLocation) {
        self.count += 1;
        let Spot { block, index } = spot;
        let Some(places) = self.blocks.get_mut(block) else {
            let mut first = std::mem::take(&mut self.spare);
            first.push(place);
            self.blocks.push(first);
            return;
        };
        if places.len() < BLOCK_PLACES_MAX {
            places.insert(index, place);
            return;
        }
        // Of ascending keys the blocks become full, of others they are halved.
        let is_last = block + 1 == self.blocks.len();
        let cut = if is_last && index == BLOCK_PLACES_MAX {
            BLOCK_PLACES_MAX
        } else {
            BLOCK_PLACES_MAX / 2
        };
        let mut upper = Vec::with_capacity(BLOCK_PLACES_MAX);
        upper.extend(self.blocks[block].drain(cut..));
        match index.checked_sub(cut) {
            Some(index) => upper.insert(index, place),
            None => self.blocks[block].insert(index, place),
        }
        self.blocks.insert(block + 1, upper);
    }
}

/// A key and its new value.
pub(super) type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// See [`OrderedChanges::iter`].
pub(super) struct Iter<'a> {
    changes: &'a OrderedChanges,
    spot: Spot,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Change<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let places = self.changes.blocks.get(self.spot.block)?;
        if self.spot.index >= places.len() {
            self.spot = Spot {
                block: self.spot.block + 1,
                index: 0,
            };
        }
        let place = self.changes.place(self.spot)?;
        self.spot.index += 1;
        Some((self.changes.key(place), self.changes.value(place)))
    }
}

impl<'a> FromIterator<Change<'a>> for OrderedChanges {
    fn from_iter<I: IntoIterator<Item = Change<'a>>>(changes: I) -> Self {
        let mut all = Self::default();
        for (key, value) in changes {
            all.set(key, value);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;
    use std::ops::Bound;

    use proptest::prelude::*;

    use super::*;

    type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn is_equal(changes: &OrderedChanges, model: &Model) {
        assert_eq!(changes.len(), model.len());
        let expected = model.iter().map(|(key, value)| (&**key, value.as_deref()));
        assert!(changes.iter().eq(expected));
        assert!(changes.blocks.iter().all(|block| !block.is_empty()));
    }

    /// Keys from few numbers, so that many meet; of different lengths, so that one begins another.
    fn key(number: u32) -> Vec<u8> {
        let bytes = number.to_be_bytes();
        bytes[..2 + (number % 3) as usize].to_vec()
    }

    fn step() -> impl Strategy<Value = (u32, Option<u8>, bool)> {
        (
            0..3_000_u32,
            proptest::option::of(0..40_u8),
            proptest::bool::weighted(0.1),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_is_an_ordered_map(steps in proptest::collection::vec(step(), 0..3_000), ranges in proptest::collection::vec((0..3_000_u32, 0..3_000_u32), 10)) {
            let (mut changes, mut model) = (OrderedChanges::default(), Model::new());
            for (number, length, is_removed) in steps {
                let key = key(number);
                if is_removed {
                    changes.remove(&key);
                    model.remove(&key);
                    continue;
                }
                let value = length.map(|length| vec![length; length.into()]);
                changes.set(&key, value.as_deref());
                prop_assert_eq!(changes.get(&key), Some(value.as_deref()));
                model.insert(key, value);
            }
            is_equal(&changes, &model);
            for (low, high) in ranges {
                let (low, high) = (key(low.min(high)), key(low.max(high)));
                if low > high {
                    continue;
                }
                let range = model.range::<[u8], _>((Bound::Included(&*low), Bound::Excluded(&*high)));
                let range = range.map(|(key, value)| (&**key, value.as_deref()));
                prop_assert!(changes.range(&low, &high).eq(range));
                let rest = model.range::<[u8], _>((Bound::Included(&*low), Bound::Unbounded));
                let rest = rest.map(|(key, value)| (&**key, value.as_deref()));
                prop_assert!(changes.range(&low, &[]).eq(rest));
                prop_assert_eq!(changes.get(&low), model.get(&low).map(|value| value.as_deref()));
            }
        }
    }

    #[test]
    fn ascending_keys_fill_their_blocks() {
        let (mut changes, mut model) = (OrderedChanges::default(), Model::new());
        for number in 0..10_000_u32 {
            let key = number.to_be_bytes();
            changes.set(&key, Some(&key[..1]));
            model.insert(key.to_vec(), Some(key[..1].to_vec()));
        }
        is_equal(&changes, &model);
        assert_eq!(
            changes.blocks.len(),
            10_000_usize.div_ceil(BLOCK_PLACES_MAX)
        );
    }

    #[test]
    fn memory_of_changes_has_none_of_them() {
        let mut changes = OrderedChanges::default();
        for number in 0..1_000_u32 {
            changes.set(&number.to_be_bytes(), Some(b"value"));
        }
        assert!(changes.clone().into_memory(1_000).is_none());
        let mut again = changes.into_memory(1 << 20).unwrap();
        is_equal(&again, &Model::new());
        assert_eq!(again.get(&7_u32.to_be_bytes()), None);
        let key = 7_u32.to_be_bytes();
        again.set(&key, None);
        is_equal(&again, &Model::from([(key.to_vec(), None)]));
    }

    #[test]
    fn a_value_that_is_no_longer_takes_the_place_of_the_one_before() {
        let mut changes = OrderedChanges::default();
        for value in [&b"abcdef"[..], b"abc", b"", b"abcdef"] {
            changes.set(b"key", Some(value));
        }
        let before = changes.bytes.len();
        changes.set(b"key", Some(b"uvwxyz"));
        assert_eq!(changes.get(b"key"), Some(Some(&b"uvwxyz"[..])));
        assert_eq!(changes.bytes.len(), before);
        changes.set(b"key", None);
        assert_eq!(changes.get(b"key"), Some(None));
        assert_eq!(changes.len(), 1);
    }
}
