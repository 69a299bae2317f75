//! What looking up rows of one table costs, for whoever compares many orders of joins.
//!
//! The pages of the table and of its indexes are looked at once. What is asked then, for each order, is arithmetic: which columns are given, and how
//! often. The first look-up of a page reads it; later ones find it if the table fits the pool, compressed as it is (paper 1 §4.2).

use quire_kv::btree::LeafEstimate;
use quire_tables::{RowScanError, RowTable};

use super::lookup::{KeyPrefix, has_exact_keys, key_of};
use super::price::Prices;
use crate::costs::CostModel;

/// A key by whose first columns rows can be looked up.
#[derive(Clone, Debug)]
struct KnownKey {
    /// Its first columns, as far as they may be given.
    ordinals: Vec<usize>,
    /// Of the first column, of the first two, and so on.
    prefixes: Vec<KeyPrefix>,
}

impl KnownKey {
    fn of(
        table: &RowTable,
        index: Option<usize>,
        may_be_given: &[usize],
    ) -> Result<Self, RowScanError> {
        let (ordinals, _) = key_of(table, index);
        let may_be_given =
            |ordinal: &&usize| has_exact_keys(table, **ordinal) && may_be_given.contains(*ordinal);
        let ordinals: Vec<usize> = ordinals.iter().take_while(may_be_given).copied().collect();
        let prefixes = (1..=ordinals.len()).map(|count| KeyPrefix::of(table, index, count));
        let prefixes = prefixes.filter_map(Result::transpose);
        Ok(Self {
            prefixes: prefixes.collect::<Result<_, _>>()?,
            ordinals,
        })
    }
}

/// The keys of a table, and where its pages are.
#[derive(Clone, Debug)]
pub struct TableLookUps {
    leaves: LeafEstimate,
    near: Prices,
    costs: CostModel,
    keys: Vec<KnownKey>,
}

