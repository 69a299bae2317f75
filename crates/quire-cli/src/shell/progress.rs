//! The bar below a long load or export: only on a terminal, only after the first second.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quire::{Phase, Progress, ProgressObserver};

use super::quantities::{bytes_text, count_text, rough_duration_text};

/// Statements that end sooner show no bar.
const DELAY: Duration = Duration::from_secs(1);

/// The bar's share of full, in steps of which the bar has this many.
const STEPS: u64 = 1000;

/// Shows how far the running statement has come.
#[derive(Clone, Default)]
pub struct ProgressDisplay {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// When the statement began; present while it runs.
    started: Option<Instant>,
    pass: Option<Pass>,
    bar: Option<ProgressBar>,
}

/// One reading of a file. A load that infers types reads its file twice.
struct Pass {
    started: Instant,
    /// What was last told.
    progress: Progress,
}

impl Pass {
    /// The pass after a report. Reports of those who count rows only keep the bytes of those who
    /// read the file; going back begins another pass.
    fn after(before: Option<&Pass>, report: Progress, now: Instant) -> Pass {
        let Some(before) = before.filter(|pass| pass.progress.phase == report.phase) else {
            return Pass {
                started: now,
                progress: report,
            };
        };
        let known = before.progress;
        if report.bytes_done == 0 && report.bytes_total.is_none() {
            let rows_done = report.rows_done.max(known.rows_done);
            return Pass {
                started: before.started,
                progress: Progress { rows_done, ..known },
            };
        }
        let started = if report.bytes_done < known.bytes_done {
            now
        } else {
            before.started
        };
        Pass {
            started,
            progress: report,
        }
    }
}

impl ProgressDisplay {
    /// What the connection calls.
    pub fn observer(&self) -> ProgressObserver {
        let display = self.clone();
        Arc::new(move |progress| display.update(progress))
    }

    /// A statement begins.
    pub fn start(&self) {
        let mut state = self.lock();
        state.started = Some(Instant::now());
        state.pass = None;
    }

    /// The statement is over: removes the bar before anything else is printed.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.started = None;
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn update(&self, report: Progress) {
        let mut state = self.lock();
        let Some(started) = state.started else { return };
        let pass = Pass::after(state.pass.as_ref(), report, Instant::now());
        let (progress, elapsed) = (pass.progress, pass.started.elapsed());
        state.pass = Some(pass);
        if started.elapsed() < DELAY {
            return;
        }
        let bar = state.bar.get_or_insert_with(|| {
            ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr())
        });
        bar.set_style(style(fraction(&progress).is_some()));
        if let Some(fraction) = fraction(&progress) {
            bar.set_position((fraction * STEPS as f64) as u64);
        }
        bar.set_prefix(phase_text(progress.phase));
        bar.set_message(describe(&progress, elapsed));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without a total there is no bar to fill.
fn style(has_total: bool) -> ProgressStyle {
    let template = if has_total {
        "{prefix} [{bar:24}] {percent:>3} %  {wide_msg}"
    } else {
        "{prefix}  {wide_msg}"
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("█▌ ")
}

fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::Loading => "Loading",
        Phase::Exporting => "Exporting",
        Phase::Committing => "Committing",
    }
}

fn fraction(progress: &Progress) -> Option<f64> {
    let total = progress.bytes_total.filter(|total| *total > 0)?;
    Some((progress.bytes_done as f64 / total as f64).min(1.0))
}

/// `7 s left  1,234,567 rows  120 MB of 750 MB  95.0 MB/s`; a narrow terminal cuts the end.
fn describe(progress: &Progress, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let mut parts = Vec::new();
    if let Some(fraction) = fraction(progress).filter(|fraction| *fraction > 0.0)
        && let Ok(left) = Duration::try_from_secs_f64(seconds / fraction - seconds)
    {
        parts.push(format!("{} left", rough_duration_text(left)));
    }
    // What is copied as it is has none.
    if progress.rows_done > 0 {
        parts.push(format!("{} rows", count_text(progress.rows_done)));
    }
    parts.push(match progress.bytes_total {
        Some(total) => format!(
            "{} of {}",
            bytes_text(progress.bytes_done),
            bytes_text(total)
        ),
        None => bytes_text(progress.bytes_done),
    });
    if seconds > 0.0 {
        let bytes_per_second = progress.bytes_done as f64 / seconds;
        parts.push(format!("{}/s", bytes_text(bytes_per_second as u64)));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use quire::{Phase, Progress};

    use super::{Pass, describe};

    fn progress(bytes_done: u64, bytes_total: Option<u64>) -> Progress {
        Progress {
            phase: Phase::Loading,
            rows_done: 1_234_567,
            bytes_done,
            bytes_total,
        }
    }

    #[test]
    fn rate_and_time_left_follow_from_what_is_done() {
        // A quarter in 10 s: three times as long is left.
        let text = describe(
            &progress(200_000_000, Some(800_000_000)),
            Duration::from_secs(10),
        );
        assert_eq!(
            text,
            "30 s left  1,234,567 rows  200 MB of 800 MB  20.0 MB/s"
        );
    }

    #[test]
    fn reports_of_rows_only_keep_the_bytes_and_going_back_begins_a_pass() {
        let start = Instant::now();
        let later = |seconds| start + Duration::from_secs(seconds);
        let first = Pass::after(None, progress(100, Some(200)), start);
        let rows_only = Progress {
            rows_done: 2_000_000,
            ..progress(0, None)
        };
        let second = Pass::after(Some(&first), rows_only, later(1));
        assert_eq!(
            second.progress,
            Progress {
                rows_done: 2_000_000,
                ..progress(100, Some(200))
            }
        );
        assert_eq!(second.started, start);
        let third = Pass::after(Some(&second), progress(150, Some(200)), later(2));
        assert_eq!(
            (third.progress, third.started),
            (progress(150, Some(200)), start)
        );
        let again = Pass::after(Some(&third), progress(10, Some(200)), later(3));
        assert_eq!(
            (again.progress, again.started),
            (progress(10, Some(200)), later(3))
        );
        let committing = Progress {
            phase: Phase::Committing,
            ..progress(0, None)
        };
        let last = Pass::after(Some(&again), committing, later(4));
        assert_eq!((last.progress, last.started), (committing, later(4)));
    }

    #[test]
    fn without_a_total_there_is_no_time_left() {
        let text = describe(&progress(5_000_000, None), Duration::from_secs(2));
        assert_eq!(text, "1,234,567 rows  5.00 MB  2.50 MB/s");
        let text = describe(&progress(0, Some(10)), Duration::from_secs(2));
        assert_eq!(text, "1,234,567 rows  0 B of 10 B  0 B/s");
    }
}
