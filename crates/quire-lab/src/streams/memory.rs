//! What the memory of the machine delivers to a loop that copies.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

const BUFFER_BYTES: usize = 64 << 20;
const COPIES: usize = 8;

/// Bytes a second that so many threads read, together, when each copies from and to memory of its own. They write as many.
pub fn copied_bytes_per_second(threads: usize) -> f64 {
    let start = Barrier::new(threads);
    let copying = || {
        let source = vec![1_u8; BUFFER_BYTES];
        let mut target = vec![0_u8; BUFFER_BYTES];
        target.copy_from_slice(&source);
        start.wait();
        let begin = Instant::now();
        for _ in 0..COPIES {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        (BUFFER_BYTES * COPIES) as f64 / begin.elapsed().as_secs_f64().max(1e-9)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(copying)).collect();
        let rates = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(0.0));
        rates.sum()
    })
}
