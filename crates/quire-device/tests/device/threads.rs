use std::sync::Arc;
use std::thread;

use quire_device::{DataSetProperties, NewInode, ROOT_INODE};
use quire_store::MemDisk;

use crate::model::Model;
use crate::operations::{Operation, any_operation, perform_both};
use crate::random::Random;
use crate::volumes::{check, create_on};

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
