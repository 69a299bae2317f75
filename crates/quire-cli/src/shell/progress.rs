//! The line below a long statement: only on a terminal, only after two seconds, and gone before anything else is written.
//!
//! A thread looks now and then at how far the statement has come. It sleeps while none runs, and statements that are soon over
//! do not wake it.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quire::{Phase, Progress, ProgressHandle};

use super::quantities::{bytes_text, count_text, rough_duration_text};
use crate::render::escape_controls;

/// Statements that end sooner show nothing.
const DELAY: Duration = Duration::from_secs(2);

/// For tests: another delay, in milliseconds. With 0 every statement shows at least its last state.
const DELAY_VARIABLE: &str = "QUIRE_PROGRESS_DELAY_MS";

/// Time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// A phase that has not taken so long says nothing about the time that is left.
const EVIDENCE: Duration = Duration::from_secs(1);

/// Characters between the ends of the bar.
const BAR_WIDTH: usize = 24;

/// Most characters of the name of a table or index.
const SUBJECT_WIDTH: usize = 30;

/// Shows how far the running statement has come.
#[derive(Clone)]
pub struct ProgressDisplay {
    /// Nothing where nobody would see it.
    shared: Option<Arc<SharedProgress>>,
}

struct SharedProgress {
    state: Mutex<ProgressState>,
    /// Signalled when a statement begins while the thread sleeps.
    begun: Condvar,
    delay: Duration,
}

#[derive(Default)]
struct ProgressState {
    has_thread: bool,
    is_asleep: bool,
    /// The statement, and when it has taken long enough.
    running: Option<(ProgressHandle, Instant)>,
    line: Option<ProgressBar>,
}

impl ProgressDisplay {
    /// A display for people: where the results are read by a program, nothing is ever shown.
    pub fn for_terminal() -> Self {
        let is_seen = io::stderr().is_terminal() && io::stdout().is_terminal();
        Self {
            shared: is_seen.then(|| Arc::new(SharedProgress::new(delay()))),
        }
    }

    /// A statement begins.
    pub fn start(&self, statement: ProgressHandle) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        state.running = Some((statement, Instant::now() + shared.delay));
        if state.is_asleep {
            shared.begun.notify_one();
        }
        if !state.has_thread {
            let watcher = Arc::clone(shared);
            let thread = thread::Builder::new().name("progress".to_owned());
            // Without a thread nothing is shown.
            state.has_thread = thread.spawn(move || watcher.watch()).is_ok();
        }
    }

    /// The statement is over, or its results begin: removes the line before anything else is written.
    pub fn stop(&self) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        if shared.delay.is_zero() && state.line.is_none() {
            state.draw();
        }
        state.running = None;
        if let Some(line) = state.line.take() {
            line.finish_and_clear();
        }
    }

    /// A writer of results that stops the display with the first byte, if these go where it is.
    pub fn before<'a>(&'a self, output: &'a mut dyn Write, is_terminal: bool) -> Before<'a> {
        let display = is_terminal.then_some(self);
        Before { display, output }
    }
}

/// See [`ProgressDisplay::before`].
pub struct Before<'a> {
    display: Option<&'a ProgressDisplay>,
    output: &'a mut dyn Write,
}

impl Write for Before<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(display) = self.display.take() {
            display.stop();
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

fn delay() -> Duration {
    let given = std::env::var(DELAY_VARIABLE).ok();
    let given = given.and_then(|text| text.parse().ok());
    given.map_or(DELAY, Duration::from_millis)
}

impl SharedProgress {
    fn new(delay: Duration) -> Self {
        Self {
            state: Mutex::default(),
            begun: Condvar::new(),
            delay,
        }
    }

