//! One page becomes two, two become one, or two share their entries anew.
//!
//! A leaf's separator is the shortest key that is greater than the entry to its left and not greater than the one
//! to its right, and of several places in the middle the one with the shortest separator is taken (R. Bayer,
//! K. Unterauer, *Prefix B-Trees*, 1977, §3). In an inner page the separator is the key of the entry that becomes the
//! first child on the right. Short separators make inner pages wide, and new fences make prefixes long.

use quire_codec::Corrupt;
use thiserror::Error;

use super::create::{PageSetup, SetupError};
use super::layout::{ROW_PAGE_HEADER_BYTES, SLOT_BYTES, TreePageKind};
use super::read::{KeySearch, PageEntryRef, RowPage};
use super::space::{self, CutRegion};
use super::write::{RowPageMut, push};

/// Why pages cannot be divided anew. They are as they were.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DivideError {
    #[error(
        "no place to divide {entry_count} entries so that each part fits a page; leave them as they are"
    )]
    NoSeparator { entry_count: usize },
    #[error(
        "the separator does not divide the entries of the page; this is a defect of the caller"
    )]
    Separator,
    #[error(
        "pages of different length, level or layout, or that do not meet; this is a defect of the caller"
    )]
    NotNeighbours,
    #[error("both pages together take {bytes} bytes of {page_bytes}; rebalance them")]
    TooLarge { bytes: usize, page_bytes: usize },
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl RowPageMut<'_> {
    /// Moves the larger keys into `right`, whatever it was, and returns the separator: the upper fence of this page and
    /// the lower fence of the other. Insert `pending_key`, for which there was no room, on its side of it.
    ///
    /// A page that has been appended to, and is now too, leaves most entries on the left.
    ///
    /// # Errors
    /// As the variants say.
    pub fn split(&mut self, right: &mut [u8], pending_key: &[u8]) -> Result<Vec<u8>, DivideError> {
        let page = self.page()?;
        let entries = JoinedEntries {
            left: page,
            right: None,
        };
        let at_end = page.find(pending_key)? == KeySearch::Absent(page.len());
        let total = entries.bytes()?;
        let end = CutRegion::end(total, page.page_bytes());
        let appended_to = at_end && space::is_appended_to(page.header().append_run);
        let separator = match appended_to.then(|| entries.nearest_separator(end)) {
            Some(Ok(separator)) => separator,
            _ => entries.nearest_separator(CutRegion::middle(total, page.page_bytes()))?,
        };
        self.split_at(&separator, right)?;
        Ok(separator)
    }

    /// Splits with a separator that is known already, as when the change is repeated from a log.
    ///
    /// # Errors
    /// As the variants say.
    pub fn split_at(&mut self, separator: &[u8], right: &mut [u8]) -> Result<(), DivideError> {
        let before = self.bytes.to_vec();
        let page = RowPage::trusted(&before)?;
        if right.len() != before.len() {
            return Err(DivideError::NotNeighbours);
        }
        JoinedEntries {
            left: page,
            right: None,
        }
        .divide(separator, self.bytes, right)
    }

    /// Takes the entries of `right`, the neighbour with the larger keys, which is not needed afterwards.
    ///
    /// # Errors
    /// As the variants say.
    pub fn merge(&mut self, right: &RowPage<'_>) -> Result<(), DivideError> {
        let before = self.bytes.to_vec();
        let left = RowPage::trusted(&before)?;
        let entries = JoinedEntries::of_neighbours(left, *right)?;
        let page_bytes = left.page_bytes();
        let bytes = space::merged_bytes(&left, right)?;
        if bytes > page_bytes {
            return Err(DivideError::TooLarge { bytes, page_bytes });
        }
        let setup = entries.setup(left.lower_fence(), right.upper_fence());
        let mut target = vec![0; page_bytes];
        entries.write(0..entries.len(), &mut target, &setup)?;
        self.bytes.copy_from_slice(&target);
        Ok(())
    }

    /// Shares the entries with `right`, the neighbour with the larger keys, so that both have about as many bytes, and
    /// returns the new separator.
    ///
    /// # Errors
    /// As the variants say.
    pub fn rebalance(&mut self, right: &mut RowPageMut<'_>) -> Result<Vec<u8>, DivideError> {
        let before = [self.bytes.to_vec(), right.bytes.to_vec()];
        let entries = JoinedEntries::of_neighbours(
            RowPage::trusted(&before[0])?,
            RowPage::trusted(&before[1])?,
        )?;
        let region = CutRegion::rebalance(entries.bytes()?, before[0].len());
        let separator = entries.nearest_separator(region)?;
        entries.divide(&separator, self.bytes, right.bytes)?;
        Ok(separator)
    }
}

