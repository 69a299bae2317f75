//! Statements that change definitions.
//!
//! | module | answers |
//! |---|---|
//! | `create_table`, `draft`, `constraints`, `table_options` | what a `CREATE TABLE` declares |
//! | `expressions` | are conditions and defaults acceptable |
//! | `indexes`, `views`, `sequences`, `roles` | what `CREATE` of these declares |
//! | `alter` | how a table becomes another, and what its rows must satisfy then |
//! | `drop` | what goes, and what goes with it |
//! | `change` | where all of it reaches the engine |

mod alter;
mod change;
mod constraints;
mod create_table;
mod draft;
mod drop;
mod expressions;
mod indexes;
mod roles;
mod sequences;
mod table_options;
mod views;

pub(super) use alter::{alter_index, alter_table, rewrite_rows};
pub(super) use create_table::create_table;
pub(super) use drop::{drop_objects, truncate};
pub(super) use expressions::sequences_of_default;
pub(super) use indexes::create_index;
pub(super) use roles::run as run_role;
pub(super) use sequences::run as run_sequence;
pub(super) use views::create_view;
