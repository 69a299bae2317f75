//! Ghost entries: the names of recently evicted entries, which a slightly larger cache would still hold.

use std::collections::{HashMap, VecDeque};

/// Names in the order in which they left, until as many bytes as the limit have left after them.
#[derive(Debug, Default)]
pub(crate) struct Ghosts {
    /// Name, and bytes that had left before it.
    order: VecDeque<(u64, u64)>,
    /// When each name left last; entries of `order` that say something else are stale.
    left_at: HashMap<u64, u64>,
    left_bytes: u64,
}

impl Ghosts {
    /// Something has left the cache. What left more than `limit_bytes` ago is forgotten.
    pub(crate) fn push(&mut self, name: u64, bytes: usize, limit_bytes: usize) {
        // At least one, so that no two names have left at the same time.
        self.left_bytes += bytes.max(1) as u64;
        self.left_at.insert(name, self.left_bytes);
        self.order.push_back((name, self.left_bytes));
        while let Some((name, left_at)) = self.order.front().copied()
            && self.left_bytes - left_at > limit_bytes as u64
        {
            self.order.pop_front();
            if self.left_at.get(&name) == Some(&left_at) {
                self.left_at.remove(&name);
            }
        }
    }

    /// Whether a name is known.
    pub(crate) fn contains(&self, name: u64) -> bool {
        self.left_at.contains_key(&name)
    }

    /// Forgets a name that comes back. How many bytes have left since it did; `None` for one that is not known.
    pub(crate) fn take(&mut self, name: u64) -> Option<u64> {
        let left_at = self.left_at.remove(&name)?;
        Some(self.left_bytes - left_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_until_enough_has_left_after_them() {
        let mut ghosts = Ghosts::default();
        for name in 1..=5 {
            ghosts.push(name, 100, 250);
        }
        assert!(ghosts.contains(3) && !ghosts.contains(2));
        assert_eq!(ghosts.take(2), None, "300 bytes have left after it");
        assert_eq!(ghosts.take(3), Some(200));
        assert_eq!(ghosts.take(3), None, "it came back");
        assert_eq!(ghosts.take(5), Some(0));
    }

    #[test]
    fn a_name_that_left_twice_left_at_the_later_time() {
        let mut ghosts = Ghosts::default();
        ghosts.push(1, 100, 150);
        ghosts.push(1, 100, 150);
        ghosts.push(2, 100, 150);
        assert_eq!(ghosts.take(1), Some(100));
    }
}
