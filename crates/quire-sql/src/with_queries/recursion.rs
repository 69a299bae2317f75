//! `WITH RECURSIVE`: what may read itself, and where.
//!
//! The rules are those of PostgreSQL's `parse_cte.c`. A query that reads itself is a `UNION` whose right side does so once, where its
//! rows are neither counted nor left out. The planner takes every `UNION` of `WITH RECURSIVE` for such a query, and drops what stands around it.

use datafusion::sql::sqlparser::ast::{
    Cte, Expr, JoinOperator, LimitClause, ObjectName, Query, Select, SelectItem, SetExpr,
    SetOperator, TableFactor, TableWithJoins, Visit, With,
};
use quire_error::Error;

use super::open_decimals;
use crate::grouping_sets::is_aggregate;
use crate::names::{display, folded, last_part};
use crate::reject::not_supported;
use crate::walk::{for_each_relation, look_at_own_expressions};

/// Checks the queries, and puts each behind those that it reads.
pub(super) fn arrange(with: &mut With) -> Result<(), Error> {
    let names: Vec<String> = with.cte_tables.iter().map(name_of).collect();
    let reads = |reader: usize, read: usize| mentions(&with.cte_tables[reader].query, &names[read]);
    let mut order: Vec<usize> = Vec::with_capacity(names.len());
    while order.len() < names.len() {
        let waits = |place: &usize| {
            let mut others = (0..names.len()).filter(|other| other != place);
            others.any(|other| !order.contains(&other) && reads(*place, other))
        };
        let mut left = (0..names.len()).filter(|place| !order.contains(place));
        let next = left.find(|place| !waits(place));
        order.push(next.ok_or_else(|| not_supported("mutual recursion between WITH queries"))?);
    }
    let mut queries: Vec<Option<Cte>> = with.cte_tables.drain(..).map(Some).collect();
    for place in order {
        if let Some(cte) = queries[place].take() {
            with.cte_tables.extend(arranged(cte)?);
        }
    }
    Ok(())
}

fn name_of(cte: &Cte) -> String {
    folded(&cte.alias.name)
}

/// The query as the planner takes it, behind those of its own `WITH`.
fn arranged(mut cte: Cte) -> Result<Vec<Cte>, Error> {
    let name = name_of(&cte);
    if !mentions(&cte.query, &name) {
        close(&mut cte);
        return Ok(vec![cte]);
    }
    check(&cte.query, &name)?;
    if let SetExpr::SetOperation { left, right, .. } = cte.query.body.as_mut() {
        open_decimals::widen(left, right);
        cast_twice(right);
    }
    let own = cte.query.with.take();
    let mut queries = own.map_or(Vec::new(), |with| with.cte_tables);
    queries.iter_mut().for_each(|own| {
        if !mentions(&own.query, &name_of(own)) {
            close(own);
        }
    });
    queries.push(cte);
    Ok(queries)
}

/// In parentheses, a `UNION` is none that reads itself.
fn close(cte: &mut Cte) {
    let is_union = matches!(
        cte.query.body.as_ref(),
        SetExpr::SetOperation {
            op: SetOperator::Union,
            ..
        }
    );
    if is_union {
        let inner = cte.query.as_ref().clone();
        *cte.query = Query {
            with: None,
            body: Box::new(SetExpr::Query(Box::new(inner))),
            order_by: None,
            limit_clause: None,
            fetch: None,
            locks: Vec::new(),
            for_clause: None,
            settings: None,
            format_clause: None,
            pipe_operators: Vec::new(),
        };
    }
}

/// The planner casts the columns of the recursive term to the types of the other's. What is cast here already is cast again, so that the
/// two can be told apart.
fn cast_twice(term: &mut SetExpr) {
    match term {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
                {
                    cast_again(expr);
                }
            }
        }
        SetExpr::Query(query) => cast_twice(&mut query.body),
        SetExpr::SetOperation { left, right, .. } => {
            cast_twice(left);
            cast_twice(right);
        }
        _ => {}
    }
}

fn cast_again(expr: &mut Expr) {
    if let Expr::Nested(inner) = expr {
        return cast_again(inner);
    }
    let mut again = expr.clone();
    if let Expr::Cast { expr: operand, .. } = &mut again {
        std::mem::swap(operand.as_mut(), expr);
        *expr = again;
    }
}

fn is_named(relation: &ObjectName, name: &str) -> bool {
    relation.0.len() == 1 && last_part(relation).is_some_and(|found| found == name)
}

fn mentions(tree: &impl Visit, name: &str) -> bool {
    let mut found = false;
    for_each_relation(tree, |relation| found |= is_named(relation, name));
    found
}

/// A query that reads itself.
fn check(query: &Query, name: &str) -> Result<(), Error> {
    let SetExpr::SetOperation {
        op: SetOperator::Union,
        left,
        right,
        ..
    } = query.body.as_ref()
    else {
        return Err(invalid(format!(
            "recursive query \"{}\" does not have the form non-recursive-term UNION [ALL] recursive-term",
            display(name)
        )));
    };
    let mut reader = SelfReferenceFinder {
        name,
        reference_count: 0,
    };
    reader.body(left, RecursionContext::NonRecursive)?;
    reader.body(right, RecursionContext::Recursive)?;
    for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
        reader.query(&cte.query, RecursionContext::Subquery)?;
    }
    let what = match (&query.order_by, &query.limit_clause, &query.fetch) {
        (Some(_), _, _) => "ORDER BY",
        (_, Some(LimitClause::LimitOffset { limit: None, .. }), None) => "OFFSET",
        (_, Some(_), _) | (_, _, Some(_)) => "LIMIT",
        (None, None, None) if query.locks.is_empty() => return Ok(()),
        (None, None, None) => "FOR UPDATE or FOR SHARE",
    };
    Err(not_supported(format!("{what} in a recursive query")))
}

