//! Rate limiting of password guesses: answers to repeated wrong passwords are delayed, per address and user.
//!
//! The first wrong password is answered immediately, because people mistype. A correct one is never delayed, and resets the count.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The delay of the second wrong password; each further one takes twice as long.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);
/// Wrong passwords are forgotten after so long without another.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// Maximum number of entries. Beyond that, the one with the oldest wrong password is evicted.
const ENTRIES_MAX: usize = 4096;
/// Longer user names are truncated, to bound the memory of an entry.
const NAME_CHARACTERS_MAX: usize = 64;

/// Recent wrong passwords by address and user.
#[derive(Default)]
pub(crate) struct Penalties {
    known: Mutex<HashMap<(IpAddr, String), Wrong>>,
}

struct Wrong {
    count: u32,
    last: Instant,
}

fn key(origin: IpAddr, user: &str) -> (IpAddr, String) {
    (origin, user.chars().take(NAME_CHARACTERS_MAX).collect())
}

impl Penalties {
    fn known(&self) -> MutexGuard<'_, HashMap<(IpAddr, String), Wrong>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a wrong password; returns the delay of its answer.
    pub(crate) fn note(&self, origin: IpAddr, user: &str, now: Instant) -> Duration {
        let mut known = self.known();
        let key = key(origin, user);
        let is_old = |wrong: &Wrong| now.duration_since(wrong.last) > FORGOTTEN_AFTER;
        if !known.contains_key(&key) && known.len() >= ENTRIES_MAX {
            known.retain(|_, wrong| !is_old(wrong));
            if known.len() >= ENTRIES_MAX {
                let quietest = known.iter().min_by_key(|(_, wrong)| wrong.last);
                if let Some(quietest) = quietest.map(|(key, _)| key.clone()) {
                    known.remove(&quietest);
                }
            }
        }
        let wrong = known.entry(key).or_insert(Wrong {
            count: 0,
            last: now,
        });
        if is_old(wrong) {
            wrong.count = 0;
        }
        let delay = delay_after(wrong.count);
        wrong.count = wrong.count.saturating_add(1);
        wrong.last = now;
        delay
    }

    /// The password was right.
    pub(crate) fn forget(&self, origin: IpAddr, user: &str) {
        self.known().remove(&key(origin, user));
    }
}

/// The delay of a wrong password after so many others.
fn delay_after(count: u32) -> Duration {
    let Some(doublings) = count.checked_sub(1) else {
        return Duration::ZERO;
    };
    let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
    FIRST.saturating_mul(factor).min(LONGEST)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn repeated_wrong_passwords_take_longer() {
        let penalties = Penalties::default();
        let now = Instant::now();
        let delays: Vec<u128> = (0..9)
            .map(|_| penalties.note(address(1), "ada", now).as_millis())
            .collect();
        assert_eq!(delays, [0, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(penalties.note(address(2), "ada", now), Duration::ZERO);
        assert_eq!(penalties.note(address(1), "bob", now), Duration::ZERO);
        penalties.forget(address(1), "ada");
        assert_eq!(penalties.note(address(1), "ada", now), Duration::ZERO);
        let later = now + FORGOTTEN_AFTER + Duration::from_secs(1);
        assert_eq!(penalties.note(address(1), "ada", later), Duration::ZERO);
        assert_eq!(penalties.note(address(1), "ada", later), FIRST);
    }

    #[test]
    fn what_is_known_has_a_bound() {
        let penalties = Penalties::default();
        let now = Instant::now();
        for number in 0..2 * ENTRIES_MAX as u32 {
            let now = now + Duration::from_millis(number.into());
            penalties.note(address(number), "ada", now);
        }
        assert_eq!(penalties.known().len(), ENTRIES_MAX);
        assert_eq!(delay_after(u32::MAX), LONGEST);
    }
}
