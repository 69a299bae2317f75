use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use quire_device::{DataSetProperties, NewInode, ROOT_INODE};
use quire_store::MemDisk;
use quire_store::disk::{DiskCall, HookedDisk};

use crate::model::Model;
use crate::operations::{Operation, any_operation, perform_both};
use crate::random::Random;
use crate::volumes::{check, create_on, new_file, open_on, short_records_on};

/// Threads with a directory each, one that syncs, and one that takes and removes snapshots, in little memory.
#[test]
fn threads_do_not_disturb_each_other() {
    let sets = Arc::new(create_on(Arc::new(MemDisk::new()), 64 << 10));
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let workers: Vec<_> = (0..3_u64)
        .map(|number| {
            let set = Arc::clone(&set);
            thread::spawn(move || {
                let mut random = Random(number);
                let name = format!("{number}");
                let new = NewInode::directory(0o755);
                let own = set.create(ROOT_INODE, name.as_bytes(), &new).unwrap();
                let mut model = Model::new();
                // The model has the thread's own directory only, as its root's only name.
                let create = Operation::Create(ROOT_INODE, name.into_bytes(), new.kind);
                model.perform(&create, own).unwrap();
                for _ in 0..300 {
                    let operation = any_operation(&mut random, &model);
                    if touches_root(&operation) {
                        continue;
                    }
                    perform_both(&set, &mut model, &operation).unwrap();
                }
                model.inodes.remove(&ROOT_INODE);
                model
            })
        })
        .collect();
    let syncs = {
        let set = Arc::clone(&set);
        thread::spawn(move || (0..40).for_each(|_| set.sync().unwrap()))
    };
    for round in 0..20 {
        let name = format!("data@{round}");
        sets.snapshot(&name).unwrap();
        let snapshot = sets.open_set(&name).unwrap();
        snapshot.read_directory(ROOT_INODE, None, 100).unwrap();
        drop(snapshot);
        sets.destroy_snapshot(&name).unwrap();
    }
    syncs.join().unwrap();
    for worker in workers {
        let model = worker.join().unwrap();
        for (inode, expected) in &model.inodes {
            let attributes = set.attributes(*inode).unwrap();
            assert_eq!(attributes.kind, expected.kind);
            if !expected.content.is_empty() {
                let content = set.read(*inode, 0, usize::MAX).unwrap();
                assert!(content == expected.content, "inode {inode}");
            }
        }
    }
    sets.sync().unwrap();
    assert_eq!(check(&sets), Ok(()));
}

/// Whether it is about the root directory, which the threads share.
fn touches_root(operation: &Operation) -> bool {
    match operation {
        Operation::Link(inode, directory, _) => *inode == ROOT_INODE || *directory == ROOT_INODE,
        Operation::Rename(from, to, _) => from.0 == ROOT_INODE || to.0 == ROOT_INODE,
        Operation::Open(inode) | Operation::Release(inode) => *inode == ROOT_INODE,
        Operation::Create(directory, ..)
        | Operation::CreateLink(directory, ..)
        | Operation::Unlink(directory, _)
        | Operation::RemoveDirectory(directory, _) => *directory == ROOT_INODE,
        Operation::SetExtended(inode, ..)
        | Operation::RemoveExtended(inode, _)
        | Operation::SetMode(inode, _) => *inode == ROOT_INODE,
        Operation::Write(inode, ..)
        | Operation::Resize(inode, _)
        | Operation::Punch(inode, ..)
        | Operation::Allocate(inode, ..) => *inode == ROOT_INODE,
    }
}

/// While one thread waits for the disk to look at a cold file, others go on with files in memory.
#[test]
fn a_look_at_a_cold_file_does_not_hold_up_others() {
    let disk = MemDisk::new();
    let image = {
        let disk = Arc::new(disk);
        let (sets, set) = short_records_on(disk.clone(), 4 << 20);
        for number in 0..2000 {
            let file = new_file(&set, &format!("file {number} {:0100}", 0));
            set.write(file, 0, b"content").unwrap();
        }
        set.sync().unwrap();
        drop(set);
        drop(sets);
        disk.to_bytes()
    };
    let is_closed = Arc::new(AtomicBool::new(false));
    let waiting = Arc::new(AtomicU64::new(0));
    let disk = HookedDisk::new(MemDisk::from_bytes(image), {
        let (is_closed, waiting) = (Arc::clone(&is_closed), Arc::clone(&waiting));
        move |call| {
            while call == DiskCall::Read && is_closed.load(Ordering::SeqCst) {
                waiting.fetch_add(1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    let sets = open_on(Arc::new(disk), 4 << 20).unwrap();
    let set = sets.open_set("data").unwrap();
    let hot = new_file(&set, "hot");
    set.write(hot, 0, b"in memory").unwrap();
    for look in [
        |set: &quire_device::DataSet| set.attributes(500).map(|_| ()),
        |set: &quire_device::DataSet| set.read(1000, 0, 10).map(|_| ()),
        |set: &quire_device::DataSet| {
            let name = format!("file 1700 {:0100}", 0);
            set.lookup(ROOT_INODE, name.as_bytes()).map(|_| ())
        },
    ] {
        is_closed.store(true, Ordering::SeqCst);
        waiting.store(0, Ordering::SeqCst);
        let cold = {
            let set = Arc::clone(&set);
            thread::spawn(move || look(&set).unwrap())
        };
        while waiting.load(Ordering::SeqCst) == 0 {
            assert!(!cold.is_finished(), "nothing was read from the disk");
            thread::yield_now();
        }
        let other = {
            let set = Arc::clone(&set);
            thread::spawn(move || {
                set.write(hot, 3, b"still ").unwrap();
                set.read(hot, 0, 9).unwrap()
            })
        };
        let start = std::time::Instant::now();
        while !other.is_finished() && start.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
        let was_held_up = !other.is_finished();
        is_closed.store(false, Ordering::SeqCst);
        cold.join().unwrap();
        assert_eq!(other.join().unwrap(), b"in still ");
        assert!(!was_held_up);
    }
}
