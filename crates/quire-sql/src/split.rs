//! Cuts a script into statements, and finds the parameters of one, without parsing them.

use std::ops::Range;

use quire_error::{Error, Position};
use quire_text::sql_scanner::{ElementKind, SqlScanner};

/// The statements of `script`, each without its semicolon and without surrounding blanks.
/// Statements that are only comments are left out.
pub fn split(script: &str) -> Result<Vec<String>, Error> {
    let mut scanner = SqlScanner::default();
    let mut statements = Vec::new();
    let (mut start, mut has_content) = (0, false);
    while let Some(element) = scanner.next(script) {
        if script[element.place.clone()] == *";" {
            if has_content {
                statements.push(script[start..element.place.start].trim().to_owned());
            }
            (start, has_content) = (element.place.end, false);
        } else {
            has_content |= element.kind != ElementKind::Comment;
        }
    }
    check_end(&scanner, script)?;
    if has_content {
        statements.push(script[start..].trim().to_owned());
    }
    Ok(statements)
}

/// The parameters in a statement: where each stands, and its number. `$1` says its number; each `?` has the next.
pub fn parameters(statement: &str) -> Result<Vec<(Range<usize>, usize)>, Error> {
    let mut scanner = SqlScanner::default();
    let (mut found, mut marks) = (Vec::new(), 0);
    while let Some(element) = scanner.next(statement) {
        let part = &statement[element.place.clone()];
        let number = match element.kind {
            ElementKind::Parameter => part[1..].parse().ok(),
            ElementKind::Symbol if part == "?" => {
                marks += 1;
                Some(marks)
            }
            _ => None,
        };
        found.extend(number.map(|number| (element.place, number)));
    }
    check_end(&scanner, statement)?;
    Ok(found)
}

/// An error if a quoted text or comment does not end.
fn check_end(scanner: &SqlScanner, text: &str) -> Result<(), Error> {
    let Some(element) = scanner.unterminated() else {
        return Ok(());
    };
    let position = position_of(text, element.start);
    Err(Error::new("42601", format!("unterminated {}", element.name)).at(Some(position)))
}

/// Line and column of a byte offset.
pub(crate) fn position_of(text: &str, offset: usize) -> Position {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() as u64 + 1,
        column: before[line_start..].chars().count() as u64 + 1,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parts(script: &str) -> Vec<String> {
        split(script).unwrap()
    }

    #[test]
    fn semicolons_end_statements() {
        assert_eq!(parts("select 1; select 2"), ["select 1", "select 2"]);
        assert_eq!(parts(" ;; select 1 ; "), ["select 1"]);
        assert_eq!(parts(""), Vec::<String>::new());
    }

    #[test]
    fn semicolons_inside_quotes_do_not() {
        assert_eq!(parts("select 'a;''b;'; x"), ["select 'a;''b;'", "x"]);
        assert_eq!(parts("select \"a;\"\"b\";x"), ["select \"a;\"\"b\"", "x"]);
        assert_eq!(parts(r"select E'it\';s'; x"), [r"select E'it\';s'", "x"]);
        assert_eq!(parts(r"select 'back\'; x"), [r"select 'back\'", "x"]);
        assert_eq!(parts("select $$a;b$$; x"), ["select $$a;b$$", "x"]);
        assert_eq!(parts("select $q$a;$$;$q$; x"), ["select $q$a;$$;$q$", "x"]);
        assert_eq!(parts("select a$b$c; x"), ["select a$b$c", "x"]);
        assert_eq!(parts("select $1; x"), ["select $1", "x"]);
    }

    #[test]
    fn comments_are_no_statements() {
        assert_eq!(
            parts("-- a;b\n;/* c; /* d */ ; */ ; select 1 -- e;"),
            ["select 1 -- e;"]
        );
    }

    #[test]
    fn parameters_are_found_outside_of_quotes() {
        let found = |text: &str| -> Vec<(String, usize)> {
            let found = parameters(text).unwrap().into_iter();
            found
                .map(|(range, number)| (text[range].to_owned(), number))
                .collect()
        };
        assert_eq!(
            found("select $2, '$3', a$4, \"$5\", $q$ $6 $q$ -- $7\n + $10"),
            [("$2".to_owned(), 2), ("$10".to_owned(), 10)]
        );
        assert_eq!(
            found("select ?, '?' where a = ?"),
            [("?".to_owned(), 1), ("?".to_owned(), 2)]
        );
        assert!(found("select 1").is_empty());
    }

    #[test]
    fn what_is_not_closed_is_named_with_its_place() {
        let error = split("select 1;\n select 'abc").unwrap_err();
        assert_eq!(error.sqlstate(), "42601");
        assert_eq!(error.position(), Some(Position { line: 2, column: 9 }));
        assert!(split("/* /* */").is_err());
        assert!(split("select $a$ $b$").is_err());
        assert!(split("select \"abc").is_err());
    }
}
