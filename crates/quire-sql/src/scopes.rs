//! Tables of outer queries that share their name with a column inside.
//!
//! In `SELECT … FROM author WHERE EXISTS (SELECT 1 FROM book WHERE author = author.id)`, where
//! `book` has a column `author`, the planner takes `author.id` for a field of that column. SQL means
//! the table of the outer query. Here such tables get an alias that no column has, and the
//! references to them follow. So do tables whose name an inner query gives to another one: their columns can be read there
//! without it, as `USING` merges them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    Statement, TableAlias, TableFactor, TableWithJoins, Visitor, VisitorMut,
};

use super::names::{folded, last_part, with_suffix};
use super::walk::{walk, walk_mut};

/// Renames every table that an inner query refers to, or whose name it gives to another one; says whether there is one.
pub fn rename_outer_tables(statement: &mut Statement) -> bool {
    let mut finder = RenamedTableFinder::default();
    // Neither walk breaks off.
    let _ = walk(statement, &mut finder);
    if finder.found.is_empty() {
        return false;
    }
    let mut renamer = ScopeRenamer {
        scopes: Scopes::default(),
        found: finder.found,
    };
    let _ = walk_mut(statement, &mut renamer);
    true
}

/// Stands for a table whose name is not looked for.
const UNNAMED: &str = "";

/// Names of one `SELECT`'s tables, each with the name it is to have.
pub(super) type Scope = HashMap<String, String>;

/// The `SELECT`s around the place of a walk. The one that is a query's whole body is open until
/// the query ends: `ORDER BY` belongs to it.
#[derive(Default)]
pub(super) struct Scopes {
    open: Vec<(usize, Scope)>,
    select_count: usize,
    /// For each open query, whether its body is one `SELECT`.
    query_is_select: Vec<bool>,
}

impl Scopes {
    pub(super) fn open_query(&mut self, query: &Query) {
        self.query_is_select
            .push(matches!(query.body.as_ref(), SetExpr::Select(_)));
    }

    pub(super) fn close_query(&mut self) {
        if self.query_is_select.pop() == Some(true) {
            self.open.pop();
        }
    }

    pub(super) fn close_select(&mut self) {
        if self.query_is_select.last() == Some(&false) {
            self.open.pop();
        }
    }

    pub(super) fn open_select(&mut self, select: &Select) {
        let names = factors(select)
            .into_iter()
            .map(|factor| name_of(factor).unwrap_or_else(|| UNNAMED.to_owned()))
            .map(|name| (name.clone(), name));
        let number = self.select_count;
        self.select_count += 1;
        self.open.push((number, names.collect()));
    }

    /// Whether the place is in no `SELECT`.
    pub(super) fn is_closed(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether names are known for all tables of the innermost `SELECT`.
    pub(super) fn is_named(&self) -> bool {
        let innermost = self.open.last();
        innermost.is_some_and(|(_, scope)| !scope.contains_key(UNNAMED))
    }

    /// Whether the innermost `SELECT` has no tables, and one around it has.
    pub(super) fn is_without_tables(&self) -> bool {
        match self.open.as_slice() {
            [around @ .., (_, innermost)] => {
                innermost.is_empty() && around.iter().any(|(_, scope)| !scope.is_empty())
            }
            [] => false,
        }
    }

    /// Whether `column` is one of the queries around `select`, which is not open yet.
    pub(super) fn is_around(&self, select: &Select, column: &Expr) -> bool {
        let Expr::CompoundIdentifier(parts) = column else {
            return false;
        };
        let [qualifier, _] = parts.as_slice() else {
            return false;
        };
        let qualifier = folded(qualifier);
        let mut own = factors(select).into_iter().map(name_of);
        let is_own = own.any(|name| name.is_none_or(|name| name == qualifier));
        !is_own && self.find(&qualifier).is_some()
    }

    /// The scope that a qualifier belongs to: its distance from the innermost, and itself.
    pub(super) fn find(&self, qualifier: &str) -> Option<(usize, &(usize, Scope))> {
        self.open
            .iter()
            .rev()
            .enumerate()
            .find(|(_, (_, scope))| scope.contains_key(qualifier))
    }
}

/// The tables of a `SELECT`, those of joins in parentheses among them.
fn factors(select: &Select) -> Vec<&TableFactor> {
    let mut found = Vec::new();
    for from in &select.from {
        add_factors(from, &mut found);
    }
    found
}

fn add_factors<'f>(from: &'f TableWithJoins, found: &mut Vec<&'f TableFactor>) {
    let joined = from.joins.iter().map(|join| &join.relation);
    for factor in std::iter::once(&from.relation).chain(joined) {
        match factor {
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => add_factors(table_with_joins, found),
            factor => found.push(factor),
        }
    }
}

