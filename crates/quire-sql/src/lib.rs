//! From the text of a statement to a parse tree that the planner takes.
//!
//! [`parse`] reads one statement: PostgreSQL's grammar as `sqlparser` knows it, and the statements that it does not know. [`reject`]
//! refuses what would be accepted and ignored. [`rewrite`] puts trees that DataFusion plans otherwise than PostgreSQL means them into a form
//! that it plans right. Nothing here knows tables, sessions or plans.
#![forbid(unsafe_code)]

pub mod advise_statement;
mod alias_scopes;
mod ambiguous_keys;
mod array_subqueries;
pub mod arrays;
pub mod calls;
mod chains;
pub mod copy_statement;
mod depth;
mod dialect;
pub mod distinct_keys;
pub mod expression_names;
pub mod file_relations;
mod frame_offsets;
mod grouping_sets;
pub mod large_literals;
pub mod maintenance_statement;
mod named_windows;
pub mod names;
pub mod outer_aggregates;
mod outer_columns;
pub mod output_columns;
pub mod parse;
mod positions;
pub mod reject;
mod renamed_functions;
pub mod rewrite;
pub mod role_statement;
mod row_comparison;
pub mod rows_in_subqueries;
pub mod scopes;
pub mod sequence_statement;
mod set_members;
mod similar;
pub mod split;
pub mod table_clauses;
mod time_series;
mod tokens;
pub mod typed_neighbours;
pub mod types;
pub mod walk;
pub mod with_queries;
