//! What is going on, as a bar on a terminal and as lines elsewhere.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use quire_workload::data::{GenerationProgress, LoadStep};
use quire_workload::driver::RunProgress;

use crate::shell::{bytes_text, count_text};

/// Steps of a bar.
const STEPS: u64 = 1_000;

/// Tells on the standard error what is going on.
pub(super) struct WorkloadProgress {
    /// None where nobody looks.
    bar: Option<ProgressBar>,
}

impl WorkloadProgress {
    pub(super) fn new() -> Self {
        Self {
            bar: io::stderr().is_terminal().then(|| {
                let style = ProgressStyle::with_template("{bar:30} {msg}");
                let bar = ProgressBar::new(STEPS);
                match style {
                    Ok(style) => bar.with_style(style),
                    Err(_) => bar,
                }
            }),
        }
    }

    /// A line that stays.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| write_line(text)),
            None => write_line(text),
        }
    }

    pub(super) fn generating(&self, progress: GenerationProgress<'_>) {
        let share = progress.table_index as f64 / progress.table_count.max(1) as f64;
        let rows = count_text(progress.rows);
        let bytes = bytes_text(progress.bytes);
        let text = format!("rows of {}: {rows}, {bytes}", progress.table);
        self.show(share, text);
    }

    pub(super) fn loading(&self, step: &LoadStep, done: usize, all: usize) {
        let text = format!("{} {}", step.kind.name(), step.table);
        self.show(done as f64 / all.max(1) as f64, text);
    }

    pub(super) fn running(&self, progress: RunProgress) {
        let share = progress.elapsed.as_secs_f64() / progress.planned.as_secs_f64().max(1e-9);
        let phase = if progress.is_warm_up {
            "warm-up"
        } else {
            "measured"
        };
        let text = format!(
            "{phase} {:.0} s: {:.0} transactions a second",
            progress.elapsed.as_secs_f64(),
            progress.tps
        );
        self.show(share, text);
    }

    fn show(&self, share: f64, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
            bar.set_message(text);
        }
    }

    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn write_line(text: &str) {
    // A closed standard error leaves nowhere to report to.
    let _ = writeln!(io::stderr(), "{text}");
}
