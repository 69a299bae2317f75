//! Which statement about the session a text is.

use super::lexer::Lexer;
use super::{Fetch, SessionCommand};
use crate::failure::ServerFailure;

/// What such statements begin with.
const FIRST: [&str; 11] = [
    "prepare",
    "execute",
    "deallocate",
    "declare",
    "fetch",
    "move",
    "close",
    "discard",
    "listen",
    "unlisten",
    "load",
];

pub(super) fn command(sql: &str) -> Result<Option<SessionCommand>, ServerFailure> {
    let mut lexer = Lexer::new(sql);
    let Some(first) = lexer.one_of(&FIRST) else {
        return Ok(None);
    };
    let parsed = match first {
        "prepare" => {
            if lexer.word("transaction") {
                return Err(ServerFailure::error(
                    "0A000",
                    "transactions in two phases are not supported",
                ));
            }
            prepare(&mut lexer)
        }
        "execute" => execute(&mut lexer),
        "deallocate" => {
            lexer.word("prepare");
            all_or_name(&mut lexer).map(SessionCommand::Deallocate)
        }
        "declare" => return declare(lexer).map(Some),
        "fetch" | "move" => return fetch(lexer, first == "move").map(Some),
        "close" => all_or_name(&mut lexer).map(SessionCommand::Close),
        "discard" => discard(&mut lexer),
        "listen" => lexer.name().map(|_| SessionCommand::Nothing("LISTEN")),
        "unlisten" => {
            let named = lexer.symbol('*') || lexer.name().is_some();
            named.then_some(SessionCommand::Nothing("UNLISTEN"))
        }
        // The engine says that it knows no such statement.
        _ => return Ok(None),
    };
    let takes_all = matches!(parsed, Some(SessionCommand::Prepare { .. }));
    match parsed {
        Some(command) if takes_all || lexer.is_at_end() => Ok(Some(command)),
        _ => Err(syntax_error(lexer)),
    }
}

fn syntax_error(lexer: Lexer<'_>) -> ServerFailure {
    let text = match lexer.next_part() {
        end if end.is_empty() => "syntax error at end of input".to_owned(),
        part => format!("syntax error at or near \"{part}\""),
    };
    ServerFailure::error("42601", text)
}

/// `None` within is all.
fn all_or_name(lexer: &mut Lexer<'_>) -> Option<Option<String>> {
    if lexer.word("all") {
        Some(None)
    } else {
        lexer.name().map(Some)
    }
}

fn discard(lexer: &mut Lexer<'_>) -> Option<SessionCommand> {
    let what = lexer.one_of(&["all", "plans", "sequences", "temporary", "temp"])?;
    Some(match what {
        "all" => SessionCommand::DiscardAll,
        "plans" => SessionCommand::Nothing("DISCARD PLANS"),
        "sequences" => SessionCommand::Nothing("DISCARD SEQUENCES"),
        _ => SessionCommand::Nothing("DISCARD TEMP"),
    })
}

/// `name [ (type, …) ] AS statement`
fn prepare(lexer: &mut Lexer<'_>) -> Option<SessionCommand> {
    let name = lexer.name()?;
    let types = if lexer.symbol('(') {
        split_types(lexer.until_closed()?)
    } else {
        Vec::new()
    };
    if !lexer.word("as") || lexer.is_at_end() {
        return None;
    }
    let sql = lexer.remaining().to_owned();
    Some(SessionCommand::Prepare { name, types, sql })
}

/// Commas within `numeric(10, 2)` part nothing.
fn split_types(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).collect()
}

/// `name [ (value, …) ]`
fn execute(lexer: &mut Lexer<'_>) -> Option<SessionCommand> {
    let name = lexer.name()?;
    let arguments = if lexer.symbol('(') {
        lexer.until_closed()?.trim().to_owned()
    } else {
        String::new()
    };
    Some(SessionCommand::Execute { name, arguments })
}

/// `name [ options ] CURSOR [ WITH HOLD | WITHOUT HOLD ] FOR query`
fn declare(mut lexer: Lexer<'_>) -> Result<SessionCommand, ServerFailure> {
    let name = lexer.name().ok_or_else(|| syntax_error(lexer))?;
    let mut is_binary = false;
    loop {
        match lexer.one_of(&["binary", "insensitive", "asensitive", "no", "scroll"]) {
            Some("binary") => is_binary = true,
            Some("no") if !lexer.word("scroll") => return Err(syntax_error(lexer)),
            Some("scroll") => {
                let failure = ServerFailure::error("0A000", "cursors go forward only");
                return Err(failure.with_hint("Leave out SCROLL, and add ORDER BY … OFFSET."));
            }
            Some(_) => {}
            None => break,
        }
    }
    if !lexer.word("cursor") {
        return Err(syntax_error(lexer));
    }
    if lexer.word("with") {
        if !lexer.word("hold") {
            return Err(syntax_error(lexer));
        }
        let failure = ServerFailure::error("0A000", "cursors end with their transaction");
        return Err(failure.with_hint("Leave out WITH HOLD, and fetch before COMMIT."));
    }
    if lexer.word("without") && !lexer.word("hold") {
        return Err(syntax_error(lexer));
    }
    if !lexer.word("for") || lexer.is_at_end() {
        return Err(syntax_error(lexer));
    }
    let sql = lexer.remaining().to_owned();
    Ok(SessionCommand::Declare {
        name,
        is_binary,
        sql,
    })
}

