//! Commands that show something: tables, columns, files, help.

use std::sync::Arc;

use quire::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use quire::{TableDefinition, TableSummary};

use super::{COMMANDS, CommandResult, ShellCommand, find};
use crate::render::display_width;
use crate::shell::{Flow, Shell, ShellFailure, bytes_text, count_text, terminal_width};

/// All tables, by name.
///
/// # Errors
/// When the catalog cannot be read.
pub fn summaries(shell: &mut Shell) -> Result<Vec<TableSummary>, ShellFailure> {
    let mut tables = shell.connection()?.tables().map_err(statement_failure)?;
    tables.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(tables)
}

fn statement_failure(error: quire::Error) -> ShellFailure {
    ShellFailure::Statement {
        error,
        sql: String::new(),
    }
}

/// The tables that the pattern of a command names; all without one.
fn matching(shell: &mut Shell, arguments: &[String]) -> Result<Vec<TableSummary>, ShellFailure> {
    let mut tables = summaries(shell)?;
    if let Some(pattern) = arguments.first() {
        tables.retain(|table| matches_pattern(pattern, &table.name));
    }
    Ok(tables)
}

/// `%` and `*` stand for any text, `_` and `?` for one character; case does not count.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let (mut at, mut next) = (0, 0);
    // Where to go on when the rest does not fit: the last `%`, taking one character more.
    let mut retry: Option<(usize, usize)> = None;
    while next < name.len() {
        match pattern.get(at) {
            Some('%' | '*') => {
                retry = Some((at + 1, next));
                at += 1;
            }
            Some(wanted) if matches!(wanted, '_' | '?') || *wanted == name[next] => {
                at += 1;
                next += 1;
            }
            _ => match retry {
                Some((after, taken)) => {
                    retry = Some((after, taken + 1));
                    (at, next) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| matches!(rest, '%' | '*'))
}

pub fn tables(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let names: Vec<String> = matching(shell, arguments)?
        .into_iter()
        .map(|table| table.name)
        .collect();
    let width = if shell.output.is_terminal() {
        terminal_width()
    } else {
        0
    };
    for line in in_columns(&names, width) {
        shell.show_line(&line)?;
    }
    Ok(Flow::Continue)
}

/// The names in as many columns as fit, read downwards.
fn in_columns(names: &[String], width: usize) -> Vec<String> {
    let widest = names
        .iter()
        .map(|name| display_width(name))
        .max()
        .unwrap_or(0);
    let column_count = (width / (widest + 2)).max(1);
    let line_count = names.len().div_ceil(column_count);
    (0..line_count)
        .map(|line| {
            let mut text = String::new();
            for name in names.iter().skip(line).step_by(line_count) {
                text.push_str(name);
                text.extend(std::iter::repeat_n(' ', widest + 2 - display_width(name)));
            }
            text.trim_end().to_owned()
        })
        .collect()
}

pub fn list(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let tables = matching(shell, arguments)?;
    let names: ArrayRef = Arc::new(
        tables
            .iter()
            .map(|table| Some(table.name.as_str()))
            .collect::<StringArray>(),
    );
    let rows: ArrayRef = Arc::new(
        tables
            .iter()
            .map(|table| signed(table.row_count))
            .collect::<Int64Array>(),
    );
    let bytes: ArrayRef = Arc::new(
        tables
            .iter()
            .map(|table| signed(table.bytes))
            .collect::<Int64Array>(),
    );
    show(shell, [("table", names), ("rows", rows), ("bytes", bytes)])
}

/// SQL has no unsigned integers.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Tables and then views, as far as a pattern allows them.
fn schema_names(shell: &mut Shell, arguments: &[String]) -> Result<Vec<String>, ShellFailure> {
    let tables = matching(shell, arguments)?;
    let mut names: Vec<String> = tables.into_iter().map(|table| table.name).collect();
    let mut views = shell.connection()?.views().map_err(statement_failure)?;
    if let Some(pattern) = arguments.first() {
        views.retain(|view| matches_pattern(pattern, view));
    }
    names.extend(views);
    Ok(names)
}

pub fn schema(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    for name in schema_names(shell, arguments)? {
        let statement = shell
            .connection()?
            .create_statement(&name)
            .map_err(statement_failure)?;
        if let Some(statement) = statement {
            let end = if statement.trim_end().ends_with(';') {
                ""
            } else {
                ";"
            };
            shell.show_line(&format!("{}{end}", statement.trim_end()))?;
        }
    }
    Ok(Flow::Continue)
}

pub fn describe(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let Some(name) = arguments.first() else {
        return list(shell, arguments);
    };
    let definition = shell
        .connection()?
        .table_definition(name)
        .map_err(statement_failure)?;
    let Some(definition) = definition else {
        return Err(ShellFailure::Command(format!(
            "there is no table {name}; .tables lists them"
        )));
    };
    show(shell, described(&definition))?;
    let details = shell
        .connection()?
        .table_details(name)
        .map_err(statement_failure)?;
    for line in details {
        shell.show_line(&line)?;
    }
    Ok(Flow::Continue)
}

/// A row for each column; a column for defaults if there are any.
fn described(definition: &TableDefinition) -> Vec<(&'static str, ArrayRef)> {
    let columns: Vec<_> = definition
        .visible_columns()
        .map(|(_, column)| column)
        .collect();
    let text = |texts: Vec<Option<String>>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
    let names = text(
        columns
            .iter()
            .map(|column| Some(column.name.clone()))
            .collect(),
    );
    let types = text(
        columns
            .iter()
            .map(|column| Some(column.sql_type.to_string()))
            .collect(),
    );
    let nullable = text(
        columns
            .iter()
            .map(|column| Some(if column.nullable { "" } else { "not null" }.to_owned()))
            .collect(),
    );
    let compression = text(
        columns
            .iter()
            .map(|column| {
                Some(
                    column
                        .compression
                        .map_or("auto", |codec| codec.name())
                        .to_owned(),
                )
            })
            .collect(),
    );
    let has_defaults = columns
        .iter()
        .any(|column| column.shown_default().is_some());
    let defaults = text(
        columns
            .iter()
            .map(|column| Some(column.shown_default().unwrap_or_default()))
            .collect(),
    );
    let mut shown = vec![
        ("column", names),
        ("type", types),
        ("nullable", nullable),
        ("compression", compression),
    ];
    if has_defaults {
        shown.push(("default", defaults));
    }
    shown
}

fn show<'n>(
    shell: &mut Shell,
    columns: impl IntoIterator<Item = (&'n str, ArrayRef)>,
) -> CommandResult {
    let batch = RecordBatch::try_from_iter(columns)
        .map_err(|error| ShellFailure::Command(error.to_string()))?;
    shell.show_batch(&batch)?;
    Ok(Flow::Continue)
}

pub fn databases(shell: &mut Shell, _: &[String]) -> CommandResult {
    let Some(path) = shell.location.path.clone() else {
        shell.show_line("in memory")?;
        return Ok(Flow::Continue);
    };
    let mut line = path.display().to_string();
    if let Ok(metadata) = path.metadata() {
        line.push_str(&format!("  {}", bytes_text(metadata.len())));
    }
    if shell.location.read_only {
        line.push_str("  read-only");
    }
    shell.show_line(&line)?;
    Ok(Flow::Continue)
}

pub fn print(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    shell.show_line(&arguments.join(" "))?;
    Ok(Flow::Continue)
}

pub fn help(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    match arguments.first() {
        Some(name) => {
            let dotted = if name.starts_with(['.', '\\']) {
                name.clone()
            } else {
                format!(".{name}")
            };
            let command = find(&dotted)?;
            shell.show_line(&help_line(command))?;
        }
        None => {
            for command in COMMANDS {
                shell.show_line(&help_line(command))?;
            }
            shell.show_line("\nEverything else is SQL and ends with a semicolon.")?;
        }
    }
    Ok(Flow::Continue)
}

fn help_line(command: &ShellCommand) -> String {
    let usage = format!("{} {}", command.names.join(" "), command.arguments);
    let padding = 32_usize.saturating_sub(display_width(&usage)).max(1);
    format!("{usage}{:padding$}{}", "", command.summary)
}

/// What the shell says when it starts at a terminal.
pub fn greeting(shell: &mut Shell) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let place = match shell.location.path.clone() {
        Some(path) => {
            let tables = summaries(shell).map_or(0, |tables| tables.len() as u64);
            let noun = if tables == 1 { "table" } else { "tables" };
            format!("{}: {} {noun}.", path.display(), count_text(tables))
        }
        None => "In memory: what you store is gone when you leave.".to_owned(),
    };
    format!("Quire {version}. {place}\n.help lists the commands, .quit leaves.")
}

#[cfg(test)]
mod tests {
    use super::{in_columns, matches_pattern};

    #[test]
    fn patterns_are_those_of_like_and_of_the_shell() {
        for (pattern, name, expected) in [
            ("orders", "orders", true),
            ("ORDERS", "orders", true),
            ("order", "orders", false),
            ("ord%", "orders", true),
            ("*item", "lineitem", true),
            ("%e%e%", "lineitem", true),
            ("l_neit?m", "lineitem", true),
            ("%", "", true),
            ("", "", true),
            ("", "a", false),
            ("a%b%c", "aXbXbXc", true),
            ("a%b%c", "aXbXbX", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn names_fill_columns_downwards() {
        let names: Vec<String> = ["a", "bb", "c", "d", "e"].map(str::to_owned).into();
        assert_eq!(in_columns(&names, 8), ["a   d", "bb  e", "c"]);
        assert_eq!(in_columns(&names, 0), ["a", "bb", "c", "d", "e"]);
        assert_eq!(in_columns(&[], 80), Vec::<String>::new());
    }
}
