//! Time of a kernel and of its peer, in turn, with the clock measured beside them.

use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 301;

/// Medians over all rounds, for one value (or one call, where a kernel does one thing).
pub struct Measured {
    pub ns: f64,
    /// Each round has its own clock, for clocks change from one millisecond to the next.
    pub cycles: f64,
    pub peer_ns: f64,
    /// Time of the peer in the same round, over ours.
    pub ratio: f64,
}

/// Time of the second of two runs: what the other left in the caches does not count.
fn warm_nanoseconds(work: &mut dyn FnMut()) -> f64 {
    work();
    nanoseconds(work)
}

fn nanoseconds(work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// Duration of a cycle: an addition of registers, and an exclusive or, take one each when one waits for the other.
fn cycle_ns() -> f64 {
    let (addend, mask) = (black_box(0x9E37_79B9_7F4A_7C15u64), black_box(12_345));
    let mut value = black_box(1u64);
    let ns = nanoseconds(&mut || {
        for _ in 0..500 {
            for _ in 0..8 {
                value = value.wrapping_add(addend) ^ mask;
            }
        }
        black_box(value);
    });
    ns / 8000.0
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Runs `ours` and `peer`, both over `count` values, in turn.
pub fn measure(count: usize, mut ours: impl FnMut(), mut peer: impl FnMut()) -> Measured {
    let (mut ns, mut cycles, mut peer_ns, mut ratio) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let cycle = cycle_ns();
        let one = warm_nanoseconds(&mut ours) / count as f64;
        let other = warm_nanoseconds(&mut peer) / count as f64;
        ns.push(one);
        cycles.push(one / cycle);
        peer_ns.push(other);
        ratio.push(other / one);
    }
    Measured {
        ns: median(ns),
        cycles: median(cycles),
        peer_ns: median(peer_ns),
        ratio: median(ratio),
    }
}