    fn lock(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks, for as long as the program runs.
    fn watch(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let pause = match &state.running {
                None => {
                    state.is_asleep = true;
                    state = self
                        .begun
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                    state.is_asleep = false;
                    continue;
                }
                Some((_, due)) if *due > now => *due - now,
                Some(_) => {
                    state.draw();
                    LOOK_INTERVAL
                }
            };
            let woken = self.begun.wait_timeout(state, pause);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl ProgressState {
    fn draw(&mut self) {
        let progress = self.running.as_ref().and_then(|(handle, _)| handle.now());
        let Some(progress) = progress else { return };
        let line = self.line.get_or_insert_with(|| {
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // A narrow terminal cuts the end.
            let style = ProgressStyle::with_template("{wide_msg}");
            line.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        line.set_message(line_text(&progress));
    }
}

/// `Loading orders [█████▌      ]  43 %  7 s left  1,234,567 rows  120 MB of 750 MB  95.0 MB/s`
fn line_text(progress: &Progress) -> String {
    let mut text = phase_text(progress.phase).to_owned();
    if let Some(subject) = &progress.subject {
        let subject = escape_controls(subject);
        text += " ";
        text += &console::truncate_str(&subject, SUBJECT_WIDTH, "…");
    }
    if let Some(share) = progress.share() {
        text += &format!(" {} {:>3.0} %", bar_text(share), (share * 100.0).floor());
    }
    for part in [
        Some(time_text(progress)),
        rows_text(progress),
        bytes_part(progress),
    ]
    .into_iter()
    .flatten()
    {
        text += "  ";
        text += &part;
    }
    text
}

fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::Reading => "Reading",
        Phase::Inferring => "Finding types",
        Phase::Loading => "Loading",
        Phase::Exporting => "Exporting",
        Phase::Indexing => "Indexing",
        Phase::Sorting => "Sorting",
        Phase::Rewriting => "Rewriting",
        Phase::Merging => "Merging",
        Phase::Sampling => "Sampling",
        Phase::Cleaning => "Cleaning",
        Phase::Committing => "Committing",
    }
}

fn bar_text(share: f64) -> String {
    let halves = (share * 2.0 * BAR_WIDTH as f64) as usize;
    let mut bar = "█".repeat(halves / 2);
    if halves % 2 == 1 {
        bar.push('▌');
    }
    format!("[{bar:BAR_WIDTH$}]")
}

/// The time that is left; until it is known that which has passed.
fn time_text(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    let share = progress.share().filter(|_| progress.elapsed >= EVIDENCE);
    let left = share.and_then(|share| Duration::try_from_secs_f64(seconds / share - seconds).ok());
    match left {
        Some(left) => format!("{} left", rough_duration_text(left)),
        None => rough_duration_text(progress.elapsed),
    }
}

fn rows_text(progress: &Progress) -> Option<String> {
    let done = match progress.rows_done {
        0 => progress.rows_written,
        rows => rows,
    };
    let total = progress.rows_total.filter(|total| *total > done);
    match total {
        Some(total) => Some(format!(
            "{} of {} rows",
            count_text(done),
            count_text(total)
        )),
        None => (done > 0).then(|| format!("{} rows", count_text(done))),
    }
}

/// What was written to a file, or else what was read; and how fast.
fn bytes_part(progress: &Progress) -> Option<String> {
    let (bytes, total) = match progress.bytes_written {
        0 => (progress.bytes_done, progress.bytes_total),
        bytes => (bytes, None),
    };
    let mut text = match total.filter(|total| *total > bytes) {
        Some(total) => format!("{} of {}", bytes_text(bytes), bytes_text(total)),
        None if bytes == 0 => return None,
        None => bytes_text(bytes),
    };
    let seconds = progress.elapsed.as_secs_f64();
    if seconds > 0.0 {
        text += &format!("  {}/s", bytes_text((bytes as f64 / seconds) as u64));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use quire::{Phase, Progress};

    use super::{ProgressDisplay, SharedProgress, bar_text, line_text};

    /// Ten seconds after the beginning.
    fn progress(phase: Phase) -> Progress {
        Progress {
            phase,
            subject: None,
            elapsed: Duration::from_secs(10),
            rows_done: 0,
            rows_total: None,
            bytes_done: 0,
            bytes_total: None,
            rows_written: 0,
            bytes_written: 0,
        }
    }

    #[test]
    fn a_load_shows_what_is_left_of_the_file() {
        // A quarter in 10 s: three times as long is left.
        let load = Progress {
            subject: Some("orders".to_owned()),
            rows_done: 1_234_567,
            bytes_done: 200_000_000,
            bytes_total: Some(800_000_000),
            ..progress(Phase::Loading)
        };
        assert_eq!(
            line_text(&load),
            "Loading orders [██████                  ]  25 %  30 s left  1,234,567 rows  200 MB of 800 MB  20.0 MB/s"
        );
    }

    #[test]
    fn a_query_shows_what_is_left_of_its_tables() {
        let query = Progress {
            rows_done: 1_000_000,
            rows_total: Some(2_000_000),
            ..progress(Phase::Reading)
        };
        assert_eq!(
            line_text(&query),
            "Reading [████████████            ]  50 %  10 s left  1,000,000 of 2,000,000 rows"
        );
    }

    #[test]
    fn when_all_is_read_there_is_no_share_and_no_time_left() {
        let sorting = Progress {
            rows_done: 2_000_000,
            rows_total: Some(2_000_000),
            bytes_done: 5_000_000,
            ..progress(Phase::Reading)
        };
        assert_eq!(
            line_text(&sorting),
            "Reading  10 s  2,000,000 rows  5.00 MB  500 kB/s"
        );
        // An estimate was too low.
        let more = Progress {
            rows_done: 3_000_000,
            bytes_done: 0,
            ..sorting
        };
        assert_eq!(line_text(&more), "Reading  10 s  3,000,000 rows");
    }

    #[test]
    fn a_phase_that_has_just_begun_says_no_time() {
        let early = Progress {
            elapsed: Duration::from_millis(900),
            rows_done: 1,
            rows_total: Some(4),
            ..progress(Phase::Sorting)
        };
        let text = line_text(&early);
        assert!(text.contains("25 %") && !text.contains("left"), "{text}");
    }

    #[test]
    fn without_a_total_there_is_what_was_done() {
        assert_eq!(line_text(&progress(Phase::Cleaning)), "Cleaning  10 s");
        let made = Progress {
            subject: Some("a\tname".to_owned()),
            rows_written: 7,
            ..progress(Phase::Loading)
        };
        let text = line_text(&made);
        assert!(
            text.ends_with("  10 s  7 rows") && !text.contains('\t'),
            "{text}"
        );
        let export = Progress {
            bytes_done: 3,
            bytes_written: 20_000,
            ..progress(Phase::Exporting)
        };
        assert_eq!(line_text(&export), "Exporting  10 s  20.0 kB  2.00 kB/s");
    }

    #[test]
    fn a_bar_is_as_full_as_the_share() {
        assert_eq!(bar_text(0.0), "[                        ]");
        assert_eq!(bar_text(0.021), "[▌                       ]");
        assert_eq!(bar_text(0.999), "[███████████████████████▌]");
    }

    #[test]
    fn the_first_byte_of_results_stops_the_display_where_both_are_seen() {
        let mut connection = quire::Database::in_memory().unwrap().connect();
        connection.execute("CREATE TABLE t (a INTEGER)").unwrap();
        for (is_terminal, is_running) in [(true, false), (false, true)] {
            let shared = std::sync::Arc::new(SharedProgress::new(Duration::from_secs(3600)));
            let display = ProgressDisplay {
                shared: Some(std::sync::Arc::clone(&shared)),
            };
            display.start(connection.progress_handle());
            let mut written = Vec::new();
            let mut output = display.before(&mut written, is_terminal);
            output.flush().unwrap();
            assert!(shared.lock().running.is_some());
            output.write_all(b"row").unwrap();
            assert_eq!(shared.lock().running.is_some(), is_running);
            assert_eq!(written, b"row");
        }
    }
}
