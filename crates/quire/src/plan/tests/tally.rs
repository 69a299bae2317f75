//! How many queries are translated, and why the others are not.

use std::collections::BTreeMap;

use super::{Compared, Untranslated};

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

    /// Prints what was found, and panics when an answer differs or fewer than that many in a thousand are translated.
    pub(super) fn judge(&self, source: &str, least_per_mille: usize) {
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
        assert!(
            self.translated * 1000 >= least_per_mille * self.answered,
            "{source}: {} of {} queries translated, which is less than {least_per_mille} in a thousand",
            self.translated,
            self.answered,
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
