//! How much there is between two keys, and where to cut it, from inner pages alone.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::RowPage;
use quire_store::PageId;
use quire_store::pool::Frame;

use super::descend::Target;
use super::error::TreeError;
use super::pages::read;
use super::tree::BTree;

/// Parts are of about one size when there are so many keys to choose each border from.
const KEYS_PER_PART: usize = 4;

/// Where a key is in a tree, if all pages of a level were equally full.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Share of the entries that are below it.
    fraction: f64,
    /// Entries of the tree, from how many each page on the way has.
    entries: f64,
}

/// Keys of children, and the children.
type Children = (Vec<Vec<u8>>, Vec<PageId>, u8);

impl BTree {
    /// About how many entries are from `low` up to, without, `high`; a bound of no bytes is none. One leaf is read for each
    /// bound.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn estimate_entries(&self, low: &[u8], high: &[u8]) -> Result<u64, TreeError> {
        let first = self.place(Target::Key(low))?;
        let last = match high {
            [] => Place {
                fraction: 1.0,
                ..self.place(Target::Below(&[]))?
            },
            _ => self.place(Target::Key(high))?,
        };
        let entries = (first.entries + last.entries) / 2.0;
        let share = (last.fraction - first.fraction).max(0.0);
        Ok((entries * share).round() as u64)
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

    fn place(&self, target: Target<'_>) -> Result<Place, TreeError> {
        let mut place = Place {
            fraction: 0.0,
            entries: 1.0,
        };
        let mut page = self.root;
        loop {
            let Some(frame) = self.pages.get(page)? else {
                return Ok(place);
            };
            match step(&frame, target, &mut place)? {
                Some(child) => page = child,
                None => return Ok(place),
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
fn step(
    frame: &Arc<Frame>,
    target: Target<'_>,
    place: &mut Place,
) -> Result<Option<PageId>, TreeError> {
    let found = read(frame, |page| -> Result<Option<PageId>, Corrupt> {
        let position = position_of(page, target)?;
        let count = page.len().max(1) as f64;
        place.fraction += position as f64 / count / place.entries;
        place.entries *= page.len() as f64;
        if page.level() == 0 || page.is_empty() {
            return Ok(None);
        }
        place.entries = place.entries.max(1.0);
        page.child_at(position.min(page.len() - 1)).map(Some)
    })?;
    Ok(found
        .transpose()
        .map_err(TreeError::corrupt(frame.page()))?
        .flatten())
}

fn position_of(page: &RowPage<'_>, target: Target<'_>) -> Result<usize, Corrupt> {
    match target {
        Target::Below([]) => Ok(page.len().saturating_sub(1)),
        Target::Key(key) | Target::Below(key) if page.level() == 0 => page.lower_bound(key),
        Target::Key(key) | Target::Below(key) => Ok(page.child(key)?.0),
    }
}
