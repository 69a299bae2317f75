//! Expressions whose names, as the planner makes them, leave something out.
//!
//! The planner calls a column `sum(a + b * c)` whether the text has parentheses or not, and leaves casts and subqueries out
//! altogether; two columns with one name are refused. [`mark`] puts [`OwnName`] around the parts that names leave out: casts,
//! subqueries, and operands that would need parentheses. What needs them follows from the tree alone, so that `(a * b) + c` and
//! `a * b + c` stay the same expression.

use std::hash::{DefaultHasher, Hash, Hasher};

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Statement, UnaryOperator, Value,
};
use quire_functions::OwnName;

use super::names::last_part;
use super::walk::change_expressions;

/// Marks what names leave out; says whether there is anything of the kind.
pub fn mark(statement: &mut Statement) -> bool {
    let mut marker = ExpressionNameMarker { has_marked: false };
    change_expressions(statement, |expr| marker.mark(expr));
    marker.has_marked
}

struct ExpressionNameMarker {
    has_marked: bool,
}

impl ExpressionNameMarker {
    fn mark(&mut self, expr: &mut Expr) {
        if let Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } = expr {
            // The planner looks for a subquery there.
            unmark(right);
        }
        match expr {
            Expr::Cast { .. } | Expr::TypedString(_) => self.put_around(expr, None),
            Expr::Subquery(_)
            | Expr::Exists { .. }
            | Expr::InSubquery { .. }
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. } => {
                let mut hasher = DefaultHasher::new();
                expr.hash(&mut hasher);
                self.put_around(expr, Some(format!("{:016x}", hasher.finish())));
            }
            _ => self.operands(expr),
        }
    }

    fn put_around(&mut self, expr: &mut Expr, text: Option<String>) {
        let inner = std::mem::replace(expr, Expr::Value(Value::Null.into()));
        let text = text.map(|text| Expr::Value(Value::SingleQuotedString(text).into()));
        *expr = own_name(std::iter::once(inner).chain(text));
        self.has_marked = true;
    }

    /// Marks the operands of an operator that bind less tightly than it does.
    fn operands(&mut self, expr: &mut Expr) {
        let Some(binding) = binding(expr) else {
            return;
        };
        match expr {
            Expr::BinaryOp { left, right, .. } => {
                self.operand(left, binding);
                self.operand(right, binding + 1);
            }
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.operand(left, binding + 1);
                self.operand(right, binding + 1);
            }
            Expr::Between {
                expr, low, high, ..
            } => {
                for operand in [expr, low, high] {
                    self.operand(operand, binding + 1);
                }
            }
            Expr::Like { expr, pattern, .. }
            | Expr::ILike { expr, pattern, .. }
            | Expr::SimilarTo { expr, pattern, .. } => {
                self.operand(expr, binding + 1);
                self.operand(pattern, binding + 1);
            }
            Expr::UnaryOp { expr, .. }
            | Expr::InList { expr, .. }
            | Expr::IsNull(expr)
            | Expr::IsNotNull(expr)
            | Expr::IsTrue(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotFalse(expr)
            | Expr::IsUnknown(expr)
            | Expr::IsNotUnknown(expr) => self.operand(expr, binding),
            _ => {}
        }
    }

    /// Marks an operand that binds less tightly than `least`.
    fn operand(&mut self, operand: &mut Expr, least: u8) {
        let mut inner = &mut *operand;
        while let Expr::Nested(nested) = inner {
            inner = nested;
        }
        if binding(inner).is_some_and(|binding| binding < least) {
            self.put_around(inner, None);
        }
    }
}

/// Takes the function away that was put around `expr`.
fn unmark(expr: &mut Expr) {
    if let Expr::Function(function) = expr
        && last_part(&function.name).is_some_and(|name| name == OwnName::NAME)
        && let FunctionArguments::List(list) = &mut function.args
        && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))) = list.args.first_mut()
    {
        *expr = std::mem::replace(inner, Expr::Value(Value::Null.into()));
    }
}

/// How tightly an operator binds its operands, two apart; nothing for what needs no parentheses.
fn binding(expr: &Expr) -> Option<u8> {
    Some(match expr {
        Expr::BinaryOp { op, .. } => binding_of(op),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            ..
        } => 6,
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..) => 8,
        Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. }
        | Expr::InList { .. } => 12,
        _ => return None,
    })
}

fn binding_of(operator: &BinaryOperator) -> u8 {
    match operator {
        BinaryOperator::Or | BinaryOperator::Xor => 2,
        BinaryOperator::And => 4,
        BinaryOperator::Eq
        | BinaryOperator::NotEq
        | BinaryOperator::Lt
        | BinaryOperator::LtEq
        | BinaryOperator::Gt
        | BinaryOperator::GtEq => 10,
        BinaryOperator::Plus | BinaryOperator::Minus => 16,
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => 18,
        BinaryOperator::PGExp => 20,
        _ => 14,
    }
}

fn own_name(arguments: impl Iterator<Item = Expr>) -> Expr {
    let unnamed = |argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::with_quote('"', OwnName::NAME)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.map(unnamed).collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::{ParsedCommand, parse};

    fn marked(expression: &str) -> String {
        match parse(&format!("SELECT {expression}")).unwrap() {
            ParsedCommand::Statement(mut statement, _) => {
                mark(&mut statement);
                let text = statement.to_string();
                text.replace("\"\u{1f}own_name\"", "")
                    .split_off("SELECT ".len())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn operands_that_need_parentheses_are_marked() {
        let unmarked = [
            "a + b * c",
            "a = b AND c LIKE d || 'x'",
            "NOT a OR b",
            "f(a + b)",
        ];
        for text in unmarked {
            assert_eq!(marked(text), text);
        }
        let doubled = [
            ("(a + b) * c", "((a + b)) * c"),
            ("a - (b - c)", "a - ((b - c))"),
            ("(a OR b) AND c", "((a OR b)) AND c"),
            ("NOT (a AND b)", "NOT ((a AND b))"),
            ("(a = b) IS NULL", "(a = b) IS NULL"),
            ("a::TEXT", "(a::TEXT)"),
            ("sum(a::TEXT)", "sum((a::TEXT))"),
        ];
        for (text, expected) in doubled {
            assert_eq!(marked(text), expected);
        }
    }

    #[test]
    fn parentheses_that_change_nothing_mark_nothing() {
        assert_eq!(marked("(a * b) + c"), "(a * b) + c");
        assert_eq!(marked("(a + b) + c"), "(a + b) + c");
    }
}
