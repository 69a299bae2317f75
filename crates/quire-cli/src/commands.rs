//! The shell's own commands: `.tables` as in sqlite3, `\dt` as in psql.

mod copy;
mod describe;
mod dump;
mod files;
mod switches;
mod words;

use crate::rows_behind::RowLines;
use crate::shell::{Flow, Shell, ShellFailure};

pub use describe::{greeting, summaries};

/// One command and how it is called.
pub struct ShellCommand {
    /// The name shown by `.help`, then its aliases.
    pub names: &'static [&'static str],
    /// What follows the name; words in brackets may be left out.
    pub arguments: &'static str,
    pub summary: &'static str,
    /// What its arguments are, for completion.
    pub takes: Takes,
    run: CommandRun,
}

/// How a command is run.
enum CommandRun {
    /// With the words behind its name.
    Words(fn(&mut Shell, &[String]) -> CommandResult),
    /// With all that is behind its name, as it is, and the lines below.
    Line(fn(&mut Shell, &str, &mut dyn RowLines) -> CommandResult),
}

type CommandResult = Result<Flow, ShellFailure>;

/// Kinds of arguments that can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    Table,
    File,
    Mode,
    Switch,
}

/// All commands, sorted by name.
pub static COMMANDS: &[ShellCommand] = &[
    ShellCommand {
        names: &[".backup"],
        arguments: "[--force] FILE",
        summary: "Copy the database to a new file, while it is in use",
        takes: Takes::File,
        run: CommandRun::Words(files::backup),
    },
    ShellCommand {
        names: &[".bail"],
        arguments: "on|off",
        summary: "Whether a script stops at its first error (on)",
        takes: Takes::Switch,
        run: CommandRun::Words(switches::bail),
    },
    ShellCommand {
        names: &[".changes"],
        arguments: "on|off",
        summary: "Whether statements without rows say what they did (on at a terminal)",
        takes: Takes::Switch,
        run: CommandRun::Words(switches::changes),
    },
    ShellCommand {
        names: &[".databases", "\\l"],
        arguments: "",
        summary: "Show the open database file",
        takes: Takes::Nothing,
        run: CommandRun::Words(describe::databases),
    },
    ShellCommand {
        names: &[".describe", "\\d", "\\d+"],
        arguments: "[TABLE]",
        summary: "Show the columns of a table, or all tables",
        takes: Takes::Table,
        run: CommandRun::Words(describe::describe),
    },
    ShellCommand {
        names: &[".dump"],
        arguments: "[--portable] [PATTERN]",
        summary: "Write the database, or what matches, as SQL that makes it again",
        takes: Takes::Table,
        run: CommandRun::Words(dump::dump),
    },
    ShellCommand {
        names: &[".echo"],
        arguments: "on|off",
        summary: "Whether statements are shown before they run (off)",
        takes: Takes::Switch,
        run: CommandRun::Words(switches::echo),
    },
    ShellCommand {
        names: &[".headers", ".header"],
        arguments: "on|off",
        summary: "Whether results begin with the names of the columns (on)",
        takes: Takes::Switch,
        run: CommandRun::Words(switches::headers),
    },
    ShellCommand {
        names: &[".help", "\\?"],
        arguments: "[COMMAND]",
        summary: "List the commands",
        takes: Takes::Nothing,
        run: CommandRun::Words(describe::help),
    },
    ShellCommand {
        names: &[".import"],
        arguments: "FILE TABLE",
        summary: "Load a CSV or Parquet file; a table that is missing is made to fit it",
        takes: Takes::File,
        run: CommandRun::Words(files::import),
    },
    ShellCommand {
        names: &[".list", "\\dt", "\\dt+"],
        arguments: "[PATTERN]",
        summary: "Show tables with their rows and bytes",
        takes: Takes::Table,
        run: CommandRun::Words(describe::list),
    },
    ShellCommand {
        names: &[".maxrows"],
        arguments: "[COUNT|auto]",
        summary: "Rows shown in box and table mode; 0 is all, auto is 40 on a terminal",
        takes: Takes::Nothing,
        run: CommandRun::Words(switches::max_rows),
    },
    ShellCommand {
        names: &[".mode"],
        arguments: "[MODE [TABLE]]",
        summary: "box, table, csv, tsv, json, jsonlines, line, markdown, insert",
        takes: Takes::Mode,
        run: CommandRun::Words(switches::mode),
    },
    ShellCommand {
        names: &[".nullvalue"],
        arguments: "TEXT",
        summary: "What stands for NULL",
        takes: Takes::Nothing,
        run: CommandRun::Words(switches::null_value),
    },
    ShellCommand {
        names: &[".once"],
        arguments: "FILE",
        summary: "Write the next result to a file",
        takes: Takes::File,
        run: CommandRun::Words(files::once),
    },
    ShellCommand {
        names: &[".open"],
        arguments: "[--readonly] [FILE]",
        summary: "Close the database and open another; without FILE one in memory",
        takes: Takes::File,
        run: CommandRun::Words(files::open),
    },
    ShellCommand {
        names: &[".output", "\\o"],
        arguments: "[FILE]",
        summary: "Write results to a file; without FILE to the screen again",
        takes: Takes::File,
        run: CommandRun::Words(files::output),
    },
    ShellCommand {
        names: &[".print", "\\echo"],
        arguments: "TEXT …",
        summary: "Write a line",
        takes: Takes::Nothing,
        run: CommandRun::Words(describe::print),
    },
    ShellCommand {
        names: &[".quit", ".exit", "\\q"],
        arguments: "",
        summary: "Leave",
        takes: Takes::Nothing,
        run: CommandRun::Words(switches::quit),
    },
    ShellCommand {
        names: &[".read", "\\i"],
        arguments: "FILE",
        summary: "Run the statements and commands of a file",
        takes: Takes::File,
        run: CommandRun::Words(files::read),
    },
    ShellCommand {
        names: &[".schema"],
        arguments: "[PATTERN]",
        summary: "Show the CREATE TABLE statements",
        takes: Takes::Table,
        run: CommandRun::Words(describe::schema),
    },
    ShellCommand {
        names: &[".show"],
        arguments: "",
        summary: "Show all settings",
        takes: Takes::Nothing,
        run: CommandRun::Words(switches::show),
    },
    ShellCommand {
        names: &[".tables"],
        arguments: "[PATTERN]",
        summary: "List the names of the tables",
        takes: Takes::Table,
        run: CommandRun::Words(describe::tables),
    },
    ShellCommand {
        names: &[".timer", "\\timing"],
        arguments: "[on|off]",
        summary: "Whether the time of each statement is shown (off)",
        takes: Takes::Switch,
        run: CommandRun::Words(switches::timer),
    },
    ShellCommand {
        names: &[".width"],
        arguments: "[COUNT|auto]",
        summary: "Terminal columns for box and table mode; 0 is no limit",
        takes: Takes::Nothing,
        run: CommandRun::Words(switches::width),
    },
    ShellCommand {
        names: &["\\copy"],
        arguments: "TABLE|(QUERY) from|to FILE|stdin|stdout [OPTIONS]",
        summary: "COPY with a file as PostgreSQL's clients do it: text format",
        takes: Takes::File,
        run: CommandRun::Line(copy::copy),
    },
    ShellCommand {
        names: &["\\x"],
        arguments: "[on|off]",
        summary: "One line for each value instead of a table",
        takes: Takes::Switch,
        run: CommandRun::Words(switches::expanded),
    },
];

