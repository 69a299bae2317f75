//! Whole rows: the name of a table where a value is expected.
//!
//! `y IS NULL`, where `y` is a table of the `SELECT` and no column, asks all columns of its row; `count(y)` counts its rows, `y = z` and `y < z`
//! compare two rows, and `y` elsewhere is `ROW(y.a, y.b)`. The planner knows columns only, so this is written out when it has not found
//! one of that name. A row that an outer join has not found is NULL, and is told by a column that is never NULL otherwise; where there is
//! none, the error stays.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::arrow::datatypes::Fields;
use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    JoinOperator, Query, Select, SelectItem, Statement, TableFactor, UnaryOperator, Value, Visitor,
    VisitorMut,
};
use quire_sql::calls::call;
use quire_sql::names::{folded, last_part};
use quire_sql::walk::{change_own_expressions, look_at_own_expressions, walk, walk_mut};

use super::factor_columns::{FactorQueries, factors_of, ident, name_of};
use crate::planning::StatementContext;

/// Writes whole rows out; says whether there may have been some.
pub(super) async fn resolve(context: &StatementContext, statement: &mut Statement) -> bool {
    let mut finder = WholeRowFinder::default();
    // Neither walk breaks off.
    let _ = walk(statement, &mut finder);
    let columns = finder.0.columns(context).await;
    if !columns.is_empty() {
        let _ = walk_mut(statement, &mut WholeRowWriter(&columns));
    }
    !columns.is_empty()
}

/// Finds the tables of each `SELECT` that has the name of one of them where a column may stand.
#[derive(Default)]
struct WholeRowFinder(FactorQueries);

impl Visitor for WholeRowFinder {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.0.open_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0.close_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let names: Vec<String> = factors_of(select).filter_map(name_of).collect();
        let is_row = |expr: &Expr| match expr {
            Expr::Identifier(name) if names.contains(&folded(name)) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        if look_at_own_expressions(select, is_row).is_break() {
            self.0.add(select);
        }
        ControlFlow::Continue(())
    }
}

/// Writes the rows of each `SELECT` out.
struct WholeRowWriter<'c>(&'c HashMap<String, Fields>);

impl VisitorMut for WholeRowWriter<'_> {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if let Some(rows) = WholeRows::of(select, self.0) {
            rows.name_outputs(select);
            change_own_expressions(select, |expr| {
                if let Some(written) = rows.written(expr) {
                    *expr = Expr::Nested(Box::new(written));
                }
                if let Expr::Function(function) = expr {
                    rows.write_count(function);
                }
            });
        }
        ControlFlow::Continue(())
    }
}

/// The tables of a `SELECT` that are no columns, by their names.
struct WholeRows<'c>(HashMap<String, WholeRow<'c>>);

struct WholeRow<'c> {
    fields: &'c Fields,
    /// Whether an outer join may find none.
    may_be_missing: bool,
}

impl<'c> WholeRows<'c> {
    /// Nothing where the columns of some table are not known.
    fn of(select: &Select, columns: &'c HashMap<String, Fields>) -> Option<Self> {
        let mut rows = HashMap::new();
        for from in &select.from {
            let mut joined = vec![named(&from.relation, columns)?];
            for join in &from.joins {
                let (left, right) = missing_sides(&join.join_operator);
                for (_, row) in &mut joined {
                    row.may_be_missing |= left;
                }
                let (name, mut row) = named(&join.relation, columns)?;
                row.may_be_missing = right;
                joined.push((name, row));
            }
            rows.extend(joined);
        }
        let fields = rows.values().flat_map(|row| row.fields.iter());
        let names: Vec<String> = fields.map(|field| field.name().clone()).collect();
        rows.retain(|name, _| !names.contains(name));
        (!rows.is_empty()).then_some(Self(rows))
    }

    /// The table that an expression names.
    fn row(&self, expr: &Expr) -> Option<(&str, &WholeRow<'c>)> {
        match expr {
            Expr::Identifier(name) => {
                let (name, row) = self.0.get_key_value(&folded(name))?;
                Some((name, row))
            }
            Expr::Nested(inner) => self.row(inner),
            _ => None,
        }
    }

    /// A row that is put out as it is keeps its name.
    fn name_outputs(&self, select: &mut Select) {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item
                && let Some((name, _)) = self.row(expr)
            {
                let (alias, expr) = (ident(name), expr.clone());
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
        }
    }

