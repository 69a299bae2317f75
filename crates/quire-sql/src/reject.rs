//! Refuses what would otherwise be silently ignored or answered wrongly.
//!
//! DataFusion's planner reads past some clauses (`FOR UPDATE`, `TABLESAMPLE`, hints), treats
//! `EXCEPT ALL` and `INTERSECT ALL` as sets of a kind, and takes `SELECT INTO` apart in ways that
//! only its own session understands. A wrong answer is worse than none: each of them is an error.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Join, JoinConstraint, JoinOperator, ObjectName, Query, Select, SetExpr, SetOperator,
    SetQuantifier, Statement, TableFactor, Value, Visitor,
};
use quire_error::Error;

use super::parse::changes_rows;
use super::walk::{for_each_expression, walk};
use super::{grouping_sets, named_windows, positions, row_comparison, rows_in_subqueries};

/// Checks every query inside `statement`.
pub fn check(statement: &Statement) -> Result<(), Error> {
    let mut inspector = Inspector { refused: None };
    let _ = walk(statement, &mut inspector);
    inspector.refused.map_or(Ok(()), Err)
}

/// Checks the expressions inside `statement` alone.
pub fn check_expressions(statement: &Statement) -> Result<(), Error> {
    let mut checked = Ok(());
    for_each_expression(statement, |expr| {
        if checked.is_ok() {
            checked = check_expression(expr);
        }
    });
    checked
}

/// Refuses a FETCH that is more than a LIMIT. Rewriting makes a LIMIT of every FETCH, so it must be asked before.
pub fn check_fetch(query: &Query) -> Result<(), Error> {
    let fetch = query.fetch.as_ref();
    let is_more = fetch.is_some_and(|fetch| fetch.with_ties || fetch.percent);
    refuse_if(is_more, "FETCH with PERCENT or WITH TIES")
}

/// `0A000`: correct SQL that is not implemented.
pub fn not_supported(what: impl std::fmt::Display) -> Error {
    Error::new("0A000", format!("{what} is not supported"))
}

/// Stops at the first thing that is refused.
struct Inspector {
    refused: Option<Error>,
}

