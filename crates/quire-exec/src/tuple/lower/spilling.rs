//! What becomes of rows that do not fit memory: how they are written, and whether blocks are compressed (paper 1 §4.2).
//!
//! What is null-suppressed of a row is decided when a query is built ([`super::kept`]), as it is part of how attributes are read. Blocks are
//! compressed or not as the first of them turns out (`tuple/spill`); what is said of them here is what is expected.

use std::sync::Arc;

use super::width::COMPRESSED_SHARE;
use crate::tuple::KeptRowShape;
use crate::tuple::spill::{SpillCounts, Workspace};

/// About what a row takes that is kept besides its values, with its key and what finds it.
pub(super) const ROW_BYTES: f64 = 100.0;

/// About what a record has of a row besides its values: its key, and the lengths of both.
pub(super) const RECORD_BYTES: f64 = 24.0;

const KIB: f64 = 1024.0;

/// What a node is expected to write, and what it has written.
#[derive(Debug)]
pub(in crate::tuple) struct Spilling {
    pub(super) expected: Option<ExpectedSpill>,
    pub(super) counts: Arc<SpillCounts>,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpilledForm {
    /// As they are kept: tuples as they are, and these values.
    Kept(SpilledValues),
    /// As registers hold them.
    Registers,
}

/// How many of the values of a kept row are null-suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpilledValues {
    /// There are none besides tuples.
    Absent,
    Plain,
    Some,
    All,
}

impl SpilledForm {
    pub(super) fn of(kept: &KeptRowShape) -> Self {
        let suppressed = kept.values.iter().filter(|value| value.is_suppressed);
        Self::Kept(match (suppressed.count(), kept.values.len()) {
            (_, 0) => SpilledValues::Absent,
            (0, _) => SpilledValues::Plain,
            (suppressed, all) if suppressed < all => SpilledValues::Some,
            _ => SpilledValues::All,
        })
    }

    fn shown(self) -> &'static str {
        match self {
            Self::Kept(SpilledValues::Absent) => "tuples as they are",
            Self::Kept(SpilledValues::Plain) => "values plain",
            Self::Kept(SpilledValues::Some) => "some values compressed",
            Self::Kept(SpilledValues::All) => "values compressed",
            Self::Registers => "rows as they come",
        }
    }
}

/// Rows that are expected not to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExpectedSpill {
    /// Bytes of records, before blocks are compressed.
    record_bytes: f64,
    form: SpilledForm,
    pub(super) plain_ns: f64,
    pub(super) packed_ns: f64,
}

/// What a KiB costs that is written, and read again.
pub(super) fn kib_ns(workspace: &Workspace) -> f64 {
    workspace.costs.write_ns + workspace.costs.read_ns + seeking_ns(workspace)
}

/// Blocks are filled before they are compressed: fewer records are fewer places to go to, smaller blocks are not.
fn seeking_ns(workspace: &Workspace) -> f64 {
    workspace.costs.seek_ns * KIB / workspace.block_bytes() as f64
}

impl ExpectedSpill {
    /// What is written and read of so many rows, each of whose values take so many bytes.
    pub(super) fn new(
        row_count: f64,
        row_bytes: f64,
        form: SpilledForm,
        workspace: &Workspace,
    ) -> Self {
        let record_bytes = row_count * (RECORD_BYTES + row_bytes);
        let packed_ns = workspace.costs.packed_ns(COMPRESSED_SHARE) + seeking_ns(workspace);
        Self {
            record_bytes,
            form,
            plain_ns: record_bytes / KIB * kib_ns(workspace),
            packed_ns: record_bytes / KIB * packed_ns,
        }
    }
}

/// Whether memory has room for so many rows.
pub(super) fn fit(workspace: &Workspace, row_count: f64, row_bytes: f64) -> bool {
    row_count * (ROW_BYTES + row_bytes) <= workspace.room_bytes() as f64
}

/// What it costs to write rows and read them again, if those that are kept do not fit: how many of each, and of how many bytes.
pub(super) fn spilling_ns(workspace: &Workspace, kept: (f64, f64), spilled: (f64, f64)) -> f64 {
    if fit(workspace, kept.0, kept.1) {
        return 0.0;
    }
    let form = SpilledForm::Registers;
    let expected = ExpectedSpill::new(spilled.0, spilled.1, form, workspace);
    expected.plain_ns.min(expected.packed_ns)
}

impl Spilling {
    /// What it is expected to do, and what it did.
    pub(in crate::tuple) fn shown(&self) -> Vec<String> {
        let mut shown = Vec::new();
        if let Some(expected) = self.expected {
            let mebibytes = expected.record_bytes / KIB / KIB;
            let (plain_ms, packed_ms) = (expected.plain_ns / 1e6, expected.packed_ns / 1e6);
            let form = expected.form.shown();
            let chosen = if packed_ms < plain_ms {
                "lz4"
            } else {
                "no codec"
            };
            shown.push(format!(
                "spills about {mebibytes:.1} MiB, {form}, blocks by {chosen} (plain {plain_ms:.1} ms, lz4 {packed_ms:.1} ms)"
            ));
        }
        let (kept_rows, kept_bytes) = self.counts.kept();
        if kept_rows > 0 {
            shown.push(format!("keeps {kept_rows} rows of {kept_bytes} bytes"));
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

    fn expected(row_count: f64, row_bytes: f64, workspace: &Workspace) -> ExpectedSpill {
        ExpectedSpill::new(row_count, row_bytes, SpilledForm::Registers, workspace)
    }

    #[test]
    fn a_slow_disk_wants_compression_and_a_fast_one_none() {
        // A disk of 1998, of some 8 MB a second, and one that takes a gigabyte.
        let (slow, fast) = (workspace(120_000.0, 120_000.0), workspace(1000.0, 300.0));
        let of = |workspace| expected(1e6, 60.0, workspace);
        assert!(of(&slow).packed_ns < of(&slow).plain_ns);
        assert!(of(&fast).packed_ns > of(&fast).plain_ns);
    }

    #[test]
    fn more_and_longer_rows_cost_more() {
        let of = |rows, bytes| expected(rows, bytes, &workspace(1500.0, 600.0));
        for ns in [
            |it: ExpectedSpill| it.plain_ns,
            |it: ExpectedSpill| it.packed_ns,
        ] {
            assert!(ns(of(1e6, 60.0)) < ns(of(2e6, 60.0)));
            assert!(ns(of(1e6, 60.0)) < ns(of(1e6, 72.0)));
        }
    }

    #[test]
    fn each_block_is_gone_to_however_small_it_is_in_the_file() {
        let of = |memory_bytes, seek_ns| {
            let mut workspace = workspace(1500.0, 600.0);
            workspace.memory_bytes = memory_bytes;
            workspace.costs.seek_ns = seek_ns;
            expected(1e6, 60.0, &workspace)
        };
        // Blocks of 64 KiB, and of 4 KiB.
        for (memory_bytes, block_bytes) in [(64 << 20, 65_536.0), (256 << 10, 4_096.0)] {
            let (free, dear) = (of(memory_bytes, 0.0), of(memory_bytes, 13e6));
            let seeks_ns = 1e6 * (RECORD_BYTES + 60.0) / block_bytes * 13e6;
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
