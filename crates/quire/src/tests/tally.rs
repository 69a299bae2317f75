//! How many queries are translated, and why the others are not.

use std::collections::BTreeMap;

use quire_planner::plan::Untranslated;

use super::Compared;

/// Queries of one source.
#[derive(Default)]
pub(super) struct Tally {
    /// Queries that the database answers.
    pub(super) answered: usize,
    pub(super) translated: usize,
    /// Why the others are not → how often, and an example.
    causes: BTreeMap<String, (usize, String)>,
    different: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, sql: &str, compared: Compared) {
        match compared {
            Compared::Refused => return,
            Compared::Untranslated(untranslated) => {
                let cause = cause(&untranslated);
                let known = self.causes.entry(cause).or_insert((0, sql.to_owned()));
                known.0 += 1;
            }
            Compared::Same => self.translated += 1,
            Compared::Different(how) => {
                self.translated += 1;
                self.different.push(format!("{sql}\n{how}"));
            }
        }
        self.answered += 1;
    }

    /// Prints what was found, and panics when an answer differs, or a query is not translated for a cause that is not among those
    /// known, of which each has so many queries at most.
    pub(super) fn judge(&self, source: &str, known: &[(&str, usize)]) {
        println!(
            "{source}: {} of {} queries translated",
            self.translated, self.answered
        );
        for (cause, (count, sql)) in &self.causes {
            println!("  {count:>6}  {cause}  (first: {})", first_line(sql));
        }
        let shown: Vec<&String> = self.different.iter().take(5).collect();
        assert!(
            self.different.is_empty(),
            "{} answers of {source} differ:\n{}",
            self.different.len(),
            shown
                .iter()
                .map(|text| text.as_str())
                .collect::<Vec<_>>()
                .join("\n\n"),
        );
        let most = |cause: &str| {
            let found = known.iter().find(|(known, _)| cause.starts_with(known));
            found.map_or(0, |(_, most)| *most)
        };
        let unknown: Vec<String> = self
            .causes
            .iter()
            .filter(|(cause, (count, _))| *count > most(cause))
            .map(|(cause, (count, sql))| format!("{count} for {cause}: {}", first_line(sql)))
            .collect();
        assert!(
            unknown.is_empty(),
            "queries of {source} are left to batches:\n{}",
            unknown.join("\n"),
        );
    }
}

/// Without the names in it.
fn cause(untranslated: &Untranslated) -> String {
    match untranslated {
        Untranslated::Expression(text) => {
            let short: String = text.chars().take(60).collect();
            format!("expression {short}")
        }
        other => other.to_string(),
    }
}

fn first_line(sql: &str) -> String {
    let line: Vec<&str> = sql.split_whitespace().collect();
    line.join(" ").chars().take(160).collect()
}
