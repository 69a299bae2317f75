//! Partitions of a join, and whether one is divided again.
//!
//! A partition of the right side that does not fit memory is divided by other bits of the hashes, together with its left side, or kept part by part, for
//! each of which the left side is read again. What costs less is done. Dividing does nothing for rows of one key: where most rows of a partition
//! have come into one of its parts, that is not divided again.

use super::kept_rows::KeptRows;
use super::spill::{
    IteratorSpillFile, LEVELS_MAX, Partitions, STREAMS, SpillCosts, SpillStream, Workspace,
};
use crate::avm::{Cancellation, Trap};
use crate::key_hash::hash_of;

/// Rows of both sides whose hashes have some bits in common.
pub(super) struct JoinPartition {
    pub(super) right: SpillStream,
    pub(super) left: SpillStream,
    /// How often they were divided.
    level: u32,
    /// Whether it is believed to have several keys.
    has_many_keys: bool,
}

/// In front of the key of a right row: whether it has one.
pub(super) const NO_KEY: u8 = 0;
pub(super) const KEY: u8 = 1;

/// The key of a right row, of what its record has.
pub(super) fn right_key(marked: &[u8]) -> Option<&[u8]> {
    match marked.split_first() {
        Some((&KEY, key)) => Some(key),
        _ => None,
    }
}

/// The partitions of two sides that were divided alike, so many times.
pub(super) fn partitions_of(
    level: u32,
    right: Vec<SpillStream>,
    left: Vec<SpillStream>,
) -> Vec<JoinPartition> {
    let all_rows: usize = right.iter().map(SpillStream::record_count).sum();
    let partitions = right.into_iter().zip(left);
    let partitions = partitions.map(|(right, left)| JoinPartition {
        // Less than three quarters of what there was.
        has_many_keys: right.record_count() < all_rows - all_rows / 4,
        right,
        left,
        level,
    });
    partitions.collect()
}

impl JoinPartition {
    /// Whether its right side takes more than memory and to divide both sides again costs less than to read the left one for each part of the right.
    pub(super) fn is_to_be_divided(&self, workspace: &Workspace) -> bool {
        let right_bytes = self.right.record_bytes();
        let kept_bytes = KeptRows::expected_bytes(self.right.record_count(), right_bytes);
        // A part has one row at least.
        let part_count = workspace.part_count(kept_bytes as f64);
        let part_count = part_count.min(self.right.record_count() as f64);
        let again = AgainCosts::of(
            &workspace.costs,
            part_count,
            (right_bytes as f64, self.left.record_bytes() as f64),
        );
        self.has_many_keys && self.level < LEVELS_MAX && again.dividing_ns < again.rereading_ns
    }

    /// The same rows, divided by other bits.
    pub(super) fn divided(
        self,
        file: &mut IteratorSpillFile,
        cancellation: &Cancellation,
    ) -> Result<Vec<JoinPartition>, Trap> {
        cancellation.check()?;
        let of_right = |marked: &[u8]| hash_of(right_key(marked).unwrap_or_default());
        let (level, right) = divided_stream(&self.right, self.level, of_right, file)?;
        let (_, left) = divided_stream(&self.left, self.level, hash_of, file)?;
        Ok(partitions_of(level, right, left))
    }
}

/// The records of a stream by the hashes of their keys.
fn divided_stream(
    stream: &SpillStream,
    level: u32,
    hash: impl Fn(&[u8]) -> u64,
    file: &mut IteratorSpillFile,
) -> Result<(u32, Vec<SpillStream>), Trap> {
    let mut partitions = Partitions::new(level);
    let mut records = stream.reader();
    while records.advance(file)? {
        let key = records.key();
        partitions.push(file, hash(key), key, records.row())?;
    }
    partitions.finish(file)
}

/// What becomes of a partition whose right side does not fit, in nanoseconds.
pub(super) struct AgainCosts {
    /// Writing and reading both sides once more; if the new parts do not fit either, more than that.
    pub(super) dividing_ns: f64,
    /// Reading the left side again for each part but the first.
    pub(super) rereading_ns: f64,
}

impl AgainCosts {
    /// Of a right side that is kept in so many parts, and of the bytes of both sides.
    pub(super) fn of(costs: &SpillCosts, part_count: f64, bytes: (f64, f64)) -> Self {
        let (right_kib, left_kib) = (bytes.0 / 1024.0, bytes.1 / 1024.0);
        let again = (part_count - 1.0).max(0.0);
        // How often all of it is divided until a part fits.
        let passes = part_count.max(1.0).log(STREAMS as f64).ceil();
        Self {
            dividing_ns: passes * (right_kib + left_kib) * (costs.write_ns + costs.read_ns),
            rereading_ns: again * left_kib * costs.read_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: SpillCosts = SpillCosts {
        write_ns: 1500.0,
        read_ns: 600.0,
        seek_ns: 0.0,
        pack_ns: 1600.0,
        unpack_ns: 400.0,
    };

    #[test]
    fn few_parts_are_read_again_and_many_divided() {
        let of = |parts, bytes| {
            let again = AgainCosts::of(&COSTS, parts, bytes);
            again.dividing_ns < again.rereading_ns
        };
        let mebibyte = 1_048_576.0;
        // Twice two sides, written and read, or the left one read once more.
        assert!(!of(2.0, (mebibyte, mebibyte)));
        assert!(of(12.0, (mebibyte, mebibyte)));
        // A left side of a few rows costs nothing to read.
        assert!(!of(12.0, (mebibyte, 1024.0)));
        // What fits is not divided.
        assert!(!of(1.0, (mebibyte, mebibyte)));
    }
}
