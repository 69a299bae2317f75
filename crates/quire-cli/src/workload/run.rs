//! A workload on each database in turn.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quire_workload::data::{DataFolder, load_tables};
use quire_workload::driver::{WorkloadDriver, WorkloadResult};
use quire_workload::{Target, Workload, report};

use super::arguments::WorkloadArguments;
use super::named::workload;
use super::progress::WorkloadProgress;
use super::targets::WantedTarget;
use crate::exit_code;
use crate::shell::{bytes_text, duration_text};

type RunFailure = Box<dyn Error>;

/// Runs it, and writes what was found.
pub fn run(arguments: &WorkloadArguments) -> ExitCode {
    let cancel = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&cancel);
    // Without a handler an interruption ends the program at once, and servers with it.
    let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
    let work = WorkFolder::of(arguments);
    let result = on_all(arguments, &work.path, &cancel);
    work.remove();
    if result.is_ok() && cancel.load(Ordering::Relaxed) {
        return ExitCode::from(exit_code::INTERRUPTED);
    }
    exit_code::reported(result)
}

/// Where databases and rows are, unless folders are named.
struct WorkFolder {
    path: PathBuf,
    is_temporary: bool,
}

impl WorkFolder {
    fn of(arguments: &WorkloadArguments) -> Self {
        let temporary = || std::env::temp_dir().join(format!("quire-workload-{}", process::id()));
        Self {
            path: arguments.directory.clone().unwrap_or_else(temporary),
            is_temporary: arguments.directory.is_none(),
        }
    }

    fn remove(&self) {
        if self.is_temporary {
            // What is left of it is in the folder for temporary files.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn on_all(
    arguments: &WorkloadArguments,
    folder: &Path,
    cancel: &AtomicBool,
) -> Result<(), RunFailure> {
    arguments.run_options().check()?;
    let progress = WorkloadProgress::new();
    let data = arguments.data.clone();
    let data = data.unwrap_or_else(|| folder.join("rows"));
    let rows = DataFolder::generate(
        &data,
        &*workload(arguments),
        arguments.scale,
        arguments.seed,
        cancel,
        &mut |step| progress.generating(step),
    )?;
    let mut results = Vec::new();
    for wanted in WantedTarget::all(arguments) {
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        let directory = folder.join(wanted.folder());
        let run = TargetRun {
            arguments,
            rows: &rows,
            progress: &progress,
            cancel,
        };
        let result = run.on(&wanted, &directory);
        if !arguments.keep && directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        results.push(result?);
    }
    progress.clear();
    if arguments.data.is_none() && !arguments.keep {
        fs::remove_dir_all(&data)?;
    }
    write_results(arguments, &results)
}

/// The run on one database.
struct TargetRun<'a> {
    arguments: &'a WorkloadArguments,
    rows: &'a DataFolder,
    progress: &'a WorkloadProgress,
    cancel: &'a AtomicBool,
}

impl TargetRun<'_> {
    fn on(&self, wanted: &WantedTarget, directory: &Path) -> Result<WorkloadResult, RunFailure> {
        if directory.exists() {
            let path = directory.display();
            return Err(format!("{path} exists; name another --directory, or remove it").into());
        }
        // New keys begin behind those of the rows, so each run has a workload of its own.
        let workload = workload(self.arguments);
        let target = wanted.start(self.arguments, directory)?;
        let mut done = 0;
        let loaded = load_tables(
            &*workload,
            self.rows,
            &*target,
            self.cancel,
            &mut |step, all| {
                done += 1;
                self.progress.loading(step, done, all);
            },
        )?;
        self.progress.say(&format!(
            "{}: {} of rows loaded in {}, {} stored",
            target.name(),
            bytes_text(loaded.csv_bytes()),
            duration_text(loaded.elapsed()),
            bytes_text(loaded.stored_bytes())
        ));
        self.check(&*workload, &*target, "after loading")?;
        let driver = WorkloadDriver {
            workload: &*workload,
            target: &*target,
            scale: self.arguments.scale,
            seed: self.arguments.seed,
            other_processes: self.arguments.other_processes.clone(),
            cancel: self.cancel,
        };
        let options = self.arguments.run_options();
        let result = driver.run(&options, &mut |progress| self.progress.running(progress))?;
        self.check(&*workload, &*target, "after the run")?;
        Ok(result)
    }

    fn check(
        &self,
        workload: &dyn Workload,
        target: &dyn Target,
        when: &str,
    ) -> Result<(), RunFailure> {
        if !self.arguments.check {
            return Ok(());
        }
        let mut session = target.connect()?;
        let outcomes = workload.check(&mut *session)?;
        let name = target.name();
        for violated in outcomes.iter().filter(|outcome| !outcome.holds) {
            let (condition, finding) = (&violated.name, &violated.finding);
            self.progress.say(&format!(
                "{name} {when}: {condition} does not hold: {finding}"
            ));
        }
        let held = outcomes.iter().filter(|outcome| outcome.holds).count();
        self.progress.say(&format!(
            "{name} {when}: {held} of {} conditions hold",
            outcomes.len()
        ));
        if held < outcomes.len() {
            return Err(format!("{name}: the data is not consistent {when}").into());
        }
        Ok(())
    }
}

fn write_results(
    arguments: &WorkloadArguments,
    results: &[WorkloadResult],
) -> Result<(), RunFailure> {
    let mut output = io::stdout().lock();
    for result in results {
        writeln!(output, "{}", report::text(result))?;
    }
    if let [base, _, ..] = results {
        writeln!(output, "{}", report::comparison(results, &base.target)?)?;
    }
    if let Some(path) = &arguments.json {
        let texts: Vec<String> = results.iter().map(report::to_json).collect();
        fs::write(path, format!("[{}]\n", texts.join(",\n")))?;
    }
    if let Some(path) = &arguments.html {
        fs::write(path, report::page(results)?)?;
    }
    Ok(())
}
