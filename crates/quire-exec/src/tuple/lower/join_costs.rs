//! What joins cost beside their inputs, in nanoseconds: by the tuple engine, and by batches.
//!
//! Of the two sides nothing is asked but how many rows they have, and of how many bytes. So the planner compares orders of joins by what the
//! executors themselves go by, compression included (paper 1 §4.2).

use super::partitioning::dividing_again_ns;
use super::relation_size::RelationSize;
use super::spilling::spilling_ns;
use crate::costs::{Cost, CostModel};
use crate::tuple::Workspace;

/// What the caches of a processor keep.
pub(super) const CACHE_BYTES: f64 = 2_097_152.0;
/// Bytes of a key in a hash table, with the room that this has and what is found there.
const KEY_BYTES: f64 = 96.0;
/// Places of memory that are looked at for a key: its bucket, and what is found.
const PLACES: f64 = 2.0;
/// Batches wait for several keys at a time.
pub(super) const BATCH_WAITS: f64 = 0.4;

/// The rows of one side of a join of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchSide {
    pub size: RelationSize,
    /// Nanoseconds of putting the values of one row into a batch ([`batch_fields_ns`]).
    pub fields_ns: f64,
}

/// Nanoseconds of putting so many numbers and texts into a batch.
pub fn batch_fields_ns(costs: &CostModel, number_count: usize, text_count: usize) -> f64 {
    number_count as f64 * costs.of(Cost::BatchField) + text_count as f64 * costs.of(Cost::BatchText)
}

/// What joins cost that have so much memory each.
#[derive(Clone, Copy, Debug)]
pub struct JoinCosts<'a> {
    costs: &'a CostModel,
    workspace: &'a Workspace,
}

impl<'a> JoinCosts<'a> {
    /// By these costs, with the memory of `workspace`.
    pub fn new(costs: &'a CostModel, workspace: &'a Workspace) -> Self {
        Self { costs, workspace }
    }

    /// A join of the tuple engine that keeps some rows and looks for others. Pairs are registers of both, and cost nothing.
    pub fn hashing_ns(self, kept: RelationSize, looking: RelationSize) -> f64 {
        let kept_ns = self.costs.of(Cost::KeepRow) + self.costs.of(Cost::HashInsert);
        // If the kept rows are too many, those that look are written, too.
        let all = kept.rows + looking.rows;
        let mean_bytes = (kept.rows * kept.row_bytes + looking.rows * looking.row_bytes) / all;
        let spilled = (all, mean_bytes);
        let spilling_ns = spilling_ns(self.workspace, (kept.rows, kept.row_bytes), spilled)
            + dividing_again_ns(self.workspace, kept, looking);
        let finding_ns =
            self.costs.of(Cost::HashProbe) + self.waiting_ns(kept.rows, kept.row_bytes);
        kept.rows * kept_ns + looking.rows * finding_ns + spilling_ns
    }

    /// A join of the tuple engine of rows that come in order, by so many keys; of the right ones those of a key are kept. Keys are compared as bytes, which are
    /// made of each row.
    pub fn merging_ns(self, left_rows: f64, right_rows: f64, key_count: usize) -> f64 {
        let compare_ns = self.costs.of(Cost::Compare);
        let key_ns = self.costs.of(Cost::Compute) * key_count as f64;
        left_rows * (2.0 * compare_ns + key_ns)
            + right_rows * (compare_ns + key_ns + self.costs.of(Cost::KeepRow))
    }

    /// A join of batches that keeps some rows, looks for others, and makes so many pairs. The scans of the rows that look leave out those whose
    /// keys are not kept, before these wait for memory.
    pub fn batch_hashing_ns(self, kept: BatchSide, looking: BatchSide, pairs: f64) -> f64 {
        let found = pairs.min(looking.size.rows);
        self.batch_finding_ns(kept.size, (looking.size.rows, found), pairs)
            + kept.size.rows * kept.fields_ns
            + pairs * (kept.fields_ns + looking.fields_ns)
    }

    /// Keeping rows and finding them by batches: how many look, and how many of these look into memory.
    pub(super) fn batch_finding_ns(
        self,
        kept: RelationSize,
        (looking, waiting): (f64, f64),
        pairs: f64,
    ) -> f64 {
        let waiting_ns = BATCH_WAITS * self.waiting_ns(kept.rows, kept.row_bytes);
        (kept.rows + looking) * self.costs.of(Cost::BatchHashRow)
            + (kept.rows + waiting) * waiting_ns
            + pairs * self.costs.of(Cost::BatchCompute)
    }

