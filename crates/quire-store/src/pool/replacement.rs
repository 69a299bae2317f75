//! Which frame goes when another comes.
//!
//! Two queues and a list of names, as in S3-FIFO (J. Yang et al., *FIFO Queues are All You Need for Cache Eviction*, 2023).
//! A new frame enters the *small* queue, a tenth of the pool. Used twice there, it moves to the *main* queue at its end;
//! otherwise it goes, and its name is kept: if the page comes back soon it enters the main queue. So a scan, which uses
//! each page once, passes through the small queue. The main queue is a CLOCK that counts to three. Where one key of a page is
//! looked up, only the name comes and goes: a frame is made the second time.

use std::collections::VecDeque;
use std::sync::Arc;

use quire_format::row_page::PAGE_BYTES_ALLOWED;
use quire_format::volume::PageId;

use super::frame::PageFrame;
use super::residents::{Removal, Residents};
use crate::ghosts::Ghosts;

/// Bytes a frame costs besides its page.
pub(super) const FRAME_BYTES: usize = 400;

/// The small queue has this fraction of the pool.
const SMALL_FRACTION: usize = 10;

/// Uses in the small queue from which a frame stays.
const USES_TO_STAY: u8 = 2;

/// Frames looked at for one that comes. When none of so many can go, the pool grows beyond its share until a flush.
const STEPS_MAX: usize = 64;

/// Times that a frame may be looked at before it goes when nobody uses it.
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
    /// Takes a frame in. How many bytes have gone since the page went, if it did not long ago.
    pub(super) fn insert(&mut self, frame: Arc<PageFrame>) -> Option<u64> {
        let gone_bytes = self.ghosts.take(frame.page().get());
        match gone_bytes {
            Some(_) => self.main.push(frame),
            None => self.small.push(frame),
        }
        gone_bytes
    }

    /// Whether a page that is not here should be: there is room, or it was asked for not long ago.
    pub(super) fn wants(&self, page: PageId, limit_bytes: usize) -> bool {
        let [.., longest_bytes] = PAGE_BYTES_ALLOWED;
        self.bytes() + longest_bytes <= limit_bytes || self.ghosts.contains(page.get())
    }

    /// Somebody has looked into a page, of which no frame was made: as if it had come and gone.
    pub(super) fn pass_by(&mut self, page: PageId, page_bytes: usize, limit_bytes: usize) {
        let cost_bytes = page_bytes + FRAME_BYTES;
        self.ghosts.push(page.get(), cost_bytes, limit_bytes);
    }

    /// Lets a few frames go if there are more than `limit_bytes`. How many went.
    pub(super) fn shrink(&mut self, residents: &Residents, limit_bytes: usize) -> u64 {
        self.shrink_in(STEPS_MAX, residents, limit_bytes)
    }

    /// Lets all frames go that can and exceed `limit_bytes`. How many went.
    pub(super) fn shrink_fully(&mut self, residents: &Residents, limit_bytes: usize) -> u64 {
        let frame_count = self.small.frames.len() + self.main.frames.len();
        self.shrink_in(LOOKS_MAX * frame_count, residents, limit_bytes)
    }

    fn shrink_in(&mut self, steps: usize, residents: &Residents, limit_bytes: usize) -> u64 {
        let mut evicted = 0;
        for _ in 0..steps {
            if self.bytes() <= limit_bytes {
                break;
            }
            evicted += u64::from(self.step(residents, limit_bytes));
        }
        evicted
    }

    /// Bytes of all frames.
    pub(super) fn bytes(&self) -> usize {
        self.small.bytes + self.main.bytes
    }

    /// Looks at one frame. Did it go?
    fn step(&mut self, residents: &Residents, limit_bytes: usize) -> bool {
        let is_small_full = self.small.bytes > limit_bytes / SMALL_FRACTION;
        if is_small_full || self.main.frames.is_empty() {
            self.step_small(residents, limit_bytes)
        } else {
            self.step_main(residents, limit_bytes)
        }
    }

    fn step_small(&mut self, residents: &Residents, limit_bytes: usize) -> bool {
        let Some(frame) = self.small.pop() else {
            return false;
        };
        if frame.uses() >= USES_TO_STAY {
            frame.set_uses(0);
            self.main.push(frame);
            return false;
        }
        // One in use has to stay anyhow; what comes after it must be looked at.
        self.evict(frame, residents, limit_bytes)
    }

    fn step_main(&mut self, residents: &Residents, limit_bytes: usize) -> bool {
        let Some(frame) = self.main.pop() else {
            return false;
        };
        if let Some(uses) = frame.uses().checked_sub(1) {
            frame.set_uses(uses);
            self.main.push(frame);
            return false;
        }
        self.evict(frame, residents, limit_bytes)
    }

    /// Lets the frame go, or puts it into the main queue if somebody uses it. Did it go?
    fn evict(&mut self, frame: Arc<PageFrame>, residents: &Residents, limit_bytes: usize) -> bool {
        match residents.remove_unused(&frame) {
            Removal::Removed => {
                let name = frame.page().get();
                self.ghosts.push(name, cost_bytes(&frame), limit_bytes);
                true
            }
            Removal::Gone => false,
            Removal::InUse => {
                self.main.push(frame);
                false
            }
        }
    }
}
