//! mount(2) and umount(2).
//!
//! `fuser` can do both, but where a mount has already ended it unmounts what it finds at the path then.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{getegid, geteuid};

use crate::error::MountError;
use crate::options::MountOptions;

/// What the list of mounts says.
pub(crate) const FILE_SYSTEM_KIND: &str = "fuse.quire";
/// How often, and after what time, an unmount is tried again.
const BUSY_ATTEMPTS: u32 = 25;
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// Connects the kernel to this process, and the directory to the kernel. Returns the directory without links in its path, and the connection.
pub(crate) fn attach(
    directory: &Path,
    options: &MountOptions,
) -> Result<(PathBuf, OwnedFd), MountError> {
    let unusable = |error| MountError::MountPoint {
        directory: directory.to_path_buf(),
        error,
    };
    let directory = directory.canonicalize().map_err(unusable)?;
    let metadata = directory.metadata().map_err(unusable)?;
    if !metadata.is_dir() {
        return Err(unusable(Errno::ENOTDIR.into()));
    }
    let device = File::options().read(true).write(true).open("/dev/fuse");
    let device = device.map_err(|error| MountError::NoFuse { error })?;
    let data = mount_data(&device, metadata.permissions().mode(), options);
    mount(
        Some(options.source()),
        &directory,
        Some(FILE_SYSTEM_KIND),
        mount_flags(options),
        Some(data.as_str()),
    )
    .map_err(|error| match error {
        Errno::ENODEV => MountError::NoFuse {
            error: error.into(),
        },
        error => MountError::Refused {
            directory: directory.clone(),
            error: error.into(),
        },
    })?;
    Ok((directory, device.into()))
}

fn mount_data(device: &File, mode: u32, options: &MountOptions) -> String {
    let mut data = format!(
        "fd={},rootmode={mode:o},user_id={},group_id={},default_permissions",
        device.as_raw_fd(),
        geteuid(),
        getegid()
    );
    if options.allow_other {
        data.push_str(",allow_other");
    }
    data
}

fn mount_flags(options: &MountOptions) -> MsFlags {
    let mut flags = MsFlags::empty();
    flags.set(MsFlags::MS_RDONLY, options.read_only);
    flags.set(MsFlags::MS_NOSUID, !options.honors_set_user_id);
    flags.set(MsFlags::MS_NODEV, !options.honors_devices);
    flags
}

/// Unmounts, unless somebody uses the files. Who only looks at them for a moment, as `df` does, or is about to end, is waited for.
pub(crate) fn detach(directory: &Path) -> Result<(), MountError> {
    for _ in 0..BUSY_ATTEMPTS {
        match umount2(directory, MntFlags::empty()) {
            // `EINVAL`: it is not mounted any more.
            Ok(()) | Err(Errno::EINVAL | Errno::ENOENT) => return Ok(()),
            Err(Errno::EBUSY) => thread::sleep(BUSY_WAIT),
            Err(error) => {
                return Err(MountError::Unmount {
                    directory: directory.to_path_buf(),
                    error: error.into(),
                });
            }
        }
    }
    Err(MountError::Busy {
        directory: directory.to_path_buf(),
    })
}

/// Unmounts whoever uses the files: they get errors from then on.
pub(crate) fn detach_by_force(directory: &Path) {
    // Nobody is left to tell.
    let _ = umount2(directory, MntFlags::MNT_FORCE | MntFlags::MNT_DETACH);
}

/// Has the kernel send what it has not sent yet.
pub(crate) fn send_cached(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        // What cannot be written is reported to those who have written it.
        let _ = nix::unistd::syncfs(directory);
    }
}
