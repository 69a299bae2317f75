//! What a database that has been closed has in its file.

use quire_codec::block::{BlockOptions, open};
use quire_format::row_page::{PageImage, RowPage};
use quire_format::volume::{BLOCK_BYTES, PageId, PageKind};
use quire_store::{Pin, Volume};

use crate::dual_format_system::scenarios::PAGE_BYTES;
use crate::tpcd::BenchmarkFailure;

/// What the pages of a database are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DatabaseContents {
    /// Bytes that the database has written and still uses: its file without what is free in it.
    pub(crate) used_bytes: u64,
    /// The same if each page took whole blocks of 4 KiB, as with page compression and hole punching.
    pub(crate) hole_punched_bytes: u64,
    /// Leaves of B+trees.
    pub(crate) leaf_count: u64,
    /// What these have of entries, slots and fences, in bytes of pages in memory.
    pub(crate) leaf_used_bytes: u64,
}

impl DatabaseContents {
    /// Reads all pages.
    ///
    /// # Errors
    /// When one is damaged.
    pub(crate) fn of(volume: &Volume) -> Result<Self, BenchmarkFailure> {
        let stats = volume.stats();
        let used_bytes = stats.file_bytes.saturating_sub(stats.free_bytes);
        let mut contents = Self {
            used_bytes,
            hole_punched_bytes: stats.map_bytes,
            ..Self::default()
        };
        let pin = volume.pin();
        for page in pin.pages() {
            let image_bytes = pin.page_bytes(page).unwrap_or_default();
            let mut rounded_bytes = image_bytes.next_multiple_of(BLOCK_BYTES);
            let kind = pin.kind(page).map_err(|error| damaged(volume, &error))?;
            if kind == PageKind::Row {
                rounded_bytes = rounded_bytes.min(PAGE_BYTES);
                contents.add_tree_page(volume, &pin, page)?;
            }
            contents.hole_punched_bytes += rounded_bytes;
        }
        Ok(contents)
    }

    /// How full leaves are, in percent.
    pub(crate) fn fill_percent(&self) -> f64 {
        let page_bytes = self.leaf_count * PAGE_BYTES;
        100.0 * self.leaf_used_bytes as f64 / page_bytes.max(1) as f64
    }

    fn add_tree_page(
        &mut self,
        volume: &Volume,
        pin: &Pin,
        page: PageId,
    ) -> Result<(), BenchmarkFailure> {
        let damaged = |error: &dyn std::error::Error| damaged(volume, error);
        let image = pin.read(page).map_err(|error| damaged(&error))?;
        let image = PageImage::open(&image).map_err(|error| damaged(&error))?;
        let mut codec =
            open(image.codec(), &BlockOptions::default()).map_err(|error| damaged(&error))?;
        let mut bytes = vec![0; image.page_bytes()];
        let decoded = image.decode(codec.as_mut(), &mut bytes);
        decoded.map_err(|error| damaged(&error))?;
        let leaf = RowPage::open(&bytes).map_err(|error| damaged(&error))?;
        // Trees of the catalog have pages of other lengths, and next to nothing in them.
        if leaf.level() == 0 && bytes.len() as u64 == PAGE_BYTES {
            self.leaf_count += 1;
            self.leaf_used_bytes += leaf.used_bytes() as u64;
        }
        Ok(())
    }
}

fn damaged(volume: &Volume, error: &dyn std::error::Error) -> BenchmarkFailure {
    BenchmarkFailure::Damaged {
        file: volume.file().to_string(),
        what: error.to_string(),
    }
}
