//! What Tab offers: commands and their arguments, words of SQL, tables and columns, files.

use rustyline::Result;
use rustyline::completion::{FilenameCompleter, Pair};

use crate::commands::{COMMANDS, Takes, summaries};
use crate::keywords::{quote_identifier, starting_with};
use crate::render::RenderMode;
use crate::shell::Shell;
use clap::ValueEnum;

/// Everything with a name that may be typed.
#[derive(Default)]
pub struct CompletionNames {
    tables: Vec<String>,
    columns: Vec<String>,
}

impl CompletionNames {
    /// Takes over the names of the open database; keeps the old ones when they cannot be read.
    pub fn learn(&mut self, shell: &mut Shell) {
        let Ok(tables) = summaries(shell) else { return };
        let tables: Vec<String> = tables.into_iter().map(|table| table.name).collect();
        if tables == self.tables {
            return;
        }
        let mut columns = Vec::new();
        for table in &tables {
            let definition = shell
                .connection()
                .ok()
                .and_then(|connection| connection.table_definition(table).ok());
            if let Some(definition) = definition.flatten() {
                columns.extend(definition.columns.iter().map(|column| column.name.clone()));
            }
        }
        columns.sort_unstable();
        columns.dedup();
        (self.tables, self.columns) = (tables, columns);
    }

    /// Where the word before the cursor begins, and what it may become.
    ///
    /// # Errors
    /// Those of the file system, for the names of files.
    pub fn complete(&self, line: &str, position: usize) -> Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        if is_inside_string(before) {
            return FilenameCompleter::new().complete_path(line, position);
        }
        let start = before
            .rfind(is_separator)
            .map_or(0, |at| at + separator_length(before, at));
        let word = &before[start..];
        let first = before.trim_start();
        if !first.starts_with(['.', '\\']) {
            return Ok((start, pairs(self.sql_words(word))));
        }
        if first.len() == word.len() {
            return Ok((start, pairs(command_names(word))));
        }
        let name = first.split_whitespace().next().unwrap_or_default();
        let takes = COMMANDS
            .iter()
            .find(|command| command.names.contains(&name))
            .map_or(Takes::Nothing, |command| command.takes);
        self.arguments(takes, line, position, start, word)
    }

    fn arguments(
        &self,
        takes: Takes,
        line: &str,
        position: usize,
        start: usize,
        word: &str,
    ) -> Result<(usize, Vec<Pair>)> {
        let candidates = match takes {
            Takes::File => return FilenameCompleter::new().complete_path(line, position),
            Takes::Table => matching(self.tables.iter().map(String::as_str), word),
            Takes::Mode => matching(
                RenderMode::value_variants().iter().map(|mode| mode.name()),
                word,
            ),
            Takes::Switch => matching(["on", "off"].into_iter(), word),
            Takes::Nothing => Vec::new(),
        };
        Ok((start, pairs(candidates)))
    }

    /// Words of SQL keep the case in which they were begun.
    fn sql_words(&self, word: &str) -> Vec<String> {
        if word.is_empty() {
            return Vec::new();
        }
        let is_upper = word.chars().any(|c| c.is_uppercase()) && word.to_uppercase() == word;
        let names = self
            .tables
            .iter()
            .chain(&self.columns)
            .map(|name| quote_identifier(name));
        let mut words: Vec<String> = names.filter(|name| name.starts_with(word)).collect();
        for keyword in starting_with(word) {
            words.push(if is_upper {
                keyword.to_uppercase()
            } else {
                keyword.to_owned()
            });
        }
        words.dedup();
        words
    }
}

fn command_names(prefix: &str) -> Vec<String> {
    let names = COMMANDS
        .iter()
        .flat_map(|command| command.names.iter().copied());
    matching(names, prefix)
}

fn matching<'a>(names: impl Iterator<Item = &'a str>, prefix: &str) -> Vec<String> {
    names
        .filter(|name| name.starts_with(prefix))
        .map(str::to_owned)
        .collect()
}

/// The only candidate is followed by a blank: the next word can be typed.
fn pairs(words: Vec<String>) -> Vec<Pair> {
    let end = if words.len() == 1 { " " } else { "" };
    words
        .into_iter()
        .map(|word| Pair {
            replacement: format!("{word}{end}"),
            display: word,
        })
        .collect()
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || "(),;=<>+-*/".contains(character)
}

fn separator_length(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Strings name files, as in `COPY t FROM 'f.csv'`.
fn is_inside_string(before: &str) -> bool {
    before.matches('\'').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::{CompletionNames, command_names, is_inside_string};

    fn names() -> CompletionNames {
        CompletionNames {
            tables: vec!["orders".to_owned(), "Odd name".to_owned()],
            columns: vec!["o_orderkey".to_owned()],
        }
    }

    #[test]
    fn tables_and_columns_come_before_words_of_sql() {
        assert_eq!(names().sql_words("or"), ["orders", "or", "order"]);
        assert_eq!(names().sql_words("o_"), ["o_orderkey"]);
        assert_eq!(names().sql_words("\"O"), ["\"Odd name\""]);
        assert_eq!(names().sql_words("SELE"), ["SELECT"]);
        assert!(names().sql_words("").is_empty());
    }

    #[test]
    fn commands_complete_by_dot_or_backslash() {
        assert_eq!(command_names(".ti"), [".timer"]);
        assert_eq!(command_names("\\ti"), ["\\timing"]);
    }

    #[test]
    fn files_are_offered_inside_strings() {
        assert!(is_inside_string("copy t from 'da"));
        assert!(!is_inside_string("copy t from 'a' "));
    }
}
