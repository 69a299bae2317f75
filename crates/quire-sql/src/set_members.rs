//! Members of grouping sets that begin with a parenthesis.
//!
//! In `ROLLUP ((a)::INT, (b + 1) * 2)` the parser takes the parenthesis for that of a list of columns, and finds no comma behind it. Here such
//! a member gets parentheses around all of it, before it is parsed: then it is a list of one column.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::tokens::word;

/// Puts the parentheses around members that need them.
pub(super) fn close(tokens: &mut Vec<TokenWithSpan>) {
    let mut wrapped = Vec::new();
    for place in 0..tokens.len() {
        if tokens[place].token == Token::LParen && begins_sets(&tokens[..place]) {
            wrapped.extend(open_members(tokens, place));
        }
    }
    // From the back, so that places before stay as they are; of two members that end together, the inner one ends first.
    let mut insertions: Vec<(usize, Token)> = Vec::with_capacity(2 * wrapped.len());
    for (first, last) in wrapped {
        insertions.push((first, Token::LParen));
        insertions.push((last + 1, Token::RParen));
    }
    insertions.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    for (place, token) in insertions {
        let span = tokens[place.min(tokens.len() - 1)].span;
        tokens.insert(place, TokenWithSpan { token, span });
    }
}

/// Whether what comes before a parenthesis says that grouping sets stand within.
fn begins_sets(before: &[TokenWithSpan]) -> bool {
    let mut words = before.iter().rev().filter(|token| !is_blank(token));
    let last = words.next().map(|token| word(&token.token));
    match last.as_deref() {
        Some("rollup" | "cube") => true,
        Some("sets") => words
            .next()
            .is_some_and(|token| word(&token.token) == "grouping"),
        _ => false,
    }
}

fn is_blank(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Whitespace(_))
}

/// The members between the parenthesis at `open` and its counterpart that begin with one which ends before they do, as the places of their
/// first and last tokens.
fn open_members(tokens: &[TokenWithSpan], open: usize) -> Vec<(usize, usize)> {
    let mut members = Vec::new();
    let mut depth = 0_usize;
    let (mut first, mut last, mut closed): (Option<usize>, Option<usize>, Option<usize>) =
        (None, None, None);
    for (place, token) in tokens.iter().enumerate().skip(open + 1) {
        if is_blank(token) {
            continue;
        }
        if depth == 0 && matches!(token.token, Token::Comma | Token::RParen) {
            if let (Some(first), Some(last)) = (first, last)
                && closed.is_some_and(|closed| closed < last)
                && tokens[first].token == Token::LParen
            {
                members.push((first, last));
            }
            if token.token == Token::RParen {
                break;
            }
            (first, last, closed) = (None, None, None);
            continue;
        }
        first = first.or(Some(place));
        last = Some(place);
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => {
                depth -= 1;
                if depth == 0 {
                    closed = closed.or(Some(place));
                }
            }
            _ => {}
        }
    }
    members
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::parse::parse_query;

    fn groups(group_by: &str) -> String {
        let query = parse_query(&format!("SELECT 1 FROM t GROUP BY {group_by}")).unwrap();
        let text = query.to_string();
        text.split_once("GROUP BY ").unwrap().1.to_owned()
    }

    #[test]
    fn members_that_begin_with_a_parenthesis_are_read() {
        let pairs = [
            ("ROLLUP ((a)::INT)", "ROLLUP ((a)::INT)"),
            (
                "CUBE ((a + 1) * 2, (a, b), b)",
                "CUBE ((a + 1) * 2, (a, b), b)",
            ),
            (
                "GROUPING SETS ((a), ((a)::INT, b), ((a) + (b)))",
                "GROUPING SETS (a, ((a)::INT, b), (a) + (b))",
            ),
            (
                "GROUPING SETS (ROLLUP ((a)::INT), ())",
                "GROUPING SETS (ROLLUP((a)::INT), ())",
            ),
        ];
        for (group_by, expected) in pairs {
            let plain = |text: &str| text.replace([' ', '(', ')'], "");
            assert_eq!(plain(&groups(group_by)), plain(expected), "{group_by}");
        }
    }
}
