//! The release shell, driven as a script drives it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The shell on one database file. Each call is a process of its own.
pub struct Shell {
    pub program: PathBuf,
    pub database: PathBuf,
}

impl Shell {
    /// Runs a statement and returns what it prints.
    pub fn run(&self, sql: &str) -> Result<String, String> {
        self.output(&["-c", sql])
    }

    /// Runs the statements of a file.
    pub fn run_file(&self, path: &Path) -> Result<String, String> {
        self.output(&["-f", &path.to_string_lossy()])
    }

    /// The first column of a query's rows, without the header.
    pub fn first_column(&self, sql: &str) -> Result<Vec<String>, String> {
        let text = self.output(&["-c", ".mode csv", "-c", sql])?;
        Ok(text.lines().skip(1).map(first_field).collect())
    }

    /// The only value of a query.
    pub fn single_value(&self, sql: &str) -> Result<String, String> {
        self.first_column(sql)?
            .into_iter()
            .next()
            .ok_or_else(|| format!("{sql}: no rows"))
    }

    /// Runs a query and lets the shell print its rows.
    pub fn show(&self, sql: &str) -> Result<(), String> {
        let status = self.command(&["-c", ".mode box", "-c", sql]).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{sql}: {status}")),
            Err(error) => Err(format!("{}: {error}", self.program.display())),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(&self.database)
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(arguments).output();
        let output = output.map_err(|error| format!("{}: {error}", self.program.display()))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!(
                "{}: {}\n{complaint}",
                arguments.join(" "),
                output.status
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The first field of a CSV line. Fields that span lines are not expected here.
fn first_field(line: &str) -> String {
    match line.strip_prefix('"') {
        None => line.split(',').next().unwrap_or_default().to_owned(),
        Some(rest) => {
            let marked = rest.replace("\"\"", "\u{0}");
            marked
                .split('"')
                .next()
                .unwrap_or_default()
                .replace('\u{0}', "\"")
        }
    }
}

/// A text as an SQL string.
pub fn sql_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A name as an SQL identifier, whatever characters it has.
pub fn sql_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_names_and_texts_are_doubled() {
        assert_eq!(sql_text("it's"), "'it''s'");
        assert_eq!(sql_name("a \"b\""), "\"a \"\"b\"\"\"");
    }

    #[test]
    fn the_first_field_may_be_quoted() {
        assert_eq!(first_field("a b,2"), "a b");
        assert_eq!(first_field("\"a \"\"b\"\", c\",2"), "a \"b\", c");
    }
}
