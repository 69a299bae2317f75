//! A column that `USING` or `NATURAL` has merged.

use std::collections::HashMap;

use datafusion::sql::sqlparser::ast::Expr;

/// The names of a table's columns, by the text of the table.
pub(super) type Columns = HashMap<String, Vec<String>>;

/// A column of a join, and what it is worth.
#[derive(Clone)]
pub(super) struct JoinColumn {
    pub(super) name: String,
    pub(super) value: Expr,
}
