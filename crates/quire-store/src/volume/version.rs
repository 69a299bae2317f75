//! The page map as of one commit.

use std::sync::Arc;

use super::contents::VolumeContents;
use super::page_map::PageMap;

/// The page map as of one commit. As long as anybody holds it, no byte it refers to is reused.
pub(super) struct PinnedVersion {
    pub(super) sequence: u64,
    pub(super) pages: PageMap,
}

impl PinnedVersion {
    pub(super) fn of(contents: &VolumeContents) -> Arc<Self> {
        Arc::new(Self {
            sequence: contents.commit_sequence,
            pages: contents.pages.clone(),
        })
    }
}
