//! How much there is between two keys, and where to cut it, from inner pages alone.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_store::PageId;
use quire_store::pool::Frame;

use super::error::TreeError;
use super::pages::read;
use super::tree::BTree;

/// Parts are of about one size when there are so many keys to choose each border from.
const KEYS_PER_PART: usize = 4;

/// Where a key is in a tree.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Share of the entries that are below it.
    fraction: f64,
    /// Product of the entries of the pages on the way.
    entries: f64,
}

/// Pages of each level that are looked at to know how many there are below.
const SAMPLE_PAGES: usize = 16;

/// Keys of children, and the children.
type Children = (Vec<Vec<u8>>, Vec<PageId>, u8);

impl BTree {
    /// About how many entries are from `low` up to, without, `high`; a bound of no bytes is none. Some pages of each level are
    /// read.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(crate) fn estimate_entries(&self, low: &[u8], high: &[u8]) -> Result<u64, TreeError> {
        let entries = self.estimate_all_entries()?;
        let first = match low {
            [] => 0.0,
            _ => self.fraction_below(low)?,
        };
        let last = match high {
            [] => 1.0,
            _ => self.fraction_below(high)?,
        };
        Ok((entries * (last - first).max(0.0)).round() as u64)
    }

    /// About how many entries there are: pages of a level, as far as they are few, else some of them, say how many pages
    /// the next has.
    fn estimate_all_entries(&self) -> Result<f64, TreeError> {
        let (mut pages, mut scale) = (vec![self.root], 1.0);
        loop {
            let step = pages.len().div_ceil(SAMPLE_PAGES).max(1);
            let sampled: Vec<PageId> = pages.iter().copied().step_by(step).collect();
            if sampled.is_empty() {
                return Ok(0.0);
            }
            scale *= pages.len() as f64 / sampled.len() as f64;
            let (mut below, mut entry_count) = (Vec::new(), 0);
            for page in sampled {
                match self.children(page)? {
                    Some((_, children, 1..)) => below.extend(children),
                    Some((.., 0)) => entry_count += self.entry_count(page)?,
                    None => {}
                }
            }
            if below.is_empty() {
                return Ok(entry_count as f64 * scale);
            }
            pages = below;
        }
    }

    fn entry_count(&self, page: PageId) -> Result<usize, TreeError> {
        let Some(frame) = self.pages.get(page)? else {
            return Ok(0);
        };
        Ok(read(&frame, |leaf| leaf.len())?.unwrap_or(0))
    }

    /// Keys that cut the range from `low` to `high` into up to `part_count` parts of about one size: ascending, and fewer in a
    /// small tree.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn separators(
        &self,
        low: &[u8],
        high: &[u8],
        part_count: usize,
    ) -> Result<Vec<Vec<u8>>, TreeError> {
        let wanted = part_count.saturating_mul(KEYS_PER_PART);
        let mut pages = vec![self.root];
        let mut keys: Vec<Vec<u8>> = Vec::new();
        while keys.len() < wanted && !pages.is_empty() {
            let mut below = Vec::new();
            keys.clear();
            for page in pages {
                let Some((found, children, level)) = self.children(page)? else {
                    continue;
                };
                let is_within = |key: &Vec<u8>| {
                    key.as_slice() > low && (high.is_empty() || key.as_slice() < high)
                };
                keys.extend(found.into_iter().filter(is_within));
                if level > 1 {
                    below.extend(children);
                }
            }
            pages = below;
        }
        // Pages may have been divided while they were read one after the other.
        keys.sort();
        keys.dedup();
        let parts = part_count.max(1).min(keys.len() + 1);
        let border = |part: usize| keys.get(part * (keys.len() + 1) / parts - 1).cloned();
        Ok((1..parts).filter_map(border).collect())
    }

    /// Share of the entries that are below `key`, if all pages of a level were equally full.
    fn fraction_below(&self, key: &[u8]) -> Result<f64, TreeError> {
        let mut place = Place {
            fraction: 0.0,
            entries: 1.0,
        };
        let mut page = self.root;
        loop {
            let Some(frame) = self.pages.get(page)? else {
                return Ok(place.fraction);
            };
            match step(&frame, key, &mut place)? {
                Some(child) => page = child,
                None => return Ok(place.fraction),
            }
        }
    }

    /// Keys and children of an inner page, and its level; `None` when it is gone.
    fn children(&self, page: PageId) -> Result<Option<Children>, TreeError> {
        let Some(frame) = self.pages.get(page)? else {
            return Ok(None);
        };
        let found = read(&frame, |inner| -> Result<Children, Corrupt> {
            let (mut keys, mut children) = (Vec::new(), Vec::new());
            if inner.level() == 0 {
                return Ok((keys, children, 0));
            }
            for (position, entry) in inner.entries_in(0..inner.len()).enumerate() {
                let entry = entry?;
                keys.push([entry.prefix, entry.suffix].concat());
                children.push(inner.child_at(position)?);
            }
            Ok((keys, children, inner.level()))
        })?;
        found.transpose().map_err(TreeError::corrupt(page))
    }
}

