//! The grammar of `COPY`, in PostgreSQL's present and older forms:
//!
//! ```text
//! COPY table [(column, …)] FROM 'file' [[WITH] (option value, …)]
//! COPY table [(column, …)] TO 'file' [[WITH] (option value, …)]
//! COPY (query) TO 'file' [[WITH] (option value, …)]
//! COPY … FROM STDIN …, COPY … TO STDOUT …
//! COPY table FROM 'file' [WITH] CSV HEADER DELIMITER AS '|' NULL AS ''
//! ```

use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{IsOptional, Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use super::names::folded;
use super::tokens::word;

/// What is copied.
#[derive(Debug)]
pub enum CopyTarget {
    /// A table, and the columns named, if any.
    Table(ObjectName, Vec<Ident>),
    /// The result of a query.
    Query(Box<Query>),
}

/// Which way the rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyDirection {
    /// From a file into a table.
    From,
    /// From a table or query into a file.
    To,
}

/// Where the rows come from or go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyPlace {
    /// The file at this path.
    File(String),
    /// `STDIN` or `STDOUT`: the client's own.
    Client,
}

/// One parsed `COPY`.
#[derive(Debug)]
pub struct CopyStatement {
    pub target: CopyTarget,
    pub direction: CopyDirection,
    pub place: CopyPlace,
    /// Names in lower case; options without a value have none.
    pub options: Vec<(String, Option<String>)>,
}

pub(super) fn parse(parser: &mut Parser) -> Result<CopyStatement, ParserError> {
    parser.expect_keyword(Keyword::COPY)?;
    let target = parse_target(parser)?;
    let direction = match parser.expect_one_of_keywords(&[Keyword::FROM, Keyword::TO])? {
        Keyword::FROM => CopyDirection::From,
        _ => CopyDirection::To,
    };
    let place = parse_place(parser, direction)?;
    let _ = parser.parse_keyword(Keyword::WITH);
    let options = if parser.consume_token(&Token::LParen) {
        parse_options(parser)?
    } else {
        parse_older_options(parser)?
    };
    Ok(CopyStatement {
        target,
        direction,
        place,
        options,
    })
}

fn parse_place(parser: &mut Parser, direction: CopyDirection) -> Result<CopyPlace, ParserError> {
    let client = match direction {
        CopyDirection::From => "stdin",
        CopyDirection::To => "stdout",
    };
    let place = parser.next_token();
    match place.token {
        Token::SingleQuotedString(path) => Ok(CopyPlace::File(path)),
        token if word(&token) == client => Ok(CopyPlace::Client),
        _ => parser.expected("the name of a file in single quotes", place),
    }
}

fn parse_target(parser: &mut Parser) -> Result<CopyTarget, ParserError> {
    if parser.consume_token(&Token::LParen) {
        let query = parser.parse_query()?;
        parser.expect_token(&Token::RParen)?;
        return Ok(CopyTarget::Query(query));
    }
    let name = parser.parse_object_name(false)?;
    let columns = parser.parse_parenthesized_column_list(IsOptional::Optional, false)?;
    Ok(CopyTarget::Table(name, columns))
}

fn parse_options(parser: &mut Parser) -> Result<Vec<(String, Option<String>)>, ParserError> {
    let mut options = Vec::new();
    loop {
        let name = parser.parse_identifier()?.value.to_ascii_lowercase();
        let value = match parser.peek_token().token {
            Token::Comma | Token::RParen => None,
            Token::Mul => {
                parser.next_token();
                Some("*".to_owned())
            }
            Token::LParen => {
                let names = parser.parse_parenthesized_column_list(IsOptional::Mandatory, false)?;
                let names: Vec<_> = names.iter().map(folded).collect();
                Some(names.join(","))
            }
            _ => Some(parse_value(parser)?),
        };
        options.push((name, value));
        if !parser.consume_token(&Token::Comma) {
            parser.expect_token(&Token::RParen)?;
            return Ok(options);
        }
    }
}

fn parse_value(parser: &mut Parser) -> Result<String, ParserError> {
    let token = parser.next_token();
    match token.token {
        Token::SingleQuotedString(text)
        | Token::EscapedStringLiteral(text)
        | Token::Number(text, _) => Ok(text),
        Token::Word(word) => Ok(word.value),
        _ => parser.expected("the value of an option", token),
    }
}

/// The options before PostgreSQL 9.0: words, some with a quoted value.
fn parse_older_options(parser: &mut Parser) -> Result<Vec<(String, Option<String>)>, ParserError> {
    let mut options = Vec::new();
    loop {
        let name = word(&parser.peek_token().token);
        let option = match name.as_str() {
            "csv" | "parquet" | "binary" | "text" => {
                parser.next_token();
                ("format".to_owned(), Some(name))
            }
            "header" | "freeze" => {
                parser.next_token();
                (name, None)
            }
            "delimiter" | "delimiters" | "null" | "quote" | "escape" | "encoding" => {
                parser.next_token();
                let _ = parser.parse_keyword(Keyword::AS);
                (
                    name.trim_end_matches('s').to_owned(),
                    Some(parse_value(parser)?),
                )
            }
            _ => return Ok(options),
        };
        options.push(option);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::{ParsedCommand, parse};

    fn copy(sql: &str) -> CopyStatement {
        match parse(sql).unwrap() {
            ParsedCommand::Copy(copy) => *copy,
            other => panic!("{other:?}"),
        }
    }

    fn options(copy: &CopyStatement) -> Vec<(&str, Option<&str>)> {
        copy.options
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_deref()))
            .collect()
    }

    #[test]
    fn both_forms_say_the_same() {
        let new = copy("COPY t FROM 'f.csv' (FORMAT csv, HEADER, DELIMITER E'\\t', NULL '')");
        let old = copy("copy t from 'f.csv' with csv header delimiter as '\t' null ''");
        let expected = [
            ("format", Some("csv")),
            ("header", None),
            ("delimiter", Some("\t")),
            ("null", Some("")),
        ];
        assert_eq!(options(&new), expected);
        assert_eq!(options(&old), expected);
        assert_eq!(
            (new.place, new.direction),
            (CopyPlace::File("f.csv".to_owned()), CopyDirection::From)
        );
    }

    #[test]
    fn queries_and_columns() {
        let query = copy("COPY (SELECT 1 AS a) TO 'f.parquet' WITH (FORMAT parquet)");
        assert!(matches!(query.target, CopyTarget::Query(_)));
        assert_eq!(query.direction, CopyDirection::To);
        let table = copy("COPY s.t (a, b) FROM 'f'");
        let CopyTarget::Table(name, columns) = table.target else {
            panic!("a table")
        };
        assert_eq!((name.to_string().as_str(), columns.len()), ("s.t", 2));
    }

    #[test]
    fn clients_have_their_own_ends() {
        let copy_in = copy("copy t from stdin with (freeze on)");
        assert_eq!(copy_in.place, CopyPlace::Client);
        assert_eq!(options(&copy_in), [("freeze", Some("on"))]);
        let out = copy("COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE (a, B))");
        assert_eq!(out.place, CopyPlace::Client);
        assert_eq!(options(&out)[1], ("force_quote", Some("a,b")));
        assert!(parse("COPY t FROM STDOUT").is_err());
    }

    #[test]
    fn the_file_must_be_quoted() {
        assert_eq!(parse("COPY t FROM f").unwrap_err().sqlstate(), "42601");
        assert_eq!(
            parse("COPY t FROM 'f' (FORMAT csv").unwrap_err().sqlstate(),
            "42601"
        );
    }
}
