//! `quire check`: a volume, and what it holds.

use std::sync::Arc;

use quire_device::{DataSetVolume, DeviceOptions};
use quire_error::Error;
use quire_store::{CheckReport, Disk, Finding, OpenMode, Volume};
use quire_tables::Engine;

/// Checks the pages of a volume, and the tables or data sets that are made of them.
pub(crate) fn check(disk: Arc<dyn Disk>) -> Result<CheckReport, Error> {
    let volume = Volume::open(disk, OpenMode::ReadOnly)?;
    let mut report = volume.check();
    report.findings.extend(if DataSetVolume::is_in(&volume) {
        findings_in_data_sets(volume)
    } else {
        findings_in_tables(&volume)
    });
    Ok(report)
}

fn findings_in_tables(volume: &Volume) -> Vec<Finding> {
    let findings = Engine::check(volume).into_iter();
    findings
        .map(|finding| Finding {
            invariant: finding.invariant,
            page: finding.page,
            offset: None,
            what: match finding.table {
                Some(table) => format!("table {table:?}: {}", finding.what),
                None => finding.what,
            },
            advice: "restore a backup, or copy out what can still be read",
        })
        .collect()
}

fn findings_in_data_sets(volume: Volume) -> Vec<Finding> {
    let advice = "restore a snapshot or a backup, or copy out the files that can still be read";
    let finding = |invariant, what| Finding {
        invariant,
        page: None,
        offset: None,
        what,
        advice,
    };
    let sets = match DataSetVolume::open(volume, DeviceOptions::default()) {
        Ok(sets) => sets,
        Err(error) => return vec![finding("data_sets_can_be_opened", error.to_string())],
    };
    let findings = sets.check().findings.into_iter();
    findings
        .map(|found| finding(found.invariant, format!("{}: {}", found.set, found.what)))
        .collect()
}
