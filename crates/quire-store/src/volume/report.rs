//! What operations tell about the volume.

use std::fmt;

use quire_format::volume::PageId;

use crate::disk::DiskTraffic;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken: the name of the function that checks it.
    pub invariant: &'static str,
    /// The page concerned, if it is one.
    pub page: Option<PageId>,
    /// The byte of the file, if there is one place.
    pub offset: Option<u64>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub advice: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.invariant)?;
        if let Some(page) = self.page {
            write!(formatter, "page {page}: ")?;
        }
        if let Some(offset) = self.offset {
            write!(formatter, "byte {offset}: ")?;
        }
        write!(formatter, "{}; {}", self.what, self.advice)
    }
}

/// What [`crate::Volume::check`] found.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Empty when every invariant holds.
    pub findings: Vec<Finding>,
    /// Pages whose images were read.
    pub page_count: u64,
    /// Bytes of their images, headers included.
    pub live_bytes: u64,
    /// Bytes of runs that hold no image of a page: replaced images, commit records, padding.
    pub dead_bytes: u64,
    /// Bytes that the next writes can use.
    pub free_bytes: u64,
    /// Length of the file.
    pub file_bytes: u64,
}

/// What [`crate::Volume::clean`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanReport {
    /// Pages copied to another place.
    pub moved_pages: u64,
    /// Bytes of their images.
    pub moved_bytes: u64,
    /// Length of the file before.
    pub file_bytes_before: u64,
    /// Length of the file after.
    pub file_bytes_after: u64,
}

/// What [`crate::Volume::rebuild`] found.
#[derive(Clone, Debug, Default)]
pub struct RebuildReport {
    /// What could not be used.
    pub findings: Vec<Finding>,
    /// Pages found. Pages freed long ago may be among them: nothing refers to those.
    pub page_count: u64,
    /// Newest commit found.
    pub commit_sequence: u64,
}

/// Sizes and counters of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeStats {
    /// Length of the file.
    pub file_bytes: u64,
    /// Bytes of the images of pages, headers included.
    pub live_bytes: u64,
    /// Bytes that cleaning or the next checkpoint can free.
    pub dead_bytes: u64,
    /// Bytes that the next writes can use.
    pub free_bytes: u64,
    /// Bytes of the stored page map.
    pub map_bytes: u64,
    /// Bytes of the log since the newest checkpoint.
    pub log_bytes: u64,
    /// Pages.
    pub page_count: u64,
    /// Newest commit.
    pub commit_sequence: u64,
    /// Bytes in the warm cache.
    pub cache_bytes: u64,
    /// Reads answered by the cache.
    pub cache_hits: u64,
    /// Reads answered by the disk.
    pub cache_misses: u64,
    /// What the disk was asked for since the volume was opened.
    pub disk: DiskTraffic,
}
