//! Changes to the syntax tree before planning, each closing a gap of the planner:
//!
//! 1. `FETCH FIRST n ROWS ONLY` becomes `LIMIT n`.
//! 2. `CAST(x AS VARCHAR(n))` cuts to n characters, as PostgreSQL does; the planner drops the n. Blanks behind a `CHAR(n)` mean nothing.
//!    A number with an exponent is a DOUBLE PRECISION; `mod(a, b)` is `a % b`.
//!    `LIKE 'a/_' ESCAPE '/'` is `LIKE 'a\_'`.
//! 3. Output columns ([`super::output_columns`]) get unique names, those of outer queries ([`super::outer_columns`]) their own.
//! 4. Texts in `VALUES`, arrays and choices have the type written beside them ([`super::typed_neighbours`]); comparisons with arrays become lists ([`super::arrays`]);
//!    `ARRAY(SELECT …)` is a subquery with an aggregate ([`super::array_subqueries`]).
//! 5. `SIMILAR TO` is a regular expression ([`super::similar`]), `-2 ^ 2` is `(-2) ^ 2`, `~a` is `a # -1`, and
//!    `generate_series` among the columns of a `SELECT` gives rows.
//! 6. Functions that the planner knows by other names ([`super::renamed_functions`]); `U&'…'` is a text, `a ^@ b` is `starts_with(a, b)`.
//! 7. A row looked for in a subquery is compared field by field ([`super::rows_in_subqueries`]).
//! 8. Comparisons of rows become conditions on their fields ([`super::row_comparison`]).
//! 9. `generate_series` over points in time is a function of ours that gives an array ([`super::time_series`]).
//! 10. `GROUP BY` with grouping sets is one list of them ([`super::grouping_sets`]); `DISTINCT ON (1)` and `array_agg(a ORDER BY 1)` are told apart
//!     ([`super::positions`]), and keys of `DISTINCT ON` come in the order of the rows ([`super::distinct_keys`]).
//! 11. Windows that build on others are written out ([`super::named_windows`]), and offsets of frames as the planner reads them
//!     ([`super::frame_offsets`]).
//! 12. A function that gives rows of one column names it as it is called itself: `generate_series(1, 3) AS g` has the column `g`.
//! 13. Output columns are not what expressions in `ORDER BY` and `HAVING` mean ([`super::alias_scopes`]).
//! 14. A file in place of a table, `FROM 'trips.csv'`, becomes a quoted name and is reported ([`super::file_relations`]).

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, CharacterLength, DataType, Expr, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, LimitClause, Query, Select, SelectItem, Statement,
    TableAliasColumnDef, TableFactor, UnaryOperator, Value, VisitorMut,
};

use super::calls::{call, cast};
use super::walk::walk_mut;
use super::{
    alias_scopes, array_subqueries, arrays, distinct_keys, file_relations, frame_offsets,
    grouping_sets, named_windows, names, outer_columns, output_columns, positions,
    renamed_functions, row_comparison, rows_in_subqueries, similar, time_series, typed_neighbours,
};
use crate::file_relations::FileRelation;
use crate::names::last_part;

/// Rewrites `statement` in place; returns the files it reads as tables.
pub fn rewrite(statement: &mut Statement) -> Vec<FileRelation> {
    let mut rewriter = FileTableRewriter {
        is_for_columns: matches!(statement, Statement::Insert(_)),
        ..FileTableRewriter::default()
    };
    outer_columns::rewrite(statement);
    // The rewriter never breaks off.
    let _ = walk_mut(statement, &mut rewriter);
    rewriter.files
}

/// Rewrites an expression that is planned by itself.
pub fn rewrite_expression(expr: &mut Expr) {
    let _ = walk_mut(expr, &mut FileTableRewriter::default());
}

#[derive(Default)]
struct FileTableRewriter {
    files: Vec<FileRelation>,
    /// Queries around the place.
    depth: usize,
    /// Whether the outermost query is for the columns of a table, whose types its `VALUES` take.
    is_for_columns: bool,
}

