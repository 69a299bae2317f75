//! The grammar of `VACUUM` and `ANALYZE`.

use datafusion::sql::sqlparser::ast::{Ident, ObjectName};
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use super::names::folded;
use super::tokens::word;

/// What to look after.
#[derive(Debug, PartialEq)]
pub struct Maintenance {
    /// Whether space of the file is given back.
    pub cleans: bool,
    /// Whether the rows of row tables are written again.
    pub rewrites: bool,
    /// Whether samples are taken.
    pub analyzes: bool,
    /// Tables, and columns of them; none means all tables.
    pub tables: Vec<(ObjectName, Vec<Ident>)>,
}

impl Maintenance {
    pub fn tag(&self) -> &'static str {
        if self.cleans { "VACUUM" } else { "ANALYZE" }
    }
}

/// Reads `VACUUM [(option, …) | FULL FREEZE VERBOSE ANALYZE] [table, …]` or `ANALYZE [VERBOSE] [table [(column, …)], …]`.
pub(super) fn parse(parser: &mut Parser) -> Result<Maintenance, ParserError> {
    let cleans = word(&parser.next_token().token) == "vacuum";
    let (mut analyzes, mut rewrites) = (!cleans, false);
    if parser.consume_token(&Token::LParen) {
        let options = parser.parse_comma_separated(parse_option)?;
        parser.expect_token(&Token::RParen)?;
        let has = |wanted: &str| options.iter().any(|(name, is_on)| name == wanted && *is_on);
        analyzes |= has("analyze");
        rewrites = has("full");
    } else {
        loop {
            match word(&parser.peek_token().token).as_str() {
                "analyze" | "analyse" => analyzes = true,
                "full" if cleans => rewrites = true,
                "freeze" if cleans => {}
                "verbose" => {}
                _ => break,
            }
            parser.next_token();
        }
    }
    let tables = match parser.peek_token().token {
        Token::EOF | Token::SemiColon => Vec::new(),
        _ => parser.parse_comma_separated(parse_table)?,
    };
    Ok(Maintenance {
        cleans,
        rewrites,
        analyzes,
        tables,
    })
}

fn parse_option(parser: &mut Parser) -> Result<(String, bool), ParserError> {
    let name = folded(&parser.parse_identifier()?);
    match name.as_str() {
        "full" | "freeze" | "verbose" | "analyze" | "skip_locked" => {}
        _ => {
            let text = format!("unrecognized option \"{name}\"");
            return Err(ParserError::ParserError(text));
        }
    }
    let is_on = match word(&parser.peek_token().token).as_str() {
        "" => true,
        value => {
            parser.next_token();
            !matches!(value, "off" | "false")
        }
    };
    Ok((name, is_on))
}

fn parse_table(parser: &mut Parser) -> Result<(ObjectName, Vec<Ident>), ParserError> {
    let name = parser.parse_object_name(false)?;
    let mut columns = Vec::new();
    if parser.consume_token(&Token::LParen) {
        columns = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_token(&Token::RParen)?;
    }
    Ok((name, columns))
}