/// Runs a line that begins with `.` or `\`.
///
/// # Errors
/// When there is no such command, its arguments are wrong, or it fails.
pub fn run(shell: &mut Shell, line: &str, lines: &mut dyn RowLines) -> CommandResult {
    let (first, rest) = line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()));
    if let Ok(ShellCommand {
        run: CommandRun::Line(run),
        ..
    }) = find(first)
    {
        return run(shell, rest, lines);
    }
    let words = words::split(line).map_err(ShellFailure::Command)?;
    let Some((name, arguments)) = words.split_first() else {
        return Ok(Flow::Continue);
    };
    let command = find(name)?;
    let allowed = command.argument_count_max();
    if arguments.len() < command.argument_count_min() || arguments.len() > allowed {
        return Err(ShellFailure::Command(format!(
            "usage: {name} {}",
            command.arguments
        )));
    }
    match command.run {
        CommandRun::Words(run) => run(shell, arguments),
        CommandRun::Line(run) => run(shell, &arguments.join(" "), lines),
    }
}

/// The command of this name, or the only one whose name begins so.
fn find(name: &str) -> Result<&'static ShellCommand, ShellFailure> {
    if let Some(command) = COMMANDS
        .iter()
        .find(|command| command.names.contains(&name))
    {
        return Ok(command);
    }
    let candidates: Vec<&ShellCommand> = COMMANDS
        .iter()
        .filter(|command| {
            name.len() > 1 && name.starts_with('.') && command.names[0].starts_with(name)
        })
        .collect();
    match candidates.as_slice() {
        [command] => Ok(command),
        [] => Err(ShellFailure::Command(format!(
            "there is no command {name}; .help lists them"
        ))),
        several => {
            let names: Vec<&str> = several.iter().map(|command| command.names[0]).collect();
            Err(ShellFailure::Command(format!(
                "{name} may be {}",
                names.join(" or ")
            )))
        }
    }
}

