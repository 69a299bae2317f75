//! Trees whose leaves have images of a fixed size.
//!
//! In InnoDB, which paper 4 describes (J. Ma et al., §III), a compressed page has 1, 2, 4 or 8 KiB; the modification log has what
//! compression leaves of it, and a page that does not fit when it is compressed again, a *compression failure*, is split. Two ways to have fewer
//! failures: *adaptive padding* (§I, from Facebook) splits pages before they are full, so that most fit; its numbers are InnoDB's.
//! *Advance split* (§V-D) splits a page that has hardly room for another change, instead of compressing it once more.
//!
//! Without compression (paper 3, Y. Qiao et al.) an image has the length of a page, in whole blocks of a device that compresses them: what
//! is left of it behind the columns are zeros.
//!
//! Images elsewhere have any length, so here one that does not fit takes several slots until its leaf has been split: a flush waits
//! for nobody.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use quire_format::row_page::RowPage;
use quire_format::volume::IMAGE_HEADER_BYTES;

use super::codec::PageCodec;

/// Compressions after which the padding is looked at.
const PADDING_ROUND: u64 = 128;

/// Bytes by which it grows and shrinks.
const PADDING_STEP_BYTES: usize = 128;

/// Share of a page that it may take (`innodb_compression_pad_pct_max`).
const PADDING_PERCENT_MAX: usize = 50;

/// Share of failures above which it grows (`innodb_compression_failure_threshold_pct`; paper 4, §I).
const FAILURE_PERCENT_MAX: u64 = 5;

/// Rounds below that share, one after the other, after which it shrinks.
const GOOD_ROUNDS: u32 = 5;

/// Share of a new measurement in the average of ratios.
const RATIO_WEIGHT: f64 = 1.0 / 16.0;

/// Deviations from the average that a leaf that is built must fit with: about one in twenty exceeds it.
const RATIO_DEVIATIONS: f64 = 2.0;

/// Leaves are built so full, in sixteenths of what fits, as rows come later too.
const BUILT_SIXTEENTHS: usize = 15;

/// Fixed sizes of the images of a tree's leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTarget {
    /// Bytes of an image in the file, with the header that the volume gives it: less than a page, or, without compression, as many.
    pub slot_bytes: usize,
    /// Whether leaves are split before they are full, as failures suggest.
    pub has_adaptive_padding: bool,
    /// Whether leaves are split that have no room for another change when they have been compressed.
    pub splits_in_advance: bool,
}

impl PageTarget {
    /// Images of that size, with everything that makes failures rare.
    #[must_use]
    pub const fn new(slot_bytes: usize) -> Self {
        Self {
            slot_bytes,
            has_adaptive_padding: true,
            splits_in_advance: true,
        }
    }
}

/// What has happened to images of fixed sizes.
#[derive(Debug, Default)]
pub(super) struct TargetCounters {
    pub(super) compressions: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) failure_splits: AtomicU64,
    pub(super) advance_splits: AtomicU64,
}

/// The targets of a pool, by the numbers of the trees.
#[derive(Default)]
pub(super) struct Targets {
    trees: RwLock<HashMap<u64, Arc<TransformTarget>>>,
    pub(super) counters: Arc<TargetCounters>,
}

/// The target of a tree, and what was learnt about it.
pub(super) struct TransformTarget {
    tree: u64,
    options: PageTarget,
    counters: Arc<TargetCounters>,
    padding_bytes: AtomicUsize,
    /// Bytes of a leaf, not compressed, that are expected to fit; 0 when nothing is known.
    fitting_bytes: AtomicUsize,
    learnt: Mutex<Learnt>,
}

#[derive(Default)]
struct Learnt {
    padding: Padding,
    ratio: Option<Ratio>,
}

impl Targets {
    /// `codec` for the tree with that number.
    pub(super) fn add(&self, codec: PageCodec, tree: u64, options: PageTarget) -> PageCodec {
        let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
        let is_known = (trees.get(&tree)).is_some_and(|known| known.options == options);
        if !is_known {
            let target = TransformTarget {
                tree,
                options,
                counters: Arc::clone(&self.counters),
                padding_bytes: AtomicUsize::new(0),
                fitting_bytes: AtomicUsize::new(0),
                learnt: Mutex::default(),
            };
            trees.insert(tree, Arc::new(target));
        }
        codec.with_target(tree)
    }

    pub(super) fn get(&self, codec: PageCodec) -> Option<Arc<TransformTarget>> {
        let tree = codec.target()?;
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        trees.get(&tree).cloned()
    }

    /// The tree is gone.
    pub(super) fn forget(&self, codec: PageCodec) {
        if let Some(tree) = codec.target() {
            let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
            trees.remove(&tree);
        }
    }

    /// The largest padding of all trees.
    pub(super) fn padding_bytes(&self) -> u64 {
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        let padding = trees.values().map(|target| target.padding_bytes());
        padding.max().unwrap_or(0) as u64
    }
}

impl TransformTarget {
    pub(super) fn tree(&self) -> u64 {
        self.tree
    }

    pub(super) fn slot_bytes(&self) -> usize {
        self.options.slot_bytes
    }

    pub(super) fn splits_in_advance(&self) -> bool {
        self.options.splits_in_advance
    }

    /// Bytes of an image that take one slot.
    pub(super) fn image_bytes_max(&self) -> usize {
        self.options.slot_bytes - IMAGE_HEADER_BYTES
    }

