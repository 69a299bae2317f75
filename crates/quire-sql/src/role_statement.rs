//! `CREATE`, `ALTER` and `DROP` of roles, whose options may stand in any order.

use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use super::names::folded;
use super::tokens::word;

/// One of the statements.
#[derive(Debug, PartialEq)]
pub enum RoleStatement {
    Create {
        name: String,
        options: Vec<RoleOption>,
    },
    Alter {
        name: RoleName,
        options: Vec<RoleOption>,
    },
    Rename {
        name: RoleName,
        new_name: String,
    },
    Drop {
        names: Vec<RoleName>,
        is_conditional: bool,
    },
}

/// Which role.
#[derive(Debug, Clone, PartialEq)]
pub enum RoleName {
    /// `CURRENT_USER` and the like.
    Own,
    Named(String),
}

/// What a role is to have.
#[derive(Debug, Clone, PartialEq)]
pub enum RoleOption {
    Superuser(bool),
    Login(bool),
    /// `PASSWORD NULL` when empty.
    Password(Option<String>),
    /// What no role has, and is not wanted either.
    Absent,
    /// What no role can have.
    Unsupported(String),
}

/// Reads a statement whose second word is `ROLE`, `USER` or `GROUP`.
pub(super) fn parse(parser: &mut Parser) -> Result<RoleStatement, ParserError> {
    let verb = word(&parser.next_token().token);
    let kind = word(&parser.next_token().token);
    match verb.as_str() {
        "create" => {
            let name = folded(&parser.parse_identifier()?);
            let mut options = parse_options(parser)?;
            if kind == "user" {
                options.insert(0, RoleOption::Login(true));
            }
            Ok(RoleStatement::Create { name, options })
        }
        "alter" => parse_alter(parser),
        _ => {
            let is_conditional = word(&parser.peek_token().token) == "if";
            if is_conditional {
                parser.next_token();
                expect(parser, "exists")?;
            }
            Ok(RoleStatement::Drop {
                names: parser.parse_comma_separated(parse_name)?,
                is_conditional,
            })
        }
    }
}

fn parse_alter(parser: &mut Parser) -> Result<RoleStatement, ParserError> {
    let name = parse_name(parser)?;
    match word(&parser.peek_token().token).as_str() {
        "rename" => {
            parser.next_token();
            expect(parser, "to")?;
            let new_name = folded(&parser.parse_identifier()?);
            Ok(RoleStatement::Rename { name, new_name })
        }
        other @ ("set" | "reset" | "in" | "add" | "drop") => {
            let what = format!("ALTER ROLE … {}", other.to_uppercase());
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                parser.next_token();
            }
            let options = vec![RoleOption::Unsupported(what)];
            Ok(RoleStatement::Alter { name, options })
        }
        _ => {
            let options = parse_options(parser)?;
            Ok(RoleStatement::Alter { name, options })
        }
    }
}

fn parse_name(parser: &mut Parser) -> Result<RoleName, ParserError> {
    let own = ["current_user", "current_role", "session_user"];
    if own.contains(&word(&parser.peek_token().token).as_str()) {
        parser.next_token();
        return Ok(RoleName::Own);
    }
    Ok(RoleName::Named(folded(&parser.parse_identifier()?)))
}

fn parse_options(parser: &mut Parser) -> Result<Vec<RoleOption>, ParserError> {
    if word(&parser.peek_token().token) == "with" {
        parser.next_token();
    }
    let mut options = Vec::new();
    while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
        options.push(parse_option(parser)?);
    }
    Ok(options)
}

fn parse_option(parser: &mut Parser) -> Result<RoleOption, ParserError> {
    let token = parser.next_token();
    Ok(match word(&token.token).as_str() {
        "superuser" => RoleOption::Superuser(true),
        "nosuperuser" => RoleOption::Superuser(false),
        "login" => RoleOption::Login(true),
        "nologin" => RoleOption::Login(false),
        "encrypted" => {
            expect(parser, "password")?;
            RoleOption::Password(Some(parser.parse_literal_string()?))
        }
        "password" if word(&parser.peek_token().token) == "null" => {
            parser.next_token();
            RoleOption::Password(None)
        }
        "password" => RoleOption::Password(Some(parser.parse_literal_string()?)),
        "inherit" | "nocreatedb" | "nocreaterole" | "noreplication" | "nobypassrls" => {
            RoleOption::Absent
        }
        other @ ("createdb" | "createrole" | "replication" | "bypassrls" | "noinherit") => {
            RoleOption::Unsupported(other.to_uppercase())
        }
        other @ ("connection" | "valid" | "in" | "role" | "user" | "admin" | "sysid") => {
            // What belongs to it stands behind it.
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                parser.next_token();
            }
            RoleOption::Unsupported(format!("{} … of a role", other.to_uppercase()))
        }
        _ => return parser.expected("an option of a role", token),
    })
}

fn expect(parser: &mut Parser, wanted: &str) -> Result<(), ParserError> {
    let token = parser.next_token();
    if word(&token.token) == wanted {
        Ok(())
    } else {
        parser.expected(&wanted.to_uppercase(), token)
    }
}
