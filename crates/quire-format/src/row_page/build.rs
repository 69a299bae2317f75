//! Building the pages of one level of a tree from entries that come in order.

use quire_codec::Corrupt;
use thiserror::Error;

use super::child::ChildPointer;
use super::create::{PageSetup, SetupError};
use super::layout::{ROW_PAGE_HEADER_BYTES, SLOT_BYTES, is_page_bytes};
use super::space::{self, shared_bytes};
use super::write::{ApplyError, RowPageMut, push};

/// What the pages of a level have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// Length of each page.
    pub page_bytes: usize,
    /// 0 for leaves, otherwise the distance from them.
    pub level: u8,
    /// Number of the layout of the tuples.
    pub layout: u32,
    /// LSN of the change that makes the pages.
    pub lsn: u64,
    /// How full each page but the last will be, in hundredths of its bytes. Each has one entry at least.
    pub fill_percent: u8,
}

/// Why a level cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PageBuildError {
    #[error("entries to build a tree of do not ascend; sort them, and keep one of each key")]
    NotAscending,
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Entry(#[from] ApplyError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// A page that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltPage {
    /// The page.
    pub bytes: Vec<u8>,
    /// Its lower fence: the key under which it is in the level above.
    pub lower_fence: Vec<u8>,
}

/// Builds the pages of one level, from entries by ascending key. The first page has no lower fence and the last no
/// upper one. On an inner level the first key must be empty.
///
/// An upper fence is known only when the entry behind the page is, and with it the prefix and so what the entries
/// take. Therefore the last entry is held back: those before it always fit a page that ends in front of it.
#[derive(Debug)]
pub struct LevelBuilder {
    options: BuildOptions,
    page_bytes_most: usize,
    lower_fence: Vec<u8>,
    /// Keys and values of the entries that are in no page yet.
    staged: Vec<u8>,
    entries: Vec<StagedEntry>,
}

#[derive(Clone, Copy, Debug)]
struct StagedEntry {
    start: usize,
    key_bytes: usize,
    value_bytes: usize,
    overflow: bool,
}

impl LevelBuilder {
    /// Begins a level.
    ///
    /// # Errors
    /// A length no page has.
    pub fn new(options: BuildOptions) -> Result<Self, SetupError> {
        if !is_page_bytes(options.page_bytes) {
            return Err(SetupError::PageBytes {
                bytes: options.page_bytes,
            });
        }
        Ok(Self {
            options,
            page_bytes_most: space::filled_bytes(options.page_bytes, options.fill_percent),
            lower_fence: Vec::new(),
            staged: Vec::new(),
            entries: Vec::new(),
        })
    }

    /// Bytes of a page at which it is full, from now on: less than the fill factor leaves it.
    pub fn limit_pages(&mut self, bytes: usize) {
        let filled_bytes = space::filled_bytes(self.options.page_bytes, self.options.fill_percent);
        self.page_bytes_most = bytes.min(filled_bytes);
    }

    /// Adds an entry; returns a page when one is full.
    ///
    /// # Errors
    /// A key that is not greater than the one before; an entry that fits no page.
    pub fn push(
        &mut self,
        key: &[u8],
        value: &[u8],
        overflow: bool,
    ) -> Result<Option<BuiltPage>, PageBuildError> {
        if self
            .entries
            .last()
            .is_some_and(|last| self.key(last) >= key)
        {
            return Err(PageBuildError::NotAscending);
        }
        let page_bytes = self.options.page_bytes;
        let (key_bytes, value_bytes) = (key.len(), value.len());
        if key_bytes > space::key_bytes_max(page_bytes)
            || key_bytes + value_bytes > space::entry_bytes_max(page_bytes)
        {
            return Err(ApplyError::TooLong {
                key_bytes,
                value_bytes,
                page_bytes,
            }
            .into());
        }
        if self.options.level > 0 {
            self.check_child(key, value, overflow)?;
        }
        // Most entries fit even where their keys share nothing, and need no separator.
        let may_be_full =
            self.entries.len() > 1 && self.bytes_at_most(key_bytes) > self.page_bytes_most;
        let is_full = may_be_full
            && self.bytes_with(self.separator(self.entries.last(), key)) > self.page_bytes_most;
        let built = if is_full {
            Some(self.build_all_but_last()?)
        } else {
            None
        };
        let start = self.staged.len();
        self.staged.extend_from_slice(key);
        self.staged.extend_from_slice(value);
        self.entries.push(StagedEntry {
            start,
            key_bytes,
            value_bytes,
            overflow,
        });
        Ok(built)
    }

