//! The grammar of `ADVISE COMPRESSION`:
//!
//! ```text
//! ADVISE COMPRESSION FOR table [WITH (option = value, …)] [APPLY]
//! ADVISE COMPRESSION FOR DATABASE [WITH (option = value, …)] [APPLY]
//! ADVISE COMPRESSION FOR 'file.csv' | 'file.parquet' | 'app.sqlite' | 'postgresql://…' [WITH (option = value, …)]
//! ```

use datafusion::sql::sqlparser::ast::ObjectName;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use super::names::folded;
use super::tokens::word;

/// One parsed `ADVISE COMPRESSION`.
#[derive(Debug, PartialEq)]
pub struct AdviseStatement {
    pub subject: AdviceSubject,
    /// Names in lower case, values without quotes.
    pub options: Vec<(String, String)>,
    /// Whether the best choice is applied at once.
    pub applies: bool,
}

/// Whose compression is asked about.
#[derive(Debug, PartialEq)]
pub enum AdviceSubject {
    Table(ObjectName),
    /// All tables of the database.
    Database,
    /// A file, or the address of a server.
    Source(String),
}

pub(super) fn parse(parser: &mut Parser) -> Result<AdviseStatement, ParserError> {
    for expected in ["advise", "compression", "for"] {
        let token = parser.next_token();
        if word(&token.token) != expected {
            return parser.expected(&expected.to_uppercase(), token);
        }
    }
    let subject = parse_subject(parser)?;
    let mut options = Vec::new();
    if word(&parser.peek_token().token) == "with" {
        parser.next_token();
        parser.expect_token(&Token::LParen)?;
        options = parser.parse_comma_separated(parse_option)?;
        parser.expect_token(&Token::RParen)?;
    }
    let applies = word(&parser.peek_token().token) == "apply";
    if applies {
        let token = parser.next_token();
        if matches!(subject, AdviceSubject::Source(_)) {
            return parser.expected(
                "the end of the statement, since a source cannot be changed",
                token,
            );
        }
    }
    Ok(AdviseStatement {
        subject,
        options,
        applies,
    })
}

fn parse_subject(parser: &mut Parser) -> Result<AdviceSubject, ParserError> {
    if let Token::SingleQuotedString(source) = parser.peek_token().token {
        parser.next_token();
        return Ok(AdviceSubject::Source(source));
    }
    if word(&parser.peek_token().token) == "database" {
        parser.next_token();
        return Ok(AdviceSubject::Database);
    }
    parser.parse_object_name(false).map(AdviceSubject::Table)
}

fn parse_option(parser: &mut Parser) -> Result<(String, String), ParserError> {
    let name = folded(&parser.parse_identifier()?);
    parser.expect_token(&Token::Eq)?;
    let token = parser.next_token();
    match token.token {
        Token::SingleQuotedString(text) | Token::Number(text, _) => Ok((name, text)),
        Token::Word(word) => Ok((name, word.value)),
        _ => parser.expected("the value of an option", token),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{AdviceSubject, AdviseStatement};
    use crate::parse::{ParsedCommand, parse};

    fn advise(sql: &str) -> AdviseStatement {
        match parse(sql).unwrap() {
            ParsedCommand::Advise(statement) => *statement,
            other => panic!("{sql} is {other:?}"),
        }
    }

    #[test]
    fn subjects_options_and_application() {
        let statement =
            advise("advise compression for \"T\" with (size = 3, Device = 'nvme') apply;");
        assert!(
            matches!(&statement.subject, AdviceSubject::Table(name) if name.to_string() == "\"T\"")
        );
        let options = [("size", "3"), ("device", "nvme")];
        let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(statement.options, options);
        assert!(statement.applies);
        let statement = advise("ADVISE COMPRESSION FOR DATABASE");
        assert_eq!(statement.subject, AdviceSubject::Database);
        assert!(!statement.applies && statement.options.is_empty());
        let statement = advise("ADVISE COMPRESSION FOR 'a b.csv' WITH (budget = '60 s')");
        assert_eq!(
            statement.subject,
            AdviceSubject::Source("a b.csv".to_owned())
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (sql, expected) in [
            ("ADVISE COMPRESSION t", "FOR"),
            ("ADVISE t", "COMPRESSION"),
            ("ADVISE COMPRESSION FOR t WITH (size)", "="),
            (
                "ADVISE COMPRESSION FOR t WITH (size = )",
                "the value of an option",
            ),
            (
                "ADVISE COMPRESSION FOR 'f.csv' APPLY",
                "a source cannot be changed",
            ),
        ] {
            let error = parse(sql).unwrap_err();
            assert_eq!(error.sqlstate(), "42601", "{sql}");
            assert!(
                error.message().contains(expected),
                "{sql}: {}",
                error.message()
            );
        }
    }

    #[test]
    fn a_table_may_be_called_advise() {
        assert!(matches!(
            parse("SELECT * FROM advise").unwrap(),
            ParsedCommand::Statement(..)
        ));
    }
}
