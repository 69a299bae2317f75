//! From the text of one statement to a [`ParsedCommand`].
//!
//! The grammar is PostgreSQL's as `sqlparser` knows it, with repairs ([`super::dialect`]). Seven things it does not know are read
//! here: our clauses of `CREATE TABLE` (see [`super::table_clauses`]), `COPY` (see
//! [`super::copy_statement`]), sequences (see [`super::sequence_statement`]), roles (see
//! [`super::role_statement`]), `VACUUM` and `ANALYZE` (see
//! [`super::maintenance_statement`]), `ADVISE COMPRESSION` (see [`super::advise_statement`]) and a few short commands of one or two words.

use datafusion::sql::sqlparser::ast::{Expr, ObjectName, Query, SetExpr, Statement};
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use quire_error::{Error, RECURSION_LIMIT};

use super::advise_statement::{self, AdviseStatement};
use super::copy_statement::{self, CopyStatement};
use super::dialect::QuireDialect;
use super::maintenance_statement::{self, Maintenance};
use super::role_statement::{self, RoleStatement};
use super::sequence_statement::{self, SequenceStatement};
use super::table_clauses::{self, TableClauses};
use super::tokens::{position, word};
use super::{chains, depth, set_members};

/// One statement, parsed.
#[derive(Debug)]
pub enum ParsedCommand {
    /// What `sqlparser` reads; the clauses are those taken out of a `CREATE TABLE`.
    Statement(Box<Statement>, TableClauses),
    /// `COPY … FROM` or `COPY … TO`.
    Copy(Box<CopyStatement>),
    /// `CALIBRATE`
    Calibrate,
    /// `CHECKPOINT`
    Checkpoint,
    /// `VACUUM`, `ANALYZE`
    Maintenance(Maintenance),
    /// `ADVISE COMPRESSION`
    Advise(Box<AdviseStatement>),
    /// `SHOW TABLES`
    ShowTables,
    /// `DESCRIBE table`
    Describe(ObjectName),
    /// `CREATE SEQUENCE`, `ALTER SEQUENCE`
    Sequence(Box<SequenceStatement>),
    /// `CREATE`, `ALTER` and `DROP` of `ROLE`, `USER` or `GROUP`
    Role(Box<RoleStatement>),
    /// Nothing but blanks and comments.
    Empty,
}

impl ParsedCommand {
    /// Whether it looks at definitions or settings, which takes no time.
    pub fn is_inspection(&self) -> bool {
        match self {
            Self::ShowTables | Self::Describe(_) => true,
            Self::Statement(statement, _) => matches!(
                statement.as_ref(),
                Statement::ShowVariable { .. } | Statement::ExplainTable { .. }
            ),
            _ => false,
        }
    }

    /// Whether it gives rows, and changes and locks none.
    pub fn is_query(&self) -> bool {
        if let Self::Statement(statement, _) = self
            && let Statement::Query(query) = statement.as_ref()
        {
            return query.locks.is_empty() && !changes_rows(&query.body);
        }
        if let Self::Advise(advise) = self {
            return !advise.applies;
        }
        self.is_inspection()
    }
}

/// Whether the body of a query is a statement that changes rows, behind `WITH`.
pub fn changes_rows(body: &SetExpr) -> bool {
    matches!(
        body,
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_)
    )
}

/// Parses exactly one statement; a semicolon may end it.
pub fn parse(sql: &str) -> Result<ParsedCommand, Error> {
    let mut dialect = QuireDialect::default();
    let mut tokens = Tokenizer::new(&dialect, sql)
        .tokenize_with_location()
        .map_err(|error| Error::syntax(error.message, position(error.location)))?;
    check_characters(sql, &tokens)?;
    check_numbers(&tokens)?;
    let operators = depth::check_tokens(&tokens)?;
    let clauses = table_clauses::take(&mut tokens)?;
    set_members::close(&mut tokens);
    dialect.explains_in_parentheses = explains_in_parentheses(&tokens);
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(RECURSION_LIMIT)
        .with_tokens_with_locations(tokens);
    while parser.consume_token(&Token::SemiColon) {}
    let mut command = parse_command(&mut parser, clauses).map_err(Error::from)?;
    if let ParsedCommand::Statement(statement, _) = &mut command {
        if operators.may_have_chains() && !chains::balance(statement.as_mut()) {
            return Err(depth::too_deep());
        }
        if operators.may_be_deep() {
            depth::check_tree(statement.as_ref())?;
        }
    }
    while parser.consume_token(&Token::SemiColon) {}
    match parser.peek_token() {
        TokenWithSpan {
            token: Token::EOF, ..
        } => Ok(command),
        extra => Err(Error::syntax(
            format!("syntax error at or near \"{}\"", extra.token),
            position(extra.span.start),
        )),
    }
}

