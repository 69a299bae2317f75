//! Keys of `DISTINCT ON` in the order of `ORDER BY`, each once.
//!
//! `SELECT DISTINCT ON (a, b, a) … ORDER BY b, a` sorts by both, and takes the first of each pair. The planner wants the keys of both clauses to be
//! the same, one by one. Keys that `ORDER BY` does not have come behind its own.

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, OrderByExpr, OrderByKind, OrderByOptions, Query, Select, SetExpr,
};

use super::names::{is_column, of_expression};
use super::positions::{item_of, without_parentheses};

/// Puts the keys in order. What else is wrong with them the planner says.
pub fn rewrite(query: &mut Query) {
    let SetExpr::Select(select) = query.body.as_mut() else {
        return;
    };
    let Some(Distinct::On(keys)) = &mut select.distinct else {
        return;
    };
    let mut left = each_once(std::mem::take(keys), select);
    let mut sorted = Vec::with_capacity(left.len());
    let order = query.order_by.as_mut().map(|order| &mut order.kind);
    if let Some(OrderByKind::Expressions(order)) = order {
        for key in order.iter().map(|key| &key.expr) {
            let place = left.iter().position(|known| is_same(known, key, select));
            match place {
                Some(place) => sorted.push(left.remove(place)),
                // It comes again.
                None if sorted.iter().any(|known| is_same(known, key, select)) => {}
                None => break,
            }
        }
        order.extend(left.iter().cloned().map(ascending));
    }
    sorted.append(&mut left);
    select.distinct = Some(Distinct::On(sorted));
}

fn each_once(keys: Vec<Expr>, select: &Select) -> Vec<Expr> {
    let mut once: Vec<Expr> = Vec::with_capacity(keys.len());
    for key in keys {
        if !once.iter().any(|known| is_same(known, &key, select)) {
            once.push(key);
        }
    }
    once
}

/// Whether two keys are certainly the same. Of a single table, a column is the same with its name and without it.
fn is_same(one: &Expr, other: &Expr, select: &Select) -> bool {
    let meant = |key| without_parentheses(item_of(key, &select.projection).unwrap_or(key));
    let (one, other) = (meant(one), meant(other));
    let is_of_one_table = matches!(select.from.as_slice(), [from] if from.joins.is_empty());
    one == other
        || (is_of_one_table
            && is_column(one)
            && is_column(other)
            && of_expression(one) == of_expression(other))
}

fn ascending(expr: Expr) -> OrderByExpr {
    OrderByExpr {
        expr,
        options: OrderByOptions::default(),
        with_fill: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::parse::parse_query;
    use super::rewrite;

    fn rewritten(sql: &str) -> String {
        let mut query = parse_query(sql).unwrap();
        rewrite(&mut query);
        query.to_string()
    }

    #[test]
    fn keys_have_the_order_of_the_rows() {
        assert_eq!(
            rewritten("SELECT DISTINCT ON (a, b, t.a) c FROM t ORDER BY b, a DESC, c"),
            "SELECT DISTINCT ON (b, a) c FROM t ORDER BY b, a DESC, c"
        );
        assert_eq!(
            rewritten("SELECT DISTINCT ON (a, b) c FROM t ORDER BY b"),
            "SELECT DISTINCT ON (b, a) c FROM t ORDER BY b, a"
        );
        assert_eq!(
            rewritten("SELECT DISTINCT ON (1, b) a, b FROM t ORDER BY (a), 2, c"),
            "SELECT DISTINCT ON (1, b) a, b FROM t ORDER BY (a), 2, c"
        );
        assert_eq!(
            rewritten("SELECT DISTINCT ON (k, a.k) 1 FROM a JOIN b USING (k)"),
            "SELECT DISTINCT ON (k, a.k) 1 FROM a JOIN b USING(k)"
        );
    }
}
