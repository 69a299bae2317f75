//! What clients say about the catalog in words that the planner does not know, said otherwise. Only statements that name a table,
//! a function or a type of the catalog are touched.
//!
//! 1. `pg_catalog.` before functions goes, and so does `COLLATE`; `OPERATOR(pg_catalog.~)` is the operator itself.
//! 2. Types that only catalogs have become those that hold their values: `oid` is an unsigned integer, `name` a text. A cast to
//!    `regclass` and the like is a function that gives the number, or the name where text or the output wants that.
//! 3. A `SELECT` from a table that is always empty has no rows ([`empty`]).
//! 4. Subqueries that look one thing up become joins ([`subqueries`]).
//! 5. `tableoid` of a table of the catalog is its number ([`table_numbers`]).

mod empty;
mod subqueries;
mod table_numbers;

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, FunctionArguments, Ident,
    ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor, Value, Visitor,
    VisitorMut,
};
use quire_sql::calls::call;
use quire_sql::names;
use quire_sql::names::folded;
use quire_sql::names::last_part;
use quire_sql::reject;
use quire_sql::walk::{walk, walk_mut};

use super::{SCHEMAS, functions, specification};

/// Whether the statement asks the catalog.
fn asks_catalog(statement: &Statement) -> bool {
    walk(statement, &mut CatalogNameFinder).is_break()
}

/// The schema and the name of a relation.
fn parts(name: &ObjectName) -> Option<(Option<String>, String)> {
    let last = last_part(name)?;
    let schema = name.0.len().checked_sub(2).and_then(|at| name.0.get(at));
    let schema = schema.and_then(|part| part.as_ident()).map(folded);
    Some((schema, last))
}

/// The table of the catalog that a name means, if it may.
fn table_of(name: &ObjectName) -> Option<&'static specification::Specification> {
    let (schema, name) = parts(name)?;
    specification::find(schema.as_deref(), &name)
}

/// Looks for a name of the catalog.
struct CatalogNameFinder;

