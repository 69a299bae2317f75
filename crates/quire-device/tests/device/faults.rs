//! A call of the disk that fails, each in turn: what was synced is there, and nothing half.

use std::io::ErrorKind;
use std::sync::Arc;

use quire_device::{
    DataSet, DataSetCodec, DataSetProperties, DataSetVolume, DeviceOptions, ExtendedMode,
    FileError, NewInode, ROOT_INODE, RenameMode, SynchronousWrites,
};
use quire_store::disk::{Fault, FaultKind};
use quire_store::{OpenMode, SimDisk, Volume, VolumeOptions};

use crate::model::Model;
use crate::operations::{any_operation, perform_both};
use crate::random::{Random, seeds};
use crate::volumes::{
    check, create_on, device_options, new_file, open_on, short_records_on, volume_options,
};

/// Little: batches are written in the middle of operations, too.
const DIRTY_BYTES: usize = 64 << 10;

/// Works on a disk of which call `nth` fails, until an error is told. Returns whether there were as many calls.
fn fail_once(seed: u64, kind: FaultKind, nth: u64, effect: u8) -> Result<bool, String> {
    let mut random = Random(seed);
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let sets = create_on(disk.clone(), DIRTY_BYTES);
    let modes = [SynchronousWrites::Compressed, SynchronousWrites::Logged];
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        compression: DataSetCodec::from_name("lzjb"),
        synchronous: Some(random.pick(&modes)),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let nth = disk.call_count(kind) + nth;
    disk.add_fault(Fault {
        kind,
        nth,
        is_persistent: false,
        error: ErrorKind::Other,
        effect,
    });
    let mut model = Model::new();
    // As of the newest sync, and after each operation since.
    let mut allowed = vec![model.clone()];
    for step in 0..60 {
        let operation = any_operation(&mut random, &model);
        let done = perform_both(&set, &mut model, &operation);
        // What could not be done because of the disk says so.
        if let Err(what) = done {
            if !what.contains("simulated") {
                return Err(format!("step {step}: {what}"));
            }
            break;
        }
        allowed.push(model.reopened());
        if random.chance(30) {
            if set.sync().is_err() {
                break;
            }
            allowed = vec![model.reopened()];
        }
    }
    drop(set);
    drop(sets);
    let image = disk.crash(random.next_u64());
    let sets = open_on(Arc::new(SimDisk::new(image)), DIRTY_BYTES)?;
    check(&sets)?;
    let set = sets.open_set("data").map_err(|error| error.to_string())?;
    if allowed.iter().all(|model| model.compare(&set).is_err()) {
        return Err("the state after no operation".to_owned());
    }
    Ok(disk.call_count(kind) > nth)
}

#[test]
fn a_call_that_fails_loses_nothing_that_was_synced() {
    for seed in seeds(2) {
        for kind in [FaultKind::Write, FaultKind::Sync, FaultKind::SetLen] {
            for nth in 0..60 {
                let effect = if nth % 2 == 0 { 0 } else { 200 };
                match fail_once(seed, kind, nth, effect) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(what) => {
                        panic!("QUIRE_SEED={seed} QUIRE_CASES=1, {kind:?} {nth} {effect}: {what}")
                    }
                }
            }
        }
    }
}

/// Inodes that are in different leaves of the tree, because of long attributes between them.
fn spread_inodes() -> Vec<u8> {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set) = short_records_on(disk.clone(), 4 << 20);
    for number in 0..4 {
        let name = format!("directory {number}");
        let new = NewInode::directory(0o755);
        let directory = set.create(ROOT_INODE, name.as_bytes(), &new).unwrap();
        let file = new_file(&set, &format!("file {number}"));
        if number % 2 == 0 {
            set.create(directory, b"inside", &NewInode::file(0o600))
                .unwrap();
        }
        for inode in [directory, file] {
            for attribute in 0..12_u8 {
                let name = [b'a' + attribute];
                set.set_extended(inode, &name, &[7; 3000], ExtendedMode::Any)
                    .unwrap();
            }
        }
    }
    set.sync().unwrap();
    drop(set);
    drop(sets);
    disk.to_bytes()
}

