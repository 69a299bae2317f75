use super::{Scanned, StatementScanner, UnfinishedText};

/// The statements of a text, semicolons and leading blanks and comments left out, and what the rest
/// waits for.
fn split(text: &str) -> (Vec<&str>, UnfinishedText) {
    let mut statements = Vec::new();
    let mut rest = text;
    loop {
        let mut scanner = StatementScanner::new();
        match scanner.scan(rest) {
            Scanned::End(end) => {
                let start = scanner.content_start().unwrap_or(end - 1);
                statements.push(&rest[start..end - 1]);
                rest = &rest[end..];
            }
            Scanned::More => return (statements, scanner.waiting()),
        }
    }
}

#[test]
fn semicolons_end_statements() {
    assert_eq!(
        split("select 1; select 2;"),
        (vec!["select 1", "select 2"], UnfinishedText::Nothing)
    );
    assert_eq!(split(";;"), (vec!["", ""], UnfinishedText::Nothing));
    assert_eq!(split("select 1"), (vec![], UnfinishedText::Semicolon));
    assert_eq!(
        split("select (1, (2)"),
        (vec![], UnfinishedText::Parenthesis)
    );
    assert_eq!(split("select 1)) ("), (vec![], UnfinishedText::Parenthesis));
    assert_eq!(split(" \n "), (vec![], UnfinishedText::Nothing));
}

#[test]
fn semicolons_in_quotes_do_not() {
    assert_eq!(split("select 'a;b';").0, ["select 'a;b'"]);
    assert_eq!(split("select 'it''s;';").0, ["select 'it''s;'"]);
    assert_eq!(split(r"select E'\';' ;").0, [r"select E'\';' "]);
    assert_eq!(split(r"select e'\\';").0, [r"select e'\\'"]);
    assert_eq!(
        split(r"select '\'; select 2;").0,
        [r"select '\'", "select 2"]
    );
    assert_eq!(split(r#"select "a;""b";"#).0, [r#"select "a;""b""#]);
    assert_eq!(split("select 'open ;"), (vec![], UnfinishedText::Quote));
    assert_eq!(split("select \"open ;"), (vec![], UnfinishedText::Quote));
}

#[test]
fn an_e_at_the_end_of_a_name_makes_no_escapes() {
    assert_eq!(split(r"select name'\'; 2;").0, [r"select name'\'", "2"]);
    assert_eq!(split(r"select date '\'; 2;").0, [r"select date '\'", "2"]);
}

#[test]
fn dollar_quotes_end_with_their_own_tag() {
    assert_eq!(split("select $$a;b$$;").0, ["select $$a;b$$"]);
    assert_eq!(
        split("select $x$ $$ ; $y$ ; $x$;").0,
        ["select $x$ $$ ; $y$ ; $x$"]
    );
    assert_eq!(
        split("select $1; select a$b$c; x").0,
        ["select $1", "select a$b$c"]
    );
    assert_eq!(split("select $é$;$é$;").0, ["select $é$;$é$"]);
    assert_eq!(split("select $1$;").0, ["select $1$"]);
    assert_eq!(split("select $tag$ ;"), (vec![], UnfinishedText::Quote));
}

#[test]
fn comments_hide_semicolons_and_nest() {
    assert_eq!(split("select 1 -- a;b\n;").0, ["select 1 -- a;b\n"]);
    assert_eq!(split("/* a; /* b; */ c; */ select 1;").0, ["select 1"]);
    assert_eq!(split("-- only this"), (vec![], UnfinishedText::Nothing));
    assert_eq!(split("-- only this\n"), (vec![], UnfinishedText::Nothing));
    assert_eq!(split("/* open ;"), (vec![], UnfinishedText::Quote));
    assert_eq!(
        split("select 1 -- open"),
        (vec![], UnfinishedText::Semicolon)
    );
    assert_eq!(split("select 1 - -1 / 2 * 3;").0, ["select 1 - -1 / 2 * 3"]);
}

#[test]
fn text_given_line_by_line_is_split_as_the_whole() {
    let script = "select 'a\n;b' /* x\n; */, $q$\n;\n$q$ -- ;\n, E'\\';\n'; select\n2;\n";
    let (whole, _) = split(script);
    let mut statements = Vec::new();
    let mut buffer = String::new();
    let mut scanner = StatementScanner::new();
    for line in script.split_inclusive('\n') {
        buffer.push_str(line);
        while let Scanned::End(end) = scanner.scan(&buffer) {
            let start = scanner.content_start().unwrap_or(end - 1);
            statements.push(buffer[start..end - 1].to_owned());
            buffer.drain(..end);
            scanner = StatementScanner::new();
        }
    }
    assert_eq!(statements, whole);
    assert_eq!(statements.len(), 2);
}

#[test]
fn any_text_is_scanned_to_its_end() {
    let pieces = [
        "'", "\"", "$", "$a$", "--", "/*", "*/", "\\", "E'", ";", "\n", "x", "é", "(", ")", " ",
    ];
    let mut state = 11_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push_str(pieces[(state >> 40) as usize % pieces.len()]);
        }
        let (statements, _) = split(&text);
        assert!(statements.len() <= text.matches(';').count());
    }
}
