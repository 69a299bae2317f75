//! How much of the budget is for frames, and how much for compressed images.
//!
//! Paper 4 (J. Ma et al., §IV) gives the time of an access as *T = T disk (1 - Hu - Hc) + T d (1 - Hu)* (equation 2) and
//! assumes hit rates *Hu*, *Hc* in proportion to the bytes of either part (equations 4 and 5). We measure instead how the
//! hit rates would change: both parts remember the names of what they have let go within the last eighth of the budget. An
//! access that finds its name there would have been a hit if that part were so much larger, and what it cost would
//! have been saved: for a frame, *T d*, and *T disk* too if the image was not there either; for an image, *T disk*. Bytes
//! go to the part that would have saved more.

/// Both parts remember names until this fraction of the budget has gone after them.
const WINDOW_FRACTION: usize = 8;

/// Bytes that move in one step: this fraction of the budget.
const STEP_FRACTION: usize = 64;

/// Either part has at least this fraction of the budget.
const LEAST_FRACTION: usize = 16;

/// Misses between two steps.
const STEP_MISSES: u32 = 128;

/// One part must save that much more than the other before bytes move: a quarter.
const ADVANTAGE_FRACTION: u64 = 4;

/// An access that found no frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Miss {
    /// Bytes of frames that have gone since this one did, if that is known.
    pub(super) gone_bytes: Option<u64>,
    /// The image had to be read.
    pub(super) was_read: bool,
    /// The image has gone from memory not long ago.
    pub(super) image_was_there: bool,
}

/// The split of the budget.
#[derive(Debug)]
pub(super) struct Tuner {
    budget_bytes: usize,
    frame_bytes: usize,
    /// Nanoseconds that either part would have saved lately.
    frames_would_save: u64,
    images_would_save: u64,
    misses: u32,
}

impl Tuner {
    /// Half for each to begin with.
    pub(super) fn new(budget_bytes: usize) -> Self {
        Self {
            budget_bytes,
            frame_bytes: budget_bytes / 2,
            frames_would_save: 0,
            images_would_save: 0,
            misses: 0,
        }
    }

    /// Bytes for frames.
    pub(super) fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// Bytes that what is remembered has taken.
    pub(super) fn window_bytes(&self) -> usize {
        self.budget_bytes / WINDOW_FRACTION
    }

    /// Notes a miss, with the average times of reading and decoding an image. Has the split changed?
    pub(super) fn note(&mut self, miss: Miss, read_ns: u64, decode_ns: u64) -> bool {
        let paid_read_ns = if miss.was_read { read_ns } else { 0 };
        let in_window = |bytes: u64| bytes <= self.window_bytes() as u64;
        if miss.gone_bytes.is_some_and(in_window) {
            self.frames_would_save += paid_read_ns + decode_ns;
        }
        if miss.image_was_there {
            self.images_would_save += paid_read_ns;
        }
        self.misses += 1;
        if self.misses < STEP_MISSES {
            return false;
        }
        self.misses = 0;
        self.step()
    }

    fn step(&mut self) -> bool {
        let (frames, images) = (self.frames_would_save, self.images_would_save);
        // What was long ago counts less.
        self.frames_would_save /= 2;
        self.images_would_save /= 2;
        let exceeds = |one: u64, other: u64| one > other + other / ADVANTAGE_FRACTION;
        let step_bytes = self.budget_bytes / STEP_FRACTION;
        let wanted = if exceeds(frames, images) {
            self.frame_bytes + step_bytes
        } else if exceeds(images, frames) {
            self.frame_bytes.saturating_sub(step_bytes)
        } else {
            return false;
        };
        let least = self.budget_bytes / LEAST_FRACTION;
        let wanted = wanted.clamp(least, self.budget_bytes - least);
        let has_changed = wanted != self.frame_bytes;
        self.frame_bytes = wanted;
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: usize = 64 << 20;

    fn after(misses: &[Miss], read_ns: u64, decode_ns: u64) -> usize {
        let mut tuner = Tuner::new(BUDGET);
        for _ in 0..20_000 {
            for miss in misses {
                tuner.note(*miss, read_ns, decode_ns);
            }
        }
        tuner.frame_bytes()
    }

    const FRAME_WAS_THERE: Miss = Miss {
        gone_bytes: Some(0),
        was_read: false,
        image_was_there: false,
    };
    const IMAGE_WAS_THERE: Miss = Miss {
        gone_bytes: None,
        was_read: true,
        image_was_there: true,
    };

    #[test]
    fn bytes_go_where_they_save_more() {
        let both = [FRAME_WAS_THERE, IMAGE_WAS_THERE];
        let most = BUDGET - BUDGET / LEAST_FRACTION;
        assert_eq!(after(&both, 100, 10_000), most, "a slow codec: frames");
        assert_eq!(
            after(&both, 100_000, 10),
            BUDGET / LEAST_FRACTION,
            "a slow disk: images"
        );
        assert_eq!(after(&both, 1_000, 1_000), BUDGET / 2, "no difference");
    }

    #[test]
    fn what_nothing_would_have_saved_moves_nothing() {
        let long_ago = Miss {
            gone_bytes: Some(BUDGET as u64),
            was_read: true,
            image_was_there: false,
        };
        assert_eq!(after(&[long_ago], 1_000, 1_000), BUDGET / 2);
    }
}