impl ShellCommand {
    fn argument_count_min(&self) -> usize {
        self.arguments
            .split_whitespace()
            .filter(|word| !word.starts_with('[') && *word != "…" && !word.ends_with(']'))
            .count()
    }

    fn argument_count_max(&self) -> usize {
        if self.arguments.ends_with('…') {
            return usize::MAX;
        }
        self.arguments.split_whitespace().count()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashSet;

    use super::{COMMANDS, find};
    use crate::shell::ShellFailure;

    fn name_of(name: &str) -> Result<&'static str, String> {
        match find(name) {
            Ok(command) => Ok(command.names[0]),
            Err(ShellFailure::Command(message)) => Err(message),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = HashSet::new();
        for name in COMMANDS.iter().flat_map(|command| command.names) {
            assert!(seen.insert(name), "{name} twice");
        }
    }

    #[test]
    fn a_unique_beginning_is_enough_for_dot_commands() {
        assert_eq!(name_of(".tables").unwrap(), ".tables");
        assert_eq!(name_of(".tab").unwrap(), ".tables");
        assert_eq!(name_of("\\dt").unwrap(), ".list");
        assert_eq!(name_of(".header").unwrap(), ".headers");
        assert_eq!(name_of(".on").unwrap(), ".once");
        assert_eq!(
            name_of(".o").unwrap_err(),
            ".o may be .once or .open or .output"
        );
        assert_eq!(
            name_of(".").unwrap_err(),
            "there is no command .; .help lists them"
        );
        assert_eq!(
            name_of("\\zz").unwrap_err(),
            "there is no command \\zz; .help lists them"
        );
    }

    #[test]
    fn argument_counts_follow_the_usage() {
        let counts = |name: &str| {
            let command = find(name).unwrap_or_else(|_| panic!("{name}"));
            (command.argument_count_min(), command.argument_count_max())
        };
        assert_eq!(counts(".quit"), (0, 0));
        assert_eq!(counts(".import"), (2, 2));
        assert_eq!(counts(".open"), (0, 2));
        assert_eq!(counts(".mode"), (0, 2));
        assert_eq!(counts(".print"), (1, usize::MAX));
    }
}