impl VisitorMut for FileTableRewriter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        fetch_to_limit(query);
        distinct_keys::rewrite(query);
        if self.depth > 0 || !self.is_for_columns {
            typed_neighbours::rewrite_values(query);
        }
        named_windows::rewrite_query(query);
        alias_scopes::rewrite(query, self.depth > 0);
        self.depth += 1;
        output_columns::order_by_position(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        named_windows::rewrite(select);
        for condition in [&mut select.selection, &mut select.having] {
            condition.iter_mut().for_each(condition_to_boolean);
        }
        select.projection.iter_mut().for_each(series_to_rows);
        output_columns::rewrite(&mut select.projection);
        grouping_sets::rewrite(select);
        positions::rewrite(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        frame_offsets::rewrite_named(select);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        self.files.extend(file_relations::take(factor));
        time_series::as_rows(factor);
        series_column(factor);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        positions::constants_in_call(expr);
        row_comparison::rewrite(expr);
        typed_neighbours::rewrite_choices(expr);
        array_subqueries::rewrite(expr);
        arrays::rewrite(expr);
        rows_in_subqueries::rewrite(expr);
        cut_to_length(expr);
        exponent_to_double(expr);
        mod_to_operator(expr);
        escape_to_backslash(expr);
        similar::to_regular_expression(expr);
        minus_before_power(expr);
        complement(expr);
        time_series::rename(expr);
        renamed_functions::rewrite(expr);
        frame_offsets::rewrite(expr);
        plain_text(expr);
        starts_with(expr);
        ControlFlow::Continue(())
    }
}

/// `WHERE 'true'` → `WHERE CAST('true' AS BOOLEAN)`
fn condition_to_boolean(condition: &mut Expr) {
    if let Expr::Value(value) = condition
        && matches!(value.value, Value::SingleQuotedString(_))
    {
        *condition = cast(Expr::Value(value.clone()), DataType::Boolean);
    }
}

/// `SELECT generate_series(1, 3)` → `SELECT unnest(generate_series(1, 3)) AS generate_series`
fn series_to_rows(item: &mut SelectItem) {
    let is_series = |expr: &Expr| match expr {
        Expr::Function(function) => {
            last_part(&function.name).is_some_and(|name| name == "generate_series")
        }
        _ => false,
    };
    match item {
        SelectItem::UnnamedExpr(expr) if is_series(expr) => {
            let series = std::mem::replace(expr, Expr::Value(Value::Null.into()));
            *item = SelectItem::ExprWithAlias {
                expr: call("unnest", vec![series]),
                alias: Ident::new("generate_series"),
            };
        }
        SelectItem::ExprWithAlias { expr, .. } if is_series(expr) => {
            let series = std::mem::replace(expr, Expr::Value(Value::Null.into()));
            *expr = call("unnest", vec![series]);
        }
        _ => {}
    }
}

/// `generate_series(1, 3) AS g` → `generate_series(1, 3) AS g(g)`, and so for `unnest`.
fn series_column(factor: &mut TableFactor) {
    let alias = match factor {
        TableFactor::Table {
            name,
            alias: Some(alias),
            args: Some(_),
            ..
        }
        | TableFactor::Function {
            name,
            alias: Some(alias),
            ..
        } if last_part(name).is_some_and(|name| name == "generate_series") => alias,
        TableFactor::UNNEST {
            alias: Some(alias),
            array_exprs,
            with_offset: false,
            with_ordinality: false,
            ..
        } if array_exprs.len() == 1 => alias,
        _ => return,
    };
    if alias.columns.is_empty() {
        alias.columns.push(TableAliasColumnDef {
            name: alias.name.clone(),
            data_type: None,
        });
    }
}

/// `-a ^ b`, which the parser takes for `-(a ^ b)`, is `(-a) ^ b`.
fn minus_before_power(expr: &mut Expr) {
    if let Expr::UnaryOp {
        op: UnaryOperator::Minus,
        expr: inner,
    } = expr
        && let Expr::BinaryOp {
            left,
            op: BinaryOperator::PGExp,
            ..
        } = inner.as_mut()
    {
        let base = std::mem::replace(left.as_mut(), Expr::Value(Value::Null.into()));
        **left = Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: Box::new(base),
        };
        let power = std::mem::replace(inner.as_mut(), Expr::Value(Value::Null.into()));
        *expr = power;
    }
}

/// `~a` → `(a # CAST(-1 AS SMALLINT))`, which has the type of `a`.
fn complement(expr: &mut Expr) {
    if let Expr::UnaryOp {
        op: UnaryOperator::BitwiseNot,
        expr: operand,
    } = expr
    {
        let one = Expr::Value(Value::Number("1".to_owned(), false).into());
        let minus_one = Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: Box::new(one),
        };
        let ones = cast(minus_one, DataType::SmallInt(None));
        let operand = std::mem::replace(operand.as_mut(), Expr::Value(Value::Null.into()));
        *expr = Expr::Nested(Box::new(Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(operand))),
            op: BinaryOperator::PGBitwiseXor,
            right: Box::new(ones),
        }));
    }
}

