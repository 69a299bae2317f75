//! Aggregation of a vector into a few slots, one for each group that its rows can be in.

use quire_codec::{RowMask, dispatch};

/// Up to this many slots are gone through one by one, each by a loop over the vector without branches. With more of them a single loop
/// finds the slot of each row.
const FEW_SLOTS: usize = 8;

/// The slot of each row of a vector, or none.
#[derive(Clone, Debug)]
pub struct RowSlots {
    /// Below `slot_count`; a row that does not count has another one.
    slots: Box<[i64; 1024]>,
    slot_count: usize,
}

impl Default for RowSlots {
    /// All rows in one slot.
    fn default() -> Self {
        Self {
            slots: Box::new([0; 1024]),
            slot_count: 1,
        }
    }
}

impl RowSlots {
    /// Puts all rows into one slot.
    pub fn clear(&mut self) {
        self.slots.fill(0);
        self.slot_count = 1;
    }

    /// Divides each slot by a key whose codes are below `domain`. A row with another code gets the slot of other rows, or none.
    pub fn divide(&mut self, codes: &[i64; 1024], domain: usize) {
        divide(&mut self.slots, codes, domain as i64);
        self.slot_count *= domain;
    }

    /// Takes the rows out of their slots that are not in `rows`.
    pub fn retain(&mut self, rows: &RowMask) {
        retain(&mut self.slots, rows);
    }

    /// Adds the rows of each slot to its count.
    pub fn count(&self, counts: &mut [i64]) {
        if self.slot_count > FEW_SLOTS {
            return self.scatter(|row_slot, _| add(counts, row_slot, 1));
        }
        for (count, slot) in counts.iter_mut().zip(0..self.slot_count as i64) {
            *count = count.wrapping_add(slot_rows(&self.slots, slot));
        }
    }

    /// Adds the values of each slot to its sum, which wraps around.
    pub fn sum(&self, values: &[i64; 1024], sums: &mut [i64]) {
        if self.slot_count > FEW_SLOTS {
            return self.scatter(|row_slot, row| add(sums, row_slot, values[row]));
        }
        for (sum, slot) in sums.iter_mut().zip(0..self.slot_count as i64) {
            *sum = sum.wrapping_add(slot_sum(&self.slots, slot, values));
        }
    }

    /// Lowers the minimum of each slot to its smallest value.
    pub fn lower(&self, values: &[i64; 1024], minima: &mut [i64]) {
        if self.slot_count > FEW_SLOTS {
            return self.scatter(|row_slot, row| {
                if let Some(minimum) = minima.get_mut(row_slot) {
                    *minimum = (*minimum).min(values[row]);
                }
            });
        }
        for (minimum, slot) in minima.iter_mut().zip(0..self.slot_count as i64) {
            *minimum = (*minimum).min(slot_minimum(&self.slots, slot, values));
        }
    }

    /// Raises the maximum of each slot to its largest value.
    pub fn raise(&self, values: &[i64; 1024], maxima: &mut [i64]) {
        if self.slot_count > FEW_SLOTS {
            return self.scatter(|row_slot, row| {
                if let Some(maximum) = maxima.get_mut(row_slot) {
                    *maximum = (*maximum).max(values[row]);
                }
            });
        }
        for (maximum, slot) in maxima.iter_mut().zip(0..self.slot_count as i64) {
            *maximum = (*maximum).max(slot_maximum(&self.slots, slot, values));
        }
    }

    #[inline(always)]
    fn scatter(&self, mut visit: impl FnMut(usize, usize)) {
        for (row, &slot) in self.slots.iter().enumerate() {
            visit(slot as usize, row);
        }
    }
}

#[inline(always)]
fn add(sums: &mut [i64], slot: usize, value: i64) {
    if let Some(sum) = sums.get_mut(slot) {
        *sum = sum.wrapping_add(value);
    }
}

dispatch! {
    fn divide(slots: &mut [i64; 1024], codes: &[i64; 1024], domain: i64)
        = |slots: &mut [i64; 1024], codes: &[i64; 1024], domain: i64| {
            for (slot, code) in slots.iter_mut().zip(codes) {
                *slot = slot.wrapping_mul(domain).wrapping_add(*code);
            }
        }
}

dispatch! {
    fn retain(slots: &mut [i64; 1024], rows: &RowMask)
        = |slots: &mut [i64; 1024], rows: &RowMask| {
            for (slots, word) in slots.chunks_exact_mut(64).zip(rows) {
                for (bit, slot) in slots.iter_mut().enumerate() {
                    if word >> bit & 1 == 0 {
                        *slot = -1;
                    }
                }
            }
        }
}

