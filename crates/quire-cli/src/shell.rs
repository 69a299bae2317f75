//! One session: runs statements and commands, writes results and errors.

mod copying;
mod diagnostics;
mod output;
mod progress;
mod quantities;
mod resources;
mod settings;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use quire::arrow::array::RecordBatch;
use quire::{Completion, Connection, Database, DatabaseOptions, Outcome, Rows};
use quire_server::copy::CopyFailure;

use crate::allocator;
use crate::interrupt::Interrupts;
use crate::render::{RenderFormat, escape_controls, in_zone, renderer};

pub use copying::{CopyRowSource, RowTarget};
pub use diagnostics::{Diagnostic, ScriptPosition, describe, describe_plain};
pub use output::ShellOutput;
pub use quantities::{bytes_text, count_text, duration_text, parse_bytes};
pub use resources::Resources;
pub use settings::{DisplayLimit, ShellSettings};

/// Scripts read scripts at most this deep: one that reads itself ends with an error.
const SCRIPT_DEPTH_MAX: usize = 16;

/// Terminal columns assumed when the terminal does not say.
const FALLBACK_WIDTH: usize = 80;

/// Which database a session is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// `None` is a database in memory.
    pub path: Option<PathBuf>,
    pub read_only: bool,
}

/// What comes after a statement or command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next one.
    Continue,
    /// Nothing more of this script: an error ended it.
    Stop,
    /// Nothing more at all: the user asked to leave.
    Quit,
}

/// What the standard input of the program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardInput {
    /// No script.
    Free,
    /// The script that is being run.
    Script,
    /// A script that reads the one that is being run.
    OtherScript,
}

/// Why a statement or command did not succeed.
#[derive(Debug)]
pub enum ShellFailure {
    /// The database refused or failed.
    Statement { error: quire::Error, sql: String },
    /// The rows of a `COPY` are wrong, on this line of the script if that is known.
    Rows {
        failure: CopyFailure,
        line: Option<u64>,
    },
    /// A command of the shell was wrong or failed.
    Command(String),
    /// The result could not be written.
    Output(io::Error),
}

impl From<io::Error> for ShellFailure {
    fn from(error: io::Error) -> Self {
        ShellFailure::Output(error)
    }
}

impl From<CopyFailure> for ShellFailure {
    fn from(failure: CopyFailure) -> Self {
        ShellFailure::Rows {
            failure,
            line: None,
        }
    }
}

/// A session with its database, switches and output.
pub struct Shell {
    /// `None` only while another database is being opened.
    database: Option<(Database, Connection)>,
    pub location: Location,
    resources: Resources,
    pub settings: ShellSettings,
    pub output: ShellOutput,
    pub(crate) interrupts: Interrupts,
    progress: progress::ProgressDisplay,
    uses_color: bool,
    pub(crate) is_interactive: bool,
    /// Whether anything failed so far.
    pub had_error: bool,
    /// Whether Ctrl-C ended a script.
    pub(crate) was_stopped: bool,
    pub(crate) script_depth: usize,
    /// How deep the script is read that is the standard input.
    pub(crate) standard_input_depth: Option<usize>,
    /// Time of a statement, until it is shown.
    elapsed: Option<Duration>,
}

impl Shell {
    /// Opens the database.
    ///
    /// # Errors
    /// What opening fails with.
    pub fn open(
        location: Location,
        resources: Resources,
        settings: ShellSettings,
        is_interactive: bool,
    ) -> Result<Self, quire::Error> {
        let database = connect(&location, resources)?;
        Ok(Self {
            database: Some(database),
            location,
            resources,
            settings,
            output: ShellOutput::new(),
            interrupts: Interrupts::install(is_interactive),
            progress: progress::ProgressDisplay::for_terminal(),
            uses_color: wants_color(),
            is_interactive,
            had_error: false,
            was_stopped: false,
            script_depth: 0,
            standard_input_depth: None,
            elapsed: None,
        })
    }

