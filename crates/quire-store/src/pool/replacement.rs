//! Which frame is evicted when another is loaded.
//!
//! Two queues and a list of names, as in S3-FIFO (J. Yang et al., *FIFO Queues are All You Need for Cache Eviction*, 2023).
//! A new frame enters the *small* queue, a tenth of the pool. If it has been used twice when it reaches the end of that queue, it moves to
//! the *main* queue; otherwise it is evicted and its name becomes a ghost: if the page is loaded again soon, it enters the main queue.
//! A scan, which uses each page once, thus only passes through the small queue. The main queue is a CLOCK with counts up to three. A
//! point lookup in a page without a frame only adds a ghost; the second lookup loads the page.

use std::collections::VecDeque;
use std::sync::Arc;

use quire_format::row_page::PAGE_BYTES_ALLOWED;
use quire_format::volume::PageId;

use super::frame::PageFrame;
use super::residents::{Removal, Residents};
use crate::ghosts::Ghosts;

/// Memory overhead of a frame in bytes, besides its page.
pub(super) const FRAME_BYTES: usize = 400;

/// The small queue gets one part in this many of the pool.
const SMALL_FRACTION: usize = 10;

/// Uses in the small queue from which on a frame is kept.
const USES_TO_STAY: u8 = 2;

/// Frames examined per loaded frame. If none of them can be evicted, the pool exceeds its share until the next flush.
const STEPS_MAX: usize = 64;

/// Maximum number of examinations before an unused frame is evicted.
const LOOKS_MAX: usize = 6;

#[derive(Default)]
pub(super) struct Replacement {
    small: Fifo,
    main: Fifo,
    ghosts: Ghosts,
}

#[derive(Default)]
struct Fifo {
    frames: VecDeque<Arc<PageFrame>>,
    bytes: usize,
}

impl Fifo {
    fn push(&mut self, frame: Arc<PageFrame>) {
        self.bytes += cost_bytes(&frame);
        self.frames.push_back(frame);
    }

    fn pop(&mut self) -> Option<Arc<PageFrame>> {
        let frame = self.frames.pop_front()?;
        self.bytes -= cost_bytes(&frame);
        Some(frame)
    }
}

pub(super) fn cost_bytes(frame: &PageFrame) -> usize {
    frame.page_bytes() + FRAME_BYTES
}

impl Replacement {
    /// Adds a frame. If its page was evicted recently, returns the bytes evicted since then.
    pub(super) fn insert(&mut self, frame: Arc<PageFrame>) -> Option<u64> {
        let gone_bytes = self.ghosts.take(frame.page().get());
        match gone_bytes {
            Some(_) => self.main.push(frame),
            None => self.small.push(frame),
        }
        gone_bytes
    }

    /// Whether a page without a frame should be loaded: there is free memory, or the page was used recently.
    pub(super) fn should_load(&self, page: PageId, limit_bytes: usize) -> bool {
        let [.., longest_bytes] = PAGE_BYTES_ALLOWED;
        self.bytes() + longest_bytes <= limit_bytes || self.ghosts.contains(page.get())
    }

    /// Records a lookup in a page that was not loaded, as if the page had been loaded and evicted.
    pub(super) fn add_ghost(&mut self, page: PageId, page_bytes: usize, limit_bytes: usize) {
        let cost_bytes = page_bytes + FRAME_BYTES;
        self.ghosts.push(page.get(), cost_bytes, limit_bytes);
    }

    /// Evicts a few frames if they exceed `limit_bytes`, and returns them.
    pub(super) fn shrink(
        &mut self,
        residents: &Residents,
        limit_bytes: usize,
    ) -> Vec<Arc<PageFrame>> {
        self.shrink_in(STEPS_MAX, residents, limit_bytes)
    }

    /// Evicts frames until they fit into `limit_bytes`, as far as possible, and returns them.
    pub(super) fn shrink_fully(
        &mut self,
        residents: &Residents,
        limit_bytes: usize,
    ) -> Vec<Arc<PageFrame>> {
        let frame_count = self.small.frames.len() + self.main.frames.len();
        self.shrink_in(LOOKS_MAX * frame_count, residents, limit_bytes)
    }

    fn shrink_in(
        &mut self,
        steps: usize,
        residents: &Residents,
        limit_bytes: usize,
    ) -> Vec<Arc<PageFrame>> {
        let mut evicted = Vec::new();
        for _ in 0..steps {
            if self.bytes() <= limit_bytes {
                break;
            }
            evicted.extend(self.step(residents, limit_bytes));
        }
        evicted
    }

    /// Bytes of all frames.
    pub(super) fn bytes(&self) -> usize {
        self.small.bytes + self.main.bytes
    }

    /// Examines one frame, and returns it if it was evicted.
    fn step(&mut self, residents: &Residents, limit_bytes: usize) -> Option<Arc<PageFrame>> {
        let is_small_full = self.small.bytes > limit_bytes / SMALL_FRACTION;
        if is_small_full || self.main.frames.is_empty() {
            self.step_small(residents, limit_bytes)
        } else {
            self.step_main(residents, limit_bytes)
        }
    }

    fn step_small(&mut self, residents: &Residents, limit_bytes: usize) -> Option<Arc<PageFrame>> {
        let frame = self.small.pop()?;
        if frame.uses() >= USES_TO_STAY {
            frame.set_uses(0);
            self.main.push(frame);
            return None;
        }
        // A frame in use moves to the main queue, so that it does not hide the frames behind it.
        self.evict(frame, residents, limit_bytes)
    }

    fn step_main(&mut self, residents: &Residents, limit_bytes: usize) -> Option<Arc<PageFrame>> {
        let frame = self.main.pop()?;
        if let Some(uses) = frame.uses().checked_sub(1) {
            frame.set_uses(uses);
            self.main.push(frame);
            return None;
        }
        self.evict(frame, residents, limit_bytes)
    }

    /// Evicts the frame, or moves it to the main queue if it is in use or dirty. Returns one that was evicted.
    fn evict(
        &mut self,
        frame: Arc<PageFrame>,
        residents: &Residents,
        limit_bytes: usize,
    ) -> Option<Arc<PageFrame>> {
        match residents.remove_unused(&frame) {
            Removal::Removed => {
                let name = frame.page().get();
                self.ghosts.push(name, cost_bytes(&frame), limit_bytes);
                Some(frame)
            }
            Removal::Gone => None,
            Removal::InUse => {
                self.main.push(frame);
                None
            }
        }
    }
}
