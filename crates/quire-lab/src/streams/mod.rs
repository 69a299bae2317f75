//! Queries that many threads run at the same time, and what memory delivers to them: paper 2, figure 6.8.
//!
//! A *stream* is a thread that runs one query after the other. [`mean_seconds`] has the time of a query in the middle of all streams. [`StreamedColumns`] has the query of
//! the figure as the primitives that the paper speaks of, over vectors of 1,024 values.

mod columns;
mod memory;
mod primitives;

use std::panic;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

pub use columns::{MultiplicationParts, StreamedColumns, StreamedQuery, StreamedStorage};
pub use memory::copied_bytes_per_second;

/// Seconds of a query when so many streams run, each of them `rounds` queries, of which the middle third counts. `prepare` makes what runs a query, for each stream in its thread.
///
/// # Errors
/// Those of `prepare` and of the queries.
pub fn mean_seconds<Q, E>(
    streams: usize,
    rounds: usize,
    prepare: impl Fn() -> Result<Q, E> + Sync,
) -> Result<f64, E>
where
    Q: FnMut() -> Result<(), E>,
    E: Send,
{
    let start = Barrier::new(streams);
    let stream = || -> Result<Vec<f64>, E> {
        let prepared = prepare();
        // A stream that fails before the start would leave the others waiting.
        start.wait();
        let mut query = prepared?;
        let mut times = Vec::new();
        for _ in 0..rounds.max(1) {
            let begin = Instant::now();
            query()?;
            times.push(begin.elapsed().as_secs_f64());
        }
        Ok(times)
    };
    let all = thread::scope(|scope| {
        let streams: Vec<_> = (0..streams).map(|_| scope.spawn(stream)).collect();
        let ended = streams.into_iter().map(|stream| {
            let joined = stream.join();
            joined.unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        });
        ended.collect::<Result<Vec<_>, _>>()
    })?;
    let middle: Vec<f64> = all
        .iter()
        .flat_map(|times| middle_third(times))
        .copied()
        .collect();
    Ok(middle.iter().sum::<f64>() / middle.len().max(1) as f64)
}

/// The middle third of some times, all of them if they are few.
fn middle_third(times: &[f64]) -> &[f64] {
    let third = times.len() / 3;
    times.get(third..times.len() - third).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_middle_third_leaves_beginning_and_end_out() {
        assert_eq!(middle_third(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [3.0, 4.0]);
        assert_eq!(middle_third(&[1.0, 2.0]), [1.0, 2.0]);
        assert!(middle_third(&[]).is_empty());
    }

    #[test]
    fn each_stream_prepares_once_and_runs_all_its_queries() {
        let (prepared, run) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let seconds = mean_seconds(3, 5, || {
            prepared.fetch_add(1, Ordering::Relaxed);
            Ok::<_, ()>(|| {
                run.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
        });
        assert!(seconds.is_ok());
        assert_eq!(prepared.load(Ordering::Relaxed), 3);
        assert_eq!(run.load(Ordering::Relaxed), 15);
    }

    #[test]
    fn a_stream_that_cannot_begin_lets_the_others_end() {
        let prepared = AtomicUsize::new(0);
        let failed = mean_seconds(3, 2, || match prepared.fetch_add(1, Ordering::Relaxed) {
            0 => Err("no stream"),
            _ => Ok(|| Ok(())),
        });
        assert_eq!(failed, Err("no stream"));
    }
}
