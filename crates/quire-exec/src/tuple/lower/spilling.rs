//! What becomes of rows that do not fit memory: whether values are null-suppressed, and whether blocks are compressed (paper 1 §4.2).
//!
//! Null suppression is decided when a query is built, as it is part of how attributes are read. Blocks are compressed or not as the first of them
//! turns out (`iterators/spill`); what is said of them here is what is expected.

use std::sync::Arc;

use crate::tuple::spill::{SpillCounts, Workspace};

/// About what a row takes that is kept, with its key and what finds it, and about what each of its values takes.
pub(super) const ROW_BYTES: f64 = 100.0;
pub(super) const VALUE_BYTES: f64 = 12.0;

/// What is left of a value that is compressed: the paper's rule of thumb.
const COMPRESSED_SHARE: f64 = 0.5;

const KIB: f64 = 1024.0;

/// What a node is expected to write, and what it has written.
#[derive(Debug)]
pub(in crate::tuple) struct Spilling {
    pub(super) expected: Option<ExpectedSpill>,
    pub(super) counts: Arc<SpillCounts>,
}

/// Rows that are expected not to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExpectedSpill {
    /// Bytes of records, before blocks are compressed.
    record_bytes: f64,
    pub(super) is_suppressed: bool,
    pub(super) plain_ns: f64,
    pub(super) packed_ns: f64,
}

impl ExpectedSpill {
    /// What is written and read of so many rows.
    pub(super) fn new(
        row_count: f64,
        column_count: f64,
        suppress_ns: f64,
        workspace: &Workspace,
    ) -> Self {
        let costs = &workspace.costs;
        // Blocks are filled before they are compressed: fewer records are fewer places to go to, smaller blocks are not.
        let seeking_ns = costs.seek_ns * KIB / workspace.block_bytes() as f64;
        let kib_ns = costs.write_ns + costs.read_ns + seeking_ns;
        let values_bytes = row_count * column_count * VALUE_BYTES;
        let saved_ns = values_bytes * (1.0 - COMPRESSED_SHARE) / KIB * kib_ns;
        let is_suppressed = row_count * column_count * suppress_ns < saved_ns;
        let left = if is_suppressed { COMPRESSED_SHARE } else { 1.0 };
        let record_bytes = row_count * ROW_BYTES + values_bytes * left;
        Self {
            record_bytes,
            is_suppressed,
            plain_ns: record_bytes / KIB * kib_ns,
            packed_ns: record_bytes / KIB * (costs.packed_ns(COMPRESSED_SHARE) + seeking_ns),
        }
    }
}

impl Spilling {
    /// What it is expected to do, and what it did.
    pub(in crate::tuple) fn shown(&self) -> Vec<String> {
        let mut shown = Vec::new();
        if let Some(expected) = self.expected {
            let mebibytes = expected.record_bytes / KIB / KIB;
            let (plain_ms, packed_ms) = (expected.plain_ns / 1e6, expected.packed_ns / 1e6);
            let values = if expected.is_suppressed {
                "compressed"
            } else {
                "plain"
            };
            let chosen = if packed_ms < plain_ms {
                "lz4"
            } else {
                "no codec"
            };
            shown.push(format!(
                "spills about {mebibytes:.1} MiB, values {values}, blocks by {chosen} (plain {plain_ms:.1} ms, lz4 {packed_ms:.1} ms)"
            ));
        }
        let (record_bytes, file_bytes) = self.counts.bytes();
        if record_bytes > 0 {
            shown.push(format!("has written {record_bytes} bytes as {file_bytes}"));
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuple::SpillCosts;

    fn workspace(write_ns: f64, read_ns: f64) -> Workspace {
        let costs = SpillCosts {
            write_ns,
            read_ns,
            seek_ns: 0.0,
            pack_ns: 1600.0,
            unpack_ns: 400.0,
        };
        Workspace {
            costs,
            ..Workspace::default()
        }
    }

    #[test]
    fn a_slow_disk_wants_compression_and_a_fast_one_none() {
        // A disk of 1998, of some 8 MB a second, and one that takes a gigabyte.
        let (slow, fast) = (workspace(120_000.0, 120_000.0), workspace(1000.0, 300.0));
        let of = |workspace| ExpectedSpill::new(1e6, 5.0, 6.0, workspace);
        assert!(of(&slow).is_suppressed && of(&slow).packed_ns < of(&slow).plain_ns);
        assert!(of(&fast).packed_ns > of(&fast).plain_ns);
        // Nothing is saved by what costs more than writing.
        assert!(!ExpectedSpill::new(1e6, 5.0, 100.0, &fast).is_suppressed);
    }

    #[test]
    fn more_rows_and_columns_cost_more() {
        let of = |rows, columns| ExpectedSpill::new(rows, columns, 6.0, &workspace(1500.0, 600.0));
        for ns in [
            |it: ExpectedSpill| it.plain_ns,
            |it: ExpectedSpill| it.packed_ns,
        ] {
            assert!(ns(of(1e6, 5.0)) < ns(of(2e6, 5.0)));
            assert!(ns(of(1e6, 5.0)) < ns(of(1e6, 6.0)));
        }
    }

    #[test]
    fn each_block_is_gone_to_however_small_it_is_in_the_file() {
        let of = |memory_bytes, seek_ns| {
            let mut workspace = workspace(1500.0, 600.0);
            workspace.memory_bytes = memory_bytes;
            workspace.costs.seek_ns = seek_ns;
            ExpectedSpill::new(1e6, 5.0, f64::INFINITY, &workspace)
        };
        // Blocks of 64 KiB, and of 4 KiB.
        for (memory_bytes, block_bytes) in [(64 << 20, 65_536.0), (256 << 10, 4_096.0)] {
            let (free, dear) = (of(memory_bytes, 0.0), of(memory_bytes, 13e6));
            let seeks_ns = 1e6 * (ROW_BYTES + 5.0 * VALUE_BYTES) / block_bytes * 13e6;
            for more_ns in [
                dear.plain_ns - free.plain_ns,
                dear.packed_ns - free.packed_ns,
            ] {
                assert!(
                    (more_ns / seeks_ns - 1.0).abs() < 1e-6,
                    "{more_ns} of {seeks_ns}"
                );
            }
        }
    }
}
