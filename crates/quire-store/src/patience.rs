//! Waiting for something that takes about as long as putting a thread to sleep and waking it.
//!
//! A commit that need not be synced takes some microseconds, waking a thread some tens. Whoever would sleep until the commit
//! before is through looks for a while first whether it is, and lets other threads run in between, as it may be theirs to
//! end the wait.

use std::hint::spin_loop;
use std::thread::yield_now;

/// Looks without giving up the processor: about two microseconds.
const LOOKS: u32 = 48;

/// Times that other threads get the processor.
const YIELDS: u32 = 6;

/// Whether it comes true soon. If not, sleep.
pub fn is_soon(mut is_true: impl FnMut() -> bool) -> bool {
    for _ in 0..LOOKS {
        if is_true() {
            return true;
        }
        spin_loop();
    }
    for _ in 0..YIELDS {
        yield_now();
        if is_true() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_for_a_while_and_gives_up() {
        let mut looks = 0;
        assert!(!is_soon(|| {
            looks += 1;
            false
        }));
        assert_eq!(looks, LOOKS + YIELDS);
        let mut rest = 3;
        assert!(is_soon(|| {
            rest -= 1;
            rest == 0
        }));
    }
}
