//! What `df` says.

use crate::served::ServedSet;

const BLOCK_BYTES: u64 = 4096;
/// Where nothing is known of the disk below.
const UNKNOWN_FREE_BYTES: u64 = 1 << 40;
/// Numbers of inodes have no limit that could be reached.
const FREE_FILES: u64 = 1 << 32;

/// Space of a data set in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MountedSpace {
    pub(crate) block_bytes: u32,
    pub(crate) blocks: u64,
    pub(crate) free_blocks: u64,
    pub(crate) files: u64,
    pub(crate) free_files: u64,
}

/// What is in use, and what the disk below has free, unless the quota is less.
pub(crate) fn free_space(served: &ServedSet) -> MountedSpace {
    let statistics = served.set.statistics();
    let used = statistics
        .used_bytes
        .saturating_add(statistics.changed_bytes);
    let disk_free = disk_free_bytes(served).unwrap_or(UNKNOWN_FREE_BYTES);
    let quota_free = statistics
        .quota_bytes
        .map_or(u64::MAX, |quota| quota.saturating_sub(used));
    space_of(used, disk_free.min(quota_free))
}

fn space_of(used_bytes: u64, free_bytes: u64) -> MountedSpace {
    let used_blocks = used_bytes.div_ceil(BLOCK_BYTES);
    let free_blocks = free_bytes / BLOCK_BYTES;
    MountedSpace {
        block_bytes: BLOCK_BYTES as u32,
        blocks: used_blocks.saturating_add(free_blocks),
        free_blocks,
        files: FREE_FILES,
        free_files: FREE_FILES,
    }
}

/// What the file system below has free for anybody.
fn disk_free_bytes(served: &ServedSet) -> Option<u64> {
    let file = served.options.volume_file.as_deref()?;
    let space = nix::sys::statvfs::statvfs(file).ok()?;
    let (available, fragment_bytes) = (space.blocks_available(), space.fragment_size());
    available.checked_mul(fragment_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_and_what_is_free_is_all() {
        let space = space_of(5000, 9000);
        assert_eq!((space.blocks, space.free_blocks), (4, 2));
    }
}
