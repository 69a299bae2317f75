//! Elements of `CUBE`, `ROLLUP` and `GROUPING SETS` that begin with a parenthesis and go on behind it: `CUBE ((a + b)::BIGINT, c)`.
//!
//! The parser takes what is in the parentheses for the whole element. Here such an element gets parentheses of its own,
//! `CUBE (((a + b)::BIGINT), c)`, before it is parsed.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::parse::word;

/// Puts the parentheses in.
pub(super) fn enclose(tokens: &mut Vec<TokenWithSpan>) {
    let mut places = Vec::new();
    for at in 0..tokens.len() {
        if is_list_of_sets(tokens, at)
            && let Some(open) = next(tokens, at + 1)
            && tokens[open].token == Token::LParen
        {
            elements(tokens, open, &mut places);
        }
    }
    // From the last on, so that places remain what they are; of the same place, what ends comes before what begins.
    places.sort_by_key(|(at, is_opening)| (*at, *is_opening));
    for (at, is_opening) in places.into_iter().rev() {
        let token = match is_opening {
            true => Token::LParen,
            false => Token::RParen,
        };
        let span = tokens[at].span;
        tokens.insert(at, TokenWithSpan { token, span });
    }
}

/// Whether a list of sets follows on the word at a place.
fn is_list_of_sets(tokens: &[TokenWithSpan], at: usize) -> bool {
    match word(&tokens[at].token).as_str() {
        "cube" | "rollup" => true,
        "sets" => {
            let before = tokens[..at].iter().rev();
            let mut before = before.filter(|token| !is_blank(&token.token));
            before
                .next()
                .is_some_and(|token| word(&token.token) == "grouping")
        }
        _ => false,
    }
}

/// The elements of a list that need parentheses: where each begins and ends.
fn elements(tokens: &[TokenWithSpan], open: usize, places: &mut Vec<(usize, bool)>) {
    let mut start = next(tokens, open + 1);
    while let Some(first) = start {
        let Some(end) = end_of_element(tokens, first) else {
            return;
        };
        if tokens[first].token == Token::LParen
            && let Some(close) = closing(tokens, first)
            && next(tokens, close + 1) != Some(end)
        {
            places.push((first, true));
            places.push((end, false));
        }
        start = match tokens[end].token {
            Token::Comma => next(tokens, end + 1),
            _ => None,
        };
    }
}

fn is_blank(token: &Token) -> bool {
    matches!(token, Token::Whitespace(_))
}

/// The first token from a place on that is no blank.
fn next(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|at| !is_blank(&tokens[*at].token))
}

/// The parenthesis that closes the one at a place.
fn closing(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (open..tokens.len()).find(|at| {
        match tokens[*at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// The comma or parenthesis behind an element.
fn end_of_element(tokens: &[TokenWithSpan], first: usize) -> Option<usize> {
    let mut at = first;
    loop {
        match tokens.get(at)?.token {
            Token::Comma | Token::RParen => return Some(at),
            Token::LParen => at = closing(tokens, at)? + 1,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::*;
    use crate::sql::dialect::QuireDialect;

    fn enclosed(sql: &str) -> String {
        let dialect = QuireDialect::default();
        let mut tokens = Tokenizer::new(&dialect, sql)
            .tokenize_with_location()
            .unwrap();
        enclose(&mut tokens);
        let texts = tokens.iter().map(|token| token.token.to_string());
        texts.collect()
    }

    #[test]
    fn only_elements_that_go_on_are_enclosed() {
        for (sql, expected) in [
            ("CUBE ((a + b)::INT, c)", "CUBE (((a + b)::INT), c)"),
            ("ROLLUP((a) + (b))", "ROLLUP(((a) + (b)))"),
            (
                "GROUPING SETS ((a, b), ROLLUP ((a)::INT, (b, c)))",
                "GROUPING SETS ((a, b), ROLLUP (((a)::INT), (b, c)))",
            ),
            ("CUBE ((a), (b, c), d)", "CUBE ((a), (b, c), d)"),
            ("GROUPING SETS ((), (a))", "GROUPING SETS ((), (a))"),
            ("SELECT (a)::INT, cube", "SELECT (a)::INT, cube"),
            ("CUBE ((a)", "CUBE ((a)"),
        ] {
            assert_eq!(enclosed(sql), expected);
        }
    }
}