impl Inspector {
    fn go_on_if(&mut self, checked: Result<(), Error>) -> ControlFlow<()> {
        self.refused = checked.err();
        match self.refused {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

impl Visitor for Inspector {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.go_on_if(check_query(query))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.go_on_if(check_select(select))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.go_on_if(check_expression(expr))
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        self.go_on_if(check_table_factor(factor))
    }
}

/// Collations that order by bytes, as everything is.
const BYTE_ORDERS: [&str; 4] = ["default", "c", "posix", "ucs_basic"];

/// Whether a collation is that of all text.
pub fn is_byte_order(collation: &ObjectName) -> bool {
    let name = collation.0.last().and_then(|part| part.as_ident());
    name.is_some_and(|name| BYTE_ORDERS.contains(&&*name.value.to_lowercase()))
}

fn check_expression(expr: &Expr) -> Result<(), Error> {
    match expr {
        Expr::Collate { collation, .. } if !is_byte_order(collation) => {
            Err(not_supported(format!("the collation {collation}"))
                .with_hint("Text is ordered by its bytes; lower(x) makes letters alike."))
        }
        Expr::SimilarTo { pattern, .. } if !is_text(pattern) => {
            Err(not_supported("SIMILAR TO with a pattern that is computed")
                .with_hint("Use ~ with a regular expression."))
        }
        Expr::RLike { .. } => Err(not_supported("RLIKE").with_hint("Use ~ instead.")),
        other => {
            rows_in_subqueries::check(other)?;
            row_comparison::check(other)
        }
    }
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

fn refuse_if(condition: bool, what: &str) -> Result<(), Error> {
    if condition {
        Err(not_supported(what))
    } else {
        Ok(())
    }
}

fn check_query(query: &Query) -> Result<(), Error> {
    refuse_if(
        !query.locks.is_empty(),
        "a locking clause such as FOR UPDATE",
    )?;
    refuse_if(
        query.for_clause.is_some(),
        "FOR XML, FOR JSON or FOR BROWSE",
    )?;
    refuse_if(query.settings.is_some(), "SETTINGS in a query")?;
    refuse_if(query.format_clause.is_some(), "FORMAT in a query")?;
    check_fetch(query)?;
    positions::check_order(query)?;
    check_set_expression(&query.body)
}

fn check_select(select: &Select) -> Result<(), Error> {
    if select.into.is_some() {
        return Err(
            not_supported("SELECT INTO").with_hint("Use CREATE TABLE name AS SELECT instead.")
        );
    }
    refuse_if(select.prewhere.is_some(), "PREWHERE")?;
    refuse_if(!select.connect_by.is_empty(), "CONNECT BY")?;
    refuse_if(!select.distribute_by.is_empty(), "DISTRIBUTE BY")?;
    refuse_if(
        select.value_table_mode.is_some(),
        "SELECT AS VALUE or AS STRUCT",
    )?;
    refuse_if(select.select_modifiers.is_some(), "this modifier of SELECT")?;
    for from in &select.from {
        from.joins.iter().try_for_each(check_join)?;
    }
    positions::check_select(select)?;
    named_windows::check(select)?;
    grouping_sets::check(select)
}

/// A join that has no condition where the grammar wants one, or one where it wants none.
fn check_join(join: &Join) -> Result<(), Error> {
    let (constraint, wants_one) = match &join.join_operator {
        JoinOperator::CrossJoin(constraint) => (constraint, false),
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::Semi(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::RightSemi(constraint)
        | JoinOperator::Anti(constraint)
        | JoinOperator::LeftAnti(constraint)
        | JoinOperator::RightAnti(constraint) => (constraint, true),
        _ => return Err(not_supported(format!("{join}"))),
    };
    let has_one = !matches!(constraint, JoinConstraint::None);
    if has_one == wants_one {
        return Ok(());
    }
    let (text, hint) = if wants_one {
        ("JOIN", "Add ON or USING, or say CROSS JOIN.")
    } else {
        ("CROSS JOIN", "CROSS JOIN has no condition: say JOIN … ON.")
    };
    let text = format!("syntax error at or near \"{text} {}\"", join.relation);
    Err(Error::new("42601", text).with_hint(hint))
}

fn check_table_factor(factor: &TableFactor) -> Result<(), Error> {
    match factor {
        TableFactor::Table {
            with_hints,
            version,
            with_ordinality,
            partitions,
            json_path,
            sample,
            index_hints,
            ..
        } => {
            refuse_if(sample.is_some(), "TABLESAMPLE")?;
            refuse_if(
                !with_hints.is_empty() || !index_hints.is_empty(),
                "a table hint",
            )?;
            refuse_if(version.is_some(), "a table version")?;
            refuse_if(*with_ordinality, "WITH ORDINALITY")?;
            refuse_if(!partitions.is_empty(), "PARTITION after a table")?;
            refuse_if(json_path.is_some(), "a path into a table")
        }
        TableFactor::Derived { sample, .. } => refuse_if(sample.is_some(), "TABLESAMPLE"),
        TableFactor::NestedJoin {
            table_with_joins, ..
        } => table_with_joins.joins.iter().try_for_each(check_join),
        _ => Ok(()),
    }
}

fn check_set_expression(body: &SetExpr) -> Result<(), Error> {
    match body {
        SetExpr::SetOperation {
            left,
            op,
            set_quantifier,
            right,
        } => {
            let is_bag = matches!(
                set_quantifier,
                SetQuantifier::All | SetQuantifier::AllByName
            );
            if is_bag && !matches!(op, SetOperator::Union) {
                let error = not_supported(format!("{op} ALL")).with_hint(format!(
                    "{op} without ALL returns the distinct rows; to count duplicates, number them \
                     with row_number() OVER (PARTITION BY all columns) on both sides."
                ));
                return Err(error);
            }
            check_set_expression(left)?;
            check_set_expression(right)
        }
        body if changes_rows(body) => {
            refuse_if(true, "a statement that changes data inside a query")
        }
        _ => Ok(()),
    }
}
