//! All topics, one after the other, as one page.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use quire_lab::{Lab, LabReport, ReportTopic, TopicState, render};
use quire_text::temporal;

use super::{LabArguments, StringsName, Topic};

/// The commit that the program is made from, where whoever built it said so.
const COMMIT: Option<&str> = option_env!("QUIRE_COMMIT");

/// Measures, and writes the page anew after each topic, so that what was measured is not lost when the rest is not waited for.
///
/// # Errors
/// When a file cannot be read or written; when topics could not be measured, of which the page has the errors.
pub(super) fn write(arguments: &LabArguments, page: &Path) -> Result<(), String> {
    let texts = arguments.texts()?;
    let topics = arguments.topics();
    let mut report = LabReport {
        title: title(arguments),
        facts: facts(arguments),
        topics: topics.iter().copied().map(waiting).collect(),
    };
    write_page(&report, page)?;
    let mut failed = Vec::new();
    for (at, topic) in topics.iter().enumerate() {
        let name = name(*topic);
        say(&format!("{name}: topic {} of {}", at + 1, topics.len()));
        let start = Instant::now();
        let figures = arguments.figures(*topic, &texts);
        let elapsed = start.elapsed();
        let state = match figures {
            Ok(figures) => TopicState::Measured { figures, elapsed },
            Err(error) => {
                say(&format!("{name} failed: {error}"));
                failed.push(name.clone());
                TopicState::Failed { error, elapsed }
            }
        };
        say(&format!("{name}: {:.1} s", elapsed.as_secs_f64()));
        if let Some(entry) = report.topics.get_mut(at) {
            entry.state = state;
        }
        write_page(&report, page)?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} could not be measured; {} has the rest",
        failed.join(", "),
        page.display()
    ))
}

fn write_page(report: &LabReport, page: &Path) -> Result<(), String> {
    fs::write(page, render::page(report))
        .map_err(|error| format!("cannot write {}: {error}", page.display()))
}

fn say(what: &str) {
    // Nobody needs to know.
    let _ = writeln!(io::stderr(), "{what}");
}

fn title(arguments: &LabArguments) -> String {
    let title = "The papers' figures, measured again by Quire";
    if arguments.quick {
        format!("{title}, quickly: values mean little")
    } else {
        title.to_owned()
    }
}

/// As a person names it, and what it measures, by the help of the command line.
fn waiting(topic: Topic) -> ReportTopic {
    let about = topic.to_possible_value();
    let about = about.and_then(|value| value.get_help().map(ToString::to_string));
    ReportTopic {
        name: name(topic),
        about: about.unwrap_or_default(),
        paper: topic.paper(),
        state: TopicState::Waiting,
    }
}

fn name(topic: Topic) -> String {
    let value = topic.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Machine, program, date and options.
fn facts(arguments: &LabArguments) -> Vec<(String, String)> {
    let benchmark = &arguments.benchmark;
    let command: Vec<String> = env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let effort = if arguments.quick {
        "quick: small samples and few rounds, the values mean little"
    } else {
        "whole"
    };
    let has = |is_so: bool| if is_so { "yes" } else { "no" };
    let comments = |strings: Option<StringsName>| match strings {
        Some(codes) => format!("{codes:?}"),
        None => "no codes".to_owned(),
    };
    let facts = [
        ("begun", now()),
        ("command", command.join(" ")),
        ("program", program()),
        (
            "processor",
            Lab::new(arguments.effort()).machine().to_owned(),
        ),
        ("system", system()),
        ("effort", effort.to_owned()),
        ("scale of databases", arguments.scale().to_string()),
        (
            "rounds of queries",
            if arguments.quick { 1 } else { benchmark.rounds }.to_string(),
        ),
        ("databases", databases(arguments)),
        (
            "tpcd: machine, compression, comments, keys, TPC-H",
            format!(
                "{:?}, {:?}, {}, {}, {}",
                benchmark.machine,
                benchmark.compression,
                comments(benchmark.strings),
                has(benchmark.keys),
                has(benchmark.tpch)
            ),
        ),
        ("bandwidth: streams at most", benchmark.streams.to_string()),
        ("texts", texts(arguments)),
    ];
    facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The time in Greenwich.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
    let mut text = String::new();
    temporal::write_timestamp(seconds, 1, Some(0), &mut text);
    text
}

fn program() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let commit = match COMMIT {
        Some(commit) => format!("commit {commit}"),
        None => "of a commit that was not named when it was built (QUIRE_COMMIT)".to_owned(),
    };
    let build = if cfg!(debug_assertions) {
        "; a build without optimization, so times mean nothing"
    } else {
        ""
    };
    format!("quire {version}, {commit}{build}")
}

/// The operating system, with its release where it tells.
fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let words = [env::consts::OS, release.trim(), env::consts::ARCH];
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Where they are.
fn databases(arguments: &LabArguments) -> String {
    match &arguments.benchmark.work {
        Some(folder) => format!(
            "files in {}, those of bandwidth in memory",
            folder.display()
        ),
        None => {
            "in memory, those of tpcd and dual-format-system in files for the time being".to_owned()
        }
    }
}

fn texts(arguments: &LabArguments) -> String {
    if arguments.files.is_empty() {
        return "made up".to_owned();
    }
    let names = arguments.files.iter();
    let names = names.map(|file| file.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}
