//! The statements of a `Query`.

use std::collections::VecDeque;

use quire::Connection;

/// Statements of a `Query` that have not run yet, with the number of characters before each.
pub(super) struct QueryScript {
    pub(super) rest: VecDeque<(String, usize)>,
    /// There were several, which are one transaction unless they say otherwise.
    pub(super) is_one_of_several: bool,
}

impl QueryScript {
    pub(super) fn of(sql: &str) -> Result<Self, quire::Error> {
        let statements = Connection::statements(sql)?;
        let is_one_of_several = statements.len() > 1;
        let (mut behind, mut characters) = (0, 0);
        let placed = statements.into_iter().map(|statement| {
            let rest = sql.get(behind..).unwrap_or_default();
            let start = rest.find(statement.as_str()).unwrap_or(0);
            let before = characters + rest.get(..start).unwrap_or_default().chars().count();
            behind += start + statement.len();
            characters = before + statement.chars().count();
            (statement, before)
        });
        Ok(Self {
            rest: placed.collect(),
            is_one_of_several,
        })
    }
}