/// The entries of a page, or of two neighbours, in order.
#[derive(Clone, Copy)]
struct JoinedEntries<'a> {
    left: RowPage<'a>,
    right: Option<RowPage<'a>>,
}

impl<'a> JoinedEntries<'a> {
    fn of_neighbours(left: RowPage<'a>, right: RowPage<'a>) -> Result<Self, DivideError> {
        let alike = |page: &RowPage<'_>| (page.page_bytes(), page.level(), page.layout());
        let meet = !left.upper_fence().is_empty() && left.upper_fence() == right.lower_fence();
        if !meet || alike(&left) != alike(&right) {
            return Err(DivideError::NotNeighbours);
        }
        Ok(Self {
            left,
            right: Some(right),
        })
    }

    fn len(&self) -> usize {
        self.left.len() + self.right.map_or(0, |right| right.len())
    }

    fn entry(&self, index: usize) -> Result<PageEntryRef<'a>, Corrupt> {
        match self.right {
            Some(right) if index >= self.left.len() => right.entry(index - self.left.len()),
            _ => self.left.entry(index),
        }
    }

    fn upper_fence(&self) -> &'a [u8] {
        self.right.unwrap_or(self.left).upper_fence()
    }

    /// What the keys would share if all were in one page.
    fn prefix_bytes(&self) -> usize {
        space::shared_bytes(self.left.lower_fence(), self.upper_fence())
    }

    /// Bytes of all slots and records, if all were in one page.
    fn bytes(&self) -> Result<usize, Corrupt> {
        let prefix_bytes = self.prefix_bytes();
        let right = self
            .right
            .map_or(Ok(0), |right| right.entry_bytes(prefix_bytes));
        Ok(self.left.entry_bytes(prefix_bytes)? + right?)
    }

    fn setup<'b>(&self, lower: &'b [u8], upper: &'b [u8]) -> PageSetup<'b> {
        PageSetup {
            level: self.left.level(),
            layout: self.left.layout(),
            lsn: self
                .left
                .lsn()
                .max(self.right.map_or(0, |right| right.lsn())),
            lower,
            upper,
        }
    }

    /// A separator in the region, or else the one nearest to it.
    fn nearest_separator(&self, region: CutRegion) -> Result<Vec<u8>, DivideError> {
        if let Some(separator) = self.separator(region)? {
            return Ok(separator);
        }
        let separator = self.separator(region.anywhere())?;
        separator.ok_or(DivideError::NoSeparator {
            entry_count: self.len(),
        })
    }

    /// The shortest separator in the region, of those the one nearest to where it should be; or the nearest of all.
    fn separator(&self, region: CutRegion) -> Result<Option<Vec<u8>>, Corrupt> {
        let (prefix_bytes, total) = (self.prefix_bytes(), self.bytes()?);
        let fixed = ROW_PAGE_HEADER_BYTES;
        let (lower, upper) = (self.left.lower_fence().len(), self.upper_fence().len());
        let mut left_bytes = 0;
        let mut best = None;
        for index in 1..self.len() {
            let before = self.entry(index - 1)?;
            let key_bytes = before.key_bytes().saturating_sub(prefix_bytes);
            left_bytes += SLOT_BYTES + key_bytes + before.value.len();
            if left_bytes < region.from_bytes {
                continue;
            }
            if left_bytes > region.to_bytes {
                break;
            }
            let separator_bytes = self.separator_bytes(index, &before)?;
            let left_page = fixed + lower + separator_bytes + left_bytes;
            let right_page = fixed + separator_bytes + upper + total.saturating_sub(left_bytes);
            let distance = left_bytes.abs_diff(region.ideal_bytes);
            let rank = if region.prefers_short {
                (separator_bytes, distance)
            } else {
                (0, distance)
            };
            if region.allows(left_page, right_page) && best.is_none_or(|(least, _, _)| rank < least)
            {
                best = Some((rank, index, separator_bytes));
            }
        }
        let Some((_, index, separator_bytes)) = best else {
            return Ok(None);
        };
        let mut separator = self.entry(index)?.key();
        separator.truncate(separator_bytes);
        Ok(Some(separator))
    }

    /// How many bytes of the key of entry `index` tell it from the entry before it.
    fn separator_bytes(&self, index: usize, before: &PageEntryRef<'_>) -> Result<usize, Corrupt> {
        let entry = self.entry(index)?;
        if self.left.kind() == TreePageKind::Inner {
            return Ok(entry.key_bytes());
        }
        let bytes = entry.prefix.iter().chain(entry.suffix);
        let bytes_before = before.prefix.iter().chain(before.suffix);
        let shared = bytes
            .zip(bytes_before)
            .take_while(|(one, other)| one == other)
            .count();
        Ok((shared + 1).min(entry.key_bytes()))
    }

    /// Writes the entries below `separator` to one page and the others to another.
    fn divide(
        &self,
        separator: &[u8],
        left: &mut [u8],
        right: &mut [u8],
    ) -> Result<(), DivideError> {
        let cut = match self.right {
            Some(page) if page.lower_fence() <= separator => {
                self.left.len() + page.lower_bound(separator)?
            }
            _ => self.left.lower_bound(separator)?,
        };
        if cut == 0 || cut == self.len() {
            return Err(DivideError::Separator);
        }
        if self.left.kind() == TreePageKind::Inner && self.entry(cut)?.key() != separator {
            return Err(DivideError::Separator);
        }
        let mut halves = [vec![0; left.len()], vec![0; right.len()]];
        let setup = self.setup(self.left.lower_fence(), separator);
        self.write(0..cut, &mut halves[0], &setup)?;
        let setup = self.setup(separator, self.upper_fence());
        self.write(cut..self.len(), &mut halves[1], &setup)?;
        left.copy_from_slice(&halves[0]);
        right.copy_from_slice(&halves[1]);
        Ok(())
    }

    /// Makes `target` a page of these entries. An appended-to page stays one if it keeps the last entry.
    fn write(
        &self,
        range: std::ops::Range<usize>,
        target: &mut [u8],
        setup: &PageSetup<'_>,
    ) -> Result<(), DivideError> {
        let made = RowPageMut::create(target, setup)?;
        let mut header = made.page()?.header();
        let prefix_bytes = usize::from(header.prefix_bytes);
        if range.end == self.len() {
            header.append_run = self.right.unwrap_or(self.left).header().append_run;
        }
        for index in range {
            let entry = self.entry(index)?;
            let key = match entry.prefix.get(prefix_bytes..) {
                Some(rest) => [rest, entry.suffix],
                None => {
                    let shorter = prefix_bytes - entry.prefix.len();
                    [
                        [].as_slice(),
                        entry.suffix.get(shorter..).unwrap_or_default(),
                    ]
                }
            };
            push(made.bytes, &mut header, key, entry.value, entry.overflow)?;
        }
        Ok(header.write(made.bytes)?)
    }
}