    /// A condition on rows, on their columns; or the value of a row.
    fn written(&self, expr: &Expr) -> Option<Expr> {
        match expr {
            Expr::IsNull(row) => self.each(row, Expr::IsNull),
            Expr::IsNotNull(row) => self.each(row, Expr::IsNotNull),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Eq => self.compared(left, right, equal),
                BinaryOperator::NotEq => Some(not(self.compared(left, right, equal)?)),
                BinaryOperator::Lt => self.compared(left, right, less),
                BinaryOperator::Gt => self.compared(right, left, less),
                BinaryOperator::LtEq => Some(not(self.compared(right, left, less)?)),
                BinaryOperator::GtEq => Some(not(self.compared(left, right, less)?)),
                _ => None,
            },
            Expr::Identifier(_) => {
                let (name, row) = self.row(expr)?;
                let fields = row.fields.iter().map(|field| column(name, field.name()));
                let value = call("row", fields.collect());
                Some(if_found(row.found(name)?, value))
            }
            _ => None,
        }
    }

    fn each(&self, row: &Expr, test: fn(Box<Expr>) -> Expr) -> Option<Expr> {
        let (name, row) = self.row(row)?;
        let fields = row.fields.iter();
        all(fields.map(|field| test(Box::new(column(name, field.name())))))
    }

    /// Compares two rows as values: NULL is one like others in them, and the greatest, but a row that is missing is unknown.
    fn compared(&self, left: &Expr, right: &Expr, compare: Comparison) -> Option<Expr> {
        let ((name, row), (other_name, other)) = (self.row(left)?, self.row(right)?);
        let pairs = row.fields.iter().zip(other.fields.iter());
        let are_alike = row.fields.len() == other.fields.len()
            && pairs
                .clone()
                .all(|(one, two)| one.data_type() == two.data_type());
        if !are_alike {
            return None;
        }
        let pairs = pairs.map(|(one, two)| {
            let sides = [column(name, one.name()), column(other_name, two.name())];
            sides.map(Box::new)
        });
        let compared = compare(pairs.collect())?;
        let found = [row.found(name)?, other.found(other_name)?];
        Some(if_found(all(found.into_iter().flatten()), compared))
    }

    /// `count(y)` counts what is never NULL of the row.
    fn write_count(&self, function: &mut Function) {
        let FunctionArguments::List(list) = &mut function.args else {
            return;
        };
        let is_count = last_part(&function.name).is_some_and(|name| name == "count");
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] = list.args.as_mut_slice()
        else {
            return;
        };
        if is_count
            && list.duplicate_treatment.is_none()
            && let Some((name, row)) = self.row(argument)
            && let Some(found) = row.present(name)
        {
            *argument = found;
        }
    }
}

impl WholeRow<'_> {
    /// What is not NULL if there is a row.
    fn present(&self, name: &str) -> Option<Expr> {
        if !self.may_be_missing {
            return Some(Expr::Value(Value::Boolean(true).into()));
        }
        let mut fields = self.fields.iter();
        let field = fields.find(|field| !field.is_nullable())?;
        Some(column(name, field.name()))
    }

    /// The condition under which there is a row: none if there is always one, nothing if it cannot be told.
    fn found(&self, name: &str) -> Option<Option<Expr>> {
        let present = self.present(name)?;
        let condition = self
            .may_be_missing
            .then(|| Expr::IsNotNull(Box::new(present)));
        Some(condition)
    }
}

fn named<'c>(
    factor: &TableFactor,
    columns: &'c HashMap<String, Fields>,
) -> Option<(String, WholeRow<'c>)> {
    let row = WholeRow {
        fields: columns.get(&factor.to_string())?,
        may_be_missing: false,
    };
    Some((name_of(factor)?, row))
}

/// Whether a join may have no row of its left, and of its right side.
fn missing_sides(operator: &JoinOperator) -> (bool, bool) {
    match operator {
        JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => (false, true),
        JoinOperator::Right(_) | JoinOperator::RightOuter(_) => (true, false),
        JoinOperator::FullOuter(_) => (true, true),
        _ => (false, false),
    }
}

fn column(table: &str, name: &str) -> Expr {
    Expr::CompoundIdentifier(vec![ident(table), ident(name)])
}

/// What is made of the fields of two rows, in pairs.
type Comparison = fn(Vec<[Box<Expr>; 2]>) -> Option<Expr>;

fn equal(fields: Vec<[Box<Expr>; 2]>) -> Option<Expr> {
    let fields = fields.into_iter();
    all(fields.map(|[one, other]| Expr::IsNotDistinctFrom(one, other)))
}

/// Whether the first field that differs is less.
fn less(fields: Vec<[Box<Expr>; 2]>) -> Option<Expr> {
    fields.into_iter().rev().fold(None, |rest, [one, other]| {
        let is_last = both(
            BinaryOperator::And,
            Expr::IsNotNull(one.clone()),
            Expr::IsNull(other.clone()),
        );
        let is_less = Expr::BinaryOp {
            left: one.clone(),
            op: BinaryOperator::Lt,
            right: other.clone(),
        };
        let is_less = call("coalesce", vec![is_less, is_last]);
        Some(match rest {
            None => is_less,
            Some(rest) => {
                let go_on = both(
                    BinaryOperator::And,
                    Expr::IsNotDistinctFrom(one, other),
                    rest,
                );
                both(BinaryOperator::Or, is_less, go_on)
            }
        })
    })
}

fn both(op: BinaryOperator, left: Expr, right: Expr) -> Expr {
    let [left, right] = [left, right].map(|side| Box::new(Expr::Nested(Box::new(side))));
    Expr::BinaryOp { left, op, right }
}

fn not(condition: Expr) -> Expr {
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(Expr::Nested(Box::new(condition))),
    }
}

/// The value under a condition, if there is one; otherwise NULL.
fn if_found(found: Option<Expr>, value: Expr) -> Expr {
    let Some(found) = found else {
        return value;
    };
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen {
            condition: found,
            result: value,
        }],
        else_result: None,
    }
}

fn all(conditions: impl Iterator<Item = Expr>) -> Option<Expr> {
    conditions.reduce(|left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: BinaryOperator::And,
        right: Box::new(right),
    })
}