/// Whether a statement begins with `EXPLAIN (SELECT`, where `EXPLAIN` may have options, too.
fn explains_in_parentheses(tokens: &[TokenWithSpan]) -> bool {
    let tokens = tokens.iter().map(|token| &token.token);
    let mut tokens =
        tokens.filter(|token| !matches!(token, Token::Whitespace(_) | Token::SemiColon));
    let is_explain = tokens.next().is_some_and(|first| word(first) == "explain");
    let mut tokens = tokens.peekable();
    if !is_explain || tokens.next_if_eq(&&Token::LParen).is_none() {
        return false;
    }
    let inner = tokens.find(|token| **token != Token::LParen);
    inner.is_some_and(|first| ["select", "with", "values"].contains(&word(first).as_str()))
}

/// Texts have no NUL character: neither does a statement, nor may an escape in it make one. (The tokenizer refuses those of `E'…'`.)
fn check_characters(sql: &str, tokens: &[TokenWithSpan]) -> Result<(), Error> {
    if sql.contains('\0') {
        return Err(Error::nul_character());
    }
    let mut unicode = tokens.iter().filter_map(|token| match &token.token {
        Token::UnicodeStringLiteral(text) => Some(text),
        _ => None,
    });
    if unicode.any(|text| text.contains('\0')) {
        Err(Error::syntax("invalid Unicode escape value", None))
    } else {
        Ok(())
    }
}

/// A number ends where the next blank or sign is, as since PostgreSQL 15: `1a`, `0x1F` and `1_000` are none, nor a number and a name.
fn check_numbers(tokens: &[TokenWithSpan]) -> Result<(), Error> {
    let next = tokens.iter().skip(1).map(Some).chain([None]);
    for (token, next) in tokens.iter().zip(next) {
        let width = token
            .span
            .end
            .column
            .saturating_sub(token.span.start.column);
        let number = match &token.token {
            Token::Number(digits, is_long) => {
                let suffix = if *is_long { "L" } else { "" };
                format!("{digits}{suffix}")
            }
            // `X'1F'` is longer by a quote.
            Token::HexStringLiteral(digits) if width == digits.len() as u64 + 2 => {
                format!("0x{digits}")
            }
            _ => continue,
        };
        let behind = next.filter(|next| next.span.start == token.span.end);
        let junk = match behind.map(|next| &next.token) {
            Some(Token::Word(word)) if word.quote_style.is_none() => word.value.as_str(),
            _ => "",
        };
        let is_number = number.ends_with(|letter: char| letter.is_ascii_digit() || letter == '.')
            && !number.contains(['_', 'x']);
        if !is_number || !junk.is_empty() {
            let text = format!("trailing junk after numeric literal at or near \"{number}{junk}\"");
            return Err(Error::syntax(text, position(token.span.start)));
        }
    }
    Ok(())
}

/// Parses a query: one of our own, or one that the catalog keeps as text.
pub fn parse_query(text: &str) -> Result<Box<Query>, Error> {
    if let ParsedCommand::Statement(statement, _) = parse(text)?
        && let Statement::Query(query) = *statement
    {
        return Ok(query);
    }
    Err(Error::new("XX000", "internal error: not a query"))
}

