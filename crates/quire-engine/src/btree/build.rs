//! A tree from entries that come in order, and the end of a tree.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::{BuildOptions, BuiltPage, ChildPointer, LevelBuilder};
use quire_store::PageId;
use quire_store::pool::{ChangeGuard, Frame, PageCodec, Pool};

use super::error::TreeError;
use super::pages::{Pages, free, read};
use super::tree::{BTree, TreeOptions};

/// How full pages are built, in hundredths: rows come later, too.
const FILL_PERCENT: u8 = 90;

/// Builds a tree from entries by ascending key, level by level at once; it has one page of each level in memory besides
/// those in the pool. Nothing refers to the pages until [`finish`](Self::finish); [`abandon`](Self::abandon) frees them.
pub struct TreeBuilder {
    pages: Pages,
    options: TreeOptions,
    lsn: u64,
    levels: Vec<LevelBuilder>,
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
        let mut builder = Self {
            pages: Pages::new(pool.clone(), codec),
            options,
            lsn,
            levels: Vec::new(),
            made: Vec::new(),
        };
        builder.add_level()?;
        Ok(builder)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// A key that is not greater than the one before, an entry that fits no page, or no numbers of pages left.
    pub fn push(
        &mut self,
        key: &[u8],
        value: &[u8],
        guard: &ChangeGuard<'_>,
    ) -> Result<(), TreeError> {
        self.push_at(0, key, value, guard)
    }

    /// Ends the tree.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(mut self, guard: &ChangeGuard<'_>) -> Result<BTree, TreeError> {
        let mut level = 0;
        loop {
            let last_pages = self.take_level(level)?.finish()?;
            // Nothing above, and one page: the root, unless it is a leaf.
            if let [root] = last_pages.as_slice()
                && level > 0
                && level + 1 == self.levels.len()
            {
                let root = self.add(root, guard)?;
                return Ok(BTree::with_root(self.pages, root, self.options.page_bytes));
            }
            for page in last_pages {
                self.place(level, &page, guard)?;
            }
            level += 1;
        }
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
        Ok(())
    }

    fn push_at(
        &mut self,
        level: usize,
        key: &[u8],
        value: &[u8],
        guard: &ChangeGuard<'_>,
    ) -> Result<(), TreeError> {
        if level == self.levels.len() {
            self.add_level()?;
        }
        let built = match self.levels.get_mut(level) {
            Some(builder) => builder.push(key, value, false)?,
            None => None,
        };
        match built {
            Some(page) => self.place(level, &page, guard),
            None => Ok(()),
        }
    }

    /// Adds a page of a level to the pool, and to the level above.
    fn place(
        &mut self,
        level: usize,
        built: &BuiltPage,
        guard: &ChangeGuard<'_>,
    ) -> Result<(), TreeError> {
        let page = self.add(built, guard)?;
        let pointer = ChildPointer::new(page);
        self.push_at(level + 1, &built.lower_fence, pointer.as_bytes(), guard)
    }

    fn add(&mut self, built: &BuiltPage, _guard: &ChangeGuard<'_>) -> Result<PageId, TreeError> {
        let page = self.pages.add(&built.bytes)?.page();
        self.made.push(page);
        Ok(page)
    }

    fn add_level(&mut self) -> Result<(), TreeError> {
        let options = self.level_options(self.levels.len());
        self.levels.push(LevelBuilder::new(options)?);
        Ok(())
    }

    /// What has been built of a level; an empty one is left in its place.
    fn take_level(&mut self, level: usize) -> Result<LevelBuilder, TreeError> {
        let empty = LevelBuilder::new(self.level_options(level))?;
        Ok(match self.levels.get_mut(level) {
            Some(builder) => std::mem::replace(builder, empty),
            None => empty,
        })
    }

    fn level_options(&self, level: usize) -> BuildOptions {
        BuildOptions {
            page_bytes: self.options.page_bytes,
            level: level.try_into().unwrap_or(u8::MAX),
            layout: self.options.layout,
            lsn: self.lsn,
            fill_percent: FILL_PERCENT,
        }
    }
}

impl BTree {
    /// Frees all pages of the tree, which nobody else uses any more. Pages above are freed after those below, so that
    /// this can be repeated when it did not come to its end.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn free(self, guard: &ChangeGuard<'_>) -> Result<(), TreeError> {
        match self.pages.get(self.root)? {
            Some(root) => self.free_below(&root, None, guard),
            None => Ok(()),
        }
    }

    /// Frees a page that is no leaf, and what is below it. `level` is what the page above it says.
    fn free_below(
        &self,
        frame: &Arc<Frame>,
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
            return Err(TreeError::Astray {
                page: at,
                what: "is not one level below the page above it",
            });
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
