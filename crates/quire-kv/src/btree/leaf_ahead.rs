//! Leaves that a cursor will come to: their images are read from the disk while it is in others.
//!
//! A cursor finds each leaf from the root, so a leaf that is only on the disk costs it a wait. The page above names the leaves that follow; when a
//! cursor has passed two leaves it is taken for one that goes on, and those of the next leaves that are only on the disk are requested
//! together ([`quire_store::ReadAhead`]: neighbours with one request, bounded over all that read ahead). What is requested is a guess: leaves may be split,
//! merged or written meanwhile, and the cursor reads what it finds, whether or not it was asked for. Who meets leaves in memory pays for looking at
//! the page above them once in many leaves.

use std::collections::VecDeque;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::RowPage;
use quire_store::pool::Residence;
use quire_store::{PageId, ReadAhead};

use super::descent::LeafTarget;
use super::error::TreeError;
use super::pages::read;
use super::tree::BTree;

/// A cursor that has passed fewer leaves may end soon.
const PASSED_LEAVES_MIN: usize = 2;

/// Leaves that are looked for at once: at first, and at most.
const LOOKED_LEAVES_MIN: usize = 8;
const LOOKED_LEAVES_MAX: usize = 256;

/// The images of the leaves that are looked for at once may be about so long: half as much may still be on its way, and all scans of a volume with a small
/// cache have 1 MiB together. What exceeds that is read leaf by leaf.
const REQUESTED_BYTES: u64 = 256 << 10;

/// When so many leaves in a row were not among those that were expected, the tree has changed.
const UNEXPECTED_LEAVES_MAX: usize = 4;

/// What a cursor knows of the leaves to come. While some of them are on their way, or have come and wait for the cursor, it holds the version of
/// the volume that they are read from.
pub(crate) struct LeafReadAhead {
    /// Those behind the leaf that the cursor is in, in its order.
    leaves: VecDeque<LeafToCome>,
    /// Where those behind them begin; nothing before the first look.
    behind: Option<Vec<u8>>,
    /// There are none behind them.
    is_at_end: bool,
    /// The leaf that the cursor is in.
    current: Option<PageId>,
    passed_count: usize,
    unexpected_count: usize,
    /// How many are looked for at once.
    looked_count: usize,
}

struct LeafToCome {
    page: PageId,
    /// If it was requested.
    ahead: Option<Arc<ReadAhead>>,
}

/// Leaves that follow each other, as the page above them names them.
struct LeavesFound {
    leaves: Vec<PageId>,
    /// Where those behind them begin; nothing at the end of the range.
    behind: Option<Vec<u8>>,
}

/// What one page of the way to the page above leaves leads to.
enum ParentStep {
    Child(PageId, u8),
    Leaves(LeavesFound),
    Lost,
}

impl Default for LeafReadAhead {
    fn default() -> Self {
        Self {
            leaves: VecDeque::new(),
            behind: None,
            is_at_end: false,
            current: None,
            passed_count: 0,
            unexpected_count: 0,
            looked_count: LOOKED_LEAVES_MIN,
        }
    }
}

impl LeafReadAhead {
    /// The cursor goes on to the leaf of `target`, and ends at the bound `end`, which is none without bytes.
    pub(super) fn look(&mut self, tree: &BTree, target: LeafTarget<'_>, end: &[u8]) {
        if self.passed_count < PASSED_LEAVES_MIN
            || self.is_at_end
            || self.leaves.len() > self.looked_count / 2
        {
            return;
        }
        let target = match (target, &self.behind) {
            (target, None) => target,
            (LeafTarget::Key(_), Some(behind)) => LeafTarget::Key(behind),
            (LeafTarget::Below(_), Some(behind)) => LeafTarget::Below(behind),
        };
        // What cannot be read is reported when the cursor comes to it.
        let Ok(Some(found)) = tree.leaves_from(target, end, self.looked_count) else {
            return;
        };
        self.request(tree, &found.leaves);
        self.is_at_end = found.behind.is_none();
        self.behind = found.behind;
    }

    /// The cursor is about to read a leaf: waits for it if it was requested.
    pub(super) fn arrive(&mut self, leaf: PageId) {
        if self.current.replace(leaf) == Some(leaf) {
            return;
        }
        self.passed_count += 1;
        self.take(leaf);
        self.let_go_of_read();
    }

    /// Takes a leaf, and those that were passed over, out of those to come.
    fn take(&mut self, leaf: PageId) {
        let Some(position) = self.leaves.iter().position(|it| it.page == leaf) else {
            self.note_unexpected();
            return;
        };
        self.unexpected_count = 0;
        for passed in self.leaves.drain(..=position) {
            let Some(ahead) = passed.ahead else { continue };
            if passed.page == leaf {
                // It is in the cache of the volume then. If it could not be read, the cursor gets the error by reading it.
                let _ = ahead.read(leaf);
            } else {
                ahead.release(&[passed.page]);
            }
        }
    }

    /// Once all that was requested is in the cache of the volume, neither it nor its version is held: the cursor may stay where it is for long.
    fn let_go_of_read(&mut self) {
        let mut requested = self
            .leaves
            .iter()
            .filter_map(|leaf| Some((leaf.page, leaf.ahead.as_ref()?)));
        if requested.all(|(page, ahead)| ahead.is_ready(page)) {
            for leaf in &mut self.leaves {
                leaf.ahead = None;
            }
        }
    }

