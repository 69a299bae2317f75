//! Errors as the user reads them.
//!
//! As psql writes them: severity, SQLSTATE and message, the line of the statement with a caret
//! below the place, then detail and hint. In a script the file and the line stand in front.

use std::fmt::Write as _;

use quire_server::copy::CopyFailure;

use crate::render::{display_width, escape_controls};

/// Columns of a source line shown; a longer one is cut around the caret.
const SOURCE_WIDTH: usize = 78;

/// An error of a statement.
pub struct Diagnostic<'a> {
    pub sqlstate: &'a str,
    pub message: &'a str,
    pub detail: Option<&'a str>,
    pub hint: Option<&'a str>,
    /// Line and column in the statement, both from 1, the column in characters.
    pub position: Option<(u64, u64)>,
}

impl<'a> From<&'a quire::Error> for Diagnostic<'a> {
    fn from(error: &'a quire::Error) -> Self {
        Self {
            sqlstate: error.sqlstate(),
            message: error.message(),
            detail: error.detail(),
            hint: error.hint(),
            position: error
                .position()
                .map(|position| (position.line, position.column)),
        }
    }
}

impl<'a> From<&'a CopyFailure> for Diagnostic<'a> {
    fn from(failure: &'a CopyFailure) -> Self {
        Self {
            sqlstate: &failure.sqlstate,
            message: &failure.message,
            detail: failure.detail.as_deref(),
            hint: failure.hint.as_deref(),
            position: None,
        }
    }
}

/// Where a statement or command stands: the name of the script and the line on which it begins.
#[derive(Debug, Clone, Copy)]
pub struct ScriptPosition<'a> {
    pub script: &'a str,
    pub line: u64,
}

/// The whole text, ending in a line end.
pub fn describe(
    diagnostic: &Diagnostic,
    statement: &str,
    place: Option<ScriptPosition>,
    color: bool,
) -> String {
    let mut text = String::new();
    if let Some(place) = place {
        let offset = diagnostic
            .position
            .map_or(0, |(line, _)| line.saturating_sub(1));
        let _ = write!(
            text,
            "{}:{}: ",
            place.script,
            place.line.saturating_add(offset)
        );
    }
    let (red, plain) = if color {
        ("\x1b[1;31m", "\x1b[0m")
    } else {
        ("", "")
    };
    let message = escape_lines(diagnostic.message);
    let _ = writeln!(
        text,
        "{red}ERROR:{plain}  {}: {message}",
        diagnostic.sqlstate
    );
    if let Some((line, column)) = diagnostic.position {
        push_source(statement, line, column, &mut text);
    }
    if let Some(detail) = diagnostic.detail {
        let _ = writeln!(text, "DETAIL:  {}", escape_lines(detail));
    }
    if let Some(hint) = diagnostic.hint {
        let _ = writeln!(text, "HINT:  {}", escape_lines(hint));
    }
    text
}

/// A complaint about a command or the way the program was called.
pub fn describe_plain(message: &str, place: Option<ScriptPosition>, color: bool) -> String {
    let (red, plain) = if color {
        ("\x1b[1;31m", "\x1b[0m")
    } else {
        ("", "")
    };
    let place = place.map_or(String::new(), |place| {
        format!("{}:{}: ", place.script, place.line)
    });
    format!("{place}{red}ERROR:{plain}  {}\n", escape_lines(message))
}

/// Escapes what could move the cursor, line by line.
fn escape_lines(text: &str) -> String {
    text.lines()
        .map(escape_controls)
        .collect::<Vec<_>>()
        .join("\n")
}

/// `LINE n: …` and the caret below it; nothing when the statement has no such line.
fn push_source(statement: &str, line: u64, column: u64, out: &mut String) {
    let Some(source) = usize::try_from(line)
        .ok()
        .and_then(|line| statement.lines().nth(line.checked_sub(1)?))
    else {
        return;
    };
    let before_count = usize::try_from(column)
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    let before: String = source.chars().take(before_count).collect();
    let after: String = source.chars().skip(before_count).collect();
    let (before, after) = (shown(&before), shown(&after));
    let (before, after) = cut_around(&before, &after);
    let label = format!("LINE {line}: ");
    let caret_column = display_width(&label) + display_width(&before);
    let _ = writeln!(out, "{label}{before}{after}");
    let _ = writeln!(out, "{:caret_column$}^", "");
}

