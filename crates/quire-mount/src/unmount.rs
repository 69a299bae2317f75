//! Unmounting from another process.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::error::MountError;
use crate::mount_point::{FILE_SYSTEM_KIND, detach};

/// The mounts that this process sees.
const MOUNTS: &str = "/proc/self/mounts";

/// Unmounts a data set that another process serves, and waits until that process has made everything durable and closed the volume.
///
/// `umount` does the first half of it: it returns while the process that serves the mount still writes.
///
/// # Errors
/// [`MountError::NotMounted`]; [`MountError::Busy`] when somebody uses the files; [`MountError::Unmount`]; [`MountError::Volume`] when
/// the volume's file cannot be opened.
pub fn unmount(directory: &Path) -> Result<(), MountError> {
    let place = directory.canonicalize();
    let place = place.map_err(|error| MountError::MountPoint {
        directory: directory.to_path_buf(),
        error,
    })?;
    let mounts = fs::read(MOUNTS).map_err(|error| MountError::Unmount {
        directory: place.clone(),
        error,
    })?;
    let volume = volume_at(&mounts, &place).ok_or_else(|| MountError::NotMounted {
        directory: place.clone(),
    })?;
    detach(&place)?;
    wait_until_closed(&volume).map_err(|error| MountError::Volume { volume, error })
}

/// The volume of the data set that is mounted on a directory: the newest of several.
fn volume_at(mounts: &[u8], directory: &Path) -> Option<PathBuf> {
    let lines = mounts.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| {
            let mut fields = line.split(|byte| *byte == b' ');
            let (source, place, kind) = (fields.next()?, fields.next()?, fields.next()?);
            let is_it = kind == FILE_SYSTEM_KIND.as_bytes()
                && unescaped(place) == directory.as_os_str().as_bytes();
            is_it.then(|| PathBuf::from(std::ffi::OsString::from_vec(unescaped(source))))
        })
        .next_back()
}

/// Whether the newest mount of ours on a directory is that of a volume.
pub(crate) fn is_mounted(directory: &Path, volume: &Path) -> bool {
    let mounts = fs::read(MOUNTS).unwrap_or_default();
    volume_at(&mounts, directory).is_some_and(|found| found == volume)
}

/// Blanks and backslashes are written as three octal digits behind a backslash.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let escaped = after.get(..3).filter(|_| *first == b'\\');
        let value = escaped
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match value {
            Some(value) => {
                bytes.push(value);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// A process that has a volume open locks its file.
fn wait_until_closed(volume: &Path) -> io::Result<()> {
    File::open(volume)?.lock_shared()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_newest_mount_of_our_kind_counts() {
        let mounts = b"/dev/vda / ext4 rw 0 0\n\
            /a/old.quire /mnt/with\\040blank fuse.quire rw 0 0\n\
            /a/new\\134x.quire /mnt/with\\040blank fuse.quire rw 0 0\n\
            other /mnt/with\\040blank fuse.sshfs rw 0 0\n\
            /a/third.quire /mnt/other fuse.quire rw 0 0\n";
        let found = volume_at(mounts, Path::new("/mnt/with blank"));
        assert_eq!(found, Some(PathBuf::from("/a/new\\x.quire")));
        assert_eq!(volume_at(mounts, Path::new("/")), None);
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(unescaped(b"a\\0b\\04"), b"a\\0b\\04");
        assert_eq!(unescaped(b"\\011\\777"), b"\t\\777");
        assert_eq!(unescaped(b""), b"");
    }

    #[test]
    fn a_directory_that_is_not_mounted_is_refused() {
        let error = unmount(&std::env::temp_dir()).unwrap_err();
        assert!(matches!(error, MountError::NotMounted { .. }), "{error}");
        let error = unmount(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(matches!(error, MountError::MountPoint { .. }), "{error}");
    }
}