fn add_factors_mut<'f>(from: &'f mut TableWithJoins, found: &mut Vec<&'f mut TableFactor>) {
    let joined = from.joins.iter_mut().map(|join| &mut join.relation);
    for factor in std::iter::once(&mut from.relation).chain(joined) {
        match factor {
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => add_factors_mut(table_with_joins, found),
            factor => found.push(factor),
        }
    }
}

fn name_of(factor: &TableFactor) -> Option<String> {
    match factor {
        TableFactor::Table { name, alias, .. } => match alias {
            Some(alias) => Some(folded(&alias.name)),
            None => last_part(name),
        },
        TableFactor::Derived { alias, .. } | TableFactor::NestedJoin { alias, .. } => {
            alias.as_ref().map(|alias| folded(&alias.name))
        }
        _ => None,
    }
}

/// Finds the tables to rename, as number of the `SELECT` and name.
#[derive(Default)]
struct RenamedTableFinder {
    scopes: Scopes,
    found: Vec<(usize, String)>,
}

impl Visitor for RenamedTableFinder {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.scopes.open_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.scopes.close_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        for name in factors(select).into_iter().filter_map(name_of) {
            if let Some((_, (number, _))) = self.scopes.find(&name) {
                self.found.push((*number, name));
            }
        }
        self.scopes.open_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.scopes.close_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [qualifier, _] = parts.as_slice()
        {
            let qualifier = folded(qualifier);
            if let Some((1.., (number, _))) = self.scopes.find(&qualifier) {
                self.found.push((*number, qualifier));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Renames what the finder has found.
struct ScopeRenamer {
    scopes: Scopes,
    found: Vec<(usize, String)>,
}

impl ScopeRenamer {
    fn new_name(&self, qualifier: &str) -> Option<Ident> {
        let (_, (_, scope)) = self.scopes.find(qualifier)?;
        let name = scope
            .get(qualifier)
            .filter(|name| name.as_str() != qualifier)?;
        Some(Ident::with_quote('"', name))
    }

    fn rename_factor(factor: &mut TableFactor, name: &str) {
        let ident = Ident::with_quote('"', name);
        let (TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::NestedJoin { alias, .. }) = factor
        else {
            return;
        };
        match alias {
            Some(alias) => alias.name = ident,
            None => {
                *alias = Some(TableAlias {
                    explicit: true,
                    name: ident,
                    columns: Vec::new(),
                    at: None,
                });
            }
        }
    }
}

impl VisitorMut for ScopeRenamer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.scopes.open_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.scopes.close_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let number = self.scopes.select_count;
        self.scopes.select_count += 1;
        let mut scope = Scope::new();
        let mut tables = Vec::new();
        for from in &mut select.from {
            add_factors_mut(from, &mut tables);
        }
        for factor in tables {
            let Some(name) = name_of(factor) else {
                continue;
            };
            let mut new_name = name.clone();
            if self.found.contains(&(number, name.clone())) {
                new_name = with_suffix(&name, number);
                Self::rename_factor(factor, &new_name);
            }
            scope.insert(name, new_name);
        }
        self.scopes.open.push((number, scope));
        for item in &mut select.projection {
            if let SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(name),
                _,
            ) = item
                && let Some(new_name) = last_part(name).and_then(|name| self.new_name(&name))
            {
                *name = ObjectName::from(vec![new_name]);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.close_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [qualifier, _] = parts.as_mut_slice()
            && let Some(new_name) = self.new_name(&folded(qualifier))
        {
            *qualifier = new_name;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::{ParsedCommand, parse};

    fn renamed(sql: &str) -> Option<String> {
        match parse(sql).unwrap() {
            ParsedCommand::Statement(mut statement, _) => rename_outer_tables(&mut statement)
                .then(|| statement.to_string().replace('\u{1f}', "~")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn outer_tables_and_their_references_are_renamed() {
        let sql = "SELECT author.*, author.id FROM author WHERE EXISTS \
                   (SELECT 1 FROM book WHERE author = author.id AND book.x = 1) ORDER BY author.id";
        assert_eq!(
            renamed(sql).unwrap(),
            "SELECT \"author~0\".*, \"author~0\".id FROM author AS \"author~0\" WHERE EXISTS \
             (SELECT 1 FROM book WHERE author = \"author~0\".id AND book.x = 1) ORDER BY \"author~0\".id"
        );
    }

    #[test]
    fn a_name_belongs_to_the_nearest_table() {
        assert_eq!(
            renamed("SELECT a.x FROM a WHERE EXISTS (SELECT a.x FROM a WHERE a.y = b)").unwrap(),
            "SELECT \"a~0\".x FROM a AS \"a~0\" WHERE EXISTS (SELECT a.x FROM a WHERE a.y = b)"
        );
        assert_eq!(
            renamed("SELECT a.x FROM a JOIN b ON a.x = b.x ORDER BY b.y"),
            None
        );
        assert_eq!(renamed("SELECT a.x FROM a UNION SELECT b.x FROM b"), None);
    }
}
