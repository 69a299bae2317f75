//! Subqueries in a select list that look up one thing for each row, such as a column's default, as joins.
//!
//! `SELECT (SELECT d.adbin FROM pg_attrdef d WHERE d.adnum = a.attnum) FROM pg_attribute a` becomes
//! `SELECT CASE WHEN m.found THEN d.adbin END FROM pg_attribute a LEFT JOIN (pg_attrdef d CROSS JOIN (SELECT true AS found) m) ON …`.
//! The planner knows such subqueries only with an aggregate and with equalities. PostgreSQL would refuse a second row; clients ask by keys.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    CaseWhen, Expr, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, Query, Select,
    SelectItem, SetExpr, TableAlias, TableFactor, TableWithJoins,
};
use quire_sql::names::{folded, last_part, with_suffix};
use quire_sql::output_columns::exists_to_count;
use quire_sql::parse::parse_query;
use quire_sql::walk::{change_expressions, change_own_expressions, look_at_own_expressions};

use super::super::specification::Specification;
use super::table_of;

const AGGREGATES: [&str; 12] = [
    "array_agg",
    "avg",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "json_agg",
    "max",
    "min",
    "string_agg",
    "sum",
    "json_object_agg",
];

/// Whether an expression computes something of several rows.
pub(super) fn has_aggregate(expr: &Expr) -> bool {
    let search = look_at_own_expressions(expr, |part| match part {
        Expr::Function(function)
            if function.over.is_none()
                && last_part(&function.name)
                    .is_some_and(|name| AGGREGATES.contains(&name.as_str())) =>
        {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    search.is_break()
}

/// `CROSS JOIN LATERAL (SELECT e) AS o(n)` goes, and `o.n` is `e`.
pub(super) fn inline_lateral(select: &mut Select) {
    let mut values = Vec::new();
    for from in &mut select.from {
        from.joins
            .retain(|join| match columns_of_lateral(&join.relation) {
                Some(columns) => {
                    values.extend(columns);
                    false
                }
                None => true,
            });
    }
    if values.is_empty() {
        return;
    }
    change_expressions(select, |expr| {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [table, column] = parts.as_slice()
        {
            let name = (folded(table), folded(column));
            if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
                *expr = Expr::Nested(Box::new(value.clone()));
            }
        }
    });
}

type Named = ((String, String), Expr);

/// What the columns of a subquery without tables are, under the names that the query around it knows.
fn columns_of_lateral(factor: &TableFactor) -> Option<Vec<Named>> {
    let TableFactor::Derived {
        lateral: true,
        subquery,
        alias: Some(alias),
        ..
    } = factor
    else {
        return None;
    };
    let SetExpr::Select(select) = subquery.body.as_ref() else {
        return None;
    };
    if !select.from.is_empty() || select.selection.is_some() {
        return None;
    }
    let table = folded(&alias.name);
    let items = select.projection.iter().enumerate().map(|(at, item)| {
        let renamed = alias.columns.get(at).map(|column| folded(&column.name));
        match item {
            SelectItem::ExprWithAlias { expr, alias } => {
                let name = renamed.unwrap_or_else(|| folded(alias));
                Some(((table.clone(), name), expr.clone()))
            }
            SelectItem::UnnamedExpr(expr) => Some(((table.clone(), renamed?), expr.clone())),
            _ => None,
        }
    });
    items.collect()
}

/// Numbers the subqueries of a statement, so that their tables have names of their own.
#[derive(Default)]
pub(super) struct Lookups {
    count: usize,
}

impl Lookups {
    /// Joins what subqueries of the select list and of the condition look up.
    pub(super) fn join(&mut self, select: &mut Select) {
        let is_grouped = match &select.group_by {
            GroupByExpr::Expressions(keys, _) => !keys.is_empty(),
            GroupByExpr::All(_) => true,
        };
        if select.from.is_empty() || is_grouped {
            return;
        }
        let mut joins = Vec::new();
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                change_own_expressions(expr, |part| {
                    // The planner knows no EXISTS in the select list.
                    exists_to_count(part);
                    self.look_up(part, &mut joins);
                });
            }
        }
        if let Some(condition) = &mut select.selection {
            change_own_expressions(condition, |part| self.look_up(part, &mut joins));
        }
        if joins.is_empty() {
            return;
        }
        let mut from = chained(std::mem::take(&mut select.from));
        if let Some(from) = &mut from {
            from.joins.extend(joins);
        }
        select.from.extend(from);
    }

    /// A subquery becomes the value of a table that is joined.
    fn look_up(&mut self, expr: &mut Expr, joins: &mut Vec<Join>) {
        if let Expr::Subquery(query) = &*expr
            && let Some((join, value)) = lookup(query, self.count)
        {
            self.count += 1;
            joins.push(join);
            // What is looked up inside of it is found when the walk goes on into it.
            *expr = value;
        }
    }
}

