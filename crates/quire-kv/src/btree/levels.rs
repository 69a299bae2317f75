//! The levels of a tree that is being built from entries that come in order.

use quire_format::row_page::{BuildOptions, BuiltPage, ChildPointer, LevelBuilder};
use quire_store::PageId;

use super::error::TreeError;
use super::tree::TreeOptions;

/// How full pages are built, in hundredths: rows come later, too.
const FILL_PERCENT: u8 = 90;

/// Stores a page that is done, and tells its number.
type Store<'s, E> = dyn FnMut(Vec<u8>) -> Result<PageId, E> + 's;

/// One page of each level in the making. Pages that are done are stored by the caller, those below before those above.
pub struct TreeLevels {
    options: TreeOptions,
    lsn: u64,
    levels: Vec<LevelBuilder>,
}

impl TreeLevels {
    /// A tree whose pages will have that LSN.
    ///
    /// # Errors
    /// A length no page has.
    pub fn new(options: TreeOptions, lsn: u64) -> Result<Self, TreeError> {
        let mut levels = Self {
            options,
            lsn,
            levels: Vec::new(),
        };
        levels.add_level()?;
        Ok(levels)
    }

    pub(crate) const fn page_bytes(&self) -> usize {
        self.options.page_bytes
    }

    /// From now on a leaf is full when it has so many bytes, or before.
    pub fn limit_leaves(&mut self, bytes: usize) {
        if let Some(leaves) = self.levels.first_mut() {
            leaves.limit_pages(bytes);
        }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// A key that is not greater than the one before, an entry that fits no page, and those of `store`.
    pub fn push<E: From<TreeError>>(
        &mut self,
        key: &[u8],
        value: &[u8],
        store: &mut Store<'_, E>,
    ) -> Result<(), E> {
        self.push_at(0, key, value, store)
    }

    /// Ends the tree: stores all pages but the root, which is returned. It is never a leaf.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish<E: From<TreeError>>(mut self, store: &mut Store<'_, E>) -> Result<Vec<u8>, E> {
        let mut level = 0;
        loop {
            let last = self.take_level(level)?.finish().map_err(TreeError::from)?;
            // Nothing above, and one page: the root, unless it is a leaf.
            if last.len() == 1 && level > 0 && level + 1 == self.levels.len() {
                let mut last = last.into_iter();
                return Ok(last.next().map(|root| root.bytes).unwrap_or_default());
            }
            for page in last {
                self.place(level, page, store)?;
            }
            level += 1;
        }
    }

    fn push_at<E: From<TreeError>>(
        &mut self,
        level: usize,
        key: &[u8],
        value: &[u8],
        store: &mut Store<'_, E>,
    ) -> Result<(), E> {
        if level == self.levels.len() {
            self.add_level()?;
        }
        let built = match self.levels.get_mut(level) {
            Some(builder) => builder.push(key, value, false).map_err(TreeError::from)?,
            None => None,
        };
        match built {
            Some(page) => self.place(level, page, store),
            None => Ok(()),
        }
    }

    /// Stores a page of a level, and adds it to the level above.
    fn place<E: From<TreeError>>(
        &mut self,
        level: usize,
        built: BuiltPage,
        store: &mut Store<'_, E>,
    ) -> Result<(), E> {
        let pointer = ChildPointer::new(store(built.bytes)?);
        self.push_at(level + 1, &built.lower_fence, pointer.as_bytes(), store)
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
