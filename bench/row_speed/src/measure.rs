//! Threads that do the same for a while, and how often they could.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::rows::Random;
use crate::{Failure, Peer, Worker};

/// What a run gave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    pub per_second: f64,
    pub p99_us: f64,
    /// Time of a processor for each, of the threads that ask: it tells more than the rate on a machine that is shared.
    pub cpu_us: f64,
}

/// Nanoseconds that the calling thread has run, as far as the system tells.
fn thread_ns() -> u64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = schedule.split(' ').next();
    first.and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Lets `threads` workers call `work` for a while with random numbers below `end`.
pub fn run(
    peer: &dyn Peer,
    threads: usize,
    duration: Duration,
    end: u64,
    work: impl Fn(&mut dyn Worker, u64) -> Result<(), Failure> + Sync,
) -> Result<Rate, Failure> {
    let stop = AtomicBool::new(false);
    let barrier = Barrier::new(threads + 1);
    // Every run has numbers of its own.
    let started = UNIX_EPOCH.elapsed()?.as_nanos() as u64;
    let workers = (0..threads).map(|_| peer.worker());
    let workers = workers.collect::<Result<Vec<_>, Failure>>()?;
    std::thread::scope(|scope| {
        let (stop, barrier, work) = (&stop, &barrier, &work);
        let running: Vec<_> = workers
            .into_iter()
            .enumerate()
            .map(|(seed, mut worker)| {
                scope.spawn(move || {
                    let mut random = Random((seed as u64) << 48 ^ started);
                    let mut times_ns: Vec<u32> = Vec::with_capacity(1 << 20);
                    barrier.wait();
                    let before_ns = thread_ns();
                    while !stop.load(Ordering::Relaxed) {
                        let start = Instant::now();
                        work(worker.as_mut(), random.below(end))?;
                        times_ns.push(start.elapsed().as_nanos().min(u128::from(u32::MAX)) as u32);
                    }
                    Ok((times_ns, thread_ns() - before_ns))
                })
            })
            .collect();
        barrier.wait();
        let start = Instant::now();
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
        let (mut all, mut cpu_ns) = (Vec::new(), 0);
        for thread in running {
            let done: Result<(Vec<u32>, u64), Failure> =
                thread.join().map_err(|_| "a thread has panicked")?;
            let (times, thread_ns) = done?;
            all.extend(times);
            cpu_ns += thread_ns;
        }
        let seconds = start.elapsed().as_secs_f64();
        all.sort_unstable();
        let p99 = all.get(all.len() * 99 / 100).copied().unwrap_or(0);
        Ok(Rate {
            per_second: all.len() as f64 / seconds,
            p99_us: f64::from(p99) / 1e3,
            cpu_us: cpu_ns as f64 / 1e3 / all.len().max(1) as f64,
        })
    })
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
