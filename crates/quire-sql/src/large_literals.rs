//! Long texts in a statement, kept out of its plan.
//!
//! A planner names expressions by their text and copies literals from plan to plan, so that a text of 16 MB in a statement is
//! written and copied dozens of times. In its place stands a call of a function that gives it, which nothing looks into.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{Expr, Statement, Value, VisitorMut};
use quire_functions::LargeText;

use super::calls::call;
use super::walk::walk_mut;

/// Bytes of a literal that is long.
const LONG: usize = 32 << 10;

/// Takes the long literals out of a statement; the functions that give them are to be registered.
pub fn take(statement: &mut Statement) -> Vec<LargeText> {
    let mut taker = Taker::default();
    // The visitor never breaks off.
    let _ = walk_mut(statement, &mut taker);
    taker.found
}

#[derive(Default)]
struct Taker {
    found: Vec<LargeText>,
}

impl VisitorMut for Taker {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Value(value) = expr
            && let Value::SingleQuotedString(text) = &mut value.value
            && text.len() >= LONG
        {
            let text: Arc<str> = std::mem::take(text).into();
            let function = LargeText::new(self.found.len(), text);
            *expr = call(function.called(), Vec::new());
            self.found.push(function);
        }
        ControlFlow::Continue(())
    }
}
