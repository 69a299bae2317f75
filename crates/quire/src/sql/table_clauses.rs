//! The clauses of `CREATE TABLE` that are our own: `USING column` and `COMPRESSION codec`.
//!
//! They are taken out of the token stream before the statement is parsed:
//! `CREATE TABLE t (a INT COMPRESSION pfor, …) USING column WITH (…) …`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::parse::{position, syntax_error, word};
use crate::error::{Error, Position};

/// What stood in the clauses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TableClauses {
    /// The word after `USING`.
    pub(crate) using: Option<(String, Option<Position>)>,
    /// For each `COMPRESSION`: the position of its column in the list, and the codec's name.
    pub(crate) compression: Vec<(usize, String, Option<Position>)>,
}

/// Removes the clauses from the tokens of a `CREATE TABLE`; leaves other statements alone.
pub(super) fn take(tokens: &mut Vec<TokenWithSpan>) -> Result<TableClauses, Error> {
    let mut clauses = TableClauses::default();
    if !is_create_table(tokens) {
        return Ok(clauses);
    }
    let mut walk = Walk::default();
    let mut kept = Vec::with_capacity(tokens.len());
    let mut input = std::mem::take(tokens).into_iter().peekable();
    while let Some(token) = input.next() {
        let text = word(&token.token);
        if walk.is_before_query && walk.depth == 0 && text == "using" {
            let name = value_word(input.by_ref(), &token, "a storage model")?;
            clauses.using = Some((name, position(token.span.start)));
        } else if walk.is_after_type() && text == "compression" {
            let name = value_word(input.by_ref(), &token, "the name of a codec")?;
            clauses
                .compression
                .push((walk.column, name, position(token.span.start)));
        } else {
            walk.step(&token.token, &text);
            kept.push(token);
        }
    }
    *tokens = kept;
    Ok(clauses)
}

fn is_create_table(tokens: &[TokenWithSpan]) -> bool {
    let mut words = tokens
        .iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)));
    let is_create = words.next().is_some_and(|t| word(&t.token) == "create");
    // CREATE [OR REPLACE] [TEMPORARY] TABLE
    is_create && words.take(4).any(|t| word(&t.token) == "table")
}

/// Where in the statement the walk is.
#[derive(Default)]
struct Walk {
    depth: usize,
    column: usize,
    /// Words of the present column definition seen so far: name, type, options.
    column_words: usize,
    is_before_query: bool,
    has_seen_table: bool,
    /// The list of columns has been closed.
    is_list_closed: bool,
}

impl Walk {
    fn is_after_type(&self) -> bool {
        self.is_before_query && !self.is_list_closed && self.depth == 1 && self.column_words >= 2
    }

    fn step(&mut self, token: &Token, text: &str) {
        match token {
            Token::LParen => self.depth += 1,
            Token::RParen => {
                self.depth = self.depth.saturating_sub(1);
                self.is_list_closed |= self.depth == 0;
            }
            Token::Comma if self.depth == 1 => {
                self.column += 1;
                self.column_words = 0;
            }
            Token::Word(_) if self.depth == 1 => self.column_words += 1,
            _ => {}
        }
        if text == "table" && !self.has_seen_table {
            self.has_seen_table = true;
            self.is_before_query = true;
        } else if self.depth == 0 && text == "as" {
            self.is_before_query = false;
        }
    }
}

fn value_word(
    input: &mut impl Iterator<Item = TokenWithSpan>,
    clause: &TokenWithSpan,
    expected: &str,
) -> Result<String, Error> {
    let next = input.find(|t| !matches!(t.token, Token::Whitespace(_)));
    match next.map(|t| t.token) {
        Some(Token::Word(word)) => Ok(word.value.to_ascii_lowercase()),
        _ => Err(syntax_error(
            format!(
                "syntax error: {} must be followed by {expected}",
                clause.token
            ),
            position(clause.span.start),
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn taken(sql: &str) -> (TableClauses, String) {
        let mut tokens = Tokenizer::new(&PostgreSqlDialect {}, sql)
            .tokenize_with_location()
            .unwrap();
        let clauses = take(&mut tokens).unwrap();
        let text: String = tokens.iter().map(|t| t.token.to_string()).collect();
        (
            clauses,
            text.split_whitespace().collect::<Vec<_>>().join(" "),
        )
    }

    #[test]
    fn clauses_leave_the_statement() {
        let (clauses, rest) = taken(
            "create table t (a numeric(3,1) compression pfor not null, b text, \
             c date compression rle) using column with (x = 1)",
        );
        assert_eq!(clauses.using.unwrap().0, "column");
        let codecs: Vec<_> = clauses
            .compression
            .iter()
            .map(|c| (c.0, c.1.as_str()))
            .collect();
        assert_eq!(codecs, [(0, "pfor"), (2, "rle")]);
        assert_eq!(
            rest,
            "create table t (a numeric(3,1) not null, b text, c date ) with (x = 1)"
        );
    }

    #[test]
    fn names_and_queries_are_left_alone() {
        for sql in [
            "create table compression (compression int, using int) with (compression = auto)",
            "create table t as select * from a join b using (id)",
            "select * from a join b using (id)",
        ] {
            let (clauses, rest) = taken(sql);
            assert_eq!(clauses, TableClauses::default(), "{sql}");
            assert_eq!(rest, sql);
        }
    }
}
