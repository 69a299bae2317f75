//! Names of output columns, as PostgreSQL would choose them.

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, DataType, Expr, Ident, ObjectName, ObjectNamePart, Query, SelectItem,
    SetExpr, TimezoneInfo,
};
use quire_functions::SUFFIX_MARK;

/// PostgreSQL's name of a column that has none.
pub const UNNAMED: &str = "?column?";

/// The name under which a column is planned when its own is taken.
pub fn with_suffix(name: &str, position: usize) -> String {
    format!("{name}{SUFFIX_MARK}{position}")
}

/// The name to show for a column of a plan.
pub fn display(planned: &str) -> &str {
    planned.split(SUFFIX_MARK).next().unwrap_or(planned)
}

/// Unquoted names fold to lower case.
pub fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The last part of a possibly qualified name.
pub fn last_part(name: &ObjectName) -> Option<String> {
    match name.0.last()? {
        ObjectNamePart::Identifier(ident) => Some(folded(ident)),
        ObjectNamePart::Function(_) => None,
    }
}

pub(super) fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// A name as it must be written in SQL.
pub fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !is_reserved(name);
    if is_plain {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

fn is_reserved(name: &str) -> bool {
    use datafusion::sql::sqlparser::keywords::{
        ALL_KEYWORDS, ALL_KEYWORDS_INDEX, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_IDENTIFIER,
        RESERVED_FOR_TABLE_ALIAS,
    };
    let mut reserved = POSTGRESQL_RESERVED.split_whitespace();
    if reserved.any(|word| word == name) {
        return true;
    }
    let Ok(position) = ALL_KEYWORDS.binary_search(&name.to_uppercase().as_str()) else {
        return false;
    };
    let keyword = &ALL_KEYWORDS_INDEX[position];
    RESERVED_FOR_IDENTIFIER.contains(keyword)
        || RESERVED_FOR_COLUMN_ALIAS.contains(keyword)
        || RESERVED_FOR_TABLE_ALIAS.contains(keyword)
}

/// Words that PostgreSQL takes as no name of a table or column: appendix *SQL Key Words* of its manual, "reserved" and "reserved (can be
/// function or type)".
const POSTGRESQL_RESERVED: &str = "\
    all analyse analyze and any array as asc asymmetric authorization binary both case \
    cast check collate collation column concurrently constraint create cross \
    current_catalog current_date current_role current_schema current_time \
    current_timestamp current_user default deferrable desc distinct do else end except \
    false fetch for foreign freeze from full grant group having ilike in initially inner \
    intersect into is isnull join lateral leading left like limit localtime \
    localtimestamp natural not notnull null offset on only or order outer overlaps \
    placing primary references returning right select session_user similar some \
    symmetric table tablesample then to trailing true union unique user using variadic \
    verbose when where window with";

/// The names to show for the columns of `query`, where its text decides them; `None` for a column
/// whose planned name is right. Empty when a wildcard leaves the number of columns open.
pub fn of_query(query: &Query) -> Vec<Option<String>> {
    of_set_expression(&query.body)
}

fn of_set_expression(body: &SetExpr) -> Vec<Option<String>> {
    match body {
        SetExpr::Select(select) => {
            let names: Option<Vec<_>> = select.projection.iter().map(of_item).collect();
            names.unwrap_or_default()
        }
        SetExpr::Query(query) => of_query(query),
        SetExpr::SetOperation { left, .. } => of_set_expression(left),
        _ => Vec::new(),
    }
}

fn of_item(item: &SelectItem) -> Option<Option<String>> {
    match item {
        SelectItem::UnnamedExpr(expr) => Some(Some(of_expression(expr))),
        SelectItem::ExprWithAlias { alias, .. } => Some(Some(display(&folded(alias)).to_owned())),
        _ => None,
    }
}

/// PostgreSQL's `FigureColname`: the name of a column or function, looking through casts and into ELSE;
/// of a cast of anything else that of its type.
pub fn of_expression(expr: &Expr) -> String {
    let own = own_name_of(expr);
    own.or_else(|| type_name_of(expr))
        .unwrap_or(UNNAMED.to_owned())
}

fn own_name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(folded(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(folded),
        Expr::Nested(inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::Case {
            else_result: Some(inner),
            ..
        } => own_name_of(inner),
        Expr::Function(function) => last_part(&function.name),
        Expr::Subquery(query) => of_query(query).into_iter().flatten().next(),
        other => syntax_name_of(other).map(str::to_owned),
    }
}

/// The name of what has a syntax of its own.
fn syntax_name_of(expr: &Expr) -> Option<&'static str> {
    Some(match expr {
        Expr::Exists { negated: false, .. } => "exists",
        Expr::Extract { .. } => "extract",
        Expr::AtTimeZone { .. } => "timezone",
        Expr::Substring { .. } => "substring",
        Expr::Trim { .. } => "trim",
        Expr::Position { .. } => "position",
        Expr::Ceil { .. } => "ceil",
        Expr::Floor { .. } => "floor",
        Expr::Array(_) => "array",
        _ => return None,
    })
}

/// The name of the outermost type that an expression is cast to, and of CASE.
fn type_name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => type_name_of(inner),
        Expr::Cast { data_type, .. } => Some(internal_type_name(data_type)),
        Expr::TypedString(typed) => Some(internal_type_name(&typed.data_type)),
        Expr::Interval(_) => Some("interval".to_owned()),
        Expr::Case { .. } => Some("case".to_owned()),
        _ => None,
    }
}