/// `42P19`
fn invalid(text: impl Into<String>) -> Error {
    Error::new("42P19", text)
}

/// Where a query is read.
#[derive(Clone, Copy, PartialEq)]
enum RecursionContext {
    /// Where it may read itself.
    Recursive,
    NonRecursive,
    Subquery,
    OuterJoin,
    Except,
}

impl RecursionContext {
    /// The place within this one, unless that is wrong already.
    fn within(self, inner: RecursionContext) -> RecursionContext {
        match self {
            Self::Recursive => inner,
            other => other,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Recursive => "its recursive term",
            Self::NonRecursive => "its non-recursive term",
            Self::Subquery => "a subquery",
            Self::OuterJoin => "an outer join",
            Self::Except => "EXCEPT",
        }
    }
}

/// Looks for the places where a query reads itself.
struct SelfReferenceFinder<'n> {
    name: &'n str,
    reference_count: usize,
}

impl SelfReferenceFinder<'_> {
    fn query(&mut self, query: &Query, place: RecursionContext) -> Result<(), Error> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.query(&cte.query, place)?;
        }
        self.body(&query.body, place)?;
        self.expressions(&query.order_by)?;
        self.expressions(&query.limit_clause)
    }

    fn body(&mut self, body: &SetExpr, place: RecursionContext) -> Result<(), Error> {
        match body {
            SetExpr::Select(select) => self.select(select, place),
            SetExpr::Query(query) => self.query(query, place),
            SetExpr::SetOperation {
                left, op, right, ..
            } => {
                let right_place = match op {
                    SetOperator::Except | SetOperator::Minus => {
                        place.within(RecursionContext::Except)
                    }
                    _ => place,
                };
                self.body(left, place)?;
                self.body(right, right_place)
            }
            other => self.expressions(other),
        }
    }

    fn select(&mut self, select: &Select, place: RecursionContext) -> Result<(), Error> {
        let mut reads = false;
        for from in &select.from {
            reads |= self.joined(from, place)?;
        }
        let mut rest = select.clone();
        rest.from.clear();
        self.expressions(&rest)?;
        let aggregates = look_at_own_expressions(&rest, |expr| {
            if is_aggregate(expr) {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        });
        if reads && aggregates.is_break() {
            Err(invalid(
                "aggregate functions are not allowed in a recursive query's recursive term",
            ))
        } else {
            Ok(())
        }
    }

    /// Whether one of the tables is the query itself.
    fn joined(&mut self, from: &TableWithJoins, place: RecursionContext) -> Result<bool, Error> {
        let is_filled_up_from = |first: usize| {
            let mut later = from.joins[first..].iter();
            later.any(|join| keeps(&join.join_operator).1)
        };
        let place_of = |is_filled_up: bool| {
            if is_filled_up {
                place.within(RecursionContext::OuterJoin)
            } else {
                place
            }
        };
        let mut reads = self.factor(&from.relation, place_of(is_filled_up_from(0)))?;
        for (number, join) in from.joins.iter().enumerate() {
            let is_filled_up = keeps(&join.join_operator).0 || is_filled_up_from(number + 1);
            reads |= self.factor(&join.relation, place_of(is_filled_up))?;
            self.expressions(&join.join_operator)?;
        }
        Ok(reads)
    }

    fn factor(&mut self, factor: &TableFactor, place: RecursionContext) -> Result<bool, Error> {
        match factor {
            TableFactor::Table {
                name, args: None, ..
            } if is_named(name, self.name) => self.found(place).map(|()| true),
            TableFactor::Derived { subquery, .. } => self.query(subquery, place).map(|()| false),
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => self.joined(table_with_joins, place),
            other => self.expressions(other).map(|()| false),
        }
    }

    /// Expressions read the query in subqueries, if at all.
    fn expressions(&mut self, tree: &impl Visit) -> Result<(), Error> {
        if mentions(tree, self.name) {
            self.found(RecursionContext::Subquery)
        } else {
            Ok(())
        }
    }

    fn found(&mut self, place: RecursionContext) -> Result<(), Error> {
        self.reference_count += 1;
        let where_not = match place {
            RecursionContext::Recursive if self.reference_count == 1 => return Ok(()),
            RecursionContext::Recursive => "more than once".to_owned(),
            other => format!("within {}", other.words()),
        };
        let name = display(self.name);
        Err(invalid(format!(
            "recursive reference to query \"{name}\" must not appear {where_not}"
        )))
    }
}

/// Of which sides a join keeps rows that have no match.
fn keeps(operator: &JoinOperator) -> (bool, bool) {
    match operator {
        JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => (true, false),
        JoinOperator::Right(_) | JoinOperator::RightOuter(_) => (false, true),
        JoinOperator::FullOuter(_) => (true, true),
        _ => (false, false),
    }
}
