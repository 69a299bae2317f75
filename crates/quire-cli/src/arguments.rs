//! How the program is called.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::data_set::{DataSetAction, MountArguments};
use crate::lab::LabArguments;
use crate::render::RenderMode;
use crate::shell::{Location, Resources, ShellSettings};
use crate::workload::WorkloadArguments;

/// An SQL database in one compressed file.
///
/// With neither SQL nor -c nor -f, statements are read from the terminal, or from the standard
/// input when that is no terminal. Exit codes: 0 all went well; 1 a statement or command failed, or
/// `check` found something; 2 wrong usage, or `check`, `inspect` or `lab` could not look; 130 interrupted; 141
/// nobody reads the output.
#[derive(Debug, Parser)]
#[command(
    name = "quire",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_precedence_over_arg = true,
    disable_help_subcommand = true
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub action: Option<Action>,

    /// Database file, made when it is missing; without one the database is in memory.
    /// A file named like a subcommand is reached as ./check
    file: Option<PathBuf>,

    /// Statements to run, or a command
    sql: Vec<String>,

    /// Run these statements or this command, then leave; may be given several times
    #[arg(
        short = 'c',
        long = "command",
        value_name = "SQL",
        allow_hyphen_values = true
    )]
    commands: Vec<String>,

    /// Run the statements and commands of a file (- is the standard input), then leave; may be
    /// given several times, and with -c, in the order given
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How rows are written [default: box on a terminal, csv elsewhere]
    #[arg(short = 'm', long, value_enum)]
    mode: Option<RenderMode>,

    /// Open the file without the right to change it
    #[arg(long)]
    readonly: bool,

    /// Leave out the names of the columns
    #[arg(long)]
    no_header: bool,

    /// Show statements before they run
    #[arg(long)]
    echo: bool,

    #[command(flatten)]
    pub resources: Resources,
}

fn parse_connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=10_000) => Ok(count),
        _ => Err(format!("{text} is no number from 1 to 10000")),
    }
}

/// Who is let in, and how.
#[derive(Debug, clap::Args)]
pub struct Security {
    /// Who must give a password [default: everybody, as soon as a role has one]
    #[arg(long, value_name = "WHO", value_enum)]
    pub auth: Option<AuthenticationMode>,

    /// The server's certificate in PEM, and behind it those of its issuers
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The private key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// Whether clients without TLS are refused; always, where other machines may reach the address
    #[arg(long, value_name = "MODE", value_enum, default_value = "optional")]
    pub tls: TlsMode,

    /// How long a client may take to say and prove who it is; 10 seconds where it keeps others out
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub authentication_timeout: u64,

    /// Where a line goes for each client that is turned away, and for the start and the end
    #[arg(long, value_name = "WHERE", value_enum, default_value = "stderr")]
    pub log: LogTarget,
}

/// Where the server's log goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogTarget {
    /// To standard error
    Stderr,
    /// Nowhere
    None,
}

/// Who has to prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum AuthenticationMode {
    /// Nobody; only for addresses of this machine
    Trust,
    /// Everybody, by a password (SCRAM-SHA-256)
    Scram,
}

/// Whether clients must use TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TlsMode {
    /// They may, if there is a certificate
    Optional,
    /// They must
    Required,
}