    /// How long finding one of so many keys waits for memory, if what belongs to a key has so many bytes.
    pub(super) fn waiting_ns(self, keys: f64, values_bytes: f64) -> f64 {
        let bytes = keys * (KEY_BYTES + values_bytes);
        let missing = 1.0 - (CACHE_BYTES / bytes.max(CACHE_BYTES));
        missing * PLACES * self.costs.of(Cost::CacheMiss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn size(rows: f64, row_bytes: f64) -> RelationSize {
        RelationSize { rows, row_bytes }
    }

    fn tuple_ns(kept: RelationSize, looking: RelationSize, memory_bytes: usize) -> f64 {
        let costs = CostModel::default();
        let workspace = Workspace::of(memory_bytes, &costs);
        JoinCosts::new(&costs, &workspace).hashing_ns(kept, looking)
    }

    fn batch_ns(kept: RelationSize, looking: RelationSize, pairs: f64) -> f64 {
        let costs = CostModel::default();
        let workspace = Workspace::of(1024 * MIB, &costs);
        let side = |size| BatchSide {
            size,
            fields_ns: batch_fields_ns(&costs, 2, 0),
        };
        JoinCosts::new(&costs, &workspace).batch_hashing_ns(side(kept), side(looking), pairs)
    }

    #[test]
    fn joins_in_the_caches_cost_what_their_rows_do() {
        // 1,000 rows of 100 bytes with their keys are less than the caches: nothing waits.
        let (kept, looking) = (size(1_000.0, 4.0), size(50_000.0, 4.0));
        // Keeping and inserting is 60 + 90, looking 50.
        let expected = 1_000.0 * 150.0 + 50_000.0 * 50.0;
        assert_eq!(tuple_ns(kept, looking, 1024 * MIB), expected);
        // Each row 95; a kept one 2 fields of 19; a pair 4 fields, and 6.5.
        let expected = 51_000.0 * 95.0 + 1_000.0 * 38.0 + 10_000.0 * (76.0 + 6.5);
        assert_eq!(batch_ns(kept, looking, 10_000.0), expected);
    }

    /// Comparing twice for 8, and 12 for the key; on the right side once, and 60 for the row.
    #[test]
    fn rows_in_order_wait_for_nothing() {
        let costs = CostModel::default();
        let workspace = Workspace::of(MIB, &costs);
        let of = JoinCosts::new(&costs, &workspace);
        assert_eq!(of.merging_ns(1e6, 3e5, 1), 1e6 * 28.0 + 3e5 * 80.0);
        assert_eq!(of.merging_ns(1e6, 3e5, 2), 1e6 * 40.0 + 3e5 * 92.0);
        assert!(of.merging_ns(1e6, 3e5, 1) < tuple_ns(size(3e5, 8.0), size(1e6, 8.0), 1024 * MIB));
    }

    #[test]
    fn more_rows_and_more_bytes_cost_more() {
        let sizes = [
            (1e3, 10.0),
            (1e4, 10.0),
            (1e5, 10.0),
            (1e5, 60.0),
            (1e6, 60.0),
            (1e6, 300.0),
        ];
        let looking = size(2e6, 20.0);
        for memory_bytes in [4 * MIB, 64 * MIB, 1024 * MIB] {
            for pair in sizes.windows(2) {
                let [less, more] = [pair[0], pair[1]].map(|(rows, bytes)| size(rows, bytes));
                let of = |kept| tuple_ns(kept, looking, memory_bytes);
                assert!(of(less) < of(more), "{less:?} {more:?} in {memory_bytes}");
                assert!(batch_ns(less, looking, 1e6) < batch_ns(more, looking, 1e6));
                let of = |looking| tuple_ns(size(5e4, 20.0), looking, memory_bytes);
                assert!(of(less) < of(more) || less.rows == more.rows);
            }
        }
        assert!(batch_ns(size(1e4, 8.0), looking, 1e5) < batch_ns(size(1e4, 8.0), looking, 2e5));
    }

    /// Of 32 MiB half is room. With 100 bytes besides, 100,000 rows of 24 bytes are 12 MB and fit; 200,000 are 25 MB, and 100,000 of 400 bytes are 50 MB: with these, both
    /// sides are written and read.
    #[test]
    fn bytes_decide_which_side_is_kept_where_memory_is_short() {
        let (few, many) = (size(1e5, 24.0), size(2e5, 24.0));
        assert!(tuple_ns(few, many, 32 * MIB) < tuple_ns(many, few, 32 * MIB));
        let (wide, narrow) = (size(1e5, 400.0), size(1.2e5, 24.0));
        assert!(tuple_ns(narrow, wide, 32 * MIB) < tuple_ns(wide, narrow, 32 * MIB));
        // Records have 24 bytes besides, and a KiB is written and read for 1,500 and 600, and for the 64th part of a seek of 1,000.
        let spilled_kib = (1e5 * 424.0 + 1.2e5 * 48.0) / 1024.0;
        let spilling_ns = tuple_ns(wide, narrow, 32 * MIB) - tuple_ns(wide, narrow, 1024 * MIB);
        let expected = spilled_kib * (2_100.0 + 1_000.0 / 64.0);
        assert!(
            (spilling_ns / expected - 1.0).abs() < 1e-9,
            "{spilling_ns} {expected}"
        );
    }

    /// A kept table of `n` keys with 4 bytes each takes 100 n bytes; of those beyond 2 MiB a look waits for twice 90 ns. At 41,943.04 keys half of it is
    /// beyond: 90 ns.
    #[test]
    fn looks_wait_for_the_part_of_the_table_that_is_in_no_cache() {
        let costs = CostModel::default();
        let workspace = Workspace::of(1024 * MIB, &costs);
        let waiting_ns = |keys| JoinCosts::new(&costs, &workspace).waiting_ns(keys, 4.0);
        assert_eq!(waiting_ns(20_971.0), 0.0);
        assert!((waiting_ns(41_943.04) - 90.0).abs() < 1e-6);
        assert!((waiting_ns(209_715.2) - 162.0).abs() < 1e-6);
    }

    /// Rows without a partner do not wait: of a million rows that look into a table of 209,715.2 keys and 4 bytes each, 100,000 find something.
    #[test]
    fn batches_wait_for_rows_that_are_found() {
        let (kept, looking) = (size(209_715.2, 4.0), size(1e6, 4.0));
        let few = batch_ns(kept, looking, 1e5);
        let all = batch_ns(kept, looking, 1e6);
        // 900,000 pairs of 4 fields and one expression, and as many rows that wait 0.4 times 162 ns.
        let expected = 9e5 * (76.0 + 6.5 + 0.4 * 162.0);
        assert!(((all - few) / expected - 1.0).abs() < 1e-9, "{few} {all}");
    }
}
