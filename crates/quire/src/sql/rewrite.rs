//! Changes to the syntax tree before planning, each closing a gap of the planner:
//!
//! 1. `FETCH FIRST n ROWS ONLY` becomes `LIMIT n`.
//! 2. `CAST(x AS VARCHAR(n))` cuts to n characters, as PostgreSQL does; the planner drops the n.
//! 3. Output columns of equal name get an internal suffix, because the planner demands unique
//!    names; [`super::names::display`] takes it off again.
//! 4. A file in place of a table, `FROM 'trips.csv'`, becomes a quoted name and is reported.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    CastKind, CharacterLength, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, LimitClause, ObjectName, ObjectNamePart, Query,
    Select, SelectItem, Statement, TableFactor, Value, VisitMut, VisitorMut,
};

use super::names;

/// Rewrites `statement` in place; returns the files it reads as tables.
pub(crate) fn rewrite(statement: &mut Statement) -> Vec<String> {
    let mut rewriter = Rewriter::default();
    // The rewriter never breaks off.
    let _ = statement.visit(&mut rewriter);
    rewriter.files
}

#[derive(Default)]
struct Rewriter {
    files: Vec<String>,
}

impl VisitorMut for Rewriter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        fetch_to_limit(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        make_names_unique(&mut select.projection);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table {
            name, args: None, ..
        } = factor
            && let [ObjectNamePart::Identifier(ident)] = name.0.as_mut_slice()
            && ident.quote_style == Some('\'')
        {
            ident.quote_style = Some('"');
            self.files.push(ident.value.clone());
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        cut_to_length(expr);
        ControlFlow::Continue(())
    }
}

fn fetch_to_limit(query: &mut Query) {
    let Some(fetch) = query.fetch.take() else {
        return;
    };
    let one = || Expr::Value(Value::Number("1".to_owned(), false).into());
    let rows = fetch.quantity.unwrap_or_else(one);
    match &mut query.limit_clause {
        Some(LimitClause::LimitOffset {
            limit: limit @ None,
            ..
        }) => *limit = Some(rows),
        clause => {
            *clause = Some(LimitClause::LimitOffset {
                limit: Some(rows),
                offset: None,
                limit_by: Vec::new(),
            });
        }
    }
}

/// `CAST(x AS VARCHAR(n))` → `left(CAST(x AS TEXT), n)`.
fn cut_to_length(expr: &mut Expr) {
    let Expr::Cast {
        kind,
        data_type,
        array: false,
        format: None,
        ..
    } = expr
    else {
        return;
    };
    let length = match data_type {
        DataType::Varchar(Some(length))
        | DataType::CharacterVarying(Some(length))
        | DataType::CharVarying(Some(length)) => length_of(length),
        DataType::Char(length) | DataType::Character(length) => {
            length.as_ref().map_or(Some(1), length_of)
        }
        _ => None,
    };
    let Some(length) = length else { return };
    if !matches!(kind, CastKind::Cast | CastKind::DoubleColon) {
        return;
    }
    *data_type = DataType::Text;
    let text = std::mem::replace(expr, Expr::Value(Value::Null.into()));
    let count = Expr::Value(Value::Number(length.to_string(), false).into());
    *expr = call("left", [text, count]);
}

fn length_of(length: &CharacterLength) -> Option<u64> {
    match length {
        CharacterLength::IntegerLength { length, .. } => Some(*length),
        CharacterLength::Max => None,
    }
}

fn call(name: &str, arguments: [Expr; 2]) -> Expr {
    let args = arguments.map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.to_vec(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Gives a suffixed alias to every item whose name an earlier item has. Beside a wildcard, whose
/// names are not known here, every column named on its own gets one.
fn make_names_unique(projection: &mut [SelectItem]) {
    let has_wildcard = projection.len() > 1
        && projection.iter().any(|i| {
            matches!(
                i,
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
            )
        });
    let mut seen = HashSet::new();
    for (position, item) in projection.iter_mut().enumerate() {
        let (expr, name) = match item {
            SelectItem::UnnamedExpr(expr) => (expr.clone(), names::planner_name(expr)),
            SelectItem::ExprWithAlias { expr, alias } => (expr.clone(), names::folded(alias)),
            _ => continue,
        };
        let is_column = matches!(item, SelectItem::UnnamedExpr(e) if names::is_column(e));
        if !seen.insert(name.clone()) || (has_wildcard && is_column) {
            let shown = match item {
                SelectItem::UnnamedExpr(expr) => names::of_expression(expr),
                _ => name,
            };
            let alias = Ident::with_quote('"', names::with_suffix(&shown, position));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
    }
}