fn shown(text: &str) -> String {
    escape_controls(&text.replace('\t', " ")).into_owned()
}

/// Leaves the place itself, three quarters of the width before it and the rest after it.
fn cut_around(before: &str, after: &str) -> (String, String) {
    if display_width(before) + display_width(after) <= SOURCE_WIDTH {
        return (before.to_owned(), after.to_owned());
    }
    let before_width = SOURCE_WIDTH * 3 / 4;
    let before = if display_width(before) <= before_width {
        before.to_owned()
    } else {
        let mut kept: Vec<char> = Vec::new();
        let mut width = "...".len();
        for character in before.chars().rev() {
            width += display_width(character.encode_utf8(&mut [0; 4]));
            if width > before_width {
                break;
            }
            kept.push(character);
        }
        format!("...{}", kept.iter().rev().collect::<String>())
    };
    let room = SOURCE_WIDTH - display_width(&before);
    let after = if display_width(after) <= room {
        after.to_owned()
    } else {
        let mut kept = String::new();
        for character in after.chars() {
            let width = display_width(character.encode_utf8(&mut [0; 4]));
            if display_width(&kept) + width + "...".len() > room {
                break;
            }
            kept.push(character);
        }
        format!("{kept}...")
    };
    (before, after)
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, ScriptPosition, describe, describe_plain};

    fn diagnostic(position: Option<(u64, u64)>) -> Diagnostic<'static> {
        Diagnostic {
            sqlstate: "42703",
            message: "column \"x\" does not exist",
            detail: None,
            hint: None,
            position,
        }
    }

    #[test]
    fn the_caret_stands_below_the_place() {
        let text = describe(
            &diagnostic(Some((2, 8))),
            "select 1,\n  'é', x\nfrom t",
            None,
            false,
        );
        assert_eq!(
            text,
            "ERROR:  42703: column \"x\" does not exist\n\
             LINE 2:   'é', x\n\
             \x20              ^\n"
        );
    }

    #[test]
    fn wide_characters_and_tabs_before_the_place_are_measured() {
        let text = describe(&diagnostic(Some((1, 12))), "select\t'日', x", None, false);
        // "LINE 1: " is 8 columns; "select '日'," 12 with the wide character; the caret follows.
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "LINE 1: select '日', x");
        assert_eq!(lines[2].len(), 8 + 12 + 1);
    }

    #[test]
    fn detail_hint_and_place() {
        let full = Diagnostic {
            detail: Some("line 7 of the file"),
            hint: Some("quote it"),
            ..diagnostic(Some((2, 1)))
        };
        let place = Some(ScriptPosition {
            script: "load.sql",
            line: 10,
        });
        assert_eq!(
            describe(&full, "select\nx", place, false),
            "load.sql:11: ERROR:  42703: column \"x\" does not exist\n\
             LINE 2: x\n\
             \x20       ^\n\
             DETAIL:  line 7 of the file\n\
             HINT:  quote it\n"
        );
        assert_eq!(
            describe_plain("no such file", place, false),
            "load.sql:10: ERROR:  no such file\n"
        );
    }

    #[test]
    fn a_position_outside_the_statement_shows_no_source() {
        let expected = "ERROR:  42703: column \"x\" does not exist\n";
        assert_eq!(
            describe(&diagnostic(Some((9, 1))), "select 1", None, false),
            expected
        );
        assert_eq!(
            describe(&diagnostic(Some((0, 0))), "select 1", None, false),
            expected
        );
        assert_eq!(
            describe(&diagnostic(None), "select 1", None, false),
            expected
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let statement = format!("select {} x {}", "a, ".repeat(100), ", b".repeat(100));
        let column = statement.find('x').map_or(0, |offset| offset as u64 + 1);
        let text = describe(&diagnostic(Some((1, column))), &statement, None, false);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].len() <= 8 + super::SOURCE_WIDTH, "{}", lines[1]);
        assert!(lines[1].starts_with("LINE 1: ...") && lines[1].ends_with("..."));
        assert_eq!(lines[1].as_bytes()[lines[2].len() - 1], b'x');
    }

    #[test]
    fn messages_cannot_send_escapes_to_the_terminal() {
        let text = describe_plain("bad value \u{1b}[2J", None, false);
        assert_eq!(text, "ERROR:  bad value \\x1b[2J\n");
        assert!(describe_plain("x", None, true).starts_with("\u{1b}[1;31mERROR:\u{1b}[0m"));
    }
}
