//! What the trees of a row table take in the file.

use std::collections::HashSet;

use quire_codec::Corrupt;
use quire_format::row_page::{PageImage, PageTransform};
use quire_format::volume::PageId;
use quire_kv::btree::{add_stored_pages, stored_dictionaries};
use quire_store::Pin;

use crate::definition::TreeRole;
use crate::error::EngineError;
use crate::pages::PageSource;
use crate::rows::RowParts;

/// Pages that are looked at to say how the pages of a tree lie.
const SAMPLE_PAGES: usize = 32;

/// The size of one tree, as the last checkpoint has stored it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeSize {
    /// `rows`, `overflow`, or the name of the index; of a column table `delta`, `overflow`, `deletions`.
    pub name: String,
    /// Number of stored pages.
    pub page_count: u64,
    /// Bytes of these pages in memory.
    pub page_bytes: u64,
    /// Bytes of their compressed images, and of the dictionaries.
    pub stored_bytes: u64,
}

impl RowParts {
    /// The sizes of all trees of the table.
    pub(crate) fn tree_sizes(&self, source: &PageSource) -> Result<Vec<TreeSize>, EngineError> {
        let pin = source.newest_pin();
        let dictionaries = stored_dictionaries(&pin)?.trees;
        let mut sizes = Vec::with_capacity(self.trees.len());
        for tree in &self.trees {
            let mut pages = HashSet::new();
            add_stored_pages(&pin, tree.root, &mut pages)?;
            let page_count = pages.len() as u64;
            pages.extend(dictionaries.get(&tree.id).into_iter().flatten());
            let index = |id: u64| self.definition.indexes.iter().find(|index| index.id == id);
            let name = match tree.role {
                TreeRole::Rows => "rows".to_owned(),
                TreeRole::Overflow => "overflow".to_owned(),
                TreeRole::Index(id) => index(id)
                    .map(|index| index.key.name.clone())
                    .unwrap_or_default(),
                TreeRole::Delta => "delta".to_owned(),
                TreeRole::Deletions => "deletions".to_owned(),
                TreeRole::Sequences | TreeRole::Samples => "other".to_owned(),
            };
            let stored = pages.iter().filter_map(|page| pin.payload_bytes(*page));
            sizes.push(TreeSize {
                name,
                page_count,
                page_bytes: page_count * self.definition.options.page_bytes as u64,
                stored_bytes: stored.map(u64::from).sum(),
            });
        }
        Ok(sizes)
    }

    /// How the bytes of most leaves of each tree lie, in the order of [`tree_sizes`](Self::tree_sizes), by a sample that is read:
    /// what `storage_format = auto` has chosen, where there are leaves by columns. `None` of a tree without stored pages.
    pub(crate) fn stored_transforms(
        &self,
        source: &PageSource,
    ) -> Result<Vec<Option<PageTransform>>, EngineError> {
        let pin = source.newest_pin();
        let mut transforms = Vec::with_capacity(self.trees.len());
        for tree in &self.trees {
            let mut pages = HashSet::new();
            add_stored_pages(&pin, tree.root, &mut pages)?;
            transforms.push(stored_transform(&pin, &pages)?);
        }
        Ok(transforms)
    }
}

/// The transform that most of some pages are stored with. Inner pages are always rows, so of equals the other one counts.
fn stored_transform(
    pin: &Pin,
    pages: &HashSet<PageId>,
) -> Result<Option<PageTransform>, EngineError> {
    let mut pages: Vec<PageId> = pages.iter().copied().collect();
    pages.sort_unstable();
    let step = pages.len().div_ceil(SAMPLE_PAGES).max(1);
    let mut counts = [0_usize; PageTransform::ALL.len()];
    for page in pages.into_iter().step_by(step) {
        let image = pin.read(page)?;
        let transform = PageImage::open(&image).map(|image| image.transform());
        let transform = transform.map_err(|source| damaged(page, source))?;
        let of_all = PageTransform::ALL.into_iter().zip(&mut counts);
        for (_, count) in of_all.filter(|(one, _)| *one == transform) {
            *count += 1;
        }
    }
    let counted = PageTransform::ALL.into_iter().zip(counts);
    let most = counted
        .filter(|(_, count)| *count > 0)
        .max_by_key(|(transform, count)| (*count, transform.number()));
    Ok(most.map(|(transform, _)| transform))
}

fn damaged(page: PageId, source: Corrupt) -> EngineError {
    EngineError::Corrupt {
        what: format!("page {page} of a tree"),
        source,
    }
}