/// Parses an expression that the catalog keeps as text.
pub fn parse_expression(text: &str) -> Result<Expr, Error> {
    let dialect = QuireDialect::default();
    let parser = Parser::new(&dialect).with_recursion_limit(RECURSION_LIMIT);
    let mut parser = parser.try_with_sql(text).map_err(Error::from)?;
    let expr = parser.parse_expr().map_err(Error::from)?;
    match parser.peek_token().token {
        Token::EOF => Ok(expr),
        extra => Err(Error::syntax(
            format!("syntax error at or near \"{extra}\""),
            None,
        )),
    }
}

fn parse_command(parser: &mut Parser, clauses: TableClauses) -> Result<ParsedCommand, ParserError> {
    let first = word(&parser.peek_token().token);
    let second = word(&parser.peek_nth_token(1).token);
    match (first.as_str(), second.as_str()) {
        ("", _) if parser.peek_token().token == Token::EOF => Ok(ParsedCommand::Empty),
        ("copy", _) => {
            copy_statement::parse(parser).map(|copy| ParsedCommand::Copy(Box::new(copy)))
        }
        ("calibrate", _) => {
            parser.next_token();
            Ok(ParsedCommand::Calibrate)
        }
        ("checkpoint", _) => {
            parser.next_token();
            Ok(ParsedCommand::Checkpoint)
        }
        ("vacuum" | "analyze" | "analyse", _) => {
            maintenance_statement::parse(parser).map(ParsedCommand::Maintenance)
        }
        ("advise", _) => {
            advise_statement::parse(parser).map(|one| ParsedCommand::Advise(Box::new(one)))
        }
        ("show", "tables") => {
            parser.next_token();
            parser.next_token();
            Ok(ParsedCommand::ShowTables)
        }
        ("create" | "alter", "sequence") => {
            sequence_statement::parse(parser).map(|one| ParsedCommand::Sequence(Box::new(one)))
        }
        ("create" | "alter" | "drop", "role" | "user" | "group") => {
            role_statement::parse(parser).map(|one| ParsedCommand::Role(Box::new(one)))
        }
        ("describe", _) => {
            parser.next_token();
            parser.parse_object_name(false).map(ParsedCommand::Describe)
        }
        _ => Ok(ParsedCommand::Statement(
            Box::new(parser.parse_statement()?),
            clauses,
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use quire_error::Position;

    use super::*;

    #[test]
    fn one_statement_and_no_more() {
        assert!(matches!(
            parse("select 1;").unwrap(),
            ParsedCommand::Statement(..)
        ));
        assert!(matches!(
            parse(" -- nothing\n").unwrap(),
            ParsedCommand::Empty
        ));
        assert!(matches!(
            parse("CHECKPOINT").unwrap(),
            ParsedCommand::Checkpoint
        ));
        assert!(matches!(
            parse("show tables;").unwrap(),
            ParsedCommand::ShowTables
        ));
        let error = parse("select 1; select 2").unwrap_err();
        assert_eq!(
            error.position(),
            Some(Position {
                line: 1,
                column: 11
            })
        );
    }

    #[test]
    fn errors_carry_their_place() {
        let error = parse("insert\n into 5 values (1)").unwrap_err();
        assert_eq!(error.sqlstate(), "42601");
        assert_eq!(error.position().unwrap().line, 2);
        assert!(!error.message().contains("Line"));
    }

    #[test]
    fn numbers_end_where_they_end() {
        for sql in [
            "0x1F", "1_000", "1a", "1.5e", "1.5x", "1e5x", "0b11", "1from",
        ] {
            let error = parse(&format!("SELECT {sql}")).unwrap_err();
            assert_eq!(error.sqlstate(), "42601", "{sql}");
            assert!(error.message().contains("trailing junk"), "{sql}");
        }
        for sql in [
            "1 a", "1.5", "1e5", "1.", ".5", "X'1F'", "123\"a\"", "t1.a_1", "1-1", "(1)a",
        ] {
            assert!(parse(&format!("SELECT {sql}")).is_ok(), "{sql}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let sql = format!("select {}1{}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(parse(&sql).unwrap_err().sqlstate(), "54001");
    }
}
