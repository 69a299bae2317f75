//! The allocator of the program, and how long it keeps memory that nobody uses.
//!
//! By default mimalloc gives freed pages back to the system a second after they became free. A sort that spills frees and takes
//! its whole budget several times in that second, in blocks of other sizes, so the process holds up to twice the budget. Where the budget is
//! small, pages go back after a millisecond: with 85 MiB for statements, a UNION of texts that peaked at 234 MiB peaks at 161 MiB. Where it
//! is large, freed pages stay for ten seconds: each one that comes back must be cleared again. The 99 queries of TPC-DS at scale 1, each three
//! times, had 210,000 page faults, mostly of huge pages, with a delay of one second, and 30,000 with ten; the time went down by 10 %.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_long};

use quire::DatabaseOptions;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Budgets below this are small, in bytes.
const SMALL_BUDGET_BYTES: usize = 512 << 20;

/// How long the pages of a small budget stay.
const SMALL_BUDGET_DELAY_MS: c_long = 1;

/// How long the pages of a large budget stay.
const LARGE_BUDGET_DELAY_MS: c_long = 10_000;

/// The place of `mi_option_purge_delay` in mimalloc's list of options.
const PURGE_DELAY_OPTION: c_int = 15;

// SAFETY: the signature is that of mimalloc.h.
unsafe extern "C" {
    fn mi_option_set_default(option: c_int, value: c_long);
}

/// Has the allocator hold no more than suits the budget. `MIMALLOC_PURGE_DELAY` in the environment is stronger.
pub fn suit(options: &DatabaseOptions) {
    let budget_bytes = options.memory_bytes.saturating_add(options.cache_bytes);
    let delay_ms = if budget_bytes < SMALL_BUDGET_BYTES {
        SMALL_BUDGET_DELAY_MS
    } else {
        LARGE_BUDGET_DELAY_MS
    };
    // SAFETY: the function is mimalloc's, which is linked as the allocator. It stores a number in a table of atomics, and ignores
    // options that are not in the table.
    unsafe { mi_option_set_default(PURGE_DELAY_OPTION, delay_ms) };
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: the signature is that of mimalloc.h.
    unsafe extern "C" {
        fn mi_option_get(option: c_int) -> c_long;
    }

    fn delay_ms() -> c_long {
        // SAFETY: as above; it reads the number.
        unsafe { mi_option_get(PURGE_DELAY_OPTION) }
    }

    #[test]
    fn a_small_budget_gives_memory_back_sooner() {
        let mut options = DatabaseOptions::default();
        // The default of mimalloc 3: the option is the one that is meant.
        assert_eq!(delay_ms(), 1000);
        (options.memory_bytes, options.cache_bytes) = (4 << 30, 1 << 30);
        suit(&options);
        assert_eq!(delay_ms(), LARGE_BUDGET_DELAY_MS);
        (options.memory_bytes, options.cache_bytes) = (64 << 20, 32 << 20);
        suit(&options);
        assert_eq!(delay_ms(), SMALL_BUDGET_DELAY_MS);
    }
}
