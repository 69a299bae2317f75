//! Long texts in a statement, kept out of its plan.
//!
//! A planner names expressions by their text and copies literals from plan to plan, so that a text of 16 MB in a statement is
//! written and copied dozens of times. In its place stands a call of a function that gives it, which nothing looks into.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{Expr, Statement, Value};
use quire_functions::LargeText;

use super::calls::call;
use super::walk::change_expressions;

/// Bytes of a literal that is long.
const LONG: usize = 32 << 10;

/// Takes the long literals out of a statement; the functions that give them are to be registered.
pub fn take(statement: &mut Statement) -> Vec<LargeText> {
    let mut found = Vec::new();
    change_expressions(statement, |expr| {
        if let Expr::Value(value) = expr
            && let Value::SingleQuotedString(text) = &mut value.value
            && text.len() >= LONG
        {
            let text: Arc<str> = std::mem::take(text).into();
            let function = LargeText::new(found.len(), text);
            *expr = call(function.called(), Vec::new());
            found.push(function);
        }
    });
    found
}
