//! Keys of `ORDER BY` and `DISTINCT ON` that name two different output columns, as in `SELECT a.id, b.id FROM a, b ORDER BY id`.

use datafusion::sql::sqlparser::ast::{Expr, Ident, SelectItem};
use quire_error::Error;

use super::names::{folded, of_expression};
use super::walk::change_own_expressions;

/// Refuses such a key. Of a set operation's columns no two are the same, also if they are in its first query.
pub(super) fn check(
    key: &Expr,
    clause: &str,
    items: &[SelectItem],
    is_set: bool,
) -> Result<(), Error> {
    let Some(name) = plain_name(key) else {
        return Ok(());
    };
    let mut named = items.iter().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) => (of_expression(expr) == name).then_some(expr),
        SelectItem::ExprWithAlias { expr, alias } => (folded(alias) == name).then_some(expr),
        _ => None,
    });
    let Some(first) = named.next() else {
        return Ok(());
    };
    if named.any(|other| is_set || are_different(first, other)) {
        let text = format!("{clause} \"{name}\" is ambiguous");
        return Err(Error::new("42702", text));
    }
    Ok(())
}

fn plain_name(key: &Expr) -> Option<String> {
    match key {
        Expr::Identifier(ident) => Some(folded(ident)),
        Expr::Nested(inner) => plain_name(inner),
        _ => None,
    }
}

/// Whether two expressions are certainly not one: the same column may be written with its table and without it.
fn are_different(one: &Expr, other: &Expr) -> bool {
    let [one, other] = [one, other].map(Spelled::of);
    one.columns != other.columns || (one.tables == other.tables && one.whole != other.whole)
}

/// An expression as text, in which names of columns are folded.
struct Spelled {
    whole: String,
    /// Without the names of tables.
    columns: String,
    /// How many columns are written with their tables.
    tables: usize,
}

impl Spelled {
    fn of(expr: &Expr) -> Self {
        let mut whole = expr.clone();
        change_own_expressions(&mut whole, |name| {
            if let Expr::Identifier(ident) = name {
                *ident = Ident::new(folded(ident));
            }
            if let Expr::CompoundIdentifier(parts) = name {
                for part in parts {
                    *part = Ident::new(folded(part));
                }
            }
        });
        let mut columns = whole.clone();
        let mut tables = 0;
        change_own_expressions(&mut columns, |name| {
            if let Expr::CompoundIdentifier(parts) = name
                && let Some(column) = parts.pop()
            {
                *name = Expr::Identifier(column);
                tables += 1;
            }
        });
        Self {
            whole: whole.to_string().to_lowercase(),
            columns: columns.to_string().to_lowercase(),
            tables,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    /// What PostgreSQL 15 says, where it can be known without the tables.
    #[test]
    fn outputs_of_one_name_are_ambiguous_if_they_differ() {
        let is_ambiguous = |items: &str, is_set| {
            let parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(items);
            let items = parser.unwrap().parse_projection().unwrap();
            check(&Expr::Identifier("Id".into()), "ORDER BY", &items, is_set).is_err()
        };
        assert!(is_ambiguous("a.id, b.id", false));
        assert!(is_ambiguous("a + 1 AS id, a + 2 AS id", false));
        assert!(is_ambiguous("a.x + 1 AS id, b.x + 1 AS id", false));
        assert!(is_ambiguous("1, id, x AS id", false));
        assert!(is_ambiguous("id, id", true));
        assert!(!is_ambiguous("id, a.id", false));
        assert!(!is_ambiguous("a.id, A.\"id\"", false));
        assert!(!is_ambiguous("a.id, b.x", false));
    }
}
