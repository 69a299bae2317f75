//! A data set as plain maps, and how it compares with a real one.

use std::collections::BTreeMap;

use quire_device::{DataSet, InodeKind, ROOT_INODE, RenameMode};

use crate::operations::Operation;

#[derive(Clone, Debug, PartialEq)]
pub struct ModelInode {
    pub kind: InodeKind,
    pub content: Vec<u8>,
    pub names: BTreeMap<Vec<u8>, u64>,
    pub extended: BTreeMap<Vec<u8>, Vec<u8>>,
    pub mode: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub inodes: BTreeMap<u64, ModelInode>,
    pub opened: BTreeMap<u64, u64>,
}

type Code = &'static str;

impl Model {
    pub fn new() -> Self {
        let mut inodes = BTreeMap::new();
        inodes.insert(ROOT_INODE, new_inode(InodeKind::Directory, 0o755));
        let opened = BTreeMap::new();
        Self { inodes, opened }
    }

    fn get(&self, inode: u64) -> Result<&ModelInode, Code> {
        self.inodes.get(&inode).ok_or("ENOENT")
    }

    fn file(&mut self, inode: u64) -> Result<&mut ModelInode, Code> {
        let found = self.inodes.get_mut(&inode).ok_or("ENOENT")?;
        match found.kind {
            InodeKind::File => Ok(found),
            InodeKind::Directory => Err("EISDIR"),
            _ => Err("EINVAL"),
        }
    }

    fn directory(&self, inode: u64) -> Result<&ModelInode, Code> {
        let found = self.get(inode)?;
        match found.kind {
            InodeKind::Directory => Ok(found),
            _ => Err("ENOTDIR"),
        }
    }

    fn entry(&self, directory: u64, name: &[u8]) -> Result<u64, Code> {
        self.directory(directory)?
            .names
            .get(name)
            .copied()
            .ok_or("ENOENT")
    }

    /// Names in directories.
    fn name_count(&self, inode: u64) -> u32 {
        let all = self.inodes.values().flat_map(|one| one.names.values());
        all.filter(|one| **one == inode).count() as u32
    }

    fn is_orphan(&self, inode: u64) -> bool {
        inode != ROOT_INODE && self.name_count(inode) == 0
    }

    fn links(&self, inode: u64) -> u32 {
        let found = &self.inodes[&inode];
        if found.kind != InodeKind::Directory {
            return self.name_count(inode);
        }
        if self.is_orphan(inode) {
            return 0;
        }
        let is_directory = |inode: &&u64| self.inodes[*inode].kind == InodeKind::Directory;
        2 + found.names.values().filter(is_directory).count() as u32
    }

    fn parent(&self, directory: u64) -> Option<u64> {
        let mut all = self.inodes.iter();
        let found = all.find(|(_, one)| one.names.values().any(|one| *one == directory));
        found.map(|(inode, _)| *inode)
    }

    /// Is `directory` in `inode`, or the same?
    fn is_inside(&self, directory: u64, inode: u64) -> bool {
        let mut at = Some(directory);
        while let Some(here) = at {
            if here == inode {
                return true;
            }
            at = self.parent(here);
        }
        false
    }

    fn names(&mut self, directory: u64) -> &mut BTreeMap<Vec<u8>, u64> {
        &mut self.inodes.get_mut(&directory).unwrap().names
    }

    fn require_free(&self, directory: u64, name: &[u8]) -> Result<(), Code> {
        self.directory(directory)?;
        if self.is_orphan(directory) {
            return Err("ENOENT");
        }
        match self.entry(directory, name) {
            Ok(_) => Err("EEXIST"),
            Err(_) => Ok(()),
        }
    }

    /// Removes an inode that nobody can reach.
    fn sweep(&mut self, inode: u64) {
        if self.is_orphan(inode) && !self.opened.contains_key(&inode) {
            self.inodes.remove(&inode);
        }
    }

    /// What is left when nobody has anything open.
    pub fn reopened(&self) -> Self {
        let mut model = self.clone();
        model.opened.clear();
        let inodes: Vec<u64> = model.inodes.keys().copied().collect();
        for inode in inodes {
            model.sweep(inode);
        }
        model
    }