    /// The halves of a leaf that was split are unexpected. Many such leaves mean that the others may not come either.
    fn note_unexpected(&mut self) {
        if self.leaves.is_empty() {
            return;
        }
        self.unexpected_count += 1;
        if self.unexpected_count > UNEXPECTED_LEAVES_MAX {
            self.leaves.clear();
            (self.behind, self.is_at_end) = (None, false);
            self.unexpected_count = 0;
        }
    }

    /// Requests those of some leaves that are only on the disk, as far as the bound permits.
    fn request(&mut self, tree: &BTree, leaves: &[PageId]) {
        let (mut on_disk, mut bytes) = (Vec::new(), 0);
        for leaf in leaves {
            if let Residence::Disk { image_bytes } = tree.pages.residence(*leaf) {
                on_disk.push(*leaf);
                bytes += u64::from(image_bytes);
            }
        }
        let ahead = (!on_disk.is_empty()).then(|| Arc::new(tree.pages.read_ahead()));
        let requested = ahead.as_ref().map(|ahead| ahead.request(&on_disk).pages);
        on_disk.truncate(requested.unwrap_or_default());
        let mut requested = on_disk.into_iter().peekable();
        for &page in leaves {
            let is_requested = requested.next_if_eq(&page).is_some();
            let ahead = ahead.as_ref().filter(|_| is_requested);
            self.leaves.push_back(LeafToCome {
                page,
                ahead: ahead.map(Arc::clone),
            });
        }
        let leaf_bytes = bytes / leaves.len().max(1) as u64;
        let most = usize::try_from(REQUESTED_BYTES / leaf_bytes.max(1));
        let most = most.map_or(LOOKED_LEAVES_MAX, |most| most.min(LOOKED_LEAVES_MAX));
        self.looked_count = (self.looked_count * 2).min(most).max(LOOKED_LEAVES_MIN);
    }
}

impl BTree {
    /// The leaf of `target` and those behind it, up to the bound `end` and the end of the page above, at most so many. Nothing if others are changing
    /// the way there, or it is damaged.
    fn leaves_from(
        &self,
        target: LeafTarget<'_>,
        end: &[u8],
        count_max: usize,
    ) -> Result<Option<LeavesFound>, TreeError> {
        let mut below = self.start()?;
        let mut level = None;
        loop {
            let frame = self.here(&below)?;
            let step = read(frame, |page| match page.level() {
                0 => Ok(ParentStep::Lost),
                found if level.is_some_and(|level| level != found) => Ok(ParentStep::Lost),
                _ if !target.is_in(page) => Ok(ParentStep::Lost),
                1 => leaves_in(page, target, end, count_max).map(ParentStep::Leaves),
                found => {
                    let child = target.child(page);
                    child.map(|child| ParentStep::Child(child, found - 1))
                }
            })?;
            let page = frame.page();
            let step = step.transpose().map_err(TreeError::corrupt(page))?;
            let child = match step {
                Some(ParentStep::Child(child, child_level)) => {
                    level = Some(child_level);
                    child
                }
                Some(ParentStep::Leaves(found)) => return Ok(Some(found)),
                Some(ParentStep::Lost) | None => return Ok(None),
            };
            let Some(frame) = self.pages.get(child)? else {
                return Ok(None);
            };
            below = Some(frame);
        }
    }
}

/// The leaves below one page, from that of `target` on.
fn leaves_in(
    page: &RowPage<'_>,
    target: LeafTarget<'_>,
    end: &[u8],
    count_max: usize,
) -> Result<LeavesFound, Corrupt> {
    match target {
        LeafTarget::Key(key) => leaves_upward(page, key, end, count_max),
        LeafTarget::Below(bound) => leaves_downward(page, bound, end, count_max),
    }
}

fn leaves_upward(
    page: &RowPage<'_>,
    key: &[u8],
    high: &[u8],
    count_max: usize,
) -> Result<LeavesFound, Corrupt> {
    let first = page.child(key)?.0;
    let beyond = match high {
        [] => page.len(),
        _ => page.lower_bound(high)?.max(first),
    };
    let last = beyond.min(first.saturating_add(count_max));
    let leaves = (first..last).map(|position| page.child_at(position));
    let upper = page.upper_fence();
    let behind = if last < beyond {
        Some(page.entry(last)?.key())
    } else if beyond == page.len() && !upper.is_empty() && (high.is_empty() || upper < high) {
        Some(upper.to_vec())
    } else {
        None
    };
    Ok(LeavesFound {
        leaves: leaves.collect::<Result<_, _>>()?,
        behind,
    })
}

fn leaves_downward(
    page: &RowPage<'_>,
    bound: &[u8],
    low: &[u8],
    count_max: usize,
) -> Result<LeavesFound, Corrupt> {
    let end = match bound {
        [] => page.len(),
        _ => page.lower_bound(bound)?,
    };
    let lower = page.lower_fence();
    let last = if low <= lower { 0 } else { page.child(low)?.0 };
    let from = end.saturating_sub(count_max).max(last);
    let leaves = (from..end).rev().map(|position| page.child_at(position));
    let behind = if from > last {
        Some(page.entry(from)?.key())
    } else if last == 0 && low < lower {
        Some(lower.to_vec())
    } else {
        None
    };
    Ok(LeavesFound {
        leaves: leaves.collect::<Result<_, _>>()?,
        behind,
    })
}
