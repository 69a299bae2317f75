//! The time that a statement may take: `statement_timeout`.
//!
//! Time counts while the statement works or its caller waits for it, and not while the caller does something with rows that it has
//! got: between two calls the limit pauses.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What deadlines are counted from, in microseconds.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Changed by the thread that calls the statement, read by all that work for it.
#[derive(Debug, Default)]
pub struct TimeLimit {
    /// All the time that there is; 0: no limit.
    whole_us: AtomicU64,
    /// 0: none now.
    deadline_us: AtomicU64,
    /// What was left when it paused.
    left_us: AtomicU64,
    was_exceeded: AtomicBool,
}

impl TimeLimit {
    /// The statement begins.
    pub fn start(&self, limit: Option<Duration>) {
        let whole = limit.map_or(0, |limit| micros(limit).max(1));
        self.whole_us.store(whole, Ordering::Relaxed);
        self.was_exceeded.store(false, Ordering::Relaxed);
        self.left_us.store(whole, Ordering::Relaxed);
        self.deadline_us.store(0, Ordering::Relaxed);
        self.resume();
    }

    /// All of the time is there again: a cursor goes on for a new statement.
    pub fn renew(&self) {
        let whole = self.whole_us.load(Ordering::Relaxed);
        self.left_us.store(whole, Ordering::Relaxed);
    }

    pub fn pause(&self) {
        let deadline = self.deadline_us.swap(0, Ordering::Relaxed);
        if deadline != 0 {
            let left = deadline.saturating_sub(now_us()).max(1);
            self.left_us.store(left, Ordering::Relaxed);
        }
    }

    pub fn resume(&self) {
        let left = self.left_us.load(Ordering::Relaxed);
        if left != 0 {
            let deadline = now_us().saturating_add(left);
            self.deadline_us.store(deadline, Ordering::Relaxed);
        }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        let deadline = self.deadline_us.load(Ordering::Relaxed);
        let is_over = deadline != 0 && now_us() >= deadline;
        if is_over {
            self.was_exceeded.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// Whether somebody has found the time up.
    pub fn was_exceeded(&self) -> bool {
        self.was_exceeded.load(Ordering::Relaxed)
    }

    pub fn deadline(&self) -> Option<Instant> {
        match self.deadline_us.load(Ordering::Relaxed) {
            0 => None,
            deadline => START.checked_add(Duration::from_micros(deadline)),
        }
    }
}

fn now_us() -> u64 {
    micros(START.elapsed())
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_never_exceeded() {
        let limit = TimeLimit::default();
        limit.start(None);
        assert!(!limit.is_over() && limit.deadline().is_none());
        limit.renew();
        limit.resume();
        assert!(limit.deadline().is_none());
    }

    #[test]
    fn a_limit_of_nothing_is_exceeded_at_once() {
        let limit = TimeLimit::default();
        limit.start(Some(Duration::ZERO));
        while !limit.is_over() {
            std::thread::yield_now();
        }
        assert!(limit.was_exceeded());
        limit.start(Some(Duration::from_secs(3600)));
        assert!(!limit.is_over() && !limit.was_exceeded());
    }

    #[test]
    fn a_pause_takes_no_time() {
        let limit = TimeLimit::default();
        limit.start(Some(Duration::from_secs(3600)));
        let before = limit.deadline().unwrap();
        limit.pause();
        assert!(limit.deadline().is_none() && !limit.is_over());
        limit.resume();
        assert!(limit.deadline().unwrap() >= before);
    }
}