impl Visitor for CatalogNameFinder {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let schema = parts(relation).and_then(|(schema, _)| schema);
        if schema.is_some_and(|schema| SCHEMAS.contains(&schema.as_str()))
            || table_of(relation).is_some()
        {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let is_ours = match expr {
            Expr::Function(function) => parts(&function.name).is_some_and(|(schema, name)| {
                schema.as_deref() == Some(super::PG_CATALOG) || functions::is_known(&name)
            }),
            Expr::Cast { data_type, .. } => catalog_type(data_type).is_some(),
            Expr::Identifier(ident) => is_reserved_function(ident),
            Expr::Collate { .. } => true,
            Expr::BinaryOp { op, .. } => matches!(op, BinaryOperator::PGCustomBinaryOperator(_)),
            _ => false,
        };
        if is_ours {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Functions that are called without parentheses, and that the parser takes for columns.
fn is_reserved_function(ident: &Ident) -> bool {
    ident.quote_style.is_none()
        && ["current_schema", "current_role", "current_catalog"].contains(&folded(ident).as_str())
}

/// Rewrites a statement if it asks the catalog; says whether it does.
pub(crate) fn rewrite(statement: &mut Statement) -> bool {
    if !asks_catalog(statement) {
        return false;
    }
    // The rewriter never breaks off.
    let _ = walk_mut(statement, &mut CatalogRewriter::default());
    if let Statement::Query(query) = statement {
        name_references(&mut query.body);
    }
    true
}

#[derive(Default)]
struct CatalogRewriter {
    lookups: subqueries::Lookups,
}

impl VisitorMut for CatalogRewriter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        empty::rewrite(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        table_numbers::rewrite(select);
        subqueries::inline_lateral(select);
        self.lookups.join(select);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table {
            name,
            args: Some(_),
            ..
        }
        | TableFactor::Function { name, .. } = factor
        {
            unqualify(name);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Collate {
                expr: inner,
                collation,
            } if reject::is_byte_order(collation) => {
                let inner = std::mem::replace(inner.as_mut(), null());
                *expr = inner;
            }
            Expr::BinaryOp { op, .. } => {
                if let BinaryOperator::PGCustomBinaryOperator(names) = op
                    && let Some(plain) = names.last().and_then(|name| plain_operator(name))
                {
                    *op = plain;
                }
            }
            Expr::Identifier(ident) if is_reserved_function(ident) => {
                *expr = call(&folded(ident), Vec::new());
            }
            Expr::Function(function) => {
                unqualify(&mut function.name);
                rewrite_function(expr);
            }
            Expr::Cast { .. } => rewrite_cast(expr),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

/// `pg_catalog.f` → `f`
fn unqualify(name: &mut ObjectName) {
    if let Some((Some(schema), _)) = parts(name)
        && schema == super::PG_CATALOG
    {
        name.0.drain(..name.0.len() - 1);
    }
}

fn plain_operator(name: &str) -> Option<BinaryOperator> {
    Some(match name {
        "~" => BinaryOperator::PGRegexMatch,
        "~*" => BinaryOperator::PGRegexIMatch,
        "!~" => BinaryOperator::PGRegexNotMatch,
        "!~*" => BinaryOperator::PGRegexNotIMatch,
        "~~" => BinaryOperator::PGLikeMatch,
        "!~~" => BinaryOperator::PGNotLikeMatch,
        "=" => BinaryOperator::Eq,
        "<>" | "!=" => BinaryOperator::NotEq,
        "<" => BinaryOperator::Lt,
        "<=" => BinaryOperator::LtEq,
        ">" => BinaryOperator::Gt,
        ">=" => BinaryOperator::GtEq,
        "+" => BinaryOperator::Plus,
        "-" => BinaryOperator::Minus,
        "||" => BinaryOperator::StringConcat,
        _ => return None,
    })
}

/// `ARRAY(SELECT x …)` → `(SELECT array_agg(x) …)`; what gives rows is unnested.
fn rewrite_function(expr: &mut Expr) {
    let Expr::Function(function) = expr else {
        return;
    };
    let name = last_part(&function.name).unwrap_or_default();
    match (&mut function.args, name.as_str()) {
        (FunctionArguments::Subquery(query), "array") if unnests_options(query) => {
            *expr = Expr::Cast {
                kind: CastKind::Cast,
                expr: Box::new(null()),
                data_type: list_of(DataType::Text),
                array: false,
                format: None,
            };
        }
        (FunctionArguments::Subquery(query), "array") => {
            let mut query = query.clone();
            if let SetExpr::Select(select) = query.body.as_mut()
                && let [
                    SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. },
                ] = select.projection.as_mut_slice()
            {
                *item = call("array_agg", vec![std::mem::replace(item, null())]);
                query.order_by = None;
                *expr = Expr::Subquery(query);
            }
        }
        (_, "pg_partition_ancestors" | "generate_subscripts") => {
            let inner = std::mem::replace(expr, null());
            *expr = call("unnest", vec![inner]);
        }
        _ => {}
    }
}

/// Whether a query takes the options of a relation apart; psql does it with those of TOAST tables, and there are none.
fn unnests_options(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    let is_it = |factor: &TableFactor| match factor {
        TableFactor::Table { args, .. } => {
            let args = args.iter().flat_map(|args| &args.args);
            args.into_iter()
                .any(|argument| argument.to_string().ends_with("reloptions"))
        }
        TableFactor::Function { args, .. } => args
            .iter()
            .any(|argument| argument.to_string().ends_with("reloptions")),
        _ => false,
    };
    select.from.iter().any(|from| is_it(&from.relation))
}

fn list_of(element: DataType) -> DataType {
    DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(element), None))
}

/// What a cast to a type of the catalog becomes.
enum CatalogType {
    /// Another type.
    Plain(DataType),
    /// A function of this name.
    Reference(&'static str),
}

fn catalog_type(data_type: &DataType) -> Option<CatalogType> {
    let name = match data_type {
        DataType::Regclass => return Some(CatalogType::Reference("regclass")),
        DataType::Custom(name, _) => parts(name)?.1,
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, size)) => {
            let element = match catalog_type(element)? {
                CatalogType::Plain(element) => element,
                CatalogType::Reference(_) => DataType::IntUnsigned(None),
            };
            let element = ArrayElemTypeDef::SquareBracket(Box::new(element), *size);
            return Some(CatalogType::Plain(DataType::Array(element)));
        }
        _ => return None,
    };
    Some(match name.as_str() {
        "regclass" => CatalogType::Reference("regclass"),
        "regtype" => CatalogType::Reference("regtype"),
        "regnamespace" => CatalogType::Reference("regnamespace"),
        "regproc" | "regprocedure" => CatalogType::Reference("regproc"),
        "regrole" => CatalogType::Reference("regrole"),
        "oid" | "xid" | "cid" => CatalogType::Plain(DataType::IntUnsigned(None)),
        "name" | "text" | "char" | "cstring" | "varchar" | "bpchar" | "json" => {
            CatalogType::Plain(DataType::Text)
        }
        "bool" => CatalogType::Plain(DataType::Boolean),
        "int2" => CatalogType::Plain(DataType::SmallInt(None)),
        "int4" => CatalogType::Plain(DataType::Integer(None)),
        "int8" => CatalogType::Plain(DataType::BigInt(None)),
        "float4" => CatalogType::Plain(DataType::Real),
        "float8" => CatalogType::Plain(DataType::DoublePrecision),
        "int2vector" => CatalogType::Plain(list_of(DataType::SmallInt(None))),
        "oidvector" => CatalogType::Plain(list_of(DataType::IntUnsigned(None))),
        _ => return None,
    })
}

fn rewrite_cast(expr: &mut Expr) {
    let Expr::Cast {
        expr: inner,
        data_type,
        ..
    } = expr
    else {
        return;
    };
    match catalog_type(data_type) {
        Some(CatalogType::Plain(plain)) => *data_type = plain,
        Some(CatalogType::Reference(function)) => {
            let inner = std::mem::replace(inner.as_mut(), null());
            *expr = call(function, vec![inner]);
            return;
        }
        None => {}
    }
    let is_text = matches!(data_type, DataType::Text | DataType::Varchar(None));
    if is_text && let Some(named) = name_of_reference(inner) {
        *expr = named;
    }
}

/// Columns that PostgreSQL keeps as vectors, which are written as numbers with blanks between them.
const VECTORS: [&str; 6] = [
    "indkey",
    "indoption",
    "indclass",
    "indcollation",
    "proargtypes",
    "tgattr",
];

/// An expression as the client is to see it, if that is otherwise.
fn shown(expr: &Expr) -> Option<Expr> {
    let column = match expr {
        Expr::Identifier(ident) => Some(ident),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    if column.is_some_and(|column| VECTORS.contains(&folded(column).as_str())) {
        let blank = Expr::Value(Value::SingleQuotedString(" ".to_owned()).into());
        return Some(call("array_to_string", vec![expr.clone(), blank]));
    }
    name_of_reference(expr)
}

/// `regclass(x)` → `regclass_name(x)`
fn name_of_reference(expr: &Expr) -> Option<Expr> {
    let Expr::Function(function) = expr else {
        return None;
    };
    let name = last_part(&function.name).filter(|name| name.starts_with("reg"))?;
    let named = format!("{name}_name");
    functions::is_known(&named).then(|| {
        let mut function = function.clone();
        function.name = ObjectName::from(vec![Ident::new(named)]);
        Expr::Function(function)
    })
}

/// Positions of the columns of a query that are JSON, as far as they come from `json_build_object`.
pub(crate) fn json_columns(query: &Query) -> Vec<usize> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return Vec::new();
    };
    let items = select.projection.iter().enumerate();
    let is_json = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => gives_json(expr),
        _ => false,
    };
    items
        .filter_map(|(at, item)| is_json(item).then_some(at))
        .collect()
}

fn gives_json(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => {
            last_part(&function.name).is_some_and(|name| name == "json_build_object")
        }
        Expr::Case { conditions, .. } => conditions.iter().any(|when| gives_json(&when.result)),
        Expr::Subquery(query) => json_columns(query).contains(&0),
        Expr::Nested(inner) => gives_json(inner),
        _ => false,
    }
}

/// What comes out shows names, not numbers.
fn name_references(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                match item {
                    SelectItem::ExprWithAlias { expr, .. } => {
                        if let Some(named) = shown(expr) {
                            *expr = named;
                        }
                    }
                    SelectItem::UnnamedExpr(expr) => {
                        let name = names::of_expression(expr);
                        if let Some(named) = shown(expr) {
                            let alias = Ident::with_quote('"', name);
                            *item = SelectItem::ExprWithAlias { expr: named, alias };
                        }
                    }
                    _ => {}
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            name_references(left);
            name_references(right);
        }
        SetExpr::Query(query) => name_references(&mut query.body),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
