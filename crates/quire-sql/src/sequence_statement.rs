//! `CREATE SEQUENCE` and `ALTER SEQUENCE`, whose clauses may stand in any order.

use datafusion::sql::sqlparser::ast::{DataType, ObjectName};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// One of the two statements.
#[derive(Debug)]
pub struct SequenceStatement {
    pub name: ObjectName,
    /// `CREATE`, not `ALTER`.
    pub is_new: bool,
    /// `IF NOT EXISTS` of the one, `IF EXISTS` of the other.
    pub is_conditional: bool,
    pub changes: Vec<SequenceChange>,
    pub new_name: Option<ObjectName>,
}

/// One clause.
#[derive(Debug, Clone)]
pub enum SequenceChange {
    Type(DataType),
    Increment(i64),
    /// `NO MINVALUE` when empty.
    Min(Option<i64>),
    /// `NO MAXVALUE` when empty.
    Max(Option<i64>),
    Start(i64),
    /// Without a value from the first one.
    Restart(Option<i64>),
    Cache(u64),
    Cycle(bool),
    /// `OWNED BY NONE` when empty.
    Owner(Option<ObjectName>),
}

/// Reads a statement that begins with `CREATE SEQUENCE` or `ALTER SEQUENCE`.
pub(super) fn parse(parser: &mut Parser) -> Result<SequenceStatement, ParserError> {
    let is_new = parser.parse_keyword(Keyword::CREATE);
    if !is_new {
        parser.expect_keyword(Keyword::ALTER)?;
    }
    parser.expect_keyword(Keyword::SEQUENCE)?;
    let is_conditional = if is_new {
        parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS])
    } else {
        parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS])
    };
    let name = parser.parse_object_name(false)?;
    let mut statement = SequenceStatement {
        name,
        is_new,
        is_conditional,
        changes: Vec::new(),
        new_name: None,
    };
    if !is_new && parser.parse_keywords(&[Keyword::RENAME, Keyword::TO]) {
        statement.new_name = Some(parser.parse_object_name(false)?);
        return Ok(statement);
    }
    while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
        statement.changes.push(change(parser)?);
    }
    Ok(statement)
}

fn change(parser: &mut Parser) -> Result<SequenceChange, ParserError> {
    if parser.parse_keyword(Keyword::NO) {
        let words = [Keyword::MINVALUE, Keyword::MAXVALUE, Keyword::CYCLE];
        return Ok(match parser.expect_one_of_keywords(&words)? {
            Keyword::MINVALUE => SequenceChange::Min(None),
            Keyword::MAXVALUE => SequenceChange::Max(None),
            _ => SequenceChange::Cycle(false),
        });
    }
    let words = [
        Keyword::AS,
        Keyword::INCREMENT,
        Keyword::MINVALUE,
        Keyword::MAXVALUE,
        Keyword::START,
        Keyword::RESTART,
        Keyword::CACHE,
        Keyword::CYCLE,
        Keyword::OWNED,
    ];
    Ok(match parser.expect_one_of_keywords(&words)? {
        Keyword::AS => SequenceChange::Type(parser.parse_data_type()?),
        Keyword::INCREMENT => {
            let _ = parser.parse_keyword(Keyword::BY);
            SequenceChange::Increment(integer(parser)?)
        }
        Keyword::MINVALUE => SequenceChange::Min(Some(integer(parser)?)),
        Keyword::MAXVALUE => SequenceChange::Max(Some(integer(parser)?)),
        Keyword::START => {
            let _ = parser.parse_keyword(Keyword::WITH);
            SequenceChange::Start(integer(parser)?)
        }
        Keyword::RESTART => {
            let has_value = parser.parse_keyword(Keyword::WITH)
                || matches!(parser.peek_token().token, Token::Number(..) | Token::Minus);
            SequenceChange::Restart(if has_value {
                Some(integer(parser)?)
            } else {
                None
            })
        }
        Keyword::CACHE => SequenceChange::Cache(parser.parse_literal_uint()?),
        Keyword::CYCLE => SequenceChange::Cycle(true),
        _ => {
            parser.expect_keyword(Keyword::BY)?;
            let owner = parser.parse_object_name(false)?;
            let is_none = owner.to_string().eq_ignore_ascii_case("none");
            SequenceChange::Owner((!is_none).then_some(owner))
        }
    })
}

/// A whole number, perhaps with a sign.
fn integer(parser: &mut Parser) -> Result<i64, ParserError> {
    let is_negative = parser.consume_token(&Token::Minus);
    if !is_negative {
        let _ = parser.consume_token(&Token::Plus);
    }
    let digits = parser.parse_literal_uint()?;
    let value = if is_negative {
        -i128::from(digits)
    } else {
        i128::from(digits)
    };
    i64::try_from(value).map_err(|_| {
        ParserError::ParserError(format!("value \"{value}\" is out of range for type bigint"))
    })
}
