//! Which group a key is.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Date32Type, Int16Type, Int32Type, Int64Type};
use datafusion::common::{Result, exec_err};

/// The groups of integer keys, numbered as they come.
#[derive(Default)]
pub(super) struct KeyPlaces {
    first: i64,
    /// One more than the group of each key from `first` on; 0 for a key that has not come yet.
    places: Vec<u32>,
    /// Groups of keys that have no place: statistics may be those of other rows.
    others: HashMap<i64, u32>,
    null: Option<u32>,
    /// The key of each group; that of NULL has some value.
    keys: Vec<i64>,
}

impl KeyPlaces {
    pub(super) fn new(first: i64, places: usize) -> Self {
        Self {
            first,
            places: vec![0; places],
            ..Self::default()
        }
    }

    pub(super) fn group_count(&self) -> usize {
        self.keys.len()
    }

    /// Groups that have no place.
    pub(super) fn other_count(&self) -> usize {
        self.others.len()
    }

    /// Puts the group of each row into `groups`.
    pub(super) fn find(&mut self, keys: &dyn Array, groups: &mut Vec<usize>) -> Result<()> {
        groups.clear();
        groups.reserve(keys.len());
        match keys.data_type() {
            DataType::Int16 => self.find_all::<Int16Type>(keys, groups),
            DataType::Int32 => self.find_all::<Int32Type>(keys, groups),
            DataType::Int64 => self.find_all::<Int64Type>(keys, groups),
            DataType::Date32 => self.find_all::<Date32Type>(keys, groups),
            other => return exec_err!("{other} is no integer key"),
        }
        Ok(())
    }

    fn find_all<T: ArrowPrimitiveType<Native: Into<i64>>>(
        &mut self,
        keys: &dyn Array,
        groups: &mut Vec<usize>,
    ) {
        let keys = keys.as_primitive::<T>();
        match keys.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => groups.extend(keys.values().iter().map(|key| self.group((*key).into()))),
            Some(nulls) => {
                let found = keys.values().iter().zip(nulls).map(|(key, is_valid)| {
                    if is_valid {
                        self.group((*key).into())
                    } else {
                        self.null_group()
                    }
                });
                groups.extend(found);
            }
        }
    }

    #[inline]
    fn group(&mut self, key: i64) -> usize {
        let place = key.wrapping_sub(self.first) as u64;
        let known = usize::try_from(place).ok();
        match known.and_then(|place| self.places.get_mut(place)) {
            Some(0) => self.new_group(key),
            Some(group) => *group as usize - 1,
            None => self.other_group(key),
        }
    }

    /// The group of a key that has come for the first time.
    #[cold]
    fn new_group(&mut self, key: i64) -> usize {
        let group = self.keys.len();
        self.keys.push(key);
        // An array of groups with more than 32 bits would not have come this far: their keys alone have 32 GiB.
        self.places[key.wrapping_sub(self.first) as usize] = group as u32 + 1;
        group
    }

    #[cold]
    fn other_group(&mut self, key: i64) -> usize {
        let next = self.keys.len() as u32;
        let group = *self.others.entry(key).or_insert(next);
        if group == next {
            self.keys.push(key);
        }
        group as usize
    }

    fn null_group(&mut self) -> usize {
        let next = self.keys.len() as u32;
        let group = *self.null.get_or_insert(next);
        if group == next {
            self.keys.push(0);
        }
        group as usize
    }

    /// The key of each group as an array.
    pub(super) fn keys(&self, data_type: &DataType) -> Result<ArrayRef> {
        Ok(match data_type {
            DataType::Int16 => self.keys_of::<Int16Type>(|key| key as i16),
            DataType::Int32 => self.keys_of::<Int32Type>(|key| key as i32),
            DataType::Int64 => self.keys_of::<Int64Type>(|key| key),
            DataType::Date32 => self.keys_of::<Date32Type>(|key| key as i32),
            other => return exec_err!("{other} is no integer key"),
        })
    }

    fn keys_of<T: ArrowPrimitiveType>(&self, narrow: impl Fn(i64) -> T::Native) -> ArrayRef {
        let values = self.keys.iter().map(|key| narrow(*key)).collect::<Vec<_>>();
        let nulls = self.null.map(|null| {
            let is_valid = (0..self.keys.len()).map(|group| group != null as usize);
            is_valid.collect::<NullBuffer>()
        });
        Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Date32Array, Int32Array, Int64Array};

    use super::*;

    fn groups(table: &mut KeyPlaces, keys: &dyn Array) -> Result<Vec<usize>> {
        let mut groups = vec![99];
        table.find(keys, &mut groups)?;
        Ok(groups)
    }

    #[test]
    fn keys_are_numbered_as_they_come() -> Result<()> {
        let mut table = KeyPlaces::new(-2, 4);
        let keys = Int32Array::from(vec![Some(1), Some(-2), None, Some(1), Some(0)]);
        assert_eq!(groups(&mut table, &keys)?, [0, 1, 2, 0, 3]);
        let keys = Int32Array::from(vec![Some(-2), None, Some(-1)]);
        assert_eq!(groups(&mut table, &keys)?, [1, 2, 4]);
        let expected = Int32Array::from(vec![Some(1), Some(-2), None, Some(0), Some(-1)]);
        assert_eq!(
            table.keys(&DataType::Int32)?.as_ref(),
            &expected as &dyn Array
        );
        assert_eq!((table.group_count(), table.other_count()), (5, 0));
        Ok(())
    }

    #[test]
    fn keys_without_a_place_have_groups_too() -> Result<()> {
        let mut table = KeyPlaces::new(i64::MAX - 1, 2);
        let keys = Int64Array::from(vec![i64::MAX, i64::MIN, 0, i64::MIN, i64::MAX - 1, -1]);
        assert_eq!(groups(&mut table, &keys)?, [0, 1, 2, 1, 3, 4]);
        assert_eq!(table.other_count(), 3);
        let expected = Int64Array::from(vec![i64::MAX, i64::MIN, 0, i64::MAX - 1, -1]);
        assert_eq!(
            table.keys(&DataType::Int64)?.as_ref(),
            &expected as &dyn Array
        );
        Ok(())
    }

    #[test]
    fn an_empty_table_has_no_keys() -> Result<()> {
        let table = KeyPlaces::new(0, 0);
        let expected = Date32Array::from(Vec::<i32>::new());
        assert_eq!(
            table.keys(&DataType::Date32)?.as_ref(),
            &expected as &dyn Array
        );
        Ok(())
    }
}