type Change = (&'static str, fn(&DataSet) -> Result<(), FileError>);

/// Each reads several inodes.
const CHANGES: [Change; 7] = [
    ("unlink", |set| set.unlink(ROOT_INODE, b"file 1")),
    ("rmdir", |set| {
        set.remove_directory(ROOT_INODE, b"directory 1")
    }),
    ("replace", |set| {
        let to = (ROOT_INODE, &b"file 2"[..]);
        set.rename((ROOT_INODE, b"file 1"), to, RenameMode::Replace)
    }),
    ("move", |set| {
        let directory = set.lookup(ROOT_INODE, b"directory 2")?;
        let to = (directory, &b"moved"[..]);
        set.rename((ROOT_INODE, b"directory 0"), to, RenameMode::Replace)
    }),
    ("exchange", |set| {
        let directory = set.lookup(ROOT_INODE, b"directory 2")?;
        let to = (directory, &b"inside"[..]);
        set.rename((ROOT_INODE, b"directory 0"), to, RenameMode::Exchange)
    }),
    ("link", |set| {
        let file = set.lookup(ROOT_INODE, b"file 3")?;
        let directory = set.lookup(ROOT_INODE, b"directory 0")?;
        set.link(file, directory, b"again")
    }),
    ("create", |set| {
        let directory = set.lookup(ROOT_INODE, b"directory 0")?;
        set.create(directory, b"new", &NewInode::directory(0o755))
            .map(|_| ())
    }),
];

#[test]
fn a_change_that_cannot_read_an_inode_leaves_nothing_half() {
    let image = spread_inodes();
    for (name, change) in CHANGES {
        for nth in 0.. {
            let disk = Arc::new(SimDisk::new(image.clone()));
            let sets = open_on(disk.clone(), 4 << 20).unwrap();
            let set = sets.open_set("data").unwrap();
            disk.add_fault(Fault {
                kind: FaultKind::Read,
                nth: disk.call_count(FaultKind::Read) + nth,
                is_persistent: false,
                error: ErrorKind::Other,
                effect: 0,
            });
            let is_done = change(&set).is_ok();
            disk.clear_faults();
            set.sync().unwrap();
            assert_eq!(check(&sets), Ok(()), "{name}, read {nth} failed");
            if is_done {
                assert!(nth > 0, "{name} reads no page");
                break;
            }
        }
    }
}

#[test]
fn an_inode_whose_removal_was_interrupted_cannot_be_opened() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set) = short_records_on(disk.clone(), 4 << 20);
    let file = new_file(&set, "file");
    // More records than one step of a removal has.
    for index in 0..9000_u64 {
        set.write(file, index * 4096, b"x").unwrap();
    }
    set.sync().unwrap();
    disk.add_fault(Fault {
        kind: FaultKind::Write,
        nth: disk.call_count(FaultKind::Write),
        is_persistent: true,
        error: ErrorKind::Other,
        effect: 0,
    });
    assert!(set.unlink(ROOT_INODE, b"file").is_err());
    let opened = set.open(file);
    assert!(
        matches!(opened, Err(FileError::NotFound { .. })),
        "{opened:?}"
    );
    drop(set);
    drop(sets);
}

#[test]
fn a_data_set_that_could_not_be_removed_keeps_what_was_not_written_yet() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (sets, set) = short_records_on(disk.clone(), 4 << 20);
    let file = new_file(&set, "file");
    set.sync().unwrap();
    set.write(file, 0, b"not written yet").unwrap();
    drop(set);
    disk.add_fault(Fault {
        kind: FaultKind::Write,
        nth: disk.call_count(FaultKind::Write),
        is_persistent: true,
        error: ErrorKind::Other,
        effect: 0,
    });
    assert!(sets.destroy_set("data").is_err());
    let set = sets.open_set("data").unwrap();
    assert_eq!(set.read(file, 0, 100).unwrap(), b"not written yet");
}

/// Without caches, each look reads the disk again: also the one between the first record of a write and the last.
#[test]
fn a_write_that_fails_in_its_middle_is_read_as_it_will_be_written() {
    let image = {
        let disk = Arc::new(SimDisk::new(Vec::new()));
        let (sets, set) = short_records_on(disk.clone(), 4 << 20);
        let file = new_file(&set, "file");
        set.write(file, 0, &Random(5).bytes(20_000)).unwrap();
        set.sync().unwrap();
        drop(set);
        drop(sets);
        disk.to_bytes()
    };
    type Change = fn(&DataSet, u64) -> Result<(), FileError>;
    let changes: [Change; 2] = [
        |set, file| set.write(file, 100, &[7; 9000]),
        |set, file| set.punch_hole(file, 100, 14_000),
    ];
    for change in changes {
        for nth in 0.. {
            let disk = Arc::new(SimDisk::new(image.clone()));
            let options = VolumeOptions {
                cache_bytes: 0,
                ..volume_options()
            };
            let volume = Volume::open_with(disk.clone(), OpenMode::ReadWrite, options).unwrap();
            let options = DeviceOptions {
                record_cache_bytes: 0,
                ..device_options(4 << 20)
            };
            let sets = DataSetVolume::open(volume, options).unwrap();
            let set = sets.open_set("data").unwrap();
            let file = set.lookup(ROOT_INODE, b"file").unwrap();
            disk.add_fault(Fault {
                kind: FaultKind::Read,
                nth: disk.call_count(FaultKind::Read) + nth,
                is_persistent: false,
                error: ErrorKind::Other,
                effect: 0,
            });
            let is_done = change(&set, file).is_ok();
            disk.clear_faults();
            let before = set.read(file, 0, usize::MAX).unwrap();
            set.sync().unwrap();
            let after = set.read(file, 0, usize::MAX).unwrap();
            assert!(before == after, "read {nth} failed");
            assert_eq!(check(&sets), Ok(()));
            if is_done {
                assert!(nth > 3);
                break;
            }
        }
    }
}