/// What to do instead of opening a session.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Verify everything that must hold in a database file
    ///
    /// Prints each finding with its page and offset. Exit codes: 0 nothing found; 1 findings;
    /// 2 the file could not be examined.
    Check {
        /// The database file; it is not changed
        file: PathBuf,

        /// Write to this new file what can be saved of a broken one, then check that
        #[arg(long, value_name = "COPY")]
        rebuild: Option<PathBuf>,
    },

    /// Show where the bytes of a database file went
    ///
    /// By table, column or tree, and codec: bytes in the file beside those that they stand for.
    /// Exit codes: 0 shown; 2 the file could not be examined.
    Inspect {
        /// The database file; it is not changed
        file: PathBuf,

        /// Write one page of HTML with a treemap, which needs no network, to this file instead
        #[arg(long, value_name = "OUT")]
        html: Option<PathBuf>,
    },

    /// Serve a database to clients of PostgreSQL, until interrupted
    ///
    /// Prints the address when clients can connect. Any name of a database is accepted. So is any
    /// user, until there is a role that can log in with a password (CREATE USER name PASSWORD '…');
    /// then every client must prove who it is. Addresses that other machines may reach need such a
    /// role and TLS.
    /// Exit codes: 0 stopped; 1 the database, the address, certificate or key cannot be used.
    Serve {
        /// The database file, made when it is missing; :memory: is a database in memory
        file: PathBuf,

        /// Address and port; port 0 takes a free one
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5432")]
        listen: SocketAddr,

        #[command(flatten)]
        security: Security,

        /// Connections at a time
        #[arg(long, value_name = "COUNT", default_value = "256", value_parser = parse_connections)]
        connections: usize,

        /// How long a statement may take, in milliseconds, unless its session says otherwise [default: for ever]
        #[arg(long, value_name = "MS")]
        statement_timeout: Option<u64>,

        #[command(flatten)]
        resources: Resources,
    },

    /// Make and change data sets: compressed folders of files, of which a volume has any number
    ///
    /// Exit codes: 0 done; 1 not.
    #[command(subcommand, name = "dataset")]
    DataSet(DataSetAction),

    /// Mount a data set as a folder, below any program, until it is unmounted or the process ends
    ///
    /// Everything that the system keeps in such a folder is compressed. Prints a line when the folder can be used; ends in order when
    /// it is unmounted (quire unmount DIR), interrupted or terminated. Exit codes: 0 unmounted, everything is on the disk; 1 it could not be mounted,
    /// or not be written.
    Mount(MountArguments),

    /// Unmount a data set, and wait until everything is on the disk and the volume is closed
    ///
    /// Exit codes: 0 done; 1 not, for instance because a program has files open in the folder.
    Unmount {
        /// The folder
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },

    /// Measure the figures of the papers again on this machine
    ///
    /// Prints the figures of a topic as tables, the paper's values beside ours. With --report all
    /// topics become one page of HTML, with what the papers claim and whether it holds. Exit codes:
    /// 0 measured; 2 a file could not be read or written, or a figure not be measured.
    #[command(arg_required_else_help = true)]
    Lab(LabArguments),

    /// Run transactions of many users, on Quire and on other databases
    ///
    /// Generates the rows of a workload once, loads them into each database, and lets users work on them for a while: transactions a
    /// second, response times, processor time, bytes. Databases are made for the run and removed. Exit codes: 0 measured; 1 not, or
    /// the data is not consistent; 130 interrupted.
    #[command(arg_required_else_help = true)]
    Workload(Box<WorkloadArguments>),
}

/// Something to run before leaving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartupScript {
    Text(String),
    File(PathBuf),
}

impl CommandLine {
    /// Reads the command line; prints help or a complaint and leaves when that is due.
    pub fn read() -> (Self, Vec<StartupScript>) {
        let matches = Self::command().get_matches();
        match Self::with_sources(&matches) {
            Ok(read) => read,
            Err(error) => error.exit(),
        }
    }

    fn with_sources(matches: &ArgMatches) -> Result<(Self, Vec<StartupScript>), clap::Error> {
        let arguments = Self::from_arg_matches(matches)?;
        let sources = arguments.sources(matches);
        Ok((arguments, sources))
    }

    /// What -c and -f name, in the order of the command line, and the SQL after the file last.
    fn sources(&self, matches: &ArgMatches) -> Vec<StartupScript> {
        let positions = |id: &str| matches.indices_of(id).into_iter().flatten();
        let texts =
            positions("commands").zip(self.commands.iter().cloned().map(StartupScript::Text));
        let files = positions("files").zip(self.files.iter().cloned().map(StartupScript::File));
        let mut sources: Vec<(usize, StartupScript)> = texts.chain(files).collect();
        sources.sort_by_key(|(position, _)| *position);
        let sql = self.sql.iter().cloned().map(StartupScript::Text);
        sources
            .into_iter()
            .map(|(_, source)| source)
            .chain(sql)
            .collect()
    }

    /// The database asked for.
    pub fn location(&self) -> Location {
        let path = self
            .file
            .clone()
            .filter(|path| path.as_os_str() != ":memory:");
        Location {
            path,
            read_only: self.readonly,
        }
    }

