//! After a failed write or sync the volume writes nothing more, and reads go on.
#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;
use std::sync::Arc;

use quire_store::disk::{Fault, FaultKind};
use quire_store::{
    BatchWriteError, CommitError, OpenMode, PageKind, SimDisk, Volume, VolumeOptions,
};

fn fail_next(disk: &SimDisk, kind: FaultKind) {
    let nth = disk.call_count(kind);
    disk.add_fault(Fault {
        kind,
        nth,
        is_persistent: false,
        error: ErrorKind::Other,
        effect: 0,
    });
}

#[test]
fn nothing_is_written_after_a_failure() {
    for kind in [FaultKind::Write, FaultKind::Sync] {
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
        let batch = volume.begin().unwrap();
        let page = batch.write(PageKind::Segment, b"kept").unwrap();
        batch.commit().unwrap();
        let batch = volume.begin().unwrap();
        batch.write(PageKind::Segment, b"lost").unwrap();
        fail_next(&disk, kind);
        let error = batch.commit().unwrap_err();
        match kind {
            FaultKind::Sync => assert!(matches!(error, CommitError::Unknown { .. }), "{error}"),
            _ => assert!(
                matches!(error, CommitError::Write(BatchWriteError::Io { .. })),
                "{error}"
            ),
        }
        let operations = disk.journal_len();
        assert!(matches!(
            volume.begin(),
            Err(BatchWriteError::Poisoned { .. })
        ));
        assert!(volume.checkpoint().is_err() && volume.clean().is_err());
        assert_eq!(&*volume.read(page).unwrap(), b"kept");
        assert!(volume.clone().close().is_err());
        drop(volume);
        assert_eq!(
            disk.journal_len(),
            operations,
            "not a byte after {kind:?} failed"
        );
        let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
        assert_eq!(&*volume.read(page).unwrap(), b"kept");
        volume.begin().unwrap().commit().unwrap();
    }
}

/// Threads that are filling the batch when a write fails are told as well.
#[test]
fn a_batch_whose_run_failed_cannot_be_committed() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let options = VolumeOptions {
        run_bytes: 4096,
        ..VolumeOptions::default()
    };
    let volume = Volume::create(disk.clone(), options).unwrap();
    let batch = volume.begin().unwrap();
    batch.write(PageKind::Segment, &[1; 5_000]).unwrap();
    fail_next(&disk, FaultKind::Write);
    let error = batch.write(PageKind::Segment, &[2; 5_000]).unwrap_err();
    assert!(matches!(error, BatchWriteError::Io { .. }), "{error}");
    assert!(batch.write(PageKind::Segment, &[3; 10]).is_err());
    assert!(batch.commit().is_err());
    assert_eq!(volume.stats().page_count, 0);
}