impl TableLookUps {
    /// Of a table of which joins may give the columns of these ordinals; nothing where no key begins with one of them.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn of(
        table: &RowTable,
        may_be_given: &[usize],
        costs: &CostModel,
    ) -> Result<Option<Self>, RowScanError> {
        let keys = std::iter::once(None).chain((0..table.indexes().len()).map(Some));
        let keys = keys.map(|index| KnownKey::of(table, index, may_be_given));
        let mut keys = keys.collect::<Result<Vec<KnownKey>, _>>()?;
        keys.retain(|key| !key.ordinals.is_empty());
        if keys.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            leaves: table.leaves()?,
            near: Prices::in_memory(table, costs, &[]),
            costs: *costs,
            keys,
        }))
    }

    /// Nanoseconds of each of so many look-ups in which the columns are given that `is_given` says, by the cheapest key; nothing where none begins with
    /// them.
    pub fn cost_each_ns(&self, is_given: impl Fn(usize) -> bool, look_ups: f64) -> Option<f64> {
        let given_count = |key: &KnownKey| {
            let ordinals = key.ordinals.iter();
            ordinals.take_while(|ordinal| is_given(**ordinal)).count()
        };
        let prefixes = self.keys.iter();
        let prefixes =
            prefixes.filter_map(|key| key.prefixes.get(given_count(key).checked_sub(1)?));
        let mut prefixes = prefixes.peekable();
        prefixes.peek()?;
        let prices = self.near.with_pages(&self.leaves, &self.costs, look_ups);
        prefixes
            .map(|prefix| prefix.cost_each_ns(&prices))
            .min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use quire_codec::block::BlockCodecId;

    use super::*;
    use crate::costs::Cost;

    const PAGE_BYTES: f64 = 4096.0;

    /// So many pages that are on the disk, and a pool of so many bytes. The key is columns 3 and 5, of which 3 has eight rows for each value; an
    /// index has columns 7 and 3, with two rows for each value of 7.
    fn table(pages: f64, pool_bytes: f64) -> TableLookUps {
        let costs = CostModel::default();
        let prefix = |is_of_index, is_single, rows_each| KeyPrefix {
            is_of_index,
            is_single,
            rows_each,
        };
        TableLookUps {
            leaves: LeafEstimate {
                entries: pages * 40.0,
                is_exact: true,
                leaves: pages,
                image_share: 0.0,
                disk_share: 1.0,
                image_bytes: PAGE_BYTES,
                page_bytes: PAGE_BYTES,
                pool_bytes,
                codec: BlockCodecId::None,
            },
            near: Prices {
                row_ns: costs.of(Cost::Row),
                lookup_ns: costs.of(Cost::Lookup),
                range_ns: costs.of(Cost::RangeStart),
            },
            costs,
            keys: vec![
                KnownKey {
                    ordinals: vec![3, 5],
                    prefixes: vec![prefix(false, false, 8.0), prefix(false, true, 1.0)],
                },
                KnownKey {
                    ordinals: vec![7, 3],
                    prefixes: vec![prefix(true, false, 2.0), prefix(true, false, 1.0)],
                },
            ],
        }
    }

    fn each_ns(table: &TableLookUps, given: &[usize], look_ups: f64) -> Option<f64> {
        table.cost_each_ns(|ordinal| given.contains(&ordinal), look_ups)
    }

    /// A row behind another: 30 ns, and one of 40 rows of a page, that is 300 ns, 4 KiB of 60 ns each that are unpacked, and a quarter of the 20 µs
    /// that 16 KiB take to be read.
    const ROW_NS: f64 = 30.0 + (300.0 + 240.0 + 5_000.0) / 40.0;

    #[test]
    fn a_key_is_found_by_its_first_columns_only() {
        let table = table(100.0, 1e9);
        assert_eq!(each_ns(&table, &[], 10.0), None);
        assert_eq!(each_ns(&table, &[5, 9], 10.0), None);
        let of = |given: &[usize]| each_ns(&table, given, 10.0).unwrap();
        let is_about = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
        // A whole key is one row; a part of it starts for two and reads eight; an index finds two, each of which is looked up.
        let whole = of(&[5, 3]);
        let lookup_ns = whole - ROW_NS;
        assert!(is_about(of(&[3]), 2.0 * lookup_ns + 8.0 * ROW_NS));
        assert!(is_about(of(&[7]), 4.0 * lookup_ns));
        // Both keys are possible: the cheaper one is taken.
        assert_eq!(of(&[3, 5, 7]), whole);
    }

    /// 20,000 look-ups in 1,000 pages of 4 KiB. Where the pool takes all, each page is read once, for 80 µs, and unpacked once. A pool of 500 pages is
    /// full after 2 · 1,000 · 500 / 1,500 = 666.7 look-ups, and half of the others read: 500 + 9,666.7 pages. Frames are a sixteenth of it, 31.25 pages: they are full
    /// after 2 · 1,000 · 31.25 / 1,968.75 = 31.75 look-ups, and 96.875 % of the others unpack: 31.25 + 19,344.25 pages.
    #[test]
    fn a_table_that_fits_the_pool_is_read_once_and_another_again_and_again() {
        let expected = [(1_000.0, 1_000.0, 1_000.0), (500.0, 10_166.67, 19_375.5)];
        for (pool_pages, read, unpacked) in expected {
            let table = table(1_000.0, pool_pages * PAGE_BYTES);
            let found = each_ns(&table, &[3, 5], 20_000.0).unwrap();
            let pages_ns = (80_000.0 * read + 240.0 * unpacked) / 20_000.0;
            let expected = 600.0 + ROW_NS + pages_ns;
            assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
        }
    }

    /// Reading all 40,000 rows of 1,000 pages costs 125 ms where a row is 3 µs, as of a slow processor. 20,000 look-ups cost 96 ms where the pool takes all pages,
    /// and 848 ms where it takes half.
    #[test]
    fn compression_crosses_over_from_reading_to_looking_up() {
        let scan_ns = 40_000.0 * 3_000.0 + 1_000.0 * 5_000.0;
        let looking_ns = |pool_pages: f64| {
            let table = table(1_000.0, pool_pages * PAGE_BYTES);
            20_000.0 * each_ns(&table, &[3, 5], 20_000.0).unwrap()
        };
        assert!(1.2 * looking_ns(1_000.0) < scan_ns);
        assert!(looking_ns(500.0) > 5.0 * scan_ns);
    }

    #[test]
    fn more_pages_never_cost_less() {
        for pool_pages in [100.0, 1_000.0] {
            let mut last = 0.0;
            for pages in [10.0, 100.0, 300.0, 1_000.0, 10_000.0] {
                let table = table(pages, pool_pages * PAGE_BYTES);
                let total = 5_000.0 * each_ns(&table, &[3, 5], 5_000.0).unwrap();
                assert!(total >= last, "{pages} in {pool_pages}: {total} {last}");
                last = total;
            }
        }
    }
}
