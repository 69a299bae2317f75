//! Disks that fail at any call, or are full.

use std::io::ErrorKind;
use std::sync::Arc;

use quire_store::SimDisk;
use quire_store::disk::{DiskOperation, Fault, FaultKind};

use super::campaign::RowReport;
use super::verify::verify;
use super::workload::RowWorkload;
use crate::random::TestRandom;

/// Lets a call of the disk fail in each of many workloads, or the disk become full, then crashes the machine.
///
/// # Errors
/// What is wrong, with the numbers that repeat it.
pub fn fail_rows(first_seed: u64, workload_count: u64) -> Result<RowReport, String> {
    let mut report = RowReport::default();
    for seed in first_seed..first_seed + workload_count {
        fail_workload(seed, &mut report)
            .map_err(|what| format!("failing row workload QUIRE_SEED={seed}: {what}"))?;
        report.workloads += 1;
    }
    Ok(report)
}

fn fail_workload(seed: u64, report: &mut RowReport) -> Result<(), String> {
    let mut random = TestRandom::new(seed ^ 0xfa17);
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let mut workload = RowWorkload::new(disk.clone(), seed, false);
    let is_full = random.chance(40);
    if is_full {
        disk.set_quota(Some(8_192 + random.below(400_000)));
    } else {
        disk.add_fault(random_fault(&mut random));
    }
    let result = workload.run(30);
    report.stopped += u64::from(result.is_err());
    disk.clear_faults();
    disk.set_quota(None);
    if is_full && result.is_err() {
        // A full disk takes nothing that was committed, and once there is room everything goes on.
        let went_on = workload.go_on(8);
        went_on.map_err(|what| format!("after {result:?}, with room again: {what}"))?;
    }
    let history = workload.end();
    let may_be_blank = history.created_at.is_none();
    let journal = disk.journal();
    let sync = journal
        .iter()
        .rposition(|operation| *operation == DiskOperation::Sync);
    // The disk as it is has all that has been written; of what a crash leaves, what was synced counts.
    let images = [
        (disk.to_bytes(), journal.len()),
        (disk.crash(random.next_u64()), sync.unwrap_or(0)),
    ];
    for (image, synced_at) in images {
        let allowed = history.allowed_at(usize::MAX, synced_at);
        let recovered = verify(image, &allowed, may_be_blank, random.next_u64())
            .map_err(|what| format!("after {result:?}: {what}"))?;
        report.cases += 1;
        report.staged += u64::from(recovered.was_staged);
    }
    Ok(())
}

fn random_fault(random: &mut TestRandom) -> Fault {
    let kinds = [
        FaultKind::Read,
        FaultKind::Write,
        FaultKind::Sync,
        FaultKind::SetLen,
    ];
    let limit = [20, 80, 300][random.below(3) as usize];
    Fault {
        kind: kinds[random.below(4) as usize],
        nth: random.below(limit),
        is_persistent: random.chance(50),
        error: ErrorKind::Other,
        effect: random.next_u64() as u8,
    }
}
