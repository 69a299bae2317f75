//! `quire lab EXPERIMENT`: the figures of the papers, measured again on this machine.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use quire_lab::{Effort, Experiment, Figure, Lab, render};

use crate::NOBODY_READS_EXIT_CODE;
use crate::shell::describe_plain;

/// A file could not be read or written, or a figure not be measured.
const TROUBLE_EXIT_CODE: u8 = 2;

/// Figures that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// PFOR, PFOR-DELTA and PDICT: figures 6.2, 6.4 to 6.7 and equation 6.1 of Zukowski
    Codecs,
    /// Page transforms: figures 4, 5, 7, 8 and 9 of Qiao et al.
    Transforms,
    /// The table of figure 11 of Qiao et al. in row pages
    DualFormat,
    /// Inverted files: table 6.2 of Zukowski and the query of its §6.4
    Postings,
}

impl Topic {
    fn experiment(self) -> Experiment {
        match self {
            Self::Codecs => Experiment::Codecs,
            Self::Transforms => Experiment::Transforms,
            Self::DualFormat => Experiment::DualFormat,
            Self::Postings => Experiment::Postings,
        }
    }
}

/// Measures, and prints the figures or writes them into a folder.
pub fn run(topic: Topic, out: Option<&Path>, quick: bool, file: Option<&Path>) -> ExitCode {
    let text = match file.map(fs::read).transpose() {
        Ok(text) => text,
        Err(error) => {
            let name = file.map(Path::display);
            return trouble(&format!(
                "cannot read {}: {error}",
                name.map_or_else(String::new, |name| name.to_string())
            ));
        }
    };
    let effort = if quick { Effort::Quick } else { Effort::Full };
    let lab = Lab::new(effort);
    let figures = match topic.experiment().run(&lab, text.as_deref()) {
        Ok(figures) => figures,
        Err(error) => return trouble(&error.to_string()),
    };
    let written = match out {
        Some(folder) => match write_files(&figures, folder) {
            Ok(written) => written,
            Err(message) => return trouble(&message),
        },
        None => figures
            .iter()
            .map(render::text)
            .collect::<Vec<_>>()
            .join("\n"),
    };
    match io::stdout().write_all(written.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(NOBODY_READS_EXIT_CODE)
        }
        Err(error) => trouble(&format!("cannot write: {error}")),
    }
}

/// One CSV and one SVG file for each figure; returns their names, one on each line.
fn write_files(figures: &[Figure], folder: &Path) -> Result<String, String> {
    let failed =
        |path: &Path, error: io::Error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut names = String::new();
    for figure in figures {
        for (extension, content) in [("csv", render::csv(figure)), ("svg", render::svg(figure))] {
            let path: PathBuf = folder.join(format!("{}.{extension}", figure.stem));
            fs::write(&path, content).map_err(|error| failed(&path, error))?;
            names.push_str(&format!("{}\n", path.display()));
        }
    }
    Ok(names)
}

fn trouble(message: &str) -> ExitCode {
    let _ = io::stderr().write_all(describe_plain(message, None, false).as_bytes());
    ExitCode::from(TROUBLE_EXIT_CODE)
}
