//! The page map as of one commit.

use std::sync::Arc;

use super::contents::Contents;
use super::page_map::PageMap;

/// The page map as of one commit. As long as anybody holds it, no byte it refers to is reused.
pub(super) struct Version {
    pub(super) sequence: u64,
    pub(super) pages: PageMap,
}

impl Version {
    pub(super) fn of(contents: &Contents) -> Arc<Self> {
        Arc::new(Self {
            sequence: contents.commit_sequence,
            pages: contents.pages.clone(),
        })
    }
}