/// Several tables as one chain of joins.
fn chained(tables: Vec<TableWithJoins>) -> Option<TableWithJoins> {
    let mut tables = tables.into_iter();
    let mut first = tables.next()?;
    for table in tables {
        first.joins.push(Join {
            relation: table.relation,
            global: false,
            join_operator: JoinOperator::CrossJoin(JoinConstraint::None),
        });
        first.joins.extend(table.joins);
    }
    Some(first)
}

/// The tables of a subquery: the name in it, the name to have, and what columns there are.
struct Renamed {
    tables: Vec<(String, Ident, &'static Specification)>,
}

/// A subquery as a join and as the value to take from it.
fn lookup(query: &Query, number: usize) -> Option<(Join, Expr)> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let is_plain = query.with.is_none()
        && query.limit_clause.is_none()
        && select.having.is_none()
        && matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] =
        select.projection.as_slice()
    else {
        return None;
    };
    if !is_plain || has_aggregate(value) {
        return None;
    }
    let mut from = chained(select.from.clone())?;
    let mut renamed = Renamed { tables: Vec::new() };
    renamed.rename(&mut from.relation, number)?;
    for join in &mut from.joins {
        renamed.rename(&mut join.relation, number)?;
    }
    let mut value = value.clone();
    let mut condition = select.selection.clone()?;
    change_expressions(&mut value, |part| renamed.qualify(part));
    change_expressions(&mut condition, |part| renamed.qualify(part));
    change_expressions(&mut from, |part| renamed.qualify(part));
    let mark = Ident::with_quote('"', with_suffix("mark", number));
    from.joins.push(Join {
        relation: TableFactor::Derived {
            lateral: false,
            subquery: parse_query("SELECT true AS found").ok()?,
            alias: Some(alias(mark.clone())),
            sample: None,
        },
        global: false,
        join_operator: JoinOperator::CrossJoin(JoinConstraint::None),
    });
    let join = Join {
        relation: TableFactor::NestedJoin {
            table_with_joins: Box::new(from),
            alias: None,
        },
        global: false,
        join_operator: JoinOperator::LeftOuter(JoinConstraint::On(condition)),
    };
    Some((join, if_found(mark, value)))
}

/// `CASE WHEN mark.found THEN value END`
fn if_found(mark: Ident, value: Expr) -> Expr {
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen {
            condition: Expr::CompoundIdentifier(vec![mark, Ident::new("found")]),
            result: value,
        }],
        else_result: None,
    }
}

fn alias(name: Ident) -> TableAlias {
    TableAlias {
        explicit: true,
        name,
        columns: Vec::new(),
        at: None,
    }
}

impl Renamed {
    fn rename(&mut self, factor: &mut TableFactor, number: usize) -> Option<()> {
        let TableFactor::Table {
            name,
            alias: known,
            args: None,
            ..
        } = factor
        else {
            return None;
        };
        let table = table_of(name)?;
        let old = known
            .as_ref()
            .map_or_else(|| table.name.to_owned(), |alias| folded(&alias.name));
        let new = Ident::with_quote('"', with_suffix(&old, number));
        *known = Some(alias(new.clone()));
        self.tables.push((old, new, table));
        Some(())
    }

    /// A column gets the new name of its table.
    fn qualify(&self, expr: &mut Expr) {
        let mut tables = self.tables.iter();
        match expr {
            Expr::CompoundIdentifier(parts) => {
                let Some((column, qualifiers)) = parts.split_last() else {
                    return;
                };
                let qualifier = qualifiers.last().map(folded).unwrap_or_default();
                if let Some((_, new, _)) = tables.find(|(old, ..)| *old == qualifier) {
                    *parts = vec![new.clone(), column.clone()];
                }
            }
            Expr::Identifier(ident) => {
                let name = folded(ident);
                if let Some((_, new, _)) = tables.find(|(.., table)| table.has_column(&name)) {
                    *expr = Expr::CompoundIdentifier(vec![new.clone(), ident.clone()]);
                }
            }
            _ => {}
        }
    }
}