    /// Does what the operation does; `number` is that of a new inode.
    pub fn perform(&mut self, operation: &Operation, number: u64) -> Result<(), Code> {
        match operation {
            Operation::Create(directory, name, kind) => {
                self.require_free(*directory, name)?;
                self.inodes.insert(number, new_inode(*kind, 0o640));
                self.names(*directory).insert(name.clone(), number);
            }
            Operation::CreateLink(directory, name, target) => {
                self.require_free(*directory, name)?;
                let mut link = new_inode(InodeKind::Link, 0o777);
                link.content = target.clone();
                self.inodes.insert(number, link);
                self.names(*directory).insert(name.clone(), number);
            }
            Operation::Unlink(directory, name) => {
                let inode = self.entry(*directory, name)?;
                if self.inodes[&inode].kind == InodeKind::Directory {
                    return Err("EISDIR");
                }
                self.names(*directory).remove(name);
                self.sweep(inode);
            }
            Operation::RemoveDirectory(directory, name) => {
                let inode = self.entry(*directory, name)?;
                if !self.directory(inode)?.names.is_empty() {
                    return Err("ENOTEMPTY");
                }
                self.names(*directory).remove(name);
                self.sweep(inode);
            }
            Operation::Link(inode, directory, name) => {
                if self.get(*inode)?.kind == InodeKind::Directory {
                    return Err("EISDIR");
                }
                if self.is_orphan(*inode) {
                    return Err("ENOENT");
                }
                self.require_free(*directory, name)?;
                self.names(*directory).insert(name.clone(), *inode);
            }
            Operation::Rename(from, to, mode) => self.rename(from, to, *mode)?,
            _ => self.perform_on_inode(operation)?,
        }
        Ok(())
    }