    /// The switches asked for.
    pub fn settings(&self) -> ShellSettings {
        ShellSettings {
            mode: self.mode,
            header: !self.no_header,
            echo: self.echo,
            ..ShellSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::PathBuf;

    use clap::{CommandFactory, ValueEnum};
    use quire::PoolPolicy;

    use super::{Action, CommandLine, StartupScript};
    use crate::lab::Topic;
    use crate::render::RenderMode;
    use crate::shell::Resources;

    fn read(words: &[&str]) -> (CommandLine, Vec<StartupScript>) {
        let words = std::iter::once("quire").chain(words.iter().copied());
        let matches = CommandLine::command().try_get_matches_from(words).unwrap();
        CommandLine::with_sources(&matches).unwrap()
    }

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn file_and_statement() {
        let (arguments, sources) = read(&["a.quire", "select 1", "--mode", "csv", "--readonly"]);
        assert_eq!(arguments.location().path, Some(PathBuf::from("a.quire")));
        assert!(arguments.location().read_only);
        assert_eq!(arguments.settings().mode, Some(RenderMode::Csv));
        assert_eq!(arguments.resources, Resources::default());
        assert_eq!(sources, [StartupScript::Text("select 1".to_owned())]);
    }

    #[test]
    fn statements_and_files_keep_their_order() {
        let (_, sources) = read(&[
            "-c", "one", "-f", "two.sql", "a.quire", "four", "-c", "-- three", "five",
        ]);
        let expected = [
            StartupScript::Text("one".to_owned()),
            StartupScript::File(PathBuf::from("two.sql")),
            StartupScript::Text("-- three".to_owned()),
            StartupScript::Text("four".to_owned()),
            StartupScript::Text("five".to_owned()),
        ];
        assert_eq!(sources, expected);
    }

    #[test]
    fn no_file_is_a_database_in_memory() {
        assert_eq!(read(&["-c", "select 1"]).0.location().path, None);
        assert_eq!(read(&[":memory:"]).0.location().path, None);
    }

    #[test]
    fn resources_have_units_and_bounds() {
        let (arguments, _) = read(&[
            "--memory",
            "2GiB",
            "--threads",
            "3",
            "--cache",
            "24MiB",
            "--direct-io",
            "--pool",
            "twins:25",
            "--compression-threads",
            "0",
        ]);
        let expected = Resources {
            pool_policy: PoolPolicy::Twins {
                uncompressed_percent: 25,
            },
            compression_threads: Some(0),
            cache_bytes: Some(24 << 20),
            memory_bytes: Some(2 << 30),
            threads: Some(3),
            direct_io: true,
            device: None,
        };
        assert_eq!(arguments.resources, expected);
        for wrong in [
            ["--memory", "much"],
            ["--cache", "-1"],
            ["--pool", "twins"],
            ["--pool", "twins:0"],
            ["--compression-threads", "65"],
            ["--threads", "0"],
            ["--threads", "1025"],
        ] {
            let words = ["quire"].into_iter().chain(wrong);
            assert!(
                CommandLine::command().try_get_matches_from(words).is_err(),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn a_subcommand_wins_over_a_file_of_its_name() {
        let (arguments, _) = read(&["check", "a.quire"]);
        assert!(matches!(arguments.action, Some(Action::Check { .. })));
        let (arguments, _) = read(&["lab", "postings", "text", "--quick", "--out", "figures"]);
        let Some(Action::Lab(lab)) = arguments.action else {
            panic!("no laboratory");
        };
        assert_eq!((lab.topic, lab.quick), (Some(Topic::Postings), true));
        assert_eq!(lab.files, [PathBuf::from("text")]);
        assert_eq!(lab.out, Some("figures".into()));
        let (arguments, _) = read(&["./check", "select 1"]);
        assert_eq!(arguments.location().path, Some(PathBuf::from("./check")));
    }

    #[test]
    fn the_laboratory_needs_a_topic_or_a_report() {
        let try_lab = |words: &str| {
            let words = ["quire", "lab"].into_iter().chain(words.split_whitespace());
            CommandLine::command().try_get_matches_from(words)
        };
        for wrong in [
            "",
            "--quick",
            "--only codecs",
            "codecs --only codecs --report page.html",
            "--report page.html --out figures",
        ] {
            assert!(try_lab(wrong).is_err(), "{wrong}");
        }
        let words = [
            "lab",
            "--report",
            "page.html",
            "--only",
            "codecs,iterator-models",
        ];
        let Some(Action::Lab(lab)) = read(&words).0.action else {
            panic!("no laboratory");
        };
        assert_eq!(lab.topics(), [Topic::Codecs, Topic::IteratorModels]);
        let Some(Action::Lab(lab)) = read(&["lab", "--report", "page.html"]).0.action else {
            panic!("no laboratory");
        };
        assert_eq!(lab.topics(), Topic::value_variants());
        // What it prints when nothing is asked for, and its help, name the report.
        let message = try_lab("").unwrap_err().to_string();
        assert!(message.contains("--report <PAGE>"), "{message}");
    }
}
