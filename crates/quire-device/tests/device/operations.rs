//! Random operations, done to a data set and to a model.

use quire_device::{
    AttributeChange, DataSet, ExtendedMode, FileError, InodeKind, NewInode, RenameMode,
};

use crate::model::Model;
use crate::phrases::phrases;
use crate::random::Random;

#[derive(Clone, Debug)]
pub enum Operation {
    Create(u64, Vec<u8>, InodeKind),
    CreateLink(u64, Vec<u8>, Vec<u8>),
    Write(u64, usize, Vec<u8>),
    Resize(u64, usize),
    Punch(u64, usize, usize),
    Allocate(u64, usize, usize),
    Unlink(u64, Vec<u8>),
    RemoveDirectory(u64, Vec<u8>),
    Link(u64, u64, Vec<u8>),
    Rename((u64, Vec<u8>), (u64, Vec<u8>), RenameMode),
    SetExtended(u64, Vec<u8>, Vec<u8>),
    RemoveExtended(u64, Vec<u8>),
    SetMode(u64, u32),
    Open(u64),
    Release(u64),
}

/// An operation upon what there is, mostly.
pub fn any_operation(random: &mut Random, model: &Model) -> Operation {
    let mut inodes: Vec<u64> = model.inodes.keys().copied().collect();
    if random.chance(2) {
        inodes.push(999_999);
    }
    let is = |kind| {
        let all = model.inodes.iter();
        let some = all.filter(move |(_, one)| one.kind == kind);
        some.map(|(inode, _)| *inode).collect::<Vec<u64>>()
    };
    let mut directories = is(InodeKind::Directory);
    let mut files = is(InodeKind::File);
    if files.is_empty() || random.chance(3) {
        files = inodes.clone();
    }
    if random.chance(3) {
        directories = inodes.clone();
    }
    let directory = random.pick(&directories);
    let file = random.pick(&files);
    let name = name(random);
    let (offset, length) = range(random);
    match random.below(100) {
        0..10 => Operation::Create(directory, name, InodeKind::File),
        10..15 => Operation::Create(directory, name, InodeKind::Directory),
        15..17 => {
            let length = 1 + random.below(300) as usize;
            Operation::CreateLink(directory, name, vec![b'x'; length])
        }
        17..45 => Operation::Write(file, offset, random.content(length)),
        // Enough to learn a dictionary from, with `auto`.
        45..47 => Operation::Write(file, offset, phrases(random, 90_000)),
        47..54 => Operation::Resize(file, offset),
        54..60 => Operation::Punch(file, offset, length),
        60..62 => Operation::Allocate(file, offset, length + 1),
        62..69 => Operation::Unlink(directory, name),
        69..72 => Operation::RemoveDirectory(directory, name),
        72..76 => Operation::Link(random.pick(&inodes), directory, name),
        76..84 => {
            let to = (random.pick(&directories), self::name(random));
            let modes = [
                RenameMode::Replace,
                RenameMode::NoReplace,
                RenameMode::Exchange,
            ];
            Operation::Rename((directory, name), to, random.pick(&modes))
        }
        84..88 => {
            let length = random.below(200) as usize;
            Operation::SetExtended(random.pick(&inodes), name, random.content(length))
        }
        88..90 => Operation::RemoveExtended(random.pick(&inodes), name),
        90..92 => Operation::SetMode(random.pick(&inodes), random.below(0o10000) as u32),
        92..96 => Operation::Open(random.pick(&inodes)),
        _ => match model.opened.keys().next() {
            Some(inode) => Operation::Release(*inode),
            None => Operation::Open(file),
        },
    }
}

fn name(random: &mut Random) -> Vec<u8> {
    let short: [&[u8]; 7] = [
        b"a",
        b"b",
        b"c",
        b"d",
        b"e",
        b"\xff\xfe",
        b"a name with spaces",
    ];
    if random.chance(3) {
        return vec![b'n'; 255];
    }
    random.pick(&short).to_vec()
}

/// Records have 4,096 bytes; ranges often begin or end with them.
fn range(random: &mut Random) -> (usize, usize) {
    let mut place = |limit: u64| {
        let number = random.below(limit);
        let number = if random.chance(30) {
            number / 4096 * 4096
        } else {
            number
        };
        number as usize
    };
    (place(40_000), place(20_000))
}

/// Does it to a data set. Returns the number of a new inode, or 0.
pub fn perform(set: &DataSet, operation: &Operation) -> Result<u64, FileError> {
    match operation {
        Operation::Create(directory, name, kind) => {
            let new = NewInode {
                kind: *kind,
                ..NewInode::file(0o640)
            };
            return set.create(*directory, name, &new);
        }
        Operation::CreateLink(directory, name, target) => {
            return set.create_link(*directory, name, target, (0, 0));
        }
        Operation::Write(inode, offset, bytes) => set.write(*inode, *offset as u64, bytes)?,
        Operation::Resize(inode, size) => {
            let change = AttributeChange {
                size: Some(*size as u64),
                ..AttributeChange::default()
            };
            set.set_attributes(*inode, &change)?;
        }
        Operation::Punch(inode, offset, length) => {
            set.punch_hole(*inode, *offset as u64, *length as u64)?;
        }
        Operation::Allocate(inode, offset, length) => {
            set.allocate(*inode, *offset as u64, *length as u64, false)?;
        }
        Operation::Unlink(directory, name) => set.unlink(*directory, name)?,
        Operation::RemoveDirectory(directory, name) => set.remove_directory(*directory, name)?,
        Operation::Link(inode, directory, name) => set.link(*inode, *directory, name)?,
        Operation::Rename(from, to, mode) => {
            set.rename((from.0, &from.1), (to.0, &to.1), *mode)?;
        }
        Operation::SetExtended(inode, name, value) => {
            set.set_extended(*inode, name, value, ExtendedMode::Any)?;
        }
        Operation::RemoveExtended(inode, name) => set.remove_extended(*inode, name)?,
        Operation::SetMode(inode, mode) => {
            let change = AttributeChange {
                mode: Some(*mode),
                ..AttributeChange::default()
            };
            set.set_attributes(*inode, &change)?;
        }
        Operation::Open(inode) => set.open(*inode)?,
        Operation::Release(inode) => set.release(*inode)?,
    }
    Ok(0)
}

/// Does it to both, which must agree.
pub fn perform_both(set: &DataSet, model: &mut Model, operation: &Operation) -> Result<(), String> {
    let found = perform(set, operation);
    let expected = model.perform(operation, *found.as_ref().unwrap_or(&0));
    let told = found.as_ref().err().map(ToString::to_string);
    let code = told.as_deref().and_then(|text| text.split(':').next());
    if code != expected.err() {
        return Err(format!("{operation:?}: {found:?}, expected {expected:?}"));
    }
    Ok(())
}
