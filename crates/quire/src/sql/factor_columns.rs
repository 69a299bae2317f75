//! The columns of tables in `FROM`, each found by planning a query for it.

use std::collections::{BTreeSet, HashMap};

use datafusion::arrow::datatypes::Fields;
use datafusion::sql::sqlparser::ast::{Cte, Ident, Query, Select, Statement, TableFactor, With};
use quire_sql::names::{self, folded, last_part, quoted};
use quire_sql::parse::parse_query;
use quire_sql::walk::for_each_relation;

use crate::planning::StatementContext;

/// Tables of a statement, each with a query for its columns.
#[derive(Default)]
pub(super) struct FactorQueries {
    /// Of the queries around the place of a walk.
    withs: Vec<Option<With>>,
    factors: Vec<(String, String)>,
}

impl FactorQueries {
    pub(super) fn open_query(&mut self, query: &Query) {
        self.withs.push(query.with.clone());
    }

    pub(super) fn close_query(&mut self) {
        self.withs.pop();
    }

    /// Adds the tables of a `SELECT` at the place.
    pub(super) fn add(&mut self, select: &Select) {
        for factor in factors_of(select) {
            let text = format!("{}SELECT * FROM {factor}", self.with_clause(factor));
            self.factors.push((text, factor.to_string()));
        }
    }

    /// The queries that the table names, by itself or by those it names; of two with the same name the inner one. Others are left out: the one
    /// that is being read cannot be planned as it is.
    fn with_clause(&self, factor: &TableFactor) -> String {
        let mut seen: Vec<&Cte> = Vec::new();
        let mut is_recursive = false;
        for with in self.withs.iter().flatten().rev() {
            is_recursive |= with.recursive;
            for cte in with.cte_tables.iter().rev() {
                if !seen.iter().any(|known| known.alias.name == cte.alias.name) {
                    seen.push(cte);
                }
            }
        }
        let named = named_queries(factor, &seen);
        seen.retain(|cte| named.contains(&folded(&cte.alias.name)));
        let texts: Vec<String> = seen.iter().rev().map(ToString::to_string).collect();
        match (texts.is_empty(), is_recursive) {
            (true, _) => String::new(),
            (false, true) => format!("WITH RECURSIVE {} ", texts.join(", ")),
            (false, false) => format!("WITH {} ", texts.join(", ")),
        }
    }

    /// The columns by the text of their table. What cannot be planned by itself is left to the planner, and so is the error.
    pub(super) async fn columns(self, context: &StatementContext) -> HashMap<String, Fields> {
        let mut columns = HashMap::new();
        for (text, factor) in self.factors {
            if columns.contains_key(&factor) {
                continue;
            }
            if let Ok(query) = parse_query(&text)
                && let Ok(plan) = context.plan(Statement::Query(query)).await
            {
                columns.insert(factor, plan.schema().fields().clone());
            }
        }
        columns
    }
}

/// The names that the table reads, and those that the queries among them read.
fn named_queries(factor: &TableFactor, queries: &[&Cte]) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for_each_relation(factor, |name| named.extend(last_part(name)));
    loop {
        let known = named.len();
        for cte in queries {
            if named.contains(&folded(&cte.alias.name)) {
                for_each_relation(&cte.query, |name| named.extend(last_part(name)));
            }
        }
        if named.len() == known {
            return named;
        }
    }
}

/// The tables of a `SELECT`.
pub(super) fn factors_of(select: &Select) -> impl Iterator<Item = &TableFactor> {
    select.from.iter().flat_map(|from| {
        let joined = from.joins.iter().map(|join| &join.relation);
        std::iter::once(&from.relation).chain(joined)
    })
}

/// The names of a table's columns: as planned by itself, or as the text of a subquery says, which cannot be planned by itself if it reads the
/// queries around it.
pub(super) fn column_names(
    factor: &TableFactor,
    planned: &HashMap<String, Vec<String>>,
) -> Option<Vec<String>> {
    let planned = planned.get(&factor.to_string()).cloned();
    planned.or_else(|| written_columns(factor))
}

fn written_columns(factor: &TableFactor) -> Option<Vec<String>> {
    let TableFactor::Derived {
        subquery, alias, ..
    } = factor
    else {
        return None;
    };
    let mut columns = names::of_query(subquery)
        .into_iter()
        .collect::<Option<Vec<String>>>()
        .filter(|columns| !columns.is_empty())?;
    let renamed = alias.iter().flat_map(|alias| &alias.columns);
    for (column, renamed) in columns.iter_mut().zip(renamed) {
        *column = folded(&renamed.name);
    }
    Some(columns)
}

/// What a `SELECT` calls a table; nothing if it has no name.
pub(super) fn name_of(factor: &TableFactor) -> Option<String> {
    match factor {
        TableFactor::Table {
            alias: Some(alias), ..
        }
        | TableFactor::Derived {
            alias: Some(alias), ..
        } => Some(folded(&alias.name)),
        TableFactor::Table { name, .. } => last_part(name),
        _ => None,
    }
}

/// A name as it has to be written.
pub(super) fn ident(name: &str) -> Ident {
    if quoted(name).starts_with('"') {
        Ident::with_quote('"', name)
    } else {
        Ident::new(name)
    }
}