    /// The connection to the open database.
    ///
    /// # Errors
    /// When the last `.open` failed and there is none.
    pub fn connection(&mut self) -> Result<&mut Connection, ShellFailure> {
        match &mut self.database {
            Some((_, connection)) => Ok(connection),
            None => Err(ShellFailure::Command(
                "no database is open; .open FILE opens one".to_owned(),
            )),
        }
    }

    /// Closes the database and opens another; the file of the old one is free before that.
    ///
    /// # Errors
    /// What opening fails with; no database is open then.
    pub fn reopen(&mut self, location: Location) -> Result<(), ShellFailure> {
        self.database = None;
        let failed = |error| ShellFailure::Statement {
            error,
            sql: String::new(),
        };
        let database = connect(&location, self.resources).map_err(failed)?;
        self.database = Some(database);
        self.location = location;
        Ok(())
    }

    /// The time of the statement that just ran, on the standard error: results stay free of it.
    pub(crate) fn show_time(&mut self) {
        if let Some(elapsed) = self.elapsed.take().filter(|_| self.settings.timer) {
            let text = format!("Time: {}\n", duration_text(elapsed));
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    /// Reports trouble with a script itself, which ends it.
    pub fn fail(&mut self, message: &str, place: Option<ScriptPosition>) -> Flow {
        self.had_error = true;
        self.report(&ShellFailure::Command(message.to_owned()), place);
        Flow::Stop
    }

    pub(crate) fn report(&self, failure: &ShellFailure, place: Option<ScriptPosition>) {
        let color = self.uses_color && io::stderr().is_terminal();
        let text = match failure {
            ShellFailure::Statement { error, sql } => {
                describe(&Diagnostic::from(error), sql, place, color)
            }
            ShellFailure::Rows { failure, line } => {
                let place = place.map(|place| ScriptPosition {
                    line: line.unwrap_or(place.line),
                    ..place
                });
                describe(&Diagnostic::from(failure), "", place, color)
            }
            ShellFailure::Command(message) => describe_plain(message, place, color),
            ShellFailure::Output(error) => {
                describe_plain(&format!("cannot write: {error}"), place, color)
            }
        };
        // Nobody is left to tell when the standard error is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Runs one statement and shows its result.
    ///
    /// # Errors
    /// What the statement or the output fails with.
    pub fn execute(&mut self, sql: &str) -> Result<(), ShellFailure> {
        self.echo(sql)?;
        self.run_statement(|shell| shell.execute_in_time(sql))
    }

    fn echo(&mut self, sql: &str) -> Result<(), ShellFailure> {
        if self.settings.echo {
            writeln!(self.output.writer(), "{sql};")?;
        }
        Ok(())
    }

    /// Does what a statement or something as long asks for: it is timed, and Ctrl-C cancels it.
    ///
    /// # Errors
    /// What `run` or the output fails with.
    pub fn run_statement(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<(), ShellFailure>,
    ) -> Result<(), ShellFailure> {
        let started = Instant::now();
        let interrupts = self.interrupts.clone();
        let handle = self.connection()?.cancel_handle();
        let running = interrupts.start(handle);
        let statement = self.connection()?.progress_handle();
        self.progress.start(statement);
        let result = run(self);
        self.progress.stop();
        drop(running);
        let flushed = self.output.end_statement();
        self.elapsed = Some(started.elapsed());
        result?;
        Ok(flushed?)
    }

    fn execute_in_time(&mut self, sql: &str) -> Result<(), ShellFailure> {
        match self.connection()?.execute(sql) {
            Ok(Outcome::Rows(rows)) => self.show_rows(rows, sql),
            Ok(Outcome::Done(completion)) => self.show_completion(&completion),
            Err(error) => Err(ShellFailure::Statement {
                error,
                sql: sql.to_owned(),
            }),
        }
    }

    fn show_rows(&mut self, mut rows: Rows, sql: &str) -> Result<(), ShellFailure> {
        let mut renderer = renderer(&self.format(), &rows.schema());
        let zone = self.connection()?.setting("timezone").unwrap_or_default();
        let failed = |error| ShellFailure::Statement {
            error,
            sql: sql.to_owned(),
        };
        let is_terminal = self.output.is_terminal();
        let mut output = self.progress.before(self.output.writer(), is_terminal);
        // A query that fails at once leaves nothing, not even a header.
        let mut next = rows.next_batch().map_err(failed)?;
        renderer.begin(&mut output)?;
        while let Some(batch) = next {
            renderer.batch(&in_zone(batch, &zone), &mut output)?;
            next = rows.next_batch().map_err(failed)?;
        }
        Ok(renderer.finish(&mut output)?)
    }

    fn show_completion(&mut self, completion: &Completion) -> Result<(), ShellFailure> {
        self.progress.stop();
        show_notices(&completion.notices);
        self.show_change(&completion.tag)
    }

    /// Says what was done, if that is wanted.
    fn show_change(&mut self, tag: &str) -> Result<(), ShellFailure> {
        if self.settings.changes.unwrap_or(self.output.is_terminal()) {
            writeln!(self.output.writer(), "{tag}")?;
        }
        Ok(())
    }

    /// Shows rows that the shell made itself, in the mode of the moment.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn show_batch(&mut self, batch: &RecordBatch) -> Result<(), ShellFailure> {
        let mut renderer = renderer(&self.format(), &batch.schema());
        renderer.begin(self.output.writer())?;
        renderer.batch(batch, self.output.writer())?;
        renderer.finish(self.output.writer())?;
        Ok(self.output.end_statement()?)
    }

    /// Writes one line to the output.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn show_line(&mut self, line: &str) -> Result<(), ShellFailure> {
        writeln!(self.output.writer(), "{line}")?;
        Ok(self.output.writer().flush()?)
    }

    fn format(&self) -> RenderFormat {
        let width = self.output.is_terminal().then(terminal_width);
        self.settings.format(width, self.uses_color)
    }

    /// Whether the standard input is a script, and whether it is the one that is being run, not one that it reads.
    pub fn standard_input(&self) -> StandardInput {
        match self.standard_input_depth {
            None => StandardInput::Free,
            Some(depth) if depth == self.script_depth => StandardInput::Script,
            Some(_) => StandardInput::OtherScript,
        }
    }

    /// Whether a script may read another one.
    pub fn can_read_deeper(&self) -> bool {
        self.script_depth < SCRIPT_DEPTH_MAX
    }

    /// Whether a person types the statements.
    pub fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Whether escapes for colours are welcome.
    pub fn uses_color(&self) -> bool {
        self.uses_color
    }

    /// Whether Ctrl-C ended a script.
    pub fn was_stopped(&self) -> bool {
        self.was_stopped
    }

    /// Whether work of a cancelled statement may still go on.
    pub fn has_cancelled(&self) -> bool {
        self.interrupts.has_cancelled()
    }

    /// Forgets Ctrl-C of statements that are over.
    pub fn take_interrupted(&self) -> bool {
        self.interrupts.take_interrupted()
    }
}

fn connect(
    location: &Location,
    resources: Resources,
) -> Result<(Database, Connection), quire::Error> {
    let options = DatabaseOptions {
        read_only: location.read_only,
        ..resources.options()
    };
    allocator::suit(&options);
    let database = match &location.path {
        Some(path) => Database::open_with(path, options)?,
        None => Database::in_memory_with(options)?,
    };
    show_notices(database.notices());
    let connection = database.connect();
    Ok((database, connection))
}

/// On the standard error; nobody is left to tell when it is closed.
fn show_notices(notices: &[String]) {
    for notice in notices {
        let _ = writeln!(io::stderr(), "NOTICE:  {}", escape_controls(notice));
    }
}

/// `NO_COLOR` with any text forbids colour (no-color.org).
fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Columns of the terminal.
pub fn terminal_width() -> usize {
    console::Term::stdout()
        .size_checked()
        .map(|(_, columns)| usize::from(columns))
        .filter(|columns| *columns > 0)
        .unwrap_or(FALLBACK_WIDTH)
}