/// `U&'\0061'`, whose escapes the parser has resolved.
fn plain_text(expr: &mut Expr) {
    if let Expr::Value(value) = expr
        && let Value::UnicodeStringLiteral(text) = &mut value.value
    {
        value.value = Value::SingleQuotedString(std::mem::take(text));
    }
}

fn starts_with(expr: &mut Expr) {
    if let Expr::BinaryOp {
        left,
        op: BinaryOperator::PGStartsWith,
        right,
    } = expr
    {
        let arguments = vec![left.as_ref().clone(), right.as_ref().clone()];
        *expr = call("starts_with", arguments);
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

/// `CAST(x AS VARCHAR(n))` → `left(CAST(x AS TEXT), n)`, and of a `CHAR(n)` without the blanks behind it.
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
    let has_blanks = matches!(data_type, DataType::Char(_) | DataType::Character(_));
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
    let cut = call("left", vec![text, count]);
    *expr = if has_blanks {
        call("rtrim", vec![cut])
    } else {
        cut
    };
}

/// `1e300` → `CAST('1e300' AS DOUBLE PRECISION)`: the planner would make a decimal of it.
fn exponent_to_double(expr: &mut Expr) {
    let Expr::Value(value) = expr else { return };
    let Value::Number(digits, _) = &value.value else {
        return;
    };
    if digits.contains(['e', 'E']) {
        let text = Expr::Value(Value::SingleQuotedString(digits.clone()).into());
        *expr = cast(text, DataType::DoublePrecision);
    }
}

/// `mod(a, b)` → `(a % b)`
fn mod_to_operator(expr: &mut Expr) {
    let Expr::Function(function) = expr else {
        return;
    };
    let FunctionArguments::List(list) = &mut function.args else {
        return;
    };
    let is_mod = names::last_part(&function.name).is_some_and(|name| name == "mod");
    if let (
        [
            FunctionArg::Unnamed(FunctionArgExpr::Expr(left)),
            FunctionArg::Unnamed(FunctionArgExpr::Expr(right)),
        ],
        true,
    ) = (list.args.as_slice(), is_mod)
    {
        let nested = |operand: &Expr| Box::new(Expr::Nested(Box::new(operand.clone())));
        let (left, op, right) = (nested(left), BinaryOperator::Modulo, nested(right));
        *expr = Expr::Nested(Box::new(Expr::BinaryOp { left, op, right }));
    }
}

/// The planner knows one character that takes the meaning from `%` and `_`.
fn escape_to_backslash(expr: &mut Expr) {
    let (Expr::Like {
        pattern,
        escape_char,
        ..
    }
    | Expr::ILike {
        pattern,
        escape_char,
        ..
    }) = expr
    else {
        return;
    };
    let Some(Value::SingleQuotedString(escape)) = escape_char.as_ref().map(|value| &value.value)
    else {
        return;
    };
    let mut escapes = escape.chars();
    if let (Some(escape), None) = (escapes.next(), escapes.next())
        && escape_pattern(pattern, escape)
    {
        *escape_char = None;
    }
}

/// The same of a pattern that is made of texts; `false` if it has other parts.
fn escape_pattern(pattern: &mut Expr, escape: char) -> bool {
    let text = match pattern {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => {
            return escape_pattern(inner, escape);
        }
        Expr::BinaryOp {
            left,
            op: BinaryOperator::StringConcat,
            right,
        } => {
            let mut both = (left.clone(), right.clone());
            let is_done =
                escape_pattern(&mut both.0, escape) && escape_pattern(&mut both.1, escape);
            if is_done {
                (*left, *right) = both;
            }
            return is_done;
        }
        Expr::Value(text) => text,
        _ => return false,
    };
    let Value::SingleQuotedString(letters) = &text.value else {
        return false;
    };
    let mut plain = String::new();
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        match letter {
            letter if letter == escape => {
                plain.push('\\');
                plain.extend(rest.next());
            }
            '\\' => plain.push_str("\\\\"),
            letter => plain.push(letter),
        }
    }
    text.value = Value::SingleQuotedString(plain);
    true
}

fn length_of(length: &CharacterLength) -> Option<u64> {
    match length {
        CharacterLength::IntegerLength { length, .. } => Some(*length),
        CharacterLength::Max => None,
    }
}
