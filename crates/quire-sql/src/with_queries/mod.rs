//! Queries of `WITH`: which name means which of them.
//!
//! The planner knows a name once: one that a query within takes again it refuses, and it plans the queries of `WITH RECURSIVE` in the
//! order in which they are written. Here a name that is taken again becomes another, where it is given and wherever it is read, and
//! `WITH RECURSIVE` is checked and put in order ([`recursion`]).

mod open_decimals;
mod recursion;

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Ident, ObjectName, Query, Statement, TableAlias, TableFactor, VisitorMut,
};
use quire_error::Error;

use super::names::{display, folded, last_part, with_suffix};
use super::walk::walk_mut;

/// Gives each query of `WITH` a name of its own.
pub fn resolve(statement: &mut Statement) -> Result<(), Error> {
    let mut resolver = Resolver::default();
    let _ = walk_mut(statement, &mut resolver);
    resolver.refused.map_or(Ok(()), Err)
}

/// The queries around the place of a walk, the outermost first.
#[derive(Default)]
struct Resolver {
    frames: Vec<WithScope>,
    renamed_count: usize,
    refused: Option<Error>,
}

/// The `WITH` of one query.
#[derive(Default)]
struct WithScope {
    /// Each name as it is written, and as it is planned.
    names: Vec<(String, String)>,
    is_recursive: bool,
    /// How many of its queries the walk has come to.
    begun: usize,
    /// Whether the place is in the last of them.
    is_within: bool,
}

impl WithScope {
    /// The names that can be read at the place.
    fn visible(&self) -> &[(String, String)] {
        if self.is_within && !self.is_recursive {
            &self.names[..self.begun - 1]
        } else {
            &self.names
        }
    }
}

impl Resolver {
    /// Notes that the walk comes to a query; says whether it is one of `WITH RECURSIVE`.
    fn begin_query(&mut self) -> bool {
        let Some(around) = self.frames.last_mut() else {
            return false;
        };
        if around.begun == around.names.len() {
            return false;
        }
        around.begun += 1;
        around.is_within = true;
        around.is_recursive
    }

    /// The names of a query's `WITH`. Those of a query of `WITH RECURSIVE` may come to stand beside it, so that they are all new.
    fn frame_of(&mut self, query: &mut Query, is_of_recursive: bool) -> Result<WithScope, Error> {
        let mut frame = WithScope::default();
        let Some(with) = &mut query.with else {
            return Ok(frame);
        };
        frame.is_recursive = with.recursive;
        for cte in &mut with.cte_tables {
            let name = folded(&cte.alias.name);
            if frame.names.iter().any(|(known, _)| *known == name) {
                let name = display(&name);
                let text = format!("WITH query name \"{name}\" specified more than once");
                return Err(Error::new("42712", text));
            }
            let mut planned = name.clone();
            if is_of_recursive || self.is_known(&name) {
                planned = with_suffix(&name, self.renamed_count);
                self.renamed_count += 1;
                cte.alias.name = Ident::with_quote('"', &planned);
            }
            frame.names.push((name, planned));
        }
        Ok(frame)
    }

    fn is_known(&self, name: &str) -> bool {
        let mut names = self.frames.iter().flat_map(|frame| &frame.names);
        names.any(|(_, planned)| planned == name)
    }

    /// What a name is planned as, if it is that of a `WITH`.
    fn planned(&self, name: &str) -> Option<&str> {
        let frames = self.frames.iter().rev();
        let mut names = frames.flat_map(|frame| frame.visible().iter().rev());
        let found = names.find(|(written, _)| written == name);
        found.map(|(_, planned)| planned.as_str())
    }

    fn go_on_if(&mut self, checked: Result<(), Error>) -> ControlFlow<()> {
        self.refused = checked.err();
        match self.refused {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

impl VisitorMut for Resolver {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let is_of_recursive = self.begin_query();
        let frame = self.frame_of(query, is_of_recursive);
        let checked = frame.map(|frame| self.frames.push(frame));
        self.go_on_if(checked)
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.frames.pop();
        if let Some(around) = self.frames.last_mut() {
            around.is_within = false;
        }
        match &mut query.with {
            Some(with) if with.recursive => {
                let arranged = recursion::arrange(with);
                self.go_on_if(arranged)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table {
            name,
            alias,
            args: None,
            ..
        } = factor
        else {
            return ControlFlow::Continue(());
        };
        if name.0.len() == 1
            && let Some(written) = last_part(name)
            && let Some(planned) = self.planned(&written)
            && planned != written
        {
            *name = ObjectName::from(vec![Ident::with_quote('"', planned)]);
            alias.get_or_insert_with(|| TableAlias {
                explicit: true,
                name: Ident::with_quote('"', written),
                columns: Vec::new(),
                at: None,
            });
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::parse_query;

    fn resolved(sql: &str) -> String {
        let mut statement = Statement::Query(parse_query(sql).unwrap());
        resolve(&mut statement).unwrap();
        let text = statement.to_string().replace('\u{1f}', "~");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_name_that_is_taken_again_is_another() {
        let pairs = [
            (
                "WITH x AS (SELECT 1 AS a) SELECT * FROM (WITH x AS (SELECT a FROM x) SELECT x.a FROM x) AS q, x",
                "WITH x AS (SELECT 1 AS a) SELECT * FROM (WITH \"x~0\" AS (SELECT a FROM x) SELECT x.a FROM \"x~0\" AS \"x\") AS q, x",
            ),
            (
                "WITH x AS (SELECT a FROM x) SELECT * FROM x",
                "WITH x AS (SELECT a FROM x) SELECT * FROM x",
            ),
        ];
        for (sql, expected) in pairs {
            assert_eq!(resolved(sql), expected);
        }
    }

    #[test]
    fn queries_of_with_recursive_are_in_the_order_in_which_they_read_each_other() {
        assert_eq!(
            resolved("WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a"),
            "WITH RECURSIVE b AS (SELECT 1), a AS (SELECT * FROM b) SELECT * FROM a"
        );
        assert_eq!(
            resolved(
                "WITH RECURSIVE x AS (WITH y AS (SELECT 1 AS m) SELECT m FROM y UNION SELECT x.m FROM x, y) SELECT * FROM x"
            ),
            "WITH RECURSIVE \"y~0\" AS (SELECT 1 AS m), x AS (SELECT m FROM \"y~0\" AS \"y\" UNION SELECT x.m FROM x, \"y~0\" AS \"y\") SELECT * FROM x"
        );
    }
}
