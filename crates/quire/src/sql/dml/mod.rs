//! Statements that change rows: of row tables, and of column tables with a delta and deletions.
//!
//! | module | answers |
//! |---|---|
//! | `target` | which table, is it mine to change, and what are its rows changed by |
//! | `changed_rows` | `UPDATE` and `DELETE` as the query for the rows they change |
//! | `change_plan` | one plan for rows before and after, checks, and what is returned |
//! | `row_expressions` | expressions over these rows, with subqueries or without |
//! | `default_value` | what a column gets that a statement does not name |
//! | `change`, `insert_rows`, `conflict` | running them; many rows for a column table are appended |
//! | `explain` | what they would do |
//! | `locking` | `SELECT … FOR UPDATE` |
//! | `tuple_sink` | rows that the tuple engine has found, written by the statement's transaction |
//! | `row_values` | a row of a batch as the engine takes it |
//! | `returned` | the rows of `RETURNING` |
//!
//! The planner's own UPDATE and DELETE are not used: they lose predicates that became joins.

mod change;
mod change_plan;
mod changed_rows;
mod column_literals;
mod conflict;
mod default_value;
mod explain;
mod insert_rows;
mod locking;
mod returned;
mod row_expressions;
mod row_values;
mod target;
mod tuple_sink;

pub(crate) use row_values::stored_value;

pub(super) use change::{delete, update};
pub(super) use changed_rows::TARGET_TABLE;
pub(super) use default_value::default_expression;
pub(super) use explain::explain;
pub(super) use insert_rows::{append_plan, insert, insert_plan};
pub(super) use locking::select;
pub(super) use target::changed_meanwhile;