    pub(super) fn padding_bytes(&self) -> usize {
        self.padding_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of a leaf, not compressed, with which it is full.
    pub(super) fn full_bytes(&self) -> usize {
        match self.fitting_bytes.load(Ordering::Relaxed) {
            0 => usize::MAX,
            known => known,
        }
    }

    /// Bytes of a leaf that is built: before anything is known, what fits if nothing gets smaller.
    pub(super) fn built_bytes(&self) -> usize {
        let fitting_bytes = match self.fitting_bytes.load(Ordering::Relaxed) {
            0 => self.image_bytes_max(),
            known => known,
        };
        fitting_bytes / 16 * BUILT_SIXTEENTHS
    }

    /// A leaf was compressed into so many bytes.
    pub(super) fn note(&self, leaf: &RowPage<'_>, image_bytes: usize) {
        let most = self.image_bytes_max();
        let has_failed = image_bytes > most && leaf.len() > 1;
        self.counters.compressions.fetch_add(1, Ordering::Relaxed);
        let failures = &self.counters.failures;
        failures.fetch_add(u64::from(has_failed), Ordering::Relaxed);
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        if self.options.has_adaptive_padding {
            let bytes = learnt.padding.note(has_failed, leaf.page_bytes());
            self.padding_bytes.store(bytes, Ordering::Relaxed);
        }
        // Of a few bytes, most are headers.
        if leaf.used_bytes() >= most / 2 {
            let measured = image_bytes as f64 / leaf.used_bytes() as f64;
            let ratio = Ratio::after(learnt.ratio, measured);
            learnt.ratio = Some(ratio);
            let fitting_bytes = (most as f64 / ratio.upper_bound()) as usize;
            self.fitting_bytes.store(fitting_bytes, Ordering::Relaxed);
        }
    }

    /// A leaf was split for that reason.
    pub(super) fn count_split(&self, want: SplitWant) {
        let counter = match want {
            SplitWant::None => return,
            SplitWant::InAdvance | SplitWant::InAdvanceNow => &self.counters.advance_splits,
            SplitWant::Failure => &self.counters.failure_splits,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether a leaf should be split, though there is room in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum SplitWant {
    None = 0,
    /// Another change would not fit; a thread in the background splits it.
    InAdvance = 1,
    /// As before; whoever changes it splits it.
    InAdvanceNow = 2,
    /// Its image does not fit.
    Failure = 3,
}

impl SplitWant {
    pub(super) fn from_number(number: u8) -> Self {
        match number {
            0 => Self::None,
            1 => Self::InAdvance,
            2 => Self::InAdvanceNow,
            _ => Self::Failure,
        }
    }
}

/// The padding, and what decides about it.
#[derive(Default)]
struct Padding {
    bytes: usize,
    compressions: u64,
    failures: u64,
    good_rounds: u32,
}

impl Padding {
    /// The padding after another compression.
    fn note(&mut self, has_failed: bool, page_bytes: usize) -> usize {
        self.compressions += 1;
        self.failures += u64::from(has_failed);
        if self.compressions < PADDING_ROUND {
            return self.bytes;
        }
        if self.failures * 100 > FAILURE_PERCENT_MAX * self.compressions {
            let most = page_bytes * PADDING_PERCENT_MAX / 100;
            self.bytes = (self.bytes + PADDING_STEP_BYTES).min(most);
            self.good_rounds = 0;
        } else {
            self.good_rounds += 1;
            if self.good_rounds >= GOOD_ROUNDS {
                self.bytes = self.bytes.saturating_sub(PADDING_STEP_BYTES);
                self.good_rounds = 0;
            }
        }
        (self.compressions, self.failures) = (0, 0);
        self.bytes
    }
}

/// Bytes of images for each byte of their leaves.
#[derive(Clone, Copy)]
struct Ratio {
    average: f64,
    deviation: f64,
}

impl Ratio {
    fn after(before: Option<Self>, measured: f64) -> Self {
        let Some(before) = before else {
            return Self {
                average: measured,
                deviation: measured / 8.0,
            };
        };
        let distance = (measured - before.average).abs();
        Self {
            average: before.average + (measured - before.average) * RATIO_WEIGHT,
            deviation: before.deviation + (distance - before.deviation) * RATIO_WEIGHT,
        }
    }

    fn upper_bound(self) -> f64 {
        (self.average + RATIO_DEVIATIONS * self.deviation).max(f64::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(padding: &mut Padding, failures: u64) -> usize {
        let notes = (0..PADDING_ROUND).map(|at| padding.note(at < failures, 16 << 10));
        notes.last().unwrap_or_default()
    }

    #[test]
    fn padding_grows_by_rounds_with_failures_and_shrinks_after_five_without() {
        let mut padding = Padding::default();
        assert_eq!(round(&mut padding, 6), 0, "6 of 128 are less than 5 %");
        assert_eq!(round(&mut padding, 7), 128);
        assert_eq!(round(&mut padding, 128), 256);
        let shrinking: Vec<_> = (0..10).map(|_| round(&mut padding, 0)).collect();
        assert_eq!(shrinking, [256, 256, 256, 256, 128, 128, 128, 128, 128, 0]);
        for _ in 0..100 {
            round(&mut padding, 128);
        }
        assert_eq!(padding.bytes, 8 << 10, "half a page");
    }

    #[test]
    fn a_ratio_is_above_most_of_what_was_measured() {
        let measured = |at: u64| 0.4 + (at * 7 % 11) as f64 / 100.0;
        let ratio = (0..500).fold(None, |ratio, at| Some(Ratio::after(ratio, measured(at))));
        let bound = ratio.map_or(0.0, Ratio::upper_bound);
        let above = (0..500).filter(|at| measured(*at) > bound).count();
        assert!(above <= 50 && bound < 0.55, "{bound} {above}");
    }
}