/// What PostgreSQL's catalog calls a type.
fn internal_type_name(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Array(
            ArrayElemTypeDef::SquareBracket(element, _)
            | ArrayElemTypeDef::AngleBracket(element)
            | ArrayElemTypeDef::Parenthesis(element),
        ) => return internal_type_name(element),
        DataType::SmallInt(_) | DataType::Int2(_) => "int2",
        DataType::Int(_) | DataType::Integer(_) | DataType::Int4(_) => "int4",
        DataType::BigInt(_) | DataType::Int8(_) => "int8",
        DataType::Real | DataType::Float4 => "float4",
        DataType::Double(_) | DataType::DoublePrecision | DataType::Float8 => "float8",
        DataType::Numeric(_) | DataType::Decimal(_) | DataType::Dec(_) => "numeric",
        DataType::Boolean | DataType::Bool => "bool",
        DataType::Char(_) | DataType::Character(_) => "bpchar",
        DataType::Varchar(_) | DataType::CharacterVarying(_) | DataType::CharVarying(_) => {
            "varchar"
        }
        DataType::Interval { .. } => "interval",
        DataType::Timestamp(_, zone) if is_with_zone(*zone) => "timestamptz",
        DataType::Timestamp(..) => "timestamp",
        DataType::Time(_, zone) if is_with_zone(*zone) => "timetz",
        DataType::Time(..) => "time",
        DataType::Custom(name, _) => return last_part(name).unwrap_or_default(),
        other => return other.to_string().to_lowercase(),
    };
    name.to_owned()
}

fn is_with_zone(zone: TimezoneInfo) -> bool {
    matches!(zone, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use datafusion::sql::sqlparser::ast::Statement;

    use super::*;
    use crate::parse::{ParsedCommand, parse};

    fn names(sql: &str) -> Vec<Option<String>> {
        match parse(sql).unwrap() {
            ParsedCommand::Statement(statement, _) => match *statement {
                Statement::Query(query) => of_query(&query),
                other => panic!("{other}"),
            },
            other => panic!("{other:?}"),
        }
    }

    // What psql 15 shows above the columns of these queries.
    #[test]
    fn names_are_those_of_postgresql() {
        let sql = "select a, t.B, \"C\", 1, a + 1, count(*), sum(a), cast(a as text), \
                   case when a then b end, (select max(x) from t), exists (select 1), f as g";
        let expected = [
            "a", "b", "C", "?column?", "?column?", "count", "sum", "a", "case", "max", "exists",
            "g",
        ];
        let shown: Vec<_> = names(sql).into_iter().flatten().collect();
        assert_eq!(shown, expected);
        assert_eq!(names("select *, a from t"), []);
    }

    #[test]
    fn suffixes_come_off() {
        assert_eq!(display(&with_suffix("id", 3)), "id");
        assert_eq!(display("id"), "id");
    }

    #[test]
    fn names_are_quoted_when_they_must_be() {
        assert_eq!(quoted("l_orderkey"), "l_orderkey");
        assert_eq!(quoted("L_Orderkey"), "\"L_Orderkey\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted("select"), "\"select\"");
        assert_eq!(quoted("2nd"), "\"2nd\"");
    }
}
