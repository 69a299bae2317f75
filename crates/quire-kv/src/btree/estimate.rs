//! How much there is between two keys, and where to cut it, from inner pages alone.

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;
use quire_format::row_page::RowPage;
use quire_store::PageId;
use quire_store::pool::Residence;

use super::descend::astray;
use super::error::TreeError;
use super::pages::read;
use super::tree::BTree;

/// Parts are of about one size when there are so many keys to choose each border from.
const KEYS_PER_PART: usize = 4;

/// Where a key is in a tree.
#[derive(Clone, Copy, Debug)]
struct KeyPosition {
    /// Share of the entries that are below it.
    fraction: f64,
    /// Product of the entries of the pages on the way.
    entries: f64,
}

/// Pages of each level that are looked at to know how many there are below, when a statement is planned.
pub const FEW_PAGES: usize = 16;

/// Leaves whose place is asked for to know where all of them are.
const PLACED_PAGES: usize = 61;

/// The leaves of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafEstimate {
    /// Entries of all of them.
    pub entries: f64,
    /// Whether all of them were looked at.
    pub is_exact: bool,
    pub leaves: f64,
    /// The share that is in memory as images only, and the share that is on the disk only.
    pub image_share: f64,
    pub disk_share: f64,
    /// Bytes of an image, of those that were looked at.
    pub image_bytes: f64,
    pub page_bytes: f64,
    /// What pages of all trees may take in memory, in frames and as images.
    pub pool_bytes: f64,
    pub codec: BlockCodecId,
}

/// What a page has: pages of the next level, or so many entries.
enum Below {
    Pages(Vec<PageId>),
    Entries(usize),
}

/// For who does not want to know how far reading has come.
pub fn untold(_: u64, _: u64) {}

/// Keys of children, and the children.
type Children = (Vec<Vec<u8>>, Vec<PageId>);

impl BTree {
    /// About how many entries are from `low` up to, without, `high`; a bound of no bytes is none. Some pages of each level are
    /// read.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(crate) fn estimate_entries(&self, low: &[u8], high: &[u8]) -> Result<u64, TreeError> {
        let entries = self.estimate_leaves(FEW_PAGES, &mut untold)?.entries;
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

    /// About how many entries and leaves there are, and where these are: pages of a level, up to `page_count_max` of them, say how many
    /// pages the next has. `told` is, of each leaf that was read, its bytes, and those of all that will be.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(crate) fn estimate_leaves(
        &self,
        page_count_max: usize,
        told: &mut dyn FnMut(u64, u64),
    ) -> Result<LeafEstimate, TreeError> {
        let page_bytes = self.page_bytes() as u64;
        let (mut pages, mut scale) = (vec![self.root], 1.0);
        let mut above = None;
        loop {
            // Before any is read.
            let mut estimate = self.places_of(&pages);
            estimate.leaves = pages.len() as f64 * scale;
            let step = pages.len().div_ceil(page_count_max).max(1);
            // The first page of a level and the last are often unlike all others.
            let sampled = pages.iter().copied().skip(step / 3).step_by(step);
            let sampled: Vec<PageId> = sampled.collect();
            if sampled.is_empty() {
                return Ok(estimate);
            }
            scale *= pages.len() as f64 / sampled.len() as f64;
            let all_bytes = sampled.len() as u64 * page_bytes;
            let (mut below, mut entry_count) = (Vec::new(), 0);
            let mut found_level = None;
            for page in sampled {
                let Some((level, found)) = self.look_at(page, above, below_page)? else {
                    continue;
                };
                match found {
                    Below::Pages(children) => {
                        found_level = Some(level);
                        below.extend(children);
                    }
                    Below::Entries(count) => {
                        entry_count += count;
                        told(page_bytes, all_bytes);
                    }
                }
            }
            if below.is_empty() {
                estimate.entries = entry_count as f64 * scale;
                estimate.is_exact = scale == 1.0;
                return Ok(estimate);
            }
            (pages, above) = (below, found_level);
        }
    }

    /// Where some of these pages are. Others are looked at than those that are read to be counted, if there are enough: these will be in
    /// memory the next time.
    fn places_of(&self, pages: &[PageId]) -> LeafEstimate {
        let step = pages.len().div_ceil(PLACED_PAGES).max(1);
        let placed = pages.iter().skip(step / 2).step_by(step);
        let (mut count, mut images, mut on_disk, mut image_bytes) = (0.0, 0.0, 0.0, 0.0);
        for page in placed {
            count += 1.0;
            match self.pages.residence(*page) {
                Residence::Frame => {}
                Residence::Image { image_bytes: bytes } => {
                    images += 1.0;
                    image_bytes += f64::from(bytes);
                }
                Residence::Disk { image_bytes: bytes } => {
                    on_disk += 1.0;
                    image_bytes += f64::from(bytes);
                }
            }
        }
        let share = |of: f64| if count > 0.0 { of / count } else { 0.0 };
        LeafEstimate {
            entries: 0.0,
            is_exact: false,
            leaves: 0.0,
            image_share: share(images),
            disk_share: share(on_disk),
            image_bytes: image_bytes / f64::max(images + on_disk, 1.0),
            page_bytes: self.page_bytes() as f64,
            pool_bytes: self.pages.pool_bytes() as f64,
            codec: self.pages.codec().id(),
        }
    }

    /// What `look` finds in a page, with the level of the page; `None` when the page has been freed. `above` is the level of the page
    /// above it.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged, and one that is not one level below the page above it: the pointers of a damaged page
    /// could lead in circles.
    fn look_at<R>(
        &self,
        page: PageId,
        above: Option<u8>,
        look: impl FnOnce(&RowPage<'_>) -> Result<R, Corrupt>,
    ) -> Result<Option<(u8, R)>, TreeError> {
        let Some(frame) = self.pages.get(page)? else {
            return Ok(None);
        };
        let found = read(&frame, |rows| look(rows).map(|found| (rows.level(), found)))?;
        let found = found.transpose().map_err(TreeError::corrupt(page))?;
        match (&found, above) {
            (Some((level, _)), Some(above)) if above.checked_sub(1) != Some(*level) => {
                Err(astray(page))
            }
            _ => Ok(found),
        }
    }

    /// Keys that cut the range from `low` to `high` into up to `part_count` parts of about one size: ascending, and fewer in a
    /// small tree.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(crate) fn separators(
        &self,
        low: &[u8],
        high: &[u8],
        part_count: usize,
    ) -> Result<Vec<Vec<u8>>, TreeError> {
        let wanted = part_count.saturating_mul(KEYS_PER_PART);
        let mut pages = vec![self.root];
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let mut above = None;
        while keys.len() < wanted && !pages.is_empty() {
            let mut below = Vec::new();
            let mut found_level = None;
            keys.clear();
            for page in pages {
                let Some((level, (found, children))) = self.look_at(page, above, children)? else {
                    continue;
                };
                found_level = Some(level);
                let is_within = |key: &Vec<u8>| {
                    key.as_slice() > low && (high.is_empty() || key.as_slice() < high)
                };
                keys.extend(found.into_iter().filter(is_within));
                if level > 1 {
                    below.extend(children);
                }
            }
            (pages, above) = (below, found_level);
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
        let mut place = KeyPosition {
            fraction: 0.0,
            entries: 1.0,
        };
        let (mut page, mut above) = (self.root, None);
        while let Some((level, Some(child))) =
            self.look_at(page, above, |rows| step(rows, key, &mut place))?
        {
            (page, above) = (child, Some(level));
        }
        Ok(place.fraction)
    }
}

