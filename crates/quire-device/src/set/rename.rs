//! Names that move.

use quire_format::data_set::{DirectoryItem, InodeKind, ROOT_INODE};

use super::access::Access;
use super::names::check_name;
use super::state::DataSet;
use crate::error::FileError;

/// Directories in each other, at most.
const DEPTH_MAX: usize = 1 << 16;

/// What becomes of a name that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenameMode {
    /// It is replaced.
    Replace,
    /// It is an error.
    NoReplace,
    /// It gets the other name; it must be there.
    Exchange,
}

/// A name in a directory.
type NamePlace<'a> = (u64, &'a [u8]);

impl DataSet {
    /// Moves a name to another place, each a directory and a name.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::Exists`], [`FileError::NotEmpty`], [`FileError::IsDirectory`] and
    /// [`FileError::NotDirectory`] as rename(2) has them; [`FileError::Invalid`] for a directory that would be in itself; those of names;
    /// [`FileError::ReadOnly`], [`FileError::Storage`].
    pub fn rename(
        &self,
        from: NamePlace<'_>,
        to: NamePlace<'_>,
        mode: RenameMode,
    ) -> Result<(), FileError> {
        check_name(to.1)?;
        let mut access = self.write_access()?;
        access.directory(from.0)?;
        if access.directory(to.0)?.links == 0 {
            return Err(FileError::no_inode(to.0));
        }
        let moved = access.entry(from.0, from.1)?;
        let moved = moved.ok_or_else(|| FileError::no_name(from.1))?;
        let target = access.entry(to.0, to.1)?;
        if moved.kind == InodeKind::Directory {
            access.require_outside(moved.inode, to.0)?;
        }
        match (mode, target) {
            (RenameMode::Exchange, None) => Err(FileError::no_name(to.1)),
            (RenameMode::Exchange, Some(target)) => {
                if target.kind == InodeKind::Directory {
                    access.require_outside(target.inode, from.0)?;
                }
                access.all_or_nothing(|access| access.exchange((from, moved), (to, target)))
            }
            (RenameMode::NoReplace, Some(_)) => Err(FileError::exists(to.1)),
            (_, Some(target)) if target.inode == moved.inode => Ok(()),
            (_, Some(target)) => {
                let is_gone =
                    access.all_or_nothing(|access| access.replace((from, moved), (to, target)))?;
                drop(access);
                if is_gone {
                    self.reap(target.inode)
                } else {
                    Ok(())
                }
            }
            (_, None) => access.all_or_nothing(|access| access.move_entry(from, to, moved)),
        }
    }
}

impl Access<'_> {
    /// The directory `inode` is neither `directory` nor above it.
    fn require_outside(&self, inode: u64, directory: u64) -> Result<(), FileError> {
        let mut at = directory;
        for _ in 0..DEPTH_MAX {
            if at == inode {
                return Err(FileError::Invalid {
                    what: "a directory cannot be moved into itself; choose another place",
                });
            }
            if at == ROOT_INODE {
                return Ok(());
            }
            at = self.directory(at)?.parent;
        }
        Err(FileError::Invalid {
            what: "directories are nested too deep; move one of them up",
        })
    }

    fn move_entry(
        &mut self,
        from: NamePlace<'_>,
        to: NamePlace<'_>,
        moved: DirectoryItem,
    ) -> Result<(), FileError> {
        self.remove_entry(from.0, from.1, moved.kind)?;
        self.add_entry(to.0, to.1, moved)?;
        self.note_move(moved.inode, to.0)
    }

    /// Returns whether what had the name is to be removed now.
    fn replace(
        &mut self,
        (from, moved): (NamePlace<'_>, DirectoryItem),
        (to, target): (NamePlace<'_>, DirectoryItem),
    ) -> Result<bool, FileError> {
        let is_directory = |item: DirectoryItem| item.kind == InodeKind::Directory;
        match (is_directory(moved), is_directory(target)) {
            (false, true) => {
                let inode = target.inode;
                return Err(FileError::IsDirectory { inode });
            }
            (true, false) => {
                let inode = target.inode;
                return Err(FileError::NotDirectory { inode });
            }
            (true, true) => self.require_empty(target.inode)?,
            (false, false) => {}
        }
        self.remove_entry(to.0, to.1, target.kind)?;
        let is_gone = if is_directory(target) {
            self.drop_directory(target.inode)?
        } else {
            self.drop_link(target.inode)?
        };
        self.move_entry(from, to, moved)?;
        Ok(is_gone)
    }

    fn exchange(
        &mut self,
        (from, moved): (NamePlace<'_>, DirectoryItem),
        (to, target): (NamePlace<'_>, DirectoryItem),
    ) -> Result<(), FileError> {
        if from == to {
            return Ok(());
        }
        self.remove_entry(from.0, from.1, moved.kind)?;
        self.remove_entry(to.0, to.1, target.kind)?;
        self.add_entry(from.0, from.1, target)?;
        self.add_entry(to.0, to.1, moved)?;
        self.note_move(target.inode, from.0)?;
        self.note_move(moved.inode, to.0)
    }

    /// An inode is in `directory` now.
    fn note_move(&mut self, inode: u64, directory: u64) -> Result<(), FileError> {
        let mut attributes = self.inode(inode)?;
        attributes.changed = self.now();
        if attributes.kind == InodeKind::Directory {
            attributes.parent = directory;
        }
        self.set_inode(inode, &attributes);
        Ok(())
    }
}