/// `[ NEXT | ALL | n | FORWARD [ ALL | n ] | RELATIVE n ] [ FROM | IN ] cursor`
fn fetch(mut lexer: Lexer<'_>, is_move: bool) -> Result<SessionCommand, ServerFailure> {
    let backward = || {
        let failure = ServerFailure::error("55000", "cursor can only scan forward");
        Err(failure.with_hint("Cursors of this database go forward only."))
    };
    let direction = [
        "next", "all", "forward", "relative", "prior", "first", "last", "absolute", "backward",
    ];
    let ahead = lexer;
    let mut found = lexer.one_of(&direction);
    if found.is_some() && lexer.is_at_end() {
        // It was the name of the cursor.
        (lexer, found) = (ahead, None);
    }
    let count = match found {
        Some("next") => 1,
        Some("all") => i64::MAX,
        Some("forward") if lexer.word("all") => i64::MAX,
        Some("forward") | None => lexer.integer().unwrap_or(1),
        Some("relative") => match lexer.integer() {
            // Rows in between would have to be left out.
            Some(one @ (0 | 1)) => one,
            Some(_) => return backward(),
            None => return Err(syntax_error(lexer)),
        },
        Some(_) => return backward(),
    };
    let _ = lexer.one_of(&["from", "in"]);
    let cursor = lexer.name().ok_or_else(|| syntax_error(lexer))?;
    if !lexer.is_at_end() {
        return Err(syntax_error(lexer));
    }
    let count = match count {
        i64::MAX => u64::MAX,
        1.. => count.unsigned_abs(),
        // PostgreSQL gives the current row again, which is gone here.
        _ => return backward(),
    };
    Ok(SessionCommand::Fetch(Fetch {
        cursor,
        count,
        is_move,
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parsed(sql: &str) -> SessionCommand {
        command(sql).unwrap().unwrap()
    }

    fn fetched(cursor: &str, count: u64, is_move: bool) -> SessionCommand {
        SessionCommand::Fetch(Fetch {
            cursor: cursor.to_owned(),
            count,
            is_move,
        })
    }

    #[test]
    fn other_statements_are_left_alone() {
        for sql in ["select 1", "", "copy t from stdin", "executed", "-- fetch"] {
            assert_eq!(command(sql).unwrap(), None, "{sql}");
        }
    }

    #[test]
    fn deallocate_has_a_name_or_means_all() {
        let named = |name: &str| SessionCommand::Deallocate(Some(name.to_owned()));
        assert_eq!(parsed("DEALLOCATE ALL;"), SessionCommand::Deallocate(None));
        assert_eq!(parsed("deallocate prepare S1"), named("s1"));
        assert_eq!(parsed("deallocate \"a\"\"B\" ;"), named("a\"B"));
        assert!(command("deallocate").is_err());
        assert!(command("deallocate a b").is_err());
    }

    #[test]
    fn prepare_and_execute_keep_their_texts() {
        assert_eq!(
            parsed("PREPARE p (int, numeric(10, 2)) AS select $1 + $2;"),
            SessionCommand::Prepare {
                name: "p".to_owned(),
                types: vec!["int".to_owned(), "numeric(10, 2)".to_owned()],
                sql: "select $1 + $2".to_owned(),
            }
        );
        assert_eq!(
            parsed("/* x */ execute p(1, f(')'), 'a''(')"),
            SessionCommand::Execute {
                name: "p".to_owned(),
                arguments: "1, f(')'), 'a''('".to_owned(),
            }
        );
        assert_eq!(
            parsed("execute p"),
            SessionCommand::Execute {
                name: "p".to_owned(),
                arguments: String::new(),
            }
        );
        assert!(command("prepare p as").is_err());
        assert!(command("execute p(1").is_err());
        assert!(command("execute p(1) x").is_err());
    }

    #[test]
    fn cursors_go_forward() {
        assert_eq!(
            parsed("declare \"C\" binary insensitive no scroll cursor without hold for select 1"),
            SessionCommand::Declare {
                name: "C".to_owned(),
                is_binary: true,
                sql: "select 1".to_owned(),
            }
        );
        assert_eq!(parsed("fetch c"), fetched("c", 1, false));
        assert_eq!(parsed("fetch next from c"), fetched("c", 1, false));
        assert_eq!(parsed("fetch 10 in c"), fetched("c", 10, false));
        assert_eq!(parsed("fetch forward 5 c"), fetched("c", 5, false));
        assert_eq!(parsed("move all from c;"), fetched("c", u64::MAX, true));
        assert_eq!(parsed("fetch forward all c"), fetched("c", u64::MAX, false));
        assert_eq!(parsed("fetch all"), fetched("all", 1, false));
        for (sql, sqlstate) in [
            ("declare c scroll cursor for select 1", "0A000"),
            ("declare c cursor with hold for select 1", "0A000"),
            ("declare c cursor for", "42601"),
            ("fetch backward 1 from c", "55000"),
            ("fetch prior from c", "55000"),
            ("fetch -1 from c", "55000"),
            ("fetch 1 from", "42601"),
        ] {
            assert_eq!(command(sql).unwrap_err().sqlstate, sqlstate, "{sql}");
        }
    }
}
