//! What a caller may decide when opening a database.

use std::num::NonZeroUsize;
use std::thread;

/// How a database is opened. `DatabaseOptions::default()` suits a machine of one's own.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// Opens the file without the right to change it; several processes may do so at a time.
    pub read_only: bool,
    /// Bytes of compressed pages kept in memory.
    pub cache_bytes: usize,
    /// Bytes that running statements may hold together (hash tables, sorts) before they spill to
    /// temporary files.
    pub memory_bytes: usize,
    /// Threads that run statements.
    pub threads: usize,
    /// Whether changed rows of column tables become row groups in the background when there are many; otherwise only by
    /// `VACUUM`.
    pub merges_in_background: bool,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            read_only: false,
            cache_bytes: 512 << 20,
            memory_bytes: default_memory_bytes(),
            threads: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            merges_in_background: true,
        }
    }
}

/// 60 % of the machine's memory where it can be read, else 4 GiB.
fn default_memory_bytes() -> usize {
    const FALLBACK_BYTES: usize = 4 << 30;
    std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| total_memory_bytes(&text))
        .map_or(FALLBACK_BYTES, |bytes| bytes / 10 * 6)
}

fn total_memory_bytes(meminfo: &str) -> Option<usize> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::total_memory_bytes;

    #[test]
    fn reads_the_total_of_a_meminfo_file() {
        let text = "MemTotal:       24689764 kB\nMemFree:        123 kB\n";
        assert_eq!(total_memory_bytes(text), Some(24_689_764 * 1024));
        assert_eq!(total_memory_bytes("MemFree: 1 kB\n"), None);
        assert_eq!(total_memory_bytes("MemTotal: many kB\n"), None);
    }
}