    fn perform_on_inode(&mut self, operation: &Operation) -> Result<(), Code> {
        match operation {
            Operation::Write(inode, offset, bytes) => {
                let file = self.file(*inode)?;
                let end = offset + bytes.len();
                if file.content.len() < end && !bytes.is_empty() {
                    file.content.resize(end, 0);
                }
                if !bytes.is_empty() {
                    file.content[*offset..end].copy_from_slice(bytes);
                }
            }
            Operation::Resize(inode, size) => self.file(*inode)?.content.resize(*size, 0),
            Operation::Punch(inode, offset, length) => {
                let content = &mut self.file(*inode)?.content;
                let end = (offset + length).min(content.len());
                if *offset < end {
                    content[*offset..end].fill(0);
                }
            }
            Operation::Allocate(inode, offset, length) => {
                let content = &mut self.file(*inode)?.content;
                let end = content.len().max(offset + length);
                content.resize(end, 0);
            }
            Operation::SetExtended(inode, name, value) => {
                self.get(*inode)?;
                let extended = &mut self.inodes.get_mut(inode).unwrap().extended;
                extended.insert(name.clone(), value.clone());
            }
            Operation::RemoveExtended(inode, name) => {
                self.get(*inode)?;
                let extended = &mut self.inodes.get_mut(inode).unwrap().extended;
                extended.remove(name).ok_or("ENODATA")?;
            }
            Operation::SetMode(inode, mode) => {
                self.inodes.get_mut(inode).ok_or("ENOENT")?.mode = *mode;
            }
            Operation::Open(inode) => {
                self.get(*inode)?;
                *self.opened.entry(*inode).or_default() += 1;
            }
            Operation::Release(inode) => {
                if let Some(count) = self.opened.get_mut(inode) {
                    *count -= 1;
                    if *count == 0 {
                        self.opened.remove(inode);
                        self.sweep(*inode);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rename(
        &mut self,
        from: &(u64, Vec<u8>),
        to: &(u64, Vec<u8>),
        mode: RenameMode,
    ) -> Result<(), Code> {
        self.directory(from.0)?;
        self.directory(to.0)?;
        if self.is_orphan(to.0) {
            return Err("ENOENT");
        }
        let moved = self.entry(from.0, &from.1)?;
        let target = self.entry(to.0, &to.1).ok();
        let is_directory = |inode: u64| self.inodes[&inode].kind == InodeKind::Directory;
        if is_directory(moved) && self.is_inside(to.0, moved) {
            return Err("EINVAL");
        }
        match (mode, target) {
            (RenameMode::Exchange, None) => return Err("ENOENT"),
            (RenameMode::Exchange, Some(target)) => {
                if is_directory(target) && self.is_inside(from.0, target) {
                    return Err("EINVAL");
                }
                self.names(from.0).insert(from.1.clone(), target);
                self.names(to.0).insert(to.1.clone(), moved);
                return Ok(());
            }
            (RenameMode::NoReplace, Some(_)) => return Err("EEXIST"),
            (RenameMode::Replace, Some(target)) if target != moved => {
                match (is_directory(moved), is_directory(target)) {
                    (false, true) => return Err("EISDIR"),
                    (true, false) => return Err("ENOTDIR"),
                    (true, true) if !self.inodes[&target].names.is_empty() => {
                        return Err("ENOTEMPTY");
                    }
                    _ => {}
                }
            }
            (RenameMode::Replace, Some(_)) => return Ok(()),
            (_, None) => {}
        }
        self.names(from.0).remove(&from.1);
        self.names(to.0).insert(to.1.clone(), moved);
        if let Some(target) = target {
            self.sweep(target);
        }
        Ok(())
    }

    /// What is different in a data set.
    pub fn compare(&self, set: &DataSet) -> Result<(), String> {
        for (inode, expected) in &self.inodes {
            let attributes = set.attributes(*inode);
            let attributes = attributes.map_err(|error| format!("inode {inode}: {error}"))?;
            let size = match expected.kind {
                InodeKind::Directory => expected.names.len(),
                _ => expected.content.len(),
            };
            let found = (
                attributes.kind,
                attributes.size,
                attributes.links,
                attributes.mode,
            );
            let wanted = (
                expected.kind,
                size as u64,
                self.links(*inode),
                expected.mode,
            );
            if found != wanted {
                return Err(format!("inode {inode}: {found:?}, expected {wanted:?}"));
            }
            self.compare_inode(set, *inode, expected)
                .map_err(|what| format!("inode {inode}: {what}"))?;
        }
        Ok(())
    }

    fn compare_inode(
        &self,
        set: &DataSet,
        inode: u64,
        expected: &ModelInode,
    ) -> Result<(), String> {
        let told = |error: quire_device::FileError| error.to_string();
        let names = set.extended_names(inode).map_err(told)?;
        let mut extended = BTreeMap::new();
        for name in names {
            let value = set.extended(inode, &name).map_err(told)?;
            extended.insert(name, value);
        }
        if extended != expected.extended {
            return Err(format!("attributes {extended:?}"));
        }
        if expected.kind != InodeKind::Directory {
            let content = set.read(inode, 0, usize::MAX).map_err(told)?;
            if content != expected.content {
                let at = content
                    .iter()
                    .zip(&expected.content)
                    .position(|(a, b)| a != b);
                let lengths = (content.len(), expected.content.len());
                return Err(format!("content differs at {at:?}, lengths {lengths:?}"));
            }
            return Ok(());
        }
        let mut found = BTreeMap::new();
        let mut after: Option<Vec<u8>> = None;
        loop {
            let some = set
                .read_directory(inode, after.as_deref(), 3)
                .map_err(told)?;
            let Some(last) = some.last() else {
                break;
            };
            after = Some(last.name.clone());
            for entry in some {
                if self.inodes.get(&entry.inode).map(|one| one.kind) != Some(entry.kind) {
                    return Err(format!("entry {entry:?}"));
                }
                let looked_up = set.lookup(inode, &entry.name).map_err(told)?;
                if looked_up != entry.inode || found.insert(entry.name, entry.inode).is_some() {
                    return Err(format!("inode {looked_up} looked up, or a name twice"));
                }
            }
        }
        if found != expected.names {
            return Err(format!("names {found:?}, expected {:?}", expected.names));
        }
        Ok(())
    }
}

fn new_inode(kind: InodeKind, mode: u32) -> ModelInode {
    ModelInode {
        kind,
        content: Vec::new(),
        names: BTreeMap::new(),
        extended: BTreeMap::new(),
        mode,
    }
}