    /// Ends the level; returns its last pages, of which there are one or two. Without entries it is one empty page.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn finish(mut self) -> Result<Vec<BuiltPage>, PageBuildError> {
        let mut pages = Vec::new();
        if self.entries.len() > 1 && self.bytes_with(&[]) > self.options.page_bytes {
            pages.push(self.build_all_but_last()?);
        }
        pages.push(self.build(self.entries.len(), &[])?);
        Ok(pages)
    }

    /// An inner page has numbers of pages, and begins at its lower fence.
    fn check_child(&self, key: &[u8], value: &[u8], overflow: bool) -> Result<(), ApplyError> {
        if overflow || ChildPointer::page(value).is_err() {
            return Err(ApplyError::NotAChild);
        }
        if self.entries.is_empty() && key != self.lower_fence {
            return Err(ApplyError::FirstChild);
        }
        Ok(())
    }

    fn key(&self, entry: &StagedEntry) -> &[u8] {
        &self.staged[entry.start..entry.start + entry.key_bytes]
    }

    /// What is to stand between an entry and the next key.
    fn separator<'k>(&self, last: Option<&StagedEntry>, next: &'k [u8]) -> &'k [u8] {
        if self.options.level > 0 {
            return next;
        }
        let shared = last.map_or(0, |last| shared_bytes(self.key(last), next));
        &next[..next.len().min(shared + 1)]
    }

    /// Bytes of a page of all staged entries with an upper fence of so many, if their keys share nothing.
    fn bytes_at_most(&self, upper_bytes: usize) -> usize {
        let fixed = ROW_PAGE_HEADER_BYTES + self.lower_fence.len() + upper_bytes;
        fixed + self.staged.len() + self.entries.len() * SLOT_BYTES
    }

    /// Bytes of a page of all staged entries with that upper fence.
    fn bytes_with(&self, upper: &[u8]) -> usize {
        let prefix_bytes = shared_bytes(&self.lower_fence, upper);
        self.bytes_at_most(upper.len()) - self.entries.len() * prefix_bytes
    }

    fn build_all_but_last(&mut self) -> Result<BuiltPage, PageBuildError> {
        let count = self.entries.len() - 1;
        let last = self.entries[count];
        let upper = self.separator(self.entries[..count].last(), self.key(&last));
        let upper = upper.to_vec();
        let built = self.build(count, &upper)?;
        self.staged.drain(..last.start);
        self.entries.clear();
        self.entries.push(StagedEntry { start: 0, ..last });
        self.lower_fence = upper;
        Ok(built)
    }

    fn build(&self, count: usize, upper: &[u8]) -> Result<BuiltPage, PageBuildError> {
        let mut bytes = vec![0; self.options.page_bytes];
        let setup = PageSetup {
            level: self.options.level,
            layout: self.options.layout,
            lsn: self.options.lsn,
            lower: &self.lower_fence,
            upper,
        };
        let page = RowPageMut::create(&mut bytes, &setup)?;
        let mut header = page.page()?.header();
        let prefix_bytes = usize::from(header.prefix_bytes);
        for entry in &self.entries[..count] {
            let value_start = entry.start + entry.key_bytes;
            let value = &self.staged[value_start..value_start + entry.value_bytes];
            let suffix = self.key(entry).get(prefix_bytes..).unwrap_or_default();
            push(
                page.bytes,
                &mut header,
                [&[], suffix],
                value,
                entry.overflow,
            )?;
        }
        header.append_run = header.slot_count;
        header.write(page.bytes)?;
        Ok(BuiltPage {
            bytes,
            lower_fence: self.lower_fence.clone(),
        })
    }
}
