//! How deep expressions may be.
//!
//! The parser counts parentheses. A chain, `1 + 1 + 1 …`, it reads in a loop, but the tree that comes of it is as deep as the chain is
//! long, and everything that walks over trees goes down as far: planning, and even giving the tree back. A statement must not end
//! the process, so long chains are refused: first by their tokens, before there is a tree, then by the tree. Chains of `AND` and of
//! `OR` are no such trees any more by then ([`super::chains`]).

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Visit, Visitor};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use quire_error::Error;

use super::tokens::word;
use super::walk::walk;

/// Levels of an expression.
const LEVELS_MAX: usize = 2000;
/// Operators between two commas: a tree of so many levels can be given back on any of our stacks.
const OPERATORS_MAX: usize = 10_000;
/// Operators of a chain that is no trouble.
const SHORT_CHAIN: usize = 100;
/// `UNION`, `INTERSECT` and `EXCEPT` of a statement.
const SET_OPERATORS_MAX: usize = 500;

pub(super) fn too_deep() -> Error {
    Error::new("54001", "the statement is nested too deeply").with_hint(format!(
        "An expression has at most {LEVELS_MAX} levels, and a statement {SET_OPERATORS_MAX} UNIONs. \
         Say IN (…) in place of a chain of ORs."
    ))
}

/// The most operators that a statement has between two commas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operators(usize);

impl Operators {
    /// Whether a chain may be so long that it is better a tree that is not deep.
    pub(super) fn may_have_chains(self) -> bool {
        self.0 > SHORT_CHAIN
    }

    /// Whether there may be too many levels. Parentheses and calls add levels of their own, but the parser counts those.
    pub(super) fn may_be_deep(self) -> bool {
        self.0 > LEVELS_MAX / 2
    }
}

/// Refuses statements whose tree might be too deep to have.
pub(super) fn check_tokens(tokens: &[TokenWithSpan]) -> Result<Operators, Error> {
    let (mut operators, mut set_operators, mut most) = (0_usize, 0_usize, 0);
    for token in tokens {
        match &token.token {
            Token::Comma | Token::SemiColon => operators = 0,
            Token::Whitespace(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_)
            | Token::LParen
            | Token::RParen
            | Token::Period => {}
            token @ Token::Word(_) => match word(token).as_str() {
                "and" | "or" | "not" | "is" | "like" | "ilike" | "between" | "collate" => {
                    operators += 1;
                }
                "union" | "intersect" | "except" => set_operators += 1,
                _ => {}
            },
            _ => operators += 1,
        }
        most = most.max(operators);
        if operators > OPERATORS_MAX || set_operators > SET_OPERATORS_MAX {
            return Err(too_deep());
        }
    }
    Ok(Operators(most))
}

/// Refuses statements with an expression of too many levels.
pub(super) fn check_tree(tree: &impl Visit) -> Result<(), Error> {
    match walk(tree, &mut Depth(0)) {
        ControlFlow::Break(()) => Err(too_deep()),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Depth(usize);

impl Visitor for Depth {
    type Break = ();

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.0 += 1;
        if self.0 > LEVELS_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.0 -= 1;
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::parse::parse;

    #[test]
    fn long_chains_are_refused_and_long_lists_are_not() {
        for (link, count) in [
            (" + 1", 9000),
            (" OR 1 = 3", 6000),
            (" || 'x'", 1_000_000),
            ("::int", 100_000),
            (" UNION ALL SELECT 1", 501),
        ] {
            let sql = format!("SELECT 1{}", link.repeat(count));
            assert_eq!(parse(&sql).unwrap_err().sqlstate(), "54001", "{link}");
        }
        parse(&format!("SELECT 1{}", " + 1".repeat(1000))).unwrap();
        for link in [
            " OR a = 3",
            " AND a = 3",
            " OR (a = 3 AND b = 4 AND c IS NULL)",
        ] {
            // At most seven operators each.
            let count = 1400;
            let sql = format!("SELECT 1 WHERE a = 2{}", link.repeat(count));
            parse(&sql).unwrap_or_else(|error| panic!("{link}: {error}"));
        }
        parse(&format!(
            "SELECT 1 WHERE 1 IN (1{})",
            ", 1 + 2".repeat(50_000)
        ))
        .unwrap();
        parse(&format!(
            "INSERT INTO t VALUES (1, 2){}",
            ", (-1, 2)".repeat(50_000)
        ))
        .unwrap();
    }
}
