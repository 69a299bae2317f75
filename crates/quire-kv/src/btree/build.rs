//! A tree from entries that come in order, in the pool, and the end of a tree.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_store::PageId;
use quire_store::pool::{ChangeGuard, PageCodec, PageFrame, Pool};

use super::descend::astray;
use super::error::TreeError;
use super::levels::TreeLevels;
use super::pages::{Pages, free, read};
use super::tree::{BTree, TreeOptions};

/// Builds a tree from entries by ascending key, level by level at once; it has one page of each level in memory besides
/// those in the pool. Nothing refers to the pages until [`finish`](Self::finish); [`abandon`](Self::abandon) frees them.
pub struct TreeBuilder {
    pages: Pages,
    levels: TreeLevels,
    made: Vec<PageId>,
}

impl TreeBuilder {
    /// Begins a tree. Its pages will have that LSN.
    ///
    /// # Errors
    /// A length no page has.
    pub fn new(
        pool: &Pool,
        codec: PageCodec,
        options: TreeOptions,
        lsn: u64,
    ) -> Result<Self, TreeError> {
        Ok(Self {
            pages: Pages::new(pool.clone(), codec),
            levels: TreeLevels::new(options, lsn)?,
            made: Vec::new(),
        })
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// A key that is not greater than the one before, an entry that fits no page, or no numbers of pages left.
    pub fn push(
        &mut self,
        key: &[u8],
        value: &[u8],
        _guard: &ChangeGuard<'_>,
    ) -> Result<(), TreeError> {
        let (pages, made) = (&self.pages, &mut self.made);
        self.levels
            .push(key, value, &mut |bytes| add(pages, made, &bytes))
    }

    /// Ends the tree.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(mut self, _guard: &ChangeGuard<'_>) -> Result<BTree, TreeError> {
        let (pages, made) = (&self.pages, &mut self.made);
        let page_bytes = self.levels.page_bytes();
        let root = self.levels.finish(&mut |bytes| add(pages, made, &bytes))?;
        let root = add(pages, made, &root)?;
        Ok(BTree::with_root(self.pages, root, page_bytes))
    }

    /// Frees all pages.
    ///
    /// # Errors
    /// A page that cannot be had.
    pub fn abandon(self, guard: &ChangeGuard<'_>) -> Result<(), TreeError> {
        for page in self.made {
            if let Some(frame) = self.pages.get(page)? {
                free(&frame, guard)?;
            }
        }
        self.pages.forget_tree(guard);
        Ok(())
    }
}

fn add(pages: &Pages, made: &mut Vec<PageId>, bytes: &[u8]) -> Result<PageId, TreeError> {
    let page = pages.add(bytes)?.page();
    made.push(page);
    Ok(page)
}

impl BTree {
    /// Frees all pages of the tree, which nobody else uses any more. Pages above are freed after those below, so that
    /// this can be repeated when it did not come to its end.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn free(self, guard: &ChangeGuard<'_>) -> Result<(), TreeError> {
        if let Some(root) = self.pages.get(self.root)? {
            self.free_below(&root, None, guard)?;
        }
        self.pages.forget_tree(guard);
        Ok(())
    }

    /// Frees a page that is no leaf, and what is below it. `level` is what the page above it says.
    fn free_below(
        &self,
        frame: &Arc<PageFrame>,
        level: Option<u8>,
        guard: &ChangeGuard<'_>,
    ) -> Result<(), TreeError> {
        let at = frame.page();
        let found = read(frame, |page| -> Result<_, Corrupt> {
            let children = (0..page.len()).map(|index| page.child_at(index));
            Ok((page.level(), children.collect::<Result<Vec<_>, _>>()?))
        })?;
        let Some(found) = found else {
            return Ok(());
        };
        let (found_level, children) = found.map_err(TreeError::corrupt(at))?;
        if found_level == 0 || level.is_some_and(|level| level != found_level) {
            return Err(astray(at));
        }
        for child in children {
            match self.pages.get(child)? {
                Some(child) if found_level == 1 => free(&child, guard)?,
                Some(child) => self.free_below(&child, Some(found_level - 1), guard)?,
                None => {}
            }
        }
        free(frame, guard)
    }
}
