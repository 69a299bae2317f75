//! How a data set is mounted.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a data set is mounted.
#[derive(Clone, Debug)]
pub struct MountOptions {
    /// Other users than the one who mounts may use the files, as far as permissions allow. A database server that runs as a user of
    /// its own needs it.
    pub allow_other: bool,
    /// Nothing can be changed. A snapshot is always mounted so.
    pub read_only: bool,
    /// Set-user-id and set-group-id bits of programs count, not only in listings.
    pub honors_set_user_id: bool,
    /// Device files can be opened.
    pub honors_devices: bool,
    /// The kernel collects small writes in its page cache, and sends them when it is told to sync, when a file is closed, or later.
    /// Without it each write is sent at once. Shared mappings are collected in either case.
    pub writeback_cache: bool,
    /// How long the kernel may answer from names and attributes that it knows. Nobody else changes a data set while it is mounted, so
    /// it can be long; 0 if this process does, by its own calls.
    pub cache_timeout: Duration,
    /// Threads that answer the kernel, two at least. What waits for the disk occupies one, and so do all syncs together.
    pub threads: NonZero<usize>,
    /// Everything that has changed is made durable this often, as other file systems do, also if no program asks for it.
    pub sync_interval: Duration,
    /// So many bytes that have been written are compressed and written in the background, so that writers need not wait for
    /// the memory of the data set. At most half of `DeviceOptions::dirty_bytes`.
    pub write_back_bytes: u64,
    /// File of the volume: named in the list of mounts, and what its file system has free is what `df` says.
    pub volume_file: Option<PathBuf>,
}

impl MountOptions {
    /// What the list of mounts says is mounted.
    pub(crate) fn source(&self) -> &Path {
        self.volume_file.as_deref().unwrap_or(Path::new("quire"))
    }
}

impl Default for MountOptions {
    fn default() -> Self {
        Self {
            allow_other: false,
            read_only: false,
            honors_set_user_id: false,
            honors_devices: false,
            writeback_cache: false,
            cache_timeout: Duration::from_secs(3600),
            threads: NonZero::<usize>::MIN.saturating_add(15),
            sync_interval: Duration::from_secs(5),
            write_back_bytes: 32 << 20,
            volume_file: None,
        }
    }
}
