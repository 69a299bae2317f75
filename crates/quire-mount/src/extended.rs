//! Extended attributes.

use fuser::Errno;
use quire_device::ExtendedMode;

use crate::errno::errno;
use crate::served::ServedSet;
use crate::virtual_attributes::{is_virtual, value};

impl ServedSet {
    pub(crate) fn extended(&self, inode: u64, name: &[u8]) -> Result<Vec<u8>, Errno> {
        require_stored_name(name)?;
        if !is_virtual(name) {
            let found = self.set.extended(inode, name);
            return found.map_err(|error| errno(&error));
        }
        let value = value(&self.set, inode, name).map_err(|error| errno(&error))?;
        value.map(String::into_bytes).ok_or(Errno::ENODATA)
    }

    /// Names, each with a zero behind it. Only root sees those of `trusted`.
    pub(crate) fn extended_names(&self, inode: u64, uid: u32) -> Result<Vec<u8>, Errno> {
        let names = self.set.extended_names(inode);
        let names = names.map_err(|error| errno(&error))?;
        let is_seen = |name: &&Vec<u8>| uid == 0 || !name.starts_with(b"trusted.");
        let mut list = Vec::new();
        for name in names.iter().filter(is_seen) {
            list.extend_from_slice(name);
            list.push(0);
        }
        Ok(list)
    }

    pub(crate) fn set_extended(
        &self,
        inode: u64,
        name: &[u8],
        value: &[u8],
        flags: i32,
    ) -> Result<(), Errno> {
        require_stored_name(name)?;
        if is_virtual(name) {
            return Err(Errno::EPERM);
        }
        let mode = match flags {
            libc::XATTR_CREATE => ExtendedMode::Create,
            libc::XATTR_REPLACE => ExtendedMode::Replace,
            _ => ExtendedMode::Any,
        };
        let done = self.set.set_extended(inode, name, value, mode);
        done.map_err(|error| errno(&error))
    }

    pub(crate) fn remove_extended(&self, inode: u64, name: &[u8]) -> Result<(), Errno> {
        require_stored_name(name)?;
        if is_virtual(name) {
            return Err(Errno::EPERM);
        }
        let done = self.set.remove_extended(inode, name);
        done.map_err(|error| errno(&error))
    }
}

/// Access control lists (`system`) would have to be obeyed; they are not stored either.
fn require_stored_name(name: &[u8]) -> Result<(), Errno> {
    let spaces: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];
    let behind = spaces.iter().find_map(|space| name.strip_prefix(*space));
    match behind {
        None => Err(Errno::EOPNOTSUPP),
        Some([]) => Err(Errno::EINVAL),
        Some(_) => Ok(()),
    }
}