dispatch! {
    fn slot_rows(slots: &[i64; 1024], slot: i64) -> i64 = |slots: &[i64; 1024], slot: i64| {
        let mut rows = 0;
        for row_slot in slots {
            rows += i64::from(*row_slot == slot);
        }
        rows
    }
}

dispatch! {
    fn slot_sum(slots: &[i64; 1024], slot: i64, values: &[i64; 1024]) -> i64
        = |slots: &[i64; 1024], slot: i64, values: &[i64; 1024]| {
            let mut sum = 0_i64;
            for (row_slot, value) in slots.iter().zip(values) {
                sum = sum.wrapping_add(if *row_slot == slot { *value } else { 0 });
            }
            sum
        }
}

dispatch! {
    fn slot_minimum(slots: &[i64; 1024], slot: i64, values: &[i64; 1024]) -> i64
        = |slots: &[i64; 1024], slot: i64, values: &[i64; 1024]| {
            let mut minimum = i64::MAX;
            for (row_slot, value) in slots.iter().zip(values) {
                minimum = minimum.min(if *row_slot == slot { *value } else { i64::MAX });
            }
            minimum
        }
}

dispatch! {
    fn slot_maximum(slots: &[i64; 1024], slot: i64, values: &[i64; 1024]) -> i64
        = |slots: &[i64; 1024], slot: i64, values: &[i64; 1024]| {
            let mut maximum = i64::MIN;
            for (row_slot, value) in slots.iter().zip(values) {
                maximum = maximum.max(if *row_slot == slot { *value } else { i64::MIN });
            }
            maximum
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quire_codec::{Backend, limit_backend};

    use super::*;

    fn vector(values: &[i64]) -> Box<[i64; 1024]> {
        let mut vector = Box::new([0; 1024]);
        vector.copy_from_slice(values);
        vector
    }

    /// What `fold` makes of the values of each slot, row by row.
    fn expected(
        rows: &[(i64, i64, i64)],
        kept: &RowMask,
        domains: (usize, usize),
        start: i64,
        fold: impl Fn(i64, i64) -> i64,
    ) -> Vec<i64> {
        let mut slots = vec![start; domains.0 * domains.1];
        for (row, (one, other, value)) in rows.iter().enumerate() {
            if kept[row / 64] >> (row % 64) & 1 == 1 {
                let slot = *one as usize * domains.1 + *other as usize;
                slots[slot] = fold(slots[slot], *value);
            }
        }
        slots
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn slots_get_what_their_rows_have(
            domains in prop_oneof![Just((1_usize, 1_usize)), Just((2, 3)), Just((3, 4)), Just((20, 7))],
            draws in proptest::collection::vec((any::<u16>(), any::<u16>(), any::<i64>()), 1024),
            kept in any::<[u64; 16]>(),
        ) {
            let code = |draw: u16, domain: usize| i64::from(draw) % domain as i64;
            let rows: Vec<(i64, i64, i64)> = draws
                .iter()
                .map(|(one, other, value)| (code(*one, domains.0), code(*other, domains.1), *value))
                .collect();
            let column = |pick: fn(&(i64, i64, i64)) -> i64| {
                vector(&rows.iter().map(pick).collect::<Vec<_>>())
            };
            let values = column(|row| row.2);
            let expected = |start, fold: fn(i64, i64) -> i64| expected(&rows, &kept, domains, start, fold);
            for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
                limit_backend(backend);
                let mut slots = RowSlots::default();
                slots.retain(&[0; 16]);
                slots.clear();
                slots.divide(&column(|row| row.0), domains.0);
                slots.divide(&column(|row| row.1), domains.1);
                slots.retain(&kept);
                let filled = |start| vec![start; domains.0 * domains.1];
                let (mut counts, mut sums) = (filled(5), filled(-1));
                let (mut minima, mut maxima) = (filled(i64::MAX), filled(i64::MIN));
                slots.count(&mut counts);
                slots.sum(&values, &mut sums);
                slots.lower(&values, &mut minima);
                slots.raise(&values, &mut maxima);
                prop_assert_eq!(counts, expected(5, |count, _| count + 1));
                prop_assert_eq!(sums, expected(-1, i64::wrapping_add));
                prop_assert_eq!(minima, expected(i64::MAX, i64::min));
                prop_assert_eq!(maxima, expected(i64::MIN, i64::max));
            }
        }
    }
}