fn below_page(page: &RowPage<'_>) -> Result<Below, Corrupt> {
    if page.level() == 0 {
        return Ok(Below::Entries(page.len()));
    }
    let children = (0..page.len()).map(|position| page.child_at(position));
    children.collect::<Result<_, _>>().map(Below::Pages)
}

/// Keys and children of an inner page.
fn children(page: &RowPage<'_>) -> Result<Children, Corrupt> {
    let (mut keys, mut children) = (Vec::new(), Vec::new());
    if page.level() == 0 {
        return Ok((keys, children));
    }
    for (position, entry) in page.entries_in(0..page.len()).enumerate() {
        let entry = entry?;
        keys.push([entry.prefix, entry.suffix].concat());
        children.push(page.child_at(position)?);
    }
    Ok((keys, children))
}

/// Finds the place of a key in a page, and the child to go on with; `None` at a leaf.
fn step(
    page: &RowPage<'_>,
    key: &[u8],
    place: &mut KeyPosition,
) -> Result<Option<PageId>, Corrupt> {
    let is_leaf = page.level() == 0;
    let position = if is_leaf {
        page.lower_bound(key)?
    } else {
        page.child(key)?.0
    };
    let count = page.len().max(1) as f64;
    place.fraction += position as f64 / count / place.entries;
    place.entries *= count;
    if is_leaf || page.is_empty() {
        return Ok(None);
    }
    page.child_at(position.min(page.len() - 1)).map(Some)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use quire_format::row_page::{ChildPointer, PageOp};
    use quire_store::pool::{PageCodec, Pool, PoolOptions};
    use quire_store::{MemDisk, Volume, VolumeOptions};

    use crate::btree::{BTree, TreeError, TreeOptions};

    const SMALL_PAGES: TreeOptions = TreeOptions {
        page_bytes: 4_096,
        layout: 0,
    };

    fn empty_pool() -> Pool {
        let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
        Pool::new(&volume, PoolOptions::default())
    }

    #[test]
    fn estimates_are_near_and_separators_cut_evenly() {
        let pool = empty_pool();
        let guard = pool.begin_change();
        let tree = BTree::create(&pool, PageCodec::NONE, SMALL_PAGES, &guard).unwrap();
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

    /// Found by file 7320 of the campaign of damaged files: planning did not end.
    #[test]
    fn pages_that_lead_in_circles_are_an_error() {
        let pool = empty_pool();
        let guard = pool.begin_change();
        let tree = BTree::create(&pool, PageCodec::NONE, SMALL_PAGES, &guard).unwrap();
        for number in 0..1_000_u32 {
            tree.put(&number.to_be_bytes(), &[7; 30], 1, &guard)
                .unwrap();
        }
        let root = pool.get(tree.root(), PageCodec::NONE).unwrap();
        let pointer = ChildPointer::new(tree.root());
        for position in 0..root.read(|page| page.len()).unwrap() {
            let key = root.read(|page| page.entry(position).unwrap().key());
            let op = PageOp::Put {
                key: &key.unwrap(),
                value: pointer.as_bytes(),
                overflow: false,
            };
            root.apply(&op, 1).unwrap();
        }
        let is_astray = |error| matches!(error, TreeError::Astray { .. });
        assert!(is_astray(tree.estimate_entries(&[], &[]).unwrap_err()));
        assert!(is_astray(tree.fraction_below(&[0, 0, 1]).unwrap_err()));
        assert!(
            tree.separators(&[], &[], 1_000).is_ok(),
            "the level says that there are leaves below"
        );
    }
}