/// Goes one level down; `None` at a leaf, or at a page that is gone.
fn step(frame: &Arc<Frame>, key: &[u8], place: &mut Place) -> Result<Option<PageId>, TreeError> {
    let found = read(frame, |page| -> Result<Option<PageId>, Corrupt> {
        let position = match page.level() {
            0 => page.lower_bound(key)?,
            _ => page.child(key)?.0,
        };
        let count = page.len().max(1) as f64;
        place.fraction += position as f64 / count / place.entries;
        place.entries *= count;
        if page.level() == 0 || page.is_empty() {
            return Ok(None);
        }
        page.child_at(position.min(page.len() - 1)).map(Some)
    })?;
    Ok(found
        .transpose()
        .map_err(TreeError::corrupt(frame.page()))?
        .flatten())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use quire_store::pool::{PageCodec, Pool, PoolOptions};
    use quire_store::{MemDisk, Volume, VolumeOptions};

    use crate::btree::{BTree, TreeOptions};

    #[test]
    fn estimates_are_near_and_separators_cut_evenly() {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk, VolumeOptions::default()).unwrap();
        let pool = Pool::new(&volume, PoolOptions::default());
        let options = TreeOptions {
            page_bytes: 4_096,
            ..TreeOptions::default()
        };
        let guard = pool.begin_change();
        let tree = BTree::create(&pool, PageCodec::NONE, options, &guard).unwrap();
        assert_eq!(tree.estimate_entries(&[], &[]).unwrap(), 0);
        assert!(tree.separators(&[], &[], 4).unwrap().is_empty());
        for number in 0..60_000_u32 {
            tree.put(&number.to_be_bytes(), &[7; 30], 1, &guard)
                .unwrap();
        }
        let between = |low: u32, high: u32| {
            let (low, high) = (low.to_be_bytes(), high.to_be_bytes());
            tree.estimate_entries(&low, &high).unwrap() as f64
        };
        let all = tree.estimate_entries(&[], &[]).unwrap() as f64;
        assert!((all / 60_000.0 - 1.0).abs() < 0.1, "{all}");
        for (low, high) in [(0, 30_000), (10_000, 50_000), (55_000, 60_000)] {
            let (found, expected) = (between(low, high), f64::from(high - low));
            assert!((found - expected).abs() < 4_000.0, "{low}..{high}: {found}");
        }
        assert_eq!(between(70_000, 80_000), 0.0);
        let borders = tree.separators(&[], &[], 4).unwrap();
        assert_eq!(borders.len(), 3);
        let mut low: &[u8] = &[];
        for border in borders.iter().map(Vec::as_slice).chain([[].as_slice()]) {
            let part = tree.estimate_entries(low, border).unwrap();
            assert!((10_000..20_000).contains(&part), "{part}");
            low = border;
        }
    }
}
